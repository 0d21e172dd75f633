//! Columns of a table, part by part, without the events: for indexes and zooms, which need a few columns of many rows. Each part is
//! checked as for replay before it is decoded.

use crate::guard::guarded;
use crate::open_part::{Found, check_version, fit, parts_in, read};
use crate::pages;
use crate::tables::TableSpec;
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelection,
};
use parquet::file::statistics::Statistics;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows decoded at once.
const BATCH: usize = 8 << 10;

/// A part by its file.
#[derive(Clone, Debug)]
pub struct PartFile {
    found: Found,
    table: &'static TableSpec,
}

/// The parts of a table of the recording in `dir`, in order.
///
/// # Errors
/// Where the table's folder is a link: why it is passed over.
pub fn part_files(dir: &Path, table: &'static TableSpec) -> Result<Vec<PartFile>, String> {
    let parts = parts_in(&dir.join(table.name))?;
    Ok(parts.into_iter().map(|found| PartFile { found, table }).collect())
}

impl PartFile {
    /// The file. It may be joined into a longer one while the recording goes on.
    pub fn path(&self) -> &PathBuf {
        &self.found.path
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.found.bytes
    }

    /// Reads and checks it: its checksum, and what its pages ask for.
    ///
    /// # Errors
    /// Why it is passed over.
    pub fn open(&self) -> Result<CheckedPart, String> {
        let bytes = read(&self.found)?;
        guarded(|| CheckedPart::of(bytes, self.table))
    }
}

/// A part whose bytes were checked.
pub struct CheckedPart {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
}

impl CheckedPart {
    fn of(bytes: Bytes, table: &'static TableSpec) -> Result<CheckedPart, String> {
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata =
            ArrowReaderMetadata::load(&bytes, options.clone()).map_err(|error| error.to_string())?;
        check_version(metadata.metadata())?;
        pages::check(&bytes, metadata.metadata())?;
        let (schema, _, _): (Schema, _, _) = fit(table, metadata.schema())?;
        let metadata =
            ArrowReaderMetadata::try_new(metadata.metadata().clone(), options.with_schema(Arc::new(schema)))
                .map_err(|error| error.to_string())?;
        Ok(CheckedPart { bytes, metadata })
    }

    /// Rows that it has.
    pub fn rows(&self) -> usize {
        self.metadata.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as usize).sum()
    }

    /// The least and the greatest value of a column of 64-bit integers, as the part states them; `None` where it does not.
    pub fn range(&self, column: &str) -> Option<(i64, i64)> {
        let mut range: Option<(i64, i64)> = None;
        for group in self.metadata.metadata().row_groups() {
            let chunk = group.columns().iter().find(|chunk| chunk.column_path().string() == column)?;
            let Some(Statistics::Int64(found)) = chunk.statistics() else { return None };
            let (low, high) = (*found.min_opt()?, *found.max_opt()?);
            range = Some(range.map_or((low, high), |(least, most)| (least.min(low), most.max(high))));
        }
        range
    }

    /// The rows of these columns, in the order of the file; those within `ranges` alone, where they are given: ascending and apart.
    /// Columns that the part has not are not among them.
    ///
    /// # Errors
    /// Why it cannot be decoded.
    pub fn scan(&self, columns: &[&str], ranges: Option<&[Range<usize>]>) -> Result<PartRows, String> {
        guarded(|| {
            let schema = self.metadata.schema();
            let wanted = schema.fields().iter().enumerate();
            let wanted: Vec<usize> = wanted
                .filter(|(_, field)| columns.contains(&field.name().as_str()))
                .map(|(at, _)| at)
                .collect();
            let mask = ProjectionMask::roots(self.metadata.parquet_schema(), wanted);
            let builder =
                ParquetRecordBatchReaderBuilder::new_with_metadata(self.bytes.clone(), self.metadata.clone());
            let mut builder = builder.with_batch_size(BATCH).with_projection(mask);
            if let Some(ranges) = ranges {
                let rows = self.rows();
                let ranges = ranges.iter().map(|range| range.start.min(rows)..range.end.min(rows));
                builder = builder.with_row_selection(RowSelection::from_consecutive_ranges(ranges, rows));
            }
            Ok(PartRows { batches: builder.build().map_err(|error| error.to_string())? })
        })
    }
}

/// The rows of a part. After an error there are no more.
pub struct PartRows {
    batches: ParquetRecordBatchReader,
}

impl Iterator for PartRows {
    type Item = Result<RecordBatch, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let batches = &mut self.batches;
        guarded(|| batches.next().transpose().map_err(|error| error.to_string())).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Meta, WriteOptions, Writer, table};
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use whyslow_model::{Call, Event, Nanos, Sink, Syscall, Timestamp};

    #[test]
    fn columns_of_some_rows_come_in_the_order_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("x.whyslow");
        let mut writer = Writer::create(&dir, Meta::default(), WriteOptions::CONVERT).unwrap();
        for at in 0..50_000u64 {
            let mut call = Call::new("read", "3, \"\", 1");
            call.syscall = Syscall::lookup(b"read").unwrap_or(Syscall::UNLISTED);
            (call.ts, call.dur, call.tid) = (Timestamp::new(1_000 + at), Nanos::new(5), 7);
            writer.push(Event::Call(&call));
        }
        writer.finish().unwrap();
        let parts = part_files(&dir, table("syscalls").unwrap()).unwrap();
        let part = parts[0].open().unwrap();
        assert_eq!((part.rows(), part.range("ts"), part.range("dur")), (50_000, Some((1_000, 50_999)), None));
        let rows = part.scan(&["ts", "syscall"], Some(&[10..12, 40_000..40_001, 49_999..70_000])).unwrap();
        let mut seen = Vec::new();
        for batch in rows {
            let batch = batch.unwrap();
            assert_eq!(batch.num_columns(), 2);
            seen.extend_from_slice(batch.column_by_name("ts").unwrap().as_primitive::<Int64Type>().values());
        }
        assert_eq!(seen, [1_010, 1_011, 41_000, 50_999]);
        std::fs::write(parts[0].path(), b"PAR1 not any more PAR1").unwrap();
        assert!(part_files(&dir, table("syscalls").unwrap()).unwrap()[0].open().is_err());
    }
}
