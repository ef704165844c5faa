//! Topic matching: does a routing key fit a binding's pattern?
//!
//! A topic exchange compares *words*, never characters. Keys and patterns are bytes, split at every dot:
//!
//! * the empty key has **no** words; any other key with n dots has n + 1, and some of them may be empty (`a..b`, `.`);
//! * in a pattern the word `*` stands for exactly one word, an empty one too, and `#` for any number of words, none included;
//! * everything else is literal, also `a*`, `##` or `*#`: a wildcard is a whole word. In a routing key nothing is special.
//!
//! So `*` does not match the empty key, `a.#` matches `a`, and `*.*` matches `.`. Case counts; nothing is normalised.
//! Measured alike on RabbitMQ 3.8.9, 3.10.8, 4.0.5 and 4.3.6. (4.3.0 alone let an empty binding key match the empty routing
//! key of every other topic exchange; 4.3.1 repaired it.)
//!
//! ```
//! use acemq_core::topic::{self, TopicPattern};
//!
//! assert!(topic::matches("orders.*.eu", "orders.new.eu"));
//! let all_orders = TopicPattern::new("orders.#");
//! assert!(all_orders.matches("orders") && all_orders.matches("orders.new.eu"));
//! assert!(!all_orders.matches("ordersnew"));
//! ```

mod alignment;
mod classes;
mod intern;
mod keys;
mod matcher;
mod pattern;
mod words;

pub use alignment::{Alignment, Pair};
pub use classes::{KeyClass, KeySet, TooManyClasses, key_classes};
pub use keys::{Keys, KeysError, Matches};
pub use matcher::{Scratch, TopicMatcher};
pub use pattern::{TopicPattern, matches};
pub use words::Words;
