//! Rows out of bytes: any input is rows of tables, full of extreme values, so that what is behind the checks of Parquet gets its
//! share. A row is a byte for its table and the values of its columns; a value begins with a byte that says which it is.

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use whyslow_model::{Metric, Trait};
use whyslow_store::{ColumnSpec, Kind, MAX_TEXT, SCHEMA, TABLES, TableSpec};

/// Tables whose rows are told with those of another, which stands behind.
pub(crate) const WITH: &[(&str, &str)] =
    &[("frames", "stacks"), ("count_rows", "count_tables"), ("host", "host_tables")];
/// Numbers that a byte stands for, from 1.
const NUMBERS: [u64; 10] = [
    0,
    u64::MAX,
    i64::MAX as u64,
    i64::MIN as u64,
    u32::MAX as u64,
    i32::MAX as u64,
    i32::MIN as u32 as u64,
    EPOCH,
    1_000_000_000,
    1 << 53,
];
/// A time of today, ns.
const EPOCH: u64 = 1_700_000_000_000_000_000;
/// Floating-point numbers that a byte stands for, from 1.
const FLOATS: [f64; 10] =
    [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 1e-9, 0.5, 1e9];
/// A number of two, four or eight bytes that stand behind.
const WIDE: std::ops::RangeInclusive<u8> = 11..=13;
/// Small numbers, from 0.
const SMALL: u8 = 16;
/// The bytes that stand behind, as many as the byte says.
const MOST_OWN: u8 = 0xbf;
/// A text that is longer than the format allows.
const LONG: u8 = 0xff;
/// A row with the number of the row before.
const SAME: u8 = 0;
/// A row with the next number.
const NEXT: u8 = SMALL;

/// Texts that tables know: a byte behind says which.
static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let words = "read write openat close futex epoll_wait connect sendto execve clone3 exit_group fsync nosuchcall \
        system-cpu wall unknown sync open connected accepted retransmit reset listen-overflow closed reject skipped \
        truncated tracer assumed runnable sleeping uninterruptible stopped dead other full counts none task hard-irq \
        soft-irq file directory dev-null terminal device proc pipe tcp udp unix socket epoll event timer interval \
        since-boot lifetime moment host cpu process thread function mount interface cgroup interrupt listener peer \
        command cwd txt /tmp/a 3</tmp/a> 10.0.0.1:80 8:0 /proc pidstat SIGTERM syscalls";
    words
        .split_whitespace()
        .chain(Metric::ALL.iter().map(|metric| metric.name()))
        .chain(Trait::ALL.iter().map(|of| of.name()))
        .collect()
});

/// One value.
#[derive(Clone)]
enum Value {
    Null,
    Number(u64),
    Float(f64),
    Text(String),
}

/// Reads bytes, front to back; behind their end stand zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn bytes(&mut self, most: usize) -> &[u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    fn wide(&mut self, bytes: usize) -> u64 {
        (0..bytes).fold(0, |number, at| number | u64::from(self.byte()) << (8 * at))
    }

    fn value(&mut self, kind: Kind) -> Value {
        let tag = self.byte();
        if tag == 0 {
            return Value::Null;
        }
        match kind {
            Kind::Word | Kind::Text => Value::Text(self.text(tag)),
            Kind::F64 => Value::Float(match tag {
                1..=10 => FLOATS[usize::from(tag) - 1],
                _ if WIDE.contains(&tag) => f64::from_bits(self.wide(8)),
                _ => f64::from(tag) - f64::from(SMALL),
            }),
            _ => Value::Number(match tag {
                1..=10 => NUMBERS[usize::from(tag) - 1],
                _ if WIDE.contains(&tag) => self.wide(2 << (tag - WIDE.start())),
                // Times are of today, unless the byte says otherwise.
                _ if kind == Kind::Time => EPOCH + u64::from(tag - SMALL.min(tag)) * 1_000_000,
                _ => u64::from(tag - SMALL.min(tag)),
            }),
        }
    }

    fn text(&mut self, tag: u8) -> String {
        match tag {
            ..=MOST_OWN => String::from_utf8_lossy(self.bytes(tag.into())).into_owned(),
            LONG => "x".repeat(MAX_TEXT + 1),
            _ => {
                let at = self.wide(2) as usize;
                WORDS[at % WORDS.len()].to_string()
            }
        }
    }
}

/// The rows that `data` stands for, as a part of each table that has some.
pub(crate) fn parts(data: &[u8]) -> BTreeMap<&'static str, Vec<u8>> {
    let mut bytes = Bytes(data);
    let mut tables: BTreeMap<usize, Vec<Vec<Value>>> = BTreeMap::new();
    let mut seq = 0;
    while !bytes.0.is_empty() {
        let at = usize::from(bytes.byte()) % TABLES.len();
        let mut row = Vec::with_capacity(TABLES[at].columns.len());
        // The parts of one event share its number. The rest is numbered, nearly always.
        row.push(Value::Number(match bytes.byte() {
            SAME => seq.max(1),
            tag @ 1..=10 => NUMBERS[usize::from(tag) - 1],
            _ => {
                seq += 1;
                seq
            }
        }));
        row.extend(TABLES[at].columns[1..].iter().map(|column| bytes.value(column.kind)));
        tables.entry(at).or_default().push(row);
    }
    tables.into_iter().map(|(at, rows)| (TABLES[at].name, part(TABLES[at], &rows))).collect()
}

/// A part with these rows, as any program may write it. What must be known may be null all the same.
///
/// # Panics
/// Where Parquet cannot be written.
fn part(table: &TableSpec, rows: &[Vec<Value>]) -> Vec<u8> {
    let columns: Vec<(Field, ArrayRef)> =
        table.columns.iter().enumerate().map(|(at, column)| array(column, rows, at)).collect();
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("columns of one length");
    let key = KeyValue::new("whyslow.schema".to_string(), SCHEMA.to_string());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![key])).build();
    let mut data = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut data, batch.schema(), Some(properties)).expect("a plain schema");
    writer.write(&batch).expect("written to memory");
    writer.close().expect("written to memory");
    data
}

fn array(column: &ColumnSpec, rows: &[Vec<Value>], at: usize) -> (Field, ArrayRef) {
    let numbers = || {
        rows.iter().map(move |row| match row[at] {
            Value::Number(number) => Some(number),
            _ => None,
        })
    };
    let array: ArrayRef = match column.kind {
        Kind::Seq | Kind::Time | Kind::Duration | Kind::I64 => {
            Arc::new(numbers().map(|number| number.map(|number| number as i64)).collect::<Int64Array>())
        }
        Kind::I32 => {
            Arc::new(numbers().map(|number| number.map(|number| number as i32)).collect::<Int32Array>())
        }
        Kind::U64 => Arc::new(numbers().collect::<UInt64Array>()),
        Kind::U32 => {
            Arc::new(numbers().map(|number| number.map(|number| number as u32)).collect::<UInt32Array>())
        }
        Kind::Bool => {
            Arc::new(numbers().map(|number| number.map(|number| number & 1 == 1)).collect::<BooleanArray>())
        }
        Kind::F64 => {
            let floats = rows.iter().map(|row| match row[at] {
                Value::Float(float) => Some(float),
                _ => None,
            });
            Arc::new(floats.collect::<Float64Array>())
        }
        Kind::Word | Kind::Text => {
            let texts = rows.iter().map(|row| match &row[at] {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            });
            Arc::new(texts.collect::<StringArray>())
        }
    };
    let kind: DataType = array.data_type().clone();
    (Field::new(column.name, kind, true), array)
}

/// A row of each table, as bytes.
pub(crate) fn typical() -> Vec<u8> {
    TABLES.iter().flat_map(|table| row(table, typical_value)).collect()
}

/// Bytes of a row of a table: its number, then what `value` says of each column.
fn row(table: &TableSpec, value: impl Fn(&ColumnSpec) -> Vec<u8>) -> Vec<u8> {
    let at = TABLES.iter().position(|known| known.name == table.name).unwrap_or(0);
    let number = if WITH.iter().any(|(_, whole)| *whole == table.name) { SAME } else { NEXT };
    [at as u8, number].into_iter().chain(table.columns[1..].iter().flat_map(value)).collect()
}

/// What a column may say: a word that its table knows, a short time, a small number.
fn typical_value(column: &ColumnSpec) -> Vec<u8> {
    let word = |word: &str| {
        let at = WORDS.iter().position(|known| *known == word).unwrap_or(0) as u16;
        [&[0xc0][..], &at.to_le_bytes()].concat()
    };
    match column.kind {
        Kind::Word | Kind::Text => {
            // Words stand in the line about the column, where there are few.
            let told = column.about.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
            word(told.into_iter().find(|told| WORDS.contains(told)).unwrap_or("read"))
        }
        _ => vec![SMALL + 7],
    }
}

/// Rows of extreme values of one table, as bytes: each value that a byte stands for in all columns.
pub(crate) fn extremes(table: &TableSpec) -> Vec<Vec<u8>> {
    let with = |tag: u8| {
        move |column: &ColumnSpec| match column.kind {
            Kind::Word | Kind::Text => typical_value(column),
            _ => vec![tag],
        }
    };
    (0..=10).map(|tag| row(table, with(tag))).collect()
}

/// Rows to begin with.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let each = TABLES.iter().map(|table| extremes(table).concat());
    each.chain([typical()]).collect()
}
