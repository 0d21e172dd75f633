//! The values of one column that are not yet in a batch, and the types of values that go in and come out.

use crate::column::PartKind;
use arrow_array::builder::{
    Float64Builder, Int64Builder, ListBuilder, StringBuilder, StringDictionaryBuilder,
    TimestampMicrosecondBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float64Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The values of one column.
pub(crate) enum Buffer {
    Time(TimestampMicrosecondBuilder),
    U64(UInt64Builder),
    U32(UInt32Builder),
    I64(Int64Builder),
    F64(Float64Builder),
    Word(StringDictionaryBuilder<Int32Type>),
    Text(StringBuilder),
    Histogram(ListBuilder<UInt64Builder>),
}

impl Buffer {
    pub(crate) fn new(kind: PartKind) -> Buffer {
        match kind {
            PartKind::Time => Buffer::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC")),
            PartKind::U64 => Buffer::U64(UInt64Builder::new()),
            PartKind::U32 => Buffer::U32(UInt32Builder::new()),
            PartKind::I64 => Buffer::I64(Int64Builder::new()),
            PartKind::F64 => Buffer::F64(Float64Builder::new()),
            PartKind::Word => Buffer::Word(StringDictionaryBuilder::new()),
            PartKind::Text => Buffer::Text(StringBuilder::new()),
            PartKind::Histogram => Buffer::Histogram(ListBuilder::new(UInt64Builder::new())),
        }
    }

    pub(crate) fn unknown(&mut self) {
        match self {
            Buffer::Time(column) => column.append_null(),
            Buffer::U64(column) => column.append_null(),
            Buffer::U32(column) => column.append_null(),
            Buffer::I64(column) => column.append_null(),
            Buffer::F64(column) => column.append_null(),
            Buffer::Word(column) => column.append_null(),
            Buffer::Text(column) => column.append_null(),
            Buffer::Histogram(column) => column.append_null(),
        }
    }

    pub(crate) fn finish(self) -> ArrayRef {
        match self {
            Buffer::Time(mut column) => Arc::new(column.finish()),
            Buffer::U64(mut column) => Arc::new(column.finish()),
            Buffer::U32(mut column) => Arc::new(column.finish()),
            Buffer::I64(mut column) => Arc::new(column.finish()),
            Buffer::F64(mut column) => Arc::new(column.finish()),
            Buffer::Word(mut column) => Arc::new(column.finish()),
            Buffer::Text(mut column) => Arc::new(column.finish()),
            Buffer::Histogram(mut column) => Arc::new(column.finish()),
        }
    }
}

/// A time: microseconds of UTC since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct UtcTime(pub i64);

impl UtcTime {
    /// The begin of the minute that it is in.
    #[must_use]
    pub fn minute(self) -> UtcTime {
        UtcTime(self.0.div_euclid(60_000_000) * 60_000_000)
    }
}

impl From<SystemTime> for UtcTime {
    fn from(time: SystemTime) -> UtcTime {
        let micros = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        match time.duration_since(UNIX_EPOCH) {
            Ok(span) => UtcTime(micros(span)),
            Err(before) => UtcTime(-micros(before.duration())),
        }
    }
}

/// A value of a column.
#[doc(hidden)]
pub(crate) trait PartValue: Sized {
    /// Whether it may be unknown.
    const UNKNOWN: bool;
    fn put(&self, to: &mut Buffer);
    fn take(from: &ArrayRef, row: usize) -> Option<Self>;
}

impl<T: PartValue> PartValue for Option<T> {
    const UNKNOWN: bool = true;

    fn put(&self, to: &mut Buffer) {
        match self {
            Some(value) => value.put(to),
            None => to.unknown(),
        }
    }

    fn take(from: &ArrayRef, row: usize) -> Option<Option<T>> {
        if from.is_null(row) { Some(None) } else { T::take(from, row).map(Some) }
    }
}

/// A value of another type than its column's is unknown; the test over all tables finds a row with such a field.
macro_rules! plain {
    ($($type:ty: $buffer:ident as $arrow:ident, $put:expr, $take:expr;)+) => {$(
        impl PartValue for $type {
            const UNKNOWN: bool = false;

            fn put(&self, to: &mut Buffer) {
                match to {
                    Buffer::$buffer(column) => column.append_value($put(*self)),
                    other => other.unknown(),
                }
            }

            fn take(from: &ArrayRef, row: usize) -> Option<Self> {
                from.as_primitive_opt::<$arrow>().map(|column| $take(column.value(row)))
            }
        }
    )+};
}

plain! {
    UtcTime: Time as TimestampMicrosecondType, |time: UtcTime| time.0, UtcTime;
    u64: U64 as UInt64Type, |value| value, |value| value;
    u32: U32 as UInt32Type, |value| value, |value| value;
    i64: I64 as Int64Type, |value| value, |value| value;
    f64: F64 as Float64Type, |value| value, |value| value;
}

impl PartValue for String {
    const UNKNOWN: bool = false;

    fn put(&self, to: &mut Buffer) {
        match to {
            Buffer::Word(column) => column.append_value(self),
            Buffer::Text(column) => column.append_value(self),
            other => other.unknown(),
        }
    }

    fn take(from: &ArrayRef, row: usize) -> Option<String> {
        if let Some(words) = from.as_dictionary_opt::<Int32Type>() {
            let values = words.values().as_string_opt::<i32>()?;
            return Some(values.value(words.key(row)?).to_string());
        }
        Some(from.as_string_opt::<i32>()?.value(row).to_string())
    }
}

impl PartValue for Vec<u64> {
    const UNKNOWN: bool = false;

    fn put(&self, to: &mut Buffer) {
        match to {
            Buffer::Histogram(column) => {
                column.values().append_slice(self);
                column.append(true);
            }
            other => other.unknown(),
        }
    }

    fn take(from: &ArrayRef, row: usize) -> Option<Vec<u64>> {
        let values = from.as_list_opt::<i32>()?.value(row);
        let values = values.as_primitive_opt::<UInt64Type>()?;
        (values.null_count() == 0).then(|| values.values().to_vec())
    }
}
