//! The session against a broker that is played by the prediction, and renderings against the contract's own text.

use super::*;
use crate::rabbitmq::PolicyDeclaration;
use crate::rabbitmq::{
    BindingDeclaration, Broker, Conditions, ExchangeDeclaration, ExistingQueue, Owner, QueueDeclaration, Refused,
    Scope, Version, declare_exchange, declare_exchange_passively, declare_queue, declare_queue_passively,
};
use crate::state::State;
use crate::topology::{DeclaredBinding, DeclaredExchange, DeclaredQueue, ExternalExchange, Tables};
use crate::value::{Table, Value};
use std::collections::BTreeMap;

const NEW: Version = Version::new(4, 0, 5);

fn tables(exchanges: &[ExchangeDeclaration], queues: &[QueueDeclaration], bindings: &[BindingDeclaration]) -> Tables {
    Tables {
        exchanges: exchanges.iter().map(|e| DeclaredExchange { declaration: e.clone(), derived: false }).collect(),
        queues: queues.iter().map(|q| DeclaredQueue { declaration: q.clone(), derived_from: None }).collect(),
        bindings: bindings.iter().map(|b| DeclaredBinding { declaration: b.clone(), derived: false }).collect(),
        ..Tables::default()
    }
}

/// A broker in memory that answers through the prediction.
struct Played {
    conditions: Conditions,
    exchanges: BTreeMap<String, ExchangeDeclaration>,
    queues: BTreeMap<String, QueueDeclaration>,
    asked: Vec<Ask>,
}

impl Played {
    fn new(version: Version) -> Self {
        let conditions = Conditions::new(version, "/");
        Self { conditions, exchanges: BTreeMap::new(), queues: BTreeMap::new(), asked: Vec::new() }
    }

    fn with(mut self, queue: QueueDeclaration) -> Self {
        let stored = declare_queue(&self.conditions, None, &queue).unwrap();
        self.queues.insert(queue.name, stored);
        self
    }

    fn answer(&mut self, ask: &Ask) -> Answer {
        self.asked.push(ask.clone());
        let of = |result: Result<(), Refused>| match result {
            Ok(()) => Answer::OK,
            Err(refused) => Answer::Refused { code: refused.code, text: refused.text, scope: refused.scope },
        };
        let existing = |name: &str, queues: &BTreeMap<String, QueueDeclaration>| queues.get(name).cloned();
        match ask {
            Ask::QueuePassive(name) => {
                let there = existing(name, &self.queues);
                let there = there.as_ref().map(|q| ExistingQueue { declaration: q, owner: Owner::Nobody });
                of(declare_queue_passively(&self.conditions, there, name))
            }
            Ask::QueueOffer(queue) | Ask::DeclareQueue(queue) => {
                let there = existing(&queue.name, &self.queues);
                let there = there.as_ref().map(|q| ExistingQueue { declaration: q, owner: Owner::Nobody });
                of(declare_queue(&self.conditions, there, queue).map(|stored| {
                    self.queues.insert(queue.name.clone(), stored);
                }))
            }
            Ask::ExchangePassive(name) => {
                of(declare_exchange_passively(&self.conditions, self.exchanges.get(name), name))
            }
            Ask::ExchangeOffer(exchange) | Ask::DeclareExchange(exchange) => {
                let there = self.exchanges.get(&exchange.name).cloned();
                of(declare_exchange(&self.conditions, there.as_ref(), exchange).map(|stored| {
                    self.exchanges.insert(exchange.name.clone(), stored);
                }))
            }
            Ask::SetPolicy(_) | Ask::Bind(_) => Answer::OK,
        }
    }

    fn drive(&mut self, mut session: PlanSession) -> PlanSession {
        while !session.finished() {
            let questions = session.next_questions(8);
            assert!(!questions.is_empty(), "nothing to ask and not finished");
            for question in questions {
                let answer = self.answer(&question.ask);
                session.answer(question.id, answer).unwrap();
            }
        }
        session
    }

    fn plan(&mut self, tables: Tables, settings: Settings) -> Plan {
        self.drive(PlanSession::new(tables, settings)).into_plan()
    }
}

fn amqp(version: Version) -> Settings {
    Settings { vhost: Some("/".to_owned()), ..Settings::amqp(Broker::rabbitmq(version)) }
}

fn verdicts(plan: &Plan) -> Vec<(&str, &str)> {
    plan.actions.iter().map(|action| (action.object.name(), action.verdict.name())).collect()
}

#[test]
fn the_contracts_plan_is_rendered_byte_for_byte() {
    let tables = tables(
        &[ExchangeDeclaration::durable("orders", "topic")],
        &[QueueDeclaration::durable("orders.new").with("x-message-ttl", 30000)],
        &[BindingDeclaration::queue("orders", "orders.new", "order.*")],
    );
    let mut session = PlanSession::new(tables, amqp(NEW));
    session.answer(1, Answer::OK).unwrap();
    let text = "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders.new' in vhost '/': received the \
                value '30000' but current is the value '60000'";
    session.answer(2, Answer::Refused { code: 406, text: text.to_owned(), scope: Scope::Channel }).unwrap();
    let block = "topology plan:
  create   exchange orders (topic)
  DRIFT    queue orders.new (classic) — inequivalent arg 'x-message-ttl' for queue
           'orders.new' in vhost '/': received the value '30000' but current is the
           value '60000'
  create   binding orders.new <- orders [order.*]
";
    let rendered = session.plan().render(Style::Plan, Some(83));
    assert!(rendered.starts_with(block), "{rendered}");
}

#[test]
fn an_empty_plan_says_so() {
    let plan = PlanSession::new(Tables::default(), amqp(NEW)).into_plan();
    assert_eq!(plan.render(Style::Plan, None), "topology plan:\n  nothing declared\n");
    assert_eq!(plan.render(Style::Lines, None), "");
}

#[test]
fn the_lines_style_is_the_contracts() {
    let shipping = QueueDeclaration::durable("shipping-orders")
        .with("x-queue-type", "quorum")
        .with("x-dead-letter-exchange", "shipping-dead");
    let tables = tables(
        &[ExchangeDeclaration::durable("orders-events", "topic")],
        &[shipping.clone(), QueueDeclaration::durable("shipping-dead").with("x-queue-type", "quorum")],
        &[BindingDeclaration::queue("orders-events", "shipping-orders", "order.placed")],
    );
    let stored = QueueDeclaration::durable("shipping-orders").with("x-queue-type", "quorum");
    let mut broker = Played::new(NEW).with(stored);
    let plan = broker.plan(tables, amqp(NEW));
    let rendered = plan.render(Style::Lines, None);
    let (lines, notes) = rendered.split_once("\n\n").unwrap();
    assert!(notes.lines().all(|line| line.starts_with("note: ")), "{notes}");
    assert_eq!(
        lines,
        "exchange orders-events: topic — unknown, AMQP cannot report exchanges\n\
         queue shipping-orders: durable, quorum, x-dead-letter-exchange=shipping-dead — differs: the broker refused the \
         declaration: Exception (406) PRECONDITION_FAILED - inequivalent arg 'x-dead-letter-exchange' for queue \
         'shipping-orders' in vhost '/': received the value 'shipping-dead' of type 'longstr' but current is none\n\
         queue shipping-dead: durable, quorum — would create\n\
         binding shipping-orders: from orders-events on order.placed — unknown, AMQP cannot report bindings"
    );
    assert_eq!(
        plan.render_drift(),
        "drift: queue shipping-orders: the broker refused the declaration: Exception (406) PRECONDITION_FAILED - \
         inequivalent arg 'x-dead-letter-exchange' for queue 'shipping-orders' in vhost '/': received the value \
         'shipping-dead' of type 'longstr' but current is none\n"
    );
}

#[test]
fn asking_creates_nothing_whatever_the_default_type_of_the_vhost() {
    let queues = [
        QueueDeclaration::durable("plain"),
        QueueDeclaration::durable("quorum").with("x-queue-type", "quorum"),
        QueueDeclaration::durable("stream").with("x-queue-type", "stream"),
        QueueDeclaration { durable: false, auto_delete: true, ..QueueDeclaration::durable("passing") },
    ];
    for version in [Version::new(3, 10, 8), NEW, Version::new(4, 3, 6)] {
        for default in [None, Some("classic"), Some("quorum"), Some("stream")] {
            let mut broker = Played::new(version);
            broker.conditions.default_queue_type = default.map(str::to_owned);
            let plan = broker.plan(tables(&[], &queues, &[]), amqp(version));
            assert!(broker.queues.is_empty(), "{version} {default:?}: {:?}", broker.queues);
            assert_eq!(plan.summary().create, 4, "{version} {default:?} {plan:?}");
            let given = default.filter(|default| *default != "classic").map(str::to_owned);
            assert_eq!(plan.actions[0].given_type.map(|given| given.to_string()), given, "{version}");
            assert_eq!(plan.actions[3].given_type, None);
        }
    }
}

#[test]
fn a_queue_deleted_between_the_two_questions_is_not_created_again() {
    let mut session = PlanSession::new(tables(&[], &[QueueDeclaration::durable("q")], &[]), amqp(NEW));
    session.answer(1, Answer::OK).unwrap();
    let mut broker = Played::new(NEW);
    let session = broker.drive(session);
    assert!(broker.queues.is_empty());
    assert_eq!(verdicts(&session.plan()), [("q", "create")]);
}

#[test]
fn the_walk_reads_out_every_difference() {
    let stored = QueueDeclaration::durable("q")
        .with("x-queue-type", "quorum")
        .with("x-dead-letter-exchange", "old")
        .with("x-max-length", 10)
        .with("x-overflow", "reject-publish")
        .with("x-delivery-limit", 5);
    let wanted =
        QueueDeclaration::durable("q").with("x-queue-type", "quorum").with("x-max-length", 20).with("x-expires", 7);
    for version in [Version::new(3, 10, 8), NEW, Version::new(4, 3, 6)] {
        let mut broker = Played::new(version).with(stored.clone());
        let plan = broker.plan(tables(&[], std::slice::from_ref(&wanted), &[]), amqp(version));
        let action = &plan.actions[0];
        assert_eq!(action.verdict, Verdict::Drift);
        assert!(!action.at_least);
        let found: Vec<_> =
            (action.differences.iter()).map(|d| (d.argument.as_str(), d.wanted.clone(), d.current.clone())).collect();
        let text = |text: &str| Some(Value::text(text));
        let number = |number: i64| Some(Value::I64(number));
        assert_eq!(
            found,
            [
                ("x-dead-letter-exchange", None, text("old")),
                ("x-expires", number(7), None),
                ("x-max-length", number(20), number(10)),
                ("x-overflow", None, text("reject-publish")),
                ("x-delivery-limit", None, number(5)),
            ]
        );
        // The refusal is the broker's first answer to the declaration as it is wanted.
        assert!(action.refusal.as_ref().unwrap().1.contains("'x-dead-letter-exchange'"));
    }
}

#[test]
fn the_walk_goes_across_queue_types_and_properties() {
    for (stored, wanted) in [("quorum", None), ("stream", None), ("quorum", Some("stream")), ("stream", Some("quorum"))]
    {
        for version in [Version::new(3, 10, 8), NEW] {
            let there = QueueDeclaration::durable("q").with("x-queue-type", stored).with("x-max-length-bytes", 9);
            let mut asked = QueueDeclaration::durable("q");
            if let Some(kind) = wanted {
                asked.arguments.insert("x-queue-type", kind);
            }
            let mut broker = Played::new(version).with(there);
            let plan = broker.plan(tables(&[], &[asked], &[]), amqp(version));
            let names: Vec<_> = plan.actions[0].differences.iter().map(|d| d.argument.as_str()).collect();
            let mut sorted = names.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, ["x-max-length-bytes", "x-queue-type"], "{stored} {wanted:?} {version}");
            assert!(!plan.actions[0].at_least);
        }
    }
    let there = QueueDeclaration { auto_delete: true, durable: false, ..QueueDeclaration::durable("q") };
    let mut broker = Played::new(NEW).with(there);
    let plan = broker.plan(tables(&[], &[QueueDeclaration::durable("q")], &[]), amqp(NEW));
    let names: Vec<_> = plan.actions[0].differences.iter().map(|d| d.argument.as_str()).collect();
    assert_eq!(names, ["durable", "auto_delete"]);
}

#[test]
fn a_typeless_queue_in_a_vhost_of_another_default_type_is_present() {
    for default in ["quorum", "stream"] {
        let mut broker = Played::new(NEW);
        broker.conditions.default_queue_type = Some(default.to_owned());
        let mut broker = broker.with(QueueDeclaration::durable("q"));
        let plan = broker.plan(tables(&[], &[QueueDeclaration::durable("q")], &[]), amqp(NEW));
        assert_eq!(verdicts(&plan), [("q", "present")], "{default}");
    }
}

#[test]
fn a_broker_without_guards_is_offered_only_what_is_there() {
    let old = Version::new(3, 8, 9);
    let stored = QueueDeclaration::durable("there").with("x-max-length", 1).with("x-message-ttl", 1);
    let mut broker = Played::new(old).with(stored);
    let wanted = [QueueDeclaration::durable("there").with("x-max-length", 2), QueueDeclaration::durable("absent")];
    let plan = broker.plan(tables(&[], &wanted, &[]), amqp(old));
    assert_eq!(verdicts(&plan), [("there", "drift"), ("absent", "create")]);
    assert!(plan.actions[0].at_least);
    assert!(!broker.queues.contains_key("absent"));
    let offers = broker.asked.iter().filter(|ask| matches!(ask, Ask::QueueOffer(_))).count();
    assert_eq!(offers, 1);
    assert!(plan.render_notes().contains("without a guard"), "{}", plan.render_notes());
}

#[test]
fn a_404_that_is_no_absence_is_unknown() {
    let mut session = PlanSession::new(tables(&[], &[QueueDeclaration::durable("q")], &[]), amqp(NEW));
    let text = "NOT_FOUND - home node 'cc@localhost' of durable queue 'q' in vhost '/' is down or inaccessible";
    session.answer(1, Answer::Refused { code: 404, text: text.to_owned(), scope: Scope::Channel }).unwrap();
    let plan = session.plan();
    assert_eq!(plan.actions[0].verdict, Verdict::Unknown);
    assert_eq!(plan.actions[0].reason, Some(Reason::Unavailable));
    assert_eq!(plan.actions[0].sends, Sends::Nothing);
    assert!(session.finished());
}

#[test]
fn an_unanswered_question_is_never_agreement() {
    let queues = [QueueDeclaration::durable("a"), QueueDeclaration::durable("b"), QueueDeclaration::durable("c")];
    let mut session = PlanSession::new(tables(&[], &queues, &[]), amqp(NEW));
    session.answer(1, Answer::Failed { why: "no answer within 10 s".to_owned() }).unwrap();
    session.answer(2, Answer::Cannot { why: "this client cannot declare passively".to_owned() }).unwrap();
    let plan = session.plan();
    let reasons: Vec<_> = plan.actions.iter().map(|action| action.reason.unwrap().name()).collect();
    assert_eq!(reasons, ["timeout", "no_inspection", "unavailable"]);
    assert!(!session.finished());
    assert_eq!(session.answer(1, Answer::OK), Err(AnswerError::NotOpen(1)));
    assert!(plan.fails_validation());
}

#[test]
fn exchanges_are_read_through_their_alternate_exchange() {
    let wanted = ExchangeDeclaration::durable("e", "topic").with("alternate-exchange", "unrouted");
    let settings = Settings { ask_exchanges: true, ..amqp(NEW) };
    let plan = |stored: Option<ExchangeDeclaration>| {
        let mut broker = Played::new(NEW);
        broker.exchanges.extend(stored.map(|exchange| (exchange.name.clone(), exchange)));
        let before = broker.exchanges.clone();
        let plan = broker.plan(tables(std::slice::from_ref(&wanted), &[], &[]), settings.clone());
        assert_eq!(broker.exchanges, before);
        plan
    };
    assert_eq!(verdicts(&plan(None)), [("e", "create")]);
    assert_eq!(verdicts(&plan(Some(wanted.clone()))), [("e", "present")]);
    let other = plan(Some(ExchangeDeclaration::durable("e", "topic").with("alternate-exchange", "other")));
    assert_eq!(verdicts(&other), [("e", "drift")]);
    let text = &other.actions[0].refusal.as_ref().unwrap().1;
    assert!(text.ends_with("received 'unrouted' but current is 'other'"), "{text}");
    let all = plan(Some(ExchangeDeclaration {
        internal: true,
        durable: false,
        ..ExchangeDeclaration::durable("e", "fanout")
    }));
    let names: Vec<_> = all.actions[0].differences.iter().map(|d| d.argument.as_str()).collect();
    assert_eq!(names, ["type", "durable", "internal", "alternate-exchange"]);
    assert!(!all.actions[0].at_least);
}

#[test]
fn an_apply_declares_exchanges_then_queues_then_bindings() {
    let tables = tables(
        &[ExchangeDeclaration::durable("e", "topic")],
        &[QueueDeclaration::durable("a"), QueueDeclaration::durable("b")],
        &[BindingDeclaration::queue("e", "a", "#")],
    );
    let mut broker = Played::new(NEW).with(QueueDeclaration::durable("b"));
    let session = broker.drive(PlanSession::new(tables, Settings { apply: true, ..amqp(NEW) }));
    assert_eq!(session.apply_error(), None);
    let changes: Vec<_> = broker.asked.iter().filter(|ask| ask.changes()).collect();
    assert!(matches!(
        changes.as_slice(),
        [Ask::DeclareExchange(_), Ask::DeclareQueue(queue), Ask::Bind(_)] if queue.name == "a"
    ));
    assert_eq!(session.apply_report().done, ["exchange e", "queue a", "binding e -> a (#)"]);
}

#[test]
fn drift_refuses_an_apply_before_anything_is_declared() {
    let tables = tables(
        &[ExchangeDeclaration::durable("e", "topic")],
        &[QueueDeclaration::durable("new"), QueueDeclaration::durable("orders.new").with("x-message-ttl", 30000)],
        &[],
    );
    let mut broker = Played::new(NEW).with(QueueDeclaration::durable("orders.new").with("x-message-ttl", 60000));
    let session = broker.drive(PlanSession::new(tables, Settings { apply: true, ..amqp(NEW) }));
    assert!(!broker.asked.iter().any(Ask::changes));
    assert!(broker.exchanges.is_empty() && broker.queues.len() == 1);
    assert_eq!(
        session.apply_error().unwrap().to_string(),
        "acemq: nothing was declared: 1 queue differs from the broker\n  \
         queue orders.new: x-message-ttl is 60000 on the broker, 30000 here"
    );
}

#[test]
fn an_apply_stops_at_the_first_surprise() {
    let tables = tables(
        &[],
        &[QueueDeclaration::durable("a"), QueueDeclaration::durable("b")],
        &[BindingDeclaration::queue("amq.topic", "a", "#")],
    );
    let mut session = PlanSession::new(tables, Settings { apply: true, ..amqp(NEW) });
    let mut broker = Played::new(NEW);
    while session.questions().iter().all(|question| !question.ask.changes()) {
        for question in session.next_questions(1) {
            let answer = broker.answer(&question.ask);
            session.answer(question.id, answer).unwrap();
        }
    }
    let first = session.next_questions(1).remove(0);
    let text = "PRECONDITION_FAILED - cannot declare queue 'a': queue limit in vhost '/' (0) is reached".to_owned();
    session.answer(first.id, Answer::Refused { code: 406, text, scope: Scope::Channel }).unwrap();
    assert!(session.finished());
    assert_eq!(
        session.apply_error().unwrap().to_string(),
        "acemq: cannot declare queue \"a\": Exception (406) Reason: \"PRECONDITION_FAILED - cannot declare queue 'a': \
         queue limit in vhost '/' (0) is reached\"\n  declared: nothing\n  \
         not declared: queue a, queue b, binding amq.topic -> a (#)\n  \
         applying again is safe: what is there already is left as it is"
    );
}

#[test]
fn an_interrupted_apply_tells_what_was_sent_and_what_was_not() {
    let tables = tables(&[], &[QueueDeclaration::durable("a"), QueueDeclaration::durable("b")], &[]);
    let settings = Settings { apply: true, ..amqp(NEW) };
    let mut unasked = PlanSession::new(tables.clone(), settings.clone());
    unasked.interrupt();
    assert!(unasked.finished());
    assert_eq!(
        unasked.apply_error().unwrap().to_string(),
        "acemq: stopped before the end\n  declared: nothing\n  not declared: queue a, queue b\n  \
         applying again is safe: what is there already is left as it is"
    );

    let mut session = PlanSession::new(tables, settings);
    let mut broker = Played::new(NEW);
    while session.questions().iter().all(|question| !question.ask.changes()) {
        for question in session.next_questions(1) {
            let answer = broker.answer(&question.ask);
            session.answer(question.id, answer).unwrap();
        }
    }
    session.next_questions(1);
    session.interrupt();
    assert_eq!(
        session.apply_error().unwrap().to_string(),
        "acemq: cannot declare queue \"a\": stopped before the answer; whether it was made is not known\n  \
         declared: nothing\n  not declared: queue a, queue b\n  \
         applying again is safe: what is there already is left as it is"
    );
}

#[test]
fn a_missing_right_on_an_absent_queue_is_invalid_and_on_a_present_one_unknown() {
    let refused = |name: &str| Answer::Refused {
        code: 403,
        text: format!("ACCESS_REFUSED - configure access to queue '{name}' in vhost '/' refused for user 'u'"),
        scope: Scope::Channel,
    };
    let queues = [QueueDeclaration::durable("absent"), QueueDeclaration::durable("there")];
    let mut session = PlanSession::new(tables(&[], &queues, &[]), amqp(NEW));
    let text = "NOT_FOUND - no queue 'absent' in vhost '/'".to_owned();
    session.answer(1, Answer::Refused { code: 404, text, scope: Scope::Channel }).unwrap();
    session.answer(2, Answer::OK).unwrap();
    session.answer(3, refused("absent")).unwrap();
    session.answer(4, refused("there")).unwrap();
    let plan = session.plan();
    assert_eq!(verdicts(&plan), [("absent", "invalid"), ("there", "unknown")]);
    assert_eq!(plan.actions[1].reason, Some(Reason::AccessRefused));
}

#[test]
fn a_known_state_needs_no_question() {
    let mut state = State::empty(Broker::rabbitmq(NEW), "shop");
    state.insert_exchange(ExchangeDeclaration::durable("orders", "topic"));
    state.insert_queue(QueueDeclaration::durable("a").with("x-queue-type", "classic").with("x-max-length", 1));
    state.insert_queue(QueueDeclaration::durable("b").with("x-queue-type", "quorum"));
    state.insert_queue(QueueDeclaration::durable("b.retry.5s").with("x-queue-type", "classic"));
    state.insert_queue(QueueDeclaration::durable("stranger").with("x-queue-type", "classic"));
    for key in ["wanted", "stale"] {
        state.bindings.insert(BindingDeclaration::queue("orders", "b", key));
    }
    state.bindings.insert(BindingDeclaration::queue("orders", "stranger", "x"));
    let mut wanted = tables(
        &[ExchangeDeclaration::durable("orders", "topic")],
        &[
            QueueDeclaration::durable("a"),
            QueueDeclaration::durable("b").with("x-queue-type", "quorum"),
            QueueDeclaration::durable("c").with("x-message-ttl", Value::text("60s")),
        ],
        &[BindingDeclaration::queue("orders", "b", "wanted"), BindingDeclaration::queue("orders", "b", "fresh")],
    );
    wanted.external.push(ExternalExchange { name: "elsewhere".to_owned(), kind: None });
    let session = PlanSession::new(wanted, Settings::known(BrokerKind::Definitions, state));
    assert!(session.finished());
    let plan = session.into_plan();
    assert_eq!(
        verdicts(&plan),
        [
            ("orders", "present"),
            ("elsewhere", "invalid"),
            ("a", "drift"),
            ("b", "present"),
            ("c", "invalid"),
            ("b", "present"),
            ("b", "create"),
            ("b.retry.5s", "extra"),
            ("b", "extra"),
        ]
    );
    assert_eq!(plan.foreign, 2);
    let text = &plan.actions[2].refusal.as_ref().unwrap().1;
    assert!(text.ends_with("received none but current is the value '1' of type 'long'"), "{text}");
    insta::assert_snapshot!(plan.render(Style::Plan, None));
    insta::assert_json_snapshot!(plan.to_document());
}

#[test]
fn a_strict_apply_declares_nothing_while_an_answer_is_missing() {
    let queues = [QueueDeclaration::durable("a"), QueueDeclaration::durable("b")];
    let settings = Settings { apply: true, strict: true, ..amqp(NEW) };
    let mut session = PlanSession::new(tables(&[], &queues, &[]), settings);
    session.answer(1, Answer::Failed { why: "no answer within 10 s".to_owned() }).unwrap();
    let mut broker = Played::new(NEW);
    let session = broker.drive(session);
    assert!(!broker.asked.iter().any(Ask::changes));
    assert_eq!(
        session.apply_error().unwrap().to_string(),
        "acemq: nothing was declared: 1 object gave no answer\n  queue a: no answer within 10 s"
    );
}

#[test]
fn a_drift_names_the_policy_that_mends_it_or_says_that_the_queue_must_be_replaced() {
    let stored = QueueDeclaration::durable("orders.new").with("x-message-ttl", 60000).with("x-max-priority", 5);
    let wanted = QueueDeclaration::durable("orders.new").with("x-message-ttl", 30000).with("x-max-priority", 10);
    let mut broker = Played::new(NEW).with(stored);
    let plan = broker.plan(tables(&[], &[wanted], &[]), amqp(NEW));
    let remedies: Vec<_> = plan.actions[0].differences.iter().map(|d| (d.argument.as_str(), d.remedy.name())).collect();
    assert_eq!(remedies, [("x-message-ttl", "policy"), ("x-max-priority", "migrate")]);
    let policy = plan.actions[0].policy.as_ref().unwrap();
    assert_eq!(policy.definition.get("message-ttl"), Some(&Value::I64(30000)));
    assert_eq!(policy.pattern, "^orders\\.new$");
    insta::assert_snapshot!(plan.render(Style::Plan, None));
}

/// One action for every kind of object, verdict and reason.
fn everything_that_a_plan_can_say() -> Plan {
    let policy = PolicyDeclaration {
        name: "limits".to_owned(),
        pattern: "^q".to_owned(),
        apply_to: "queues".to_owned(),
        priority: 1,
        definition: Table::from([("max-length", 5)]),
    };
    let kinds = || {
        [
            Object::Exchange(ExchangeDeclaration { internal: true, ..ExchangeDeclaration::durable("e", "topic") }),
            Object::External(ExternalExchange { name: "elsewhere".to_owned(), kind: None }),
            Object::Policy(policy.clone()),
            Object::Queue(
                QueueDeclaration::durable("q\u{1b}[31m").with("x-queue-type", "quorum").with("x-max-length", 5),
            ),
            Object::Binding(BindingDeclaration::queue("e", "q", "a.*")),
            Object::Binding(BindingDeclaration {
                arguments: Table::from([("x-match", "any")]),
                ..BindingDeclaration::exchange("e", "archive", "#")
            }),
        ]
    };
    let mut actions = Vec::new();
    for verdict in Verdict::ALL {
        let reasons: &[Option<Reason>] = match verdict {
            Verdict::Unknown => &Reason::ALL.map(Some),
            _ => &[None],
        };
        for reason in reasons {
            for object in kinds() {
                let mut action = Action::new(object);
                action.verdict = verdict;
                action.reason = *reason;
                action.why = reason.map(|reason| format!("because it is {}", reason.name()));
                if matches!(verdict, Verdict::Drift | Verdict::Invalid) && !matches!(action.object, Object::Policy(_)) {
                    action.refusal = Some((406, "PRECONDITION_FAILED - the broker's words".to_owned()));
                }
                if verdict == Verdict::Drift {
                    let (wanted, current) = (Some(Value::I64(1)), Some(Value::I64(2)));
                    let argument = "priority".to_owned();
                    let remedy = Remedied::Policy;
                    action.differences.push(PlannedDifference { argument, wanted, current, compared: true, remedy });
                }
                actions.push(action);
            }
        }
    }
    Plan {
        mode: Mode::DryRun,
        kind: BrokerKind::Amqp,
        broker: Broker::rabbitmq(NEW),
        vhost: Some("/".to_owned()),
        actions,
        foreign: 3,
        notes: vec!["about the whole plan".to_owned()],
    }
}

#[test]
fn every_verdict_and_reason_of_every_kind_has_its_words() {
    let plan = everything_that_a_plan_can_say();
    insta::assert_snapshot!(plan.render(Style::Plan, None));
    insta::assert_snapshot!(plan.render(Style::Lines, None));
    insta::assert_snapshot!(plan.render_drift());
    insta::assert_snapshot!(plan.refusal().unwrap().to_string());
    let words: std::collections::BTreeSet<_> = Verdict::ALL.iter().map(|verdict| verdict.name()).collect();
    assert_eq!(words.len(), Verdict::ALL.len());
    // No name moves the cursor of a terminal.
    assert!(!plan.render(Style::Lines, None).contains('\u{1b}'));
}

#[test]
fn every_difference_has_its_words() {
    let difference = |wanted: Option<Value>, current: Option<Value>| PlannedDifference {
        argument: "x-max-length".to_owned(),
        wanted,
        current,
        compared: true,
        remedy: Remedied::Migrate,
    };
    let number = |number: i64| Some(Value::I64(number));
    let words: Vec<_> = [
        difference(number(1), number(2)),
        difference(number(1), None),
        difference(None, number(2)),
        difference(Some(Value::text("2")), number(2)),
        difference(number(2), Some(Value::text("2"))),
        difference(Some(Value::text("2")), Some(Value::text("2"))),
        difference(Some(Value::text("")), number(2)),
    ]
    .iter()
    .map(render::difference_text)
    .collect();
    assert_eq!(
        words,
        [
            "x-max-length is 2 on the broker, 1 here",
            "x-max-length is not set on the broker, 1 here",
            "x-max-length is 2 on the broker, not set here",
            "x-max-length is the number 2 on the broker, the text 2 here",
            "x-max-length is the text 2 on the broker, the number 2 here",
            "x-max-length prints as 2 on both sides, with another type here than on the broker",
            "x-max-length is 2 on the broker, \"\" here",
        ]
    );
}

#[test]
fn a_broker_of_another_product_is_taken_at_its_word() {
    let broker = Broker::from_server_properties("LavinMQ", "2.9.1");
    let settings = Settings { vhost: Some("/".to_owned()), ..Settings::amqp(broker) };
    let wanted = QueueDeclaration::durable("there").with("x-queue-type", "quorum");
    let queues = [wanted.clone(), QueueDeclaration { name: "absent".to_owned(), ..wanted }];
    let mut session = PlanSession::new(tables(&[], &queues, &[]), settings);
    session.answer(1, Answer::OK).unwrap();
    let refused = |text: &str, code| Answer::Refused { code, text: text.to_owned(), scope: Scope::Channel };
    session.answer(2, refused("NOT_FOUND - Queue 'absent' doesn't exists", 404)).unwrap();
    session
        .answer(3, refused("PRECONDITION_FAILED - Existing queue 'there' declared with other arguments", 406))
        .unwrap();
    assert!(session.finished());
    let plan = session.into_plan();
    assert_eq!(verdicts(&plan)[0], ("there", "drift"));
    assert!(plan.actions[0].at_least && plan.actions[0].differences.is_empty());
    let notes = plan.render_notes();
    assert!(notes.contains("queue there differs; the broker does not say in what"), "{notes}");
    assert!(notes.contains("LavinMQ 2.9.1 is no RabbitMQ"), "{notes}");
    // Only RabbitMQ's own sentence proves that a queue is not there.
    assert_eq!(verdicts(&plan)[1], ("absent", "unknown"));
}
