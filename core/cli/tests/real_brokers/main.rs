//! The command against real brokers: what it prints, what it leaves, and with which exit code it ends.

mod bad_input;
mod evolution;
mod interrupt;
mod migrations;
mod verdicts;
mod vhosts;

use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;
use serde_json::json;
use std::io::Write as _;
use std::process::{Command, Stdio};

const DOCUMENT: &str = r#"
acemq: 1
exchanges: { orders: { type: topic } }
queues:
  orders.new: { dead_letter: true, retry: "exponential(6, 10s)" }
  orders.recent: { type: classic, arguments: { x-message-ttl: 30000, x-max-length: 10 } }
bindings:
  - { queue: orders.new, exchange: orders, routing_key: "order.*" }
"#;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs the command with a document on standard input.
fn acemq(arguments: &[&str], broker: &str, document: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_acemq"))
        .args(arguments)
        .env_clear()
        .env("ACEMQ_BROKER", broker)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(document.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The version of the broker as the command's own JSON tells it.
fn version(vhost: &Vhost<'_>) -> String {
    let ran = acemq(
        &["plan", "-", "--format", "json"],
        &vhost.amqp_url(),
        "acemq: 1\nqueues: {}\nexchanges: { a: { type: topic } }\n",
    );
    let plan: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    plan["broker"]["version"].as_str().unwrap().to_owned()
}

on_every_broker! {
    fn a_plan_an_apply_and_a_drift_end_with_their_codes(node) {
        let vhost = node.fresh_vhost();
        let url = vhost.amqp_url();
        let before = vhost.definitions();
        let planned = acemq(&["plan", "-", "--exchanges"], &url, DOCUMENT);
        assert_eq!((planned.code, planned.err.as_str()), (2, ""), "{}", planned.out);
        assert_eq!(vhost.definitions(), before);
        let validated = acemq(&["plan", "-", "--mode", "validate"], &url, DOCUMENT);
        assert_eq!(validated.code, 3);

        let applied = acemq(&["apply", "-"], &url, DOCUMENT);
        assert_eq!((applied.code, applied.err.as_str()), (0, ""));
        assert!(applied.out.ends_with("\n14 objects declared\n"), "{}", applied.out);
        let after = vhost.definitions();
        let again = acemq(&["apply", "-"], &url, DOCUMENT);
        assert_eq!(again.code, 0);
        assert_eq!(vhost.definitions(), after);
        assert_eq!(acemq(&["plan", "-", "--exchanges"], &url, DOCUMENT).code, 0);
        assert_eq!(acemq(&["drift", "-"], &url, DOCUMENT).code, 0);

        let drifted = DOCUMENT.replace("30000", "31000");
        let refused = acemq(&["apply", "-"], &url, &drifted);
        assert_eq!(refused.code, 3);
        assert_eq!(
            refused.err,
            "acemq: nothing was declared: 1 queue differs from the broker\n  queue orders.recent: x-message-ttl is 30000 on the broker, 31000 here\n"
        );
        assert_eq!(vhost.definitions(), after);
        let drift = acemq(&["drift", "-"], &url, &drifted);
        let line = format!(
            "drift: queue orders.recent: the broker refused the declaration: Exception (406) PRECONDITION_FAILED - inequivalent \
             arg 'x-message-ttl' for queue 'orders.recent' in vhost '{}': received '31000' but current is '30000'\n",
            vhost.name()
        );
        assert_eq!((drift.code, drift.out), (3, line));
    }

    fn the_embedded_broker_and_a_real_one_plan_alike(node) {
        let vhost = node.fresh_vhost();
        let version = version(&vhost);
        let old = "acemq: 1\nexchanges: { orders: { type: fanout } }\nqueues:\n  orders.recent: { type: classic, arguments: { \
                   x-message-ttl: 60000, x-max-priority: 5 } }\n  orders.new: {}\n";
        assert_eq!(acemq(&["apply", "-"], &vhost.amqp_url(), old).code, 0);
        let file = std::env::temp_dir().join(format!("acemq-{}-{}.yaml", std::process::id(), vhost.name().replace('/', "_")));
        std::fs::write(&file, old).unwrap();
        let memory = format!("memory:{}", file.display());
        for style in ["plan", "lines"] {
            let arguments = ["plan", "-", "--exchanges", "--style", style];
            let real = acemq(&arguments, &vhost.amqp_url(), DOCUMENT);
            let embedded = acemq(&[&arguments[..], &["--rabbitmq", &version]].concat(), &memory, DOCUMENT);
            assert_eq!(real.code, 3);
            assert_eq!(real.code, embedded.code);
            // The vhost is the only thing that differs.
            let (real, embedded) = (real.out.replace(vhost.name(), "V"), embedded.out.replace("'/'", "'V'").replace("-p / ", "-p V "));
            // The order of the arguments that a client sends is not told, so neither is which of several foreign ones is named.
            assert_eq!(real, embedded);
        }
        std::fs::remove_file(file).unwrap();
    }

    fn what_a_topology_and_its_consumer_declare_agrees_in_either_order(node) {
        use acemq_core::retry::RetryPolicy;
        use acemq_core::topology::{Tables, Topology};
        use acemq_live::{Client, Limits};
        let policy: RetryPolicy = "exponential(6, 10s)".parse().unwrap();
        let consumer = Topology::consumer_declarations("orders.new", Some(&policy)).unwrap();
        let whole = Topology::from_yaml(DOCUMENT).unwrap().into_tables().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for order in [[&whole, &consumer], [&consumer, &whole]] {
            let vhost = node.fresh_vhost();
            runtime.block_on(async {
                let client = Client::connect(vhost.amqp_url().parse().unwrap(), "acemq tests", Limits::default()).await.unwrap();
                for tables in order {
                    declare(&client, tables).await;
                }
                client.close().await;
            });
        }
        async fn declare(client: &Client, tables: &Tables) {
            for exchange in &tables.exchanges {
                client.declare_exchange(&exchange.declaration).await.unwrap();
            }
            for queue in &tables.queues {
                client.declare_queue(&queue.declaration).await.unwrap();
            }
            for binding in &tables.bindings {
                // The consumer never declares the queue that it consumes, so on a fresh vhost its way home is not there yet.
                let bound = client.bind(&binding.declaration).await;
                let home = binding.declaration.destination == "orders.new";
                assert!(bound.is_ok() || home, "{bound:?}");
            }
        }
    }

    fn an_offer_creates_nothing_whatever_the_default_type_of_the_vhost(node) {
        use acemq_core::plan::{PlanSession, Settings};
        use acemq_core::topology::Topology;
        use acemq_live::{Client, Limits, Width, drive};
        use std::sync::Arc;
        let document = "acemq: 1\nqueues:\n  plain: { type: classic }\n  quorum: {}\n  stream: { type: stream }\n  passing: { auto_delete: true }\n";
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        for default in ["classic", "quorum", "stream"] {
            let vhost = node.fresh_vhost_with_default_queue_type(default);
            runtime.block_on(async {
                let client = Client::connect(vhost.amqp_url().parse().unwrap(), "acemq tests", Limits::default()).await.unwrap();
                let client = Arc::new(client);
                let tables = Topology::from_yaml(document).unwrap().into_tables().unwrap();
                let mut session = PlanSession::new(tables, Settings::amqp(client.broker().clone()));
                // As if every queue had been there when it was asked for, and was deleted before it is offered.
                for question in session.next_questions(usize::MAX) {
                    session.answer(question.id, acemq_core::plan::Answer::OK).unwrap();
                }
                drive(&mut session, &client, Width::default(), std::future::pending(), |_| {}).await;
                let plan = session.into_plan();
                assert_eq!(plan.summary().create, 4, "{default}: {plan:?}");
                let given = plan.actions[0].given_type.map(|given| given.name());
                assert_eq!(given, Some(default).filter(|default| *default != "classic"), "{default}");
                client.close().await;
            });
            assert_eq!(vhost.definitions()["queues"], json!([]), "{default}");
        }
    }

    fn the_management_api_and_an_export_tell_the_same_plan(node) {
        let vhost = node.fresh_vhost();
        let management = node.management_url();
        let document = format!(
            "{DOCUMENT}policies:\n  - {{ name: limits, pattern: \"^orders\\\\.\", apply_to: queues, definition: {{ max-length: 1000 }} }}\n"
        );
        let refused = acemq(&["apply", "-"], &vhost.amqp_url(), &document);
        assert_eq!(refused.code, 1);
        assert!(refused.err.contains("AMQP cannot set policies"), "{}", refused.err);
        let applied = acemq(&["apply", "-", "--management", &management], &vhost.amqp_url(), &document);
        assert_eq!((applied.code, applied.err.as_str()), (0, ""), "{}", applied.out);
        assert_eq!(vhost.definitions()["policies"][0]["definition"], json!({"max-length": 1000}));
        let beside = acemq(&["plan", "-", "--management", &management, "--strict"], &vhost.amqp_url(), &document);
        assert_eq!(beside.code, 0, "{}", beside.out);
        assert!(beside.out.lines().skip(1).all(|line| line.starts_with("  present")), "{}", beside.out);

        let changed = document.replace("30000", "20000").replace("1000", "2000").replace("order.*", "order.#");
        let export = std::env::temp_dir().join(format!("acemq-{}-{}.json", std::process::id(), vhost.name().replace('/', "_")));
        std::fs::write(&export, vhost.definitions().to_string()).unwrap();
        let alone = acemq(&["plan", "-", "--management", &management, "--vhost", vhost.name()], "", &changed);
        let file = acemq(&["plan", "-"], &format!("definitions:{}", export.display()), &changed);
        std::fs::remove_file(export).unwrap();
        assert_eq!((alone.code, file.code), (3, 3), "{}{}", alone.err, file.err);
        // An export of one vhost does not say which, and the notes quote its name for two shells.
        let block = |text: &str| text.split("\n\n").next().unwrap().replace(vhost.name(), "/");
        let alone = block(&alone.out);
        assert_eq!(alone, block(&file.out));
        for line in ["  DRIFT    policy limits", "  DRIFT    queue orders.recent", "  create   binding orders.new", "  extra    binding orders.new"] {
            assert!(alone.contains(line), "{line}\n{alone}");
        }
        let updated = acemq(&["apply", "-", "--management", &management, "--update-policies"], &vhost.amqp_url(), &document.replace("1000", "2000"));
        assert_eq!(updated.code, 0, "{}", updated.err);
        assert_eq!(vhost.definitions()["policies"][0]["definition"], json!({"max-length": 2000}));
    }

    fn a_plan_says_that_the_broker_cannot_be_had(node) {
        let vhost = node.fresh_vhost();
        let url = vhost.amqp_url();
        let wrong = url.replace("guest:guest", "guest:t0psecret");
        for (url, says) in [(wrong.clone(), "refused the login"), (format!("{url}-nowhere"), "has no vhost")] {
            let ran = acemq(&["apply", "-"], &url, DOCUMENT);
            assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{}", ran.err);
            assert!(ran.err.contains(says), "{}", ran.err);
            assert!(!ran.err.contains("t0psecret"));
        }
    }
}
