//! The command `acemq`.
fn main() {}
