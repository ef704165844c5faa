//! The audit, held against what it claims: every reported case has the right verdict and its repaired twin has none, every
//! example does on the embedded broker and on real ones what its finding says, and clean definitions stay clean.

mod cases;
mod catalogue;
mod clean;
mod embedded;
mod hunt;
mod proofs;
mod real;
mod reports;
mod traps;
mod upgrades;
mod worlds;
