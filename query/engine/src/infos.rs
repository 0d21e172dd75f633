//! What there is to ask: tables, their columns, functions, macros.

/// Where a table is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableKind {
    /// A table of the recording, as it lies there (schema `raw`).
    Recorded,
    /// A view over tables of the recording.
    View,
    /// Computed from facts, when it is first asked for.
    Computed,
    /// A usual question that has a name.
    Macro,
}

impl TableKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            TableKind::Recorded => "recorded",
            TableKind::View => "view",
            TableKind::Computed => "computed",
            TableKind::Macro => "macro",
        }
    }
}

/// A column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// Its type, as DuckDB names it: `int64`, `uint32`, `double`, `string`, `bool`.
    pub type_name: &'static str,
    /// What its values mean beyond their type: `ns`, `ns since the epoch`, `bytes`, `0 to 1`; empty where nothing is to be said.
    pub unit: &'static str,
    /// What it says, in a line.
    pub about: String,
}

/// A table or view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableInfo {
    /// As it is asked for: `calls`, `raw.syscalls`.
    pub name: String,
    /// Where it is from.
    pub kind: TableKind,
    /// What a row is, in a line.
    pub about: String,
    /// Its columns.
    pub columns: Vec<ColumnInfo>,
}

/// A function of ours, beside those of SQL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionInfo {
    /// Its name.
    pub name: &'static str,
    /// How it is called: `ms(ns)`.
    pub call: &'static str,
    /// What it gives, in a line.
    pub about: &'static str,
}

/// A usual question that has a name: `SELECT * FROM slowest_calls`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MacroInfo {
    /// Its name.
    pub name: &'static str,
    /// The question that it answers.
    pub about: &'static str,
    /// What it stands for.
    pub sql: &'static str,
}
