//! What a consumer declares when it starts: everything that its failures go to, and never the queue itself.

use super::Topology;
use super::compile::{dead_letter_half, shared};
use super::tables::{DeclaredBinding, DeclaredExchange, DeclaredQueue, Tables};
use crate::name::{self, DEAD_LETTER_EXCHANGE, NameError, NameKind, RETRY_EXCHANGE};
use crate::rabbitmq::BindingDeclaration;
use crate::retry::{Ladder, RetryPolicy};

impl Topology {
    /// What a consumer of `queue` declares before its first message: the dead-letter and the parked queue always, the rungs of
    /// its policy when there are any. The tables are those that a topology with the same wishes declares, so that neither
    /// refuses the other, whichever comes first.
    ///
    /// ```
    /// use acemq_core::topology::Topology;
    ///
    /// let tables = Topology::consumer_declarations("orders", None).unwrap();
    /// let names: Vec<_> = tables.queues.iter().map(|queue| queue.declaration.name.as_str()).collect();
    /// assert_eq!(names, ["orders.dlq", "orders.parked"]);
    /// ```
    ///
    /// # Errors
    /// Every name that RabbitMQ would not take.
    pub fn consumer_declarations(queue: &str, policy: Option<&RetryPolicy>) -> Result<Tables, Vec<NameError>> {
        let errors = name::check_all(NameKind::Queue, queue);
        if !errors.is_empty() {
            return Err(errors);
        }
        let ladder = policy.map(|policy| Ladder::new(queue, policy)).transpose();
        let (dead_letters, ladder) = match (dead_letter_half(queue), ladder) {
            (Ok(dead_letters), Ok(ladder)) => (dead_letters, ladder),
            (dead_letters, ladder) => {
                return Err(dead_letters.err().into_iter().flatten().chain(ladder.err()).collect());
            }
        };
        let rungs = ladder.iter().flat_map(|ladder| ladder.rungs()).map(|rung| rung.queue.clone());
        let home = ladder.as_ref().and_then(Ladder::home_binding);
        let exchanges = [Some(DEAD_LETTER_EXCHANGE), home.as_ref().map(|_| RETRY_EXCHANGE)];
        let bindings =
            dead_letters.iter().map(|queue| BindingDeclaration::queue(DEAD_LETTER_EXCHANGE, &queue.name, &queue.name));
        Ok(Tables {
            exchanges: exchanges
                .into_iter()
                .flatten()
                .map(|name| DeclaredExchange { declaration: shared(name), derived: true })
                .collect(),
            bindings: bindings.chain(home).map(|declaration| DeclaredBinding { declaration, derived: true }).collect(),
            queues: dead_letters
                .iter()
                .cloned()
                .chain(rungs)
                .map(|declaration| DeclaredQueue { declaration, derived_from: Some(queue.to_owned()) })
                .collect(),
            ..Tables::default()
        })
    }
}
