//! The rows of an answer, column by column, as plain values.

use datafusion::arrow::array::{Array, AsArray, Float64Array, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::compute::{cast, concat_batches};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::common::{DataFusionError, Result};
use whyslow_query_engine::QueryAnswer;

/// The rows.
pub(crate) struct Rows(RecordBatch);

impl Rows {
    pub(crate) fn new(answer: &QueryAnswer) -> Result<Rows> {
        Ok(Rows(concat_batches(&answer.schema, &answer.batches)?))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.num_rows()
    }

    fn column(&self, name: &str, to: &DataType) -> Result<datafusion::arrow::array::ArrayRef> {
        let column = self.0.column_by_name(name);
        let column = column.ok_or_else(|| DataFusionError::Internal(format!("no column {name}")))?;
        Ok(cast(column, to)?)
    }

    /// A column of texts, dictionaries too.
    pub(crate) fn texts(&self, name: &str) -> Result<Texts> {
        Ok(Texts(self.column(name, &DataType::Utf8)?.as_string::<i32>().clone()))
    }

    /// A column of numbers.
    pub(crate) fn numbers(&self, name: &str) -> Result<Numbers> {
        Ok(Numbers(self.column(name, &DataType::Float64)?.as_primitive::<Float64Type>().clone()))
    }

    /// A column of times, in microseconds.
    pub(crate) fn times(&self, name: &str) -> Result<Times> {
        Ok(Times(self.column(name, &DataType::Int64)?.as_primitive::<Int64Type>().clone()))
    }
}

/// Texts, some of them unknown.
pub(crate) struct Texts(StringArray);

impl Texts {
    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }

    pub(crate) fn owned(&self, row: usize) -> Option<String> {
        self.get(row).map(str::to_string)
    }

    /// The text of a row, where there is one.
    pub(crate) fn owned_if(&self, row: usize, rows: usize) -> Option<String> {
        (row < rows).then(|| self.owned(row)).flatten()
    }

    /// The text; empty where it is unknown.
    pub(crate) fn or_empty(&self, row: usize) -> String {
        self.owned(row).unwrap_or_default()
    }
}

/// Numbers, some of them unknown.
pub(crate) struct Numbers(Float64Array);

impl Numbers {
    pub(crate) fn get(&self, row: usize) -> Option<f64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

/// Times, some of them unknown.
pub(crate) struct Times(Int64Array);

impl Times {
    pub(crate) fn get(&self, row: usize) -> Option<i64> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}
