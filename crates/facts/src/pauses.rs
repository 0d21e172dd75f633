//! Pauses for a full collection of memory: while it lasts, no thread of the program runs its own code. By samples in a row.

use crate::world::ids::ProcessId;
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Nanos, SampleKind, SampledStack, Stack, StackId, Timestamp};

/// The pauses of one process.
#[derive(Debug, Default)]
pub struct Pauses {
    /// Those of [`StoppedFacts::MIN_SAMPLES`] samples and more, from the first to the last.
    pub long: CallStats,
    /// All samples in such collections.
    pub samples: u64,
    /// The time that they stand for, ns.
    pub ns: u64,
    /// The thread that was sampled first in one.
    pub tid: Tid,
    /// The function by which the collection was recognised.
    pub function: Box<str>,
    /// The longest pause began then.
    pub longest_at: Timestamp,
    run: Option<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    since: Timestamp,
    last: Timestamp,
    samples: u64,
}

/// All of them. Bounded.
#[derive(Debug, Default)]
pub struct StoppedFacts {
    /// By process.
    pub by_process: HashMap<ProcessId, Pauses, foldhash::fast::RandomState>,
    stopping: HashMap<StackId, u8, foldhash::fast::RandomState>,
}

/// Functions of collections that stop the program and look at all of its memory, by how their names begin: of HotSpot (full collections), V8
/// (mark and compact), CPython, Ruby, .NET, PHP, OCaml. Collections of young objects are short, and others run beside the program.
const STOPPING: &[&str] = &[
    "G1Full",
    "VM_G1CollectFull",
    "PSParallelCompact",
    "ParCompactionManager",
    "MarkSweep::",
    "GenMarkSweep",
    "SerialFullGC",
    "ShenandoahFullGC",
    "v8::internal::MarkCompactCollector::",
    "v8::internal::Heap::MarkCompact",
    "G1CollectedHeap::do_full_collection",
    "gc_collect_main",
    "gc_collect_full",
    "gc_marks",
    "gc_sweep",
    "gc_compact",
    "WKS::gc_heap::",
    "SVR::gc_heap::",
    "zend_gc_collect_cycles",
    "caml_compact_heap",
];

/// Where runtimes end, by how the names begin: they collect once more then, and nobody waits for the program any longer. CPython
/// (Python/pylifecycle.c), Ruby (eval.c, gc.c), PHP (main/main.c).
const ENDING: &[&str] = &[
    "Py_Finalize",
    "_Py_Finalize",
    "finalize_modules",
    "finalize_interp_",
    "rb_ec_teardown",
    "rb_ec_cleanup",
    "ruby_finalize",
    "rb_objspace_call_finalizer",
    "php_module_shutdown",
];

impl StoppedFacts {
    /// Fewer samples in a row do not tell how long a pause was: one may be of any length.
    pub const MIN_SAMPLES: u64 = 3;
    /// Samples further apart than so many times what one stands for are of two pauses.
    const APART: u64 = 3;
    const MAX_PROCESSES: usize = 1_024;
    const MAX_STACKS: usize = 65_536;

    pub(crate) fn stack(&mut self, stack: &Stack) {
        let names = || stack.frames.iter().filter_map(|frame| frame.function.as_deref());
        let found = names().find_map(|name| STOPPING.iter().position(|known| name.starts_with(known)));
        let ends = || names().any(|name| ENDING.iter().any(|known| name.starts_with(known)));
        match found.filter(|_| !ends()).filter(|_| self.stopping.len() < Self::MAX_STACKS) {
            Some(which) => {
                self.stopping.insert(stack.id, which as u8);
            }
            // Numbers of stacks may be given anew.
            None if !self.stopping.is_empty() => {
                self.stopping.remove(&stack.id);
            }
            None => {}
        }
    }

    pub(crate) fn sample(&mut self, process: ProcessId, sample: &SampledStack) {
        if sample.kind != SampleKind::OnCpu || self.stopping.is_empty() || !sample.ts.is_known() {
            return;
        }
        let Some(&which) = sample.user.as_ref().and_then(|id| self.stopping.get(id)) else { return };
        if self.by_process.len() >= Self::MAX_PROCESSES && !self.by_process.contains_key(&process) {
            return;
        }
        let pauses = self.by_process.entry(process).or_default();
        if pauses.samples == 0 {
            pauses.tid = sample.tid;
            pauses.function = STOPPING[usize::from(which)].trim_end_matches(':').into();
        }
        let weight = sample.weight.or_zero();
        pauses.samples += 1;
        pauses.ns = pauses.ns.saturating_add(weight);
        let (at, apart) = (sample.ts, Self::APART.saturating_mul(weight));
        match &mut pauses.run {
            // Several threads collect at once.
            Some(run) if at.since(run.last).get().is_none_or(|gap| gap <= apart) => {
                run.samples += u64::from(at.since(run.last).or_zero() >= weight / 2);
                run.last = run.last.max(at);
            }
            _ => {
                pauses.end();
                pauses.run = Some(Run { since: at, last: at, samples: 1 });
            }
        }
    }

    pub(crate) fn finish(&mut self) {
        self.by_process.values_mut().for_each(Pauses::end);
        self.stopping = Default::default();
    }
}

impl Pauses {
    fn end(&mut self) {
        let Some(run) = self.run.take().filter(|run| run.samples >= StoppedFacts::MIN_SAMPLES) else {
            return;
        };
        let took = run.last.since(run.since);
        if self.long.count == 0 || took > self.long.max() {
            self.longest_at = run.since;
        }
        self.long.record(took, false, 0);
    }

    /// The part of the time in such collections that is in long pauses, 0 to 1: several threads may collect at once.
    pub fn long_part(&self) -> f64 {
        (self.long.total_ns as f64 / self.ns.max(1) as f64).min(1.0)
    }

    /// Half of the long pauses take this and more.
    pub fn median(&self) -> Nanos {
        self.long.percentile(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Event, Sink, StackFrame};

    #[test]
    fn samples_in_a_row_are_a_pause() {
        let mut facts = Facts::default();
        let stack = |id, names: &[&str]| {
            let frame =
                |name: &&str| StackFrame { function: Some(name.to_string()), ..StackFrame::default() };
            Stack { id: StackId(id), frames: names.iter().map(frame).collect(), cut: false }
        };
        facts.push(Event::Stack(stack(1, &["v8::internal::MarkCompactCollector::MarkLiveObjects()"])));
        facts.push(Event::Stack(stack(2, &["book"])));
        facts.push(Event::Stack(stack(
            3,
            &["gc_collect_main", "PyGC_Collect", "Py_FinalizeEx", "Py_RunMain"],
        )));
        let mut sample = |ms: u64, id| {
            facts.push(Event::Sample(SampledStack {
                kind: SampleKind::OnCpu,
                ts: Timestamp::new(1_000_000_000 + ms * 1_000_000),
                cpu: 0,
                pid: 7,
                tid: 7,
                weight: Nanos::from_millis(10),
                user: Some(StackId(id)),
                kernel: None,
            }));
        };
        for ms in [0, 10, 20, 30, 40] {
            sample(ms, 1);
        }
        sample(50, 2);
        // A short one, of one sample.
        sample(200, 1);
        sample(210, 2);
        // The interpreter ends.
        for ms in [300, 310, 320, 330] {
            sample(ms, 3);
        }
        facts.finish();
        let pauses = facts.stopped.by_process.values().next().expect("a process");
        assert_eq!((pauses.long.count, pauses.long.total(), pauses.samples), (1, Nanos::from_millis(40), 6));
        assert_eq!(&*pauses.function, "v8::internal::MarkCompactCollector");
    }
}
