//! The order of rows in a part.

use crate::error::PartError;
use crate::table::PartTable;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ord::sort::{SortColumn, lexsort_to_indices};
use arrow_schema::ArrowError;
use arrow_select::concat::concat_batches;
use arrow_select::take::take;

/// The rows of a batch in the order of the table.
pub(crate) fn sorted(table: &PartTable, batch: &RecordBatch) -> Result<RecordBatch, PartError> {
    let encode = |error: ArrowError| PartError::Encode(error.to_string());
    let columns: Vec<SortColumn> = table
        .sorted_by
        .iter()
        .filter_map(|name| batch.column_by_name(name))
        .map(|values| SortColumn { values: values.clone(), options: None })
        .collect();
    let order = lexsort_to_indices(&columns, None).map_err(encode)?;
    let columns: Result<Vec<ArrayRef>, _> =
        batch.columns().iter().map(|column| take(column, &order, None)).collect();
    RecordBatch::try_new(batch.schema(), columns.map_err(encode)?).map_err(encode)
}

/// All rows of some batches, in the order of the table.
///
/// # Errors
/// Where one is not of the table, or a dictionary cannot have all texts.
pub fn join_batches(table: &PartTable, batches: &[RecordBatch]) -> Result<RecordBatch, PartError> {
    let all =
        concat_batches(&table.schema(), batches).map_err(|error| PartError::Encode(error.to_string()))?;
    sorted(table, &all)
}
