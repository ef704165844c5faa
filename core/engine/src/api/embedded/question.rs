//! Questions of a plan session as a host hands them on, and the embedded broker's answers as a session takes them.

use super::command::PolicyForm;
use crate::api::Failure;
use crate::api::broker::scope_name;
use crate::api::declared::{Binding, Document, Exchange, Queue};
use crate::plan::{Answer, Ask, Question};
use serde::Deserialize;
use serde_json::{Value as Json, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionForm {
    id: u64,
    ask: String,
    name: String,
    declaration: Option<DeclarationForm>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum DeclarationForm {
    Exchange(Exchange),
    Queue(Queue),
    Binding(Binding),
    Policy(QuestionPolicy),
}

/// A policy as questions write it.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct QuestionPolicy {
    name: String,
    pattern: String,
    apply_to: String,
    priority: i64,
    definition: crate::value::Table,
}

/// Reads a question as [`Question::to_document`] writes it.
pub(super) fn read(question: Json) -> Result<Question, Failure> {
    let invalid = |why: String| {
        Failure::one("question_invalid", format!("this is no question: {why}"), "give one as the session gave it out")
    };
    let form: QuestionForm = serde_json::from_value(question).map_err(|error| invalid(error.to_string()))?;
    let ask = match (form.ask.as_str(), form.declaration) {
        ("queue_passive", None) => Ask::QueuePassive(form.name),
        ("exchange_passive", None) => Ask::ExchangePassive(form.name),
        ("queue_offer", Some(DeclarationForm::Queue(queue))) => Ask::QueueOffer(queue.into()),
        ("exchange_offer", Some(DeclarationForm::Exchange(exchange))) => Ask::ExchangeOffer(exchange.into()),
        ("declare", Some(DeclarationForm::Queue(queue))) => Ask::DeclareQueue(queue.into()),
        ("declare", Some(DeclarationForm::Exchange(exchange))) => Ask::DeclareExchange(exchange.into()),
        ("bind", Some(DeclarationForm::Binding(binding))) => Ask::Bind(binding.into()),
        ("set_policy", Some(DeclarationForm::Policy(policy))) => {
            let QuestionPolicy { name, pattern, apply_to, priority, definition } = policy;
            Ask::SetPolicy(PolicyForm { name, pattern, apply_to, priority, definition }.into())
        }
        (ask, _) => return Err(invalid(format!("\"{}\" with such a declaration", crate::name::shown(ask)))),
    };
    Ok(Question { id: form.id, ask })
}

/// The answer as the session takes it.
pub(super) fn written(id: u64, answer: &Answer) -> Document {
    Document::of(&match answer {
        Answer::Ok { messages, consumers } => json!({"id": id, "ok": {"messages": messages, "consumers": consumers}}),
        Answer::Refused { code, text, scope } => {
            json!({"id": id, "refused": {"code": code, "text": text, "scope": scope_name(*scope)}})
        }
        Answer::Failed { why } => json!({"id": id, "failed": why}),
        Answer::Cannot { why } => json!({"id": id, "cannot": why}),
    })
}
