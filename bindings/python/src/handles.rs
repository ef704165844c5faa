//! What is kept between calls: plan sessions, routers and embedded brokers. They speak JSON; the package types it.
//!
//! A lock is taken only while the interpreter is released, so that a thread which waits for one never holds the other.

use crate::failure::{self, error};
use crate::guard::guard;
use acemq_core::api::{BrokerHandle, RouterHandle, SessionHandle};
use acemq_core::plan::{self, Style};
use acemq_core::routing::Envelope;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Mutex;

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Session>()?;
    module.add_class::<Plan>()?;
    module.add_class::<Router>()?;
    module.add_class::<Broker>()
}

/// Runs `work` on what the lock guards, while other threads may use the interpreter.
fn locked<T: Send, R: Send>(py: Python<'_>, lock: &Mutex<T>, work: impl FnOnce(&mut T) -> R + Send) -> PyResult<R> {
    let done = py.detach(|| lock.lock().map(|mut value| work(&mut value)).map_err(drop));
    done.map_err(|()| failure::internal("this object was left half changed by an earlier failure"))
}

/// A plan session.
#[pyclass(frozen, module = "acemq_core._acemq")]
pub struct Session {
    session: Mutex<SessionHandle>,
}

#[pymethods]
impl Session {
    /// From the input of `plan.session`.
    #[new]
    #[pyo3(signature = (input, /))]
    fn new(py: Python<'_>, input: &str) -> PyResult<Self> {
        guard(|| {
            let session = py.detach(|| SessionHandle::new(input)).map_err(error)?;
            Ok(Self { session: Mutex::new(session) })
        })
    }

    /// Every open question, a JSON list.
    fn questions(&self, py: Python<'_>) -> PyResult<String> {
        guard(|| locked(py, &self.session, SessionHandle::questions))
    }

    /// Open questions that were not given out yet, at most `limit`, a JSON list.
    #[pyo3(signature = (limit, /))]
    fn next_questions(&self, py: Python<'_>, limit: usize) -> PyResult<String> {
        guard(|| locked(py, &self.session, |session| session.next_questions(limit)))
    }

    /// Takes one answer, JSON.
    #[pyo3(signature = (answer, /))]
    fn answer(&self, py: Python<'_>, answer: &str) -> PyResult<()> {
        guard(|| locked(py, &self.session, |session| session.answer(answer))?.map_err(error))
    }

    fn interrupt(&self, py: Python<'_>) -> PyResult<()> {
        guard(|| locked(py, &self.session, SessionHandle::interrupt))
    }

    fn finished(&self, py: Python<'_>) -> PyResult<bool> {
        guard(|| locked(py, &self.session, |session| session.finished()))
    }

    /// The plan as far as it is known.
    fn plan(&self, py: Python<'_>) -> PyResult<Plan> {
        guard(|| {
            locked(py, &self.session, |session| {
                let session = session.session();
                let error = session.finished().then(|| session.apply_error()).flatten();
                Plan { plan: session.plan(), error: error.map(|error| error.to_string()) }
            })
        })
    }
}

/// A plan. It never changes.
#[pyclass(frozen, module = "acemq_core._acemq")]
pub struct Plan {
    plan: plan::Plan,
    error: Option<String>,
}

#[pymethods]
impl Plan {
    /// `acemq.plan/1`, JSON.
    fn document(&self, py: Python<'_>) -> PyResult<String> {
        guard(|| {
            let document = py.detach(|| serde_json::to_string(&self.plan.to_document()));
            document.map_err(|error| failure::internal(&error.to_string()))
        })
    }

    /// What kept a finished apply from doing everything.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The plan as text, with its notes unless `block_only`.
    #[pyo3(signature = (style, width, block_only, /))]
    fn render(&self, py: Python<'_>, style: &str, width: Option<usize>, block_only: bool) -> PyResult<String> {
        guard(|| {
            let style = match style {
                "plan" => Style::Plan,
                "lines" => Style::Lines,
                _ => return Err(PyValueError::new_err(format!("style is \"plan\" or \"lines\", not {style:?}"))),
            };
            let plan = &self.plan;
            Ok(py.detach(|| if block_only { plan.render_block(style, width) } else { plan.render(style, width) }))
        })
    }

    fn render_notes(&self) -> PyResult<String> {
        guard(|| Ok(self.plan.render_notes()))
    }

    fn render_drift(&self) -> PyResult<String> {
        guard(|| Ok(self.plan.render_drift()))
    }

    /// What an apply would refuse with, as a sentence.
    fn refusal(&self) -> PyResult<Option<String>> {
        guard(|| Ok(self.plan.refusal().map(|error| error.to_string())))
    }

    fn has_drift_or_invalid(&self) -> PyResult<bool> {
        guard(|| Ok(self.plan.has_drift_or_invalid()))
    }

    fn has_unanswered(&self) -> PyResult<bool> {
        guard(|| Ok(self.plan.has_unanswered()))
    }

    fn fails_validation(&self) -> PyResult<bool> {
        guard(|| Ok(self.plan.fails_validation()))
    }

    fn creates(&self) -> PyResult<bool> {
        guard(|| Ok(self.plan.creates()))
    }
}

/// A vhost's exchanges, queues and bindings, ready to route many messages. It never changes.
#[pyclass(frozen, module = "acemq_core._acemq")]
pub struct Router {
    router: RouterHandle,
}

#[pymethods]
impl Router {
    /// From what a vhost holds, JSON: `{"topology": …}` or `{"definitions": …}`.
    #[new]
    #[pyo3(signature = (source, /))]
    fn new(py: Python<'_>, source: &str) -> PyResult<Self> {
        guard(|| Ok(Self { router: py.detach(|| RouterHandle::new(source)).map_err(error)? }))
    }

    /// `acemq.route/1` of a message, both JSON.
    #[pyo3(signature = (message, /))]
    fn route(&self, py: Python<'_>, message: &str) -> PyResult<String> {
        guard(|| py.detach(|| self.router.route(message)).map_err(error))
    }

    /// The queues that a message without headers goes to, sorted.
    #[pyo3(signature = (exchange, key, /))]
    fn queues(&self, exchange: &str, key: &str) -> PyResult<Vec<String>> {
        guard(|| Ok(self.router.router().route(&Envelope::new(exchange, key)).queues))
    }
}

/// An embedded broker.
#[pyclass(frozen, module = "acemq_core._acemq")]
pub struct Broker {
    broker: Mutex<BrokerHandle>,
}

#[pymethods]
impl Broker {
    /// From settings, JSON.
    #[new]
    #[pyo3(signature = (settings, /))]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        guard(|| {
            let broker = py.detach(|| BrokerHandle::new(settings)).map_err(error)?;
            Ok(Self { broker: Mutex::new(broker) })
        })
    }

    /// Carries out a command, JSON, and gives its reply, JSON. What the broker refuses is a reply.
    #[pyo3(signature = (command, /))]
    fn call(&self, py: Python<'_>, command: &str) -> PyResult<String> {
        guard(|| locked(py, &self.broker, |broker| broker.call(command))?.map_err(error))
    }

    /// Another broker in the same state, which goes its own way from here.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        guard(|| Ok(Self { broker: Mutex::new(locked(py, &self.broker, |broker| broker.clone())?) }))
    }
}
