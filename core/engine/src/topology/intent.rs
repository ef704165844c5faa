//! What a topology intends, for a person to read before any broker is asked.

use super::describe::{describe_binding_arguments, describe_exchange, describe_queue, shown_name};
use super::tables::Tables;
use crate::rabbitmq::{DestinationType, PolicyDeclaration};
use std::fmt::Write as _;

impl Tables {
    /// One line for each declaration, in their order, under a line with the counts. Every line ends with a line feed.
    ///
    /// ```
    /// use acemq_core::topology::Topology;
    ///
    /// let topology = Topology::builder().queue("orders").build();
    /// assert_eq!(topology.intent(), "\
    /// Topology: 0 exchanges, 1 queues, 0 bindings
    ///   declare queue orders (durable, quorum)
    /// ");
    /// ```
    pub fn intent(&self) -> String {
        let mut out = format!(
            "Topology: {} exchanges, {} queues, {} bindings",
            self.exchanges.len(),
            self.queues.len(),
            self.bindings.len()
        );
        if !self.policies.is_empty() {
            let _ = write!(out, ", {} policies", self.policies.len());
        }
        out.push('\n');
        for exchange in &self.exchanges {
            let exchange = &exchange.declaration;
            let _ =
                writeln!(out, "  declare exchange {} ({})", shown_name(&exchange.name), describe_exchange(exchange));
        }
        for policy in &self.policies {
            let _ = writeln!(out, "  set policy {} ({})", shown_name(&policy.name), describe_policy(policy));
        }
        for queue in &self.queues {
            let queue = &queue.declaration;
            let _ = writeln!(out, "  declare queue {} ({})", shown_name(&queue.name), describe_queue(queue));
        }
        for binding in &self.bindings {
            let binding = &binding.declaration;
            let to = match binding.destination_type {
                DestinationType::Queue => "",
                DestinationType::Exchange => "exchange ",
            };
            let _ = writeln!(
                out,
                "  declare binding {to}{} (from {} on {}){}",
                shown_name(&binding.destination),
                shown_name(&binding.source),
                shown_name(&binding.routing_key),
                describe_binding_arguments(&binding.arguments)
            );
        }
        out
    }
}

/// A policy in a parenthesis: `queues, ^orders\., priority 1, max-length=100000`.
pub fn describe_policy(policy: &PolicyDeclaration) -> String {
    let mut out = format!("{}, {}", shown_name(&policy.apply_to), shown_name(&policy.pattern));
    if policy.priority != 0 {
        let _ = write!(out, ", priority {}", policy.priority);
    }
    for (key, value) in policy.definition.sorted_entries().into_iter() {
        let _ = write!(out, ", {}={}", shown_name(key), super::describe::shown_value(value));
    }
    out
}
