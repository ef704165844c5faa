//! The exchanges that RabbitMQ creates with every vhost.

use super::ExchangeDeclaration;

/// Names and types of the exchanges that every vhost has, all durable (RabbitMQ 3.8 to 4.3,
/// `rabbit_vhost:default_exchanges`). Nobody can delete or redeclare them differently, and no export holds them.
pub const PREDECLARED_EXCHANGES: [(&str, &str); 7] = [
    ("", "direct"),
    ("amq.direct", "direct"),
    ("amq.fanout", "fanout"),
    ("amq.headers", "headers"),
    ("amq.match", "headers"),
    ("amq.rabbitmq.trace", "topic"),
    ("amq.topic", "topic"),
];

/// The predeclared exchange with that name. Only `amq.rabbitmq.trace` is internal.
pub fn predeclared_exchange(name: &str) -> Option<ExchangeDeclaration> {
    let (name, kind) = PREDECLARED_EXCHANGES.iter().find(|(known, _)| *known == name)?;
    let mut exchange = ExchangeDeclaration::durable(*name, *kind);
    exchange.internal = *name == "amq.rabbitmq.trace";
    Some(exchange)
}
