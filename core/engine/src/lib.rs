//! What a RabbitMQ topology means, computed the same way for every language.
//!
//! The engine knows the argument table that each queue must be declared with, whether a broker of a given version accepts
//! it, what differs from what is there, and what a change would do. It never talks to a broker: it asks numbered questions
//! and takes answers, so every host language drives it through its own AMQP client.
//!
//! No I/O, no clock, no randomness, no threads, no `unsafe`; the same input gives the same bytes on every platform.
//!
//! Modules stand in the order in which they may use each other: a module uses only what stands before it.
#![forbid(unsafe_code)]
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]

pub mod value;

pub mod rabbitmq;

pub mod name;

pub mod retry;

pub mod topology;

pub mod state;

pub mod policy;

pub mod plan;

pub mod topic;

pub mod routing;

pub mod definitions;

pub mod embedded;

pub mod audit;

pub mod migration;

pub mod api;
