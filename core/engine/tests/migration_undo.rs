//! The way back: from every step, by every method, for several topologies, and a message of each class in every state.

mod migration_worlds;

use acemq_core::embedded::{ConnectionId, EmbeddedBroker, Publication};
use acemq_core::migration::{Beginning, Direction, MigrationFile, MigrationPlan, Order, QueueSight, Run};
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::state::State;
use acemq_core::value::{Table, Value};
use migration_worlds::{Copies, World, copies, file, one_key, play, several, topic, unequal, vhost, world};
use std::collections::BTreeMap;

/// A broker whose consumers empty every queue at once, with messages sent after every order.
struct Host<'a> {
    world: &'a World,
    broker: EmbeddedBroker,
    owner: ConnectionId,
    file: &'a MigrationFile,
    beginning: Beginning,
    plan: Option<MigrationPlan>,
    expected: Vec<Copies>,
    /// Tables in which every message went where it should.
    sound: BTreeMap<String, ()>,
    may_double: bool,
    changes: usize,
    now: u64,
}

impl<'a> Host<'a> {
    fn new(world: &'a World, file: &'a MigrationFile, may_double: bool) -> Self {
        let mut broker = EmbeddedBroker::holding(&world.state);
        let owner = broker.connect();
        let beginning = MigrationPlan::new(file, &world.state).unwrap().beginning().clone();
        let messages = world.messages();
        let expected =
            messages.iter().map(|(exchange, key, headers)| copies(&mut broker, exchange, key, headers)).collect();
        let sound = BTreeMap::new();
        let mut host =
            Self { world, broker, owner, file, beginning, plan: None, expected, sound, may_double, changes: 0, now: 0 };
        host.consume();
        host
    }

    fn consume(&mut self) {
        let names: Vec<String> = self.broker.queue_names().map(str::to_owned).collect();
        for name in names {
            self.broker.purge(self.owner, &name).unwrap();
        }
    }

    /// Every message goes to exactly one of the two queues, and to everybody else as before.
    fn check(&mut self, what: &str) {
        let table = self.broker.state().canonical();
        if self.sound.insert(table, ()).is_some() {
            return;
        }
        let messages = self.world.messages();
        for ((exchange, key, headers), before) in messages.into_iter().zip(self.expected.clone()) {
            let mut now = copies(&mut self.broker, &exchange, key, headers);
            if self.may_double && now.contains_key("old") && now.contains_key("new") {
                now.remove("new");
            }
            assert!(!unequal(&before, &now), "after {what}: {key} to {exchange} reaches {now:?}, before {before:?}");
        }
        self.consume();
    }

    fn plan(&mut self, direction: Direction) -> &MigrationPlan {
        let live = self.broker.state();
        let plan = match self.plan.take().filter(|plan| plan.direction == direction) {
            Some(plan) => plan.renewed(self.file, &live),
            None if direction == Direction::Forward => MigrationPlan::new(self.file, &live),
            None => MigrationPlan::undo(self.file, &live, &self.beginning),
        };
        self.plan.insert(plan.unwrap())
    }

    /// One order, done; how the run ended when it did.
    fn turn(&mut self, run: &mut Run, direction: Direction) -> Option<Order> {
        let (live, now) = (self.broker.state(), self.now);
        match run.next(self.plan(direction), &live, now) {
            Order::Do(action) => {
                assert!(play(&mut self.broker, &action), "{action}");
                self.changes += 1;
                self.check(&action.to_string());
            }
            Order::LookAt(queues) => {
                let sight = |queue: &String| QueueSight {
                    queue: queue.clone(),
                    ready: Some(self.broker.contents(queue).map_or(0, |contents| contents.ready.len() as u64)),
                    unacknowledged: Some(0),
                    consumers: 1,
                    lag_ms: 0,
                    unconfirmed: false,
                };
                let sights: Vec<QueueSight> = queues.iter().map(sight).collect();
                run.saw_queues(&sights, self.now);
            }
            Order::AskNodes(_) => run.nodes_know(),
            Order::Pause(ms) => self.now += ms,
            end => return Some(end),
        }
        None
    }

    /// So many changes; how the run ended when there are fewer.
    fn until_changed(&mut self, changes: usize, direction: Direction) -> Option<Order> {
        let mut run = Run::new();
        let before = self.changes;
        while self.changes < before + changes {
            if let Some(end) = self.turn(&mut run, direction) {
                return Some(end);
            }
        }
        None
    }

    fn until_it_ends(&mut self, direction: Direction) -> Order {
        let mut run = Run::new();
        for _ in 0..2_000 {
            if let Some(end) = self.turn(&mut run, direction) {
                return end;
            }
        }
        panic!("it goes on for ever");
    }

    fn has_old(&self) -> bool {
        self.broker.state().queues.contains_key("old")
    }
}

/// A direct exchange; what services have for dead letters and retries is there, and so is the old queue's share of it.
fn with_retries() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "direct"));
    state.insert_exchange(ExchangeDeclaration::durable("acemq.dlx", "direct"));
    state.insert_exchange(ExchangeDeclaration::durable("acemq.retry", "direct"));
    for queue in ["old.dlq", "neighbour"] {
        state.insert_queue(QueueDeclaration::durable(queue));
    }
    for (exchange, queue, key) in
        [("x", "old", "k"), ("x", "neighbour", "k"), ("acemq.dlx", "old.dlq", "old.dlq"), ("acemq.retry", "old", "old")]
    {
        state.bindings.insert(BindingDeclaration::queue(exchange, queue, key));
    }
    state
}

fn worlds() -> Vec<(&'static str, World)> {
    let headers = vec![Table::new(), Table::from([("kind", Value::text("a"))]), Table::from([("size", Value::I64(5))])];
    vec![
        ("topic", world(topic(), &["a.b", "a.c", "c.b", "d.b", "a", "z"], vec![Table::new()])),
        ("several", world(several(), &["a.b", "a.c", "z"], headers)),
        ("retries", world(with_retries(), &["k", "old", "old.dlq", "z"], vec![Table::new()])),
    ]
}

const METHODS: [&str; 4] = ["fanout", "policy", "overlap", "fanout, teardown: later"];

/// The method that needs one type of source is left out where there are several.
fn cases<'a>(worlds: &'a [(&'static str, World)]) -> Vec<(String, bool, MigrationFile, &'a World)> {
    let mut cases = Vec::new();
    for (name, world) in worlds {
        for method in METHODS {
            let with = match *name {
                "retries" => "{ name: new, dead_letter: true, retry: 'fixed(3, 1m)' }",
                _ => "{ name: new, type: quorum }",
            };
            let file = file(with, &format!("{{ method: {method}, drain: {{ stable: 1 }} }}"));
            if MigrationPlan::new(&file, &world.state).is_ok() {
                cases.push((format!("{name}, {method}"), method == "overlap", file, world));
            }
        }
    }
    assert_eq!(cases.len(), 11);
    cases
}

/// The tables that the migration leads through, from the first to the last one with the old queue.
fn tables(host: &mut Host<'_>) -> Vec<State> {
    let mut tables = vec![host.broker.state()];
    let mut run = Run::new();
    while host.turn(&mut run, Direction::Forward).is_none() && host.has_old() {
        if host.broker.state() != *tables.last().unwrap() {
            tables.push(host.broker.state());
        }
    }
    tables
}

fn at<'a>(host: &Host<'a>, table: &State) -> Host<'a> {
    let mut broker = EmbeddedBroker::holding(table);
    let owner = broker.connect();
    Host {
        broker,
        owner,
        beginning: host.beginning.clone(),
        plan: None,
        expected: host.expected.clone(),
        sound: host.sound.clone(),
        changes: 0,
        ..*host
    }
}

#[test]
fn forward_to_any_step_and_back_gives_the_definitions_of_the_start() {
    let worlds = worlds();
    for (name, may_double, file, world) in cases(&worlds) {
        let mut forward = Host::new(world, &file, may_double);
        let tables = tables(&mut forward);
        assert!(tables.len() > 5, "{name}: {}", tables.len());
        for (steps, table) in tables.iter().enumerate() {
            let mut host = at(&forward, table);
            let case = format!("{name}, {steps} changes forward");
            let proof = host.plan(Direction::Back).proof.clone();
            assert!(proof.as_ref().is_some_and(|proof| proof.holds()), "{case}: {proof:?}");
            assert_eq!(host.until_it_ends(Direction::Back), Order::Finished, "{case}");
            assert_eq!(host.broker.state().canonical(), world.state.canonical(), "{case}");
            forward.sound.extend(host.sound);
        }
    }
}

#[test]
fn an_undo_that_is_killed_is_followed_by_another_one_or_by_the_migration_itself() {
    let worlds = worlds();
    for (name, may_double, file, world) in cases(&worlds) {
        let mut forward = Host::new(world, &file, may_double);
        let last = tables(&mut forward).pop().unwrap();
        let end = forward.broker.state();
        for killed_after in 0.. {
            let mut host = at(&forward, &last);
            if host.until_changed(killed_after, Direction::Back).is_some() {
                break;
            }
            let case = format!("{name}, undo killed after {killed_after} changes");
            if killed_after % 2 == 0 {
                assert_eq!(host.until_it_ends(Direction::Back), Order::Finished, "{case}");
                assert_eq!(host.broker.state().canonical(), world.state.canonical(), "{case}");
            } else {
                assert_eq!(host.until_it_ends(Direction::Forward), Order::Finished, "{case}");
                assert_eq!(host.broker.state().canonical(), end.canonical(), "{case}");
            }
            forward.sound.extend(host.sound);
        }
    }
}

#[test]
fn a_dead_letter_queue_with_messages_is_not_deleted_and_says_so() {
    let world = world(with_retries(), &["k", "old", "z"], vec![Table::new()]);
    let file = file("{ name: new, dead_letter: true }", "{ drain: { stable: 1 } }");
    let mut forward = Host::new(&world, &file, false);
    let last = tables(&mut forward).pop().unwrap();
    let mut once = at(&forward, &last);
    assert_eq!(once.until_it_ends(Direction::Back), Order::Finished);
    // Every table is known to be sound now, so no test message is in the way, and nobody consumes.
    forward.sound.extend(once.sound);
    let mut host = at(&forward, &last);
    host.broker.publish(host.owner, Publication::new("", "new.dlq", "failed")).unwrap();
    let end = host.until_it_ends(Direction::Back);
    assert!(matches!(&end, Order::Stopped(why) if why.contains("\"new.dlq\" holds 1 message,")), "{end:?}");
    assert_eq!(host.broker.contents("new.dlq").unwrap().ready.len(), 1);
    // Messages go to the old queue again all the same.
    assert!(host.broker.state().bindings.contains(&BindingDeclaration::queue("x", "old", "k")));
    host.consume();
    assert_eq!(host.until_it_ends(Direction::Back), Order::Finished);
    assert_eq!(host.broker.state().canonical(), world.state.canonical());
}

#[test]
fn what_was_there_before_stays() {
    let mut state = with_retries();
    // The release that consumes from it declared it before the migration.
    state.insert_queue(QueueDeclaration::durable("new").with("x-queue-type", "quorum"));
    let world = world(state, &["k", "old", "z"], vec![Table::new()]);
    let file = file("{ name: new, type: quorum }", "{ drain: { stable: 1 } }");
    let mut forward = Host::new(&world, &file, false);
    let last = tables(&mut forward).pop().unwrap();
    let mut host = at(&forward, &last);
    assert_eq!(host.until_it_ends(Direction::Back), Order::Finished);
    assert_eq!(host.broker.state().canonical(), world.state.canonical());
}

#[test]
fn an_exchange_that_somebody_else_uses_since_stays_and_is_named() {
    let world = world(one_key(), &["k", "z"], vec![Table::new()]);
    let file = file("{ name: new, dead_letter: true }", "{ drain: { stable: 1 } }");
    let mut forward = Host::new(&world, &file, false);
    let mut last = tables(&mut forward).pop().unwrap();
    last.insert_queue(QueueDeclaration::durable("third").with("x-dead-letter-exchange", "acemq.dlx"));
    let plan = MigrationPlan::undo(&file, &last, &forward.beginning).unwrap();
    let kept: Vec<String> = plan.findings.iter().map(ToString::to_string).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(kept[0].contains("exchange \"acemq.dlx\" stays: queue \"third\""), "{kept:?}");
    assert!(plan.steps.iter().all(|step| step.action.to_string() != "delete exchange acemq.dlx"));
}

#[test]
fn past_the_point_of_no_return_the_way_out_is_named() {
    let world = world(one_key(), &["k", "z"], vec![Table::new()]);
    let file = file("{ name: new, type: quorum }", "{ drain: { stable: 1 } }");
    let mut host = Host::new(&world, &file, false);
    assert_eq!(host.until_it_ends(Direction::Forward), Order::Finished);
    let error = MigrationPlan::undo(&file, &host.broker.state(), &host.beginning).unwrap_err();
    assert_eq!(error.fields["reason"], "past_return");
    assert!(error.help.contains("replaces queue \"new\" by one named \"old\""), "{error}");
}
