//! Definitions files: what `rabbitmqctl export_definitions` and `GET /api/definitions` write.
//!
//! An export holds everything that a broker was told to keep: vhosts, users, policies, queues, exchanges, bindings. There
//! are two shapes, of a whole cluster (every entry names its vhost) and of one vhost (no entry does), and every version
//! from 3.0 to 4.3 adds or drops keys. Reading is therefore tolerant of what is missing, keeps what it does not know, and
//! refuses only what a broker could not read either; each such [`Fault`] names its line and column.
//!
//! What an export cannot tell, whatever the version: exclusive queues, the predeclared exchanges, the node's own default
//! queue type, and the wire types of argument values (every integer comes back as a 64-bit one, every time stamp and
//! decimal as a number). `rabbitmqctl` also leaves internal exchanges out, the management API from 4.2.9 and 4.3.3 on. The
//! [`State`](crate::state::State) of a vhost says which of these hold.
//!
//! ```
//! use acemq_core::definitions::{Overrides, read};
//!
//! let export = br#"{"rabbitmq_version": "4.0.5", "vhosts": [{"name": "/"}],
//!     "queues": [{"vhost": "/", "name": "orders", "durable": true, "auto_delete": false, "arguments": {}}]}"#;
//! let state = read(export).unwrap().state(None, &Overrides::default()).unwrap();
//! assert_eq!(state.broker.to_string(), "RabbitMQ 4.0.5");
//! assert!(state.queues.contains_key("orders"));
//! ```

mod document;
mod entry;
mod error;
mod fault;
mod json;
mod places;
mod preview;
#[cfg(test)]
mod preview_tests;
mod reader;
#[cfg(test)]
mod tests;
mod to_json;
mod topology;
mod vhost;
mod write;
#[cfg(test)]
mod write_tests;

pub use document::{Definitions, Item, Layout, Overrides, Parameter};
pub use error::DefinitionsError;
pub use fault::{Fault, FaultCode};
pub use preview::{Effect, Outcome, preview};
pub use reader::read;
pub use topology::{TopologyText, topology_text};
pub use write::write;
