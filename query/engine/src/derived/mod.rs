//! Computed tables: one file each, listed in [`DERIVED`]. A table says what its columns are and how facts become its rows.

mod account;
mod endpoints;
mod findings;
mod requests;
mod rows;
mod stacks;
mod thread_time;
mod verdict;
mod waits;

pub(crate) use rows::{Rows, schema};

use crate::facts::Computed;
use rows::Cell;

/// What a computed column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holds {
    /// Text.
    Text,
    /// A whole number; times and durations are ns.
    Whole,
    /// A floating-point number.
    Real,
    /// Yes or no.
    Flag,
}

/// A column of a computed table.
#[derive(Debug)]
pub(crate) struct DerivedColumn {
    pub(crate) name: &'static str,
    pub(crate) holds: Holds,
    pub(crate) unit: &'static str,
    pub(crate) about: &'static str,
}

/// A computed table.
#[derive(Debug)]
pub(crate) struct Derived {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) columns: &'static [DerivedColumn],
    pub(crate) fill: fn(&Computed, &mut Rows),
}

/// All computed tables.
pub(crate) static DERIVED: &[&Derived] = &[
    &verdict::TABLE,
    &findings::TABLE,
    &account::TABLE,
    &thread_time::TABLE,
    &waits::TABLE,
    &requests::TABLE,
    &endpoints::TABLE,
    &stacks::TABLE,
];

const fn text(name: &'static str, about: &'static str) -> DerivedColumn {
    DerivedColumn { name, holds: Holds::Text, unit: "", about }
}

const fn whole(name: &'static str, unit: &'static str, about: &'static str) -> DerivedColumn {
    DerivedColumn { name, holds: Holds::Whole, unit, about }
}

const fn real(name: &'static str, unit: &'static str, about: &'static str) -> DerivedColumn {
    DerivedColumn { name, holds: Holds::Real, unit, about }
}

const fn flag(name: &'static str, about: &'static str) -> DerivedColumn {
    DerivedColumn { name, holds: Holds::Flag, unit: "", about }
}

/// What durations are in.
const NS: &str = "ns";
/// What moments are in.
const NS_SINCE: &str = "ns since the epoch";
/// What shares are in.
const SHARE: &str = "0 to 1";
