//! Every finding that claims a loss, a loop or a leak is shown on real brokers: by the message that it carries, by a scenario,
//! or by hand, where what happens is no death of a message.

use crate::cases;
use acemq_core::audit::{Code, Options, audit};
use acemq_core::rabbitmq::{BindingDeclaration, Broker, Version};
use acemq_core::state::State;
use acemq_core::value::{Table, Value};
use acemq_tests::amqp::{Channel, Connection, Consume, Publish, QueueRequest};
use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;
use std::path::Path;
use std::time::{Duration, Instant};

/// How a claim is shown.
pub enum Proof {
    /// The example of the finding is published (`real.rs`); there is a case of it from this version on.
    Example(&'static str),
    /// On a vhost of these lines, in which the finding is there, from this version on.
    Hand(&'static str, &'static str, fn(&Bench)),
    /// A scenario of the reports, which is played on real brokers.
    Scenario(&'static str),
    /// No broker that is at hand does it.
    NoBroker(&'static str),
    /// It claims nothing of the kind: what is redundant, undefined, overruled, refused, or only worth knowing.
    NoClaim,
}

pub fn proof(code: Code) -> Proof {
    use Proof::{Example, Hand, NoBroker, NoClaim, Scenario};
    match code {
        Code::DeadLetterExchangeMissing
        | Code::DeadLetterQueueMissing
        | Code::DeadLetterLost
        | Code::DeadLetterLostForSome
        | Code::DeadLetterLostByName
        | Code::DeadLetterBlocked
        | Code::DeadLetterCycleCut
        | Code::DeadLetterCycleOverflow
        | Code::DeadLetterCycleDeliveryLimit
        | Code::RetryNeverEnds
        | Code::LoopWithoutDelay
        | Code::CrossTalk
        | Code::RetryLeaks
        | Code::DeadLetterQueueBounded
        | Code::OverflowOnQuorum
        | Code::DeliveryLimitDrops
        | Code::AlternateExchangeMissing
        | Code::AlternateExchangeDefault
        | Code::AlternateExchangeCannotRoute
        | Code::AlternateExchangeLosesSome
        | Code::AlternateExchangeBypassed
        | Code::ExchangeLeadsNowhere
        | Code::ExchangeUnbound
        | Code::KeysLostBetweenExchanges
        | Code::HeadersMatchAll
        | Code::HeadersMatchNone
        | Code::WildcardOnDirect
        | Code::WildcardInsideWord
        | Code::EmptyKeyOnTopic => Example("3.10.0"),
        Code::QueueExpiresWithMessages => Hand(
            "3.10.0",
            r#"
            queue orders
            queue orders.later {"x-message-ttl": 60000, "x-expires": 300, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders"}
            "#,
            |bench| {
                bench.publish("", "orders.later");
                // Asking for a queue puts its end off, so the questions are further apart than it lives.
                wait_asking_every(Duration::from_millis(700), || bench.count("orders.later").is_none());
                assert_eq!(bench.count("orders"), Some(0), "the message went with its queue");
            },
        ),
        Code::AutoDeleteQueue => Hand("3.10.0", "queue q auto_delete", |bench| {
            bench.publish("", "q");
            let tag = bench.channel.consume(&Consume::from("q")).unwrap();
            bench.channel.cancel(tag).unwrap();
            wait(|| bench.count("q").is_none());
        }),
        Code::HeadOfLine => Hand(
            "3.10.0",
            r#"
            queue work
            queue work.delay {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work"}
            "#,
            |bench| {
                for (body, expiration) in [("long", "2000"), ("short", "50")] {
                    let mut message = Publish::to("", "work.delay").body(body);
                    message.properties.expiration = Some(expiration.into());
                    bench.channel.publish_confirmed(&message).unwrap();
                }
                wait(|| bench.count("work") > Some(0));
                let first = bench.channel.get("work", true).unwrap().unwrap();
                assert_eq!(first.body, b"long", "the one with the short time waited for the one before it");
            },
        ),
        Code::AtLeastOnceInactive => Hand(
            "3.10.0",
            r#"
            exchange x direct
            queue keeper
            bind x -> keeper "other"
            queue q quorum {"x-dead-letter-exchange": "x", "x-dead-letter-strategy": "at-least-once"}
            "#,
            |bench| {
                bench.publish("", "q");
                bench.reject("q");
                // At least once it would be kept, and count among the messages of its queue, until x takes it.
                wait(|| bench.count("q") == Some(0));
                bench.bind("x", "keeper", "q");
                stays(|| bench.count("keeper") == Some(0));
            },
        ),
        Code::DeadLetterKeyAlone => Hand(
            "3.10.0",
            r#"
            queue q
            queue dead
            policy key "^q$" queues 0 {"dead-letter-routing-key": "dead"}
            "#,
            |bench| {
                bench.publish("", "q");
                bench.reject("q");
                wait(|| bench.count("q") == Some(0));
                stays(|| bench.count("dead") == Some(0));
            },
        ),
        Code::PolicySkipped => Hand(
            "3.10.0",
            r#"
            exchange dlx fanout
            queue dead
            bind dlx -> dead ""
            queue q
            policy all ".*" queues 1 {"dead-letter-exchange": "dlx", "delivery-limit": 10}
            "#,
            |bench| {
                bench.publish("", "q");
                bench.reject("q");
                wait(|| bench.count("q") == Some(0));
                stays(|| bench.count("dead") == Some(0));
            },
        ),
        Code::KeysOnFanout => Hand(
            "3.10.0",
            r#"
            exchange events fanout
            queue q1
            queue q2
            bind events -> q1 "a"
            bind events -> q2 "b"
            "#,
            |bench| {
                bench.publish("events", "a");
                wait(|| ["q1", "q2"].iter().all(|queue| bench.count(queue) == Some(1)));
            },
        ),
        Code::BindingTwice => Hand(
            "3.10.0",
            r#"
            exchange x direct
            queue q
            bind x -> q "30"
            bind x -> q "30" {"x-hash-on": "cluster"}
            "#,
            |bench| {
                bench.unbind("x", "q", "30");
                bench.publish("x", "30");
                wait(|| bench.count("q") == Some(1));
            },
        ),
        Code::BindingRedundant => Hand(
            "3.10.0",
            r##"
            exchange events topic
            queue q
            bind events -> q "#"
            bind events -> q "order.new"
            "##,
            |bench| {
                bench.publish("events", "order.new");
                wait(|| bench.count("q") == Some(1));
                bench.unbind("events", "q", "order.new");
                bench.publish("events", "order.new");
                wait(|| bench.count("q") == Some(2));
            },
        ),
        Code::XMatchMisplaced => Hand(
            "3.10.0",
            r#"
            exchange h headers
            queue q {"x-match": "all", "class": "one"}
            bind h -> q "" {"class": "two"}
            "#,
            |bench| {
                let headers = Table::from([("class", Value::text("one"))]);
                bench.channel.publish_confirmed(&Publish::to("h", "").headers(headers).body("one")).unwrap();
                stays(|| bench.count("q") == Some(0));
            },
        ),
        Code::UpgradeRetryCount => Scenario("b-32-a-republished-message-starts-to-count-anew"),
        Code::UpgradeDeliveryLimit => Scenario("b-31-a-quorum-queue-gives-up-after-twenty-returns"),
        // What 4.3 does is asked of each version in `upgrades.rs`.
        Code::UpgradeUncounted => NoClaim,
        Code::RetryCutIn313 => NoBroker("3.13.0 to 3.13.2"),
        Code::EmptyKeyLeaks => NoBroker("4.3.0 alone"),
        Code::AlternateOnDelayed => NoBroker("the plugin for delayed messages"),
        // Of what no client can publish to, nothing can be shown by publishing.
        Code::QueueCutOff | Code::BindingNeverMatches | Code::QueueUnreachable | Code::BindingToMissing => NoClaim,
        // What plugins do needs the plugins.
        Code::ShovelTargetUndeclared | Code::FederationUpstreamMissing => NoBroker("the shovel and federation plugins"),
        Code::DeadLetterNotProven | Code::DeadLetterQueueDeadLetters | Code::FederatedQueue => NoClaim,
        Code::PolicyTie
        | Code::PolicyUnknownKey
        | Code::PolicyMatchesNothing
        | Code::PolicyUnanchored
        | Code::PolicyOverruled
        | Code::DefaultTypeChanges => NoClaim,
        Code::UpgradeRefuses
        | Code::UpgradeMirroring
        | Code::UpgradeTransientQueue
        | Code::UpgradeTooManyHashes
        | Code::UpgradeIgnores
        | Code::UpgradeSettingChanges
        | Code::UpgradeHeaders => NoClaim,
        Code::SuppressionUnknownCode | Code::SuppressionObjectMissing | Code::SuppressionUnused => NoClaim,
    }
}

on_every_broker! {
    fn what_no_death_shows_is_true_as_well(node) {
        // What has no target is tried again after this time, three minutes unless set.
        node.rabbitmqctl(&["eval", "application:set_env(rabbit, dead_letter_worker_publisher_confirm_timeout, 300)."])
            .unwrap();
        for code in Code::ALL {
            let Proof::Hand(since, lines, show) = proof(*code) else { continue };
            if node.version() < since.parse::<Version>().unwrap() {
                continue;
            }
            let state = State { broker: Broker::rabbitmq(node.version()), ..cases::state(lines) };
            let findings = audit(&state, &Options::default()).findings;
            assert!(findings.iter().any(|finding| finding.code == *code), "{code} is not among {findings:#?}");
            let vhost: Vhost<'_> = node.fresh_vhost();
            assert!(crate::real::declare(&vhost, &state), "{code}: {} refuses the vhost", node.version());
            let connection = vhost.connect();
            let channel = connection.channel().unwrap();
            channel.confirm_select().unwrap();
            show(&Bench { connection, channel });
        }
    }
}

#[test]
fn the_scenarios_that_stand_in_are_there() {
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/scenarios/reports");
    for code in Code::ALL {
        match proof(*code) {
            Proof::Scenario(name) => assert!(reports.join(format!("{name}.yaml")).is_file(), "{code}: {name}"),
            Proof::NoBroker(why) => assert!(!why.is_empty()),
            Proof::Example(_) | Proof::Hand(..) | Proof::NoClaim => {}
        }
    }
}

/// A vhost, and a client of it that has its publications confirmed.
pub struct Bench {
    connection: Connection,
    channel: Channel,
}

impl Bench {
    fn publish(&self, exchange: &str, key: &str) {
        self.channel.publish_confirmed(&Publish::to(exchange, key).body("a message")).unwrap();
    }

    /// Messages that are ready; `None` when there is no such queue.
    fn count(&self, queue: &str) -> Option<u32> {
        // The answer that there is none closes the channel.
        let channel = self.connection.channel().unwrap();
        channel.declare_queue(QueueRequest::passive(queue)).ok().map(|ok| ok.messages)
    }

    fn reject(&self, queue: &str) {
        wait(|| match self.channel.get(queue, false).unwrap() {
            Some(delivery) => {
                self.channel.reject(delivery.delivery_tag, false).unwrap();
                true
            }
            None => false,
        });
    }

    fn bind(&self, exchange: &str, queue: &str, key: &str) {
        self.channel.bind(&BindingDeclaration::queue(exchange, queue, key)).unwrap();
    }

    fn unbind(&self, exchange: &str, queue: &str, key: &str) {
        self.channel.unbind(&BindingDeclaration::queue(exchange, queue, key)).unwrap();
    }
}

fn wait(until: impl FnMut() -> bool) {
    wait_asking_every(Duration::from_millis(10), until);
}

fn wait_asking_every(interval: Duration, mut until: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        std::thread::sleep(interval);
        if until() {
            return;
        }
        assert!(Instant::now() < deadline, "it did not come to that in time");
    }
}

/// For longer than anything takes here.
fn stays(mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(1);
    while Instant::now() < deadline {
        assert!(holds());
        std::thread::sleep(Duration::from_millis(50));
    }
}
