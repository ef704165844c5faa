//! What happens in one life: queues, and steps.

use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::value::{Table, Value};
use acemq_tests::draw::Draw;
use std::fmt;

/// A small topology and what is done with it.
pub struct Life {
    pub queues: Vec<QueueDeclaration>,
    pub exchange: ExchangeDeclaration,
    pub bindings: Vec<BindingDeclaration>,
    pub steps: Vec<Step>,
    /// Whether messages expire. Then the order in which they arrive behind it is not certain.
    pub timed: bool,
}

#[derive(Debug, Clone)]
pub enum Step {
    /// To the default exchange, or to the life's own.
    Publish {
        to_own_exchange: bool,
        key: String,
        properties: Properties,
        body: String,
    },
    /// The next message of a queue.
    Get {
        queue: String,
    },
    /// A delivery that is held, by its place among them.
    Settle {
        held: usize,
        how: How,
    },
    /// Everything that is held, at once.
    SettleAll {
        how: How,
    },
    Recover,
    CloseChannel,
    Purge {
        queue: String,
    },
    Wait(u64),
}

impl Step {
    /// Whether it settles everything that is held.
    pub fn is_about_all(&self) -> bool {
        matches!(self, Self::SettleAll { .. } | Self::Recover | Self::CloseChannel)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Properties {
    pub expiration: Option<u64>,
    pub priority: Option<u8>,
    pub headers: Table,
}

#[derive(Debug, Clone, Copy)]
pub enum How {
    Ack,
    Nack { requeue: bool },
    Reject { requeue: bool },
}

const QUEUES: usize = 4;
/// Milliseconds.
const TTL: u64 = 600;
const WAIT: u64 = 1500;

impl Life {
    /// Messages are published, got, settled; nothing waits.
    pub fn timeless(draw: &mut Draw, name: &str, steps: usize) -> Self {
        let mut life = Self::topology(draw, name, false);
        life.steps = (0..steps).map(|number| life.step(draw, number)).collect();
        life
    }

    /// Messages expire, again and again.
    pub fn timed(draw: &mut Draw, name: &str) -> Self {
        let mut life = Self::topology(draw, name, true);
        let mut number = 0;
        for _ in 0..3 {
            for _ in 0..6 {
                let mut step = life.step(draw, number);
                if let Step::Publish { properties, .. } = &mut step
                    && draw.chance(3)
                {
                    properties.expiration = Some(TTL);
                }
                life.steps.push(step);
                number += 1;
            }
            life.steps.push(Step::Wait(WAIT));
        }
        life
    }

    fn topology(draw: &mut Draw, name: &str, timed: bool) -> Self {
        let queue = |index: usize| format!("{name}-q{index}");
        let exchange = ExchangeDeclaration::durable(format!("{name}-x"), *draw.one_of(&["fanout", "direct", "topic"]));
        let mut queues = Vec::new();
        let mut bindings = Vec::new();
        for index in 0..QUEUES {
            let mut arguments = Table::new();
            let is_quorum = draw.chance(2);
            if is_quorum {
                arguments.insert("x-queue-type", "quorum");
            }
            match draw.below(6) {
                0 => {}
                1 => {
                    arguments.insert("x-dead-letter-exchange", exchange.name.clone());
                }
                2 => {
                    arguments.insert("x-dead-letter-exchange", exchange.name.clone());
                    arguments.insert("x-dead-letter-routing-key", *draw.one_of(&["k", "l"]));
                }
                3 => {
                    arguments.insert("x-dead-letter-exchange", "");
                    arguments.insert("x-dead-letter-routing-key", "nobody");
                }
                _ => {
                    arguments.insert("x-dead-letter-exchange", "");
                    arguments.insert("x-dead-letter-routing-key", queue(draw.below(QUEUES)));
                }
            }
            if draw.chance(3) {
                arguments.insert("x-max-length", i64::try_from(draw.below(3) + 1).unwrap());
                if draw.chance(2) {
                    arguments
                        .insert("x-overflow", *draw.one_of(&["drop-head", "reject-publish", "reject-publish-dlx"]));
                }
            }
            if is_quorum && draw.chance(2) {
                arguments.insert("x-delivery-limit", *draw.one_of(&[0_i64, 1, 2, -1]));
            }
            if !is_quorum && draw.chance(4) {
                arguments.insert("x-max-priority", 5);
            }
            if timed && draw.chance(2) {
                arguments.insert("x-message-ttl", i64::try_from(TTL).unwrap());
            }
            let bounded = arguments.contains("x-max-length");
            queues.push(QueueDeclaration { arguments, ..QueueDeclaration::durable(queue(index)) });
            // Two queues that overflow at the same time race for the queue that both dead-letter to.
            if !bounded && draw.chance(2) {
                bindings.push(BindingDeclaration::queue(
                    exchange.name.clone(),
                    queue(index),
                    *draw.one_of(&["k", "l", "#"]),
                ));
            }
        }
        Self { queues, exchange, bindings, steps: Vec::new(), timed }
    }

    /// The queues that take everything.
    fn unbounded(&self) -> Vec<&str> {
        let unbounded = self.queues.iter().filter(|queue| !queue.arguments.contains("x-max-length"));
        unbounded.map(|queue| queue.name.as_str()).collect()
    }

    fn step(&self, draw: &mut Draw, number: usize) -> Step {
        let queue = |draw: &mut Draw| draw.one_of(&self.queues).name.clone();
        match draw.below(20) {
            0..8 => {
                let to_own_exchange = draw.chance(4);
                let key = if to_own_exchange { (*draw.one_of(&["k", "l"])).to_owned() } else { queue(draw) };
                let mut properties = Properties::default();
                if draw.chance(3) {
                    properties.priority = Some(u8::try_from(draw.below(10)).unwrap());
                }
                for (name, times) in [("CC", 6), ("BCC", 8)] {
                    if !self.unbounded().is_empty() && draw.chance(times) {
                        let copy = (*draw.one_of(&self.unbounded())).to_owned();
                        properties.headers.insert(name, Value::Array(vec![Value::text(copy)]));
                    }
                }
                Step::Publish { to_own_exchange, key, properties, body: format!("m{number}") }
            }
            8..13 => Step::Get { queue: queue(draw) },
            13..17 => Step::Settle { held: draw.below(4), how: how(draw) },
            17 => Step::SettleAll { how: how(draw) },
            18 => draw.one_of(&[Step::Recover, Step::CloseChannel]).clone(),
            _ => {
                if draw.chance(4) {
                    Step::Purge { queue: queue(draw) }
                } else {
                    Step::Get { queue: queue(draw) }
                }
            }
        }
    }
}

fn how(draw: &mut Draw) -> How {
    match draw.below(5) {
        0 => How::Ack,
        1 => How::Nack { requeue: true },
        2 => How::Nack { requeue: false },
        3 => How::Reject { requeue: true },
        _ => How::Reject { requeue: false },
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for queue in &self.queues {
            writeln!(f, "  queue {} {}", queue.name, Value::Table(queue.arguments.clone()).to_json())?;
        }
        writeln!(f, "  exchange {} {}", self.exchange.name, self.exchange.kind)?;
        for binding in &self.bindings {
            writeln!(f, "  binding {} [{}]", binding.destination, binding.routing_key)?;
        }
        for (index, step) in self.steps.iter().enumerate() {
            writeln!(f, "  {index}: {step:?}")?;
        }
        Ok(())
    }
}
