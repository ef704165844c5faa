//! Policies: which one wins, what it sets, and when it can stand in for an argument.
//!
//! A policy sets *optional* arguments on every queue and exchange whose name its pattern matches. Three rules surprise:
//!
//! * exactly **one** policy applies to an object, the one with the highest priority: policies are never merged, and between
//!   equals the broker's choice is undefined ([`Winner::Tie`]);
//! * a policy with a **single key that the queue's type does not support** does not apply at all, and the next lower
//!   priority does ([`Choice::skipped`]);
//! * whether an argument or the policy holds depends on the key, the queue type and the version: for most limits the
//!   smaller, for dead-lettering the argument ([`Precedence`]).
//!
//! An operator policy is chosen the same way from a list of its own and merged into the policy key by key.
//! [`Policies`] holds the compiled patterns of a vhost, [`Policies::effective`] the settings of a queue with the reason for
//! each, [`Policies::remedies`] the policy that makes a live queue behave as its declaration asks, where one can.

mod choose;
mod effective;
mod keys;
mod remedy;
mod shell;
#[cfg(test)]
mod tests;

pub use choose::{Choice, Policies, Skipped, Winner};
pub use effective::{Effective, Setting, Source};
pub use keys::{Precedence, is_apply_to, merge_operator, precedence, recognises, unsupported_keys};
pub use remedy::{Judged, Remedies, Remedy};
pub use shell::{ShellLines, shell};
