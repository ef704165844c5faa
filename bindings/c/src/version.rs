//! What a binding asks before anything else.

use crate::{ACEMQ_ABI_MAJOR, ACEMQ_ABI_MINOR};
use std::ffi::c_char;

/// The version of this library's ABI: the major version in the upper 16 bits, the minor one in the lower.
///
/// A caller needs the major version that it was built for, and at least the minor one. Ask before any other call.
#[unsafe(no_mangle)]
pub const extern "C" fn acemq_abi_version() -> u32 {
    ACEMQ_ABI_MAJOR << 16 | ACEMQ_ABI_MINOR
}

/// The version of the engine, as in "0.1.0", closed by a NUL. It is never freed.
#[unsafe(no_mangle)]
pub const extern "C" fn acemq_engine_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of the conformance suites that this library passes: `spec_version` in conformance/index.json.
#[unsafe(no_mangle)]
pub const extern "C" fn acemq_spec_version() -> u32 {
    acemq_core::api::CONFORMANCE_VERSION
}
