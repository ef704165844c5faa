//! AMQP 0-9-1 on the wire, as RabbitMQ reads it: every field type by its own letter, tables in their own order.

use acemq_core::value::{Table, Value};

/// Bytes that are not what AMQP 0-9-1 says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub String);

/// Arguments of a method, written one after the other.
#[derive(Debug, Clone, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Nothing written yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// An octet.
    #[must_use]
    pub fn u8(mut self, value: u8) -> Self {
        self.bytes.push(value);
        self
    }

    /// A 16-bit number.
    #[must_use]
    pub fn u16(self, value: u16) -> Self {
        self.raw(&value.to_be_bytes())
    }

    /// A 32-bit number.
    #[must_use]
    pub fn u32(self, value: u32) -> Self {
        self.raw(&value.to_be_bytes())
    }

    /// A 64-bit number.
    #[must_use]
    pub fn u64(self, value: u64) -> Self {
        self.raw(&value.to_be_bytes())
    }

    /// Bits, the first one lowest, packed into one octet.
    #[must_use]
    pub fn bits(self, bits: &[bool]) -> Self {
        self.u8(bits.iter().rev().fold(0, |octet, bit| octet << 1 | u8::from(*bit)))
    }

    /// At most 255 bytes.
    ///
    /// # Panics
    /// When `text` is longer: no such frame exists.
    #[must_use]
    pub fn short(self, text: &[u8]) -> Self {
        let length = u8::try_from(text.len()).expect("a short string has at most 255 bytes");
        self.u8(length).raw(text)
    }

    /// A long string.
    #[must_use]
    pub fn long(self, text: &[u8]) -> Self {
        self.u32(length(text)).raw(text)
    }

    /// A table.
    #[must_use]
    pub fn table(self, table: &Table) -> Self {
        let mut entries = Self::new();
        for (name, value) in table.iter() {
            entries = entries.short(name.as_bytes()).value(value);
        }
        self.long(&entries.bytes)
    }

    /// A value behind its letter.
    #[must_use]
    pub fn value(self, value: &Value) -> Self {
        let this = self.u8(value.wire_letter() as u8);
        match value {
            Value::Bool(flag) => this.u8(u8::from(*flag)),
            Value::I8(number) => this.raw(&number.to_be_bytes()),
            Value::U8(number) => this.u8(*number),
            Value::I16(number) => this.raw(&number.to_be_bytes()),
            Value::U16(number) => this.u16(*number),
            Value::I32(number) => this.raw(&number.to_be_bytes()),
            Value::U32(number) => this.u32(*number),
            Value::I64(number) => this.raw(&number.to_be_bytes()),
            Value::F32(number) => this.raw(&number.to_be_bytes()),
            Value::F64(number) => this.raw(&number.to_be_bytes()),
            Value::Decimal { scale, unscaled } => this.u8(*scale).u32(*unscaled),
            Value::LongStr(bytes) | Value::Binary(bytes) => this.long(bytes),
            Value::Timestamp(seconds) => this.u64(*seconds),
            Value::Array(items) => {
                let items = items.iter().fold(Self::new(), Self::value);
                this.long(&items.bytes)
            }
            Value::Table(table) => this.table(table),
            Value::Void => this,
        }
    }

    /// Bytes as they are.
    #[must_use]
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("a test sends less than 4 GiB")
}

/// Arguments of a method, read one after the other.
pub struct Reader<'a> {
    rest: &'a [u8],
}

type Read<T> = Result<T, Malformed>;

impl<'a> Reader<'a> {
    /// Reads `bytes` from the start.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether everything was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| Malformed(format!("expected {count} bytes more, found {}", self.rest.len())))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }

    /// An octet.
    pub fn u8(&mut self) -> Read<u8> {
        self.array::<1>().map(|[octet]| octet)
    }

    /// A 16-bit number.
    pub fn u16(&mut self) -> Read<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// A 32-bit number.
    pub fn u32(&mut self) -> Read<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A 64-bit number.
    pub fn u64(&mut self) -> Read<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A short string.
    pub fn short(&mut self) -> Read<Vec<u8>> {
        let length = self.u8()?;
        self.take(length.into()).map(<[u8]>::to_vec)
    }

    /// A long string.
    pub fn long(&mut self) -> Read<&'a [u8]> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    /// A table.
    pub fn table(&mut self) -> Read<Table> {
        let mut entries = Reader::new(self.long()?);
        let mut table = Table::new();
        while !entries.is_empty() {
            let name = entries.short()?;
            let value = entries.value()?;
            table.insert(String::from_utf8_lossy(&name), value);
        }
        Ok(table)
    }

    /// A value behind its letter.
    pub fn value(&mut self) -> Read<Value> {
        let letter = self.u8()?;
        Ok(match letter {
            b't' => Value::Bool(self.u8()? != 0),
            b'b' => Value::I8(i8::from_be_bytes(self.array()?)),
            b'B' => Value::U8(self.u8()?),
            b's' => Value::I16(i16::from_be_bytes(self.array()?)),
            b'u' => Value::U16(self.u16()?),
            b'I' => Value::I32(i32::from_be_bytes(self.array()?)),
            b'i' => Value::U32(self.u32()?),
            b'l' | b'L' => Value::I64(i64::from_be_bytes(self.array()?)),
            b'f' => Value::F32(f32::from_be_bytes(self.array()?)),
            b'd' => Value::F64(f64::from_be_bytes(self.array()?)),
            b'D' => Value::Decimal { scale: self.u8()?, unscaled: self.u32()? },
            b'S' => Value::LongStr(self.long()?.to_vec()),
            b'x' => Value::Binary(self.long()?.to_vec()),
            b'T' => Value::Timestamp(self.u64()?),
            b'A' => {
                let mut items = Reader::new(self.long()?);
                let mut array = Vec::new();
                while !items.is_empty() {
                    array.push(items.value()?);
                }
                Value::Array(array)
            }
            b'F' => Value::Table(self.table()?),
            b'V' => Value::Void,
            other => return Err(Malformed(format!("no field type has the letter 0x{other:02x}"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_order_and_every_type() {
        let table = Table::from([
            ("z", Value::Bool(true)),
            ("a", Value::I8(-1)),
            ("b", Value::U8(200)),
            ("c", Value::I16(-300)),
            ("d", Value::U16(60000)),
            ("e", Value::I32(-70000)),
            ("f", Value::U32(4_000_000_000)),
            ("g", Value::I64(-5_000_000_000)),
            ("h", Value::F32(1.5)),
            ("i", Value::F64(-0.0)),
            ("j", Value::Decimal { scale: 2, unscaled: 314 }),
            ("k", Value::LongStr(vec![0xff, 0])),
            ("l", Value::Binary(vec![1])),
            ("m", Value::Timestamp(1_700_000_000)),
            ("n", Value::Array(vec![Value::Void, Value::text("x")])),
            ("o", Value::Table(Table::new().with("n", 1))),
        ]);
        let bytes = Writer::new().table(&table).into_bytes();
        assert_eq!(Reader::new(&bytes).table(), Ok(table));
    }

    #[test]
    fn a_table_is_written_as_the_specification_says() {
        let table = Table::new().with("b", Value::I32(1)).with("a", "xy");
        let bytes = Writer::new().table(&table).into_bytes();
        assert_eq!(bytes, b"\x00\x00\x00\x10\x01bI\x00\x00\x00\x01\x01aS\x00\x00\x00\x02xy");
        assert_eq!(Writer::new().bits(&[true, false, true]).into_bytes(), [0b101]);
    }

    #[test]
    fn a_cut_table_is_malformed() {
        let bytes = Writer::new().table(&Table::new().with("a", 1)).into_bytes();
        for length in 0..bytes.len() {
            assert!(Reader::new(&bytes[..length]).table().is_err(), "{length}");
        }
        assert!(Reader::new(b"\x00\x00\x00\x03\x01a?").table().is_err());
    }
}
