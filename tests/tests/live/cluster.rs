//! A cluster that loses its nodes: verdicts, never a hang, and never an absence that is none.

use crate::planning::{classic, quorum, settings_for, tables};
use crate::{LIMITS, run, url};
use acemq_core::plan::{Plan, PlanSession, Reason, Verdict};
use acemq_live::{Client, Ending, Limits, Width, drive};
use acemq_tests::broker::{Cluster, Generation, Node};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

const PATIENT: Limits = Limits { question: Duration::from_secs(15), change: Duration::from_secs(45), ..LIMITS };

/// Plans the same queues on one node, whatever the others do.
async fn plan(node: &Node) -> Plan {
    let client = Arc::new(Client::connect(url(&node.amqp_url()), "cluster tests", PATIENT).await.unwrap());
    let queues = [classic("on-a"), classic("on-c"), quorum("on-all"), classic("absent"), quorum("absent-quorum")];
    let mut session = PlanSession::new(tables(&[], &queues, &[]), settings_for(&client, "/", false));
    // Far longer than five queues with every limit used up; a hang is longer still.
    let driving = drive(&mut session, &client, Width::default(), pending(), |_| {});
    let ending = tokio::time::timeout(Duration::from_secs(300), driving).await.unwrap();
    assert_eq!(ending, Ending::Finished);
    session.into_plan()
}

/// Waits until the node knows that so many of the cluster run.
async fn until_running(node: &Node, count: usize) {
    let running = || {
        let nodes = node.management().get("/api/nodes").ok()?;
        Some(nodes.as_array()?.iter().filter(|node| node["running"] == true).count())
    };
    let noticed = async {
        while tokio::task::block_in_place(running) != Some(count) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), noticed).await.unwrap();
}

fn verdict_of(plan: &Plan, name: &str) -> (Verdict, Option<Reason>) {
    let action = plan.actions.iter().find(|action| action.object.name() == name).unwrap();
    (action.verdict, action.reason)
}

fn check(generation: Generation) {
    if !Generation::wanted().contains(&generation) {
        return;
    }
    let cluster = Cluster::start(generation).unwrap();
    let [a, b, c] = cluster.nodes() else { panic!("three nodes") };
    run(async {
        let on = async |node: &Node| Client::connect(url(&node.amqp_url()), "cluster tests", PATIENT).await.unwrap();
        let (first, third) = (on(a).await, on(c).await);
        first.declare_queue(&classic("on-a")).await.unwrap();
        first.declare_queue(&quorum("on-all")).await.unwrap();
        third.declare_queue(&classic("on-c")).await.unwrap();
        drop((first, third));
        let whole = plan(a).await;
        for (name, verdict) in [
            ("on-a", Verdict::Present),
            ("on-c", Verdict::Present),
            ("on-all", Verdict::Present),
            ("absent", Verdict::Create),
            ("absent-quorum", Verdict::Create),
        ] {
            assert_eq!(verdict_of(&whole, name), (verdict, None), "{name}");
        }

        c.kill().unwrap();
        until_running(a, 2).await;
        let two = plan(a).await;
        let (verdict, reason) = verdict_of(&two, "on-c");
        assert_eq!(verdict, Verdict::Unknown);
        assert!(matches!(reason, Some(Reason::Unavailable | Reason::Timeout)), "{reason:?}");
        for (name, verdict) in [
            ("on-a", Verdict::Present),
            ("on-all", Verdict::Present),
            ("absent", Verdict::Create),
            ("absent-quorum", Verdict::Create),
        ] {
            assert_eq!(verdict_of(&two, name), (verdict, None), "{name}");
        }

        b.kill().unwrap();
        until_running(a, 1).await;
        let one = plan(a).await;
        assert_eq!(verdict_of(&one, "on-c").0, Verdict::Unknown);
        for name in ["on-a", "on-all"] {
            let verdict = verdict_of(&one, name).0;
            assert!(matches!(verdict, Verdict::Present | Verdict::Unknown), "{name}: {verdict:?}");
        }
        for name in ["absent", "absent-quorum"] {
            let verdict = verdict_of(&one, name).0;
            assert!(matches!(verdict, Verdict::Create | Verdict::Unknown), "{name}: {verdict:?}");
        }
    });
}

#[test]
fn distribution() {
    check(Generation::Distribution);
}

#[test]
fn rabbitmq_4_3() {
    check(Generation::V4_3);
}
