//! Plans and questions as JSON: `acemq.plan/1` and the session's questions.

use super::action::{Action, Object, Plan};
use super::question::{Ask, Question};
use crate::rabbitmq::{BindingIdentity, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration};
use crate::topology::{describe_binding_arguments, describe_exchange, describe_policy, describe_queue};
use crate::value::{Table, Value};
use serde::Serialize;

/// `acemq.plan/1`.
#[derive(Debug, Serialize)]
pub struct PlanDocument<'a> {
    format: &'static str,
    mode: &'static str,
    broker: BrokerDocument<'a>,
    actions: Vec<ActionDocument<'a>>,
    summary: SummaryDocument,
    notes: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct BrokerDocument<'a> {
    kind: &'static str,
    product: &'a str,
    version: Option<String>,
    vhost: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct SummaryDocument {
    create: usize,
    present: usize,
    drift: usize,
    invalid: usize,
    unknown: usize,
    extra: usize,
    foreign: usize,
}

/// One action of `acemq.plan/1`.
#[derive(Debug, Serialize)]
pub struct ActionDocument<'a> {
    verdict: &'static str,
    kind: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<BindingIdentity<'a>>,
    sends: &'static str,
    detail: String,
    reason: Option<&'static str>,
    refusal: Option<RefusalTextDocument<'a>>,
    differences: Vec<DifferenceDocument<'a>>,
    at_least: bool,
    policy: Option<PolicyDocument<'a>>,
    notes: Vec<&'a str>,
}

#[derive(Debug, Serialize)]
struct RefusalTextDocument<'a> {
    code: u16,
    text: &'a str,
}

#[derive(Debug, Serialize)]
struct DifferenceDocument<'a> {
    argument: &'a str,
    wanted: Option<&'a Value>,
    current: Option<&'a Value>,
    compared: bool,
    remedy: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct PolicyDocument<'a> {
    name: &'a str,
    pattern: &'a str,
    #[serde(rename = "apply-to")]
    apply_to: &'a str,
    priority: i64,
    definition: &'a Table,
}

impl<'a> PolicyDocument<'a> {
    pub(super) fn of(policy: &'a PolicyDeclaration) -> Self {
        Self {
            name: &policy.name,
            pattern: &policy.pattern,
            apply_to: &policy.apply_to,
            priority: policy.priority,
            definition: &policy.definition,
        }
    }
}

impl Plan {
    /// The document `acemq.plan/1`.
    pub fn to_document(&self) -> PlanDocument<'_> {
        let summary = self.summary();
        PlanDocument {
            format: "acemq.plan/1",
            mode: self.mode.name(),
            broker: BrokerDocument {
                kind: self.kind.name(),
                product: self.broker.product.name(),
                version: self.broker.version.map(|version| version.to_string()),
                vhost: self.vhost.as_deref(),
            },
            actions: self.actions.iter().map(ActionDocument::of).collect(),
            summary: SummaryDocument {
                create: summary.create,
                present: summary.present,
                drift: summary.drift,
                invalid: summary.invalid,
                unknown: summary.unknown,
                extra: summary.extra,
                foreign: summary.foreign,
            },
            notes: self.notes.iter().map(String::as_str).collect(),
        }
    }
}

impl<'a> ActionDocument<'a> {
    fn of(action: &'a Action) -> Self {
        Self {
            verdict: action.verdict.name(),
            kind: action.object.kind(),
            name: action.object.name(),
            binding: match &action.object {
                Object::Binding(binding) => Some(BindingIdentity::of(binding)),
                _ => None,
            },
            sends: action.sends.name(),
            detail: detail(&action.object),
            reason: action.reason.map(super::action::Reason::name),
            refusal: action.refusal.as_ref().map(|(code, text)| RefusalTextDocument { code: *code, text }),
            differences: (action.differences.iter())
                .map(|difference| DifferenceDocument {
                    argument: &difference.argument,
                    wanted: difference.wanted.as_ref(),
                    current: difference.current.as_ref(),
                    compared: difference.compared,
                    remedy: difference.remedy.name(),
                })
                .collect(),
            at_least: action.at_least,
            policy: action.policy.as_ref().map(PolicyDocument::of),
            notes: action.notes.iter().map(String::as_str).collect(),
        }
    }
}

fn detail(object: &Object) -> String {
    match object {
        Object::Exchange(exchange) => describe_exchange(exchange),
        Object::External(exchange) => match &exchange.kind {
            Some(kind) => format!("{kind}, external"),
            None => "external".to_owned(),
        },
        Object::Policy(policy) => describe_policy(policy),
        Object::Queue(queue) => describe_queue(queue),
        Object::Binding(binding) => format!(
            "from {} on {}{}",
            binding.source,
            binding.routing_key,
            describe_binding_arguments(&binding.arguments)
        ),
    }
}

/// One question: `{"id","ask","name","declaration"}`.
#[derive(Debug, Serialize)]
pub struct QuestionDocument<'a> {
    id: u64,
    ask: &'static str,
    name: &'a str,
    declaration: Option<DeclarationDocument<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum DeclarationDocument<'a> {
    Exchange { name: &'a str, r#type: &'a str, durable: bool, auto_delete: bool, internal: bool, arguments: &'a Table },
    Queue { name: &'a str, durable: bool, exclusive: bool, auto_delete: bool, arguments: &'a Table },
    Binding(BindingIdentity<'a>),
    Policy(PolicyDocument<'a>),
}

impl<'a> DeclarationDocument<'a> {
    fn exchange(exchange: &'a ExchangeDeclaration) -> Self {
        Self::Exchange {
            name: &exchange.name,
            r#type: &exchange.kind,
            durable: exchange.durable,
            auto_delete: exchange.auto_delete,
            internal: exchange.internal,
            arguments: &exchange.arguments,
        }
    }

    fn queue(queue: &'a QueueDeclaration) -> Self {
        Self::Queue {
            name: &queue.name,
            durable: queue.durable,
            exclusive: queue.exclusive,
            auto_delete: queue.auto_delete,
            arguments: &queue.arguments,
        }
    }
}

impl Question {
    /// The question as JSON. `ask` is `queue_passive`, `queue_offer`, `exchange_passive`, `exchange_offer`, `declare`,
    /// `bind` or `set_policy`; a passive question has no declaration.
    pub fn to_document(&self) -> QuestionDocument<'_> {
        let (ask, name, declaration) = match &self.ask {
            Ask::QueuePassive(name) => ("queue_passive", name, None),
            Ask::QueueOffer(queue) => ("queue_offer", &queue.name, Some(DeclarationDocument::queue(queue))),
            Ask::ExchangePassive(name) => ("exchange_passive", name, None),
            Ask::ExchangeOffer(exchange) => {
                ("exchange_offer", &exchange.name, Some(DeclarationDocument::exchange(exchange)))
            }
            Ask::DeclareExchange(exchange) => {
                ("declare", &exchange.name, Some(DeclarationDocument::exchange(exchange)))
            }
            Ask::SetPolicy(policy) => {
                ("set_policy", &policy.name, Some(DeclarationDocument::Policy(PolicyDocument::of(policy))))
            }
            Ask::DeclareQueue(queue) => ("declare", &queue.name, Some(DeclarationDocument::queue(queue))),
            Ask::Bind(binding) => {
                ("bind", &binding.destination, Some(DeclarationDocument::Binding(BindingIdentity::of(binding))))
            }
        };
        QuestionDocument { id: self.id, ask, name, declaration }
    }
}
