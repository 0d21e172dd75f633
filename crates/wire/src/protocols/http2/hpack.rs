//! HPACK (RFC 7541): what the blocks of header fields say, as far as the capture has them.
//!
//! An index counts back from the entry that was added last, and what an encoder refers to is in its table. So nothing
//! needs to be known of the table's size: entries that it no longer has are never asked for. Where entries may have
//! been missed (a block is cut, or the capture began later) an index past those added since is unknown.

use super::huffman;
use std::collections::VecDeque;

/// Fields that matter here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Field {
    Authority,
    Method,
    Path,
    Status,
    ContentType,
    Host,
    GrpcStatus,
    TraceParent,
    B3,
    B3TraceId,
    /// One that does not matter.
    Other,
    /// Its name is not in the capture.
    Unknown,
}

impl Field {
    fn named(name: &[u8]) -> Field {
        match name {
            b":authority" => Field::Authority,
            b":method" => Field::Method,
            b":path" => Field::Path,
            b":status" => Field::Status,
            b"content-type" => Field::ContentType,
            b"host" => Field::Host,
            b"grpc-status" => Field::GrpcStatus,
            b"traceparent" => Field::TraceParent,
            b"b3" => Field::B3,
            b"x-b3-traceid" => Field::B3TraceId,
            _ => Field::Other,
        }
    }
}

/// Entries of the static table (RFC 7541, appendix A).
pub(super) const STATIC: u64 = 61;
/// One of them that says nothing here: `accept-charset`, empty.
pub(super) const NOTHING: u8 = 15;

/// An entry of the static table; the value matters only of those fields that do.
pub(super) fn static_entry(index: u64) -> (Field, &'static [u8]) {
    match index {
        1 => (Field::Authority, b""),
        2 => (Field::Method, b"GET"),
        3 => (Field::Method, b"POST"),
        4 => (Field::Path, b"/"),
        5 => (Field::Path, b"/index.html"),
        8 => (Field::Status, b"200"),
        9 => (Field::Status, b"204"),
        10 => (Field::Status, b"206"),
        11 => (Field::Status, b"304"),
        12 => (Field::Status, b"400"),
        13 => (Field::Status, b"404"),
        14 => (Field::Status, b"500"),
        31 => (Field::ContentType, b""),
        38 => (Field::Host, b""),
        _ => (Field::Other, b""),
    }
}

/// A text of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    is_huffman: bool,
    /// Its end is missing.
    pub(super) is_cut: bool,
}

impl Text<'_> {
    /// Appends it; false where it is not one.
    pub(super) fn read(&self, out: &mut Vec<u8>) -> bool {
        if self.is_huffman {
            return huffman::decode(self.bytes, self.is_cut, out);
        }
        out.extend_from_slice(self.bytes);
        true
    }
}

/// The name of a field that is spelt out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Name<'a> {
    Index(u64),
    Text(Text<'a>),
}

impl Name<'_> {
    /// Which field it is, where the block itself or the static table says so.
    pub(super) fn field(&self) -> Field {
        match self {
            Name::Index(index) if *index <= STATIC => static_entry(*index).0,
            Name::Index(_) => Field::Unknown,
            Name::Text(text) => {
                let mut name = Vec::new();
                if text.read(&mut name) { Field::named(&name) } else { Field::Unknown }
            }
        }
    }
}

/// One instruction of a block (RFC 7541, 6).
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction<'a> {
    /// A field of the tables.
    Indexed(u64),
    /// A field with its value, which is added to the table or not.
    Literal { adds: bool, name: Name<'a>, value: Text<'a> },
    /// The table has another size.
    Resize(u64),
}

/// The instructions of a block, up to its end or where it is cut.
#[derive(Debug)]
pub(super) struct Instructions<'a> {
    rest: &'a [u8],
    /// The bytes ended within an instruction, or are none.
    pub(super) is_broken: bool,
}

impl<'a> Instructions<'a> {
    pub(super) fn new(block: &'a [u8]) -> Instructions<'a> {
        Instructions { rest: block, is_broken: false }
    }

    fn read(&mut self) -> Option<Instruction<'a>> {
        let first = *self.rest.first()?;
        if first & 0x80 != 0 {
            return self.integer(7).filter(|index| *index > 0).map(Instruction::Indexed);
        }
        if first & 0xe0 == 0x20 {
            return self.integer(5).map(Instruction::Resize);
        }
        let adds = first & 0x40 != 0;
        let name = match self.integer(if adds { 6 } else { 4 })? {
            0 => Name::Text(self.text().filter(|text| !text.is_cut)?),
            index => Name::Index(index),
        };
        Some(Instruction::Literal { adds, name, value: self.text()? })
    }

    /// An integer of which so many bits are in the first byte (RFC 7541, 5.1).
    fn integer(&mut self, bits: u32) -> Option<u64> {
        let (first, mut rest) = self.rest.split_first()?;
        let full = (1u64 << bits) - 1;
        let mut number = u64::from(*first) & full;
        if number == full {
            for shift in (0..28).step_by(7) {
                let (byte, behind) = rest.split_first()?;
                rest = behind;
                number += u64::from(byte & 0x7f) << shift;
                if byte & 0x80 == 0 {
                    self.rest = rest;
                    return Some(number);
                }
            }
            return None;
        }
        self.rest = rest;
        Some(number)
    }

    fn text(&mut self) -> Option<Text<'a>> {
        let is_huffman = self.rest.first()? & 0x80 != 0;
        let len = usize::try_from(self.integer(7)?).ok()?;
        let (bytes, behind) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = behind;
        let is_cut = bytes.len() < len;
        self.is_broken |= is_cut;
        Some(Text { bytes, is_huffman, is_cut })
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Instruction<'a>;

    fn next(&mut self) -> Option<Instruction<'a>> {
        if self.is_broken || self.rest.is_empty() {
            return None;
        }
        let read = self.read();
        self.is_broken |= read.is_none();
        read
    }
}

/// The table of one direction.
#[derive(Debug)]
pub(super) struct Table {
    /// What was added, the last first. Longer than the encoder's own.
    entries: VecDeque<(Field, Value)>,
    /// Bytes that the encoder's table may have.
    size: u64,
}

/// The value of a field that matters; `None`: it is not known.
type Value = Option<Box<[u8]>>;

impl Default for Table {
    fn default() -> Table {
        Table { entries: VecDeque::new(), size: Table::SIZE }
    }
}

/// In place of a value that was left out: no field has a value like it (RFC 9110, 5.5).
pub(super) const LEFT_OUT: &[u8] = b"\0";

impl Table {
    /// Bytes of a table of which nothing else is said (RFC 9113, 6.5.2).
    pub(super) const SIZE: u64 = 4_096;
    /// Entries that are kept; a table of the usual size has 128 at most.
    const MAX_ENTRIES: usize = 512;
    /// Bytes of a value that are kept: more is in no name.
    const MAX_VALUE: usize = 1_024;

    /// Nothing is known of it any more.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
    }

    /// Tells each field of a block: which it is, its value where that is known and matters, and whether the value is
    /// cut. `is_whole`: all of the block is here.
    pub(super) fn read(
        &mut self,
        block: &[u8],
        is_whole: bool,
        mut tell: impl FnMut(Field, Option<&[u8]>, bool),
    ) {
        let mut instructions = Instructions::new(block);
        let mut value = Vec::new();
        for instruction in instructions.by_ref() {
            match instruction {
                Instruction::Indexed(index) if index <= STATIC => {
                    let (field, value) = static_entry(index);
                    tell(field, Some(value), false);
                }
                Instruction::Indexed(index) => match self.entry(index) {
                    Some((field, value)) => tell(*field, value.as_deref(), false),
                    None => tell(Field::Unknown, None, false),
                },
                Instruction::Literal { adds, name, value: text } => {
                    let field = match name {
                        Name::Index(index) if index > STATIC => {
                            self.entry(index).map_or(Field::Unknown, |(field, _)| *field)
                        }
                        _ => name.field(),
                    };
                    value.clear();
                    let is_known = !matches!(field, Field::Other | Field::Unknown)
                        && text.read(&mut value)
                        && value != LEFT_OUT;
                    let known = is_known.then_some(&value[..value.len().min(Self::MAX_VALUE)]);
                    tell(field, known, text.is_cut);
                    if adds && !text.is_cut {
                        if fits(&name, &text, self.size) {
                            self.entries.push_front((field, known.map(Box::from)));
                            self.entries.truncate(Self::MAX_ENTRIES);
                        } else {
                            self.forget();
                        }
                    }
                }
                Instruction::Resize(size) => {
                    self.size = size;
                    if size == 0 {
                        self.forget();
                    }
                }
            }
        }
        if !is_whole || instructions.is_broken {
            self.forget();
        }
    }

    fn entry(&self, index: u64) -> Option<&(Field, Value)> {
        self.entries.get(usize::try_from(index - STATIC - 1).ok()?)
    }
}

/// True where an entry is surely not too long for a table of that size: one that is empties the table (RFC 7541, 4.4).
/// Where it may be, what is known of the table is forgotten, which cannot be wrong.
pub(super) fn fits(name: &Name<'_>, value: &Text<'_>, size: u64) -> bool {
    /// What an entry counts beside its name and value (RFC 7541, 4.1).
    const OVERHEAD: usize = 32;
    /// Bytes of the longest name in the static table.
    const LONGEST_NAME: usize = 27;
    // A byte has at least five bits in Huffman code.
    let most = |text: &Text<'_>| text.bytes.len() * if text.is_huffman { 2 } else { 1 };
    let name = match name {
        Name::Index(_) => LONGEST_NAME,
        Name::Text(text) => most(text),
    };
    (name + most(value) + OVERHEAD) as u64 <= size
}
