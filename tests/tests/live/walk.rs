//! The walk along a queue's differences, against the management API: over AMQP alone it finds every argument that the queue
//! has and the topology does not ask for, with its value.

use crate::planning::{settings, tables};
use crate::{client, run};
use acemq_core::plan::{PlanSession, Verdict};
use acemq_core::rabbitmq::{QueueDeclaration, QueueType};
use acemq_core::value::Value;
use acemq_live::{Ending, Management, Operation, Width, drive};
use acemq_tests::on_every_broker;
use std::collections::BTreeMap;
use std::future::pending;

/// Numbers that look random and are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn number(&mut self, from: i64, to: i64) -> Value {
        let span = u64::try_from(to - from).unwrap();
        Value::I64(from + i64::try_from(self.below(span)).unwrap())
    }

    fn one_of(&mut self, texts: &[&str]) -> Value {
        let at = usize::try_from(self.below(texts.len() as u64)).unwrap();
        Value::from(texts[at])
    }
}

/// A queue of that type with any of the arguments that its type compares.
fn random_queue(dice: &mut Dice, kind: QueueType, name: &str) -> QueueDeclaration {
    let mut queue = bare(kind, name);
    let names: &[&str] = match kind {
        QueueType::Classic => &[
            "x-message-ttl",
            "x-expires",
            "x-max-length",
            "x-max-length-bytes",
            "x-overflow",
            "x-dead-letter-exchange",
            "x-max-priority",
            "x-single-active-consumer",
        ],
        QueueType::Quorum => &[
            "x-message-ttl",
            "x-expires",
            "x-max-length",
            "x-max-length-bytes",
            "x-overflow",
            "x-dead-letter-exchange",
            "x-delivery-limit",
            "x-quorum-initial-group-size",
            "x-single-active-consumer",
            "x-dead-letter-strategy",
        ],
        QueueType::Stream => {
            &["x-max-length-bytes", "x-max-age", "x-stream-max-segment-size-bytes", "x-initial-cluster-size"]
        }
    };
    for argument in names {
        if dice.below(3) == 0 {
            continue;
        }
        let value = match *argument {
            "x-overflow" if kind == QueueType::Classic => {
                dice.one_of(&["drop-head", "reject-publish", "reject-publish-dlx"])
            }
            "x-overflow" => dice.one_of(&["drop-head", "reject-publish"]),
            "x-dead-letter-exchange" => dice.one_of(&["dlx", "orders-dead", "d'quoted'", "", "ünï"]),
            "x-dead-letter-strategy" => Value::from("at-most-once"),
            "x-single-active-consumer" => Value::Bool(dice.below(2) == 0),
            "x-max-priority" => dice.number(1, 10),
            "x-quorum-initial-group-size" | "x-initial-cluster-size" => dice.number(1, 4),
            "x-max-age" => dice.one_of(&["1h", "7D", "90s", "2Y"]),
            "x-expires" => dice.number(3_600_000, 1 << 31),
            _ => dice.number(1, 1 << 31),
        };
        queue.arguments.insert(*argument, value);
    }
    if queue.arguments.contains("x-dead-letter-exchange") && dice.below(2) == 0 {
        let key = dice.one_of(&["orders.dead", "a b", ""]);
        queue.arguments.insert("x-dead-letter-routing-key", key);
    }
    queue
}

fn bare(kind: QueueType, name: &str) -> QueueDeclaration {
    let queue = QueueDeclaration::durable(name);
    match kind {
        QueueType::Classic => queue,
        _ => queue.with("x-queue-type", kind.name()),
    }
}

/// RabbitMQ 4.3 compares and prints ages in seconds: `3600s` for `1h`.
fn in_seconds(value: Value) -> Value {
    let Some((number, unit)) =
        value.as_text().and_then(|text| Some((text.get(..text.len().checked_sub(1)?)?, text.chars().last()?)))
    else {
        return value;
    };
    let Ok(number) = number.parse::<u64>() else { return value };
    let unit = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'D' => 86_400,
        'M' => 2_592_000,
        'Y' => 31_536_000,
        _ => return value,
    };
    Value::from(format!("{}s", number * unit))
}

on_every_broker! {
    fn every_argument_of_a_queue_is_read_out_over_amqp(node) {
        let vhost = node.fresh_vhost();
        let per_type = if std::env::var_os("ACEMQ_TEST_THOROUGH").is_some() { 500 } else { 60 };
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let mut dice = Dice(42);
            let mut asked = Vec::new();
            for kind in QueueType::ALL {
                for n in 0..per_type {
                    let name = format!("{kind}-{n}");
                    let queue = random_queue(&mut dice, kind, &name);
                    let answer = client.ask(&Operation::DeclareQueue(queue.clone())).await;
                    assert!(matches!(answer, acemq_live::Answer::Done(_)), "{}: {answer:?}", queue.canonical());
                    asked.push(bare(kind, &name));
                }
            }
            let mut session = PlanSession::new(tables(&[], &asked, &[]), settings(&client, &vhost, false));
            assert_eq!(drive(&mut session, &client, Width::default(), pending(), |_| {}).await, Ending::Finished);
            let plan = session.into_plan();
            let management = Management::new(node.management_url().parse().unwrap(), *client.limits()).unwrap();
            let state = management.state(vhost.name()).await.unwrap();
            assert_eq!(plan.actions.len(), 3 * per_type);
            for action in &plan.actions {
                let name = action.object.name();
                let walked: BTreeMap<_, _> = (action.differences.iter())
                    .map(|difference| (difference.argument.as_str(), in_seconds(difference.current.clone().unwrap())))
                    .collect();
                let stored: BTreeMap<_, _> = (state.queues[name].arguments.iter())
                    .filter(|(argument, _)| *argument != "x-queue-type")
                    .map(|(argument, value)| (argument, in_seconds(value.clone())))
                    .collect();
                assert_eq!(walked, stored, "{name}");
                assert!(!action.at_least, "{name}");
                let expected = if stored.is_empty() { Verdict::Present } else { Verdict::Drift };
                assert_eq!(action.verdict, expected, "{name}");
            }
        });
    }

    fn a_text_that_looks_like_the_number_that_is_wanted_ends_no_walk(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            // No version checks the type of a delivery limit.
            let quorum = |name: &str, limit: Value| bare(QueueType::Quorum, name).with("x-delivery-limit", limit);
            let there = [quorum("text", Value::from("5")), quorum("number", Value::from(5))];
            for queue in there {
                client.declare_queue(&queue.with("x-message-ttl", 60000)).await.unwrap();
            }
            let asked = [quorum("text", Value::from(5)), quorum("number", Value::from("5")), quorum("number", Value::I16(5))];
            for (asked, limit) in asked.into_iter().zip([Some(Value::from("5")), Some(Value::from(5)), None]) {
                let mut session = PlanSession::new(tables(&[], &[asked], &[]), settings(&client, &vhost, false));
                assert_eq!(drive(&mut session, &client, Width::default(), pending(), |_| {}).await, Ending::Finished);
                let plan = session.into_plan();
                let found: BTreeMap<_, _> = (plan.actions[0].differences.iter())
                    .map(|difference| (difference.argument.as_str(), difference.current.clone().unwrap()))
                    .collect();
                let mut expected = BTreeMap::from([("x-message-ttl", Value::from(60000))]);
                expected.extend(limit.map(|limit| ("x-delivery-limit", limit)));
                assert_eq!(found, expected);
                assert!(!plan.actions[0].at_least);
            }
        });
    }
}
