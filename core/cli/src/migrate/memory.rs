//! `run` on the embedded broker: the same steps in the same order, with consumers that are always there and queues that are
//! always empty. For trying files out, and for examples; nothing is kept, so there is no history.

use super::folder;
use super::run::{nothing_to_run, what_follows};
use super::teller::Teller;
use crate::failure::{DIFFERS, Failure};
use crate::output::Report;
use acemq_core::embedded::EmbeddedBroker;
use acemq_core::migration::history::{Given, History, Place, Status};
use acemq_core::migration::{MigrationFile, MigrationPlan, Order, QueueSight, Run};
use acemq_migrate::Progress;
use acemq_migrate::history::Folder;

/// Runs files on a broker that is forgotten afterwards.
pub fn run(mut broker: EmbeddedBroker, folder: &Folder, one: bool, is_json: bool) -> Result<Report, Failure> {
    let place = Place { cluster: "memory".to_owned(), vhost: broker.conditions().vhost.clone() };
    let history = History::empty(place);
    let status = Status::new(&folder.scripts(), folder.given, &history, false).map_err(Failure::input)?;
    let mut teller = Teller::new(is_json, folder.given == Given::Everything, None);
    let is_empty = folder.files.is_empty();
    let mut text = String::from(if is_empty { nothing_to_run(folder) } else { "finished: every step is done\n" });
    for script in status.to_run().map_err(Failure::input)?.into_iter().take(if one { 1 } else { usize::MAX }) {
        let Some(file) = folder.file(script) else { continue };
        let stopped = run_file(&mut broker, &script.file, file, |progress| teller.tell(script, progress))?;
        if let Some(why) = stopped {
            return Err(Failure::with_code(why, DIFFERS));
        }
        text.extend(what_follows(folder, script));
    }
    Ok(Report::done(if is_json { "{\"outcome\":\"finished\"}\n".to_owned() } else { text }))
}

/// Why it stopped, unless it came to its end.
fn run_file(
    broker: &mut EmbeddedBroker,
    name: &str,
    file: &MigrationFile,
    mut tell: impl FnMut(Progress),
) -> Result<Option<String>, Failure> {
    let owner = broker.connect();
    let mut run = Run::new();
    let mut now = 0_u64;
    loop {
        let live = broker.state();
        let plan = MigrationPlan::new(file, &live).map_err(|error| folder::refused(name, &error))?;
        match run.next(&plan, &live, now) {
            Order::Do(action) => {
                let number = plan.steps.iter().position(|step| step.action == action).map_or(0, |at| at + 1);
                action
                    .play(broker, owner)
                    .map_err(|refused| Failure::input(format!("{name}: {} {}", refused.code, refused.text)))?;
                tell(Progress::Step { number, of: plan.steps.len(), action: action.to_string() });
            }
            Order::LookAt(queues) => {
                let sight = |queue| QueueSight {
                    queue,
                    ready: Some(0),
                    unacknowledged: Some(0),
                    consumers: if run.waits_for_consumers() { u64::MAX } else { 0 },
                    lag_ms: 0,
                    unconfirmed: false,
                };
                let sights: Vec<QueueSight> = queues.into_iter().map(sight).collect();
                run.saw_queues(&sights, now);
            }
            // The embedded broker is one node, and its sights are its own word.
            Order::Confirm(_) => {}
            Order::AskNodes(_) => run.nodes_know(),
            Order::Pause(ms) => now = now.saturating_add(ms),
            Order::Finished => return Ok(None),
            Order::Waiting(why) | Order::Stopped(why) => return Ok(Some(why)),
        }
    }
}
