//! Running against the embedded broker: to the end, killed after every order, and stopped by what somebody else does.

use super::*;
use crate::embedded::{ConnectionId, EmbeddedBroker, Publication};
use crate::migration::{Action, Order, QueueSight, Run};
use crate::rabbitmq::DeleteQueue;

struct Host {
    broker: EmbeddedBroker,
    owner: ConnectionId,
    file: MigrationFile,
    plan: Option<MigrationPlan>,
    now: u64,
    consumers: u64,
}

impl Host {
    fn new(state: &State, options: &str) -> Self {
        let mut broker = EmbeddedBroker::holding(state);
        let owner = broker.connect();
        Self { broker, owner, file: file("{ name: new, type: quorum }", options), plan: None, now: 0, consumers: 1 }
    }

    fn left(&self, queue: &str) -> u64 {
        self.broker.contents(queue).map_or(0, |contents| contents.ready.len().try_into().unwrap())
    }

    /// One order, done; how the run ended when it did.
    fn turn(&mut self, run: &mut Run) -> Option<Order> {
        let live = self.broker.state();
        let plan = match self.plan.take() {
            Some(plan) => plan.renewed(&self.file, &live),
            None => MigrationPlan::new(&self.file, &live),
        };
        let plan = self.plan.insert(plan.unwrap());
        match run.next(plan, &live, self.now) {
            Order::Do(action) => {
                match &action {
                    Action::DeclareQueue(queue) => drop(self.broker.declare_queue(self.owner, queue).unwrap()),
                    Action::DeclareExchange(exchange) => self.broker.declare_exchange(self.owner, exchange).unwrap(),
                    Action::Bind(binding) => self.broker.bind(self.owner, binding).unwrap(),
                    Action::Unbind(binding) => self.broker.unbind(self.owner, binding).unwrap(),
                    Action::DeleteExchange(exchange) => {
                        self.broker.delete_exchange(self.owner, &exchange.name, false).unwrap();
                    }
                    Action::DeleteQueue(queue) => {
                        assert_eq!(self.broker.delete_queue(self.owner, queue, DeleteQueue::default()).unwrap(), 0);
                    }
                    other => panic!("{other}"),
                }
                None
            }
            Order::LookAt(queues) => {
                let sights: Vec<QueueSight> = queues
                    .iter()
                    .map(|queue| QueueSight {
                        queue: queue.clone(),
                        ready: Some(self.left(queue)),
                        unacknowledged: Some(0),
                        consumers: self.consumers,
                        lag_ms: 0,
                        unconfirmed: false,
                    })
                    .collect();
                run.saw_queues(&sights, self.now);
                None
            }
            Order::AskNodes(_) => {
                run.nodes_know();
                None
            }
            Order::Pause(ms) => {
                self.now += ms;
                None
            }
            end => Some(end),
        }
    }

    fn until_it_ends(&mut self, run: &mut Run) -> Order {
        for _ in 0..2_000 {
            if let Some(end) = self.turn(run) {
                return end;
            }
        }
        panic!("it goes on for ever");
    }
}

#[test]
fn a_run_ends_with_the_new_queue_in_place_and_a_second_one_finds_nothing_to_do() {
    let mut host = Host::new(&several(), "{}");
    assert_eq!(host.until_it_ends(&mut Run::new()), Order::Finished);
    let end = host.broker.state();
    assert!(!end.queues.contains_key("old") && end.queues.contains_key("new"));
    assert_eq!(host.until_it_ends(&mut Run::new()), Order::Finished);
    assert_eq!(host.broker.state(), end);
}

#[test]
fn a_runner_that_is_killed_after_any_order_leaves_what_the_next_one_finishes() {
    let mut expected = Host::new(&several(), "{}");
    expected.until_it_ends(&mut Run::new());
    let orders = {
        let mut host = Host::new(&several(), "{}");
        let mut run = Run::new();
        (0..).take_while(|_| host.turn(&mut run).is_none()).count()
    };
    assert!(orders > 20);
    for killed_after in 0..orders {
        let mut host = Host::new(&several(), "{}");
        let mut run = Run::new();
        for _ in 0..killed_after {
            assert_eq!(host.turn(&mut run), None);
        }
        assert_eq!(host.until_it_ends(&mut Run::new()), Order::Finished, "killed after {killed_after} orders");
        assert_eq!(host.broker.state().canonical(), expected.broker.state().canonical(), "killed after {killed_after}");
    }
}

#[test]
fn a_queue_that_nobody_empties_is_waited_for_and_never_deleted() {
    let mut host = Host::new(&several(), "{ drain: { timeout: 5s } }");
    host.broker.publish(host.owner, Publication::new("y", "a.b", "body")).unwrap();
    let end = host.until_it_ends(&mut Run::new());
    assert!(matches!(&end, Order::Waiting(why) if why.contains("still holds 1 message,")), "{end:?}");
    assert_eq!(host.left("old"), 1);
    host.broker.purge(host.owner, "old").unwrap();
    assert_eq!(host.until_it_ends(&mut Run::new()), Order::Finished);
}

#[test]
fn a_time_limit_too_short_to_believe_that_a_queue_is_empty_is_named() {
    let mut host = Host::new(&several(), "{ drain: { timeout: 5s, stable: 100 } }");
    let end = host.until_it_ends(&mut Run::new());
    let says = "queue \"old\" is empty, and was not for long enough when drain.timeout was over: it has to be found so 100 times";
    assert!(matches!(&end, Order::Waiting(why) if why.starts_with(says)), "{end:?}");
    assert!(host.broker.state().queues.contains_key("old"));
}

#[test]
fn a_new_queue_without_consumers_is_waited_for_before_the_switch() {
    let mut host = Host::new(&several(), "{ drain: { timeout: 5s } }");
    host.consumers = 0;
    let end = host.until_it_ends(&mut Run::new());
    assert!(matches!(&end, Order::Waiting(why) if why.contains("0 of 1 consumer;")), "{end:?}");
    let bound = BindingDeclaration::queue("old.migration", "old", "");
    assert!(host.broker.state().bindings.contains(&bound));
}

#[test]
fn what_arrives_after_the_drain_and_what_a_client_brings_back_stop_the_run() {
    let mut host = Host::new(&several(), "{}");
    let mut run = Run::new();
    while host.broker.state().exchanges.contains_key("old.migration")
        || !host.broker.state().bindings.contains(&BindingDeclaration::queue("x", "new", "a.b"))
    {
        assert_eq!(host.turn(&mut run), None);
    }
    host.broker.publish(host.owner, Publication::new("", "old", "by name")).unwrap();
    let end = host.until_it_ends(&mut run);
    assert!(matches!(&end, Order::Stopped(why) if why.contains("1 message arrived in queue \"old\"")), "{end:?}");
    host.broker.bind(host.owner, &BindingDeclaration::queue("x", "old", "a.b")).unwrap();
    let end = host.until_it_ends(&mut run);
    assert!(
        matches!(&end, Order::Stopped(why) if why.contains("a client brought a binding of the old queue back")),
        "{end:?}"
    );
    assert_eq!(host.left("old"), 1);
}

/// A run that waits for the old queue's last message.
fn at_the_drain(host: &mut Host) -> (Run, MigrationPlan) {
    let mut run = Run::new();
    loop {
        assert_eq!(host.turn(&mut run), None);
        let plan = host.plan.as_ref().unwrap();
        if matches!(plan.steps[run.step()].action, Action::Drain { .. }) {
            return (run, plan.clone());
        }
    }
}

fn zeros(unconfirmed: bool) -> [QueueSight; 1] {
    let queue = "old".to_owned();
    [QueueSight { queue, ready: Some(0), unacknowledged: Some(0), consumers: 0, lag_ms: 11_000, unconfirmed }]
}

#[test]
fn a_leader_is_asked_last_of_all_and_what_it_does_not_say_is_no_zero() {
    let mut host = Host::new(&several(), "{ drain: { poll: 1s, stable: 3 } }");
    let (mut run, plan) = at_the_drain(&mut host);
    let live = host.broker.state();
    // Two rounds of statistics and three looks, then the leader; each time that it is silent all of it again.
    for silent in [true, false] {
        let started = host.now;
        let mut looks = 0;
        let asked = loop {
            match run.next(&plan, &live, host.now) {
                Order::LookAt(_) => {
                    looks += 1;
                    run.saw_queues(&zeros(true), host.now);
                }
                Order::Pause(ms) => host.now += ms,
                other => break other,
            }
        };
        assert_eq!(asked, Order::Confirm(vec!["old".to_owned()]));
        assert!(looks >= 3 && host.now - started >= 11_000, "{looks} looks, {} ms", host.now - started);
        let mut sights = zeros(silent);
        sights[0].ready = (!silent).then_some(0);
        run.saw_queues(&sights, host.now);
        let passes = run.next(&plan, &live, host.now) == Order::Pause(0);
        assert_eq!(passes, !silent);
    }
}

#[test]
fn a_message_that_a_leader_knows_of_is_waited_for() {
    let mut host = Host::new(&several(), "{ drain: { poll: 1s, stable: 1 } }");
    let (mut run, plan) = at_the_drain(&mut host);
    let live = host.broker.state();
    run.saw_queues(&zeros(true), host.now);
    host.now += 11_000;
    assert_eq!(run.next(&plan, &live, host.now), Order::Confirm(vec!["old".to_owned()]));
    let mut sights = zeros(false);
    sights[0].ready = Some(1);
    run.saw_queues(&sights, host.now);
    assert_eq!((run.next(&plan, &live, host.now), run.messages_left()), (Order::Pause(1_000), 1));
}
