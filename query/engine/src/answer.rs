//! What a question may take, and what comes of it.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use std::time::Duration;

/// What one question may take.
#[derive(Clone, Copy, Debug)]
pub struct QueryLimits {
    /// Rows of the answer; the rest is cut off, and [`QueryAnswer::truncated`] tells.
    pub rows: usize,
    /// Bytes of the answer in memory; cut off as rows are.
    pub bytes: usize,
    /// From the question to the last row; longer is an error.
    pub time: Duration,
}

impl Default for QueryLimits {
    /// A million rows, 1 GiB, ten minutes.
    fn default() -> Self {
        QueryLimits { rows: 1_000_000, bytes: 1 << 30, time: Duration::from_secs(600) }
    }
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct QueryAnswer {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows; none of them is empty.
    pub batches: Vec<RecordBatch>,
    /// True where rows or bytes were cut off.
    pub truncated: bool,
    /// From the question to the last row.
    pub elapsed: Duration,
}

impl QueryAnswer {
    /// Rows that are there.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}
