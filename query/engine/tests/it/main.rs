//! The tests of the engine: recordings and captures asked in SQL.

mod ask;
mod orders;
mod strangers;
