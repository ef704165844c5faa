//! The engine and a real broker are asked the same, and must say the same.

mod behaviour;
mod bindings;
mod company;
mod deletions;
mod graphs;
mod limits;
mod pairs;
mod recorded;
mod tables;
mod topics;
