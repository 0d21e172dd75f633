//! Calls that change nothing: reading a clock, yielding the CPU.

use crate::Fold;
use crate::exemplar::Exemplars;
use crate::folds::laps::{Laps, lap_time, within};
use crate::window::Window;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Nanos, Syscall, Timestamp};

/// Which clocks are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BusyClock {
    /// Wall or monotonic time, which the vDSO can tell without a system call.
    Time,
    /// CPU time of a thread or process, which only the kernel knows.
    CpuTime,
}

/// Reads of one kind of clock.
#[derive(Clone, Debug, Default)]
pub struct ClockReads {
    /// The calls.
    pub calls: CallStats,
    /// Lines.
    pub exemplars: Exemplars,
    /// In a capture without times: the first and last wall-clock times that the calls themselves answered.
    told: Window,
}

impl ClockReads {
    /// How long the program ran from the first to the last answer; unknown where no answer is of use.
    pub fn told(&self) -> Window {
        self.told
    }
}

/// sched_yield calls of one thread.
#[derive(Clone, Debug)]
pub struct Yields {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// Yields one right behind the other.
    pub laps: Laps,
}

/// Clock reads and yields.
#[derive(Debug, Default)]
pub struct Busy {
    /// Reads of wall and monotonic clocks.
    pub time: ClockReads,
    /// Reads of CPU-time clocks.
    pub cpu_time: ClockReads,
    /// Yields, a row a thread.
    pub yields: Vec<Yields>,
    threads: Vec<LastYield>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LastYield {
    seen: bool,
    ts: Timestamp,
    calls: u64,
    useful: u64,
    row: u32,
}

impl Busy {
    /// Yields further apart do something in between, ns: under strace a call takes some 50 us.
    const LONGEST_LAP_NS: u64 = 500_000;
    /// Yields with no other call in between may be this far apart, ns: another thread had the CPU for its turn.
    const LONGEST_BARE_LAP_NS: u64 = 10_000_000;
    /// Threads kept apart.
    const MAX_ROWS: usize = 256;

    /// Reads of that kind of clock.
    pub fn reads(&self, clock: BusyClock) -> &ClockReads {
        match clock {
            BusyClock::Time => &self.time,
            BusyClock::CpuTime => &self.cpu_time,
        }
    }

    fn yielded(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let at = seen.thread.0 as usize;
        if at >= self.threads.len() {
            self.threads.resize(at + 1, LastYield::default());
        }
        let thread = world.threads.thread(seen.thread);
        let last = self.threads[at];
        let mut row = last.row;
        let bare = thread.calls == last.calls + 1;
        let longest = if bare { Self::LONGEST_BARE_LAP_NS } else { Self::LONGEST_LAP_NS };
        let lap = lap_time(last.ts, call.ts).filter(|time| within(*time, longest));
        if let Some(lap) = lap
            && last.seen
            && last.useful == thread.useful
            && last.calls <= thread.calls
        {
            let fits = |row: &Yields| row.tid == call.tid && row.process == seen.process;
            if !self.yields.get((row as usize).wrapping_sub(1)).is_some_and(fits) {
                row = match self.yields.iter().position(fits) {
                    Some(at) => at as u32 + 1,
                    None if self.yields.len() < Self::MAX_ROWS => {
                        self.yields.push(Yields {
                            process: seen.process,
                            tid: call.tid,
                            laps: Laps::default(),
                        });
                        self.yields.len() as u32
                    }
                    None => 0,
                };
            }
            if let Some(row) = self.yields.get_mut((row as usize).wrapping_sub(1)) {
                row.laps.turn(call, lap, thread.calls - last.calls);
            }
        }
        self.threads[at] =
            LastYield { seen: true, ts: call.ts, calls: thread.calls, useful: thread.useful, row };
    }
}

/// Names of the calls that read a clock.
pub const CLOCK_CALLS: [&str; 4] = ["clock_gettime", "clock_gettime64", "gettimeofday", "time"];

impl Fold for Busy {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall == Syscall::SCHED_YIELD || CLOCK_CALLS.contains(&syscall.info().name)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        if call.syscall == Syscall::SCHED_YIELD {
            return self.yielded(seen, world);
        }
        // A negative number is a CPU-time clock of another process (clock_getcpuclockid).
        let head = &call.args[..call.args.len().min(40)];
        let cpu = memchr::memmem::find(head, b"CPUTIME").is_some()
            || head.starts_with(b"0xff")
            || head.starts_with(b"MAKE_PROCESS_CPUCLOCK")
            || head.starts_with(b"MAKE_THREAD_CPUCLOCK");
        let answer = if call.ts.is_known() { None } else { wall_clock(call.args) };
        let reads = if cpu { &mut self.cpu_time } else { &mut self.time };
        reads.calls.record(call.dur, call.failed(), 0);
        reads.exemplars.see(call);
        if let Some(answer) = answer {
            reads.told.see(answer, Nanos::UNKNOWN);
        }
    }
}

/// The wall-clock time that `gettimeofday({S, US}, …)` or `clock_gettime(CLOCK_REALTIME, {S, NS})` answered, with or
/// without the names of the fields.
fn wall_clock(args: &[u8]) -> Option<Timestamp> {
    let real = args.starts_with(b"CLOCK_REALTIME,");
    if !real && !args.starts_with(b"{") {
        return None;
    }
    let mut numbers = args[memchr::memchr(b'{', args)?..]
        .split(|byte| !byte.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
    let (seconds, part) = (numbers.next()??, numbers.next()??);
    let part = if real { part } else { part.checked_mul(1_000)? };
    Some(Timestamp::new(seconds.checked_mul(1_000_000_000)?.checked_add(part)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_wall_clocks_are_read() {
        let ns = |args: &str| wall_clock(args.as_bytes()).and_then(Timestamp::get);
        assert_eq!(ns("{1396214480, 430083}, NULL"), Some(1_396_214_480_430_083_000));
        assert_eq!(ns("{tv_sec=7, tv_usec=5}, NULL"), Some(7_000_005_000));
        assert_eq!(ns("CLOCK_REALTIME, {tv_sec=7, tv_nsec=5}"), Some(7_000_000_005));
        assert_eq!(ns("CLOCK_MONOTONIC, {tv_sec=7, tv_nsec=5}"), None);
        assert_eq!(ns("NULL, NULL"), None);
        assert_eq!(ns("{99999999999999999999, 1}"), None);
    }
}
