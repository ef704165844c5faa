//! Where a migration is, read from the table.
//!
//! Every step changes the table in a way of its own, so the table says which steps are done; a journal can only explain it.
//! First everything that the migration may have done is undone in mind, which gives the table of its start; the steps that
//! follow from that, rehearsed, give the table after each of them, and the vhost is at the one that it equals.

use super::action::{Action, arrow, leading_to, leading_to_exchange};
use super::error::MigrationError;
use super::file::Replacement;
use super::options::Method;
use super::plan::is_bound_beyond;
use super::sequence::scaffolding;
use super::step::Step;
use crate::name::quoted;
use crate::rabbitmq::{BindingDeclaration, DestinationType, QueueDeclaration};
use crate::state::{Presence, State};
use crate::topology::{describe_exchange, shown_name};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// How far a vhost is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// So many steps are done. Waiting is done again, so waits behind the last change do not count.
    At(usize),
    /// The table is none that the steps lead through.
    Astray {
        /// The steps after which it would be nearest.
        nearest: usize,
        /// What is there and should not be then.
        surplus: Vec<String>,
        /// What should be there then and is not.
        missing: Vec<String>,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(done) => write!(f, "{done} steps are done"),
            Self::Astray { nearest, surplus, missing } => {
                write!(f, "somebody changed what the migration is about: after step {nearest}")?;
                let mut parts = Vec::new();
                if !surplus.is_empty() {
                    parts.push(format!(" there should be no {}", surplus.join(", no ")));
                }
                if !missing.is_empty() {
                    parts.push(format!(" {} should be there", missing.join(", ")));
                }
                f.write_str(&parts.join(", and"))?;
                f.write_str("; take that back, make sure that no client declares it when it starts, and run again")
            }
        }
    }
}

/// The table as it was before the first step.
pub(super) fn undo_in_mind(live: &State, replacement: &Replacement) -> Result<State, MigrationError> {
    let (old, new) = (replacement.old.as_str(), replacement.new.as_str());
    let (between, catch) = scaffolding(old)?;
    if let Some(hidden) = [&between, &catch].into_iter().find(|name| matches!(live.exchange(name), Presence::Unknown)) {
        let message = format!(
            "bindings name exchange {}, which is internal, and the source of the state leaves it out",
            quoted(hidden)
        );
        let help = "give the management API, or add what it lists under /api/exchanges to the definitions";
        return Err(MigrationError::new("migration_refused", message, help).with("reason", "state_unknown"));
    }
    let mut initial = live.clone();
    let to_old = |binding: &BindingDeclaration| BindingDeclaration {
        destination: old.to_owned(),
        destination_type: DestinationType::Queue,
        ..binding.clone()
    };
    let in_between = live.exchange(&between).there().is_some();
    let old_is_there = live.queue(old).there().is_some();
    let mut sources: Vec<BindingDeclaration> =
        leading_to(live, old).filter(|binding| binding.source != between).cloned().collect();
    sources.extend(leading_to_exchange(live, &between).map(to_old));
    // Only with an overlap are both queues bound, with nothing in between.
    let overlaps = replacement.options.method == Method::Overlap;
    let led_away = overlaps || leading_to(live, old).next().is_none();
    let moved = in_between || (led_away && is_bound_beyond(live, replacement));
    if moved {
        let wired: Vec<String> =
            replacement.tables.bindings.iter().map(|binding| binding.declaration.canonical()).collect();
        let own = |binding: &&BindingDeclaration| {
            binding.source == catch || binding.source == between || wired.contains(&binding.canonical())
        };
        let led: Vec<BindingDeclaration> = leading_to(live, new).filter(|binding| !own(binding)).cloned().collect();
        sources.extend(led.iter().map(to_old));
        for binding in &led {
            initial.bindings.remove(binding);
        }
    }
    for name in [&between, &catch] {
        let touching: Vec<BindingDeclaration> = (live.bindings.iter())
            .filter(|binding| {
                binding.source == *name
                    || (binding.destination_type == DestinationType::Exchange && binding.destination == *name)
            })
            .cloned()
            .collect();
        for binding in &touching {
            initial.bindings.remove(binding);
        }
        initial.exchanges.remove(name);
        initial.policies.retain(|policy| policy.name != *name);
    }
    initial.bindings.extend(sources);
    if !old_is_there {
        if !moved || live.queue(new).there().is_none() {
            let message = format!("there is no queue {} in vhost {}", quoted(old), quoted(&live.vhost));
            return Err(MigrationError::new("migration_queue", message, "check the name in the file, and the vhost")
                .with("queue", old));
        }
        // It was retired; what it was does not matter any more.
        initial.insert_queue(QueueDeclaration::durable(old));
    }
    Ok(initial)
}

/// How many steps are done.
pub(super) fn locate(replacement: &Replacement, steps: &[Step], states: &[Arc<State>], live: &State) -> Position {
    locate_among(&Names::of(replacement, steps), states, live)
}

/// How many steps of the way back are done. The first `restored` of them lead through tables of their own; of the others,
/// which take away what the new queue brought along, each shows by itself whether it is done.
pub(super) fn locate_back(
    replacement: &Replacement,
    forward: &[Step],
    steps: &[Step],
    restored: usize,
    states: &[Arc<State>],
    live: &State,
) -> Position {
    let names = Names::of(replacement, forward).without_wiring(replacement);
    let found = locate_among(&names, states.get(..=restored).unwrap_or(states), live);
    if found != Position::At(restored) {
        return found;
    }
    let is_open =
        |step: &Step| step.action.changes() && step.after.iter().any(|condition| condition.holds(live) != Some(true));
    let rest = steps.get(restored..).unwrap_or_default();
    let Some(open) = rest.iter().position(is_open) else { return Position::At(steps.len()) };
    // What is waited for before it is waited for again.
    let waits = rest.iter().take(open).rev().take_while(|step| !step.action.changes()).count();
    Position::At(restored.saturating_add(open).saturating_sub(waits))
}

fn locate_among(names: &Names, states: &[Arc<State>], live: &State) -> Position {
    let there = names.view(live);
    let views: Vec<BTreeSet<String>> = states.iter().map(|state| names.view(state)).collect();
    // The last time that the table became this one. What follows it without a change is waiting, which is done again, and
    // what is there already, which may be.
    let became = |at: &usize| {
        views.get(*at) == Some(&there) && at.checked_sub(1).is_none_or(|before| views.get(before) != Some(&there))
    };
    let done = (0..views.len()).rev().find(became);
    if let Some(done) = done {
        return Position::At(done);
    }
    let distance = |view: &BTreeSet<String>| view.symmetric_difference(&there).count();
    let nearest =
        (views.iter().enumerate().rev()).min_by_key(|(_, view)| distance(view)).map(|(at, _)| at).unwrap_or_default();
    let none = BTreeSet::new();
    let view = views.get(nearest).unwrap_or(&none);
    Position::Astray {
        nearest,
        surplus: there.difference(view).cloned().collect(),
        missing: view.difference(&there).cloned().collect(),
    }
}

/// The objects that a migration is about.
struct Names {
    queues: BTreeSet<String>,
    /// Those of them whose coming and going does not matter, and bindings that do not.
    left_out: BTreeSet<String>,
    bindings_left_out: BTreeSet<String>,
    /// Those that the migration brings along: their bindings are its own.
    exchanges: BTreeSet<String>,
    /// Those that it declares for everybody.
    shared: BTreeSet<String>,
    policies: BTreeSet<String>,
}

impl Names {
    fn of(replacement: &Replacement, steps: &[Step]) -> Self {
        let mut names = Self {
            queues: BTreeSet::from([replacement.old.clone(), replacement.new.clone()]),
            left_out: BTreeSet::new(),
            bindings_left_out: BTreeSet::new(),
            exchanges: BTreeSet::new(),
            shared: BTreeSet::new(),
            policies: BTreeSet::new(),
        };
        for step in steps {
            match &step.action {
                Action::DeclareQueue(queue) => {
                    names.queues.insert(queue.name.clone());
                }
                Action::DeclareExchange(exchange) => {
                    names.shared.insert(exchange.name.clone());
                }
                Action::SetPolicy(policy) => {
                    names.policies.insert(policy.name.clone());
                }
                _ => {}
            }
        }
        if let Ok((between, catch)) = scaffolding(&replacement.old) {
            names.exchanges.extend([between, catch]);
        }
        names
    }

    /// Only the way that messages take: not the new queue itself, and nothing of what belongs to it.
    fn without_wiring(mut self, replacement: &Replacement) -> Self {
        self.queues = BTreeSet::from([replacement.old.clone(), replacement.new.clone()]);
        self.left_out.insert(replacement.new.clone());
        self.bindings_left_out =
            replacement.tables.bindings.iter().map(|binding| binding.declaration.canonical()).collect();
        let wiring = replacement.tables.exchanges.iter().map(|exchange| &exchange.declaration.name);
        for exchange in wiring {
            self.shared.remove(exchange);
        }
        self
    }

    /// What there is of them, in words.
    fn view(&self, state: &State) -> BTreeSet<String> {
        let mut view = BTreeSet::new();
        for queue in self.queues.difference(&self.left_out) {
            if let Presence::There(_) = state.queue(queue) {
                view.insert(format!("queue {}", shown_name(queue)));
            }
        }
        for name in self.exchanges.union(&self.shared) {
            if let Presence::There(exchange) = state.exchange(name) {
                view.insert(format!("exchange {} ({})", shown_name(name), describe_exchange(&exchange)));
            }
        }
        for policy in state.policies.iter().filter(|policy| self.policies.contains(&policy.name)) {
            view.insert(format!("policy {} ({})", shown_name(&policy.name), policy.canonical()));
        }
        for binding in state.bindings.iter() {
            let ends_here = match binding.destination_type {
                DestinationType::Queue => self.queues.contains(&binding.destination),
                DestinationType::Exchange => self.exchanges.contains(&binding.destination),
            };
            let matters = ends_here || self.exchanges.contains(&binding.source);
            if matters && !self.bindings_left_out.contains(&binding.canonical()) {
                view.insert(format!("binding {}", arrow(binding)));
            }
        }
        view
    }
}
