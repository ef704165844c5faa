//! The version of the ABI. Also read by `build.rs`, for the library's SONAME.

/// The ABI that this header describes, major version: another one does not work with this header.
pub const ACEMQ_ABI_MAJOR: u32 = 1;

/// The ABI that this header describes, minor version: an older one lacks something.
#[allow(dead_code, reason = "the build script needs the other one only")]
pub const ACEMQ_ABI_MINOR: u32 = 0;
