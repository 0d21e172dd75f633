//! `parquet`: a table with typed columns: text, whole numbers (counts, bytes, nanoseconds), and floating ones. What is unknown is
//! null. A column that is unknown in all rows is one of text.

use super::{ExportFormat, ExportHow};
use crate::text::shown;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;
use whyslow_model::{Cell, Table};

/// The format.
pub(super) static FORMAT: ExportFormat = ExportFormat {
    name: "parquet",
    about: "the same with typed columns",
    opened_by: "pandas, DuckDB, Spark, ClickHouse",
    is_binary: true,
    escapes: true,
    how: ExportHow::Table(write),
};

/// Rows that are put together at once.
const ROWS: usize = 8_192;

fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let types: Vec<DataType> = (0..table.columns.len()).map(|at| data_type(table, at)).collect();
    let fields = table.columns.iter().zip(&types);
    let fields: Vec<Field> = fields.map(|(column, of)| Field::new(column.key, of.clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("whyslow ", env!("CARGO_PKG_VERSION")).to_string())
        .build();
    // The writer asks for one that may be sent to another thread: it fills memory, a table is at most a few megabytes.
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, schema.clone(), Some(properties)).map_err(io::Error::other)?;
    for rows in table.rows.chunks(ROWS) {
        let columns = types.iter().enumerate().map(|(at, of)| column(rows, at, of)).collect();
        let batch = RecordBatch::try_new(schema.clone(), columns).map_err(io::Error::other)?;
        writer.write(&batch).map_err(io::Error::other)?;
    }
    writer.close().map_err(io::Error::other)?;
    out.write_all(&bytes)
}

/// The type that holds all cells of a column.
fn data_type(table: &Table, at: usize) -> DataType {
    let mut found = None;
    for cell in table.rows.iter().filter_map(|row| row.get(at)) {
        let of = match cell {
            Cell::Unknown => continue,
            Cell::Text(_) | Cell::Counts(_) => DataType::Utf8,
            Cell::Count(_) | Cell::Bytes(_) | Cell::Duration(_) => DataType::UInt64,
            Cell::Share(_) | Cell::PerSecond(_) | Cell::Number(_) => DataType::Float64,
        };
        found = match found {
            None => Some(of),
            Some(known) if known == of => Some(known),
            // Whole and floating numbers are floating ones, all else is text.
            Some(known) if known != DataType::Utf8 && of != DataType::Utf8 => Some(DataType::Float64),
            Some(_) => Some(DataType::Utf8),
        };
    }
    found.unwrap_or(DataType::Utf8)
}

fn column(rows: &[Vec<Cell>], at: usize, of: &DataType) -> ArrayRef {
    let cells = rows.iter().map(|row| row.get(at).unwrap_or(&Cell::Unknown));
    match of {
        DataType::UInt64 => Arc::new(UInt64Array::from_iter(cells.map(whole))),
        DataType::Float64 => Arc::new(Float64Array::from_iter(cells.map(floating))),
        _ => Arc::new(StringArray::from_iter(cells.map(text))),
    }
}

fn whole(cell: &Cell) -> Option<u64> {
    match cell {
        Cell::Count(number) | Cell::Bytes(number) => Some(*number),
        Cell::Duration(time) => time.get(),
        _ => None,
    }
}

fn floating(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Share(number) | Cell::PerSecond(number) | Cell::Number(number) => Some(*number),
        other => whole(other).map(|number| number as f64),
    }
}

fn text(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Unknown => None,
        Cell::Text(text) => Some(shown(text).into_owned()),
        Cell::Counts(counts) => Some(counts.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")),
        other => whole(other)
            .map(|number| number.to_string())
            .or_else(|| floating(other).map(|number| number.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::{HOSTILE, table};
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, UInt64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    #[test]
    fn columns_have_types_and_unknown_is_null() {
        let mut out = Vec::new();
        write(&table(), &mut out).unwrap();
        let file = tempfile_with(&out);
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        assert_eq!(batch.num_rows(), 2);
        let names = batch.column(0).as_string::<i32>();
        assert_eq!((names.value(0), names.value(1)), (HOSTILE, "token=[redacted]"));
        let times = batch.column(2).as_primitive::<UInt64Type>();
        assert_eq!((times.value(0), times.is_null(1)), (1_500, true));
        let shares = batch.column(3).as_primitive::<Float64Type>();
        assert_eq!((shares.value(0), shares.is_null(1)), (0.5, true));
        assert!(reader.next().is_none());
    }

    fn tempfile_with(bytes: &[u8]) -> std::fs::File {
        use std::io::{Seek, SeekFrom};
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file
    }
}
