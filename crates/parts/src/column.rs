//! Columns: what they hold, and how that is stored.

use arrow_schema::{DataType, Field, TimeUnit};
use std::sync::Arc;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartKind {
    /// A time, in microseconds of UTC.
    Time,
    /// A number, 64 bits.
    U64,
    /// A number, 32 bits.
    U32,
    /// A number that may be negative, 64 bits.
    I64,
    /// A floating-point number.
    F64,
    /// A text that many rows share: read as a dictionary.
    Word,
    /// A text.
    Text,
    /// A histogram: how many durations lie in `[2^i, 2^(i+1))` ns, by i from 0; those of 0 ns are in the first.
    Histogram,
}

impl PartKind {
    /// Its type, as SQL and Arrow name it.
    pub fn type_name(self) -> &'static str {
        match self {
            PartKind::Time => "timestamp (µs, UTC)",
            PartKind::U64 => "uint64",
            PartKind::U32 => "uint32",
            PartKind::I64 => "int64",
            PartKind::F64 => "double",
            PartKind::Word | PartKind::Text => "string",
            PartKind::Histogram => "list of uint64",
        }
    }

    /// As it is read and as writers take it.
    pub fn data_type(self) -> DataType {
        match self {
            PartKind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            PartKind::U64 => DataType::UInt64,
            PartKind::U32 => DataType::UInt32,
            PartKind::I64 => DataType::Int64,
            PartKind::F64 => DataType::Float64,
            PartKind::Word => DataType::Dictionary(DataType::Int32.into(), DataType::Utf8.into()),
            PartKind::Text => DataType::Utf8,
            PartKind::Histogram => DataType::List(Arc::new(Field::new("item", DataType::UInt64, true))),
        }
    }

    /// As Parquet's own schema tells it: of a dictionary the values.
    pub(crate) fn stored(self) -> DataType {
        match self {
            PartKind::Word => DataType::Utf8,
            other => other.data_type(),
        }
    }
}

/// One column of a table.
#[derive(Clone, Copy, Debug)]
pub struct PartColumn {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: PartKind,
    /// Its unit; empty where it has none.
    pub unit: &'static str,
    /// True where a row may leave it unknown (null).
    pub unknown: bool,
    /// The minor version of the format that brought it.
    pub since: u32,
    /// What it says, in a line.
    pub about: &'static str,
}

impl PartColumn {
    /// As a field of the table's schema.
    pub fn field(&self) -> Field {
        Field::new(self.name, self.kind.data_type(), self.unknown)
    }
}
