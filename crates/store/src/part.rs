//! One part of a table: a Parquet file that gets its name when it is complete. The name holds the checksum of its
//! bytes, so that a damaged part is known as such before it is decoded. Nothing is synced to the disk: a part
//! survives the end of the process, not that of the machine.

use crate::column::{ColumnSpec, Kind};
use crate::error::StoreError;
use crate::meta::SCHEMA;
use crate::tables::TableSpec;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use whyslow_privacy::files;

/// Names the format in each part's own metadata.
pub(crate) const SCHEMA_KEY: &str = "whyslow.schema";
/// zstd's default: the next levels take twice the time for a twentieth of the size.
const ZSTD_LEVEL: i32 = 3;
/// A row group at most. DuckDB reads row groups side by side; a part of a conversion has one.
const ROW_GROUP: usize = 1 << 20;

/// The schema of a table's parts.
pub(crate) fn schema(table: &TableSpec) -> SchemaRef {
    Arc::new(Schema::new(table.columns.iter().map(ColumnSpec::field).collect::<Vec<_>>()))
}

/// The name of part `number` with the checksum of its bytes.
fn file_name(number: u32, checksum: u32) -> String {
    format!("part-{number:06}-{checksum:08x}.parquet")
}

/// The number and the checksum that a part's name states.
pub(crate) fn parse_name(name: &str) -> Option<(u32, u32)> {
    let (number, checksum) = name.strip_prefix("part-")?.strip_suffix(".parquet")?.split_once('-')?;
    Some((number.parse().ok()?, u32::from_str_radix(checksum, 16).ok()?))
}

/// A complete part.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) path: PathBuf,
    pub(crate) number: u32,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// Counts and sums up what goes into the file.
struct Summed {
    file: BufWriter<File>,
    checksum: crc32fast::Hasher,
    bytes: u64,
    /// The error itself: the encoder turns it into text.
    error: Option<io::Error>,
}

impl Write for Summed {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match self.file.write(data) {
            Ok(written) => {
                self.checksum.update(&data[..written]);
                self.bytes += written as u64;
                Ok(written)
            }
            Err(error) => Err(self.keep(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| self.keep(error))
    }
}

impl Summed {
    fn keep(&mut self, error: io::Error) -> io::Error {
        let told = io::Error::from(error.kind());
        self.error = Some(error);
        told
    }
}

/// A part being written.
pub(crate) struct OpenPart {
    writer: ArrowWriter<Summed>,
    schema: SchemaRef,
    folder: PathBuf,
    temporary: PathBuf,
    number: u32,
    rows: u64,
}

impl OpenPart {
    /// Begins part `number` of `table` in `folder`.
    pub(crate) fn create(
        folder: &Path,
        table: &TableSpec,
        schema: &SchemaRef,
        number: u32,
    ) -> Result<OpenPart, StoreError> {
        files::create_folder_if_missing(folder).map_err(|error| StoreError::io(folder, error))?;
        let temporary = folder.join(format!(".part-{number:06}.tmp"));
        let file =
            files::create_or_empty_file(&temporary).map_err(|error| StoreError::io(&temporary, error))?;
        let sink = Summed {
            file: BufWriter::with_capacity(256 << 10, file),
            checksum: crc32fast::Hasher::new(),
            bytes: 0,
            error: None,
        };
        // The Arrow schema would be some kilobytes in each part, and says nothing that Parquet's own does not.
        let options =
            ArrowWriterOptions::new().with_properties(properties(table)).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(sink, schema.clone(), options)
            .map_err(|error| encode_error(&temporary, &error))?;
        Ok(OpenPart {
            writer,
            schema: schema.clone(),
            folder: folder.to_path_buf(),
            temporary,
            number,
            rows: 0,
        })
    }

    /// Adds rows.
    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), StoreError> {
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(|error| {
            StoreError::Encode { path: self.temporary.clone(), reason: error.to_string() }
        })?;
        self.rows += batch.num_rows() as u64;
        self.writer.write(&batch).map_err(|error| self.error(&error))
    }

    /// Rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes so far, as good as they are known before the end.
    pub(crate) fn bytes(&self) -> u64 {
        (self.writer.bytes_written() + self.writer.in_progress_size()) as u64
    }

    /// Ends the part and gives it its name.
    pub(crate) fn close(mut self) -> Result<Part, StoreError> {
        if let Err(error) = self.writer.finish() {
            return Err(self.error(&error));
        }
        let sink = self.writer.inner_mut();
        sink.flush().map_err(|error| StoreError::io(&self.temporary, error))?;
        let (bytes, checksum) = (sink.bytes, sink.checksum.clone().finalize());
        let path = self.folder.join(file_name(self.number, checksum));
        fs::rename(&self.temporary, &path).map_err(|error| StoreError::io(&path, error))?;
        Ok(Part { path, number: self.number, rows: self.rows, bytes })
    }

    /// The error of the file system behind an error of the encoder, where there is one.
    fn error(&mut self, error: &ParquetError) -> StoreError {
        match self.writer.inner_mut().error.take() {
            Some(cause) => StoreError::io(&self.temporary, cause),
            None => encode_error(&self.temporary, error),
        }
    }
}

fn encode_error(path: &Path, error: &ParquetError) -> StoreError {
    StoreError::Encode { path: path.to_path_buf(), reason: error.to_string() }
}

/// How each kind of column is encoded: with a dictionary where nothing is said, which every reader of Parquet knows.
/// (BYTE_STREAM_SPLIT makes durations a fifth smaller, but not all readers know it for integers.)
fn properties(table: &TableSpec) -> WriterProperties {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).unwrap_or_default();
    let mut builder = WriterProperties::builder()
        .set_created_by(format!("whyslow {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_key_value_metadata(Some(vec![KeyValue::new(SCHEMA_KEY.to_string(), SCHEMA.to_string())]));
    for column in table.columns {
        let path = ColumnPath::from(column.name);
        builder = match column.kind {
            // Sorted, or nearly so. Who asks for a span of time need not read the parts outside of it.
            Kind::Seq | Kind::Time => builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED)
                .set_column_statistics_enabled(path, EnabledStatistics::Chunk),
            _ => builder,
        };
    }
    builder.build()
}
