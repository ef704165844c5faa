//! Migrations on real brokers, under load: what was published is received once, neighbours go on, and a runner that is cut off
//! is followed by one that finishes.

mod changes;
mod chaos;
mod cluster;
mod counterexamples;
mod drain;
mod history;
mod shapes;
mod undo;
