//! Reading a recording.

use acemq_core::rabbitmq::Version;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// Requests and what each broker answered to them.
#[derive(Debug, Clone, Deserialize)]
pub struct Recording {
    /// Versions by label.
    #[serde(default)]
    pub brokers: BTreeMap<String, String>,
    /// The requests.
    pub cases: Vec<Case>,
}

/// One request.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    /// Its name in reports.
    pub id: String,
    /// What was asked.
    pub request: Object<Box<RawValue>>,
    /// What was answered.
    pub answers: Vec<Answer>,
}

/// An answer that some brokers gave alike.
#[derive(Debug, Clone, Deserialize)]
pub struct Answer {
    /// Their labels.
    pub versions: Vec<String>,
    /// `channel.close`, `connection.close`, `queue.declare-ok` …
    pub outcome: String,
    /// The code of a refusal.
    pub code: Option<u16>,
    /// The text of a refusal.
    pub text: Option<String>,
    /// The name of a declared queue.
    pub name: Option<String>,
    /// How many messages the queue held.
    pub messages: Option<u32>,
}

/// AMQP's `CHANNEL_ERROR`.
const CHANNEL_ERROR: u16 = 504;

impl Answer {
    /// Whether the broker complains about the channel (never opened, opened twice) and not about what was asked on it.
    pub fn is_about_the_channel(&self) -> bool {
        self.code == Some(CHANNEL_ERROR)
    }
}

impl Recording {
    /// Reads a recording.
    ///
    /// # Errors
    /// What is wrong with the file, with line and column.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|error| format!("no recording of broker answers: {error}"))
    }

    /// The labels of all brokers that are named or answer.
    pub fn labels(&self) -> Vec<&str> {
        let answers = self.cases.iter().flat_map(|case| &case.answers).flat_map(|answer| &answer.versions);
        let mut labels: Vec<&str> = self.brokers.keys().chain(answers).map(String::as_str).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    /// The version behind a label.
    ///
    /// # Errors
    /// It is no version.
    pub fn version(&self, label: &str) -> Result<Version, String> {
        let text = self.brokers.get(label).map_or(label, String::as_str);
        text.parse().map_err(|error| format!("broker \"{label}\": {error}"))
    }
}

/// The text that a client shows: what was recorded as `\xHH` is a byte that is no UTF-8.
pub fn lossy(recorded: &str) -> String {
    let mut bytes = Vec::with_capacity(recorded.len());
    let mut rest = recorded;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        let escaped = after.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|byte| *byte >= 0x80);
        match (escaped, after.get(2..)) {
            (Some(byte), Some(tail)) => {
                bytes.push(byte);
                rest = tail;
            }
            _ => {
                bytes.extend_from_slice(b"\\x");
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A JSON object in its own order: of several arguments the broker names the first one.
#[derive(Debug, Clone)]
pub struct Object<T>(pub Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<T>, A::Error> {
                let mut entries: Vec<(String, T)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, T>()? {
                    if entries.iter().any(|(known, _)| *known == key) {
                        return Err(A::Error::custom(format!("duplicate key \"{key}\"")));
                    }
                    entries.push((key, value));
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_keeps_its_order_and_refuses_duplicates() {
        let object: Object<u8> = serde_json::from_str(r#"{"b":1,"a":2}"#).unwrap();
        assert_eq!(object.0, [("b".to_owned(), 1), ("a".to_owned(), 2)]);
        assert!(serde_json::from_str::<Object<u8>>(r#"{"b":1,"b":2}"#).is_err());
    }

    #[test]
    fn bytes_that_are_no_utf8_are_told_from_backslashes_in_names() {
        assert_eq!(lossy(r"'ü\xc3..."), "'ü\u{fffd}...");
        assert_eq!(lossy(r"a\x41b \xzz \x"), r"a\x41b \xzz \x");
        // Two of a character's three bytes are one replacement character, as every client shows them.
        assert_eq!(lossy(r"\xe6\x97..."), "\u{fffd}...");
    }
}
