//! Plan sessions driven against real brokers.

use crate::{LIMITS, client, run};
use acemq_core::plan::{BrokerKind, Mode, Plan, PlanSession, Reason, Settings, Verdict};
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::topology::{DeclaredBinding, DeclaredExchange, DeclaredQueue, Tables};
use acemq_core::value::Value;
use acemq_live::{Client, Ending, Width, drive};
use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;
use std::future::pending;
use std::sync::Arc;

pub fn tables(
    exchanges: &[ExchangeDeclaration],
    queues: &[QueueDeclaration],
    bindings: &[BindingDeclaration],
) -> Tables {
    Tables {
        exchanges: exchanges.iter().map(|e| DeclaredExchange { declaration: e.clone(), derived: false }).collect(),
        queues: queues.iter().map(|q| DeclaredQueue { declaration: q.clone(), derived_from: None }).collect(),
        bindings: bindings.iter().map(|b| DeclaredBinding { declaration: b.clone(), derived: false }).collect(),
        ..Tables::default()
    }
}

pub fn settings(client: &Client, vhost: &Vhost<'_>, apply: bool) -> Settings {
    settings_for(client, vhost.name(), apply)
}

pub fn settings_for(client: &Client, vhost: &str, apply: bool) -> Settings {
    let mut settings = Settings::amqp(client.broker().clone());
    settings.kind = BrokerKind::Amqp;
    settings.mode = Mode::CreateOnly;
    settings.vhost = Some(vhost.to_owned());
    settings.ask_exchanges = true;
    settings.apply = apply;
    settings
}

async fn session(client: &Arc<Client>, vhost: &Vhost<'_>, tables: Tables, apply: bool) -> PlanSession {
    let mut session = PlanSession::new(tables, settings(client, vhost, apply));
    let ending = drive(&mut session, client, Width::default(), pending(), |_| {}).await;
    assert_eq!(ending, Ending::Finished);
    assert!(session.finished());
    session
}

fn verdicts(plan: &Plan) -> Vec<(&str, Verdict)> {
    plan.actions.iter().map(|action| (action.object.name(), action.verdict)).collect()
}

pub fn classic(name: &str) -> QueueDeclaration {
    QueueDeclaration::durable(name)
}

pub fn quorum(name: &str) -> QueueDeclaration {
    QueueDeclaration::durable(name).with("x-queue-type", "quorum")
}

on_every_broker! {
    fn a_plan_tells_what_is_there_and_changes_nothing(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            client.declare_exchange(&ExchangeDeclaration::durable("there", "topic")).await.unwrap();
            client.declare_exchange(&ExchangeDeclaration::durable("other", "fanout")).await.unwrap();
            client.declare_queue(&quorum("same").with("x-max-length", 5)).await.unwrap();
            client.declare_queue(&classic("drifted").with("x-message-ttl", 60000).with("x-max-length", 9)).await.unwrap();
            let before = vhost.definitions();
            let tables = tables(
                &[
                    ExchangeDeclaration::durable("there", "topic"),
                    ExchangeDeclaration::durable("other", "topic"),
                    ExchangeDeclaration::durable("absent", "topic"),
                ],
                &[
                    quorum("same").with("x-max-length", Value::I32(5)),
                    classic("drifted").with("x-message-ttl", 30000).with("x-max-length", 10),
                    classic("new"),
                    classic("wrong").with("x-message-ttl", -1),
                ],
                &[],
            );
            let session = session(&client, &vhost, tables, false).await;
            let plan = session.plan();
            assert_eq!(verdicts(&plan), [
                ("there", Verdict::Present), ("other", Verdict::Drift), ("absent", Verdict::Create),
                ("same", Verdict::Present), ("drifted", Verdict::Drift), ("new", Verdict::Create), ("wrong", Verdict::Invalid),
            ]);
            let drifted = &plan.actions[4].differences;
            let mut arguments: Vec<_> = drifted.iter().map(|difference| difference.argument.as_str()).collect();
            arguments.sort_unstable();
            assert_eq!(arguments, ["x-max-length", "x-message-ttl"]);
            assert_eq!(vhost.definitions(), before);
        });
    }

    fn an_apply_creates_what_is_missing_and_a_second_one_nothing(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let queues: Vec<_> = (0..30).map(|n| if n % 2 == 0 { quorum(&format!("q{n}")) } else { classic(&format!("q{n}")) }).collect();
            let bindings: Vec<_> = queues.iter().map(|q| BindingDeclaration::queue("events", &q.name, "a.*")).collect();
            let tables = tables(&[ExchangeDeclaration::durable("events", "topic")], &queues, &bindings);
            let first = session(&client, &vhost, tables.clone(), true).await;
            assert_eq!(first.apply_error(), None);
            assert_eq!(first.apply_report().done.len(), 61);
            let definitions = vhost.definitions();
            assert_eq!(definitions["queues"].as_array().unwrap().len(), 30);
            assert_eq!(definitions["bindings"].as_array().unwrap().len(), 30);
            let second = session(&client, &vhost, tables, true).await;
            assert_eq!(second.apply_error(), None);
            assert_eq!(vhost.definitions(), definitions);
        });
    }

    fn an_apply_whose_last_queue_drifts_declares_nothing(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            client.declare_queue(&classic("z").with("x-message-ttl", 60000)).await.unwrap();
            let before = vhost.definitions();
            let mut queues: Vec<_> = (0..20).map(|n| quorum(&format!("q{n}"))).collect();
            queues.push(classic("z").with("x-message-ttl", 30000));
            let tables = tables(&[ExchangeDeclaration::durable("events", "topic")], &queues, &[]);
            let session = session(&client, &vhost, tables, true).await;
            assert_eq!(
                session.apply_error().unwrap().to_string(),
                "acemq: nothing was declared: 1 queue differs from the broker\n  queue z: x-message-ttl is 60000 on the broker, 30000 here"
            );
            assert_eq!(vhost.definitions(), before);
        });
    }

    fn a_plan_with_more_refusals_than_a_connection_has_channels(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            // Each absent queue is refused twice: the passive question and the guarded offer.
            let queues: Vec<_> = (0..1100).map(|n| classic(&format!("q{n}"))).collect();
            let session = session(&client, &vhost, tables(&[], &queues, &[]), false).await;
            let plan = session.plan();
            assert_eq!(plan.actions.len(), 1100);
            assert!(plan.actions.iter().all(|action| action.verdict == Verdict::Create));
        });
    }

    fn a_user_without_rights_gets_true_verdicts(node) {
        let vhost = node.fresh_vhost();
        vhost.user("limited", "^mine", "^mine", "");
        run(async {
            let owner = client(&vhost.amqp_url()).await;
            owner.declare_queue(&classic("theirs-there")).await.unwrap();
            owner.declare_queue(&classic("mine-there")).await.unwrap();
            let address = format!("amqp://limited:limited@127.0.0.1:{}/{}", node.amqp_port(), vhost.name());
            let limited = client(&address).await;
            // From 4.3 on a passive declaration needs the right to configure, so nothing can be learned about the name.
            let asks_freely = !node.version().at_least(4, 3, 0);
            let theirs_new = if asks_freely { Verdict::Invalid } else { Verdict::Unknown };
            let queues = ["mine-there", "mine-new", "theirs-there", "theirs-new"].map(classic);
            let session = session(&limited, &vhost, tables(&[], &queues, &[]), false).await;
            assert_eq!(verdicts(&session.plan()), [
                ("mine-there", Verdict::Present), ("mine-new", Verdict::Create),
                ("theirs-there", Verdict::Unknown), ("theirs-new", theirs_new),
            ]);
        });
    }

    fn an_apply_that_is_stopped_tells_what_was_done_and_may_be_run_again(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let queues: Vec<_> = (0..300).map(|n| quorum(&format!("q{n}"))).collect();
            let tables = tables(&[], &queues, &[]);
            let mut session = PlanSession::new(tables.clone(), settings(&client, &vhost, true));
            // 300 look-ups, 300 offers, then declarations: stop among these.
            let (reached, stop) = tokio::sync::oneshot::channel::<()>();
            let mut reached = Some(reached);
            let ending = drive(&mut session, &client, Width::default(), async { stop.await.unwrap() }, |progress| {
                if progress.answered == 650 {
                    reached.take().unwrap().send(()).unwrap();
                }
            })
            .await;
            assert_eq!(ending, Ending::Interrupted);
            let report = session.apply_report();
            let there = vhost.definitions()["queues"].as_array().unwrap().len();
            assert!((50..300).contains(&there), "{there}");
            assert_eq!(report.done.len() + report.not_done.len(), 300);
            // What was under way got its answer within the grace, unless the machine is very busy.
            assert!((report.done.len()..=report.done.len() + Width::default().lively).contains(&there), "{there}");
            let message = session.apply_error().unwrap().to_string();
            assert!(message.ends_with("applying again is safe: what is there already is left as it is"), "{message}");
            let again = self::session(&client, &vhost, tables, true).await;
            assert_eq!(again.apply_error(), None);
            assert_eq!(vhost.definitions()["queues"].as_array().unwrap().len(), 300);
        });
    }

    fn another_connections_queue_is_locked_and_nothing_is_known_about_it(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let owner = client(&vhost.amqp_url()).await;
            let asking = client(&vhost.amqp_url()).await;
            owner.declare_queue(&QueueDeclaration { exclusive: true, ..classic("theirs") }).await.unwrap();
            let queues = [classic("theirs"), classic("new")];
            let session = session(&asking, &vhost, tables(&[], &queues, &[]), false).await;
            let plan = session.plan();
            assert_eq!(verdicts(&plan), [("theirs", Verdict::Unknown), ("new", Verdict::Create)]);
            assert_eq!(plan.actions[0].reason, Some(Reason::Locked));
            let (code, text) = plan.actions[0].refusal.as_ref().unwrap();
            assert!(*code == 405 && text.contains("cannot obtain exclusive access to locked queue 'theirs'"), "{text}");
            // Once it is gone with its connection it is as absent as any other.
            owner.close().await;
            let gone = async {
                while !asking.queue("theirs").await.is_ok_and(|queue| queue.is_none()) {
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
            };
            tokio::time::timeout(LIMITS.reconnect, gone).await.unwrap();
            let queues = [classic("theirs")];
            assert_eq!(verdicts(&self::session(&asking, &vhost, tables(&[], &queues, &[]), false).await.plan())[0].1, Verdict::Create);
        });
    }

    fn a_question_that_closes_the_connection_has_a_verdict_and_the_others_theirs(node) {
        let vhost = node.fresh_vhost();
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let decimal = || Value::Decimal { scale: 1, unscaled: 5 };
            for n in 0..20 {
                client.declare_queue(&classic(&format!("q{n}")).with("x-message-ttl", 60000)).await.unwrap();
            }
            // Printing the difference to a decimal crashes every RabbitMQ: 541, and the connection goes.
            let queues: Vec<_> = (0..20)
                .map(|n| classic(&format!("q{n}")).with("x-message-ttl", if n % 5 == 2 { decimal() } else { Value::from(60000) }))
                .collect();
            let session = session(&client, &vhost, tables(&[], &queues, &[]), true).await;
            for (n, action) in session.plan().actions.iter().enumerate() {
                let expected = if n % 5 == 2 { Verdict::Unknown } else { Verdict::Present };
                assert_eq!(action.verdict, expected, "{n}: {action:?}");
                if n % 5 == 2 {
                    assert_eq!((action.reason, action.refusal.as_ref().map(|(code, _)| *code)), (Some(Reason::Unavailable), Some(541)));
                }
            }
        });
    }

    fn a_queue_limit_stops_the_apply_at_the_surprise(node) {
        let vhost = node.fresh_vhost();
        vhost.set_limit("max-queues", 3);
        run(async {
            let client = client(&vhost.amqp_url()).await;
            let queues: Vec<_> = (0..100).map(|n| classic(&format!("q{n}"))).collect();
            let session = session(&client, &vhost, tables(&[], &queues, &[]), true).await;
            let message = session.apply_error().unwrap().to_string();
            assert!(message.contains("queue limit in vhost"), "{message}");
            // RabbitMQ 4 counts before it creates: declarations at the same time may exceed the limit.
            assert!(vhost.definitions()["queues"].as_array().unwrap().len() < 100);
        });
    }
}

#[test]
fn progress_counts_every_answer() {
    let Some(node) = acemq_tests::broker::shared(acemq_tests::broker::Generation::Distribution) else { return };
    let vhost = node.fresh_vhost();
    run(async {
        let client = client(&vhost.amqp_url()).await;
        let queues: Vec<_> = (0..10).map(|n| classic(&format!("q{n}"))).collect();
        let mut session = PlanSession::new(tables(&[], &queues, &[]), settings(&client, &vhost, false));
        let mut seen = Vec::new();
        drive(&mut session, &client, Width { lively: 1, total: 1 }, pending(), |progress| seen.push(progress)).await;
        assert_eq!(seen.iter().map(|progress| progress.answered).collect::<Vec<_>>(), (1..=20).collect::<Vec<u64>>());
        assert_eq!(seen.last().unwrap().open, 0);
    });
}
