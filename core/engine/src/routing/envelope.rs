//! What routing looks at: the exchange, the routing keys and the headers of a message.

use crate::value::{Table, Value};
use std::borrow::Cow;

/// A message as an exchange sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Envelope<'a> {
    /// The exchange that it is published to; empty for the default exchange.
    pub exchange: Cow<'a, str>,
    /// Its routing keys: its own first, then those of `CC` and `BCC`. All are tried, by every exchange type.
    pub keys: Vec<Cow<'a, [u8]>>,
    /// Its headers.
    pub headers: Cow<'a, Table>,
}

impl<'a> Envelope<'a> {
    /// A message without headers.
    pub fn new(exchange: impl Into<Cow<'a, str>>, key: &'a str) -> Self {
        let keys = vec![Cow::Borrowed(key.as_bytes())];
        Self { exchange: exchange.into(), keys, headers: Cow::Owned(Table::new()) }
    }

    /// This message with these headers; the texts in their arrays `CC` and `BCC` become routing keys.
    ///
    /// Anything else in these arrays is skipped, as the broker skips it. It refuses a message whose `CC` or `BCC` is no
    /// array; here such a header adds no key.
    #[must_use]
    pub fn with_headers(mut self, headers: &'a Table) -> Self {
        self.keys.truncate(1);
        for name in ["CC", "BCC"] {
            let Some(Value::Array(items)) = headers.get(name) else { continue };
            self.keys.extend(items.iter().filter_map(|item| match item {
                Value::LongStr(key) => Some(Cow::Borrowed(key.as_slice())),
                _ => None,
            }));
        }
        self.headers = Cow::Borrowed(headers);
        self
    }
}
