//! What brokers do to connections, and what amqprs makes of it.

use crate::{LIMITS, client, run, url};
use acemq_core::rabbitmq::{QueueDeclaration, Scope};
use acemq_core::value::Value;
use acemq_live::{Answer, Client, Done, Failure, Limits, Operation};
use acemq_tests::broker::{Generation, Node, shared};
use acemq_tests::on_every_broker;
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// For what takes as long as a busy machine lets it; only a hang is longer.
const PATIENCE: Duration = Duration::from_secs(180);

/// How many threads of a runtime have panicked since this was first called: amqprs panics in tasks of its own, where no
/// caller sees it.
fn panics_in_tasks() -> usize {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if std::thread::current().name().is_some_and(|name| name.starts_with("tokio")) {
                PANICS.fetch_add(1, Ordering::SeqCst);
            }
            before(info);
        }));
    });
    PANICS.load(Ordering::SeqCst)
}

fn look_up(name: impl Into<String>) -> Operation {
    Operation::LookUpQueue(name.into())
}

fn is_there(answer: &Answer) -> bool {
    matches!(answer, Answer::Done(Done::Queue(_)))
}

/// Asks all of them, `width` at a time; the answers come in the order of the operations.
async fn ask_all(client: &Arc<Client>, operations: Vec<Operation>, width: usize) -> Vec<Answer> {
    let turns = Arc::new(tokio::sync::Semaphore::new(width));
    let mut tasks = JoinSet::new();
    for (at, operation) in operations.into_iter().enumerate() {
        let (client, turns) = (Arc::clone(client), Arc::clone(&turns));
        tasks.spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            (at, client.ask(&operation).await)
        });
    }
    let mut answers = tasks.join_all().await;
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

on_every_broker! {
    fn more_refusals_than_a_connection_has_channels(node) {
        let before = panics_in_tasks();
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let absent = (0..2500).map(|n| look_up(format!("absent-{n}"))).collect();
            for (n, answer) in ask_all(&client, absent, 8).await.into_iter().enumerate() {
                let Answer::Refused(refused) = answer else { panic!("{n}: {answer:?}") };
                assert_eq!(refused.code, 404);
                assert!(refused.text.contains(&format!("'absent-{n}'")), "{n} got the answer {}", refused.text);
            }
            client.declare_queue(&QueueDeclaration::durable("q")).await.unwrap();
        });
        assert_eq!(panics_in_tasks(), before);
    }

    fn answers_are_never_swapped_between_channels(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let declare = (0..200).map(|n| Operation::DeclareQueue(QueueDeclaration::durable(format!("q{n}")))).collect();
            for (n, answer) in ask_all(&client, declare, 16).await.into_iter().enumerate() {
                let Answer::Done(Done::Queue(status)) = answer else { panic!("{n}: {answer:?}") };
                assert_eq!(status.name, format!("q{n}"));
            }
        });
    }

    fn only_the_question_that_closes_the_connection_is_refused(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let with_ttl = |ttl: Value| QueueDeclaration::durable("there").with("x-message-ttl", ttl);
            let there = || Operation::DeclareQueue(with_ttl(Value::from(60000)));
            client.ask(&there()).await;
            let fatal = Operation::DeclareQueue(with_ttl(Value::Decimal { scale: 1, unscaled: 5 }));
            let mut operations: Vec<_> = (0..40).map(|_| there()).collect();
            operations[20] = fatal.clone();
            for (n, answer) in ask_all(&client, operations, 8).await.into_iter().enumerate() {
                if n == 20 {
                    let Answer::Refused(refused) = answer else { panic!("{answer:?}") };
                    assert_eq!((refused.code, refused.scope), (541, Scope::Connection));
                } else {
                    assert!(is_there(&answer), "{n}: {answer:?}");
                }
            }
            // The same alone, and the client goes on.
            let Answer::Refused(refused) = client.ask(&fatal).await else { panic!("not refused") };
            assert_eq!(refused.code, 541);
            assert!(is_there(&client.ask(&there()).await));
        });
    }

    fn whoever_stops_waiting_harms_nobody(node) {
        let before = panics_in_tasks();
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            client.declare_queue(&QueueDeclaration::durable("there")).await.unwrap();
            for n in 0..300_u64 {
                let asking = Arc::clone(&client);
                let name = if n % 3 == 0 { "there" } else { "absent" };
                let task = tokio::spawn(async move { asking.ask(&look_up(name)).await });
                tokio::time::sleep(Duration::from_micros(n * 7 % 900)).await;
                task.abort();
            }
            for _ in 0..20 {
                assert!(is_there(&client.ask(&look_up("there")).await));
            }
        });
        assert_eq!(panics_in_tasks(), before);
    }

    fn a_connection_that_an_operator_closes_is_opened_again(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            client.declare_queue(&QueueDeclaration::durable("there")).await.unwrap();
            node.rabbitmqctl(&["close_all_connections", "--vhost", vhost.name(), "test"]).unwrap();
            let there = (0..20).map(|_| look_up("there")).collect();
            for answer in ask_all(&client, there, 8).await {
                assert!(is_there(&answer), "{answer:?}");
            }
        });
    }

    fn a_vhost_that_is_deleted_is_said_so(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            node.rabbitmqctl(&["delete_vhost", vhost.name()]).unwrap();
            let Answer::Failed(failure) = client.ask(&look_up("q")).await else { panic!("answered") };
            assert!(failure.to_string().contains(&format!("the broker has no vhost \"{}\"", vhost.name())), "{failure}");
        });
    }

    fn a_long_refusal_is_read_as_far_as_the_broker_sends_it(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            client.declare_queue(&QueueDeclaration::durable("there")).await.unwrap();
            let long = "q".repeat(250);
            let Answer::Refused(refused) = client.ask(&look_up(&long)).await else { panic!("not refused") };
            assert_eq!(refused.text.len(), 255);
            assert!(refused.text.ends_with("..."), "{}", refused.text);
            // Cut inside a character before 4.0, which amqprs cannot read; 541 from then on. Never an absence, never the end.
            let answer = client.ask(&look_up(format!("{}é{}", "q".repeat(220), "é".repeat(10)))).await;
            match &answer {
                Answer::Refused(refused) => assert!(!refused.text.starts_with("NOT_FOUND - no queue 'q' "), "{answer:?}"),
                Answer::Failed(failure) => assert!(matches!(failure, Failure::ConnectionLost { .. }), "{answer:?}"),
                Answer::Done(_) => panic!("{answer:?}"),
            }
            assert!(is_there(&client.ask(&look_up("there")).await));
        });
    }
}

#[test]
fn a_client_may_outlive_its_runtime() {
    let Some(node) = shared(Generation::Distribution) else { return };
    let before = panics_in_tasks();
    let vhost = node.fresh_vhost();
    let kept = run(async {
        let client = client(&vhost.amqp_url()).await;
        client.declare_queue(&QueueDeclaration::durable("q")).await.unwrap();
        client
    });
    drop(kept);
    assert_eq!(panics_in_tasks(), before);
}

#[test]
fn a_broker_that_falls_silent_costs_one_limit_and_is_asked_again_when_it_wakes() {
    if !Generation::wanted().contains(&Generation::Distribution) {
        return;
    }
    let node = Node::start(Generation::Distribution).unwrap();
    run(async {
        let limits = Limits { question: Duration::from_secs(3), reconnect: Duration::from_secs(60), ..LIMITS };
        let client = Arc::new(Client::connect(url(&node.amqp_url()), "silent", limits).await.unwrap());
        client.declare_queue(&QueueDeclaration::durable("there")).await.unwrap();
        node.freeze().unwrap();
        let started = Instant::now();
        let silent = (0..8).map(|_| look_up("there")).collect();
        for answer in ask_all(&client, silent, 8).await {
            assert_eq!(answer, Answer::Failed(Failure::Timeout { after: limits.question }));
        }
        // One after the other they would take eight limits.
        assert!(started.elapsed() < 7 * limits.question, "{:?}", started.elapsed());
        node.thaw().unwrap();
        assert!(is_there(&client.ask_within(&look_up("there"), PATIENCE).await));
    });
}

#[test]
fn lost_heartbeats_end_a_wait_before_its_limit() {
    if !Generation::wanted().contains(&Generation::Distribution) {
        return;
    }
    let node = Node::start(Generation::Distribution).unwrap();
    let before = panics_in_tasks();
    run(async {
        // Without heartbeats the answer would be a time-out, after ten minutes.
        let question = Duration::from_secs(600);
        let limits = Limits { question, reconnect: Duration::ZERO, ..LIMITS };
        let address = format!("{}?heartbeat=2", node.amqp_url());
        let client = Arc::new(Client::connect(url(&address), "heartbeats", limits).await.unwrap());
        client.declare_queue(&QueueDeclaration::durable("there")).await.unwrap();
        node.freeze().unwrap();
        let answer = tokio::time::timeout(PATIENCE, client.ask(&look_up("there"))).await.unwrap();
        assert!(matches!(answer, Answer::Failed(Failure::Unavailable { .. })), "{answer:?}");
        node.thaw().unwrap();
    });
    assert_eq!(panics_in_tasks(), before);
}

/// Declares 1,500 queues while the broker goes and comes back, then gives their number.
fn declare_across_a_restart(go: impl Fn(&Node) -> std::io::Result<()>) -> Option<(usize, usize)> {
    if !Generation::wanted().contains(&Generation::Distribution) {
        return None;
    }
    let node = Node::start(Generation::Distribution).unwrap();
    let before = panics_in_tasks();
    let declare = || (0..1500).map(|n| Operation::DeclareQueue(QueueDeclaration::durable(format!("q{n}")))).collect();
    let count = || node.management().get("/api/definitions/%2F").unwrap()["queues"].as_array().unwrap().len();
    let counts = run(async {
        let limits = Limits { reconnect: PATIENCE, ..LIMITS };
        let client = Arc::new(Client::connect(url(&node.amqp_url()), "restart", limits).await.unwrap());
        let asking = Arc::clone(&client);
        let declaring = tokio::spawn(async move { ask_all(&asking, declare(), 8).await });
        // The middle: some are declared, and by far not all.
        let some = async {
            while !client.queue_exists("q50").await.unwrap() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, some).await.unwrap();
        assert!(!declaring.is_finished());
        tokio::task::block_in_place(|| {
            go(&node).unwrap();
            node.start_again().unwrap();
        });
        for (n, answer) in declaring.await.unwrap().into_iter().enumerate() {
            assert!(is_there(&answer), "{n}: {answer:?}");
        }
        let after_restart = tokio::task::block_in_place(count);
        assert!(ask_all(&client, declare(), 8).await.iter().all(is_there));
        (after_restart, tokio::task::block_in_place(count))
    });
    assert_eq!(panics_in_tasks(), before);
    Some(counts)
}

#[test]
fn a_broker_that_is_restarted_in_the_middle_costs_nothing_but_time() {
    let counts = declare_across_a_restart(Node::shut_down);
    assert!(counts.is_none_or(|counts| counts == (1500, 1500)), "{counts:?}");
}

#[test]
fn a_broker_that_is_killed_in_the_middle_costs_nothing_but_time() {
    // RabbitMQ 3.10 writes its metadata a moment after it has answered, so the last few before the kill may be lost.
    let counts = declare_across_a_restart(Node::kill);
    assert!(counts.is_none_or(|(after_restart, in_the_end)| after_restart > 1400 && in_the_end == 1500), "{counts:?}");
}

#[test]
fn a_broker_that_goes_away_fails_everything_within_the_limits() {
    if !Generation::wanted().contains(&Generation::Distribution) {
        return;
    }
    let node = Node::start(Generation::Distribution).unwrap();
    run(async {
        let limits = Limits { reconnect: Duration::from_secs(2), ..LIMITS };
        let client = Arc::new(Client::connect(url(&node.amqp_url()), "away", limits).await.unwrap());
        node.kill().unwrap();
        let started = Instant::now();
        for answer in ask_all(&client, (0..500).map(|_| look_up("q")).collect(), 8).await {
            let Answer::Failed(Failure::Unavailable { why }) = answer else { panic!("{answer:?}") };
            assert!(why.contains("nothing listens on port"), "{why}");
        }
        // Each on its own would take 2 s.
        assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());
    });
}
