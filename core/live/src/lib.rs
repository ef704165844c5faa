//! Asks and changes a real broker over AMQP.
