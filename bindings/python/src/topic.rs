//! Topic patterns and the compiled matcher.

use crate::failure;
use crate::guard::guard;
use acemq_core::topic::{self, Keys};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;
use pyo3::types::{PyBytes, PyList, PyString, PyType};
use std::sync::RwLock;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(topic_matches, module)?)?;
    module.add_class::<TopicPattern>()?;
    module.add_class::<TopicMatcher>()
}

/// The bytes of a routing key: AMQP has bytes, Python programs mostly have text.
fn bytes_of<'a>(key: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    if let Ok(text) = key.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes());
    }
    match key.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes()),
        Err(_) => Err(PyTypeError::new_err(format!("a routing key is str or bytes, not {}", key.get_type().name()?))),
    }
}

/// Keys laid end to end, so that other threads may run while they are matched.
struct Batch {
    bytes: Vec<u8>,
    offsets: Vec<u32>,
}

impl Batch {
    fn of(keys: &Bound<'_, PyAny>) -> PyResult<Self> {
        let length = keys.len().unwrap_or_default();
        let mut batch = Self { bytes: Vec::with_capacity(length * 24), offsets: Vec::with_capacity(length + 1) };
        batch.offsets.push(0);
        for key in keys.try_iter()? {
            batch.bytes.extend_from_slice(bytes_of(&key?)?);
            match u32::try_from(batch.bytes.len()) {
                Ok(end) => batch.offsets.push(end),
                Err(_) => return Err(PyValueError::new_err("the keys of one batch have 4 GiB at most: split it")),
            }
        }
        Ok(batch)
    }

    fn keys(&self) -> PyResult<Keys<'_>> {
        Keys::new(&self.bytes, &self.offsets).map_err(|error| failure::internal(&error.to_string()))
    }
}

/// Whether a topic pattern matches a routing key.
#[pyfunction]
#[pyo3(signature = (pattern, key, /))]
fn topic_matches(pattern: &Bound<'_, PyAny>, key: &Bound<'_, PyAny>) -> PyResult<bool> {
    guard(|| Ok(topic::matches(bytes_of(pattern)?, bytes_of(key)?)))
}

/// A topic pattern, read once. It never changes and may be used from any thread.
#[pyclass(frozen, module = "acemq_core")]
pub struct TopicPattern {
    pattern: topic::TopicPattern,
}

#[pymethods]
impl TopicPattern {
    #[new]
    #[pyo3(signature = (pattern, /))]
    fn new(pattern: &Bound<'_, PyAny>) -> PyResult<Self> {
        guard(|| Ok(Self { pattern: topic::TopicPattern::new(bytes_of(pattern)?) }))
    }

    /// Whether it matches a routing key.
    #[pyo3(signature = (key, /))]
    fn matches(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        guard(|| Ok(self.pattern.matches(bytes_of(key)?)))
    }

    /// Whether it matches each of many routing keys.
    #[pyo3(signature = (keys, /))]
    fn matches_all<'py>(&self, py: Python<'py>, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guard(|| {
            let batch = Batch::of(keys)?;
            let keys = batch.keys()?;
            let found: Vec<bool> = py.detach(|| keys.map(|key| self.pattern.matches(key)).collect());
            PyList::new(py, found)
        })
    }

    /// Whether it has no wildcard.
    #[getter]
    fn is_literal(&self) -> bool {
        self.pattern.is_literal()
    }

    /// The pattern.
    fn __bytes__(&self) -> &[u8] {
        self.pattern.as_bytes()
    }

    fn __str__(&self) -> String {
        String::from_utf8_lossy(self.pattern.as_bytes()).into_owned()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shown = match std::str::from_utf8(self.pattern.as_bytes()) {
            Ok(text) => PyString::new(py, text).repr()?,
            Err(_) => PyBytes::new(py, self.pattern.as_bytes()).repr()?,
        };
        Ok(format!("TopicPattern({shown})"))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().pattern.as_bytes() == self.pattern.as_bytes())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyBytes::new(py, self.pattern.as_bytes()).hash()
    }

    /// How it is pickled and copied.
    fn __reduce__<'py>(pattern: &Bound<'py, Self>) -> (Bound<'py, PyType>, (Bound<'py, PyBytes>,)) {
        let bytes = PyBytes::new(pattern.py(), pattern.get().pattern.as_bytes());
        (pattern.get_type(), (bytes,))
    }
}

type Matcher = RwLock<topic::TopicMatcher<u64>>;

/// Many patterns, each bound to numbers; `acemq_core.TopicMatcher` binds any value.
#[pyclass(frozen, module = "acemq_core._acemq")]
pub struct TopicMatcher {
    matcher: Matcher,
}

fn poisoned<T>(_: T) -> PyErr {
    failure::internal("this matcher was left half changed by an earlier failure")
}

#[pymethods]
impl TopicMatcher {
    #[new]
    fn new() -> PyResult<Self> {
        guard(|| Ok(Self { matcher: RwLock::new(topic::TopicMatcher::new()) }))
    }

    #[pyo3(signature = (pattern, value, /))]
    fn insert(&self, py: Python<'_>, pattern: &Bound<'_, PyAny>, value: u64) -> PyResult<bool> {
        guard(|| {
            let pattern = bytes_of(pattern)?;
            Ok(self.matcher.write_py_attached(py).map_err(poisoned)?.insert(pattern, value))
        })
    }

    #[pyo3(signature = (pattern, value, /))]
    fn remove(&self, py: Python<'_>, pattern: &Bound<'_, PyAny>, value: u64) -> PyResult<bool> {
        guard(|| {
            let pattern = bytes_of(pattern)?;
            Ok(self.matcher.write_py_attached(py).map_err(poisoned)?.remove(pattern, &value))
        })
    }

    /// The numbers that a key reaches, ascending.
    #[pyo3(signature = (key, /))]
    fn matches(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        guard(|| {
            let key = bytes_of(key)?;
            Ok(self.matcher.read_py_attached(py).map_err(poisoned)?.matches(key))
        })
    }

    /// The numbers that each key reaches. Other threads run meanwhile.
    #[pyo3(signature = (keys, /))]
    fn matches_all<'py>(&self, py: Python<'py>, keys: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        guard(|| {
            let batch = Batch::of(keys)?;
            let keys = batch.keys()?;
            // The lock is given back before this thread waits for the interpreter, or the two could wait for each other.
            let found = py.detach(|| self.matcher.read().map(|matcher| matcher.matches_all(keys)).map_err(drop));
            let found = found.map_err(poisoned)?;
            let lists = found.iter().map(|values| PyList::new(py, values));
            PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        guard(|| Ok(self.matcher.read_py_attached(py).map_err(poisoned)?.len()))
    }
}
