//! The harness itself: nodes that start, answer and leave nothing behind, and the client that talks to them.

mod client;
mod nodes;
