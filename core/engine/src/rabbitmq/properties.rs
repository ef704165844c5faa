//! The properties that travel with a message.

use crate::value::Table;

/// The basic properties of AMQP 0-9-1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties {
    /// MIME type of the body.
    pub content_type: Option<String>,
    /// MIME encoding of the body.
    pub content_encoding: Option<String>,
    /// Application headers. Empty and absent are one.
    pub headers: Table,
    /// 1 transient, 2 persistent.
    pub delivery_mode: Option<u8>,
    /// 0 to 255; what a queue makes of it depends on its type.
    pub priority: Option<u8>,
    /// Which request this answers.
    pub correlation_id: Option<String>,
    /// Where to answer.
    pub reply_to: Option<String>,
    /// Time to live in milliseconds, as text. It holds in the first queue only.
    pub expiration: Option<String>,
    /// The application's own id.
    pub message_id: Option<String>,
    /// Seconds since 1970.
    pub timestamp: Option<u64>,
    /// The application's name for the kind of message.
    pub kind: Option<String>,
    /// The user who publishes; checked against the connection's user.
    pub user_id: Option<String>,
    /// The application that publishes.
    pub app_id: Option<String>,
    /// Deprecated by AMQP.
    pub cluster_id: Option<String>,
}

impl Properties {
    /// How many bytes they take on the wire: two for the flags, then each property that is there.
    pub fn encoded_len(&self) -> u64 {
        let short = |text: &Option<String>| text.as_ref().map_or(0, |text| 1 + text.len());
        let texts = [
            &self.content_type,
            &self.content_encoding,
            &self.correlation_id,
            &self.reply_to,
            &self.expiration,
            &self.message_id,
            &self.kind,
            &self.user_id,
            &self.app_id,
            &self.cluster_id,
        ];
        let headers = if self.headers.is_empty() { 0 } else { self.headers.encoded_len() };
        let octets = usize::from(self.delivery_mode.is_some()) + usize::from(self.priority.is_some());
        let timestamp = if self.timestamp.is_some() { 8 } else { 0 };
        let length = 2 + texts.into_iter().map(short).sum::<usize>() + headers + octets + timestamp;
        u64::try_from(length).unwrap_or(u64::MAX)
    }
}

/// Why a text is no `expiration`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpirationFault {
    /// It does not start with a number.
    NoInteger,
    /// Something stands behind the number.
    Leftover(String),
    /// Below zero.
    Negative(i128),
    /// Above the limit that holds from 3.10.2 on.
    TooLarge(i128),
}

/// The longest time to live, in milliseconds (3.10.2 and later).
pub const LONGEST_TTL: u64 = 315_360_000_000;

/// Reads an `expiration` as `rabbit_basic:parse_expiration` does: an optional sign and digits, nothing else. `limited` says
/// whether the version has an upper limit.
///
/// # Errors
/// What is wrong with it.
pub fn parse_expiration(text: &str, limited: bool) -> Result<u64, ExpirationFault> {
    let digits_at = usize::from(text.starts_with(['+', '-']));
    let unsigned = text.get(digits_at..).unwrap_or_default();
    let end = unsigned.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(unsigned.len());
    let (digits, rest) = unsigned.split_at_checked(end).unwrap_or_default();
    if digits.is_empty() {
        return Err(ExpirationFault::NoInteger);
    }
    if !rest.is_empty() {
        return Err(ExpirationFault::Leftover(rest.to_owned()));
    }
    let magnitude = digits.parse::<i128>().unwrap_or(i128::MAX);
    let number = if text.starts_with('-') { -magnitude } else { magnitude };
    if number < 0 {
        return Err(ExpirationFault::Negative(number));
    }
    match u64::try_from(number) {
        Ok(milliseconds) if milliseconds <= LONGEST_TTL || !limited => Ok(milliseconds),
        _ => Err(ExpirationFault::TooLarge(number)),
    }
}
