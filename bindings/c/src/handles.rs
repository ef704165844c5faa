//! What is kept between calls and speaks JSON: plan session, router, embedded broker.

use crate::error::{ACEMQ_NO, ACEMQ_YES, AcemqError, Fault};
use crate::guard::{DONE, guard};
use crate::memory::{AcemqBuffer, free, handle, handle_out, text, text_out};
use acemq_core::api::{BrokerHandle, RouterHandle, SessionHandle};
use acemq_core::plan::Style;
use std::sync::{Mutex, MutexGuard};

/// A handle that changes. One whose change was cut off by a fault answers nothing any more.
#[derive(Debug)]
struct Locked<T>(Mutex<T>);

impl<T> Locked<T> {
    const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    fn lock(&self) -> Result<MutexGuard<'_, T>, Fault> {
        self.0.lock().map_err(|_| Fault::internal("an earlier call failed while it changed this handle"))
    }
}

/// A plan session: asks numbered questions about a broker, takes the answers, and says what an apply would do or did.
/// It changes, and locks inside.
#[derive(Debug)]
pub struct AcemqPlanSession(Locked<SessionHandle>);

/// Starts a session: `input` is the input of the operation plan.session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_new(
    input: *const u8,
    input_len: usize,
    session: *mut *mut AcemqPlanSession,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let session = handle_out(session, "session")?;
        session.put(AcemqPlanSession(Locked::new(SessionHandle::new(text(input, input_len, "input")?)?)));
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Every open question, JSON: [{"id","ask","name","declaration"}].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_questions(
    session: *const AcemqPlanSession,
    questions: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let questions = text_out(questions, "questions")?;
        questions.put(handle(session, "session")?.0.lock()?.questions());
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Open questions that were not given out yet, at most `limit`: what a host with that many free channels asks next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_next_questions(
    session: *const AcemqPlanSession,
    limit: usize,
    questions: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let questions = text_out(questions, "questions")?;
        questions.put(handle(session, "session")?.0.lock()?.next_questions(limit));
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Takes one answer, JSON: {"id":1} with exactly one of "ok":{"messages","consumers"}, "refused":{"code","text","scope"},
/// "failed":"why" and "cannot":"why". A refused answer leaves the session as it was.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_answer(
    session: *const AcemqPlanSession,
    answer: *const u8,
    answer_len: usize,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let answer = text(answer, answer_len, "answer")?;
        handle(session, "session")?.0.lock()?.answer(answer)?;
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Ends the session before its end: what was not asked stays unknown, what was not sent is not sent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_interrupt(
    session: *const AcemqPlanSession,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        handle(session, "session")?.0.lock()?.interrupt();
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Whether nothing is left to ask or to declare: ACEMQ_YES or ACEMQ_NO.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_finished(
    session: *const AcemqPlanSession,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let finished = handle(session, "session")?.0.lock()?.finished();
        Ok(if finished { ACEMQ_YES } else { ACEMQ_NO })
    };
    unsafe { guard(error, entry) }
}

/// Where the session stands, at any time, JSON: the output of the operation plan.session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_state(
    session: *const AcemqPlanSession,
    state: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let state = text_out(state, "state")?;
        state.put(handle(session, "session")?.0.lock()?.state());
        DONE
    };
    unsafe { guard(error, entry) }
}

/// acemq_plan_session_render: one line for each action, as a plan is shown.
pub const ACEMQ_STYLE_PLAN: i32 = 0;
/// acemq_plan_session_render: one line for each object, with its details.
pub const ACEMQ_STYLE_LINES: i32 = 1;
/// acemq_plan_session_render: one line for everything that drifted.
pub const ACEMQ_STYLE_DRIFT: i32 = 2;

/// The plan as text, at any time: `style` is ACEMQ_STYLE_..., lines of the plan style are wrapped at `width` columns, or not
/// for 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_render(
    session: *const AcemqPlanSession,
    style: i32,
    width: usize,
    text: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let text = text_out(text, "text")?;
        let plan = handle(session, "session")?.0.lock()?.session().plan();
        text.put(match style {
            ACEMQ_STYLE_PLAN => plan.render(Style::Plan, (width > 0).then_some(width)),
            ACEMQ_STYLE_LINES => plan.render(Style::Lines, None),
            ACEMQ_STYLE_DRIFT => plan.render_drift(),
            _ => return Err(Fault::bad_argument("style", format!("style {style} is none of ACEMQ_STYLE_..."))),
        });
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Frees a session; null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_plan_session_free(session: *mut AcemqPlanSession) {
    unsafe { free(session) }
}

/// A vhost's exchanges, queues and bindings, ready to route many messages. It never changes.
#[derive(Debug)]
pub struct AcemqRouter(RouterHandle);

/// A router: `input` is the `state` of the operation routing.route.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_router_new(
    input: *const u8,
    input_len: usize,
    router: *mut *mut AcemqRouter,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let router = handle_out(router, "router")?;
        router.put(AcemqRouter(RouterHandle::new(text(input, input_len, "input")?)?));
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Where a message goes: `message` is that of the operation routing.route, `route` its output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_router_route(
    router: *const AcemqRouter,
    message: *const u8,
    message_len: usize,
    route: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let route = text_out(route, "route")?;
        let message = text(message, message_len, "message")?;
        route.put(handle(router, "router")?.0.route(message)?);
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Frees a router; null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_router_free(router: *mut AcemqRouter) {
    unsafe { free(router) }
}

/// A broker in memory, with a clock that moves when it is told to. It changes, and locks inside.
#[derive(Debug)]
pub struct AcemqBroker(Locked<BrokerHandle>);

/// A broker: `settings` is the `broker` of the operation embedded.run, {} for an empty one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_broker_new(
    settings: *const u8,
    settings_len: usize,
    broker: *mut *mut AcemqBroker,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let broker = handle_out(broker, "broker")?;
        broker.put(AcemqBroker(Locked::new(BrokerHandle::new(text(settings, settings_len, "settings")?)?)));
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Carries out a command of the operation embedded.run and gives its reply. What the broker refuses is a reply too,
/// {"refused":{"code","text","scope"}}; an error is a command that no client could send.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_broker_call(
    broker: *const AcemqBroker,
    command: *const u8,
    command_len: usize,
    reply: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let reply = text_out(reply, "reply")?;
        let command = text(command, command_len, "command")?;
        reply.put(handle(broker, "broker")?.0.lock()?.call(command)?);
        DONE
    };
    unsafe { guard(error, entry) }
}

/// A broker of its own with everything that this one holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_broker_clone(
    broker: *const AcemqBroker,
    clone: *mut *mut AcemqBroker,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let clone = handle_out(clone, "clone")?;
        let copy = handle(broker, "broker")?.0.lock()?.clone();
        clone.put(AcemqBroker(Locked::new(copy)));
        DONE
    };
    unsafe { guard(error, entry) }
}

/// Frees a broker; null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_broker_free(broker: *mut AcemqBroker) {
    unsafe { free(broker) }
}
