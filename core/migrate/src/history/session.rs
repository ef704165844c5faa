//! Files beside a history, run in strict order under one lock.
//!
//! Whoever finds the lock taken waits, and then reads what the other one wrote: what is done is not done again, and what
//! could not be done is tried again, never passed over.

use super::{Author, Keeper, Keeping, Store};
use crate::{Ending, LOCK_QUEUE, Progress, RunError, Runner};
use acemq_core::migration::history::{
    Course, Given, Happened, History, Mending, Place, Script, Status, Subject, Untrue, What, forecast, mend, verify,
};
use acemq_core::migration::{Beginning, FileName, MigrationFile, MigrationPlan};
use acemq_live::{Answer, Client, Operation};

/// `RESOURCE_LOCKED`
const LOCKED: u16 = 405;

/// Migration files that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Folder {
    /// The files, by version.
    pub files: Vec<(Script, MigrationFile)>,
    /// Whether these are all.
    pub given: Given,
}

impl Folder {
    /// The files as a history knows them.
    pub fn scripts(&self) -> Vec<Script> {
        self.files.iter().map(|(script, _)| script.clone()).collect()
    }

    /// What a script says.
    pub fn file(&self, script: &Script) -> Option<&MigrationFile> {
        self.files.iter().find(|(known, _)| known == script).map(|(_, file)| file)
    }
}

/// How a run ended for one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The file.
    pub script: Script,
    /// How it ended.
    pub ending: Ending,
}

/// A vhost, its history, and the means to run migrations there.
pub struct Session<'a> {
    runner: Runner<'a>,
    client: &'a Client,
    keeping: Keeping,
    place: Place,
    author: Author,
}

impl<'a> Session<'a> {
    /// A session for the vhost that `runner` and `client` are connected to.
    pub fn new(runner: Runner<'a>, client: &'a Client, keeping: Keeping, place: Place, author: Author) -> Self {
        let runner = if keeping == Keeping::Broker { runner.with_history_in_the_vhost() } else { runner };
        Self { runner, client, keeping, place, author }
    }

    /// The runner.
    pub fn runner(&self) -> &Runner<'a> {
        &self.runner
    }

    /// Whether somebody holds the lock.
    ///
    /// # Errors
    /// When the broker cannot be asked.
    pub async fn at_work(&self) -> bool {
        let answer = self.client.ask(&Operation::LookUpQueue(LOCK_QUEUE.to_owned())).await;
        matches!(answer, Answer::Refused(refused) if refused.code == LOCKED)
    }

    /// The history as it is. Nothing is created, and nobody is waited for.
    ///
    /// # Errors
    /// When it cannot be read.
    pub async fn history(&self) -> Result<History, RunError> {
        let mut store = self.store();
        let stored = store.read().await;
        store.close().await;
        Ok(History::read(&stored?, self.place.clone()))
    }

    /// Plans every file that would run, each against the vhost as those before it leave it.
    ///
    /// # Errors
    /// When the history or a file forbids that anything runs.
    pub async fn plan(&self, folder: &Folder) -> Result<Vec<(Script, MigrationPlan)>, RunError> {
        let history = self.history().await?;
        history.check()?;
        let status = Status::new(&folder.scripts(), folder.given, &history, self.at_work().await)?;
        self.plans(folder, &status.to_run()?).await
    }

    async fn plans(&self, folder: &Folder, open: &[&Script]) -> Result<Vec<(Script, MigrationPlan)>, RunError> {
        let mut plans = Vec::new();
        if open.is_empty() {
            return Ok(plans);
        }
        let mut state = self.runner.state().await?;
        for script in open {
            let Some(file) = folder.file(script) else { continue };
            let plan = MigrationPlan::new(file, &state).map_err(|error| RunError::from(error).in_file(&script.file))?;
            let next = forecast(&plan, &state);
            let plan = self.runner.considered(plan, &state).await?;
            plans.push(((*script).clone(), plan));
            match next {
                Some(next) => state = next,
                // Why it must not run stands in the plan.
                None => break,
            }
        }
        Ok(plans)
    }

    /// Runs what has not run, in order, until something does not end well; with `one`, only the first.
    ///
    /// # Errors
    /// When anything forbids that a file runs (nothing is changed then), and when broker, management API or history cannot be
    /// used.
    pub async fn run(
        &self,
        folder: &Folder,
        one: bool,
        mut progress: impl FnMut(&Script, Progress),
    ) -> Result<Vec<Ran>, RunError> {
        let scripts = folder.scripts();
        self.lock(folder, &mut progress).await?;
        let mut store = self.store();
        let history = History::read(&store.read().await?, self.place.clone());
        history.check()?;
        let status = Status::new(&scripts, folder.given, &history, false)?;
        let open = status.to_run()?;
        if open.len() > 1 && !one {
            for (script, plan) in self.plans(folder, &open).await? {
                if let Some(why) = plan.refusal() {
                    return Ok(vec![Ran { script, ending: Ending::Stopped(why) }]);
                }
            }
        }
        let mut keeper = Keeper::new(&mut store, &history, &self.author);
        let mut ran = Vec::new();
        for script in open.into_iter().take(if one { 1 } else { usize::MAX }) {
            let Some(file) = folder.file(script) else { continue };
            keeper.turn_to(subject(script), false);
            let outcome = self.runner.run_recorded(file, &mut keeper, |what| progress(script, what)).await;
            let ending = self.conclude(&history, script, &mut keeper, outcome, Happened::Applied).await?;
            let goes_on = ending == Ending::Finished;
            ran.push(Ran { script: script.clone(), ending });
            if !goes_on {
                break;
            }
        }
        store.close().await;
        Ok(ran)
    }

    /// Takes back the newest migration that ran, wherever it is.
    ///
    /// # Errors
    /// When nothing ran, when there is no way back any more, and when broker, management API or history cannot be used.
    pub async fn undo(&self, folder: &Folder, mut progress: impl FnMut(&Script, Progress)) -> Result<Ran, RunError> {
        self.lock(folder, &mut progress).await?;
        let mut store = self.store();
        let history = History::read(&store.read().await?, self.place.clone());
        history.check()?;
        let scripts = folder.scripts();
        let status = Status::new(&scripts, folder.given, &history, false)?;
        let script = status.to_undo()?.clone();
        let Some(file) = folder.file(&script) else { return Ok(Ran { script, ending: Ending::Finished }) };
        let record = history.record(&script.name.version);
        let beginning = record.map_or_else(Beginning::unrecorded, |record| record.before(&file.work));
        let mut keeper = Keeper::new(&mut store, &history, &self.author);
        keeper.turn_to(subject(&script), true);
        let outcome = self.runner.undo_recorded(file, &beginning, &mut keeper, |what| progress(&script, what)).await;
        let ending = self.conclude(&history, &script, &mut keeper, outcome, Happened::Undone).await?;
        store.close().await;
        Ok(Ran { script, ending })
    }

    /// What the history says and is not so any more.
    ///
    /// # Errors
    /// When the history cannot be trusted, and when it or the vhost cannot be read.
    pub async fn verify(&self) -> Result<Vec<Untrue>, RunError> {
        let history = self.history().await?;
        history.check()?;
        Ok(verify(&history, &self.runner.state().await?))
    }

    /// Writes down how it ended.
    async fn conclude(
        &self,
        history: &History,
        script: &Script,
        keeper: &mut Keeper<'_, 'a>,
        outcome: Result<Ending, RunError>,
        finished: Happened,
    ) -> Result<Ending, RunError> {
        let before = history.record(&script.name.version);
        let half_way = before.is_some_and(|record| record.is_half_way());
        let said = |course: Course, why: &str| {
            before.is_some_and(|record| record.course == course && record.error.as_deref() == Some(why))
        };
        // Without a change nothing happened, but a run that has to wait, or cannot go on, is told of.
        let is_news = |course: Course, why: &str| {
            let goes_on = finished == Happened::Applied && (half_way || course == Course::Waiting);
            keeper.began() || (goes_on && !said(course, why))
        };
        match outcome {
            Ok(ending) => {
                let happened = match &ending {
                    Ending::Waiting(why) if is_news(Course::Waiting, why) => {
                        Some(Happened::Waiting { why: why.clone() })
                    }
                    Ending::Stopped(why) if is_news(Course::Failed, why) => Some(Happened::Failed { why: why.clone() }),
                    Ending::Waiting(_) | Ending::Stopped(_) => None,
                    Ending::Finished => Some(finished),
                };
                if let Some(happened) = happened {
                    self.runner.hold_lock().await?;
                    keeper.note(happened).await?;
                }
                Ok(ending)
            }
            Err(error) => {
                // The lock or the broker may be gone; then nobody can write, and the status says that the runner ended.
                let can_write = !matches!(
                    error,
                    RunError::Journal(_) | RunError::Locked { .. } | RunError::Denied { .. } | RunError::Apart { .. }
                );
                if keeper.began() && can_write && self.runner.hold_lock().await.is_ok() {
                    let _ = keeper.note(Happened::Failed { why: error.to_string() }).await;
                }
                Err(error.in_file(&script.file))
            }
        }
    }

    /// Mends the records, and nothing but the records.
    ///
    /// # Errors
    /// When lock or history cannot be had.
    pub async fn repair(&self, folder: &Folder, cluster_renamed: bool) -> Result<Vec<Mending>, RunError> {
        self.runner.lock_or_wait(&mut |_| ()).await?;
        let mut store = self.store();
        let history = History::read(&store.read().await?, self.place.clone());
        let status = Status::new(&folder.scripts(), folder.given, &history, false)?;
        let mendings = mend(&history, &status, cluster_renamed);
        let mut keeper = Keeper::new(&mut store, &history, &self.author);
        for mending in &mendings {
            keeper.write(mending.what.clone()).await?;
        }
        store.close().await;
        Ok(mendings)
    }

    /// Says that a version and every older one are done; `false` when the history says so already.
    ///
    /// # Errors
    /// When something as new ran here, and when lock or history cannot be had.
    pub async fn baseline(&self, version: &[u64], description: &str) -> Result<bool, RunError> {
        self.runner.lock_or_wait(&mut |_| ()).await?;
        let mut store = self.store();
        let history = History::read(&store.read().await?, self.place.clone());
        history.check()?;
        if history.baseline() == Some(version) {
            return Ok(false);
        }
        history.may_baseline(version)?;
        let name = FileName { version: version.to_vec(), description: description.to_owned() };
        let subject = Subject {
            version: name.version_text(),
            description: name.description,
            file: String::new(),
            checksum: String::new(),
        };
        let mut keeper = Keeper::new(&mut store, &history, &self.author);
        keeper.write(What::Migration { subject, happened: Happened::Baseline }).await?;
        store.close().await;
        Ok(true)
    }

    /// Takes the lock, or waits for it; what is told meanwhile is told of the first file.
    async fn lock(&self, folder: &Folder, progress: &mut impl FnMut(&Script, Progress)) -> Result<(), RunError> {
        let first = folder.files.first().map(|(script, _)| script);
        let mut tell = |what| {
            if let Some(first) = first {
                progress(first, what);
            }
        };
        self.runner.lock_or_wait(&mut tell).await
    }

    fn store(&self) -> Store<'a> {
        Store::new(&self.keeping, self.client, &self.place.vhost)
    }
}

fn subject(script: &Script) -> Subject {
    Subject {
        version: script.name.version_text(),
        description: script.name.description.clone(),
        file: script.file.clone(),
        checksum: script.checksum.clone(),
    }
}
