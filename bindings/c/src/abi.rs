//! The version of the ABI. Also read by `build.rs`, for the library's SONAME.

/// Changes when a program that was built for an older library would no longer work.
pub const ABI_MAJOR: u32 = 1;

/// Changes when something is added.
#[allow(dead_code, reason = "the build script needs the other one only")]
pub const ABI_MINOR: u32 = 0;
