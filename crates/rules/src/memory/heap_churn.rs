//! A heap whose end goes up and down again and again.

use super::mapping_fixes::fixes;
use crate::engine::{Findings, Subjects};
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::memory::Heap;
use whyslow_model::{Measurement, Severity, Subject};

/// Reports it, with how often it does.
pub(super) fn report(
    facts: &Facts,
    out: &mut Findings<'_>,
    heap: &Heap,
    (often, figures): (String, Vec<Measurement>),
) {
    let share = guards::share_of_storm(facts, Some(heap.tid), heap.calls.total(), heap.calls.count);
    let mean = heap.lowered / heap.regrown.max(1);
    let each = Measurement::bytes("bytes_per_pair", mean);
    let bytes = Measurement::bytes("bytes", heap.lowered);
    let report = out
        .report(share, format!("the heap shrinks and grows again {} times{often}, {each} each time", words::count(heap.regrown)))
        .at_most(Severity::Warning)
        .subject(Subject { syscall: Some("brk".to_string()), ..Subjects::thread(facts, heap.tid) })
        .cause(format!(
            "free() gives the top of the heap back to the kernel (brk) and the next malloc() takes it again: {bytes} in all, of which every page touched costs a page fault and zeroing. The faults are not in a trace of system calls."
        ))
        .measured_all(figures)
        .measured_all([each, bytes, Measurement::time("time", heap.calls.total())])
        .saving(heap.calls.total())
        .evidence_all(heap.exemplars.iter());
    fixes(report, mean).file();
}
