//! The native module `acemq_core._acemq`: the engine for CPython 3.10 and newer.
//!
//! There is no rule of RabbitMQ's here. What is called once (documents, plans, refusals) crosses as JSON through `call`;
//! what is called for every message (matching, deciding, names) crosses as Python's own strings and numbers. The package
//! `acemq_core` around it is the public, typed surface.
//!
//! Python sees ordinary exceptions only: every entry runs behind `guard::guard`.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]
#![forbid(unsafe_code)]

mod call;
mod duration;
mod failure;
mod guard;
mod handles;
mod names;
mod retry;
mod topic;

use pyo3::prelude::*;

/// What the package and this module agree on: the package refuses another major number (upper 16 bits) and a smaller minor.
const ABI_VERSION: u32 = 1 << 16;

#[pymodule]
fn _acemq(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard::silence_panics();
    module.add("ABI_VERSION", ABI_VERSION)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("SPEC_VERSION", acemq_core::api::CONFORMANCE_VERSION)?;
    call::add_to(module)?;
    handles::add_to(module)?;
    names::add_to(module)?;
    retry::add_to(module)?;
    topic::add_to(module)
}
