//! The engine as a C library.
//!
//! Everything that other languages call goes through here. An entry reads its arguments, calls one function of
//! `acemq_core`, and writes the result: there is no rule of RabbitMQ's in this crate. Documents cross as JSON
//! ([`acemq_call`]); what is called for every message crosses as pointers and numbers.
//!
//! This is the only crate with `unsafe` code. Every entry relies on the promises that `include/acemq.h` asks of its caller
//! (pointers are valid for their length, handles are alive) and on nothing else; null pointers, impossible lengths and
//! bytes that are no UTF-8 are found and refused. Raw pointers are read and written in `memory` only.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]
// Comments of entries become the header's, for readers of C: an index in brackets is no link.
#![allow(rustdoc::broken_intra_doc_links)]
#![expect(clippy::missing_safety_doc, reason = "the promises are the same for every entry: see the head of the header")]

mod abi;
mod call;
mod error;
mod guard;
mod handles;
mod memory;
mod names;
mod retry;
mod topic;
mod version;

pub use abi::{ACEMQ_ABI_MAJOR, ACEMQ_ABI_MINOR};
pub use call::*;
pub use error::*;
pub use guard::guarded;
pub use handles::*;
pub use memory::{AcemqBuffer, AcemqBytes, acemq_buffer_free};
pub use names::*;
pub use retry::*;
pub use topic::*;
pub use version::*;
