//! A refusal's text as a broker of one version builds, cuts and sends it.
//!
//! The text travels as a short string, so it is limited to 255 bytes, and the versions differ in how they get there:
//!
//! * up to 3.11 a text is a list of bytes, cut after 252 of them;
//! * 3.12 to 4.0.4 it is a list of characters that is then taken for bytes: a character above 255 crashes the channel;
//! * from 4.0.5 it is cut after 252 *characters*, and a result of more than 255 bytes crashes the channel.
//!
//! A crash answers 541 `INTERNAL_ERROR` and closes the connection.

use super::resource::Resource;
use super::{Conditions, Refused, Scope};
use crate::rabbitmq::Version;
use crate::rabbitmq::changes::{CHARACTER_TEXTS, UTF8_TEXTS};
use crate::rabbitmq::term;
use crate::value::Value;

/// The longest reply text, in bytes or characters.
const LIMIT: usize = 255;
/// What a longer one ends in.
const ELLIPSIS: &str = "...";

/// The reply codes of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    AccessRefused,
    NotFound,
    ResourceLocked,
    PreconditionFailed,
    FrameError,
    CommandInvalid,
    ChannelError,
    NotAllowed,
    NotImplemented,
    InternalError,
}

impl Code {
    const fn number(self) -> u16 {
        match self {
            Self::AccessRefused => 403,
            Self::NotFound => 404,
            Self::ResourceLocked => 405,
            Self::PreconditionFailed => 406,
            Self::FrameError => 501,
            Self::CommandInvalid => 503,
            Self::ChannelError => 504,
            Self::NotAllowed => 530,
            Self::NotImplemented => 540,
            Self::InternalError => 541,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::AccessRefused => "ACCESS_REFUSED",
            Self::NotFound => "NOT_FOUND",
            Self::ResourceLocked => "RESOURCE_LOCKED",
            Self::PreconditionFailed => "PRECONDITION_FAILED",
            Self::FrameError => "FRAME_ERROR",
            Self::CommandInvalid => "COMMAND_INVALID",
            Self::ChannelError => "CHANNEL_ERROR",
            Self::NotAllowed => "NOT_ALLOWED",
            Self::NotImplemented => "NOT_IMPLEMENTED",
            Self::InternalError => "INTERNAL_ERROR",
        }
    }

    const fn scope(self) -> Scope {
        match self {
            Self::AccessRefused | Self::NotFound | Self::ResourceLocked | Self::PreconditionFailed => Scope::Channel,
            Self::FrameError
            | Self::CommandInvalid
            | Self::ChannelError
            | Self::NotAllowed
            | Self::NotImplemented
            | Self::InternalError => Scope::Connection,
        }
    }
}

/// How a version turns a text into bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// Every element is a byte.
    Bytes,
    /// Every element is a character, sent as one byte.
    CharactersAsBytes,
    /// Every element is a character, sent as UTF-8.
    Utf8,
}

/// The explanation of a refusal while it is put together.
///
/// In the versions that build texts from bytes, each `char` stands for the byte of the same number.
#[derive(Debug, Clone)]
pub(super) struct Text {
    encoding: Encoding,
    characters: String,
}

impl Text {
    pub(super) fn new(version: Version) -> Self {
        let encoding = if UTF8_TEXTS.holds(version) {
            Encoding::Utf8
        } else if CHARACTER_TEXTS.holds(version) {
            Encoding::CharactersAsBytes
        } else {
            Encoding::Bytes
        };
        Self { encoding, characters: String::with_capacity(LIMIT) }
    }

    /// Words of the broker's own (ASCII).
    pub(super) fn plain(mut self, words: &str) -> Self {
        self.characters.push_str(words);
        self
    }

    /// A name or a byte string as it is: nothing is escaped.
    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) if self.encoding != Encoding::Bytes => self.characters.push_str(text),
            // A binary that is no UTF-8 is printed byte by byte in every version.
            _ => self.characters.extend(bytes.iter().copied().map(char::from)),
        }
        self
    }

    /// `queue 'N' in vhost 'V'`
    pub(super) fn resource(self, conditions: &Conditions, resource: Resource<'_>) -> Self {
        self.plain(resource.kind.word())
            .plain(" '")
            .raw(resource.name.as_bytes())
            .plain("' in vhost '")
            .raw(conditions.vhost.as_bytes())
            .plain("'")
    }

    /// `before`, a value and `after`, formatted on their own: byte strings raw, everything else as an Erlang term.
    pub(super) fn value(self, before: &str, value: &Value, after: &str) -> Self {
        let text = self.plain(before);
        let text = match value {
            Value::LongStr(bytes) | Value::Binary(bytes) => text.raw(bytes),
            other => text.term_after(other, before.len()),
        };
        text.plain(after)
    }

    /// A value as an Erlang term, byte strings too, formatted together with all that stands before it.
    pub(super) fn term(self, value: &Value) -> Self {
        let before = self.characters.chars().count();
        self.term_after(value, before)
    }

    fn term_after(self, value: &Value, before: usize) -> Self {
        let printed = term::print(value, self.encoding != Encoding::Bytes, before + 1);
        self.plain(&printed)
    }

    /// A text within the text, as Erlang prints one: in double quotes, or as a list of numbers when not all of it is
    /// printable.
    pub(super) fn quoted(self, before: &str, raw: &[u8], after: &str) -> Self {
        let inner = Self { encoding: self.encoding, characters: String::new() }.plain(before).raw(raw).plain(after);
        let printed = term::string(&inner.characters);
        self.plain(&printed)
    }

    /// The refusal with this explanation.
    pub(super) fn refuse(self, code: Code) -> Refused {
        let whole = [code.name(), " - ", &self.characters].concat();
        let refused = |text| Refused { code: code.number(), text, scope: code.scope() };
        if whole.len() <= LIMIT && whole.is_ascii() {
            // Alike in every encoding.
            return refused(whole);
        }
        let bytes = match self.encoding {
            Encoding::Bytes | Encoding::CharactersAsBytes => {
                let mut bytes = Vec::with_capacity(whole.len());
                for character in whole.chars() {
                    match u8::try_from(u32::from(character)) {
                        Ok(byte) => bytes.push(byte),
                        Err(_) => return crash(),
                    }
                }
                if bytes.len() > LIMIT {
                    bytes.truncate(LIMIT - ELLIPSIS.len());
                    bytes.extend_from_slice(ELLIPSIS.as_bytes());
                }
                bytes
            }
            Encoding::Utf8 if whole.chars().count() > LIMIT => {
                let mut kept: String = whole.chars().take(LIMIT - ELLIPSIS.len()).collect();
                kept.push_str(ELLIPSIS);
                kept.into_bytes()
            }
            Encoding::Utf8 => whole.into_bytes(),
        };
        if bytes.len() > LIMIT {
            return crash();
        }
        refused(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The answer to a request that crashes the channel's process.
pub(super) fn crash() -> Refused {
    let code = Code::InternalError;
    Refused { code: code.number(), text: code.name().to_owned(), scope: code.scope() }
}

/// The answer to a short string that is no UTF-8.
pub(super) fn malformed_short_string() -> Refused {
    let code = Code::FrameError;
    Refused { code: code.number(), text: format!("{} - Malformed UTF-8 in shortstr", code.name()), scope: code.scope() }
}
