//! Brokers that cannot be asked with a guard: RabbitMQ before 3.10, and other products.
//!
//! Most of it runs against a real broker that says it is something else; RabbitMQ 3.8 itself where it can be had.

use crate::planning::{classic, settings_for, tables};
use crate::{client, run};
use acemq_core::plan::{Plan, PlanSession, Verdict};
use acemq_core::rabbitmq::{ExchangeDeclaration, Product, QueueDeclaration};
use acemq_live::{Client, Ending, Width, drive};
use acemq_tests::broker::{Generation, Node, Vhost};
use acemq_tests::impostor::Impostor;
use acemq_tests::management::path_segment;
use acemq_tests::on_every_broker;
use std::future::pending;
use std::sync::Arc;

/// What is asked for: one queue and one exchange of each kind of answer.
fn asked() -> ([ExchangeDeclaration; 3], [QueueDeclaration; 5]) {
    (
        ["same", "other", "absent"].map(|name| ExchangeDeclaration::durable(name, "topic")),
        [
            classic("same").with("x-max-length", 5),
            classic("other").with("x-max-length", 5).with("x-message-ttl", 30000),
            classic("absent"),
            // Wrong, and nobody is asked about it: only existing queues are offered.
            classic("wrong").with("x-message-ttl", -1),
            classic("locked"),
        ],
    )
}

/// Puts there what the plan is to find. The exclusive queue lives as long as the client.
async fn prepare(owner: &Client) {
    owner.declare_exchange(&ExchangeDeclaration::durable("same", "topic")).await.unwrap();
    owner.declare_exchange(&ExchangeDeclaration::durable("other", "fanout")).await.unwrap();
    owner.declare_queue(&classic("same").with("x-max-length", 5)).await.unwrap();
    owner.declare_queue(&classic("other").with("x-max-length", 6).with("x-message-ttl", 60000)).await.unwrap();
    owner.declare_queue(&QueueDeclaration { exclusive: true, ..classic("locked") }).await.unwrap();
}

async fn plan(client: &Arc<Client>, vhost: &str) -> Plan {
    let (exchanges, queues) = asked();
    let mut session = PlanSession::new(tables(&exchanges, &queues, &[]), settings_for(client, vhost, false));
    assert_eq!(drive(&mut session, client, Width::default(), pending(), |_| {}).await, Ending::Finished);
    session.into_plan()
}

/// What holds for every broker that is asked without a guard.
async fn judge(address: &str, vhost: &Vhost<'_>, called: &str) -> Plan {
    let owner = client(&vhost.amqp_url()).await;
    prepare(&owner).await;
    let before = vhost.definitions();
    let asking = client(address).await;
    assert_eq!(asking.broker().to_string(), called);
    assert!(!asking.broker().guards_offers());
    let plan = plan(&asking, vhost.name()).await;
    assert_eq!(vhost.definitions(), before, "a plan changes nothing");
    let verdicts: Vec<_> =
        plan.actions.iter().map(|action| (action.object.kind(), action.object.name(), action.verdict)).collect();
    assert_eq!(
        verdicts,
        [
            ("exchange", "same", Verdict::Present),
            ("exchange", "other", Verdict::Drift),
            ("exchange", "absent", Verdict::Create),
            ("queue", "same", Verdict::Present),
            ("queue", "other", Verdict::Drift),
            ("queue", "absent", Verdict::Create),
            ("queue", "wrong", verdicts[6].2),
            ("queue", "locked", Verdict::Unknown),
        ]
    );
    // Without a guard nothing is sent back, so only the first difference is known.
    let other = &plan.actions[4];
    assert_eq!((other.differences.len(), other.at_least), (1, true));
    let notes = plan.render_notes();
    assert!(notes.contains(&format!("{called} is asked without a guard")), "{notes}");
    assert!(notes.contains("queue other differs at least in 1 point"), "{notes}");
    plan
}

/// An apply through the same connection, after what stands against it is gone.
async fn check_apply(address: &str, vhost: &Vhost<'_>) {
    let asking = client(address).await;
    let queues = ["absent", "same"]
        .map(|name| if name == "same" { classic(name).with("x-max-length", 5) } else { classic(name) });
    for made in [2, 0] {
        let exchanges = [ExchangeDeclaration::durable("absent", "topic")];
        let mut session = PlanSession::new(tables(&exchanges, &queues, &[]), settings_for(&asking, vhost.name(), true));
        assert_eq!(drive(&mut session, &asking, Width::default(), pending(), |_| {}).await, Ending::Finished);
        assert_eq!(session.apply_error(), None);
        let created = session.plan().actions.iter().filter(|action| action.verdict == Verdict::Create).count();
        assert_eq!(created, made);
    }
    assert_eq!(
        vhost.node().management().get(&format!("/api/exchanges/{}/absent", path_segment(vhost.name()))).unwrap()["type"],
        "topic"
    );
}

on_every_broker! {
    fn another_product_is_asked_without_a_guard_and_nothing_is_predicted(node) {
        for (product, version, called) in [
            ("LavinMQ", "2.9.1", "LavinMQ 2.9.1"), ("Some Broker", "not a version", "Some Broker"),
        ] {
            let vhost = node.fresh_vhost();
            let impostor = Impostor::start(node.amqp_port(), product, version).unwrap();
            let address = format!("{}/{}", impostor.amqp_url(), path_segment(vhost.name()));
            run(async {
                let plan = judge(&address, &vhost, called).await;
                assert_ne!(plan.broker.product, Product::RabbitMq);
                // Its rules are not known, so what it would refuse is not either.
                assert_eq!(plan.actions[6].verdict, Verdict::Create);
                assert!(plan.render_notes().contains(&format!("{called} is no RabbitMQ")), "{}", plan.render_notes());
                assert!(plan.actions.iter().all(|action| action.policy.is_none()));
                check_apply(&address, &vhost).await;
            });
        }
    }

    fn a_rabbitmq_before_3_10_is_asked_without_a_guard_and_judged_by_its_rules(node) {
        let vhost = node.fresh_vhost();
        let impostor = Impostor::start(node.amqp_port(), "RabbitMQ", "3.8.9").unwrap();
        let address = format!("{}/{}", impostor.amqp_url(), path_segment(vhost.name()));
        run(async {
            let plan = judge(&address, &vhost, "RabbitMQ 3.8.9").await;
            assert_eq!(plan.actions[6].verdict, Verdict::Invalid);
            assert!(plan.actions[4].policy.is_some());
            check_apply(&address, &vhost).await;
        });
    }
}

/// The real one, from Debian 11: only in thorough runs, and only where it was unpacked.
#[test]
fn rabbitmq_3_8_itself() {
    if std::env::var_os("ACEMQ_TEST_THOROUGH").is_none() {
        return;
    }
    let node = match Node::start(Generation::V3_8) {
        Ok(node) => node,
        Err(why) => {
            println!("SKIPPED on RabbitMQ 3.8: {why}");
            return;
        }
    };
    let vhost = node.fresh_vhost();
    run(async {
        let plan = judge(&vhost.amqp_url(), &vhost, &format!("RabbitMQ {}", node.version())).await;
        assert_eq!(plan.actions[6].verdict, Verdict::Invalid);
        check_apply(&vhost.amqp_url(), &vhost).await;
    });
}
