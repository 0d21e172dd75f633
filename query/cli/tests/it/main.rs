//! The tests of `whyslow-query sql`: the program as people run it, its documents, and what others make of the same tables.

mod documentation;
#[path = "../../../engine/tests/it/orders.rs"]
mod orders;
mod program;
mod python;
