//! A migration against the table of a vhost: its steps, what is proven about them, and how many of them are done.

use super::action::{Action, leading_to};
use super::change::{Change, declarations};
use super::error::MigrationError;
use super::file::{MigrationFile, Replacement, Work};
use super::findings::{Finding, Weight, inspect};
use super::neighbours::{Neighbour, neighbours};
use super::options::{DrainOptions, Method, Teardown};
use super::plain::{self, Plain};
use super::position::{Position, locate, locate_back, undo_in_mind};
use super::proof::{MAX_CLASSES, Proof, Subject, prove};
use super::rehearsal::{RefusedStep, rehearse};
use super::sequence::{self, Setting};
use super::step::{Direction, Phase, Step};
use super::undo::{Beginning, Brought, WayBack, past_return};
use crate::name::quoted;
use crate::state::{Presence, State};
use std::sync::Arc;

/// What a migration, or its undo, would do to a vhost.
#[derive(Debug, Clone, PartialEq)]
pub struct MigrationPlan {
    /// Which way the steps lead.
    pub direction: Direction,
    /// The vhost.
    pub vhost: String,
    /// The queue that is replaced, and what it is replaced by and how; `None` for plain changes.
    pub subject: Option<PlannedReplacement>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// How far the vhost is.
    pub position: Position,
    /// The proof; `None` for plain changes, which are what somebody asked for.
    pub proof: Option<Proof>,
    /// What has to be known.
    pub findings: Vec<Finding>,
    /// Who else gets the old queue's messages.
    pub neighbours: Vec<Neighbour>,
    /// How long and how closely is waited.
    pub waiting: DrainOptions,
    /// The file that belongs behind this one: with `teardown: later` it takes the exchanges in between down, with
    /// `keep_name: true` it brings the old name back.
    pub follow_up: Option<String>,
    beginning: Beginning,
    /// The table before the first step, which proof and findings are about.
    initial: State,
}

/// A replacement as a plan names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedReplacement {
    /// The queue that is replaced.
    pub old: String,
    /// The queue that takes its place.
    pub new: String,
    /// By which sequence.
    pub method: Method,
}

impl MigrationPlan {
    /// Plans a migration for a vhost as it is, whether it has begun or not.
    ///
    /// ```
    /// use acemq_core::migration::{MigrationFile, MigrationPlan};
    /// use acemq_core::rabbitmq::{BindingDeclaration, Broker, ExchangeDeclaration, QueueDeclaration, Version};
    /// use acemq_core::state::State;
    /// use acemq_core::topology::Format;
    ///
    /// let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    /// state.insert_exchange(ExchangeDeclaration::durable("orders", "topic"));
    /// state.insert_queue(QueueDeclaration::durable("new"));
    /// state.bindings.insert(BindingDeclaration::queue("orders", "new", "order.*"));
    ///
    /// let text = "acemq_migration: 1\nreplace: { queue: new, with: { name: new.v2, type: quorum } }";
    /// let plan = MigrationPlan::new(&MigrationFile::parse(text, Format::Yaml).unwrap(), &state).unwrap();
    /// assert!(plan.proof.as_ref().is_some_and(|proof| proof.holds()));
    /// assert_eq!(plan.refusal(), None);
    /// ```
    ///
    /// # Errors
    /// When the queue is not there, when the source of the state does not show exchanges, queues and bindings, and when a
    /// broker would refuse a step.
    pub fn new(file: &MigrationFile, live: &State) -> Result<Self, MigrationError> {
        check_known(live)?;
        match &file.work {
            Work::Replace(replacement) => Self::replace(replacement, live, None),
            Work::Changes(changes) => Self::changes(changes, live, Direction::Forward, &Beginning::unrecorded()),
        }
    }

    /// The same plan for the vhost as it is now. What was proven about the same beginning is not proven again.
    ///
    /// # Errors
    /// As [`MigrationPlan::new`] and [`MigrationPlan::undo`].
    pub fn renewed(&self, file: &MigrationFile, live: &State) -> Result<Self, MigrationError> {
        check_known(live)?;
        match (&file.work, self.direction) {
            (Work::Replace(replacement), Direction::Forward) => Self::replace(replacement, live, Some(self)),
            (Work::Replace(replacement), Direction::Back) => {
                Self::replace_back(replacement, live, &self.beginning, Some(self))
            }
            (Work::Changes(changes), direction) => Self::changes(changes, live, direction, &self.beginning),
        }
    }

    /// Plans the way back to the definitions that the vhost had before the first step, from wherever the migration is.
    ///
    /// The steps are always all that an undo can have, with those marked as done that the vhost does not need. `beginning` is
    /// what [`MigrationPlan::beginning`] said before the first step.
    ///
    /// # Errors
    /// As [`MigrationPlan::new`], when a queue is deleted, and for plain changes when `beginning` does not say what they found.
    pub fn undo(file: &MigrationFile, live: &State, beginning: &Beginning) -> Result<Self, MigrationError> {
        check_known(live)?;
        match &file.work {
            Work::Replace(replacement) => Self::replace_back(replacement, live, beginning, None),
            Work::Changes(changes) => Self::changes(changes, live, Direction::Back, beginning),
        }
    }

    /// What of the new queue and of what belongs to it is there already. Ask before the first step, and record it: an undo
    /// takes it, and leaves these things alone. Afterwards it would name what the migration itself declared. Of plain changes it
    /// says what each of the open ones will find.
    pub fn beginning(&self) -> &Beginning {
        &self.beginning
    }

    fn replace(replacement: &Replacement, live: &State, before: Option<&Self>) -> Result<Self, MigrationError> {
        let initial = undo_in_mind(live, replacement)?;
        let Forward { setting, steps, states, findings } = Forward::new(replacement, &initial)?;
        let position = locate(replacement, &steps, &states, live);
        let proof = proven_before(before, &initial, &steps).unwrap_or_else(|| {
            let wiring = declarations(&replacement.tables);
            prove(&subject(replacement, &initial, &wiring), steps.iter().map(|step| &step.action))
        });
        let follow_up = follow_up(&setting)?;
        Ok(Self {
            direction: Direction::Forward,
            vhost: live.vhost.clone(),
            subject: Some(PlannedReplacement::of(replacement)),
            position,
            proof: Some(proof),
            findings,
            neighbours: neighbours(&initial, &replacement.old),
            waiting: replacement.options.drain,
            follow_up,
            steps,
            beginning: Beginning::of(replacement, live),
            initial: initial.clone(),
        })
    }

    fn replace_back(
        replacement: &Replacement,
        live: &State,
        beginning: &Beginning,
        before: Option<&Self>,
    ) -> Result<Self, MigrationError> {
        let mut initial = undo_in_mind(live, replacement)?;
        if live.queue(&replacement.old).there().is_none() {
            return Err(past_return(replacement));
        }
        let brought = Brought::find(replacement, &initial, beginning);
        brought.take_out(&mut initial);
        let forward = Forward::new(replacement, &initial)?;
        let end = forward.steps.iter().position(|step| step.point_of_no_return).unwrap_or(forward.steps.len());
        let there = forward.steps.get(..end).unwrap_or_default();
        let prepared = there.iter().take_while(|step| step.phase == Phase::Prepare).count();
        let wired = forward.states.get(prepared).map_or(&initial, |state| state.as_ref());
        let WayBack { restore, remove } = WayBack::new(replacement, there, wired, &brought);
        let restored = restore.len();
        let steps: Vec<Step> = restore.into_iter().chain(remove).collect();
        let actions = || there.iter().chain(&steps).map(|step| &step.action);
        let states = rehearse(&initial, actions()).map_err(|step| refused(&steps, step.behind(end)))?;
        let proof = proven_before(before, &initial, &steps).unwrap_or_else(|| {
            let wiring = declarations(&replacement.tables);
            prove(&subject(replacement, &initial, &wiring), actions())
        });
        let position = locate_back(replacement, there, &steps, restored, states.get(end..).unwrap_or_default(), live);
        Ok(Self {
            direction: Direction::Back,
            vhost: live.vhost.clone(),
            subject: Some(PlannedReplacement::of(replacement)),
            position,
            proof: Some(proof),
            findings: brought.into_findings(),
            neighbours: neighbours(&initial, &replacement.old),
            waiting: replacement.options.drain,
            follow_up: None,
            steps,
            beginning: beginning.clone(),
            initial: initial.clone(),
        })
    }

    fn changes(
        changes: &[Change],
        live: &State,
        direction: Direction,
        beginning: &Beginning,
    ) -> Result<Self, MigrationError> {
        let Plain { steps, position, findings, met } = match (direction, beginning.changes()) {
            (Direction::Forward, _) => plain::forward(changes, live)?,
            (Direction::Back, Some(met)) => plain::back(changes, live, met)?,
            (Direction::Back, None) => {
                let message = "these plain changes have no undo: what was there before them is not known any more";
                let help = "write a new migration with the opposite changes";
                return Err(MigrationError::new("migration_refused", message, help).with("reason", "changes"));
            }
        };
        Ok(Self {
            direction,
            vhost: live.vhost.clone(),
            subject: None,
            position,
            proof: None,
            findings,
            neighbours: Vec::new(),
            waiting: DrainOptions::default(),
            follow_up: None,
            steps,
            beginning: Beginning::of_changes(met),
            initial: live.clone(),
        })
    }

    /// Why the migration must not run, as a sentence; `None` when it may.
    pub fn refusal(&self) -> Option<String> {
        if let Some(finding) = self.findings.iter().find(|finding| finding.weight == Weight::Refused) {
            return Some(format!("{}; {}", finding.message, finding.help));
        }
        if let Some(proof) = self.proof.as_ref().filter(|proof| !proof.holds()) {
            return Some(proof.to_string());
        }
        match &self.position {
            Position::At(_) => None,
            Position::Astray { .. } => Some(self.position.to_string()),
        }
    }

    /// How many steps are done, where that is known.
    pub fn done(&self) -> Option<usize> {
        match self.position {
            Position::At(done) => Some(done),
            Position::Astray { .. } => None,
        }
    }
}

impl PlannedReplacement {
    fn of(replacement: &Replacement) -> Self {
        Self { old: replacement.old.clone(), new: replacement.new.clone(), method: replacement.options.method }
    }
}

/// What an earlier plan of the same steps proved about the same table.
fn proven_before(before: Option<&MigrationPlan>, initial: &State, steps: &[Step]) -> Option<Proof> {
    let before = before.filter(|before| before.initial == *initial && before.steps == steps)?;
    before.proof.clone()
}

fn check_known(live: &State) -> Result<(), MigrationError> {
    if live.known.exchanges && live.known.queues && live.known.bindings {
        return Ok(());
    }
    let message = format!("the exchanges, queues and bindings of vhost {} are not known", quoted(&live.vhost));
    let help = "give the broker's management API, or a definitions file";
    Err(MigrationError::new("migration_refused", message, help).with("reason", "state_unknown"))
}

/// A replacement from its first step to its last.
struct Forward<'a> {
    setting: Setting<'a>,
    steps: Vec<Step>,
    /// The table before the first step, and after each of them.
    states: Vec<Arc<State>>,
    findings: Vec<Finding>,
}

impl<'a> Forward<'a> {
    /// `initial` is the table before the first step.
    fn new(replacement: &'a Replacement, initial: &'a State) -> Result<Self, MigrationError> {
        let setting = Setting::new(replacement, initial)?;
        let mut steps = sequence::steps(&setting)?;
        let findings = match initial.queue(&replacement.old) {
            Presence::There(old) => inspect(initial, replacement, old),
            Presence::Absent | Presence::Unknown => Vec::new(),
        };
        let states = rehearse(initial, steps.iter().map(|step| &step.action))
            .map_err(|step| foreseen(&findings).unwrap_or_else(|| refused(&steps, step)))?;
        keep_what_was_there(&mut steps, &states);
        Ok(Self { setting, steps, states, findings })
    }
}

/// What is proven about a replacement.
fn subject<'a>(replacement: &'a Replacement, initial: &'a State, wiring: &'a [Action]) -> Subject<'a> {
    Subject {
        initial,
        old: &replacement.old,
        new: &replacement.new,
        wiring,
        duplicates_allowed: replacement.options.method == Method::Overlap,
        limit: MAX_CLASSES,
    }
}

/// What a step finds done is not taken back by an undo: it belongs to somebody else.
fn keep_what_was_there(steps: &mut [Step], states: &[Arc<State>]) {
    for (step, pair) in steps.iter_mut().zip(states.windows(2)) {
        if let [before, after] = pair
            && Arc::ptr_eq(before, after)
        {
            step.inverse = None;
        }
    }
}

/// The finding that explains why a broker would refuse.
fn foreseen(findings: &[Finding]) -> Option<MigrationError> {
    let finding = findings.iter().find(|finding| finding.weight == Weight::Refused)?;
    let error = MigrationError::new("migration_refused", finding.message.clone(), finding.help.clone());
    Some(error.with("reason", finding.code))
}

pub(super) fn refused(steps: &[Step], RefusedStep { at, refused }: RefusedStep) -> MigrationError {
    let step = steps.get(at).map(|step| step.action.to_string()).unwrap_or_default();
    let message = format!("the broker would refuse step {} ({step}): {} {}", at + 1, refused.code, refused.text);
    let help = if refused.text.contains("queue limit in") {
        "raise its limit max-queues, or take queues away: old and new queue are there side by side"
    } else {
        "change the file so that it asks for what the broker can do"
    };
    MigrationError::new("migration_refused", message, help).with("reason", "broker").with("step", at + 1)
}

/// The file that belongs behind this one.
fn follow_up(setting: &Setting<'_>) -> Result<Option<String>, MigrationError> {
    let options = &setting.replacement.options;
    if options.keep_name {
        return Ok(Some(old_name_again(setting.replacement)));
    }
    (options.teardown == Teardown::Later).then(|| clean_up(setting)).transpose()
}

/// The file that brings the old name back, as `keep_name: true` asks for.
fn old_name_again(first: &Replacement) -> String {
    let mut with = first.with.clone();
    if let Some(with) = with.as_object_mut() {
        with.insert("name".to_owned(), first.old.as_str().into());
    }
    let replace = serde_json::json!({ "queue": first.new, "with": with });
    format!("acemq_migration: 1\nreplace: {replace}\noptions: {}\n", first.options.to_json())
}

/// The file that does what `teardown: later` leaves.
fn clean_up(setting: &Setting<'_>) -> Result<String, MigrationError> {
    let now = Replacement {
        options: super::options::Options { teardown: Teardown::Now, ..setting.replacement.options.clone() },
        ..setting.replacement.clone()
    };
    let setting = Setting::new(&now, setting.state)?;
    let steps = sequence::steps(&setting)?;
    let rest = steps.iter().filter(|step| matches!(step.phase, Phase::Teardown | Phase::Retire));
    let lines: Vec<String> = rest.filter_map(|step| change_line(&step.action)).collect();
    Ok(format!("acemq_migration: 1\nchanges:\n{}", lines.concat()))
}

fn change_line(action: &Action) -> Option<String> {
    let entry = match action {
        Action::Bind(binding) | Action::Unbind(binding) => {
            let mut table = serde_json::to_value(crate::rabbitmq::BindingTable::of(binding)).unwrap_or_default();
            if let Some(table) = table.as_object_mut() {
                table.remove("fingerprint");
            }
            serde_json::json!({ action.name(): table })
        }
        Action::DeleteExchange(exchange) => serde_json::json!({ "delete": { "exchange": exchange.name } }),
        Action::DeleteQueue(queue) => serde_json::json!({ "delete": { "queue": queue, "guard": "empty" } }),
        _ => return None,
    };
    Some(format!("  - {entry}\n"))
}

/// Whether a queue has a binding that no wiring of its own explains.
pub(super) fn is_bound_beyond(state: &State, replacement: &Replacement) -> bool {
    let wired = |line: &str| replacement.tables.bindings.iter().any(|binding| binding.declaration.canonical() == line);
    leading_to(state, &replacement.new).any(|binding| !wired(&binding.canonical()))
}
