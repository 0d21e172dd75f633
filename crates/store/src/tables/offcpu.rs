//! Table `offcpu`: off-CPU stacks. Its rows have the form of those of `samples`.

pub(super) use super::samples::put;
use super::samples::{columns, replay};
use super::{Keep, TableSpec};
use whyslow_model::SampleKind;

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "offcpu",
    about: "A stack of a thread that left the CPU to wait.",
    columns: &columns("How long it was away."),
    keep: Keep::Newest,
    replay: |row, _, to| replay(SampleKind::OffCpu, row, to),
};
