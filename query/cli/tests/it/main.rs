//! The tests of `whyslow-query sql` and `fleet`: the program as people run it, its documents, and what others make of the same tables.

mod documentation;
mod fleet;
#[path = "../../../engine/tests/it/orders.rs"]
mod orders;
mod program;
mod python;
