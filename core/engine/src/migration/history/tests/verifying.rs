//! Whether what a history says is still true of a vhost.

use super::*;
use crate::migration::Action;
use crate::rabbitmq::{BindingDeclaration, Broker, ExchangeDeclaration, QueueDeclaration, Version};
use crate::state::State;

#[test]
fn what_the_steps_left_behind_is_compared_with_the_vhost() {
    let bound = |queue: &str| BindingDeclaration::queue("x", queue, "k.*");
    let between = ExchangeDeclaration::durable("between", "fanout");
    let did = [
        Action::DeclareQueue(QueueDeclaration::durable("new")),
        Action::DeclareExchange(between.clone()),
        Action::Bind(BindingDeclaration::queue("between", "new", "")),
        Action::Bind(bound("new")),
        Action::Unbind(bound("old")),
        Action::DeleteExchange(between),
        Action::DeleteQueue("old".to_owned()),
    ];
    let (a, mut book) = (script("V1__a.yaml", "a"), Book::default());
    book.note(&a, RAN);
    for (action, step) in did.iter().zip(1..) {
        book.note(&a, Happened::StepDone { step, of: did.len(), action: action.to_string() });
    }
    let mut live = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    live.insert_exchange(ExchangeDeclaration::durable("x", "topic"));
    live.insert_queue(QueueDeclaration::durable("new"));
    live.bindings.insert(bound("new"));
    assert_eq!(verify(&book.read(), &live), []);

    let mut back = live.clone();
    back.insert_queue(QueueDeclaration::durable("old"));
    back.bindings.insert(bound("old"));
    let says = |live: &State| verify(&book.read(), live).into_iter().map(|untrue| untrue.message).collect::<Vec<_>>();
    let client = "a client declares it when it starts: take that out of the client, and then take it away";
    assert_eq!(
        says(&back),
        [format!("binding x -> old [k.*] is back; {client}"), format!("queue old is back; {client}")]
    );
    live.bindings.remove(&bound("new"));
    assert_eq!(
        says(&live),
        ["binding x -> new [k.*] is not there any more; declare it again, or write a new version that says so"]
    );
    // What is taken back is not expected any more.
    book.note(&a, Happened::UndoBegan);
    for action in [
        Action::Bind(bound("old")),
        Action::DeleteQueue("new".to_owned()),
        Action::DeclareQueue(QueueDeclaration::durable("old")),
    ] {
        book.note(&a, Happened::StepDone { step: 1, of: 1, action: action.to_string() });
    }
    back.queues.remove("new");
    back.bindings.remove(&bound("new"));
    assert_eq!(verify(&book.read(), &back), []);
}

#[test]
fn what_is_declared_anew_with_other_arguments_is_told_argument_by_argument() {
    let quorum = |name: &str| QueueDeclaration::durable(name).with("x-queue-type", "quorum");
    let declared = quorum("new").with("x-delivery-limit", 5).with("x-message-ttl", 1000);
    let (a, mut book) = (script("V1__a.yaml", "a"), Book::default());
    book.note(&a, RAN);
    for action in [
        Action::DeclareQueue(declared.clone()),
        Action::DeclareQueue(QueueDeclaration::durable("plain")),
        Action::DeclareExchange(ExchangeDeclaration::durable("x", "topic").with("alternate-exchange", "y")),
    ] {
        book.note(&a, Happened::StepDone { step: 1, of: 3, action: action.to_string() });
    }
    let mut live = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    live.insert_queue(declared);
    live.insert_queue(QueueDeclaration::durable("plain"));
    live.insert_exchange(ExchangeDeclaration::durable("x", "topic").with("alternate-exchange", "y"));
    let says = |live: &State| verify(&book.read(), live).into_iter().map(|untrue| untrue.message).collect::<Vec<_>>();
    assert_eq!(says(&live), Vec::<String>::new());

    let tail = "; somebody deleted it and declared it anew: find out which client declares it so, and write a new version that replaces it or says so";
    live.insert_queue(quorum("new").with("x-delivery-limit", 6).with("x-expires", 7));
    let differs =
        "x-delivery-limit is 6 and was 5, x-expires is 7 and was not set, x-message-ttl is not set and was 1000";
    assert_eq!(says(&live), [format!("queue new is not what this version declared: {differs}{tail}")]);
    live.insert_queue(
        QueueDeclaration { durable: false, ..QueueDeclaration::durable("new") }
            .with("x-delivery-limit", 5)
            .with("x-message-ttl", 1000),
    );
    live.insert_exchange(ExchangeDeclaration { internal: true, ..ExchangeDeclaration::durable("x", "topic") });
    assert_eq!(
        says(&live),
        [
            format!(
                "exchange x is not what this version declared: it is internal, which it was not, alternate-exchange is not set and was y{tail}"
            ),
            format!(
                "queue new is not what this version declared: it is classic, transient and was durable, quorum{tail}"
            ),
        ]
    );
    // A queue of no type has the default type of its vhost.
    live.queues.remove("new");
    live.exchanges.remove("x");
    live.insert_queue(quorum("plain"));
    assert!(says(&live).iter().any(|message| {
        message.starts_with("queue plain is not what this version declared: it is quorum and was classic")
    }));
    live.default_queue_type = Some("quorum".to_owned());
    assert!(!says(&live).iter().any(|message| message.contains("plain")));
}
