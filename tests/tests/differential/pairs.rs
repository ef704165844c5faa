//! Random pairs of declarations.

use crate::tables::{Pair, pair};
use acemq_core::rabbitmq::{Conditions, ExistingQueue, Owner, QueueDeclaration, declare_queue};
use acemq_tests::amqp::{Channel, Connection};
use acemq_tests::answer::Answer;
use acemq_tests::broker::{Node, Vhost};
use acemq_tests::on_every_broker;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::sync::Mutex;

const PAIRS: usize = 2000;
/// Declaring waits for the disk most of the time.
const THREADS: usize = 4;

on_every_broker! {
    fn the_engine_predicts_the_answer_to_2000_random_pairs(node) {
        let vhost = node.fresh_vhost();
        let disagreements = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (vhost, disagreements) = (&vhost, &disagreements);
                scope.spawn(move || {
                    let mut asker = Asker::new(vhost);
                    for (number, pair) in pairs(thread).enumerate() {
                        if let Some(disagreement) = asker.compare(&pair) {
                            disagreements.lock().unwrap().push(format!("{thread}.{number} {disagreement}"));
                        }
                    }
                });
            }
        });
        let disagreements = disagreements.into_inner().unwrap();
        let count = disagreements.len();
        assert!(count == 0, "{count} of {PAIRS} disagree on {}:\n{}", node.version(), disagreements.join("\n"));
    }
}

/// The pairs of one thread, the same at every run.
fn pairs(thread: usize) -> impl Iterator<Item = Pair> {
    let seed = [u8::try_from(thread).unwrap() + 1; 32];
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    (0..PAIRS / THREADS)
        .map(move |number| pair(format!("q-{thread}-{number}")).new_tree(&mut runner).expect("a pair").current())
}

/// Asks the broker and the engine.
struct Asker<'a> {
    vhost: &'a Vhost<'a>,
    conditions: Conditions,
    connection: Connection,
}

impl<'a> Asker<'a> {
    fn new(vhost: &'a Vhost<'a>) -> Self {
        let node: &Node = vhost.node();
        let conditions = Conditions::new(node.version(), vhost.name());
        Self { vhost, conditions, connection: vhost.connect() }
    }

    fn compare(&mut self, pair: &Pair) -> Option<String> {
        let mut stored = None;
        if let Some(existing) = &pair.existing {
            let answer = self.declare(existing);
            let predicted = declare_queue(&self.conditions, None, existing);
            if answer != Answer::predicted(predicted.clone()) {
                self.clean_up(existing);
                return Some(disagreement("first", existing, None, &answer, &Answer::predicted(predicted)));
            }
            stored = predicted.ok();
        }
        let owner = match &stored {
            Some(stored) if stored.exclusive => Owner::Requester,
            _ => Owner::Nobody,
        };
        let existing = stored.as_ref().map(|declaration| ExistingQueue { declaration, owner });
        let answer = self.declare(&pair.request);
        let predicted = Answer::predicted(declare_queue(&self.conditions, existing, &pair.request));
        self.clean_up(&pair.request);
        let what = if pair.guarded { "guarded" } else { "plain" };
        (answer != predicted).then(|| disagreement(what, &pair.request, stored.as_ref(), &answer, &predicted))
    }

    fn declare(&mut self, queue: &QueueDeclaration) -> Answer {
        let answer =
            Answer::given(self.channel().declare_queue(queue)).unwrap_or_else(|error| panic!("{error} to {queue:?}"));
        if answer.closes_the_connection() {
            self.connection = self.vhost.connect();
        }
        answer
    }

    fn channel(&self) -> Channel {
        self.connection.channel().expect("a channel")
    }

    fn clean_up(&self, queue: &QueueDeclaration) {
        self.channel().delete_queue(&queue.name).expect("deleting works on every queue");
    }
}

fn disagreement(
    what: &str,
    request: &QueueDeclaration,
    stored: Option<&QueueDeclaration>,
    answer: &Answer,
    predicted: &Answer,
) -> String {
    let there = stored.map_or_else(|| "nothing".to_owned(), |stored| format!("{stored:?}"));
    format!("{what}: {request:?}\n  there:     {there}\n  broker:    {answer}\n  predicted: {predicted}\n")
}
