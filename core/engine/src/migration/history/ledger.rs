//! The list of records, read, and what it says of each version.

use super::error::HistoryError;
use super::event::{Event, FORMAT, Happened, Origin, Subject, What};
use crate::migration::{Beginning, FileName, Former, Met, Work};
use crate::name::quoted;
use std::collections::{BTreeMap, BTreeSet};

/// The cluster and vhost that are migrated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of the cluster.
    pub cluster: String,
    /// The vhost.
    pub vhost: String,
}

/// A record as a store gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its place in the store, from 1.
    pub place: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// How far a version came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// A run, or an undo, began and did not end, as far as is known.
    Running,
    /// To be run again later.
    Waiting,
    /// Somebody has to look at it.
    Failed,
    /// Done.
    Applied,
    /// Taken back.
    Undone,
    /// Done before there was a history.
    Baseline,
}

/// What a history says of one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The migration, with the checksum that counts.
    pub subject: Subject,
    /// How far it came.
    pub course: Course,
    /// Whether it was being taken back at last.
    pub undoing: bool,
    /// The last step that was made, and of how many; 0 before the first.
    pub step: usize,
    /// How many steps there are; 0 while that is not known.
    pub steps: usize,
    /// The step that was begun and not finished.
    pub open: Option<usize>,
    /// When its last run from the start began, and when it ended.
    pub started_at: Option<String>,
    /// When it ended.
    pub finished_at: Option<String>,
    /// Why it waits or failed.
    pub error: Option<String>,
    /// Whether its file may be missing.
    pub file_gone: bool,
    /// What was there before it of what it declares.
    pub beginning: Option<Beginning>,
    /// What its plain changes found, by step; `None` when a step was made without a word on that.
    changes: Option<BTreeMap<usize, Met>>,
    /// Where its last record comes from.
    pub origin: Origin,
}

impl Record {
    /// Whether it began and is neither done nor taken back.
    pub fn is_half_way(&self) -> bool {
        matches!(self.course, Course::Running | Course::Waiting | Course::Failed)
    }

    /// Whether its steps, or some of them, are in the broker now.
    pub fn ran(&self) -> bool {
        self.is_half_way() || self.course == Course::Applied
    }

    fn new(subject: &Subject, origin: &Origin) -> Self {
        Self {
            subject: subject.clone(),
            course: Course::Running,
            undoing: false,
            step: 0,
            steps: 0,
            open: None,
            started_at: None,
            finished_at: None,
            error: None,
            file_gone: false,
            beginning: None,
            changes: Some(BTreeMap::new()),
            origin: origin.clone(),
        }
    }

    /// What an undo of this migration has to know, where it was recorded: of a replacement what was there before it, of plain
    /// changes what each of them found.
    pub fn before(&self, work: &Work) -> Beginning {
        match work {
            Work::Replace(_) => self.beginning.clone().unwrap_or_else(Beginning::unrecorded),
            Work::Changes(_) => match &self.changes {
                Some(changes) => Beginning::of_changes(changes.values().cloned().collect()),
                None => Beginning::unrecorded(),
            },
        }
    }

    /// A step that is about to be made. One that was begun before and is begun again found first what it found then.
    fn found(&mut self, step: usize, action: &str, former: Option<&Former>) {
        let Some(former) = former else {
            self.changes = None;
            return;
        };
        let Some(changes) = &mut self.changes else { return };
        if *former != Former::Unchanged || !changes.contains_key(&step) {
            let met = Met { step, action: action.to_owned(), former: former.clone(), made: false };
            changes.insert(step, met);
        }
    }

    fn take(&mut self, subject: &Subject, happened: &Happened, origin: &Origin) {
        let at = || Some(origin.at.clone());
        match happened {
            Happened::RunBegan { .. } | Happened::UndoBegan => {
                let undoing = *happened == Happened::UndoBegan;
                if let Happened::RunBegan { beginning } = happened
                    && (!self.ran() || self.beginning.is_none())
                {
                    self.beginning.clone_from(beginning);
                }
                if !self.is_half_way() || self.started_at.is_none() || self.undoing != undoing {
                    self.started_at = at();
                }
                if matches!(self.course, Course::Undone | Course::Baseline) {
                    (self.step, self.steps) = (0, 0);
                    self.changes = Some(BTreeMap::new());
                }
                (self.course, self.undoing, self.open) = (Course::Running, undoing, None);
                (self.finished_at, self.error, self.file_gone) = (None, None, false);
            }
            Happened::StepBegan { step, of, action, former } => {
                (self.course, self.open, self.steps) = (Course::Running, Some(*step), *of);
                if !self.undoing {
                    self.found(*step, action, former.as_ref());
                }
            }
            Happened::StepDone { step, of, .. } => {
                (self.open, self.steps) = (None, *of);
                if !self.undoing
                    && let Some(met) = self.changes.as_mut().and_then(|changes| changes.get_mut(step))
                {
                    met.made = true;
                }
                self.step = if self.undoing { step.saturating_sub(1) } else { *step };
            }
            Happened::Waiting { why } | Happened::Failed { why } => {
                let waits = matches!(happened, Happened::Waiting { .. });
                self.course = if waits { Course::Waiting } else { Course::Failed };
                (self.error, self.finished_at) = (Some(why.clone()), at());
            }
            Happened::Applied => {
                (self.course, self.undoing, self.step, self.open) = (Course::Applied, false, self.steps, None);
                (self.error, self.finished_at) = (None, at());
            }
            Happened::Undone => {
                (self.course, self.undoing, self.step, self.open) = (Course::Undone, false, 0, None);
                (self.error, self.finished_at) = (None, at());
            }
            Happened::Baseline => {
                (self.course, self.error, self.finished_at) = (Course::Baseline, None, at());
            }
            Happened::ChecksumAccepted => {}
            Happened::FileGone => self.file_gone = true,
        }
        self.origin.clone_from(origin);
        if *happened != Happened::FileGone {
            self.subject.clone_from(subject);
        }
    }
}

/// A history, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    place: Place,
    /// How many records there are, the damaged ones included.
    length: u64,
    records: BTreeMap<Vec<u64>, Record>,
    baseline: Option<Vec<u64>>,
    /// Every step that was made, in order: the version, and what was done in words.
    deeds: Vec<(String, String)>,
    damage: BTreeMap<u64, String>,
    /// The first record of another place, and the clusters that they name.
    foreign: Option<Event>,
    foreign_clusters: BTreeSet<String>,
}

impl History {
    /// Reads the records of a store, which are in the order in which they were written.
    pub fn read(stored: &[Stored], place: Place) -> Self {
        let mut history = Self {
            place,
            length: 0,
            records: BTreeMap::new(),
            baseline: None,
            deeds: Vec::new(),
            damage: BTreeMap::new(),
            foreign: None,
            foreign_clusters: BTreeSet::new(),
        };
        let mut events = BTreeMap::new();
        for record in stored {
            history.note_gap(record.place);
            history.length = record.place;
            let (event, damage) = read_event(record);
            events.extend(event.map(|event| (record.place, event)));
            history.damage.extend(damage.map(|why| (record.place, why)));
        }
        let (mut former, mut withdrawn) = (BTreeSet::new(), BTreeSet::new());
        for event in events.values() {
            match &event.what {
                What::Damage { places } => history.damage.retain(|place, _| !places.contains(place)),
                What::Withdrawn { place } => drop(withdrawn.insert(*place)),
                What::ClusterRenamed { former: name } => drop(former.insert(name.clone())),
                What::Migration { .. } => {}
            }
        }
        history.damage.retain(|place, _| !withdrawn.contains(place));
        events.retain(|place, _| !withdrawn.contains(place));
        for event in events.into_values() {
            let at_home = event.origin.vhost == history.place.vhost
                && (event.origin.cluster == history.place.cluster || former.contains(&event.origin.cluster));
            if at_home {
                history.take(&event);
            } else {
                history.foreign_clusters.insert(event.origin.cluster.clone());
                history.foreign.get_or_insert(event);
            }
        }
        history
    }

    /// A history without records.
    pub fn empty(place: Place) -> Self {
        Self::read(&[], place)
    }

    fn note_gap(&mut self, place: u64) {
        let expected = self.length.saturating_add(1);
        if place > expected {
            let why = format!("the records before number {place} are gone, from number {expected} on");
            self.damage.insert(place.saturating_sub(1), why);
        }
    }

    fn take(&mut self, event: &Event) {
        let What::Migration { subject, happened } = &event.what else { return };
        // A version that cannot be read was refused as damage.
        let Some(version) = FileName::parse_version(&subject.version) else { return };
        if *happened == Happened::Baseline {
            self.baseline = self.baseline.take().max(Some(version.clone()));
        }
        if let Happened::StepDone { action, .. } = happened {
            self.deeds.push((subject.version.clone(), action.clone()));
        }
        let record = self.records.entry(version).or_insert_with(|| Record::new(subject, &event.origin));
        record.take(subject, happened, &event.origin);
    }

    /// The number that the next record gets.
    pub fn next_rank(&self) -> u64 {
        self.length.saturating_add(1)
    }

    /// Where it belongs.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// What it says of each version, by version.
    pub fn records(&self) -> &BTreeMap<Vec<u64>, Record> {
        &self.records
    }

    /// What it says of a version.
    pub fn record(&self, version: &[u64]) -> Option<&Record> {
        self.records.get(version)
    }

    /// The version up to which everything counts as done.
    pub fn baseline(&self) -> Option<&[u64]> {
        self.baseline.as_deref()
    }

    /// The newest version of which something is in the broker.
    pub fn newest(&self) -> Option<(&Vec<u64>, &Record)> {
        self.records.iter().rev().find(|(_, record)| record.ran())
    }

    /// Every step that was made, in order: the version, and what was done in words.
    pub(super) fn deeds(&self) -> &[(String, String)] {
        &self.deeds
    }

    /// The places that are damaged, each with why.
    pub(super) fn damage(&self) -> &BTreeMap<u64, String> {
        &self.damage
    }

    /// The names of other clusters that records of this vhost carry.
    pub(super) fn foreign_clusters(&self) -> &BTreeSet<String> {
        &self.foreign_clusters
    }

    /// The first record that belongs elsewhere.
    pub(super) fn foreign(&self) -> Option<&Event> {
        self.foreign.as_ref()
    }

    /// Whether the history can be trusted.
    ///
    /// # Errors
    /// When a record cannot be read or is gone, and when a record belongs to another cluster or vhost.
    pub fn check(&self) -> Result<(), HistoryError> {
        if let Some((place, why)) = self.damage.first_key_value() {
            let message = format!("record {place} of the history is damaged: {why}");
            let help =
                "look at what the broker holds with acemq migrate verify, then pass it over with acemq migrate repair";
            return Err(HistoryError::new("history_damaged", message, help));
        }
        let Some(event) = &self.foreign else { return Ok(()) };
        let message = format!(
            "the history belongs to vhost {} of cluster {}, and this is vhost {} of cluster {}",
            quoted(&event.origin.vhost),
            quoted(&event.origin.cluster),
            quoted(&self.place.vhost),
            quoted(&self.place.cluster)
        );
        let help = "give the history of this one; if it is the same cluster under a new name, run acemq migrate repair --cluster-renamed";
        Err(HistoryError::new("history_foreign", message, help))
    }

    /// Whether a version can be made the baseline.
    ///
    /// # Errors
    /// When a version as new or newer ran, or the baseline is newer already.
    pub fn may_baseline(&self, version: &[u64]) -> Result<(), HistoryError> {
        let text = |version: &[u64]| version.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        if let Some((newest, _)) = self.newest().filter(|(newest, _)| newest.as_slice() >= version) {
            let message =
                format!("V{} ran here, so V{} cannot be where the history begins", text(newest), text(version));
            return Err(HistoryError::new(
                "history_baseline",
                message,
                "the history says what was done; go on with acemq migrate run",
            ));
        }
        if let Some((half_way, _)) = self.records.iter().find(|(_, record)| record.is_half_way()) {
            return Err(half_way_error(half_way));
        }
        match self.baseline() {
            Some(baseline) if baseline > version => {
                let message =
                    format!("the baseline is V{} already, which is newer than V{}", text(baseline), text(version));
                Err(HistoryError::new("history_baseline", message, "a baseline is only ever raised"))
            }
            _ => Ok(()),
        }
    }
}

/// A version began and is neither done nor taken back.
pub(super) fn half_way_error(version: &[u64]) -> HistoryError {
    let version = version.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    let message = format!("V{version} is half-way");
    HistoryError::new("history_half_way", message, "run it to its end, or take it back with acemq migrate undo, first")
}

/// A record as far as it can be read, and why it is damaged.
fn read_event(record: &Stored) -> (Option<Event>, Option<String>) {
    let event: Event = match serde_json::from_slice(&record.bytes) {
        Ok(event) => event,
        Err(error) => return (None, Some(format!("it cannot be read ({error})"))),
    };
    if event.acemq_event != FORMAT {
        let why = format!("it has format {}, which a newer acemq wrote", event.acemq_event);
        return (None, Some(why));
    }
    if let What::Migration { subject, .. } = &event.what
        && FileName::parse_version(&subject.version).is_none()
    {
        return (None, Some(format!("its version is {}", quoted(&subject.version))));
    }
    let misplaced = (event.rank != record.place)
        .then(|| format!("it says that it is number {}, so two runners wrote at once or records are gone", event.rank));
    (Some(event), misplaced)
}
