//! Names that a queue implies, and durations.

use crate::error::{AcemqError, Fault};
use crate::guard::{DONE, guard};
use crate::memory::{AcemqBuffer, out, text, text_out};
use acemq_core::api::Failure;
use acemq_core::name::{self, NameError};
use acemq_core::retry::{self, UnitError};

/// The name of the queue that takes rejected messages of `queue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_dead_letter_queue(
    queue: *const u8,
    queue_len: usize,
    name: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe { derived(queue, queue_len, name, name::dead_letter_queue) };
    unsafe { guard(error, entry) }
}

/// The name of the queue that takes messages of `queue` which a person has to look at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_parked_queue(
    queue: *const u8,
    queue_len: usize,
    name: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe { derived(queue, queue_len, name, name::parked_queue) };
    unsafe { guard(error, entry) }
}

/// The name of the queue in which messages of `queue` wait for `delay_ms` milliseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_queue(
    queue: *const u8,
    queue_len: usize,
    delay_ms: u64,
    name: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe { derived(queue, queue_len, name, |queue| name::retry_queue(queue, delay_ms)) };
    unsafe { guard(error, entry) }
}

unsafe fn derived(
    queue: *const u8,
    queue_len: usize,
    name: *mut AcemqBuffer,
    derive: impl FnOnce(&str) -> Result<String, NameError>,
) -> Result<i32, Fault> {
    unsafe {
        let name = text_out(name, "name")?;
        name.put(derive(text(queue, queue_len, "queue")?)?);
    }
    DONE
}

/// The text of a delay in the name of such a queue: "2h", "5m", "90s", "30500ms".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_delay_text(delay_ms: u64, text: *mut AcemqBuffer, error: *mut *mut AcemqError) -> i32 {
    let entry = || {
        let text = unsafe { text_out(text, "text") }?;
        text.put(name::delay(delay_ms)?);
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The milliseconds of a duration's text: digits and one of ms, s, m, h; or 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_parse_duration(
    duration: *const u8,
    duration_len: usize,
    milliseconds: *mut u64,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let milliseconds = out(milliseconds, "milliseconds")?;
        milliseconds.put(retry::parse_duration(text(duration, duration_len, "duration")?)?);
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The whole milliseconds in a number of nanoseconds; a rest is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_milliseconds_from_nanoseconds(
    nanoseconds: u64,
    milliseconds: *mut u64,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe { converted(milliseconds, retry::milliseconds_from_nanoseconds(nanoseconds.into())) };
    unsafe { guard(error, entry) }
}

/// The nearest whole milliseconds to floating-point seconds; what is further away than a microsecond is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_milliseconds_from_seconds(
    seconds: f64,
    milliseconds: *mut u64,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe { converted(milliseconds, retry::milliseconds_from_seconds(seconds)) };
    unsafe { guard(error, entry) }
}

unsafe fn converted(milliseconds: *mut u64, result: Result<u64, UnitError>) -> Result<i32, Fault> {
    let milliseconds = unsafe { out(milliseconds, "milliseconds") }?;
    milliseconds.put(result.map_err(Failure::from)?);
    DONE
}
