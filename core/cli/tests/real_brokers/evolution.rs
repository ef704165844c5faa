//! A topology that grows release by release, each release planned against a broker that holds the one before.

use crate::acemq;
use acemq_tests::on_every_broker;
use serde_json::Value as Json;

/// Two queues on one exchange.
const FIRST: &str = "acemq: 1
exchanges: { events: { type: topic } }
queues: { cases: { type: classic }, retired: { type: classic } }
bindings:
  - { queue: cases, exchange: events, routing_key: respondent.linked }
  - { queue: cases, exchange: events, routing_key: refusal }
  - { queue: retired, exchange: events, routing_key: receipt }
";

/// A routing key gets another name, a queue goes, and a queue with a delay comes with its exchange.
const SECOND: &str = "acemq: 1
exchanges: { events: { type: topic }, redelivery: { type: headers } }
queues:
  cases: { type: classic }
  redelivery: { type: classic, arguments: { x-message-ttl: 15000, x-dead-letter-exchange: \"\" } }
bindings:
  - { queue: cases, exchange: events, routing_key: linked }
  - { queue: cases, exchange: events, routing_key: refusal }
  - { queue: redelivery, exchange: redelivery }
";

/// The day on which a queue that is there is to have a dead-letter exchange.
const THIRD: &str = "acemq: 1
exchanges: { events: { type: topic }, redelivery: { type: headers } }
queues:
  cases: { type: classic, arguments: { x-dead-letter-exchange: redelivery, x-dead-letter-routing-key: cases } }
  redelivery: { type: classic, arguments: { x-message-ttl: 15000, x-dead-letter-exchange: \"\" } }
bindings:
  - { queue: cases, exchange: events, routing_key: linked }
  - { queue: cases, exchange: events, routing_key: refusal }
  - { queue: redelivery, exchange: redelivery }
";

/// Verdict, kind and name of everything that is not as planned, and the number of foreign objects.
fn changes(plan: &str) -> (Vec<String>, u64) {
    let plan: Json = serde_json::from_str(plan).unwrap();
    let word = |action: &Json, key: &str| action[key].as_str().unwrap().to_owned();
    let changes = (plan["actions"].as_array().unwrap().iter())
        .filter(|action| action["verdict"] != "present")
        .map(|action| format!("{} {} {}", word(action, "verdict"), word(action, "kind"), word(action, "name")))
        .collect();
    (changes, plan["summary"]["foreign"].as_u64().unwrap())
}

on_every_broker! {
    fn each_release_is_planned_against_the_one_before(node) {
        let management = node.management_url();
        let vhost = node.fresh_vhost();
        let plan = |document: &str, more: &[&str]| {
            let options = ["plan", "-", "--format", "json", "--management", &management, "--vhost", vhost.name()];
            acemq(&[&options[..], more].concat(), "", document)
        };
        assert_eq!(acemq(&["apply", "-"], &vhost.amqp_url(), FIRST).code, 0);

        let second = plan(SECOND, &[]);
        assert_eq!(second.code, 2);
        let grown = [
            "create exchange redelivery", "create queue redelivery", "create binding cases", "create binding redelivery",
            "extra binding cases",
        ];
        assert_eq!(changes(&second.out), (grown.map(str::to_owned).to_vec(), 2));
        let all = changes(&plan(SECOND, &["--extra", "all"]).out).0;
        let extras = ["extra queue retired", "extra binding cases", "extra binding retired"];
        assert!(extras.iter().all(|extra| all.iter().any(|change| change == extra)), "{all:?}");
        assert_eq!(all.iter().filter(|change| change.starts_with("extra")).count(), 3);
        // What is there and not asked for stays when the release is applied.
        assert_eq!(acemq(&["apply", "-"], &vhost.amqp_url(), SECOND).code, 0);
        assert_eq!(changes(&plan(SECOND, &[]).out), (vec!["extra binding cases".to_owned()], 2));

        let third = plan(THIRD, &[]);
        assert_eq!(third.code, 3);
        assert_eq!(changes(&third.out).0, ["drift queue cases", "extra binding cases"]);
        let document: Json = serde_json::from_str(&third.out).unwrap();
        let drift = document["actions"].as_array().unwrap().iter().find(|action| action["verdict"] == "drift").unwrap();
        let differences: Vec<_> = (drift["differences"].as_array().unwrap().iter())
            .map(|difference| (difference["argument"].as_str().unwrap(), &difference["current"], difference["remedy"].as_str().unwrap()))
            .collect();
        let none = &Json::Null;
        assert_eq!(differences, [("x-dead-letter-exchange", none, "policy"), ("x-dead-letter-routing-key", none, "policy")]);
        assert_eq!(drift["policy"]["definition"], serde_json::json!({
            "dead-letter-exchange": "redelivery", "dead-letter-routing-key": "cases"
        }));
        // AMQP alone finds the same two differences; the bindings it cannot tell.
        let amqp = acemq(&["plan", "-", "--exchanges", "--format", "json"], &vhost.amqp_url(), THIRD);
        let amqp: Json = serde_json::from_str(&amqp.out).unwrap();
        let seen = amqp["actions"].as_array().unwrap().iter().find(|action| action["verdict"] == "drift").unwrap();
        assert_eq!((seen["name"].as_str(), &seen["differences"]), (Some("cases"), &drift["differences"]));
        assert_eq!((&amqp["summary"]["drift"], &amqp["summary"]["create"]), (&Json::from(1), &Json::from(0)));
    }
}
