//! What stands against the queue that is to take over: what is there under its name, and where its messages would be lost.

use super::{Inspection, Weight, leading_to, queue_differences, quoted, shown_value};
use crate::rabbitmq::{QueueDeclaration, QueueType};
use crate::state::Presence;
use crate::value::Value;
use std::collections::BTreeSet;

impl Inspection<'_> {
    pub(super) fn new_queue(&mut self, old: &QueueDeclaration, new: &QueueDeclaration) {
        let name = quoted(&new.name);
        if new.exclusive || new.auto_delete {
            let message = format!("the new queue {name} would go with a connection or with its last consumer");
            self.add(Weight::Refused, "new_vanishes", message, "declare it durable, not exclusive and not auto-delete");
        }
        self.new_queue_keeps_messages(old, new);
        let wired: BTreeSet<String> =
            self.replacement.tables.bindings.iter().map(|binding| binding.declaration.canonical()).collect();
        let foreign: Vec<String> = leading_to(self.state, &new.name)
            .filter(|binding| !wired.contains(&binding.canonical()))
            .map(|binding| quoted(&binding.source))
            .collect();
        if !foreign.is_empty() {
            let message = format!("the new queue {name} is there and bound to {}", foreign.join(", "));
            self.add(
                Weight::Refused,
                "new_bound",
                message,
                "if it took the old queue's place already, a client brought a binding of the old queue back, and that one has to go; else give the new queue another name",
            );
        }
        if let Presence::There(stored) = self.state.queue(&new.name) {
            let differences = queue_differences(self.version(), stored, new);
            if let Some(difference) = differences.iter().find(|difference| difference.compared) {
                let side = |value: &Option<Value>| {
                    value.as_ref().map_or_else(|| "nothing".to_owned(), |value| shown_value(value).into_owned())
                };
                let message = format!(
                    "queue {name} is there with another {}: {} instead of {}",
                    difference.argument,
                    side(&difference.current),
                    side(&difference.wanted)
                );
                self.add(
                    Weight::Refused,
                    "new_differs",
                    message,
                    "give the new queue another name, or delete the one that is there",
                );
            }
        }
        self.dead_letters_into_a_source(new);
        self.dead_letters_nowhere(new);
    }

    /// What is led over must not be lost where it is led to.
    fn new_queue_keeps_messages(&mut self, old: &QueueDeclaration, new: &QueueDeclaration) {
        let name = quoted(&new.name);
        if let Some(expires) = self.policies.effective(new).value("expires") {
            let message = format!(
                "the new queue {name} goes with its messages after {} ms without consumers",
                shown_value(expires)
            );
            let help =
                "take x-expires, or the policy's expires, away: messages that wait for its consumers would be lost";
            self.add(Weight::Refused, "new_expires", message, help);
        }
        if old.durable && !new.durable {
            let message = format!("the new queue {name} is transient, and the old one is durable");
            let help = "declare it durable: what it holds would be lost when its node restarts";
            self.add(Weight::Refused, "new_transient", message, help);
        }
        if new.queue_type() == Some(QueueType::Stream) {
            let message = format!("the new queue {name} is a stream");
            let help = "a stream is read by offset and never runs empty, so there would be no way back: declare and bind it with changes, and move the readers";
            self.add(Weight::Refused, "new_stream", message, help);
        }
    }

    /// A dead letter that goes to a source of the queue comes to everybody who is bound there, and to the queue again.
    fn dead_letters_into_a_source(&mut self, new: &QueueDeclaration) {
        let effective = self.policies.effective(new);
        let Some(target) = effective.value("dead-letter-exchange").and_then(Value::as_text) else { return };
        let is_source = leading_to(self.state, &self.replacement.old).any(|binding| binding.source == target);
        if is_source {
            let message = format!(
                "dead letters of the new queue {} would go to exchange {}, from which it gets its messages",
                quoted(&new.name),
                quoted(target)
            );
            self.add(Weight::Refused, "dead_letters_to_source", message, "everybody who is bound there would get them: dead-letter to the default exchange with a routing key, or say dead_letter: true");
        }
    }

    /// A dead-letter exchange that is not there, and that the migration does not declare either: dead letters are dropped.
    fn dead_letters_nowhere(&mut self, new: &QueueDeclaration) {
        let effective = self.policies.effective(new);
        let Some(target) = effective.value("dead-letter-exchange").and_then(Value::as_text) else { return };
        let declared = self.replacement.tables.exchanges.iter().any(|exchange| exchange.declaration.name == target);
        if !target.is_empty() && !declared && matches!(self.state.exchange(target), Presence::Absent) {
            let message = format!(
                "the new queue {} dead-letters to exchange {}, which is not there: the broker drops dead letters then, and says nothing",
                quoted(&new.name),
                quoted(target)
            );
            self.add(
                Weight::Warning,
                "dead_letters_nowhere",
                message,
                "declare that exchange first, or say dead_letter: true",
            );
        }
    }
}
