//! Columns: their types on disk, and the buffers that rows are put into and taken from, value by value in the order
//! of the table's columns.

use crate::text::{MAX_TEXT, storable};
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, PrimitiveArray, StringArray, StringViewArray,
};
use arrow_schema::{DataType, Field};
use std::fmt::Write as _;
use std::sync::Arc;
use whyslow_model::{Nanos, Timestamp};

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The number of the event in the recording, from 1: all tables together, in the order of recording.
    Seq,
    /// Nanoseconds since the epoch (of a converted capture: on the capture's clock).
    Time,
    /// Nanoseconds.
    Duration,
    /// A number that may be negative, 64 bits.
    I64,
    /// A number that may be negative, 32 bits.
    I32,
    /// A number, 64 bits.
    U64,
    /// A number, 32 bits.
    U32,
    /// A floating-point number.
    F64,
    /// Yes or no.
    Bool,
    /// One of few words: dictionary-encoded.
    Word,
    /// Text.
    Text,
}

impl Kind {
    /// Its type as DuckDB and Arrow name it.
    pub fn type_name(self) -> &'static str {
        match self {
            Kind::Seq | Kind::Time | Kind::Duration | Kind::I64 => "int64",
            Kind::I32 => "int32",
            Kind::U64 => "uint64",
            Kind::U32 => "uint32",
            Kind::F64 => "double",
            Kind::Bool => "bool",
            Kind::Word | Kind::Text => "string",
        }
    }

    /// What its values mean beyond their type; empty where nothing is to be said.
    pub fn unit(self) -> &'static str {
        match self {
            Kind::Time => "ns since the epoch",
            Kind::Duration => "ns",
            _ => "",
        }
    }

    /// As it is written.
    pub(crate) fn stored(self) -> DataType {
        match self {
            Kind::Seq | Kind::Time | Kind::Duration | Kind::I64 => DataType::Int64,
            Kind::I32 => DataType::Int32,
            Kind::U64 => DataType::UInt64,
            Kind::U32 => DataType::UInt32,
            Kind::F64 => DataType::Float64,
            Kind::Bool => DataType::Boolean,
            Kind::Word | Kind::Text => DataType::Utf8,
        }
    }

    /// As it is read: words come as a dictionary, so that each is decoded once; texts as views, so that one that many rows
    /// share takes its memory once.
    pub(crate) fn read_as(self) -> DataType {
        match self {
            Kind::Word => DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()),
            Kind::Text => DataType::Utf8View,
            _ => self.stored(),
        }
    }
}

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSpec {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// True where a row may leave it unknown (null).
    pub nullable: bool,
    /// What it says, in a line.
    pub about: &'static str,
}

impl ColumnSpec {
    /// A column that every row fills.
    pub(crate) const fn always(name: &'static str, kind: Kind, about: &'static str) -> ColumnSpec {
        ColumnSpec { name, kind, nullable: false, about }
    }

    /// A column that is null where the value is unknown.
    pub(crate) const fn maybe(name: &'static str, kind: Kind, about: &'static str) -> ColumnSpec {
        ColumnSpec { name, kind, nullable: true, about }
    }

    /// As a field of the file's schema.
    pub(crate) fn field(&self) -> Field {
        Field::new(self.name, self.kind.stored(), self.nullable)
    }
}

/// The values of one column that are not yet in a batch.
enum Buffer {
    I64(Int64Builder),
    I32(Int32Builder),
    U64(UInt64Builder),
    U32(UInt32Builder),
    F64(Float64Builder),
    Bool(BooleanBuilder),
    Text(StringBuilder),
}

/// The rows of one table that are not yet in a batch.
pub(crate) struct Rows {
    buffers: Vec<Buffer>,
    len: usize,
}

impl Rows {
    pub(crate) fn new(columns: &[ColumnSpec]) -> Rows {
        let buffers = columns.iter().map(|column| match column.kind {
            Kind::Seq | Kind::Time | Kind::Duration | Kind::I64 => Buffer::I64(Int64Builder::new()),
            Kind::I32 => Buffer::I32(Int32Builder::new()),
            Kind::U64 => Buffer::U64(UInt64Builder::new()),
            Kind::U32 => Buffer::U32(UInt32Builder::new()),
            Kind::F64 => Buffer::F64(Float64Builder::new()),
            Kind::Bool => Buffer::Bool(BooleanBuilder::new()),
            Kind::Word | Kind::Text => Buffer::Text(StringBuilder::new()),
        });
        Rows { buffers: buffers.collect(), len: 0 }
    }

    /// Rows held.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Begins a row; every column must be put, in order.
    #[inline]
    pub(crate) fn row(&mut self, seq: u64) -> Put<'_> {
        self.len += 1;
        let mut put = Put { buffers: self.buffers.iter_mut() };
        put.i64(Some(seq as i64));
        put
    }

    /// Takes the rows out as columns.
    pub(crate) fn take(&mut self) -> Vec<ArrayRef> {
        self.len = 0;
        let arrays = self.buffers.iter_mut().map(|buffer| -> ArrayRef {
            match buffer {
                Buffer::I64(builder) => Arc::new(builder.finish()),
                Buffer::I32(builder) => Arc::new(builder.finish()),
                Buffer::U64(builder) => Arc::new(builder.finish()),
                Buffer::U32(builder) => Arc::new(builder.finish()),
                Buffer::F64(builder) => Arc::new(builder.finish()),
                Buffer::Bool(builder) => Arc::new(builder.finish()),
                Buffer::Text(builder) => Arc::new(builder.finish()),
            }
        });
        arrays.collect()
    }
}

/// A row being put: one call a column, in the table's order. A column of another type than the call is a mistake of
/// the table's file, which its round-trip test finds.
pub(crate) struct Put<'a> {
    buffers: std::slice::IterMut<'a, Buffer>,
}

macro_rules! puts {
    ($($method:ident $variant:ident $type:ty),*) => {$(
        #[inline]
        pub(crate) fn $method(&mut self, value: Option<$type>) -> &mut Self {
            match self.buffers.next() {
                Some(Buffer::$variant(builder)) => builder.append_option(value),
                _ => unreachable!(concat!("the next column is no ", stringify!($method))),
            }
            self
        }
    )*};
}

impl Put<'_> {
    puts!(i64 I64 i64, i32 I32 i32, u64 U64 u64, u32 U32 u32, f64 F64 f64, bool Bool bool, text Text &str);

    /// A point in time. One that signed 64 bits cannot hold (after the year 2262) is unknown.
    #[inline]
    pub(crate) fn time(&mut self, ts: Timestamp) -> &mut Self {
        self.i64(ts.get().and_then(|ns| i64::try_from(ns).ok()))
    }

    /// A duration; unknown where signed 64 bits cannot hold it.
    #[inline]
    pub(crate) fn nanos(&mut self, dur: Nanos) -> &mut Self {
        self.i64(dur.get().and_then(|ns| i64::try_from(ns).ok()))
    }

    /// Text of any bytes and length, as far as it can be stored.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        match bytes {
            Some(bytes) => self.text(Some(&storable(bytes).0)),
            None => self.text(None),
        }
    }

    /// Text in pieces, which together can be stored.
    #[inline]
    pub(crate) fn pieces(&mut self, pieces: &[&str]) -> &mut Self {
        match self.buffers.next() {
            Some(Buffer::Text(builder)) => {
                for piece in pieces {
                    // A builder in memory takes everything.
                    let _ = builder.write_str(piece);
                }
                builder.append_value("");
            }
            _ => unreachable!("the next column is no text"),
        }
        self
    }

    /// Text that may be long.
    #[inline]
    pub(crate) fn string(&mut self, text: Option<&str>) -> &mut Self {
        self.bytes(text.map(str::as_bytes))
    }

    /// To be called last.
    #[inline]
    pub(crate) fn end(&mut self) {
        debug_assert!(self.buffers.next().is_none(), "a column of the row was not put");
    }
}

/// One column of a batch that was read.
pub(crate) enum View {
    /// Not in the file: all unknown.
    Missing,
    I64(PrimitiveArray<Int64Type>),
    I32(PrimitiveArray<Int32Type>),
    U64(PrimitiveArray<UInt64Type>),
    U32(PrimitiveArray<UInt32Type>),
    F64(PrimitiveArray<Float64Type>),
    Bool(BooleanArray),
    Text(StringViewArray),
    Word(DictionaryArray<Int32Type>, StringArray),
}

impl View {
    /// The array of a column; missing where its type is another one.
    pub(crate) fn of(kind: Kind, array: &ArrayRef) -> View {
        let view = match kind {
            Kind::Seq | Kind::Time | Kind::Duration | Kind::I64 => {
                array.as_primitive_opt().cloned().map(View::I64)
            }
            Kind::I32 => array.as_primitive_opt().cloned().map(View::I32),
            Kind::U64 => array.as_primitive_opt().cloned().map(View::U64),
            Kind::U32 => array.as_primitive_opt().cloned().map(View::U32),
            Kind::F64 => array.as_primitive_opt().cloned().map(View::F64),
            Kind::Bool => array.as_boolean_opt().cloned().map(View::Bool),
            Kind::Text => array.as_string_view_opt().cloned().map(View::Text),
            Kind::Word => array.as_dictionary_opt::<Int32Type>().and_then(|words| {
                Some(View::Word(words.clone(), words.values().as_string_opt::<i32>()?.clone()))
            }),
        };
        view.unwrap_or(View::Missing)
    }

    /// The text of row `at`; `None` where it is unknown, or the column holds none.
    #[inline]
    pub(crate) fn text(&self, at: usize) -> Option<&str> {
        match self {
            View::Text(array) if array.is_valid(at) => Some(array.value(at)),
            View::Word(_, values) => Some(values.value(self.word(at)?)),
            _ => None,
        }
    }

    /// Which word row `at` has, of a column of words.
    #[inline]
    pub(crate) fn word(&self, at: usize) -> Option<usize> {
        let View::Word(words, values) = self else { return None };
        let key = words.key(at)?;
        (key < values.len() && values.is_valid(key)).then_some(key)
    }
}

/// A row being taken: one call a column, in the table's order.
pub(crate) struct Take<'a> {
    views: std::slice::Iter<'a, View>,
    at: usize,
}

macro_rules! takes {
    ($($method:ident $variant:ident $type:ty),*) => {$(
        #[inline]
        pub(crate) fn $method(&mut self) -> Option<$type> {
            match self.views.next() {
                Some(View::$variant(array)) if array.is_valid(self.at) => Some(array.value(self.at)),
                _ => None,
            }
        }
    )*};
}

impl<'a> Take<'a> {
    /// Row `at` of a batch, behind its number.
    #[inline]
    pub(crate) fn new(views: &'a [View], at: usize) -> Take<'a> {
        let mut views = views.iter();
        views.next();
        Take { views, at }
    }

    takes!(i64 I64 i64, i32 I32 i32, u64 U64 u64, u32 U32 u32, f64 F64 f64, bool Bool bool);

    /// A point in time.
    #[inline]
    pub(crate) fn time(&mut self) -> Timestamp {
        self.i64().and_then(|ns| u64::try_from(ns).ok()).map_or(Timestamp::UNKNOWN, Timestamp::new)
    }

    /// A duration.
    #[inline]
    pub(crate) fn nanos(&mut self) -> Nanos {
        self.i64().and_then(|ns| u64::try_from(ns).ok()).map_or(Nanos::UNKNOWN, Nanos::new)
    }

    /// Text or a word; of one that is longer than the format allows, the beginning.
    #[inline]
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let text = self.views.next()?.text(self.at)?;
        Some(if text.len() > MAX_TEXT { &text[..text.floor_char_boundary(MAX_TEXT)] } else { text })
    }

    /// Text of its own.
    #[inline]
    pub(crate) fn string(&mut self) -> Option<String> {
        self.text().map(String::from)
    }

    /// Passes a column over that only says what others say too.
    #[inline]
    pub(crate) fn skip(&mut self) {
        self.views.next();
    }
}
