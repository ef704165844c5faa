//! The replay tells right predictions from wrong ones, and says what it cannot replay.

use acemq_tests::replay::{Options, Recording, Report, replay};
use std::process::Command;

/// Each answer was given by RabbitMQ 3.10.8 and 4.0.5.
const RECORDING: &str = r#"{
  "what": "keys that nobody asked for are ignored",
  "brokers": {"3.10": "3.10.8", "4.0": "4.0.5"},
  "cases": [
    {"id": "order", "request": {"existing": null, "queue.declare": "q",
        "args": {"x-queue-type": {"S": "quorum"}, "x-queue-mode": {"S": "lazy"}, "x-max-priority": {"I": 5}}},
     "answers": [{"versions": ["3.10", "4.0"], "class_method": [50, 10], "outcome": "channel.close", "code": 406,
        "text": "PRECONDITION_FAILED - invalid arg 'x-queue-mode' for queue 'q' in vhost 'probe' of queue type rabbit_quorum_queue"}]},
    {"id": "type", "request": {"existing": {"args": {"x-queue-type": {"S": "quorum"}}}, "queue.declare": "q"},
     "answers": [
       {"versions": ["3.10"], "outcome": "channel.close", "code": 406,
        "text": "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q' in vhost 'probe': received none but current is the value 'quorum' of type 'longstr'"},
       {"versions": ["4.0"], "outcome": "channel.close", "code": 406,
        "text": "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q' in vhost 'probe': received 'classic' but current is 'quorum'"}]},
    {"id": "server named", "request": {"queue.declare": "", "excl": 1},
     "answers": [{"versions": ["3.10", "4.0"], "outcome": "queue.declare-ok", "name": "amq.gen-...", "messages": 0, "consumers": 0}]},
    {"id": "no utf-8", "request": {"exchange.declare": "bytes:61fffe62", "passive": 1},
     "answers": [{"versions": ["3.10", "4.0"], "outcome": "connection.close", "code": 501,
        "text": "FRAME_ERROR - Malformed UTF-8 in shortstr"}]},
    {"id": "elsewhere", "request": {"existing": "exclusive on another connection", "passive": "q"},
     "answers": [{"versions": ["4.0"], "outcome": "channel.close", "code": 405,
        "text": "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost 'probe'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration."}]},
    {"id": "rights", "request": {"user": "limited, configure/write/read ^mine-", "vhost": "v", "queue.declare": "yours"},
     "answers": [{"versions": ["3.10"], "outcome": "channel.close", "code": 403,
        "text": "ACCESS_REFUSED - access to queue 'yours' in vhost 'v' refused for user 'limited'"}]},
    {"id": "predeclared", "request": {"exchange.declare": "amq.topic"},
     "answers": [{"versions": ["3.10", "4.0"], "outcome": "exchange.declare-ok"}]},
    {"id": "bind", "request": {"queue.bind": ["q", "amq.direct", "k"]},
     "answers": [{"versions": ["4.0"], "outcome": "channel.close", "code": 404, "text": "NOT_FOUND - no queue 'q' in vhost 'probe'"}]},
    {"id": "other method", "request": {"queue.delete": "q"}, "answers": [{"versions": ["4.0"], "outcome": "queue.delete-ok", "messages": 0}]},
    {"id": "steps", "request": {"user": "limited, configure/write/read ^mine-", "steps": [
        {"by": "other", "queue.declare": "theirs"}, {"queue.bind": ["theirs", "amq.direct", "k"]}]},
     "answers": [{"versions": ["3.10"], "outcome": "channel.close", "code": 403,
        "text": "ACCESS_REFUSED - access to queue 'theirs' in vhost 'probe' refused for user 'limited'"}]},
    {"id": "delete.if-empty.nonempty", "request": {"queue.delete": "q-full", "if-empty": 1},
     "answers": [{"versions": ["3.10", "4.0"], "outcome": "channel.close", "code": 406,
        "text": "PRECONDITION_FAILED - queue 'q-full' in vhost 'probe' not empty"}]},
    {"id": "no such method", "request": {"queue.rename": "q"}, "answers": [{"versions": ["4.0"], "outcome": "queue.rename-ok"}]},
    {"id": "unknown key", "request": {"queue.declare": "q", "cluster-limit": "max-queues 1"},
     "answers": [{"versions": ["4.0"], "outcome": "queue.declare-ok", "name": "q"}]},
    {"id": "channel", "request": {"queue.declare": "on a channel never opened"},
     "answers": [{"versions": ["4.0"], "outcome": "connection.close", "code": 504, "text": "CHANNEL_ERROR - expected 'channel.open'"}]}
  ]
}"#;

fn report(recording: &str, options: &Options) -> Report {
    replay(&Recording::read(recording.as_bytes()).unwrap(), options).unwrap()
}

fn tallies(report: &Report) -> Vec<(String, usize, usize)> {
    report.brokers.iter().map(|tally| (tally.version.to_string(), tally.agree, tally.of)).collect()
}

#[test]
fn what_brokers_answered_is_predicted_exactly() {
    let report = report(RECORDING, &Options::default());
    assert_eq!(report.disagreements, []);
    assert_eq!(tallies(&report), [("3.10.8".to_owned(), 8, 8), ("4.0.5".to_owned(), 9, 9)]);
    let skipped: Vec<&str> = report.not_replayable.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(skipped, ["no such method", "unknown key", "channel"]);
}

#[test]
fn any_change_of_an_answer_is_a_disagreement() {
    for (from, to) in [
        ("queue 'q-full' in vhost 'probe' not empty", "queue 'q-full' in vhost 'probe' in use"),
        (r#""outcome": "queue.delete-ok", "messages": 0"#, r#""outcome": "queue.delete-ok", "messages": 1"#),
        ("received 'classic' but current", "received 'quorum' but current"),
        (r#""outcome": "channel.close", "code": 405"#, r#""outcome": "connection.close", "code": 405"#),
        (r#""code": 501"#, r#""code": 502"#),
        (r#""outcome": "exchange.declare-ok""#, r#""outcome": "queue.declare-ok""#),
        (r#""name": "amq.gen-...""#, r#""name": "q""#),
        // The order of the arguments decides which one is named.
        (
            r#""x-queue-mode": {"S": "lazy"}, "x-max-priority": {"I": 5}"#,
            r#""x-max-priority": {"I": 5}, "x-queue-mode": {"S": "lazy"}"#,
        ),
    ] {
        assert!(RECORDING.contains(from), "{from}");
        assert!(!report(&RECORDING.replace(from, to), &Options::default()).is_clean(), "{to}");
    }
}

#[test]
fn one_broker_can_be_picked_by_label_or_version() {
    for only in ["4.0", "4.0.5"] {
        let options = Options { rabbitmq: Some(only.to_owned()), ..Options::default() };
        assert_eq!(tallies(&report(RECORDING, &options)), [("4.0.5".to_owned(), 9, 9)]);
    }
    let options = Options { rabbitmq: Some("4.1".to_owned()), ..Options::default() };
    let error = replay(&Recording::read(RECORDING.as_bytes()).unwrap(), &options).unwrap_err();
    assert_eq!(error, "the recording has no answers of 4.1; it has those of: 3.10, 4.0");
}

/// Upstream's 4.3 denies what the recorded builds permit.
#[test]
fn transient_queues_are_denied_on_demand() {
    let recording = r#"{"brokers": {"4.3": "4.3.6"}, "cases": [{"id": "t", "request": {"queue.declare": "q", "durable": 0},
        "answers": [{"versions": ["4.3"], "outcome": "queue.declare-ok", "name": "q"}]}]}"#;
    assert!(report(recording, &Options::default()).is_clean());
    let denied = report(recording, &Options { deny_transient: true, ..Options::default() });
    assert!(denied.disagreements[0].predicted.contains("541"), "{denied}");
}

#[test]
fn the_command_prints_disagreements_and_exits_1() {
    let file = std::env::temp_dir().join(format!("acemq-replay-{}.json", std::process::id()));
    let run = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_replay")).arg(&file).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, out, _) = run(RECORDING);
    assert_eq!(code, Some(0));
    assert!(out.ends_with("RabbitMQ 3.10.8: 8 of 8 agree\nRabbitMQ 4.0.5: 9 of 9 agree\n"), "{out}");
    assert!(out.contains("not replayable: no such method: no steps for \"queue.rename\"\n"), "{out}");
    let (code, out, _) = run(&RECORDING.replace("access to queue 'yours'", "access to queue 'mine'"));
    assert_eq!(code, Some(1));
    assert!(out.starts_with(
        "rights: RabbitMQ 3.10.8\n  recorded  channel.close 403 \"ACCESS_REFUSED - access to queue 'mine'"
    ));
    assert!(out.contains("RabbitMQ 3.10.8: 7 of 8 agree\n"), "{out}");
    let (code, _, err) = run("{\"cases\": 5}");
    assert_eq!(code, Some(1));
    assert!(err.contains("no recording of broker answers"), "{err}");
    std::fs::remove_file(&file).unwrap();
}
