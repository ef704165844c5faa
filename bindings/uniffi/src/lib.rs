//! The engine as UniFFI objects, in one library with every C symbol.
//!
//! UniFFI makes objects of coarse things: the table of operations, a plan session, a router, an embedded broker. A call of
//! its Ruby code costs more than ten microseconds, so what is called for every message goes past it, to the C symbols that
//! this library carries as well. Documents cross as JSON, as they do everywhere; there is no rule of RabbitMQ's here.
#![deny(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable, clippy::unwrap_used)]

// Every C symbol of libacemq is one of this library too; without this line none is.
pub use acemq::*;

use acemq_core::api::{self, BrokerHandle, Failure, RouterHandle, SessionHandle};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

uniffi::setup_scaffolding!("acemq");

/// Why a call failed.
#[derive(Debug, uniffi::Error)]
pub enum Fault {
    /// The engine refuses the input, or failed inside (code `internal`).
    Refused {
        /// The stable code of the first problem.
        code: String,
        /// All problems for people, one a line.
        text: String,
        /// All problems for programs, JSON.
        detail: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Refused { text, .. } = self;
        f.write_str(text)
    }
}

impl std::error::Error for Fault {}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Refused {
            code: failure.code().to_owned(),
            text: failure.to_string(),
            detail: serde_json::to_string(&failure).unwrap_or_default(),
        }
    }
}

/// No panic crosses: it is a failure with the code `internal`.
fn run<T>(entry: impl FnOnce() -> Result<T, Failure>) -> Result<T, Fault> {
    acemq::guarded(entry).map_err(Fault::from)
}

/// What a panic left behind is still whole: the engine changes its state last.
fn lock<T>(handle: &Mutex<T>) -> MutexGuard<'_, T> {
    handle.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs an operation of the engine's table: `input` is a JSON object, and so is the result.
#[uniffi::export]
pub fn call(operation: &str, input: &str) -> Result<String, Fault> {
    run(|| api::call(operation, input))
}

/// A plan session: it asks, the host's AMQP client answers. It changes, and locks inside.
#[derive(Debug, uniffi::Object)]
pub struct PlanSession(Mutex<SessionHandle>);

#[uniffi::export]
impl PlanSession {
    /// Starts a session from the input of the operation `plan.session`.
    #[uniffi::constructor]
    pub fn new(input: &str) -> Result<Arc<Self>, Fault> {
        run(|| SessionHandle::new(input)).map(|handle| Arc::new(Self(Mutex::new(handle))))
    }

    /// Every open question, a JSON list.
    pub fn questions(&self) -> Result<String, Fault> {
        run(|| Ok(lock(&self.0).questions()))
    }

    /// Open questions that were not given out yet, at most `limit` of them, a JSON list.
    pub fn next_questions(&self, limit: u32) -> Result<String, Fault> {
        run(|| Ok(lock(&self.0).next_questions(usize::try_from(limit).unwrap_or(usize::MAX))))
    }

    /// Takes one answer, a JSON object.
    pub fn answer(&self, answer: &str) -> Result<(), Fault> {
        run(|| lock(&self.0).answer(answer))
    }

    /// Ends the session before its end.
    pub fn interrupt(&self) -> Result<(), Fault> {
        run(|| {
            lock(&self.0).interrupt();
            Ok(())
        })
    }

    /// Whether nothing is left to ask or to declare.
    pub fn finished(&self) -> Result<bool, Fault> {
        run(|| Ok(lock(&self.0).finished()))
    }

    /// Where the session stands: the output of the operation `plan.session`.
    pub fn state(&self) -> Result<String, Fault> {
        run(|| Ok(lock(&self.0).state()))
    }
}

/// A vhost, ready to route messages. It never changes.
#[derive(Debug, uniffi::Object)]
pub struct Router(RouterHandle);

#[uniffi::export]
impl Router {
    /// A router from JSON: `{"topology": {"text": "…"}}` or `{"definitions": {…}}`.
    #[uniffi::constructor]
    pub fn new(source: &str) -> Result<Arc<Self>, Fault> {
        run(|| RouterHandle::new(source)).map(|handle| Arc::new(Self(handle)))
    }

    /// Where a message goes: acemq.route/1.
    pub fn route(&self, message: &str) -> Result<String, Fault> {
        run(|| self.0.route(message))
    }
}

/// The embedded broker. It changes, and locks inside.
#[derive(Debug, uniffi::Object)]
pub struct EmbeddedBroker(Mutex<BrokerHandle>);

#[uniffi::export]
impl EmbeddedBroker {
    /// A broker from JSON; `{}` for an empty one.
    #[uniffi::constructor]
    pub fn new(settings: &str) -> Result<Arc<Self>, Fault> {
        run(|| BrokerHandle::new(settings)).map(|handle| Arc::new(Self(Mutex::new(handle))))
    }

    /// Carries out a command and gives the broker's reply, JSON both.
    pub fn command(&self, command: &str) -> Result<String, Fault> {
        run(|| lock(&self.0).call(command))
    }
}

/// Fails inside on purpose: for the tests of bindings.
#[uniffi::export]
pub fn fail_inside() -> Result<(), Fault> {
    #[expect(clippy::panic, reason = "this is what it is for")]
    run(|| panic!("on purpose"))
}
