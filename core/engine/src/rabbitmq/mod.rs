//! What a broker is asked to declare, what it accepts and compares, and what its refusals say.
//!
//! RabbitMQ's rules change between versions, so every rule here takes a [`Version`] (`major.minor.patch`).

mod declaration;
mod version;

pub use declaration::{
    BindingDeclaration, Declaration, DestinationType, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration,
    QueueType,
};
pub use version::{Broker, Product, Version, VersionError};
