//! What crosses crates: real brokers, replay, differentials.
#![allow(
    clippy::missing_errors_doc,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test support"
)]

pub mod amqp;
pub mod answer;
pub mod broker;
pub mod draw;
pub mod impostor;
pub mod load;
pub mod management;
pub mod mirror;
pub mod proxy;
pub mod recorder;
pub mod replay;
pub mod running;
pub mod steps;
