//! Opening one part for reading: its bytes are checked against its name and against what it may ask for, before they
//! are decoded. Whatever is wrong with it is told in words, and the part is passed over.

use crate::column::{ColumnSpec, View};
use crate::guard::guarded;
use crate::meta::Version;
use crate::open_file;
use crate::pages;
use crate::part::{self, SCHEMA_KEY};
use crate::table_writer::MOST_PART_BYTES;
use crate::tables::TableSpec;
use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::statistics::Statistics;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A larger file is no part of ours: a part is closed at [`MOST_PART_BYTES`], which its last rows may exceed.
const MOST_BYTES: u64 = 4 * MOST_PART_BYTES;
/// Rows decoded at once: of the longest texts, 16 MiB a column.
const BATCH: usize = 2 << 10;

/// A part by its file.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) number: u32,
    pub(crate) checksum: u32,
    pub(crate) bytes: u64,
}

/// The parts of a table's folder, in order. A link to a folder is refused: it may lead out of the recording.
pub(crate) fn parts_in(folder: &Path) -> Result<Vec<Found>, String> {
    match std::fs::symlink_metadata(folder) {
        Ok(about) if about.is_symlink() => return Err("it is a link, which is not followed".to_string()),
        _ => {}
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let found = entries.flatten().filter_map(|entry| {
        let (number, checksum) = part::parse_name(entry.file_name().to_str()?)?;
        let bytes = entry.metadata().ok()?.len();
        Some(Found { path: entry.path(), number, checksum, bytes })
    });
    let mut parts: Vec<Found> = found.collect();
    parts.sort_by(|a, b| (a.number, &a.path).cmp(&(b.number, &b.path)));
    Ok(parts)
}

/// A part that can be decoded.
pub(crate) struct Opened {
    batches: ParquetRecordBatchReader,
    table: &'static TableSpec,
    /// Columns that the file has not, though the table does.
    pub(crate) missing: Vec<&'static str>,
}

impl Opened {
    pub(crate) fn open(found: &Found, table: &'static TableSpec) -> Result<Opened, String> {
        let bytes = read(found)?;
        guarded(|| Opened::of(bytes, table))
    }

    /// The rows of a part that could be opened, and the lowest and highest `seq` as far as it tells.
    pub(crate) fn stated(
        found: &Found,
        table: &'static TableSpec,
    ) -> Result<(u64, Option<(u64, u64)>), String> {
        let bytes = read(found)?;
        guarded(|| {
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            let metadata = ArrowReaderMetadata::load(&bytes, options).map_err(|error| error.to_string())?;
            check_version(metadata.metadata())?;
            pages::check(&bytes, metadata.metadata())?;
            let (_, wanted, _) = fit(table, metadata.schema())?;
            // `fit` puts the columns in the table's order, whose first is `seq`.
            let seq = wanted.first().and_then(|at| seq_range(metadata.metadata(), *at));
            let rows = metadata.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64);
            Ok((rows.fold(0, u64::saturating_add), seq))
        })
    }

    fn of(bytes: Bytes, table: &'static TableSpec) -> Result<Opened, String> {
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata =
            ArrowReaderMetadata::load(&bytes, options.clone()).map_err(|error| error.to_string())?;
        check_version(metadata.metadata())?;
        pages::check(&bytes, metadata.metadata())?;
        let (schema, wanted, missing) = fit(table, metadata.schema())?;
        let options = options.with_schema(Arc::new(schema));
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options)
            .map_err(|error| error.to_string())?;
        let mask = ProjectionMask::roots(metadata.parquet_schema(), wanted);
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata)
            .with_batch_size(BATCH)
            .with_projection(mask)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Opened { batches, table, missing })
    }

    /// The next rows, as the table's columns in its order, and their count. After an error there are no more.
    pub(crate) fn next(&mut self) -> Option<Result<(Vec<View>, usize), String>> {
        let (batches, table) = (&mut self.batches, self.table);
        let next = guarded(|| match batches.next() {
            None => Ok(None),
            Some(Ok(batch)) => Ok(Some((views(table, &batch), batch.num_rows()))),
            Some(Err(error)) => Err(error.to_string()),
        });
        next.transpose()
    }
}

pub(crate) fn read(found: &Found) -> Result<Bytes, String> {
    if found.bytes > MOST_BYTES {
        return Err(format!("it has {} bytes; a part has {MOST_BYTES} at most", found.bytes));
    }
    let file = open_file::regular(&found.path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::with_capacity(found.bytes as usize);
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if crc32fast::hash(&bytes) != found.checksum {
        return Err("its bytes do not have the checksum that its name states".to_string());
    }
    Ok(bytes.into())
}

/// The lowest and the highest value of a column of whole numbers, where all row groups tell them.
fn seq_range(metadata: &ParquetMetaData, column: usize) -> Option<(u64, u64)> {
    let mut range: Option<(u64, u64)> = None;
    for group in metadata.row_groups() {
        let Some(Statistics::Int64(values)) = group.columns().get(column)?.statistics() else { return None };
        let (low, high) = (u64::try_from(*values.min_opt()?).ok()?, u64::try_from(*values.max_opt()?).ok()?);
        range = Some(range.map_or((low, high), |(from, to)| (from.min(low), to.max(high))));
    }
    range
}

/// A part states its format too: the head may be missing, or of another recording.
pub(crate) fn check_version(metadata: &ParquetMetaData) -> Result<(), String> {
    let pairs = metadata.file_metadata().key_value_metadata();
    let stated = pairs.into_iter().flatten().find(|pair| pair.key == SCHEMA_KEY);
    let stated = stated.and_then(|pair| pair.value.as_deref()).unwrap_or_default();
    match Version::of(stated) {
        Version::Known | Version::Newer => Ok(()),
        Version::TooNew | Version::Foreign => Err(format!("its format is `{stated}`")),
    }
}

/// How the file's columns are to be read, which of them are the table's, and which of the table's are not there.
pub(crate) fn fit(
    table: &TableSpec,
    found: &Schema,
) -> Result<(Schema, Vec<usize>, Vec<&'static str>), String> {
    let mut fields: Vec<Field> = found.fields().iter().map(|field| field.as_ref().clone()).collect();
    let (mut wanted, mut missing) = (Vec::new(), Vec::new());
    for column in table.columns {
        let is_it = |field: &Field| field.name() == column.name && *field.data_type() == column.kind.stored();
        match fields.iter().position(is_it) {
            Some(at) => {
                fields[at] = fields[at].clone().with_data_type(column.kind.read_as());
                wanted.push(at);
            }
            None if column.nullable => missing.push(column.name),
            None => {
                return Err(format!(
                    "it has no column `{}` of type {}",
                    column.name,
                    column.kind.type_name()
                ));
            }
        }
    }
    Ok((Schema::new(fields), wanted, missing))
}

fn views(table: &TableSpec, batch: &RecordBatch) -> Vec<View> {
    let view = |column: &ColumnSpec| match batch.column_by_name(column.name) {
        Some(array) => View::of(column.kind, array),
        None => View::Missing,
    };
    table.columns.iter().map(view).collect()
}
