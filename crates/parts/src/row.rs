//! Rows: typed values of one table, put into columns and taken back.

use crate::error::PartError;
use crate::order::sorted;
use crate::table::PartTable;
use crate::value::{Buffer, PartValue, UtcTime};
use arrow_array::{ArrayRef, RecordBatch};
use std::marker::PhantomData;

/// What the rows of one minute share.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Observed {
    /// The host.
    pub host: String,
    /// The begin of the minute.
    pub start: UtcTime,
    /// How much of it was observed, in seconds.
    pub seconds: f64,
}

/// A row of a table.
pub trait PartRow: Sized {
    /// The table.
    fn table() -> &'static PartTable;
    /// Puts its values after those of [`Observed`], in the order of the columns.
    #[doc(hidden)]
    fn put(&self, to: &mut Put<'_>);
    /// Takes them in the same order; `None` where one is unknown that must not be.
    #[doc(hidden)]
    fn take(from: &mut Taken<'_>) -> Option<Self>;
}

/// The columns that a row is put into, one after the other.
#[doc(hidden)]
pub struct Put<'a>(std::slice::IterMut<'a, Buffer>);

impl Put<'_> {
    pub(crate) fn value(&mut self, value: &impl PartValue) {
        if let Some(column) = self.0.next() {
            value.put(column);
        }
    }
}

/// The columns that a row is taken from, one after the other.
#[doc(hidden)]
pub struct Taken<'a> {
    columns: std::slice::Iter<'a, ArrayRef>,
    row: usize,
}

impl Taken<'_> {
    pub(crate) fn value<T: PartValue>(&mut self) -> Option<T> {
        let column = self.columns.next()?;
        if column.is_null(self.row) && !T::UNKNOWN { None } else { T::take(column, self.row) }
    }
}

/// Rows of one table that are being gathered.
pub struct MinuteRows<R> {
    columns: Vec<Buffer>,
    rows: usize,
    of: PhantomData<R>,
}

impl<R: PartRow> Default for MinuteRows<R> {
    fn default() -> MinuteRows<R> {
        MinuteRows::new()
    }
}

impl<R: PartRow> MinuteRows<R> {
    /// None so far.
    pub fn new() -> MinuteRows<R> {
        let columns = R::table().columns.iter().map(|column| Buffer::new(column.kind)).collect();
        MinuteRows { columns, rows: 0, of: PhantomData }
    }

    /// Adds a row.
    pub fn push(&mut self, observed: &Observed, row: &R) {
        let mut to = Put(self.columns.iter_mut());
        to.value(&observed.host);
        to.value(&observed.start);
        to.value(&observed.seconds);
        row.put(&mut to);
        self.rows += 1;
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows as a batch, in the order of the table.
    ///
    /// # Errors
    /// Where more different texts are in a column than a dictionary can have.
    pub fn finish(self) -> Result<RecordBatch, PartError> {
        let table = R::table();
        let columns = self.columns.into_iter().map(Buffer::finish).collect();
        let batch = RecordBatch::try_new(table.schema(), columns);
        sorted(table, &batch.map_err(|error| PartError::Encode(error.to_string()))?)
    }
}

/// The rows of a batch as [`crate::PartReader`] gives it.
///
/// # Errors
/// Where the batch is not of this table.
pub fn rows_of<R: PartRow>(batch: &RecordBatch) -> Result<Vec<(Observed, R)>, PartError> {
    let table = R::table();
    if batch.schema() != table.schema() {
        let reason = "its columns are others".to_string();
        return Err(PartError::Foreign { table: table.name, reason });
    }
    let row = |row| {
        let mut from = Taken { columns: batch.columns().iter(), row };
        let observed = Observed { host: from.value()?, start: from.value()?, seconds: from.value()? };
        Some((observed, R::take(&mut from)?))
    };
    (0..batch.num_rows())
        .map(|at| row(at).ok_or_else(|| PartError::Damaged(format!("row {at} lacks a value"))))
        .collect()
}
