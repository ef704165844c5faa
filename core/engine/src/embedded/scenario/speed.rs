//! The same scenario in less time: where time is real, nobody waits an hour for a message to expire.

use super::step::{Action, Step};
use super::{Scenario, TopologySource};
use crate::topology::Tables;
use crate::value::{Table, Value};

/// Arguments and policy keys whose value is a time in milliseconds.
const TIMES: [&str; 4] = ["x-message-ttl", "x-expires", "message-ttl", "expires"];

impl Scenario {
    /// This scenario with every duration in it divided by `factor`: times of steps, expirations, times to live and times
    /// after which queues expire, also in policies. A factor of 0 counts as 1.
    #[must_use]
    pub fn times_as_fast(mut self, factor: u32) -> Self {
        let factor = u64::from(factor.max(1));
        if let Some(TopologySource::Inline(tables)) = &mut self.topology {
            hasten_tables(tables, factor);
        }
        hasten_steps(&mut self.steps, factor);
        self
    }
}

fn hasten_steps(steps: &mut [Step], factor: u64) {
    for step in steps {
        step.at = step.at.map(|at| at / factor);
        match &mut step.action {
            Some(Action::Advance(milliseconds)) => *milliseconds /= factor,
            Some(Action::Publish(form)) => {
                if let Some(expiration) = &mut form.expiration {
                    expiration.0 /= factor;
                }
            }
            Some(Action::Declare(tables)) => hasten_tables(tables, factor),
            Some(Action::SetPolicy(_, policy)) => hasten_table(&mut policy.definition, factor),
            Some(Action::Repeat(_, steps)) => hasten_steps(steps, factor),
            _ => {}
        }
    }
}

fn hasten_tables(tables: &mut Tables, factor: u64) {
    for queue in &mut tables.queues {
        hasten_table(&mut queue.declaration.arguments, factor);
    }
    for policy in &mut tables.policies {
        hasten_table(&mut policy.definition, factor);
    }
}

fn hasten_table(table: &mut Table, factor: u64) {
    let factor = i64::try_from(factor).unwrap_or(i64::MAX);
    for name in TIMES {
        if let Some(milliseconds) = table.get(name).and_then(Value::as_integer) {
            table.insert(name, Value::I64(milliseconds / factor));
        }
    }
}
