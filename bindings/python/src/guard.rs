//! The edge that no panic crosses.
//!
//! PyO3 turns a panic into `PanicException`, which is no `Exception`: `except Exception` misses it, and a consumer loop dies.
//! Here it becomes an `acemq_core.Error` with the code `internal`, and nothing is printed.

use crate::failure;
use pyo3::prelude::*;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

thread_local! {
    /// Where the last panic of this thread happened.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps panics off standard error. This library has a standard library of its own, so no other module's hook is replaced.
pub fn silence_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string);
            PLACE.with(|last| last.replace(place));
        }));
    });
}

/// Runs an entry; a panic becomes an exception.
///
/// What an entry changes behind a lock may be half changed then; such a lock is poisoned and refuses every later call.
pub fn guard<T>(entry: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(entry)).unwrap_or_else(|panic| Err(internal(&*panic)))
}

fn internal(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a text");
    let place = PLACE.with(RefCell::take).unwrap_or_default();
    failure::internal(&format!("the engine failed at {place}: {text}"))
}
