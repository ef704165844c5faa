//! What a broker is asked to declare, what it accepts and compares, and what its refusals say.
//!
//! RabbitMQ's rules change between versions, so every rule here takes a [`Version`] (`major.minor.patch`).

pub mod arguments;
pub(crate) mod changes;
mod declaration;
mod equivalence;
mod pattern;
mod predeclared;
mod predict;
mod properties;
mod refusal;
mod table;
pub mod term;
mod version;

pub use arguments::{ArgumentFault, Fault, check_arguments, foreign_arguments, known_arguments};
pub use declaration::{
    BindingDeclaration, Declaration, DestinationType, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration,
    QueueType,
};
pub use equivalence::{Difference, exchange_differences, queue_differences};
pub use pattern::{Match, NamePattern, exact_pattern};
pub use predeclared::{PREDECLARED_EXCHANGES, predeclared_exchange};
pub(crate) use predict::check_queue;
pub use predict::{
    Conditions, ConsumeRequest, DeleteQueue, ExistingQueue, Limit, Owner, PermissionError, Permissions, Refused, Scope,
    bind, closed_channel, consume, declare_exchange, declare_exchange_passively, declare_queue,
    declare_queue_passively, delete_exchange, delete_queue, effective_request, get, login_refused, no_last_queue,
    publish, publish_immediate, purge, short_string, stored_name, unbind, unknown_delivery, vhost_not_found,
    vhost_refused,
};
pub use properties::{ExpirationFault, Properties, parse_expiration};
pub use refusal::{
    Known, LineError, Printed, PrintedDocument, Refusal, RefusalClass, RefusalDocument, RefusedKind, Side, typed_value,
};
pub(crate) use table::{BindingIdentity, BindingTable, ExchangeTable, QueueTable};
pub use version::{Broker, Product, Version, VersionError};
