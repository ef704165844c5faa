//! The engine's table of operations.

use crate::failure;
use crate::guard::guard;
use acemq_core::api;
use pyo3::prelude::*;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(call, module)?)?;
    module.add_function(wrap_pyfunction!(operations, module)?)?;
    module.add_function(wrap_pyfunction!(panic, module)?)
}

/// Runs one operation, JSON in and JSON out. Other threads run meanwhile.
#[pyfunction]
#[pyo3(signature = (operation, input, /))]
fn call(py: Python<'_>, operation: &str, input: &str) -> PyResult<String> {
    guard(|| py.detach(|| api::call(operation, input)).map_err(failure::error))
}

/// The names of all operations, sorted.
#[pyfunction]
fn operations() -> PyResult<Vec<&'static str>> {
    guard(|| Ok(api::OPERATIONS.iter().map(|operation| operation.name).collect()))
}

/// Panics, so that a test can see what becomes of it.
#[pyfunction(name = "_panic")]
#[expect(clippy::panic, reason = "that is what it is for")]
fn panic(message: &str) -> PyResult<()> {
    guard(|| panic!("{message}"))
}
