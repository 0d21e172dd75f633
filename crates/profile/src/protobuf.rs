//! Protocol buffers, as they are written: the few kinds of fields that our formats have.

use std::io::{self, Write};
use whyslow_model::profile::StringId;

/// One message, put together before its length is known.
#[derive(Default)]
pub struct ProtoMessage(pub Vec<u8>);

impl ProtoMessage {
    /// A number in as many bytes as it takes, seven bits each.
    pub fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A number; 0 is what a reader takes for a field that is not there.
    pub fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.some_number(field, value);
        }
    }

    /// A number that is there, 0 too: for fields of which a reader tells 0 from absent.
    pub fn some_number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    /// A number in eight bytes: `fixed64` by its value, `double` by its bits.
    pub fn fixed64(&mut self, field: u64, bits: u64) {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&bits.to_le_bytes());
    }

    /// Bytes, a text, or a message.
    pub fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Numbers behind one another.
    pub fn packed(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let mut inner = ProtoMessage::default();
        values.for_each(|value| inner.varint(value));
        if !inner.0.is_empty() {
            self.bytes(field, &inner.0);
        }
    }

    pub(crate) fn text(&mut self, field: u64, id: StringId) {
        self.number(field, id.0.into());
    }

    /// Writes it as a field of an outer message that is never put together, and empties it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn emit(&mut self, field: u64, out: &mut dyn Write) -> io::Result<()> {
        let mut head = ProtoMessage::default();
        head.varint(field << 3 | 2);
        head.varint(self.0.len() as u64);
        out.write_all(&head.0)?;
        out.write_all(&self.0)?;
        self.0.clear();
        Ok(())
    }
}
