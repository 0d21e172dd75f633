//! Waits by which a runtime parks its threads. They say when a thread had nothing to run, and nothing of what the program waits for:
//! a goroutine waits without a thread, and any thread may run it afterwards.

use crate::Facts;
use crate::folds::graph::{LongCall, Resource};
use crate::world::ids::ProcessId;
use hashbrown::{HashMap, HashSet};
use whyslow_model::Syscall;
use whyslow_model::event::Tid;

/// Threads from which on a process that gets SIGURG is taken for one of Go, which preempts its threads by it (since 1.14). What else
/// uses that signal has one thread: PostgreSQL for its latches, programs for urgent data of TCP.
const FEWEST_THREADS: usize = 3;
/// Samples from which on stacks tell what a thread's waits are, and the part of them that has to be for work.
const ENOUGH_STACKS: u64 = 3;
const NEARLY_ALL: f64 = 0.9;

/// Whose waits at futexes are parking.
#[derive(Debug, Default)]
pub struct Parking {
    /// Processes whose code is run by goroutines.
    go: HashSet<ProcessId>,
    /// Threads of pools and runtimes that wait for work nearly always when they wait at a futex.
    workers: HashSet<(ProcessId, Tid)>,
}

impl Parking {
    /// As these facts tell: by stacks, by counts of goroutines, by the signal that Go's runtime sends to its threads.
    pub fn of(facts: &Facts) -> Parking {
        let threads = &facts.world.threads;
        let mut go: HashSet<ProcessId> = facts.samples.processes_of("[go]");
        go.extend(facts.parked.pids().into_iter().filter_map(|pid| threads.last_process(pid)));
        let preempted = facts.world.signals.iter().filter(|signal| &*signal.name == "SIGURG");
        let has_several = |process: &ProcessId| {
            threads.iter().filter(|(_, thread)| thread.process == *process).take(FEWEST_THREADS).count()
                >= FEWEST_THREADS
        };
        go.extend(preempted.map(|signal| signal.process).filter(has_several));
        let mut waits: HashMap<(ProcessId, Tid), (u64, u64, u64)> = HashMap::new();
        for ((process, tid, call), shares) in facts.samples.waits() {
            if call.is_none_or(|call| call == "futex") {
                let (count, work, all) = waits.entry((process, tid)).or_default();
                *count = count.saturating_add(shares.count);
                *work = work.saturating_add(shares.work_ns);
                *all = all.saturating_add(shares.total_ns());
            }
        }
        let is_idle = |(count, work, all): &(u64, u64, u64)| {
            *count >= ENOUGH_STACKS && *work as f64 >= NEARLY_ALL * (*all).max(1) as f64
        };
        let workers = waits.into_iter().filter(|(_, shares)| is_idle(shares)).map(|(of, _)| of).collect();
        Parking { go, workers }
    }

    /// True for a wait of a thread of Go: which goroutine it would have run nobody knows. A lock whose value says that another thread
    /// has it is one of the runtime or of C.
    pub fn is_goroutines(&self, call: &LongCall) -> bool {
        is_at_futex(call) && self.go.contains(&call.process)
    }

    /// True for a wait of a thread that waits for work nearly always. Within a request it may be another wait.
    pub fn is_workers(&self, call: &LongCall) -> bool {
        is_at_futex(call) && self.workers.contains(&(call.process, call.tid))
    }
}

fn is_at_futex(call: &LongCall) -> bool {
    matches!(call.what, Resource::Lock { .. }) && call.syscall == Syscall::FUTEX && !call.held
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{
        Call, Event, Nanos, Ret, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Timestamp,
    };

    fn wait(facts: &mut Facts, pid: Tid, tid: Tid, value: u32) {
        let args = format!("0x55d0c8a01040, FUTEX_WAIT_PRIVATE, {value}, NULL");
        let mut call = Call::new("futex", &args);
        (call.tid, call.pid, call.ret) = (tid, Some(pid), Ret::Value(0));
        (call.ts, call.dur) = (Timestamp::new(1_000_000_000), Nanos::from_millis(5));
        facts.push(Event::Call(&call));
    }

    fn stacks(facts: &mut Facts, (pid, tid): (Tid, Tid), id: u32, frames: &[(&str, &str)]) {
        let frames = frames.iter().map(|(module, function)| StackFrame {
            function: Some(function.to_string()),
            module: Some(module.to_string()),
            ..StackFrame::default()
        });
        facts.push(Event::Stack(Stack { id: StackId(id), frames: frames.collect(), cut: false }));
        for _ in 0..3 {
            facts.push(Event::Sample(SampledStack {
                kind: SampleKind::OffCpu,
                ts: Timestamp::new(1),
                cpu: 0,
                pid,
                tid,
                weight: Nanos::from_millis(5),
                user: Some(StackId(id)),
                kernel: None,
            }));
        }
    }

    /// For each wait of the capture whether it parks a thread of Go, and whether a worker.
    fn told(facts: &mut Facts) -> Vec<(Tid, bool, bool)> {
        facts.finish();
        let parking = Parking::of(facts);
        let told = |call: &LongCall| (call.tid, parking.is_goroutines(call), parking.is_workers(call));
        let mut all: Vec<_> = facts.graph.calls().map(told).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn stacks_of_go_say_that_its_threads_park() {
        let mut facts = Facts::default();
        stacks(&mut facts, (7, 7), 1, &[("[go]", "runtime.futex"), ("[go]", "main.main")]);
        wait(&mut facts, 7, 7, 0);
        wait(&mut facts, 7, 8, 0);
        wait(&mut facts, 9, 9, 0);
        assert_eq!(told(&mut facts), [(7, true, false), (8, true, false), (9, false, false)]);
    }

    #[test]
    fn a_lock_that_another_thread_has_is_no_parking() {
        let mut facts = Facts::default();
        stacks(&mut facts, (7, 7), 1, &[("[go]", "main.main")]);
        wait(&mut facts, 7, 7, 2);
        assert_eq!(told(&mut facts), [(7, false, false)]);
    }

    #[test]
    fn who_waits_for_work_by_nearly_all_stacks_is_a_worker() {
        let mut facts = Facts::default();
        let worker =
            [("[java]", "java.util.concurrent.ThreadPoolExecutor.getTask"), ("libc.so.6", "start_thread")];
        stacks(&mut facts, (7, 8), 1, &worker);
        stacks(&mut facts, (7, 9), 2, &[("libc.so.6", "pthread_cond_wait"), ("/srv/app", "take_order")]);
        wait(&mut facts, 7, 8, 0);
        wait(&mut facts, 7, 9, 0);
        assert_eq!(told(&mut facts), [(8, false, true), (9, false, false)]);
    }
}
