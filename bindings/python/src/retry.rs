//! Retry policies, their decisions and ladders.

use crate::duration::{milliseconds, timedelta};
use crate::failure::error;
use crate::guard::guard;
use acemq_core::api;
use acemq_core::retry::{self as engine, Backoff, GiveUpReason, RetryForm};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDelta, PyTuple};

pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RetryPolicy>()?;
    module.add_class::<Decision>()?;
    module.add_class::<Ladder>()
}

fn delta_or_none(py: Python<'_>, ms: Option<u64>) -> PyResult<Option<Bound<'_, PyDelta>>> {
    ms.map(|ms| timedelta(py, ms)).transpose()
}

/// A retry policy; `acemq_core.RetryPolicy` adds the ways to make one.
#[pyclass(frozen, subclass, module = "acemq_core._acemq")]
pub struct RetryPolicy {
    policy: engine::RetryPolicy,
    /// The waits in the broker as Python sees them: making one costs more than deciding.
    broker_delays: Vec<Py<PyDelta>>,
}

#[pymethods]
impl RetryPolicy {
    /// From JSON: a text or a mapping.
    #[new]
    #[pyo3(signature = (form, /))]
    fn new(py: Python<'_>, form: &str) -> PyResult<Self> {
        guard(|| {
            let form: RetryForm =
                serde_json::from_str(form).map_err(|error| PyValueError::new_err(error.to_string()))?;
            let policy = form.policy().map_err(error)?;
            let broker_delays = policy.broker_delays().iter().map(|ms| timedelta(py, *ms).map(Bound::unbind));
            Ok(Self { broker_delays: broker_delays.collect::<PyResult<_>>()?, policy })
        })
    }

    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        guard(|| Ok(api::PolicyDocument::from(&self.policy).kind))
    }

    #[getter]
    fn max_attempts(&self) -> PyResult<u32> {
        guard(|| Ok(self.policy.max_attempts()))
    }

    #[getter]
    fn first<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDelta>>> {
        guard(|| {
            delta_or_none(
                py,
                match self.policy.backoff() {
                    Backoff::None => None,
                    Backoff::Fixed { delay_ms, .. } => Some(delay_ms),
                    Backoff::Exponential { first_ms, .. } => Some(first_ms),
                },
            )
        })
    }

    #[getter]
    fn cap<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDelta>>> {
        guard(|| match self.policy.backoff() {
            Backoff::Exponential { cap_ms, .. } => delta_or_none(py, cap_ms),
            _ => Ok(None),
        })
    }

    #[getter]
    fn multiplier_thousandths(&self) -> PyResult<Option<u32>> {
        guard(|| match self.policy.backoff() {
            Backoff::Exponential { multiplier_thousandths, .. } => Ok(Some(multiplier_thousandths)),
            _ => Ok(None),
        })
    }

    #[getter]
    fn jitter(&self) -> PyResult<f64> {
        guard(|| Ok(self.policy.jitter()))
    }

    #[getter]
    fn give_up_after<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDelta>>> {
        guard(|| delta_or_none(py, self.policy.give_up_after_ms()))
    }

    #[getter]
    fn wait_in_broker_from<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDelta>> {
        guard(|| timedelta(py, self.policy.threshold_ms()))
    }

    #[getter]
    fn broker_delays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        guard(|| PyTuple::new(py, &self.broker_delays))
    }

    /// The number of waits.
    #[getter]
    fn waits(&self) -> PyResult<u32> {
        guard(|| Ok(self.policy.schedule().len()))
    }

    /// The wait before attempt `index + 2`, unjittered.
    #[pyo3(signature = (index, /))]
    fn delay<'py>(&self, py: Python<'py>, index: u32) -> PyResult<Bound<'py, PyDelta>> {
        guard(|| match self.policy.schedule().get(index) {
            Some(ms) => timedelta(py, ms),
            None => Err(PyIndexError::new_err(format!("wait {index} of {}", self.policy.schedule().len()))),
        })
    }

    #[pyo3(signature = (attempt, age = None, u = 0.5))]
    fn decide(&self, py: Python<'_>, attempt: u32, age: Option<&Bound<'_, PyDelta>>, u: f64) -> PyResult<Decision> {
        guard(|| {
            let age_ms = age.map(milliseconds).transpose()?;
            let u = api::checked_random(u).map_err(error)?;
            Ok(self.decided(py, self.policy.decide(attempt, age_ms, u)))
        })
    }

    /// The rung's delay for any delay.
    #[pyo3(signature = (delay, /))]
    fn rung_for<'py>(&self, py: Python<'py>, delay: &Bound<'py, PyDelta>) -> PyResult<Option<Bound<'py, PyDelta>>> {
        guard(|| delta_or_none(py, self.policy.rung_for(milliseconds(delay)?)))
    }

    fn __str__(&self) -> PyResult<String> {
        guard(|| Ok(self.policy.to_string()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        guard(|| Ok(other.cast::<Self>().is_ok_and(|other| other.get().policy == self.policy)))
    }
}

impl RetryPolicy {
    fn decided(&self, py: Python<'_>, decision: engine::Decision) -> Decision {
        let (mut give_up_text, mut rung) = (None, None);
        match decision {
            engine::Decision::GiveUp(reason) => give_up_text = Some(self.policy.give_up_text(reason)),
            engine::Decision::Retry { in_broker: true, wait_ms } => {
                let index = self.policy.broker_delays().binary_search(&wait_ms).ok();
                rung = index.and_then(|index| self.broker_delays.get(index)).map(|delay| delay.clone_ref(py));
            }
            engine::Decision::Retry { in_broker: false, .. } => {}
        }
        Decision { decision, give_up_text, rung }
    }
}

/// What to do with a message whose handling failed. It never changes.
#[pyclass(frozen, module = "acemq_core")]
pub struct Decision {
    decision: engine::Decision,
    /// Only a decision to give up has one.
    give_up_text: Option<String>,
    /// The wait, where it is one of the policy's in the broker.
    rung: Option<Py<PyDelta>>,
}

impl Decision {
    fn milliseconds(&self) -> u64 {
        match self.decision {
            engine::Decision::GiveUp(_) => 0,
            engine::Decision::Retry { wait_ms, .. } => wait_ms,
        }
    }
}

#[pymethods]
impl Decision {
    /// Whether the message is tried again.
    #[getter]
    fn retry(&self) -> bool {
        matches!(self.decision, engine::Decision::Retry { .. })
    }

    /// Why it is not: `attempts_exhausted` or `too_old`; `None` when it is.
    #[getter]
    fn reason(&self) -> Option<&'static str> {
        match self.decision {
            engine::Decision::GiveUp(reason) => Some(GiveUpReason::code(reason)),
            engine::Decision::Retry { .. } => None,
        }
    }

    /// How long it waits before it is tried again.
    #[getter]
    fn wait<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDelta>> {
        guard(|| match &self.rung {
            Some(delay) => Ok(delay.bind(py).clone()),
            None => timedelta(py, self.milliseconds()),
        })
    }

    /// The same in whole milliseconds.
    #[getter]
    fn wait_ms(&self) -> u64 {
        self.milliseconds()
    }

    /// Whether it waits on a rung of its queue instead of in the consumer.
    #[getter]
    fn in_broker(&self) -> bool {
        matches!(self.decision, engine::Decision::Retry { in_broker: true, .. })
    }

    /// What it is set aside with: `exhausted 6 attempts`, `older than 2h`; `None` when it is tried again.
    #[getter]
    fn give_up_text(&self) -> Option<&str> {
        self.give_up_text.as_deref()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            other.decision == self.decision && other.give_up_text == self.give_up_text
        })
    }

    fn __repr__(&self) -> String {
        match (&self.give_up_text, self.in_broker()) {
            (Some(text), _) => format!("<Decision: give up, {text}>"),
            (None, true) => format!("<Decision: wait {} ms in the broker>", self.milliseconds()),
            (None, false) => format!("<Decision: wait {} ms in the consumer>", self.milliseconds()),
        }
    }
}

/// The rungs of a queue; `acemq_core.Ladder` adds their declarations.
#[pyclass(frozen, subclass, module = "acemq_core._acemq")]
pub struct Ladder {
    ladder: engine::Ladder,
}

#[pymethods]
impl Ladder {
    #[new]
    #[pyo3(signature = (queue, policy, /))]
    fn new(queue: &str, policy: &Bound<'_, RetryPolicy>) -> PyResult<Self> {
        guard(|| Ok(Self { ladder: engine::Ladder::new(queue, &policy.get().policy).map_err(error)? }))
    }

    #[getter]
    fn queue(&self) -> &str {
        self.ladder.queue()
    }

    /// The name of the rung for any delay.
    #[pyo3(signature = (delay, /))]
    fn rung_name_for(&self, delay: &Bound<'_, PyDelta>) -> PyResult<Option<&str>> {
        guard(|| Ok(self.ladder.rung_for(milliseconds(delay)?).map(engine::Rung::name)))
    }

    /// The name of the rung on which a decision lets the message wait; `None` when it does not wait in the broker.
    #[pyo3(signature = (decision, /))]
    fn rung_name_of(&self, decision: &Bound<'_, Decision>) -> PyResult<Option<&str>> {
        guard(|| {
            let decision = decision.get();
            let rung = decision.in_broker().then(|| self.ladder.rung_for(decision.milliseconds())).flatten();
            Ok(rung.map(engine::Rung::name))
        })
    }

    /// The ladder as JSON: the output of `retry.ladder`.
    fn document(&self) -> PyResult<String> {
        guard(|| {
            let document = engine::LadderDocument::from(self.ladder.clone());
            serde_json::to_string(&document).map_err(|error| PyValueError::new_err(error.to_string()))
        })
    }
}
