//! Frames of one connection, sorted by channel.

use super::codec::{Reader, Writer};
use super::message::{Delivery, Event, Properties, Returned};
use super::{Close, Failure, Login, Scope};
use acemq_core::value::{Table, Value};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// `(class, method)` numbers.
pub(super) type Method = (u16, u16);

pub(super) const CONNECTION_START_OK: Method = (10, 11);
pub(super) const CONNECTION_TUNE_OK: Method = (10, 31);
pub(super) const CONNECTION_OPEN: Method = (10, 40);
pub(super) const CONNECTION_CLOSE: Method = (10, 50);
pub(super) const CONNECTION_CLOSE_OK: Method = (10, 51);
pub(super) const CHANNEL_OPEN: Method = (20, 10);
pub(super) const CHANNEL_CLOSE: Method = (20, 40);
pub(super) const CHANNEL_CLOSE_OK: Method = (20, 41);
const BASIC_CANCEL: Method = (60, 30);
const BASIC_RETURN: Method = (60, 50);
const BASIC_DELIVER: Method = (60, 60);
const BASIC_GET_OK: Method = (60, 71);
const BASIC_ACK: Method = (60, 80);
const BASIC_NACK: Method = (60, 120);

const METHOD_FRAME: u8 = 1;
const HEADER_FRAME: u8 = 2;
const BODY_FRAME: u8 = 3;
const HEARTBEAT_FRAME: u8 = 8;
const FRAME_END: u8 = 0xce;

/// The answer to a request.
#[derive(Debug)]
pub(super) enum Reply {
    Method(Method, Vec<u8>),
    Got(Box<Delivery>),
}

pub(super) struct Link {
    stream: TcpStream,
    received: Vec<u8>,
    timeout: Duration,
    frame_max: usize,
    channels: BTreeMap<u16, Slot>,
    free: Vec<u16>,
    next: u16,
    closed: Option<Close>,
}

#[derive(Default)]
struct Slot {
    replies: VecDeque<Reply>,
    events: VecDeque<Event>,
    /// Set when the broker closed the channel.
    closed: Option<Close>,
    /// A method whose content is still on its way.
    content: Option<Content>,
    /// The owner is gone; the number is free again once the broker agrees.
    abandoned: bool,
}

struct Content {
    method: Method,
    arguments: Vec<u8>,
    properties: Properties,
    expected: u64,
    body: Vec<u8>,
}

impl Link {
    pub(super) fn open(port: u16, login: &Login) -> Result<(Self, Table), Failure> {
        let stream = TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), login.timeout)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(login.timeout))?;
        let mut link = Self {
            stream,
            received: Vec::new(),
            timeout: login.timeout,
            frame_max: 4096,
            channels: BTreeMap::from([(0, Slot::default())]),
            free: Vec::new(),
            next: 1,
            closed: None,
        };
        link.stream.write_all(b"AMQP\0\0\x09\x01")?;
        let start = link.reply(0)?;
        let mut start = Reader::new(arguments(&start));
        let _protocol = start.u16()?;
        let server_properties = start.table()?;

        let capabilities = [
            "publisher_confirms",
            "exchange_exchange_bindings",
            "basic.nack",
            "consumer_cancel_notify",
            "connection.blocked",
            "authentication_failure_close",
        ];
        let capabilities: Table = capabilities.into_iter().map(|name| (name, Value::Bool(true))).collect();
        let properties = Table::new().with("product", "acemq-tests").with("capabilities", Value::Table(capabilities));
        let credentials = format!("\0{}\0{}", login.user, login.password);
        let start_ok =
            Writer::new().table(&properties).short(b"PLAIN").long(credentials.as_bytes()).short(b"en_US").into_bytes();
        link.send(0, CONNECTION_START_OK, &start_ok)?;

        let tune = link.reply(0)?;
        let mut tune = Reader::new(arguments(&tune));
        let (channel_max, frame_max) = (tune.u16()?, tune.u32()?);
        link.frame_max = frame_max as usize;
        // No heartbeats: nobody would answer them between two requests.
        link.send(0, CONNECTION_TUNE_OK, &Writer::new().u16(channel_max).u32(frame_max).u16(0).into_bytes())?;
        let open = Writer::new().short(login.vhost.as_bytes()).short(b"").u8(0).into_bytes();
        link.call(0, CONNECTION_OPEN, &open)?;
        Ok((link, server_properties))
    }

    pub(super) fn set_timeout(&mut self, timeout: Duration) -> io::Result<()> {
        self.timeout = timeout;
        self.stream.set_write_timeout(Some(timeout))
    }

    pub(super) fn open_channel(&mut self) -> Result<u16, Failure> {
        self.check_open()?;
        let id = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.channels.insert(id, Slot::default());
        self.call(id, CHANNEL_OPEN, &Writer::new().short(b"").into_bytes())?;
        Ok(id)
    }

    pub(super) fn pretend_open(&mut self, id: u16) {
        self.channels.insert(id, Slot::default());
    }

    pub(super) fn is_open(&self, id: u16) -> bool {
        self.closed.is_none() && self.channels.get(&id).is_some_and(|slot| slot.closed.is_none())
    }

    /// The owner of the channel is gone.
    pub(super) fn abandon(&mut self, id: u16) {
        if self.closed.is_some() {
            return;
        }
        let Some(slot) = self.channels.get_mut(&id) else { return };
        if slot.closed.is_some() {
            self.channels.remove(&id);
            self.free.push(id);
            return;
        }
        slot.abandoned = true;
        let close = Writer::new().u16(200).short(b"bye").u16(0).u16(0).into_bytes();
        // When this fails the connection is gone, and its channels with it.
        let _ = self.send(id, CHANNEL_CLOSE, &close);
    }

    /// Closes the channel and waits until the broker agrees; its owner still holds the number.
    pub(super) fn close_channel(&mut self, id: u16) -> Result<(), Failure> {
        let text = b"bye".to_vec();
        let close = Writer::new().u16(200).short(&text).u16(0).u16(0).into_bytes();
        self.call(id, CHANNEL_CLOSE, &close)?;
        if let Some(slot) = self.channels.get_mut(&id) {
            slot.closed = Some(Close { scope: Scope::Channel, code: 200, text, refused: (0, 0) });
        }
        Ok(())
    }

    pub(super) fn close(&mut self) -> Result<(), Failure> {
        self.check_open()?;
        let close = Writer::new().u16(200).short(b"bye").u16(0).u16(0).into_bytes();
        self.call(0, CONNECTION_CLOSE, &close).map(drop)
    }

    /// Sends a method and waits for its answer.
    pub(super) fn call(&mut self, id: u16, method: Method, arguments: &[u8]) -> Result<Reply, Failure> {
        self.send(id, method, arguments)?;
        self.reply(id)
    }

    /// Sends a method that has no answer, or whose answer is asked for later.
    pub(super) fn send(&mut self, id: u16, method: Method, arguments: &[u8]) -> Result<(), Failure> {
        self.check_open()?;
        if !self.is_open(id) {
            return Err(Failure::ChannelClosed);
        }
        let payload = Writer::new().u16(method.0).u16(method.1).raw(arguments).into_bytes();
        let result = self.frame(METHOD_FRAME, id, &payload);
        self.explain(result)
    }

    pub(super) fn send_content(&mut self, id: u16, properties: &Properties, body: &[u8]) -> Result<(), Failure> {
        let header = properties.write(Writer::new().u16(60).u16(0).u64(body.len() as u64)).into_bytes();
        let mut result = self.frame(HEADER_FRAME, id, &header);
        for chunk in body.chunks(self.frame_max - 8) {
            result = result.and_then(|()| self.frame(BODY_FRAME, id, chunk));
        }
        self.explain(result)
    }

    /// A write fails when the broker has closed the socket; what it said before that is the better error.
    fn explain(&mut self, result: io::Result<()>) -> Result<(), Failure> {
        let Err(error) = result else { return Ok(()) };
        let deadline = Instant::now() + self.timeout;
        while self.closed.is_none() {
            if self.receive(deadline).is_err() {
                return Err(error.into());
            }
        }
        self.check_open()
    }

    /// The next answer on a channel.
    pub(super) fn reply(&mut self, id: u16) -> Result<Reply, Failure> {
        let deadline = Instant::now() + self.timeout;
        loop {
            self.check_open()?;
            let slot = self.channels.get_mut(&id).ok_or(Failure::ChannelClosed)?;
            if let Some(reply) = slot.replies.pop_front() {
                return Ok(reply);
            }
            if let Some(close) = &slot.closed {
                return Err(Failure::Refused(close.clone()));
            }
            self.receive(deadline)?;
        }
    }

    /// What the broker says next on a channel without being asked; `None` when it says nothing within `limit`.
    pub(super) fn event(&mut self, id: u16, limit: Duration) -> Result<Option<Event>, Failure> {
        let deadline = Instant::now() + limit;
        loop {
            let slot = self.channels.get_mut(&id).ok_or(Failure::ChannelClosed)?;
            if let Some(event) = slot.events.pop_front() {
                return Ok(Some(event));
            }
            if let Some(close) = &slot.closed {
                return Err(Failure::Refused(close.clone()));
            }
            self.check_open()?;
            match self.receive(deadline) {
                Ok(()) => {}
                Err(Failure::Io(error)) if is_timeout(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    fn check_open(&self) -> Result<(), Failure> {
        match &self.closed {
            None => Ok(()),
            Some(close) => Err(Failure::Refused(close.clone())),
        }
    }

    fn frame(&mut self, kind: u8, id: u16, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let frame = Writer::new().u8(kind).u16(id).u32(length).raw(payload).u8(FRAME_END).into_bytes();
        self.stream.write_all(&frame)
    }

    /// Takes one frame from the socket to where it belongs.
    fn receive(&mut self, deadline: Instant) -> Result<(), Failure> {
        let frame = loop {
            if let Some(frame) = self.take_frame()? {
                break frame;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::from(io::ErrorKind::TimedOut).into());
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut chunk = [0; 16 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(count) => self.received.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        };
        self.sort_in(frame.0, frame.1, frame.2)
    }

    fn take_frame(&mut self) -> Result<Option<(u8, u16, Vec<u8>)>, Failure> {
        let mut reader = Reader::new(&self.received);
        let (Ok(kind), Ok(id), Ok(length)) = (reader.u8(), reader.u16(), reader.u32()) else { return Ok(None) };
        let end = 7 + length as usize;
        let Some(mark) = self.received.get(end) else { return Ok(None) };
        if *mark != FRAME_END {
            return Err(super::Malformed(format!("a frame ends with 0x{mark:02x}")).into());
        }
        let payload = self.received[7..end].to_vec();
        self.received.drain(..=end);
        Ok(Some((kind, id, payload)))
    }

    fn sort_in(&mut self, kind: u8, id: u16, payload: Vec<u8>) -> Result<(), Failure> {
        match kind {
            METHOD_FRAME => {
                let mut reader = Reader::new(&payload);
                let method = (reader.u16()?, reader.u16()?);
                self.sort_in_method(id, method, payload[4..].to_vec())
            }
            HEADER_FRAME | BODY_FRAME => {
                let Some(slot) = self.channels.get_mut(&id) else { return Ok(()) };
                let Some(content) = &mut slot.content else { return Ok(()) };
                if kind == HEADER_FRAME {
                    let mut reader = Reader::new(&payload);
                    let _class_and_weight = reader.u32()?;
                    content.expected = reader.u64()?;
                    content.properties = Properties::read(&mut reader)?;
                } else {
                    content.body.extend_from_slice(&payload);
                }
                slot.finish_content()
            }
            HEARTBEAT_FRAME => Ok(()),
            other => Err(super::Malformed(format!("no frame has type {other}")).into()),
        }
    }

    fn sort_in_method(&mut self, id: u16, method: Method, arguments: Vec<u8>) -> Result<(), Failure> {
        match method {
            CONNECTION_CLOSE => {
                let close = read_close(Scope::Connection, &arguments)?;
                let _ = self.send(0, CONNECTION_CLOSE_OK, &[]);
                self.closed = Some(close);
                return Ok(());
            }
            CHANNEL_CLOSE => {
                let close = read_close(Scope::Channel, &arguments)?;
                self.send(id, CHANNEL_CLOSE_OK, &[])?;
                if let Some(slot) = self.channels.get_mut(&id) {
                    slot.closed = Some(close);
                    // When both sides close at once, close-ok still comes.
                }
                return Ok(());
            }
            _ => {}
        }
        let Some(slot) = self.channels.get_mut(&id) else { return Ok(()) };
        let mut reader = Reader::new(&arguments);
        match method {
            CHANNEL_CLOSE_OK if slot.abandoned => {
                self.channels.remove(&id);
                self.free.push(id);
            }
            BASIC_DELIVER | BASIC_GET_OK | BASIC_RETURN => {
                slot.content = Some(Content {
                    method,
                    arguments,
                    properties: Properties::default(),
                    expected: u64::MAX,
                    body: Vec::new(),
                });
            }
            BASIC_ACK | BASIC_NACK => {
                let (delivery_tag, multiple) = (reader.u64()?, reader.u8()? & 1 == 1);
                slot.events.push_back(match method {
                    BASIC_ACK => Event::Ack { delivery_tag, multiple },
                    _ => Event::Nack { delivery_tag, multiple },
                });
            }
            BASIC_CANCEL => slot.events.push_back(Event::Cancelled { consumer_tag: reader.short()? }),
            // connection.blocked and connection.unblocked
            (10, 60 | 61) => {}
            _ => slot.replies.push_back(Reply::Method(method, arguments)),
        }
        Ok(())
    }
}

impl Slot {
    fn finish_content(&mut self) -> Result<(), Failure> {
        if self.content.as_ref().is_none_or(|content| (content.body.len() as u64) < content.expected) {
            return Ok(());
        }
        let Some(Content { method, arguments, properties, body, .. }) = self.content.take() else { return Ok(()) };
        let mut reader = Reader::new(&arguments);
        match method {
            BASIC_RETURN => self.events.push_back(Event::Returned(Returned {
                code: reader.u16()?,
                text: reader.short()?,
                exchange: reader.short()?,
                routing_key: reader.short()?,
                properties,
                body,
            })),
            BASIC_DELIVER => self.events.push_back(Event::Delivery(Delivery {
                consumer_tag: reader.short()?,
                delivery_tag: reader.u64()?,
                redelivered: reader.u8()? & 1 == 1,
                exchange: reader.short()?,
                routing_key: reader.short()?,
                left: None,
                properties,
                body,
            })),
            _ => self.replies.push_back(Reply::Got(Box::new(Delivery {
                consumer_tag: Vec::new(),
                delivery_tag: reader.u64()?,
                redelivered: reader.u8()? & 1 == 1,
                exchange: reader.short()?,
                routing_key: reader.short()?,
                left: Some(reader.u32()?),
                properties,
                body,
            }))),
        }
        Ok(())
    }
}

fn arguments(reply: &Reply) -> &[u8] {
    match reply {
        Reply::Method(_, arguments) => arguments,
        Reply::Got(_) => &[],
    }
}

fn read_close(scope: Scope, arguments: &[u8]) -> Result<Close, Failure> {
    let mut reader = Reader::new(arguments);
    Ok(Close { scope, code: reader.u16()?, text: reader.short()?, refused: (reader.u16()?, reader.u16()?) })
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}
