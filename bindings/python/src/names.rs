//! Names and durations.

use crate::duration::{milliseconds, timedelta};
use crate::failure::error;
use crate::guard::guard;
use acemq_core::name::{self, NameError};
use acemq_core::retry;
use pyo3::prelude::*;
use pyo3::types::PyDelta;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(dead_letter_queue, module)?)?;
    module.add_function(wrap_pyfunction!(parked_queue, module)?)?;
    module.add_function(wrap_pyfunction!(retry_queue, module)?)?;
    module.add_function(wrap_pyfunction!(delay_text, module)?)?;
    module.add_function(wrap_pyfunction!(parse_duration, module)?)?;
    module.add_function(wrap_pyfunction!(milliseconds_of, module)?)?;
    module.add_function(wrap_pyfunction!(milliseconds_from_seconds, module)?)?;
    module.add_function(wrap_pyfunction!(milliseconds_from_nanoseconds, module)?)
}

fn named(name: Result<String, NameError>) -> PyResult<String> {
    name.map_err(error)
}

/// The queue that takes the messages of `queue` that are given up: `{queue}.dlq`.
#[pyfunction]
#[pyo3(signature = (queue, /))]
fn dead_letter_queue(queue: &str) -> PyResult<String> {
    guard(|| named(name::dead_letter_queue(queue)))
}

/// The queue in which messages of `queue` are set aside for a person: `{queue}.parked`.
#[pyfunction]
#[pyo3(signature = (queue, /))]
fn parked_queue(queue: &str) -> PyResult<String> {
    guard(|| named(name::parked_queue(queue)))
}

/// The queue in which messages of `queue` wait for `delay`: `{queue}.retry.{delay}`.
#[pyfunction]
#[pyo3(signature = (queue, delay, /))]
fn retry_queue(queue: &str, delay: &Bound<'_, PyDelta>) -> PyResult<String> {
    guard(|| named(name::retry_queue(queue, milliseconds(delay)?)))
}

/// How a delay is written in such a name: `2h`, `5m`, `90s`, `30500ms`.
#[pyfunction]
#[pyo3(signature = (delay, /))]
fn delay_text(delay: &Bound<'_, PyDelta>) -> PyResult<String> {
    guard(|| named(name::delay(milliseconds(delay)?)))
}

/// The duration that a text means: digits and one of ms, s, m, h; or 0.
#[pyfunction]
#[pyo3(signature = (text, /))]
fn parse_duration<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDelta>> {
    guard(|| timedelta(py, retry::parse_duration(text).map_err(error)?))
}

/// The whole milliseconds of a duration; one that has a rest, or is negative, is refused.
#[pyfunction(name = "milliseconds")]
#[pyo3(signature = (duration, /))]
fn milliseconds_of(duration: &Bound<'_, PyDelta>) -> PyResult<u64> {
    guard(|| milliseconds(duration))
}

/// The nearest whole milliseconds to seconds in floating point, within a microsecond.
#[pyfunction]
#[pyo3(signature = (seconds, /))]
fn milliseconds_from_seconds(seconds: f64) -> PyResult<u64> {
    guard(|| retry::milliseconds_from_seconds(seconds).map_err(error))
}

/// The whole milliseconds in a number of nanoseconds; a rest is refused.
#[pyfunction]
#[pyo3(signature = (nanoseconds, /))]
fn milliseconds_from_nanoseconds(nanoseconds: u128) -> PyResult<u64> {
    guard(|| retry::milliseconds_from_nanoseconds(nanoseconds).map_err(error))
}
