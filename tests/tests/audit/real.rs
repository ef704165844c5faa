//! Publishes examples on real brokers: what the audit says of this version must happen.

use crate::cases;
use crate::embedded::{BODY, besides, expected, setting};
use crate::proofs::{Proof, proof};
use acemq_core::audit::{Code, Example, Finding, audit};
use acemq_core::embedded::DeathReason;
use acemq_core::policy::recognises;
use acemq_core::rabbitmq::{BindingDeclaration, Broker, DestinationType, Version};
use acemq_core::state::{Presence, State};
use acemq_tests::amqp::{Channel, Delivery, Publish};
use acemq_tests::broker::Vhost;
use acemq_tests::on_every_broker;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Waiting is most of what they do.
const THREADS: usize = 6;
const PATIENCE: Duration = Duration::from_secs(20);

on_every_broker! {
    fn every_example_comes_true(node) {
        let open = Mutex::new(cases::all());
        let played = Mutex::new(BTreeMap::<Code, usize>::new());
        let wrong = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let Some(case) = open.lock().unwrap().pop() else { break };
                        let state = State { broker: Broker::rabbitmq(node.version()), ..case.state.clone() };
                        let findings = audit(&state, &case.options).findings;
                        for finding in findings.iter().filter(|finding| finding.example.is_some()) {
                            let vhost = node.fresh_vhost();
                            match comes_true(&vhost, &state, finding) {
                                Ok(true) => *played.lock().unwrap().entry(finding.code).or_default() += 1,
                                Ok(false) => {}
                                Err(why) => {
                                    wrong.lock().unwrap().push(format!("{}: {}: {why}", case.name, finding.message));
                                }
                            }
                        }
                    }
                });
            }
        });
        let wrong = wrong.into_inner().unwrap();
        assert!(wrong.is_empty(), "on {}:\n{}", node.version(), wrong.join("\n"));
        let played = played.into_inner().unwrap();
        for code in Code::ALL {
            match proof(*code) {
                Proof::Example(since) if node.version() >= since.parse::<Version>().unwrap() => {
                    assert!(played.contains_key(code), "no example of {code} was played on {}", node.version());
                }
                _ => {}
            }
        }
    }
}

/// Puts the case into the vhost; false when this broker cannot hold it (a plugin's exchange, what its version refuses).
pub fn declare(vhost: &Vhost<'_>, state: &State) -> bool {
    let connection = vhost.connect();
    // A refusal closes the channel, so each declaration has its own.
    let declared = |declare: &dyn Fn(&Channel) -> bool| declare(&connection.channel().unwrap());
    let version = vhost.node().version();
    for policy in &state.policies {
        let known = |key: &str| recognises(version, key) && !key.starts_with("federation");
        if !policy.definition.iter().all(|(key, _)| known(key)) {
            return false;
        }
        let definition = serde_json::to_value(&policy.definition).unwrap();
        let body = json!({"pattern": policy.pattern, "apply-to": policy.apply_to, "priority": policy.priority, "definition": definition});
        vhost.set_policy(&policy.name, &body);
    }
    let exchanges =
        state.exchanges.values().all(|exchange| declared(&|channel| channel.declare_exchange(exchange).is_ok()));
    let queues = state.queues.values().all(|queue| declared(&|channel| channel.declare_queue(queue).is_ok()));
    let there = |binding: &&BindingDeclaration| match binding.destination_type {
        DestinationType::Queue => state.queue(&binding.destination) != Presence::Absent,
        DestinationType::Exchange => state.exchange(&binding.destination) != Presence::Absent,
    };
    exchanges
        && queues
        && state.bindings.iter().filter(there).all(|binding| declared(&|channel| channel.bind(binding).is_ok()))
}

/// Whether it came true; false when this broker cannot hold the case.
pub fn comes_true(vhost: &Vhost<'_>, state: &State, finding: &Finding) -> Result<bool, String> {
    let example = finding.example.as_ref().unwrap();
    if !declare(vhost, state) {
        return Ok(false);
    }
    let connection = vhost.connect();
    let channel = connection.channel().map_err(|failure| failure.to_string())?;
    channel.confirm_select().map_err(|failure| failure.to_string())?;
    let message = Publish::to(&example.exchange, &example.key).headers(example.headers.clone()).body(BODY);
    channel.publish_confirmed(&message).map_err(|failure| failure.to_string())?;
    for queue in besides(state, example) {
        channel.purge(&queue).map_err(|failure| failure.to_string())?;
    }
    for death in &example.deaths {
        die(&channel, state, &death.queue, death.reason).map_err(|why| format!("in {}: {why}", death.queue))?;
    }
    settle(&channel, state, example)?;
    Ok(true)
}

fn die(channel: &Channel, state: &State, queue: &str, reason: DeathReason) -> Result<(), String> {
    let is_example = |delivery: &Delivery| delivery.body == BODY.as_bytes();
    match reason {
        DeathReason::Rejected => {
            let delivery = get(channel, queue)?;
            if !is_example(&delivery) {
                return Err("another message came first".to_owned());
            }
            channel.reject(delivery.delivery_tag, false).map_err(|failure| failure.to_string())
        }
        // It dies by itself; what follows waits for it.
        DeathReason::Expired => Ok(()),
        DeathReason::MaxLen => {
            wait(channel, |channel| Ok(count(channel, queue)? > 0))?;
            for _ in 0..setting(state, queue, "max-length") {
                let filler = Publish::to("", queue).body("filler");
                channel.publish_confirmed(&filler).map_err(|failure| failure.to_string())?;
            }
            Ok(())
        }
        DeathReason::DeliveryLimit => {
            for _ in 0..=setting(state, queue, "delivery-limit") {
                let delivery = get(channel, queue)?;
                channel.reject(delivery.delivery_tag, true).map_err(|failure| failure.to_string())?;
            }
            Ok(())
        }
    }
}

fn get(channel: &Channel, queue: &str) -> Result<Delivery, String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(delivery) = channel.get(queue, false).map_err(|failure| failure.to_string())? {
            return Ok(delivery);
        }
        if Instant::now() > deadline {
            return Err("the message did not come".to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn count(channel: &Channel, queue: &str) -> Result<u32, String> {
    let request = acemq_tests::amqp::QueueRequest::passive(queue);
    channel.declare_queue(request).map(|ok| ok.messages).map_err(|failure| failure.to_string())
}

fn wait(channel: &Channel, mut until: impl FnMut(&Channel) -> Result<bool, String>) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    while !until(channel)? {
        if Instant::now() > deadline {
            return Err("it did not come to that in time".to_owned());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Waits until the example is where it must be and stays there longer than any message of a case waits.
fn settle(channel: &Channel, state: &State, example: &Example) -> Result<(), String> {
    let expected = expected(example);
    let kept = matches!(example.outcome, acemq_core::audit::Outcome::Kept);
    let deadline = Instant::now() + PATIENCE;
    let calm = Duration::from_millis(if example.deaths.is_empty() { 50 } else { 1_000 });
    let mut since = None;
    let mut fillers = BTreeSet::new();
    for death in example.deaths.iter().filter(|death| death.reason == DeathReason::MaxLen) {
        fillers.insert(death.queue.clone());
    }
    loop {
        let mut holders = BTreeSet::new();
        for queue in state.queues.keys().filter(|queue| !fillers.contains(*queue)) {
            if count(channel, queue)? > 0 {
                holders.insert(queue.clone());
            }
        }
        // What waits for its dead-letter target is not among the ready messages.
        let right = holders == expected || kept && holders.is_empty();
        match (right, since) {
            (true, None) => since = Some(Instant::now()),
            (true, Some(start)) if start.elapsed() > calm => break,
            (true, Some(_)) => {}
            (false, _) => since = None,
        }
        if Instant::now() > deadline {
            return Err(format!("{holders:?} have it instead of {expected:?}\n{}", example.happens));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    for queue in &fillers {
        while let Some(delivery) = channel.get(queue, true).map_err(|failure| failure.to_string())? {
            if delivery.body == BODY.as_bytes() {
                return Err(format!("it is in {queue}"));
            }
        }
    }
    Ok(())
}
