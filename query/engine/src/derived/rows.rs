//! Rows of computed tables, as Arrow has them.

use super::{Derived, Holds};
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringViewArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use std::sync::Arc;
use whyslow_model::{Nanos, Timestamp};

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    /// Not known.
    Null,
    /// Text.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A floating-point number.
    Real(f64),
    /// Yes or no.
    Flag(bool),
}

impl Cell {
    /// Text, where there is some.
    pub(crate) fn text(text: Option<impl Into<String>>) -> Cell {
        text.map_or(Cell::Null, |text| Cell::Text(text.into()))
    }
    /// A number, where there is one.
    pub(crate) fn whole(number: Option<impl TryInto<i64>>) -> Cell {
        number.and_then(|number| number.try_into().ok()).map_or(Cell::Null, Cell::Whole)
    }
    /// A number, where there is one.
    pub(crate) fn real(number: Option<f64>) -> Cell {
        number.map_or(Cell::Null, Cell::Real)
    }
    /// A duration, where it is known.
    pub(crate) fn nanos(time: Nanos) -> Cell {
        Cell::whole(time.get())
    }
    /// A moment, where it is known.
    pub(crate) fn moment(time: Timestamp) -> Cell {
        Cell::whole(time.get())
    }
}

/// Rows of one table.
#[derive(Debug)]
pub(crate) struct Rows {
    table: &'static Derived,
    columns: Vec<Vec<Cell>>,
}

impl Rows {
    pub(crate) fn new(table: &'static Derived) -> Rows {
        Rows { table, columns: table.columns.iter().map(|_| Vec::new()).collect() }
    }

    /// Adds a row: a cell a column, in order.
    pub(crate) fn add<const N: usize>(&mut self, cells: [Cell; N]) {
        debug_assert_eq!(N, self.columns.len(), "{}", self.table.name);
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }

    /// The rows as one batch.
    pub(crate) fn finish(self) -> Result<RecordBatch, ArrowError> {
        let columns =
            self.columns.iter().zip(self.table.columns).map(|(cells, column)| array(cells, column.holds));
        RecordBatch::try_new(schema(self.table), columns.collect())
    }
}

/// The columns of a computed table as fields.
pub(crate) fn schema(table: &Derived) -> SchemaRef {
    let field = |column: &super::DerivedColumn| {
        let of = match column.holds {
            Holds::Text => DataType::Utf8View,
            Holds::Whole => DataType::Int64,
            Holds::Real => DataType::Float64,
            Holds::Flag => DataType::Boolean,
        };
        Field::new(column.name, of, true)
    };
    Arc::new(Schema::new(table.columns.iter().map(field).collect::<Vec<_>>()))
}

fn array(cells: &[Cell], holds: Holds) -> ArrayRef {
    match holds {
        Holds::Text => Arc::new(StringViewArray::from_iter(cells.iter().map(|cell| match cell {
            Cell::Text(text) => Some(text.as_str()),
            _ => None,
        }))),
        Holds::Whole => Arc::new(Int64Array::from_iter(cells.iter().map(|cell| match cell {
            Cell::Whole(number) => Some(*number),
            _ => None,
        }))),
        Holds::Real => Arc::new(Float64Array::from_iter(cells.iter().map(|cell| match cell {
            Cell::Real(number) => Some(*number),
            _ => None,
        }))),
        Holds::Flag => Arc::new(BooleanArray::from_iter(cells.iter().map(|cell| match cell {
            Cell::Flag(is) => Some(*is),
            _ => None,
        }))),
    }
}
