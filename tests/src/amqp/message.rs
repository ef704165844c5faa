//! Messages and what the broker says about them.

use super::codec::{Malformed, Reader, Writer};
use acemq_core::value::Table;

/// The properties that travel with a message. `None` is not sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub struct Properties {
    pub content_type: Option<Vec<u8>>,
    pub content_encoding: Option<Vec<u8>>,
    pub headers: Option<Table>,
    /// 1 transient, 2 persistent.
    pub delivery_mode: Option<u8>,
    pub priority: Option<u8>,
    pub correlation_id: Option<Vec<u8>>,
    pub reply_to: Option<Vec<u8>>,
    /// Milliseconds, as text.
    pub expiration: Option<Vec<u8>>,
    pub message_id: Option<Vec<u8>>,
    pub timestamp: Option<u64>,
    pub kind: Option<Vec<u8>>,
    pub user_id: Option<Vec<u8>>,
    pub app_id: Option<Vec<u8>>,
    pub cluster_id: Option<Vec<u8>>,
}

impl Properties {
    pub(super) fn write(&self, writer: Writer) -> Writer {
        let present = [
            self.content_type.is_some(),
            self.content_encoding.is_some(),
            self.headers.is_some(),
            self.delivery_mode.is_some(),
            self.priority.is_some(),
            self.correlation_id.is_some(),
            self.reply_to.is_some(),
            self.expiration.is_some(),
            self.message_id.is_some(),
            self.timestamp.is_some(),
            self.kind.is_some(),
            self.user_id.is_some(),
            self.app_id.is_some(),
            self.cluster_id.is_some(),
        ];
        // The first property has the highest bit.
        let flags = present.iter().fold(0_u16, |flags, bit| flags << 1 | u16::from(*bit)) << 2;
        let short = |writer: Writer, text: &Option<Vec<u8>>| match text {
            Some(text) => writer.short(text),
            None => writer,
        };
        let mut writer = writer.u16(flags);
        writer = short(writer, &self.content_type);
        writer = short(writer, &self.content_encoding);
        if let Some(headers) = &self.headers {
            writer = writer.table(headers);
        }
        for octet in [self.delivery_mode, self.priority].into_iter().flatten() {
            writer = writer.u8(octet);
        }
        for text in [&self.correlation_id, &self.reply_to, &self.expiration, &self.message_id] {
            writer = short(writer, text);
        }
        if let Some(seconds) = self.timestamp {
            writer = writer.u64(seconds);
        }
        for text in [&self.kind, &self.user_id, &self.app_id, &self.cluster_id] {
            writer = short(writer, text);
        }
        writer
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let flags = reader.u16()?;
        let has = |position: u32| flags & (0x8000 >> position) != 0;
        let mut this = Self::default();
        let short = |reader: &mut Reader<'_>, position| match has(position) {
            true => reader.short().map(Some),
            false => Ok(None),
        };
        this.content_type = short(reader, 0)?;
        this.content_encoding = short(reader, 1)?;
        this.headers = if has(2) { Some(reader.table()?) } else { None };
        this.delivery_mode = if has(3) { Some(reader.u8()?) } else { None };
        this.priority = if has(4) { Some(reader.u8()?) } else { None };
        this.correlation_id = short(reader, 5)?;
        this.reply_to = short(reader, 6)?;
        this.expiration = short(reader, 7)?;
        this.message_id = short(reader, 8)?;
        this.timestamp = if has(9) { Some(reader.u64()?) } else { None };
        this.kind = short(reader, 10)?;
        this.user_id = short(reader, 11)?;
        this.app_id = short(reader, 12)?;
        this.cluster_id = short(reader, 13)?;
        Ok(this)
    }
}

/// `basic.publish` and the content that follows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub struct Publish {
    pub exchange: Vec<u8>,
    pub routing_key: Vec<u8>,
    pub mandatory: bool,
    pub immediate: bool,
    pub properties: Properties,
    pub body: Vec<u8>,
}

impl Publish {
    /// An empty message.
    pub fn to(exchange: impl AsRef<[u8]>, routing_key: impl AsRef<[u8]>) -> Self {
        Self { exchange: exchange.as_ref().into(), routing_key: routing_key.as_ref().into(), ..Self::default() }
    }

    /// With this body.
    #[must_use]
    pub fn body(self, body: impl AsRef<[u8]>) -> Self {
        Self { body: body.as_ref().into(), ..self }
    }

    /// With these headers.
    #[must_use]
    pub fn headers(mut self, headers: Table) -> Self {
        self.properties.headers = Some(headers);
        self
    }

    /// To be returned when it reaches no queue.
    #[must_use]
    pub fn mandatory(self) -> Self {
        Self { mandatory: true, ..self }
    }

    /// Written to disk by durable queues.
    #[must_use]
    pub fn persistent(mut self) -> Self {
        self.properties.delivery_mode = Some(2);
        self
    }
}

/// A message that a queue handed out: `basic.deliver` or `basic.get-ok`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub struct Delivery {
    /// Empty for `basic.get`.
    pub consumer_tag: Vec<u8>,
    pub delivery_tag: u64,
    pub redelivered: bool,
    pub exchange: Vec<u8>,
    pub routing_key: Vec<u8>,
    /// Messages that are left, with `basic.get` only.
    pub left: Option<u32>,
    pub properties: Properties,
    pub body: Vec<u8>,
}

/// A message that reached no queue: `basic.return`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub struct Returned {
    pub code: u16,
    pub text: Vec<u8>,
    pub exchange: Vec<u8>,
    pub routing_key: Vec<u8>,
    pub properties: Properties,
    pub body: Vec<u8>,
}

/// What a broker says without being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub enum Event {
    Delivery(Delivery),
    Returned(Returned),
    Ack {
        delivery_tag: u64,
        multiple: bool,
    },
    Nack {
        delivery_tag: u64,
        multiple: bool,
    },
    /// The broker ended this consumer.
    Cancelled {
        consumer_tag: Vec<u8>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_survive_the_wire() {
        let every = Properties {
            content_type: Some(b"a".to_vec()),
            content_encoding: Some(b"b".to_vec()),
            headers: Some(Table::new().with("h", 1)),
            delivery_mode: Some(2),
            priority: Some(9),
            correlation_id: Some(b"c".to_vec()),
            reply_to: Some(b"d".to_vec()),
            expiration: Some(b"5".to_vec()),
            message_id: Some(b"e".to_vec()),
            timestamp: Some(1),
            kind: Some(b"f".to_vec()),
            user_id: Some(b"g".to_vec()),
            app_id: Some(b"h".to_vec()),
            cluster_id: Some(b"i".to_vec()),
        };
        let few = Properties { priority: Some(1), app_id: Some(Vec::new()), ..Properties::default() };
        for properties in [every, few, Properties::default()] {
            let bytes = properties.write(Writer::new()).into_bytes();
            assert_eq!(Properties::read(&mut Reader::new(&bytes)), Ok(properties));
        }
        // Only delivery-mode: bit 12.
        let persistent = Publish::to("", "q").persistent().properties;
        assert_eq!(persistent.write(Writer::new()).into_bytes(), [0x10, 0x00, 2]);
    }
}
