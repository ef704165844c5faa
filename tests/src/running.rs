//! A migration's runner in a process of the tests.

use crate::broker::{Node, Vhost};
use crate::load::{Place, Traffic};
use acemq_core::migration::{Beginning, MigrationFile, MigrationPlan};
use acemq_core::topology::Format;
use acemq_live::{Client, Limits, Management};
use acemq_migrate::{Ending, Journal, Progress, RunError, Runner, Unrecorded};
use std::time::Duration;

/// Limits that a busy machine keeps; only a hang is longer.
pub const LIMITS: Limits = Limits {
    connect: Duration::from_secs(30),
    question: Duration::from_secs(30),
    change: Duration::from_secs(60),
    reconnect: Duration::from_secs(60),
    listing: Duration::from_secs(60),
    close: Duration::from_secs(3),
};

/// How late the statistics of a broker are that writes them every 5 s.
const STATISTICS_LAG: Duration = Duration::from_secs(6);

/// The addresses that a runner uses.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// `amqp://…` with the vhost.
    pub amqp: String,
    /// `http://…`
    pub management: String,
    /// The vhost's name.
    pub vhost: String,
    /// Whether old queues are watched for messages that come by their name before they are deleted.
    pub watched: bool,
}

impl Addresses {
    /// Those of the node that the vhost was made on.
    pub fn of(vhost: &Vhost<'_>) -> Self {
        Self {
            amqp: vhost.amqp_url(),
            management: vhost.node().management_url(),
            vhost: vhost.name().to_owned(),
            watched: false,
        }
    }
}

/// The vhost as publishers and consumers reach it through these nodes.
pub fn place(nodes: &[&Node], vhost: &Vhost<'_>) -> Place {
    Place { ports: nodes.iter().map(|node| node.amqp_port()).collect(), vhost: vhost.name().to_owned() }
}

/// So much traffic that every moment of a migration sees some, and so little that several tests fit on two cores.
pub fn light(traffic: Traffic) -> Traffic {
    Traffic { publishers: 3, rate: 250, ..traffic }
}

/// Runs a migration; `watch` is told what happens, and ends the run by `false`: the connection is dropped in the middle.
///
/// # Panics
/// When the file cannot be read or the broker cannot be reached.
pub fn migrate(
    addresses: &Addresses,
    file: &str,
    watch: impl FnMut(&Progress) -> bool + Send,
) -> Option<Result<Ending, RunError>> {
    migrate_recorded(addresses, file, &mut Unrecorded, watch)
}

/// As [`migrate`], with a journal.
///
/// # Panics
/// When the file cannot be read or the broker cannot be reached.
pub fn migrate_recorded(
    addresses: &Addresses,
    file: &str,
    journal: &mut dyn Journal,
    mut watch: impl FnMut(&Progress) -> bool + Send,
) -> Option<Result<Ending, RunError>> {
    let file = parsed(file);
    with_runner(addresses, async |runner| {
        let (sender, mut cut) = tokio::sync::mpsc::unbounded_channel();
        let run = runner.run_recorded(&file, journal, move |progress| {
            if !watch(&progress) {
                let _ = sender.send(());
            }
        });
        tokio::select! {
            // What is to be cut is cut before the next step.
            biased;
            Some(()) = cut.recv() => None,
            ended = run => Some(ended),
        }
    })
}

/// Takes a migration back.
///
/// # Panics
/// When the file cannot be read or the broker cannot be reached.
pub fn undo(addresses: &Addresses, file: &str, beginning: &Beginning) -> Result<Ending, RunError> {
    with_runner(addresses, async |runner| runner.undo_recorded(&parsed(file), beginning, &mut Unrecorded, |_| ()).await)
}

/// The migration's plan for the vhost as it is.
///
/// # Panics
/// When there is none.
pub fn plan(addresses: &Addresses, file: &str) -> MigrationPlan {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let state = runtime.block_on(async {
        let management = Management::new(addresses.management.parse().unwrap(), LIMITS).unwrap();
        management.state(&addresses.vhost).await.unwrap()
    });
    MigrationPlan::new(&parsed(file), &state).unwrap()
}

fn parsed(file: &str) -> MigrationFile {
    MigrationFile::parse(file, Format::Yaml).unwrap()
}

/// Whatever is done with a runner.
///
/// # Panics
/// When the broker cannot be reached.
pub fn with_runner<T>(addresses: &Addresses, run: impl AsyncFnOnce(&Runner<'_>) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let client = Client::connect(addresses.amqp.parse().unwrap(), "acemq migrate tests", LIMITS).await.unwrap();
        let management = Management::new(addresses.management.parse().unwrap(), LIMITS).unwrap();
        // That publishers by name are found is tested where there are some; elsewhere watching for them only takes time.
        let lag = if addresses.watched { STATISTICS_LAG } else { Duration::ZERO };
        run(&Runner::new(&client, &management, &addresses.vhost).with_statistics_lag(lag)).await
    })
}

/// Runs it to its end.
///
/// # Panics
/// When it does not get there.
pub fn finish(addresses: &Addresses, file: &str) {
    let ended = migrate(addresses, file, |_| true).unwrap();
    assert_eq!(ended.unwrap(), Ending::Finished);
}
