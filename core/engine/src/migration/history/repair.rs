//! What a repair writes. It changes records only: no queue, no binding, no message.

use super::event::{Happened, Subject, What};
use super::ledger::History;
use super::status::{MigrationState, Status};
use crate::name::quoted;

/// One thing that is mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mending {
    /// What is written.
    pub what: What,
    /// What that means, in words.
    pub says: String,
}

/// Everything that can be mended in the records: damage, files that were changed, files that are gone; and, when the cluster
/// was renamed, records under its former name.
///
/// What was undone stays undone, and what ran stays written down as it ran.
pub fn mend(history: &History, status: &Status, cluster_renamed: bool) -> Vec<Mending> {
    let mut mendings = Vec::new();
    let places: Vec<u64> = history.damage().keys().copied().collect();
    if !places.is_empty() {
        let listed = history.damage().iter().map(|(place, why)| format!("record {place} ({why})"));
        let says = format!("passed over what cannot be read: {}", listed.collect::<Vec<_>>().join(", "));
        mendings.push(Mending { what: What::Damage { places }, says });
    }
    let is_of_vhost = history.foreign().is_some_and(|event| event.origin.vhost == history.place().vhost);
    if cluster_renamed && is_of_vhost {
        for former in history.foreign_clusters().iter().filter(|name| **name != history.place().cluster) {
            let says = format!("took the records of cluster {} for this one's", quoted(former));
            mendings.push(Mending { what: What::ClusterRenamed { former: former.clone() }, says });
        }
    }
    for entry in status.entries() {
        let Some(record) = &entry.record else { continue };
        let version = entry.version_text();
        match (entry.state, &entry.script) {
            (MigrationState::Changed, Some(script)) => {
                let subject = Subject {
                    version: version.clone(),
                    description: script.name.description.clone(),
                    file: script.file.clone(),
                    checksum: script.checksum.clone(),
                };
                let says = format!("V{version}: took {} as it is now for what ran", quoted(&script.file));
                mendings
                    .push(Mending { what: What::Migration { subject, happened: Happened::ChecksumAccepted }, says });
            }
            (MigrationState::Missing, _) => {
                let what = What::Migration { subject: record.subject.clone(), happened: Happened::FileGone };
                mendings.push(Mending { what, says: format!("V{version}: its file is gone for good") });
            }
            _ => {}
        }
    }
    mendings
}
