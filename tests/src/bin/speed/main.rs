//! How fast a topology of 1,000 queues is planned and applied on a real broker.
//!
//!     cargo run --release -p acemq-tests --bin speed [-- distribution|4.0|4.3]
//!
//! Two yardsticks, from the same run on the same broker: **one by one**, one channel asked one question at a time, as client
//! libraries do it (passive, then a declaration where the queue is there), and **bare**, a loop over amqprs that sends the
//! very operations of the plan on as many channels and looks at no answer. Creating is compared with the bare declarations on
//! as many channels, and with importing the same queues as definitions over HTTP. Each time is the best of three.
#![allow(clippy::print_stdout, reason = "its output is its purpose")]

mod bare;

use acemq_core::plan::{Answer, Ask, PlanSession, Settings};
use acemq_core::rabbitmq::QueueDeclaration;
use acemq_core::topology::{DeclaredQueue, Tables};
use acemq_live::{Client, Done, Limits, Operation, Width, drive};
use acemq_tests::broker::{Generation, Node, Vhost};
use serde_json::json;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};

const QUEUES: usize = 1000;
const RUNS: usize = 3;
const CHANNELS: usize = 8;

/// How much of the topology is on the broker.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    /// Of four queues: how many are there as asked, and how many with another length.
    present: usize,
    drifted: usize,
}

const SCENARIOS: [Scenario; 4] = [
    Scenario { name: "absent", present: 0, drifted: 0 },
    Scenario { name: "present", present: 4, drifted: 0 },
    Scenario { name: "drifted", present: 0, drifted: 4 },
    Scenario { name: "mixed", present: 2, drifted: 1 },
];

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_else(|| "distribution".to_owned());
    let generation = Generation::ALL.into_iter().find(|generation| generation.name() == wanted);
    let node = Node::start(generation.expect("distribution, 4.0 or 4.3")).expect("a broker");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    println!("RabbitMQ {}, {QUEUES} classic queues, {CHANNELS} channels; milliseconds", node.version());
    runtime.block_on(async {
        println!("{:<10}{:>8}{:>12}{:>8}{:>8}{:>8}", "plan", "plan", "one by one", "faster", "bare", "ratio");
        for scenario in SCENARIOS {
            plan_row(&node, scenario).await;
        }
        println!(
            "\n{:<10}{:>8}{:>8}{:>10}{:>8}{:>8}{:>8}",
            "create", "apply", "= plan", "+ declare", "bare", "ratio", "import"
        );
        for kind in ["classic", "quorum"] {
            create_row(&node, kind).await;
        }
    });
}

fn queue(n: usize) -> QueueDeclaration {
    QueueDeclaration::durable(format!("service.queue.{n}")).with("x-max-length", 100_000)
}

fn tables(queues: &[QueueDeclaration]) -> Tables {
    let queues = queues.iter().map(|queue| DeclaredQueue { declaration: queue.clone(), derived_from: None }).collect();
    Tables { queues, ..Tables::default() }
}

async fn client(vhost: &Vhost<'_>) -> Arc<Client> {
    let url = vhost.amqp_url().parse().expect("a URL of the harness");
    Arc::new(Client::connect(url, "speed", Limits::default()).await.expect("a broker that is there"))
}

fn settings(client: &Client, vhost: &Vhost<'_>, apply: bool) -> Settings {
    let mut settings = Settings::amqp(client.broker().clone());
    settings.vhost = Some(vhost.name().to_owned());
    settings.apply = apply;
    settings
}

fn best(times: impl IntoIterator<Item = Duration>) -> f64 {
    times.into_iter().min().unwrap_or_default().as_secs_f64() * 1000.0
}

async fn plan_row(node: &Node, scenario: Scenario) {
    let vhost = node.fresh_vhost();
    let client = client(&vhost).await;
    let queues: Vec<_> = (0..QUEUES).map(queue).collect();
    for (n, queue) in queues.iter().enumerate() {
        let there = n % 4;
        if there < scenario.present {
            client.declare_queue(queue).await.expect("it is new");
        } else if there < scenario.present + scenario.drifted {
            client.declare_queue(&queue.clone().with("x-max-length", 50_000)).await.expect("it is new");
        }
    }
    let asked = operations(&client, &vhost, &queues).await;
    let (mut plan, mut single, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let started = Instant::now();
        let mut session = PlanSession::new(tables(&queues), settings(&client, &vhost, false));
        drive(&mut session, &client, Width::default(), pending(), |_| {}).await;
        assert!(session.finished());
        plan.push(started.elapsed());
        single.push(one_by_one(&vhost, &queues).await);
        bare.push(bare::run(&vhost.amqp_url(), CHANNELS, &asked).await);
    }
    let (plan, single, bare) = (best(plan), best(single), best(bare));
    println!("{:<10}{plan:>8.0}{single:>12.0}{:>7.1}x{bare:>8.0}{:>8.2}", scenario.name, single / plan, plan / bare);
}

/// The operations that planning asks, in their order.
async fn operations(client: &Client, vhost: &Vhost<'_>, queues: &[QueueDeclaration]) -> Vec<Operation> {
    let mut session = PlanSession::new(tables(queues), settings(client, vhost, false));
    let mut asked = Vec::new();
    while !session.finished() {
        for question in session.next_questions(1) {
            let operation = match question.ask {
                Ask::QueuePassive(name) => Operation::LookUpQueue(name),
                Ask::QueueOffer(queue) => Operation::DeclareQueue(queue),
                other => panic!("{other:?} is not asked of queues"),
            };
            let answer = match client.ask(&operation).await {
                acemq_live::Answer::Done(Done::Queue(status)) => {
                    Answer::Ok { messages: status.messages, consumers: status.consumers }
                }
                acemq_live::Answer::Done(_) => Answer::OK,
                acemq_live::Answer::Refused(refused) => {
                    Answer::Refused { code: refused.code, text: refused.text, scope: refused.scope }
                }
                acemq_live::Answer::Failed(failure) => panic!("{failure}"),
            };
            asked.push(operation);
            session.answer(question.id, answer).expect("it was asked");
        }
    }
    asked
}

/// One question at a time on one channel, with a declaration only where the queue is there.
async fn one_by_one(vhost: &Vhost<'_>, queues: &[QueueDeclaration]) -> Duration {
    let client = client(vhost).await;
    let started = Instant::now();
    for queue in queues {
        if client.queue_exists(&queue.name).await.expect("an answer") {
            let _ = client.declare_queue(queue).await;
        }
    }
    started.elapsed()
}

async fn create_row(node: &Node, kind: &str) {
    let queues: Vec<_> = (0..QUEUES)
        .map(|n| if kind == "quorum" { queue(n).with("x-queue-type", "quorum") } else { queue(n) })
        .collect();
    let declarations: Vec<_> = queues.iter().cloned().map(Operation::DeclareQueue).collect();
    let definitions: Vec<_> = (queues.iter())
        .map(|queue| json!({"name": queue.name, "durable": true, "auto_delete": false, "arguments": queue.arguments}))
        .collect();
    let definitions = json!({"queues": definitions});
    let (mut apply, mut declare, mut bare, mut import) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let vhost = node.fresh_vhost();
        let client = client(&vhost).await;
        let started = Instant::now();
        let mut session = PlanSession::new(tables(&queues), settings(&client, &vhost, true));
        // Two questions for each queue that is not there, then its declaration.
        let mut declaring = started;
        drive(&mut session, &client, Width::default(), pending(), |progress| {
            if progress.answered == 2 * QUEUES as u64 {
                declaring = Instant::now();
            }
        })
        .await;
        apply.push(started.elapsed());
        declare.push(declaring.elapsed());
        assert_eq!(session.apply_error(), None);
        delete(node, &vhost);

        let vhost = node.fresh_vhost();
        bare.push(bare::run(&vhost.amqp_url(), CHANNELS, &declarations).await);
        delete(node, &vhost);

        let vhost = node.fresh_vhost();
        let started = Instant::now();
        vhost.import(&definitions);
        import.push(started.elapsed());
        delete(node, &vhost);
    }
    let (apply, declare, bare, import) = (best(apply), best(declare), best(bare), best(import));
    let plan = (apply - declare).max(0.0);
    println!("{kind:<10}{apply:>8.0}{plan:>8.0}{declare:>10.0}{bare:>8.0}{:>8.2}{import:>8.0}", declare / bare);
}

fn delete(node: &Node, vhost: &Vhost<'_>) {
    let path = format!("/api/vhosts/{}", acemq_tests::management::path_segment(vhost.name()));
    node.management().delete(&path).expect("it is there");
}
