//! Page faults and switches of each thread over the recording.

use super::{Program, at_end, by_section, kind, object};
use crate::bpf::layout::Fields;
use crate::bpf::spool::SpoolRecord;
use whyslow_model::{ThreadTotals, Tid};

pub(super) static TOTALS: Program = Program {
    name: "totals",
    summary: "page faults and switches of each thread",
    cost: "nothing while a thread runs: the kernel counts them anyway; about 0.3 us at its end",
    tables: &["process_stats"],
    rare: &[("process_stats", &[kind::TOTALS])],
    wanted: |options| options.totals,
    needed: false,
    object: object!("totals"),
    attach: &[&[by_section("totals_of_ended")], &[at_end("totals_of_living")]],
};

/// One record, read; `None` where it is not whole.
pub(crate) fn decode(record: &SpoolRecord<'_>) -> Option<ThreadTotals> {
    let mut fields = Fields(record.body());
    let pid = fields.u32()? as Tid;
    fields.u32()?;
    Some(ThreadTotals {
        pid,
        tid: record.header.tid as Tid,
        page_faults: Some(fields.u64()?),
        major_faults: Some(fields.u64()?),
        voluntary_switches: Some(fields.u64()?),
        involuntary_switches: Some(fields.u64()?),
    })
}
