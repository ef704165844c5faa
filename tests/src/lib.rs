//! What crosses crates: real brokers, replay, differentials.
