//! Where a message goes: the exchange graph of a vhost, walked as RabbitMQ walks it.
//!
//! A message enters at one exchange with its routing key, and with further keys from the headers `CC` and `BCC`. Each
//! exchange type compares its bindings with the keys or with the headers; what fits leads to queues or to further
//! exchanges, until nothing new is reached:
//!
//! * **Set semantics.** Each exchange is asked once and each queue gets one copy, however many bindings fit, so cycles end.
//! * An **alternate exchange** is used only where the exchange's *own* bindings give nothing. A binding to another exchange
//!   that leads nowhere still counts as something.
//! * The **default exchange** is not part of the graph: it leads to the queues that the keys name, and nowhere else. Named as
//!   an alternate exchange it leads to nothing at all.
//! * **Plugin types** (`x-consistent-hash`, `x-delayed-message`, …) decide by rules that are not RabbitMQ's own. What they do
//!   with a message is reported as [`Opaque`], never guessed.
//!
//! Source: `rabbit_exchange:route`, `route1`, `process_alternate`; alike from 3.8 to 4.3, but for the values of headers
//! (see [`headers_match`]).
//!
//! ```
//! use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, Version};
//! use acemq_core::routing::{Envelope, Router};
//!
//! let mut router = Router::new(Version::new(4, 0, 5));
//! router.add_exchange(ExchangeDeclaration::durable("orders", "topic"));
//! router.add_queue("shipping");
//! router.bind(BindingDeclaration::queue("orders", "shipping", "*.paid"));
//! let routed = router.route(&Envelope::new("orders", "eu.paid"));
//! assert_eq!(routed.queues, ["shipping"]);
//! ```

mod document;
mod envelope;
mod explain;
mod headers;
mod miss;
mod router;
mod tables;
#[cfg(test)]
mod tests;

pub use document::RouteDocument;
pub use envelope::Envelope;
pub use explain::{AlternateUse, Because, Copy, DeadEnd, Explanation, Fit, Hop};
pub use headers::{Criterion, HeadersMatch, criteria, headers_match};
pub use miss::{Miss, Obstacle, Target};
pub use router::{Opaque, Routed, Router};
