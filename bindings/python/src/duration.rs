//! `datetime.timedelta` and whole milliseconds, in integers both ways.

use crate::failure;
use acemq_core::api::Failure;
use acemq_core::retry::{self, UnitError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDelta;

const MS_PER_DAY: u64 = 24 * 60 * 60 * 1000;
/// The days of `timedelta.max`.
const MAX_DAYS: u64 = 999_999_999;

/// The milliseconds of a duration; a rest or a sign is refused.
pub fn milliseconds(duration: &Bound<'_, PyDelta>) -> PyResult<u64> {
    let py = duration.py();
    // Days may be negative, the other two are not: that is how Python keeps a negative duration.
    let days: i64 = duration.getattr(intern!(py, "days"))?.extract()?;
    let seconds: u32 = duration.getattr(intern!(py, "seconds"))?.extract()?;
    let microseconds: u32 = duration.getattr(intern!(py, "microseconds"))?.extract()?;
    let Ok(days) = u64::try_from(days) else {
        return Err(failure::error(Failure::from(UnitError::Negative)));
    };
    let rest = u128::from(seconds) * 1_000_000_000 + u128::from(microseconds) * 1_000;
    let nanoseconds = u128::from(days) * u128::from(MS_PER_DAY) * 1_000_000 + rest;
    retry::milliseconds_from_nanoseconds(nanoseconds).map_err(|error| failure::error(Failure::from(error)))
}

/// The duration of that many milliseconds.
pub fn timedelta(py: Python<'_>, milliseconds: u64) -> PyResult<Bound<'_, PyDelta>> {
    let (days, rest) = (milliseconds / MS_PER_DAY, milliseconds % MS_PER_DAY);
    if days > MAX_DAYS {
        let message = format!("{milliseconds} ms are more than datetime.timedelta can hold");
        return Err(failure::one("duration_too_large", &message, "use a shorter duration"));
    }
    // Both are within range: fewer than 10⁹ days, fewer than 86,400 seconds.
    let narrow = |number: u64| i32::try_from(number).unwrap_or_default();
    PyDelta::new(py, narrow(days), narrow(rest / 1000), narrow(rest % 1000 * 1000), false)
}
