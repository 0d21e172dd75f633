//! One part as a file: what it says of itself, writing it, and reading it, whatever minor version wrote it.

use crate::choose::Claims;
use crate::column::PartColumn;
use crate::error::PartError;
use crate::guard::guarded;
use crate::table::PartTable;
use arrow_array::{RecordBatch, new_null_array};
use arrow_schema::{Field, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::fmt;
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;

/// The version of the format that is written.
pub const VERSION: PartVersion = PartVersion { major: 1, minor: 0 };
/// Bytes of a part at most: readers hold one in memory. A minute of a host has some kilobytes.
pub const MOST_PART_BYTES: u64 = 256 << 20;

const TABLE_KEY: &str = "whyslow.table";
const VERSION_KEY: &str = "whyslow.version";
const AGENT_KEY: &str = "whyslow.agent";
const CLAIMS_KEY: &str = "whyslow.claims";
/// zstd's default: the next levels take twice the time for a twentieth of the size.
const ZSTD_LEVEL: i32 = 3;
/// Rows of a row group at most: few enough that statistics tell those of one host or service in an hour of many hosts.
const ROW_GROUP: usize = 16 << 10;
/// Rows decoded at once.
const BATCH: usize = 8 << 10;
/// Rows of a part at most.
const MOST_ROWS: i64 = 1 << 26;
/// Bytes that a column chunk may have after decompression: a row group of the longest stacks stays far below.
const MOST_CHUNK: i64 = 1 << 30;

/// The version of a part's format: a newer minor one can be read, a newer major one cannot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PartVersion {
    /// Changes where old columns mean something else.
    pub major: u32,
    /// Grows where columns are added.
    pub minor: u32,
}

impl fmt::Display for PartVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for PartVersion {
    type Err = ();

    fn from_str(text: &str) -> Result<PartVersion, ()> {
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        Ok(PartVersion { major: major.parse().map_err(drop)?, minor: minor.parse().map_err(drop)? })
    }
}

/// What a part says of itself beside its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartAbout {
    /// The version of its format.
    pub version: PartVersion,
    /// The version of the program that wrote it.
    pub agent: String,
    /// Of which hosts, runs and minutes it has the rows; only in parts of many hosts.
    pub claims: Option<Claims>,
}

impl PartAbout {
    /// Of a part that program `agent` writes now.
    pub fn new(agent: &str) -> PartAbout {
        PartAbout { version: VERSION, agent: agent.to_string(), claims: None }
    }

    fn pairs(&self, table: &PartTable) -> Vec<KeyValue> {
        let pair = |key: &str, value: String| KeyValue::new(key.to_string(), value);
        let mut pairs = vec![
            pair(TABLE_KEY, table.name.to_string()),
            pair(VERSION_KEY, self.version.to_string()),
            pair(AGENT_KEY, self.agent.clone()),
        ];
        pairs.extend(self.claims.as_ref().map(|claims| pair(CLAIMS_KEY, claims.to_text())));
        pairs
    }
}

/// What the footer of a part says.
///
/// # Errors
/// Where it is of another table or of a newer major version.
pub fn about(table: &'static PartTable, metadata: &ParquetMetaData) -> Result<PartAbout, PartError> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let value = |key: &str| {
        let pair = pairs.into_iter().flatten().find(|pair| pair.key == key);
        pair.and_then(|pair| pair.value.as_deref())
    };
    let foreign = |reason: String| PartError::Foreign { table: table.name, reason };
    match value(TABLE_KEY) {
        Some(name) if name == table.name => {}
        Some(name) => return Err(foreign(format!("it says that it is one of `{name}`"))),
        None => return Err(foreign("no program of ours wrote it".to_string())),
    }
    let stated = value(VERSION_KEY).unwrap_or_default();
    let version: PartVersion =
        stated.parse().map_err(|()| foreign(format!("it states `{stated}` as the version of its format")))?;
    if version.major > VERSION.major {
        return Err(PartError::TooNew { found: version.to_string(), known: VERSION.to_string() });
    }
    let claims = match value(CLAIMS_KEY) {
        Some(text) => {
            let claims = Claims::parse(text);
            Some(claims.ok_or_else(|| PartError::Damaged("it does not say whose rows it has".to_string()))?)
        }
        None => None,
    };
    Ok(PartAbout { version, agent: value(AGENT_KEY).unwrap_or_default().to_string(), claims })
}

/// Writes one part.
pub struct PartWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
    rows: u64,
}

impl<W: Write + Send> PartWriter<W> {
    /// Begins a part of `table` in `to`.
    ///
    /// # Errors
    /// Where `to` takes nothing.
    pub fn new(table: &PartTable, to: W, about: &PartAbout) -> Result<PartWriter<W>, PartError> {
        // The Arrow schema would be some kilobytes in each part, and says nothing that Parquet's own does not.
        let options = ArrowWriterOptions::new()
            .with_properties(properties(table, about.pairs(table)))
            .with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(to, table.schema(), options).map_err(encode_error)?;
        Ok(PartWriter { writer, rows: 0 })
    }

    /// Adds rows, which are in the order of the table, and come after those before.
    ///
    /// # Errors
    /// Where the batch is not of the table, or the bytes cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), PartError> {
        self.rows += batch.num_rows() as u64;
        self.writer.write(batch).map_err(encode_error)
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes so far, as good as they are known before the end.
    pub fn bytes(&self) -> u64 {
        (self.writer.bytes_written() + self.writer.in_progress_size()) as u64
    }

    /// Ends the part and gives back what it was written to.
    ///
    /// # Errors
    /// Where the bytes cannot be written.
    pub fn finish(self) -> Result<W, PartError> {
        self.writer.into_inner().map_err(encode_error)
    }
}

/// One part in memory.
///
/// # Errors
/// Where a batch is not of the table.
pub fn encode(table: &PartTable, batches: &[RecordBatch], about: &PartAbout) -> Result<Vec<u8>, PartError> {
    let mut writer = PartWriter::new(table, Vec::new(), about)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()
}

fn encode_error(error: ParquetError) -> PartError {
    PartError::Encode(error.to_string())
}

fn properties(table: &PartTable, pairs: Vec<KeyValue>) -> WriterProperties {
    let sorted = table.sorted_by.iter().filter_map(|name| {
        let at = table.columns.iter().position(|column| column.name == *name)?;
        Some(SortingColumn { column_idx: at as i32, descending: false, nulls_first: true })
    });
    WriterProperties::builder()
        .set_created_by(format!("whyslow {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL).unwrap_or_default()))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_sorting_columns(Some(sorted.collect()))
        .set_key_value_metadata(Some(pairs))
        .build()
}

/// The rows of one part, batch by batch, each of the table's columns.
pub struct PartReader {
    batches: ParquetRecordBatchReader,
    table: &'static PartTable,
    about: PartAbout,
    missing: Vec<&'static str>,
    strange: Vec<String>,
    failed: bool,
}

impl PartReader {
    /// Opens a part of `table`.
    ///
    /// # Errors
    /// Where it is damaged, of another table, or of a newer major version.
    pub fn open(table: &'static PartTable, bytes: Bytes) -> Result<PartReader, PartError> {
        guarded(|| PartReader::of(table, bytes))
    }

    fn of(table: &'static PartTable, bytes: Bytes) -> Result<PartReader, PartError> {
        let damaged = |error: ParquetError| PartError::Damaged(error.to_string());
        if bytes.len() as u64 > MOST_PART_BYTES {
            let reason = format!("it has {} bytes; a part has {MOST_PART_BYTES} at most", bytes.len());
            return Err(PartError::Foreign { table: table.name, reason });
        }
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load(&bytes, options.clone()).map_err(damaged)?;
        let about = about(table, metadata.metadata())?;
        check_sizes(metadata.metadata())?;
        let Fit { schema, wanted, missing, strange } = fit(table, metadata.schema())?;
        let options = options.with_schema(Arc::new(schema));
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).map_err(damaged)?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), wanted);
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata)
            .with_batch_size(BATCH)
            .with_projection(mask)
            .build()
            .map_err(damaged)?;
        Ok(PartReader { batches, table, about, missing, strange, failed: false })
    }

    /// What it says of itself.
    pub fn about(&self) -> &PartAbout {
        &self.about
    }

    /// Columns of the table that it has not: they are read as unknown.
    pub fn missing(&self) -> &[&'static str] {
        &self.missing
    }

    /// Columns that the table has not: a newer program wrote them, and they are not read.
    pub fn strange(&self) -> &[String] {
        &self.strange
    }
}

impl Iterator for PartReader {
    type Item = Result<RecordBatch, PartError>;

    /// The next rows. After an error there are no more.
    fn next(&mut self) -> Option<Result<RecordBatch, PartError>> {
        if self.failed {
            return None;
        }
        let (batches, table) = (&mut self.batches, self.table);
        let next = guarded(|| match batches.next() {
            None => Ok(None),
            Some(Ok(batch)) => whole(table, &batch).map(Some),
            Some(Err(error)) => Err(PartError::Damaged(error.to_string())),
        });
        self.failed = next.is_err();
        next.transpose()
    }
}

/// The batch with all columns of the table, in its order; those that are not there are unknown.
fn whole(table: &PartTable, batch: &RecordBatch) -> Result<RecordBatch, PartError> {
    let column = |column: &PartColumn| match batch.column_by_name(column.name) {
        Some(array) => array.clone(),
        None => new_null_array(&column.kind.data_type(), batch.num_rows()),
    };
    let columns = table.columns.iter().map(column).collect();
    RecordBatch::try_new(table.schema(), columns).map_err(|error| PartError::Damaged(error.to_string()))
}

/// What a file's schema has of a table.
struct Fit {
    /// How its columns are read.
    schema: Schema,
    /// Which of them.
    wanted: Vec<usize>,
    missing: Vec<&'static str>,
    strange: Vec<String>,
}

fn fit(table: &'static PartTable, found: &Schema) -> Result<Fit, PartError> {
    let mut fields: Vec<Field> = found.fields().iter().map(|field| field.as_ref().clone()).collect();
    let (mut wanted, mut missing) = (Vec::new(), Vec::new());
    for column in table.columns {
        let at = fields.iter().position(|field| field.name() == column.name);
        match at {
            Some(at) if *fields[at].data_type() == column.kind.stored() => {
                fields[at] = fields[at].clone().with_data_type(column.kind.data_type());
                wanted.push(at);
            }
            None if column.unknown => missing.push(column.name),
            _ => {
                let reason =
                    format!("it has no column `{}` of type {}", column.name, column.kind.type_name());
                return Err(PartError::Foreign { table: table.name, reason });
            }
        }
    }
    let known = |name: &str| table.columns.iter().any(|column| column.name == name);
    let strange = found.fields().iter().map(|field| field.name()).filter(|name| !known(name));
    Ok(Fit { strange: strange.cloned().collect(), schema: Schema::new(fields), wanted, missing })
}

/// What a stranger's file may ask for, before it is decoded.
fn check_sizes(metadata: &ParquetMetaData) -> Result<(), PartError> {
    let mut rows = 0i64;
    for group in metadata.row_groups() {
        rows = rows.saturating_add(group.num_rows());
        if group.num_rows() < 0 || rows > MOST_ROWS {
            return Err(PartError::Damaged(format!(
                "it states {rows} rows or more; {MOST_ROWS} are allowed"
            )));
        }
        if let Some(column) =
            group.columns().iter().find(|column| !(0..=MOST_CHUNK).contains(&column.uncompressed_size()))
        {
            let (path, size) = (column.column_path().string(), column.uncompressed_size());
            return Err(PartError::Damaged(format!(
                "column `{path}` states {size} bytes; {MOST_CHUNK} are allowed"
            )));
        }
    }
    Ok(())
}
