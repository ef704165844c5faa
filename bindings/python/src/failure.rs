//! Failures of the engine as Python's `acemq_core.Error`.

use acemq_core::api::Failure;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use serde_json::json;

/// The exception for whatever the engine refused.
pub fn error(failure: impl Into<Failure>) -> PyErr {
    let failure: Failure = failure.into();
    match serde_json::to_string(&failure) {
        Ok(document) => raise(&document),
        Err(why) => internal(&format!("a failure cannot be written: {why}")),
    }
}

/// The exception for a mistake of the engine itself.
pub fn internal(message: &str) -> PyErr {
    one("internal", message, "report this with the call that led to it, it is a mistake of the engine")
}

/// An exception of one problem.
pub fn one(code: &str, message: &str, help: &str) -> PyErr {
    let problem = json!({"code": code, "fields": {}, "message": message, "help": help});
    let mut document = problem.clone();
    if let Some(document) = document.as_object_mut() {
        document.insert("problems".to_owned(), json!([problem]));
    }
    raise(&document.to_string())
}

fn raise(document: &str) -> PyErr {
    static ERROR: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Python::attach(|py| {
        let read = || -> PyResult<PyErr> {
            let class =
                ERROR.get_or_try_init(py, || py.import("acemq_core.errors")?.getattr("Error").map(Bound::unbind))?;
            Ok(PyErr::from_value(class.bind(py).call_method1("from_json", (document,))?))
        };
        // Without its own class, as in a half-installed package, the document is better than nothing.
        read().unwrap_or_else(|_| PyRuntimeError::new_err(document.to_owned()))
    })
}
