//! Why a call failed.

use crate::memory::{self, AcemqBytes};
use acemq_core::api::{Failure, FailureProblem};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The call succeeded; for a question the answer is no.
pub const ACEMQ_OK: i32 = 0;
/// The answer is no.
pub const ACEMQ_NO: i32 = 0;
/// The answer is yes.
pub const ACEMQ_YES: i32 = 1;
/// The engine refuses the input: the error has its code and all problems.
pub const ACEMQ_REFUSED: i32 = -1;
/// A null pointer, an impossible length, or text that is no UTF-8: the caller is wrong.
pub const ACEMQ_BAD_ARGUMENT: i32 = -2;
/// The library is wrong: please report the message.
pub const ACEMQ_INTERNAL: i32 = -3;

/// Why a call failed. Free it with acemq_error_free.
#[derive(Debug)]
pub struct AcemqError {
    code: String,
    message: String,
    detail: String,
}

impl AcemqError {
    fn of(failure: &Failure) -> Self {
        Self {
            code: failure.code().to_owned(),
            message: failure.to_string(),
            detail: serde_json::to_string(failure).unwrap_or_default(),
        }
    }
}

/// What keeps an entry from its result.
#[derive(Debug)]
pub(crate) struct Fault {
    status: i32,
    failure: Box<Failure>,
}

impl Fault {
    fn caller(code: &str, argument: &'static str, message: String, help: &str) -> Self {
        let fields = BTreeMap::from([("argument".to_owned(), Json::from(argument))]);
        let problem = FailureProblem { code: code.to_owned(), fields, message, help: help.to_owned() };
        Self { status: ACEMQ_BAD_ARGUMENT, failure: Box::new(problem.into()) }
    }

    /// A pointer, a length or a number that no caller should give.
    pub(crate) fn bad_argument(argument: &'static str, message: String) -> Self {
        Self::caller("bad_argument", argument, message, "see the declaration in acemq.h")
    }

    /// Text that is none from the byte `at` on.
    pub(crate) fn invalid_utf8(argument: &'static str, at: usize) -> Self {
        Self::caller("invalid_utf8", argument, format!("{argument} is no UTF-8 at byte {at}"), "give UTF-8")
    }

    /// Something that cannot happen did.
    pub(crate) fn internal(what: &str) -> Self {
        let problem = FailureProblem {
            code: "internal".to_owned(),
            fields: BTreeMap::new(),
            message: format!("libacemq {} failed inside: {what}", env!("CARGO_PKG_VERSION")),
            help: "report this with what was called".to_owned(),
        };
        Self { status: ACEMQ_INTERNAL, failure: Box::new(problem.into()) }
    }

    /// What it says, without the status.
    pub(crate) fn into_failure(self) -> Failure {
        *self.failure
    }

    /// Writes the error where the caller wants it, and gives the status.
    pub(crate) unsafe fn put(self, error: *mut *mut AcemqError) -> i32 {
        if let Ok(out) = unsafe { memory::handle_out(error, "error") } {
            out.put(AcemqError::of(&self.failure));
        }
        self.status
    }
}

impl<F: Into<Failure>> From<F> for Fault {
    fn from(failure: F) -> Self {
        let failure = failure.into();
        let status = if failure.code() == "internal" { ACEMQ_INTERNAL } else { ACEMQ_REFUSED };
        Self { status, failure: Box::new(failure) }
    }
}

/// The stable code of the first problem, as in "name_too_long".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_error_code(error: *const AcemqError) -> AcemqBytes {
    unsafe { part(error, |error| &error.code) }
}

/// All problems for people, one a line: what is wrong, and the way out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_error_message(error: *const AcemqError) -> AcemqBytes {
    unsafe { part(error, |error| &error.message) }
}

/// All problems for programs, JSON: {"code","fields","message","help","problems":[{"code","fields","message","help"}]}.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_error_detail(error: *const AcemqError) -> AcemqBytes {
    unsafe { part(error, |error| &error.detail) }
}

unsafe fn part(error: *const AcemqError, part: fn(&AcemqError) -> &str) -> AcemqBytes {
    AcemqBytes::of(unsafe { error.as_ref() }.map_or("", part).as_bytes())
}

/// Frees an error; null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_error_free(error: *mut AcemqError) {
    unsafe { memory::free(error) }
}
