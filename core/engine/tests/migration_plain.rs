//! Plain changes and their undo: whatever a file does, and wherever its runner was killed, the way back gives the definitions of
//! the start, and leaves alone what others made or changed.

mod migration_worlds;

use acemq_core::embedded::{ConnectionId, EmbeddedBroker, Publication};
use acemq_core::migration::history::{Event, Happened, History, Origin, Place, Stored, Subject, What};
use acemq_core::migration::{
    Action, Beginning, Direction, Former, MigrationError, MigrationFile, MigrationPlan, Order, QueueSight, Run,
};
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration};
use acemq_core::state::State;
use acemq_core::topology::Format;
use acemq_core::value::{Table, Value};
use migration_worlds::{play, vhost};

/// Where a runner is killed, counted in changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    /// The change is written down and not sent.
    Before(usize),
    /// The change is made and not written down as made.
    After(usize),
    Never,
}

fn policy(name: &str, limit: i64) -> PolicyDeclaration {
    PolicyDeclaration {
        name: name.to_owned(),
        pattern: "^q".to_owned(),
        apply_to: "queues".to_owned(),
        priority: 0,
        definition: Table::from([("max-length", Value::I64(limit))]),
    }
}

/// Exchanges `x` and `spare`, a queue `q` with two bindings, one of them with an argument, and a policy.
fn start() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "topic"));
    state.insert_exchange(ExchangeDeclaration::durable("spare", "direct").with("alternate-exchange", "x"));
    state.insert_queue(QueueDeclaration::durable("q"));
    state.bindings.insert(BindingDeclaration::queue("x", "q", "there"));
    let mut argued = BindingDeclaration::queue("x", "q", "argued");
    argued.arguments.insert("why", Value::text("b"));
    state.bindings.insert(argued);
    state.insert_policy(policy("limit", 5));
    state
}

/// Every change, and changes that meet each other, each with how many steps of the undo change something.
const FILES: [(&str, usize); 17] = [
    ("[{ bind: { exchange: x, queue: q, routing_key: more } }]", 1),
    ("[{ bind: { exchange: x, queue: q, routing_key: there } }]", 0),
    ("[{ unbind: { exchange: x, queue: q, routing_key: there } }]", 1),
    ("[{ unbind: { exchange: x, queue: q, routing_key: argued, arguments: { why: b } } }]", 1),
    ("[{ unbind: { exchange: x, queue: q, routing_key: never } }]", 0),
    ("[{ bind: { exchange: x, to_exchange: spare, routing_key: more } }]", 1),
    ("[{ declare: { queue: { name: fresh } } }]", 1),
    ("[{ declare: { queue: { name: q, type: classic } } }]", 0),
    ("[{ declare: { queue: { name: fresh, dead_letter: true } } }]", 6),
    ("[{ declare: { exchange: { name: e, type: fanout } } }]", 1),
    ("[{ declare: { exchange: { name: x, type: topic } } }]", 0),
    ("[{ policy: { name: limit, pattern: ^q, apply_to: queues, definition: { max-length: 9 } } }]", 1),
    ("[{ policy: { name: other, pattern: ^q, apply_to: queues, definition: { max-length: 9 } } }]", 1),
    ("[{ policy: { name: limit, pattern: ^q, apply_to: queues, definition: { max-length: 5 } } }]", 0),
    ("[{ delete: { exchange: spare } }]", 1),
    (
        "[{ delete: { exchange: spare } }, { declare: { exchange: { name: spare, type: topic } } }, { bind: { exchange: spare, queue: q } }]",
        3,
    ),
    (
        "[{ policy: { name: limit, pattern: ^q, apply_to: queues, definition: { max-length: 6 } } }, { policy: { name: limit, pattern: ^q, apply_to: queues, definition: { max-length: 7 } } }, { declare: { exchange: { name: e, type: fanout } } }, { declare: { queue: { name: fresh } } }, { bind: { exchange: e, queue: fresh } }, { unbind: { exchange: x, queue: q, routing_key: there } }]",
        6,
    ),
];

fn file(changes: &str) -> MigrationFile {
    MigrationFile::parse(&format!("acemq_migration: 1\nchanges: {changes}\n"), Format::Yaml).unwrap()
}

/// A broker, and the history that runners of one file write.
struct Host {
    broker: EmbeddedBroker,
    owner: ConnectionId,
    file: MigrationFile,
    book: Vec<Event>,
    changes: usize,
    now: u64,
}

impl Host {
    fn new(state: &State, changes: &str) -> Self {
        let mut broker = EmbeddedBroker::holding(state);
        let owner = broker.connect();
        Self { broker, owner, file: file(changes), book: Vec::new(), changes: 0, now: 0 }
    }

    fn note(&mut self, happened: Happened) {
        let subject = Subject {
            version: "1".to_owned(),
            description: "a".to_owned(),
            file: "V1__a.yaml".to_owned(),
            checksum: self.file.checksum.clone(),
        };
        let origin = Origin {
            at: "2026-01-01T00:00:00Z".to_owned(),
            by: "ann@laptop".to_owned(),
            tool: "0.1.0".to_owned(),
            broker: "RabbitMQ 4.0.5".to_owned(),
            cluster: "a".to_owned(),
            vhost: "/".to_owned(),
        };
        let rank = self.book.len() as u64 + 1;
        self.book.push(Event::new(rank, What::Migration { subject, happened }, origin));
    }

    fn history(&self) -> History {
        let place = Place { cluster: "a".to_owned(), vhost: "/".to_owned() };
        let stored =
            self.book.iter().zip(1..).map(|(event, place)| Stored { place, bytes: event.to_line().into_bytes() });
        let history = History::read(&stored.collect::<Vec<_>>(), place);
        history.check().unwrap();
        history
    }

    fn recorded(&self) -> Beginning {
        self.history().record(&[1]).map_or_else(Beginning::unrecorded, |record| record.before(&self.file.work))
    }

    fn plan(&self, direction: Direction) -> Result<MigrationPlan, MigrationError> {
        match direction {
            Direction::Forward => MigrationPlan::new(&self.file, &self.broker.state()),
            Direction::Back => MigrationPlan::undo(&self.file, &self.broker.state(), &self.recorded()),
        }
    }

    /// As a runner does; `None` when it was killed.
    fn run(&mut self, direction: Direction, killed: Killed) -> Option<Order> {
        let mut run = Run::new();
        let until = self.changes;
        let mut began = false;
        let mut plan = self.plan(direction).unwrap();
        for _ in 0..500 {
            let live = self.broker.state();
            plan = plan.renewed(&self.file, &live).unwrap();
            match run.next(&plan, &live, self.now) {
                Order::Do(action) => {
                    if !began {
                        self.note(match direction {
                            Direction::Forward => Happened::RunBegan { beginning: None },
                            Direction::Back => Happened::UndoBegan,
                        });
                        began = true;
                    }
                    let (step, of, text) = (run.step() + 1, plan.steps.len(), action.to_string());
                    let former = Former::of(&action, &live).filter(|_| direction == Direction::Forward);
                    self.note(Happened::StepBegan { step, of, action: text.clone(), former });
                    if killed == Killed::Before(self.changes - until) {
                        return None;
                    }
                    assert!(play(&mut self.broker, &action), "{action}");
                    self.changes += 1;
                    if killed == Killed::After(self.changes - 1 - until) {
                        return None;
                    }
                    self.note(Happened::StepDone { step, of, action: text });
                }
                Order::LookAt(queues) => {
                    let sights = queues.iter().map(|queue| self.sight(queue)).collect::<Vec<_>>();
                    run.saw_queues(&sights, self.now);
                }
                Order::AskNodes(_) => run.nodes_know(),
                Order::Pause(ms) => self.now += ms,
                end => {
                    if end == Order::Finished {
                        self.note(match direction {
                            Direction::Forward => Happened::Applied,
                            Direction::Back => Happened::Undone,
                        });
                    }
                    return Some(end);
                }
            }
        }
        panic!("it goes on for ever");
    }

    fn sight(&self, queue: &str) -> QueueSight {
        let contents = self.broker.contents(queue);
        QueueSight {
            queue: queue.to_owned(),
            ready: contents.as_ref().map(|contents| contents.ready.len() as u64),
            unacknowledged: contents.as_ref().map(|_| 0),
            consumers: 0,
            lag_ms: 0,
            unconfirmed: false,
        }
    }

    fn run_all(&mut self) {
        assert_eq!(self.run(Direction::Forward, Killed::Never), Some(Order::Finished));
    }

    fn undo(&mut self) -> Order {
        self.run(Direction::Back, Killed::Never).unwrap()
    }

    fn change(&mut self, action: &Action) {
        assert!(play(&mut self.broker, action), "{action}");
    }

    fn table(&self) -> String {
        self.broker.state().canonical()
    }
}

#[test]
fn each_change_is_taken_back_to_the_definitions_of_the_start() {
    for (changes, expected) in FILES {
        let mut host = Host::new(&start(), changes);
        host.run_all();
        let forward = host.changes;
        assert_eq!(host.undo(), Order::Finished, "{changes}");
        assert_eq!(host.table(), start().canonical(), "{changes}");
        assert_eq!(host.changes - forward, expected, "{changes}");
        // And it can run again, and be taken back again.
        host.run_all();
        assert_eq!(host.undo(), Order::Finished, "{changes}");
        assert_eq!(host.table(), start().canonical(), "{changes}");
    }
}

#[test]
fn a_run_that_was_killed_anywhere_is_taken_back_or_run_to_its_end() {
    for (changes, _) in FILES {
        let mut whole = Host::new(&start(), changes);
        whole.run_all();
        for killed in (0..whole.changes).flat_map(|at| [Killed::Before(at), Killed::After(at)]) {
            let mut host = Host::new(&start(), changes);
            assert_eq!(host.run(Direction::Forward, killed), None);
            assert_eq!(host.undo(), Order::Finished, "{changes}, {killed:?}");
            assert_eq!(host.table(), start().canonical(), "{changes}, {killed:?}");

            let mut host = Host::new(&start(), changes);
            host.run(Direction::Forward, killed);
            host.run_all();
            assert_eq!(host.table(), whole.table(), "{changes}, {killed:?}");
            assert_eq!(host.undo(), Order::Finished, "{changes}, {killed:?}");
            assert_eq!(host.table(), start().canonical(), "{changes}, {killed:?}");
        }
    }
}

#[test]
fn an_undo_that_was_killed_anywhere_is_followed_by_another_or_by_the_run() {
    for (changes, steps) in FILES {
        let mut whole = Host::new(&start(), changes);
        whole.run_all();
        for killed in (0..steps).flat_map(|at| [Killed::Before(at), Killed::After(at)]) {
            let mut host = Host::new(&start(), changes);
            host.run_all();
            assert_eq!(host.run(Direction::Back, killed), None, "{changes}, {killed:?}");
            assert_eq!(host.undo(), Order::Finished, "{changes}, {killed:?}");
            assert_eq!(host.table(), start().canonical(), "{changes}, {killed:?}");

            let mut host = Host::new(&start(), changes);
            host.run_all();
            host.run(Direction::Back, killed);
            host.run_all();
            assert_eq!(host.table(), whole.table(), "{changes}, {killed:?}");
            assert_eq!(host.undo(), Order::Finished, "{changes}, {killed:?}");
            assert_eq!(host.table(), start().canonical(), "{changes}, {killed:?}");
        }
    }
}

#[test]
fn what_a_plan_says_before_the_first_step_is_enough_for_an_undo() {
    for (changes, _) in FILES {
        let beginning = MigrationPlan::new(&file(changes), &start()).unwrap().beginning().clone();
        let text = serde_json::to_string(&beginning).unwrap();
        let read: Beginning = serde_json::from_str(&text).unwrap();
        assert_eq!(read, beginning, "{text}");
        let mut host = Host::new(&start(), changes);
        host.run_all();
        let plan = MigrationPlan::undo(&host.file, &host.broker.state(), &read).unwrap();
        assert_eq!(plan.refusal(), None, "{changes}");
        for step in plan.steps.iter().skip(plan.done().unwrap()).filter(|step| step.action.changes()) {
            host.change(&step.action);
        }
        assert_eq!(host.table(), start().canonical(), "{changes}");
    }
}

#[test]
fn what_others_made_while_it_ran_stays() {
    // The second binding is made by somebody else before its step.
    let changes =
        "[{ bind: { exchange: x, queue: q, routing_key: a } }, { bind: { exchange: x, queue: q, routing_key: b } }]";
    let mut host = Host::new(&start(), changes);
    assert_eq!(host.run(Direction::Forward, Killed::After(0)), None);
    let others = BindingDeclaration::queue("x", "q", "b");
    host.change(&Action::Bind(others.clone()));
    host.run_all();
    assert_eq!(host.undo(), Order::Finished);
    let mut expected = start();
    expected.bindings.insert(others);
    assert_eq!(host.table(), expected.canonical());
}

#[test]
fn a_deleted_queue_is_the_point_of_no_return_and_is_named() {
    let changes = "[{ unbind: { exchange: x, queue: q, routing_key: there } }, { unbind: { exchange: x, queue: q, routing_key: argued, arguments: { why: b } } }, { delete: { queue: q } }, { declare: { exchange: { name: e, type: fanout } } }]";
    // Until it is deleted, everything can be taken back.
    for killed in [Killed::After(0), Killed::After(1), Killed::Before(2)] {
        let mut host = Host::new(&start(), changes);
        host.run(Direction::Forward, killed);
        assert_eq!(host.undo(), Order::Finished, "{killed:?}");
        assert_eq!(host.table(), start().canonical(), "{killed:?}");
    }
    for killed in [Killed::After(2), Killed::Before(3), Killed::Never] {
        let mut host = Host::new(&start(), changes);
        host.run(Direction::Forward, killed);
        let table = host.table();
        let error = host.plan(Direction::Back).unwrap_err();
        assert_eq!((error.fields["reason"].as_str(), &error.fields["step"]), (Some("past_return"), &5.into()));
        assert!(error.message.starts_with("step 5 (delete queue q) is done"), "{error}");
        assert_eq!(host.table(), table);
    }
    // A client that declares the queue again does not bring back what it held.
    let mut host = Host::new(&start(), changes);
    host.run_all();
    host.change(&Action::DeclareQueue(QueueDeclaration::durable("q")));
    assert_eq!(host.plan(Direction::Back).unwrap_err().fields["reason"], "past_return");
    // Where there was none, nothing is lost with it.
    let mut host =
        Host::new(&start(), "[{ delete: { queue: never } }, { declare: { exchange: { name: e, type: fanout } } }]");
    host.run_all();
    assert_eq!(host.undo(), Order::Finished);
    assert_eq!(host.table(), start().canonical());
}

/// Runs, lets somebody change something, and undoes; nothing may have changed then.
fn stops(changes: &str, meanwhile: &[Action]) -> String {
    let mut host = Host::new(&start(), changes);
    host.run_all();
    meanwhile.iter().for_each(|action| host.change(action));
    let table = host.table();
    let end = host.undo();
    assert_eq!(host.table(), table, "{end:?}");
    match end {
        Order::Stopped(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_policy_that_was_edited_since_is_not_overwritten() {
    for name in ["limit", "other"] {
        let changes = format!(
            "[{{ policy: {{ name: {name}, pattern: ^q, apply_to: queues, definition: {{ max-length: 9 }} }} }}]"
        );
        let why = stops(&changes, &[Action::SetPolicy(policy(name, 8))]);
        assert!(why.contains(&format!("policy \"{name}\" was changed since")), "{why}");
    }
    let changes = "[{ policy: { name: limit, pattern: ^q, apply_to: queues, definition: { max-length: 9 } } }]";
    let why = stops(changes, &[Action::DeletePolicy(policy("limit", 9))]);
    assert!(why.contains("policy \"limit\" was deleted since"), "{why}");
}

#[test]
fn what_others_use_since_is_not_deleted() {
    let queue = "[{ declare: { queue: { name: fresh } } }]";
    let why = stops(queue, &[Action::Bind(BindingDeclaration::queue("x", "fresh", "theirs"))]);
    assert!(why.contains("queue \"fresh\" is bound as x -> fresh [theirs], which is not the migration's"), "{why}");
    let other = [
        Action::DeleteQueue("fresh".to_owned()),
        Action::DeclareQueue(QueueDeclaration::durable("fresh").with("x-max-length", 3)),
    ];
    let why = stops(queue, &other);
    assert!(why.contains("queue \"fresh\" is not what the migration declared any more"), "{why}");
    let exchange = "[{ declare: { exchange: { name: e, type: fanout } } }]";
    let why = stops(exchange, &[Action::Bind(BindingDeclaration::queue("e", "q", ""))]);
    assert!(why.contains("exchange \"e\" is bound as e -> q [], which is not the migration's"), "{why}");
    // What led there is gone.
    let unbound = "[{ unbind: { exchange: x, queue: q, routing_key: there } }]";
    let why = stops(unbound, &[Action::DeleteQueue("q".to_owned())]);
    assert!(why.contains("queue q is there"), "{why}");
    let deleted = "[{ delete: { exchange: spare } }]";
    let why = stops(deleted, &[Action::DeclareExchange(ExchangeDeclaration::durable("spare", "topic"))]);
    assert!(why.contains("exchange \"spare\" is there again"), "{why}");
}

#[test]
fn a_queue_with_messages_or_consumers_stays_and_says_so() {
    let changes = "[{ declare: { queue: { name: fresh } } }]";
    let mut host = Host::new(&start(), changes);
    host.run_all();
    host.broker.publish(host.owner, Publication::new("", "fresh", "kept")).unwrap();
    let end = host.undo();
    assert!(matches!(&end, Order::Stopped(why) if why.contains("queue \"fresh\" holds 1 message,")), "{end:?}");
    assert_eq!(host.broker.contents("fresh").unwrap().ready.len(), 1);
    host.broker.purge(host.owner, "fresh").unwrap();

    let plan = host.plan(Direction::Back).unwrap();
    let (live, mut run) = (host.broker.state(), Run::new());
    assert_eq!(run.next(&plan, &live, 0), Order::LookAt(vec!["fresh".to_owned()]));
    run.saw_queues(&[QueueSight { consumers: 2, ..host.sight("fresh") }], 0);
    let end = run.next(&plan, &live, 0);
    assert!(matches!(&end, Order::Stopped(why) if why.contains("queue \"fresh\" has 2 consumers,")), "{end:?}");
    assert_eq!(host.undo(), Order::Finished);
    assert_eq!(host.table(), start().canonical());
}

#[test]
fn the_shared_exchanges_stay_where_others_use_them_since() {
    let mut host = Host::new(&start(), "[{ declare: { queue: { name: fresh, dead_letter: true } } }]");
    host.run_all();
    let others = BindingDeclaration::queue("acemq.dlx", "q", "q");
    host.change(&Action::Bind(others.clone()));
    let notes: Vec<String> = host.plan(Direction::Back).unwrap().findings.iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("note: exchange \"acemq.dlx\" stays: it is bound as acemq.dlx -> q [q]"), "{notes:?}");
    assert_eq!(host.undo(), Order::Finished);
    let mut expected = start();
    expected.insert_exchange(ExchangeDeclaration::durable("acemq.dlx", "direct"));
    expected.bindings.insert(others);
    assert_eq!(host.table(), expected.canonical());
}

#[test]
fn an_auto_delete_exchange_that_goes_with_its_last_binding_comes_back_with_it() {
    let mut state = start();
    state.insert_exchange(ExchangeDeclaration { auto_delete: true, ..ExchangeDeclaration::durable("short", "topic") });
    state.bindings.insert(BindingDeclaration::queue("short", "q", "k"));
    let mut host = Host::new(&state, "[{ unbind: { exchange: short, queue: q, routing_key: k } }]");
    host.run_all();
    assert!(!host.broker.state().exchanges.contains_key("short"));
    assert_eq!(host.undo(), Order::Finished);
    assert_eq!(host.table(), state.canonical());
}

#[test]
fn without_a_record_of_what_was_there_nothing_is_taken_back() {
    let changes = "[{ bind: { exchange: x, queue: q, routing_key: more } }, { bind: { exchange: x, queue: q, routing_key: again } }]";
    let refused = |host: &Host| {
        let error = host.plan(Direction::Back).unwrap_err();
        assert_eq!(error.fields["reason"], "changes");
        assert!(error.message.contains("plain changes have no undo: what was there before them is not known any more"));
    };
    let forget = |event: &mut Event| {
        if let What::Migration { happened: Happened::StepBegan { former, .. }, .. } = &mut event.what {
            *former = None;
        }
    };
    // An older runner made all of it, then its beginning, then its end.
    let mut host = Host::new(&start(), changes);
    host.run_all();
    host.book.iter_mut().for_each(forget);
    assert!(!host.book.iter().any(|event| event.to_line().contains("former")));
    refused(&host);
    for old_one_begins in [true, false] {
        let mut host = Host::new(&start(), changes);
        assert_eq!(host.run(Direction::Forward, Killed::After(0)), None);
        if old_one_begins {
            host.book.iter_mut().for_each(forget);
        }
        let written = host.book.len();
        host.run_all();
        if !old_one_begins {
            host.book.iter_mut().skip(written).for_each(forget);
        }
        refused(&host);
    }
    // A file of which nothing ran has nothing to take back.
    assert_eq!(Host::new(&start(), changes).recorded(), Beginning::unrecorded());
}

#[test]
fn a_record_names_what_was_found_and_is_read_by_what_does_not_know_it() {
    let mut host = Host::new(
        &start(),
        "[{ policy: { name: limit, pattern: ^q, apply_to: queues, definition: { max-length: 9 } } }]",
    );
    host.run_all();
    let line = host.book[1].to_line();
    let former =
        r#""former":{"policy":{"pattern":"^q","apply_to":"queues","priority":0,"definition":{"max-length":5}}}"#;
    assert!(line.contains(former), "{line}");
    let unknown = line.replace("\"former\"", "\"something_new\"");
    let event: Event = serde_json::from_str(&unknown).unwrap();
    assert!(matches!(event.what, What::Migration { happened: Happened::StepBegan { former: None, .. }, .. }));
}

#[test]
fn a_file_that_says_something_else_than_what_ran_takes_nothing_back() {
    let mut host = Host::new(&start(), "[{ bind: { exchange: x, queue: q, routing_key: more } }]");
    host.run_all();
    host.file = file("[{ bind: { exchange: x, queue: q, routing_key: less } }]");
    let error = host.plan(Direction::Back).unwrap_err();
    assert!(error.message.contains("step 1 of the file was \"bind x -> q [more]\" when it ran"), "{error}");
}

#[test]
fn a_plan_says_what_takes_each_change_back() {
    let changes = "[{ unbind: { exchange: x, queue: q, routing_key: there } }, { unbind: { exchange: x, queue: q, routing_key: argued, arguments: { why: b } } }, { policy: { name: limit, pattern: ^q, apply_to: queues, definition: { max-length: 9 } } }, { unbind: { exchange: x, queue: q, routing_key: never } }, { delete: { queue: q } }]";
    let text = MigrationPlan::new(&file(changes), &start()).unwrap().to_text();
    assert!(text.contains("unbind x -> q [there]\n             undo: bind x -> q [there]\n"), "{text}");
    assert!(
        text.contains("set policy limit on ^q\n             undo: set policy limit on ^q, as it was before\n"),
        "{text}"
    );
    assert!(text.contains("unbind x -> q [never]\n             undo: nothing, for it is so already\n"), "{text}");
    assert!(text.ends_with("delete queue q (point of no return)\n"), "{text}");
}
