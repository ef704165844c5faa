//! What a message remembers of its deaths: `x-death` and its companions, as each version writes them.
//!
//! A death is remembered once per queue and reason, newest first; dying there again for the same reason adds to the count and
//! moves the entry to the front, and its other fields stay as they were. The versions differ in these points:
//!
//! | | up to 3.12 | 3.13 | from 4.0 |
//! |---|---|---|---|
//! | where it is kept | in the header itself | beside the message | beside the message |
//! | an `x-death` that a client sends | counted on | counted on from 3.13.3 | overwritten |
//! | `x-last-death-*` | not written | written | written |
//! | header `CC` when the queue sets a routing key | taken away | kept | kept |
//! | order in which cycles are looked for | newest first | before 3.13.3 by queue name | newest first |
//!
//! (Up to 3.12 "newest first" holds for the newest entry only, see `record_in_headers`.)
//!
//! Source: `rabbit_dead_letter:make_msg` (3.12), `mc:record_death`, `mc:is_death_cycle`, `mc_amqpl:death_table` (3.13, 4.x).

use super::message::{Message, header_keys};
use crate::rabbitmq::Version;
use crate::rabbitmq::changes::{DEATHS_BESIDE, DEATHS_BY_AGE, OWN_DEATHS_ONLY};
use crate::value::{Table, Value};
use std::fmt;

/// Why a message died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeathReason {
    /// Its time to live ran out when it stood at the head of the queue.
    Expired,
    /// A consumer rejected it without putting it back.
    Rejected,
    /// The queue's limit of length or bytes.
    MaxLen,
    /// It came back to a quorum queue too often.
    DeliveryLimit,
}

impl DeathReason {
    /// The word that `x-death` has for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Rejected => "rejected",
            Self::MaxLen => "maxlen",
            Self::DeliveryLimit => "delivery_limit",
        }
    }
}

impl fmt::Display for DeathReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One entry of `x-death`.
#[derive(Debug, Clone, PartialEq)]
struct Death {
    queue: Vec<u8>,
    reason: Vec<u8>,
    count: i64,
    /// Seconds since 1970, of the first death of this entry.
    time: u64,
    exchange: Vec<u8>,
    keys: Vec<Vec<u8>>,
    original_expiration: Option<Vec<u8>>,
}

/// The deaths that versions from 3.13 on keep beside the message. Earlier ones keep them in its headers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Deaths {
    /// Newest first.
    entries: Vec<Death>,
    /// `x-first-death-*` and `x-last-death-*`, once there was one.
    first: Option<Summary>,
    last: Option<Summary>,
}

#[derive(Debug, Clone, PartialEq)]
struct Summary {
    reason: Vec<u8>,
    queue: Vec<u8>,
    exchange: Vec<u8>,
}

impl Summary {
    fn write(&self, which: &str, headers: &mut Table) {
        for (what, bytes) in [("exchange", &self.exchange), ("queue", &self.queue), ("reason", &self.reason)] {
            headers.insert(format!("x-{which}-death-{what}"), Value::LongStr(bytes.clone()));
        }
    }
}

/// The rules of one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rules {
    in_headers: bool,
    honours_clients: bool,
    by_name: bool,
}

impl Rules {
    fn of(version: Version) -> Self {
        let beside = DEATHS_BESIDE.holds(version);
        let by_age = DEATHS_BY_AGE.holds(version);
        Self {
            in_headers: !beside,
            honours_clients: by_age && !OWN_DEATHS_ONLY.holds(version),
            by_name: beside && !by_age,
        }
    }
}

impl Deaths {
    /// What a publication starts with: nothing, but for the versions that read a client's `x-death`.
    pub(super) fn of_publication(version: Version, headers: &Table) -> Self {
        let mut deaths = Self::default();
        if Rules::of(version).honours_clients
            && let Some(Value::Array(items)) = headers.get(X_DEATH)
        {
            deaths.entries = items.iter().filter_map(Death::read).collect();
            deaths.first = deaths.entries.last().map(Death::summary);
            deaths.last = deaths.entries.first().map(Death::summary);
        }
        deaths
    }

    /// Adds what a consumer sees of the deaths to `headers`.
    pub(super) fn write(&self, headers: &mut Table) {
        if self.entries.is_empty() {
            return;
        }
        headers.insert(X_DEATH, Value::Array(self.entries.iter().map(|death| Value::Table(death.table())).collect()));
        if let Some(first) = &self.first {
            first.write("first", headers);
        }
        if let Some(last) = &self.last {
            last.write("last", headers);
        }
        *headers = headers.sorted();
    }
}

impl Message {
    /// What routing sees of the headers: with the first and the last death, where these are kept beside the message.
    pub(super) fn routing_headers(&self) -> Table {
        let mut headers = self.properties.headers.clone();
        if let (Some(first), Some(last)) = (&self.deaths.first, &self.deaths.last) {
            first.write("first", &mut headers);
            last.write("last", &mut headers);
        }
        headers
    }
}

const X_DEATH: &str = "x-death";

/// The message as it leaves for the dead-letter exchange.
///
/// `override_key` is the queue's dead-letter routing key; without one the message keeps all its keys, those of `BCC` too.
/// `seconds` is the time since 1970.
pub(super) fn die(
    version: Version,
    mut message: Message,
    queue: &str,
    reason: DeathReason,
    exchange: &str,
    override_key: Option<&str>,
    seconds: u64,
) -> Message {
    let rules = Rules::of(version);
    let death = Death {
        queue: queue.into(),
        reason: reason.name().into(),
        count: 1,
        time: seconds,
        exchange: message.exchange.clone().into_bytes(),
        keys: visible_keys(rules, &message),
        original_expiration: message.properties.expiration.clone().map(String::into_bytes),
    };
    if rules.in_headers {
        record_in_headers(&mut message.properties.headers, death);
        if override_key.is_some() {
            message.properties.headers.remove("CC");
        }
    } else {
        record(&mut message.deaths, death);
    }
    message.properties.expiration = None;
    message.ttl = None;
    message.exchange = exchange.to_owned();
    if let Some(key) = override_key {
        message.keys = vec![key.into()];
    }
    message
}

/// The keys that `x-death` shows: with `CC`, without `BCC`.
fn visible_keys(rules: Rules, message: &Message) -> Vec<Vec<u8>> {
    if rules.in_headers {
        let own = message.keys.first().cloned();
        return own.into_iter().chain(header_keys(&message.properties.headers, "CC")).collect();
    }
    let mut keys = message.keys.clone();
    for hidden in &message.bcc {
        if let Some(at) = keys.iter().position(|key| key == hidden) {
            keys.remove(at);
        }
    }
    keys
}

fn record(deaths: &mut Deaths, death: Death) {
    let summary = death.summary();
    deaths.first.get_or_insert_with(|| summary.clone());
    deaths.last = Some(summary);
    let known = deaths.entries.iter().position(|old| old.queue == death.queue && old.reason == death.reason);
    let entry = match known {
        Some(at) => {
            let mut old = deaths.entries.remove(at);
            old.count = old.count.saturating_add(1);
            old
        }
        None => death,
    };
    deaths.entries.insert(0, entry);
}

/// Up to 3.12: the array in the header is changed, whoever wrote it.
///
/// The broker regroups the old entries first, and its regrouping turns their order round. So with three entries and more the
/// newest stands first and the others do not follow by age (measured on 3.10.8). Cycles are looked for in that order too.
fn record_in_headers(headers: &mut Table, death: Death) {
    let old = match headers.get(X_DEATH) {
        None => {
            let first = death.summary();
            headers.insert(X_DEATH, Value::Array(vec![Value::Table(death.table())]));
            first.write("first", headers);
            *headers = headers.sorted();
            return;
        }
        Some(Value::Array(items)) => regrouped(items),
        Some(_) => Vec::new(),
    };
    let is_same =
        |item: &Table| bytes(item, "queue") == Some(&death.queue) && bytes(item, "reason") == Some(&death.reason);
    let entry = match old.iter().find(|item| is_same(item)) {
        Some(known) => {
            let count = known.get("count").and_then(Value::as_integer).unwrap_or(0);
            known.clone().with("count", count.saturating_add(1))
        }
        None => death.table(),
    };
    let others = old.iter().filter(|item| !is_same(item)).cloned();
    let items = std::iter::once(entry.sorted()).chain(others).map(Value::Table).collect();
    headers.insert(X_DEATH, Value::Array(items));
    *headers = headers.sorted();
}

/// One entry for each queue and reason. Entries that a client repeated are counted.
fn regrouped(items: &[Value]) -> Vec<Table> {
    let tables: Vec<&Table> = items
        .iter()
        .filter_map(|item| match item {
            Value::Table(table) => Some(table),
            _ => None,
        })
        .collect();
    if tables.len() < 2 {
        return tables.into_iter().cloned().collect();
    }
    let key = |table: &Table| (bytes(table, "queue").cloned(), bytes(table, "reason").cloned());
    let mut grouped: Vec<Table> = Vec::new();
    for table in &tables {
        if grouped.iter().any(|known| key(known) == key(table)) {
            continue;
        }
        let mut table = (*table).clone();
        if !table.contains("count") {
            let times = tables.iter().filter(|other| key(other) == key(&table)).count();
            table.insert("count", i64::try_from(times).unwrap_or(i64::MAX));
        }
        grouped.push(table);
    }
    grouped.reverse();
    grouped
}

/// Whether a dead letter would come to `target` in a circle that no consumer's rejection is part of. Such a target does not
/// get it. A message that was just rejected goes everywhere.
pub(super) fn is_cycle(version: Version, message: &Message, reason: DeathReason, target: &str) -> bool {
    if reason == DeathReason::Rejected {
        return false;
    }
    let rules = Rules::of(version);
    let target = target.as_bytes();
    if rules.in_headers {
        return is_cycle_in_headers(&message.properties.headers, target);
    }
    let mut order: Vec<(&[u8], &[u8])> =
        message.deaths.entries.iter().map(|death| (death.queue.as_slice(), death.reason.as_slice())).collect();
    if rules.by_name {
        order.sort_unstable();
    }
    for (queue, reason) in order {
        if reason == REJECTED {
            return false;
        }
        if queue == target {
            return true;
        }
    }
    false
}

const REJECTED: &[u8] = b"rejected";

fn is_cycle_in_headers(headers: &Table, target: &[u8]) -> bool {
    let Some(Value::Array(items)) = headers.get(X_DEATH) else { return false };
    for item in items {
        // Whatever is no table was put there by a client, so the circle was not automatic.
        let Value::Table(death) = item else { return false };
        if bytes(death, "reason").is_some_and(|reason| reason == REJECTED) {
            return false;
        }
        if bytes(death, "queue").is_some_and(|queue| queue == target) {
            return true;
        }
    }
    false
}

fn bytes<'a>(table: &'a Table, name: &str) -> Option<&'a Vec<u8>> {
    match table.get(name) {
        Some(Value::LongStr(bytes)) => Some(bytes),
        _ => None,
    }
}

impl Death {
    fn summary(&self) -> Summary {
        Summary { reason: self.reason.clone(), queue: self.queue.clone(), exchange: self.exchange.clone() }
    }

    fn table(&self) -> Table {
        let text = |bytes: &Vec<u8>| Value::LongStr(bytes.clone());
        let mut table = Table::new();
        if let Some(expiration) = &self.original_expiration {
            table.insert("original-expiration", text(expiration));
        }
        table.insert("count", self.count);
        table.insert("reason", text(&self.reason));
        table.insert("queue", text(&self.queue));
        table.insert("time", Value::Timestamp(self.time));
        table.insert("exchange", text(&self.exchange));
        table.insert("routing-keys", Value::Array(self.keys.iter().map(text).collect()));
        table
    }

    fn read(item: &Value) -> Option<Self> {
        let Value::Table(table) = item else { return None };
        let keys = match table.get("routing-keys") {
            Some(Value::Array(keys)) => keys.iter().filter_map(Value::as_text).map(|key| key.into()).collect(),
            _ => Vec::new(),
        };
        Some(Self {
            queue: bytes(table, "queue")?.clone(),
            reason: bytes(table, "reason")?.clone(),
            count: table.get("count").and_then(Value::as_integer).unwrap_or(1),
            time: match table.get("time") {
                Some(Value::Timestamp(seconds)) => *seconds,
                _ => 0,
            },
            exchange: bytes(table, "exchange").cloned().unwrap_or_default(),
            keys,
            original_expiration: bytes(table, "original-expiration").cloned(),
        })
    }
}
