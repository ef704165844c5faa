//! The edge that no panic crosses.

use crate::error::{ACEMQ_OK, AcemqError, Fault};
use crate::memory;
use acemq_core::api::Failure;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// Runs an entry: empties the caller's error, and turns a fault or a panic into a status and an error.
///
/// # Safety
/// `error` is null or may be written to.
pub(crate) unsafe fn guard(error: *mut *mut AcemqError, entry: impl FnOnce() -> Result<i32, Fault>) -> i32 {
    if !error.is_null() {
        // Ignored where the pointer is not aligned: then there is no place for an error either.
        let _ = unsafe { memory::handle_out(error, "error") };
    }
    SILENCE.call_once(silence);
    // A handle that was being changed when its lock was poisoned refuses every later call.
    let result = catch_unwind(AssertUnwindSafe(entry)).unwrap_or_else(|panic| Err(Fault::internal(text_of(&*panic))));
    result.unwrap_or_else(|fault| unsafe { fault.put(error) })
}

/// Runs an entry of a library that carries these symbols on: a panic is a failure with the code `internal`, and nothing is
/// printed.
///
/// # Errors
/// The entry's own, and a panic of it.
pub fn guarded<T>(entry: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    SILENCE.call_once(silence);
    catch_unwind(AssertUnwindSafe(entry)).unwrap_or_else(|panic| Err(Fault::internal(text_of(&*panic)).into_failure()))
}

/// The status of an entry that has written its result.
pub(crate) const DONE: Result<i32, Fault> = Ok(ACEMQ_OK);

static SILENCE: Once = Once::new();

/// A library prints nothing into its host's standard error. Threads that Rust has started, or the tests' harness, have a
/// name, and what they print stays as it was.
fn silence() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name().is_some() {
            before(panic);
        }
    }));
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a text")
}
