//! What a table is.

use crate::column::PartColumn;
use arrow_schema::{Schema, SchemaRef};
use std::sync::Arc;

/// What is stored in one kind of parts.
#[derive(Debug)]
pub struct PartTable {
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// What a row is, in a line.
    pub about: &'static str,
    /// Its columns; the first three are those of [`crate::Observed`].
    pub columns: &'static [PartColumn],
    /// The columns that its rows are sorted by in each part.
    pub sorted_by: &'static [&'static str],
    /// Whether an hour of many hosts is joined to one part: it has few rows of a host.
    pub over_hosts: bool,
}

impl PartTable {
    /// Its schema, as writers take it and readers give it.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(self.columns.iter().map(PartColumn::field).collect::<Vec<_>>()))
    }
}
