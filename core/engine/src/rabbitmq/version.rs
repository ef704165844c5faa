//! Which broker answers: product and version.

use super::changes::V4_3_QUEUES;
use std::fmt;
use std::str::FromStr;

/// A RabbitMQ version, `major.minor.patch`. Pre-release suffixes are ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 4 in 4.3.6
    pub major: u16,
    /// 3 in 4.3.6
    pub minor: u16,
    /// 6 in 4.3.6
    pub patch: u16,
}

/// The newest patch of each minor version that this engine knows.
const NEWEST_PATCH: [(u16, u16, u16); 13] = [
    (3, 6, 16),
    (3, 7, 28),
    (3, 8, 35),
    (3, 9, 29),
    (3, 10, 25),
    (3, 11, 28),
    (3, 12, 14),
    (3, 13, 7),
    (4, 0, 9),
    (4, 1, 8),
    (4, 2, 9),
    (4, 3, 6),
    (4, 4, 0),
];

impl Version {
    /// The version whose rules hold where nothing else is known: the newest released one that this engine knows.
    pub const NEWEST: Self = Self::new(4, 3, 6);

    /// A version from its three numbers.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }

    /// Whether this version is `major.minor.patch` or later.
    pub fn at_least(self, major: u16, minor: u16, patch: u16) -> bool {
        self >= Self::new(major, minor, patch)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A text that is no version number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionError {
    text: String,
}

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" is no RabbitMQ version; write three numbers as in \"4.0.5\", or two as in \"4.3\" for the newest known patch",
            self.text.escape_debug()
        )
    }
}

impl std::error::Error for VersionError {}

impl FromStr for Version {
    type Err = VersionError;

    /// Reads `4.0.5`, `4.0.5-rc.1`, `4.0.5+deb` or `4.3`; two numbers mean the newest known patch of that minor version.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let error = || VersionError { text: text.to_owned() };
        let core = text.split(['-', '+', '~', ' ']).next().unwrap_or_default();
        let mut numbers = Vec::new();
        for part in core.split('.') {
            if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(error());
            }
            numbers.push(part.parse::<u16>().map_err(|_| error())?);
        }
        match *numbers.as_slice() {
            [major, minor] => {
                let patch =
                    NEWEST_PATCH.iter().find(|known| (known.0, known.1) == (major, minor)).map_or(0, |known| known.2);
                Ok(Self::new(major, minor, patch))
            }
            [major, minor, patch] | [major, minor, patch, _] => Ok(Self::new(major, minor, patch)),
            _ => Err(error()),
        }
    }
}

/// The product that a broker says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Product {
    /// RabbitMQ.
    RabbitMq,
    /// LavinMQ, which speaks AMQP 0-9-1 with rules of its own.
    LavinMq,
    /// Anything else, by the name it gives.
    Other(String),
}

impl Product {
    /// The product of a connection's `product` server property, or of a management API's `product_name`.
    pub fn from_name(name: &str) -> Self {
        match name {
            "RabbitMQ" => Self::RabbitMq,
            "LavinMQ" => Self::LavinMq,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The name as the product writes it.
    pub fn name(&self) -> &str {
        match self {
            Self::RabbitMq => "RabbitMQ",
            Self::LavinMq => "LavinMQ",
            Self::Other(name) => name,
        }
    }
}

/// A broker: its product and, when it told, its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// What it says it is.
    pub product: Product,
    /// Its version; `None` when it did not say, or said something that is no version.
    pub version: Option<Version>,
}

impl Broker {
    /// A RabbitMQ of one version.
    pub const fn rabbitmq(version: Version) -> Self {
        Self { product: Product::RabbitMq, version: Some(version) }
    }

    /// From the `product` and `version` of AMQP's server properties.
    pub fn from_server_properties(product: &str, version: &str) -> Self {
        Self { product: Product::from_name(product), version: version.parse().ok() }
    }

    /// Whether an offer to this broker can be guarded: RabbitMQ from 3.10 on (measured on 3.10.8, 4.0.5 and 4.3.6).
    ///
    /// A *guard* is an argument that no queue of the offered type may have. A broker that has the queue ignores it; one
    /// that has not refuses the declaration because of it, after it has checked everything else.
    pub fn guards_offers(&self) -> bool {
        self.product == Product::RabbitMq && self.version.is_some_and(|version| version.at_least(3, 10, 0))
    }

    /// Whether `basic.nack` with requeue counts nothing against a quorum queue's delivery limit: RabbitMQ from 4.3 on. Before,
    /// each way in which a message comes back does (measured on 3.10.8, 4.0.5 and 4.3.6).
    pub fn puts_back_uncounted(&self) -> bool {
        self.product == Product::RabbitMq && self.version.is_some_and(|version| V4_3_QUEUES.holds(version))
    }
}

impl fmt::Display for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.product.name())?;
        match self.version {
            Some(version) => write!(f, " {version}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_mean_the_newest_known_patch() {
        assert_eq!("4.3".parse(), Ok(Version::new(4, 3, 6)));
        assert_eq!("3.10.8".parse(), Ok(Version::new(3, 10, 8)));
        assert_eq!("4.1.0-beta.2".parse(), Ok(Version::new(4, 1, 0)));
        for bad in ["", "4", "4.", "x.y", "4.0.99999", "-4.0", "4.0.5.6.7"] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
    }

    #[test]
    fn only_rabbitmq_from_3_10_on_guards_offers() {
        assert!(Broker::from_server_properties("RabbitMQ", "3.10.8").guards_offers());
        assert!(!Broker::from_server_properties("RabbitMQ", "3.9.29").guards_offers());
        assert!(!Broker::from_server_properties("RabbitMQ", "unknown").guards_offers());
        assert!(!Broker::from_server_properties("LavinMQ", "4.0.0").guards_offers());
    }
}
