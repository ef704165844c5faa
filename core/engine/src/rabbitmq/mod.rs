//! What a broker is asked to declare, what it accepts and compares, and what its refusals say.
//!
//! RabbitMQ's rules change between versions, so every rule here takes a [`Version`] (`major.minor.patch`).

mod declaration;
mod refusal;
mod version;

pub use declaration::{
    BindingDeclaration, Declaration, DestinationType, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration,
    QueueType,
};
pub use refusal::{Known, Printed, Refusal, RefusalClass, RefusalDocument, RefusedKind, Side, typed_value};
pub use version::{Broker, Product, Version, VersionError};
