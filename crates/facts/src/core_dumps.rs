//! Core dumps: how long the kernel wrote the memory of a process that a signal killed, while its parent waited for its end.

use crate::exemplar::Exemplar;
use crate::world::World;
use crate::world::ids::ProcessId;
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Call, CallStats, Exit, Signal, Syscall, Timestamp, text};

/// Core dumps of the children of one process.
#[derive(Debug)]
pub struct Dumped {
    /// The parent, which is told of the end.
    pub parent: ProcessId,
    /// The thread of it that took the signal.
    pub tid: Tid,
    /// From the signal that killed a child to its end.
    pub dumps: CallStats,
    /// The program that was killed last, where its name is known.
    pub program: Option<Box<str>>,
    /// Its process.
    pub child: Tid,
    /// By which signal.
    pub signal: Box<str>,
    /// Lines: the signal that killed, and the one that tells of the end.
    pub lines: Vec<Exemplar>,
}

/// All core dumps, by parent. Bounded.
#[derive(Debug, Default)]
pub struct CoreDumps {
    /// In order of appearance.
    pub rows: Vec<Dumped>,
    /// The last signal that may have killed each process.
    fatal: HashMap<Tid, Fatal, foldhash::fast::RandomState>,
}

/// A signal that may have killed a process.
#[derive(Debug)]
struct Fatal {
    since: Timestamp,
    /// When the process was gone; unknown where that is not recorded.
    ended: Timestamp,
    name: Box<str>,
    line: Exemplar,
}

/// Signals whose default is to end with a core dump (signal(7)).
const DUMPING: [&[u8]; 10] = [
    b"SIGSEGV", b"SIGABRT", b"SIGBUS", b"SIGFPE", b"SIGILL", b"SIGQUIT", b"SIGTRAP", b"SIGSYS", b"SIGXCPU",
    b"SIGXFSZ",
];

impl CoreDumps {
    const MAX_ROWS: usize = 256;
    const MAX_FATAL: usize = 4_096;
    const MAX_LINES: usize = 4;

    pub(crate) fn signal(&mut self, signal: &Signal<'_>, world: &World) {
        let threads = &world.threads;
        let pid_of = |tid: Tid| {
            let process = threads.thread_of(tid).map(|thread| thread.process);
            process.and_then(|process| threads.process(process).pid).unwrap_or(tid)
        };
        if DUMPING.contains(&signal.name) {
            if self.fatal.len() >= Self::MAX_FATAL {
                self.fatal.clear();
            }
            let name = text::lossy(signal.name).into();
            let (line, ended) = (Exemplar::of_signal(signal), Timestamp::UNKNOWN);
            self.fatal.insert(pid_of(signal.tid), Fatal { since: signal.ts, ended, name, line });
            return;
        }
        if signal.name != b"SIGCHLD" || memchr::memmem::find(signal.info, b"CLD_DUMPED").is_none() {
            return;
        }
        let child = memchr::memmem::find(signal.info, b"si_pid=")
            .and_then(|at| text::decimal(&signal.info[at + 7..]));
        let Some(child) = child.and_then(|(pid, _)| Tid::try_from(pid).ok()) else { return };
        self.ended(child, (signal.tid, signal.ts), world, || Exemplar::of_signal(signal));
    }

    /// Of a parent that takes no signal for its children its wait tells that one left a core.
    pub(crate) fn call(&mut self, call: &Call<'_>, world: &World) {
        let is_wait = matches!(call.syscall, Syscall::WAIT4 | Syscall::WAITID);
        if !is_wait || self.fatal.is_empty() {
            return;
        }
        let in_args = memchr::memmem::find(call.args, b"WCOREDUMP(s)").is_some();
        let Some(child) = call.ok().filter(|_| in_args).and_then(|pid| Tid::try_from(pid).ok()) else {
            return;
        };
        self.ended(child, (call.tid, call.end()), world, || Exemplar::of(call));
    }

    /// A killed process has ended: its memory was written by then, however much later its parent asks.
    pub(crate) fn exit(&mut self, exit: &Exit<'_>) {
        if let Some(fatal) = self.fatal.get_mut(&exit.tid) {
            fatal.ended = exit.ts;
        }
    }

    /// A child left a core, as its parent's thread was told then.
    fn ended(
        &mut self,
        child: Tid,
        (tid, told): (Tid, Timestamp),
        world: &World,
        end_line: impl Fn() -> Exemplar,
    ) {
        let threads = &world.threads;
        let Some(Fatal { since, ended, name, line }) = self.fatal.remove(&child) else { return };
        let Some(parent) = threads.thread_of(tid).map(|thread| thread.process) else { return };
        let until = if ended.is_known() && !(told.is_known() && told < ended) { ended } else { told };
        let known = self.rows.iter().position(|row| row.parent == parent);
        let at = match known {
            Some(at) => at,
            None if self.rows.len() >= Self::MAX_ROWS => return,
            None => {
                let (dumps, lines) = (CallStats::default(), Vec::new());
                self.rows.push(Dumped {
                    parent,
                    tid,
                    dumps,
                    program: None,
                    child,
                    signal: name.clone(),
                    lines,
                });
                self.rows.len() - 1
            }
        };
        let row = &mut self.rows[at];
        row.dumps.record(until.since(since), false, 0);
        let program = threads.last_process(child).map(|process| threads.process(process));
        row.program = program.and_then(|process| process.name().map(Into::into)).or(row.program.take());
        (row.child, row.signal) = (child, name);
        if row.lines.len() + 2 <= Self::MAX_LINES {
            row.lines.push(line);
            row.lines.push(end_line());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Exit, Nanos, ProcessInfo, Ret, Signal, Sink, SourceId, Timestamp};

    #[test]
    fn a_wait_tells_of_a_dump_to_a_parent_that_takes_no_signal() {
        let wait = |status: &str| {
            let mut facts = Facts::default();
            for pid in [8, 9] {
                facts.push(Event::Process(ProcessInfo { pid, ..ProcessInfo::default() }));
            }
            facts.push(Event::Call(&Call { tid: 8, ret: Ret::Value(0), ..Call::new("getpid", "") }));
            let at = |ms: u64| Timestamp::new(1_000_000_000 + ms * 1_000_000);
            facts.push(Event::Signal(Signal {
                source: SourceId(0),
                line: 1,
                tid: 9,
                ts: at(0),
                name: b"SIGSEGV",
                info: b"{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL}",
                raw: b"",
            }));
            let signal = Some(&b"SIGSEGV"[..]);
            facts.push(Event::Exit(Exit {
                source: SourceId(0),
                line: 2,
                tid: 9,
                ts: at(700),
                status: None,
                signal,
            }));
            let args = format!("9, [{{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV{status}}}], 0, NULL");
            let (ret, dur) = (Ret::Value(9), Nanos::from_millis(1));
            facts.push(Event::Call(&Call { tid: 8, ts: at(900), ret, dur, ..Call::new("wait4", &args) }));
            facts.finish();
            facts.core_dumps.rows.first().map(|row| (row.dumps.total(), row.child))
        };
        assert_eq!(wait(" && WCOREDUMP(s)"), Some((Nanos::from_millis(700), 9)));
        assert_eq!(wait(""), None, "it died without a core");
    }

    #[test]
    fn a_dump_lasts_from_the_signal_to_the_end() {
        let mut facts = Facts::default();
        let mut signal = |ms: u64, tid, name: &str, info: &str| {
            let ts = Timestamp::new(1_000_000_000 + ms * 1_000_000);
            let (name, info) = (name.as_bytes(), info.as_bytes());
            facts.push(Event::Signal(Signal {
                source: SourceId(0),
                line: ms,
                tid,
                ts,
                name,
                info,
                raw: b"",
            }));
        };
        signal(0, 9, "SIGSEGV", "{si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=NULL}");
        signal(2_000, 8, "SIGCHLD", "{si_signo=SIGCHLD, si_code=CLD_DUMPED, si_pid=9, si_uid=0}");
        signal(3_000, 10, "SIGSEGV", "{si_signo=SIGSEGV}");
        signal(3_100, 8, "SIGCHLD", "{si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=10, si_uid=0}");
        facts.push(Event::Call(&Call { tid: 8, ret: Ret::Value(0), ..Call::new("getpid", "") }));
        facts.finish();
        let [row] = &facts.core_dumps.rows[..] else { panic!("{:?}", facts.core_dumps) };
        assert_eq!((row.dumps.count, row.dumps.total(), row.child), (1, Nanos::from_secs(2), 9));
        assert_eq!(&*row.signal, "SIGSEGV");
    }
}
