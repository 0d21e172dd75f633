//! Calls that find nothing ready (EAGAIN) right after another one, with no wait and no work in between.

use crate::Fold;
use crate::folds::laps::{Laps, lap_time, paced, within};
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::syscall::{Class, Moves};
use whyslow_model::{Errno, Syscall, Timestamp};

/// A thread that tries again and again.
#[derive(Clone, Debug)]
pub struct AgainSpin {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// The descriptors it tried, the first few, with the calls that found nothing.
    pub tried: Vec<Tried>,
    /// Calls on further descriptors.
    pub others: u64,
    /// Polls in between that said at once that something was ready, or were told not to wait.
    pub polls: u64,
    /// The turns: a turn is one EAGAIN behind another.
    pub laps: Laps,
}

/// One descriptor that was tried in vain.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its number.
    pub fd: i32,
    /// The call.
    pub syscall: Syscall,
    /// Its peer or path, if known.
    pub target: Option<String>,
    /// How often.
    pub times: u64,
}

/// Threads that try again without waiting.
#[derive(Debug, Default)]
pub struct AgainSpins {
    /// A row a thread.
    pub spins: Vec<AgainSpin>,
    threads: Vec<Last>,
}

/// The last EAGAIN of one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    seen: bool,
    ts: Timestamp,
    calls: u64,
    useful: u64,
    /// It waited since, on its own will.
    waited: bool,
    polls: u32,
    row: u32,
}

impl AgainSpins {
    /// A turn longer than this is no spin, ns (500 a second under strace are several thousand without it).
    const LONGEST_LAP_NS: u64 = 2_000_000;
    /// Threads kept apart; spins are of one or a few.
    const MAX_ROWS: usize = 256;
    /// Descriptors kept apart.
    const MAX_TRIED: usize = 8;

    #[cold]
    fn turn(&mut self, seen: &Seen<'_>, world: &World, last: Last, lap: whyslow_model::Nanos) -> u32 {
        let call = seen.call;
        let fits = |row: &AgainSpin| row.tid == call.tid && row.process == seen.process;
        let at = match self.spins.get((last.row as usize).wrapping_sub(1)) {
            Some(row) if fits(row) => last.row as usize - 1,
            _ => match self.spins.iter().position(fits) {
                Some(at) => at,
                None if self.spins.len() < Self::MAX_ROWS => {
                    self.spins.push(AgainSpin {
                        process: seen.process,
                        tid: call.tid,
                        tried: Vec::new(),
                        others: 0,
                        polls: 0,
                        laps: Laps::default(),
                    });
                    self.spins.len() - 1
                }
                None => return 0,
            },
        };
        let row = &mut self.spins[at];
        let calls = world.threads.thread(seen.thread).calls - last.calls;
        row.laps.turn(call, lap, calls);
        row.polls += last.polls as u64;
        let fd = seen.fd.unwrap_or(-1);
        let known = row.tried.iter().position(|tried| tried.fd == fd && tried.syscall == call.syscall);
        match known {
            Some(at) => row.tried[at].times += 1,
            None if row.tried.len() < Self::MAX_TRIED => row.tried.push(Tried {
                fd,
                syscall: call.syscall,
                target: world.life_of(seen.process, fd).and_then(|life| life.target(world)),
                times: 1,
            }),
            None => row.others += 1,
        }
        at as u32 + 1
    }
}

impl Fold for AgainSpins {
    fn wants(&self, syscall: Syscall) -> bool {
        let info = syscall.info();
        info.moves != Moves::None
            || info.class == Class::Wait
            || matches!(syscall, Syscall::ACCEPT | Syscall::ACCEPT4 | Syscall::CONNECT)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let at = seen.thread.0 as usize;
        if call.errno != Errno::EAGAIN {
            if call.syscall.info().class == Class::Wait
                && let Some(last) = self.threads.get_mut(at)
            {
                // A poll that found something, or was told not to wait, is no wait. (A full wait breaks the lap.)
                let slept = matches!(call.syscall, Syscall::NANOSLEEP | Syscall::CLOCK_NANOSLEEP)
                    || call.ret_note.starts_with(b"(Timeout)") && !call.args.ends_with(b", 0");
                last.waited |= slept;
                last.polls += !slept as u32;
            }
            return;
        }
        if at >= self.threads.len() {
            self.threads.resize(at + 1, Last::default());
        }
        let thread = world.threads.thread(seen.thread);
        let last = self.threads[at];
        let longest = paced(Self::LONGEST_LAP_NS, call, thread.calls.saturating_sub(last.calls));
        let lap = lap_time(last.ts, call.ts).filter(|time| within(*time, longest));
        let mut row = last.row;
        if let Some(lap) = lap
            && last.seen
            && !last.waited
            && last.useful == thread.useful
            && last.calls <= thread.calls
        {
            row = self.turn(seen, world, last, lap);
        }
        self.threads[at] = Last {
            seen: true,
            ts: call.ts,
            calls: thread.calls,
            useful: thread.useful,
            waited: false,
            polls: 0,
            row,
        };
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink, Timestamp};

    fn push(facts: &mut Facts, at_us: u64, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        call.ts = Timestamp::new(at_us * 1_000);
        call.dur = Nanos::new(5_000);
        call.ret = Ret::Value(ret.max(-1));
        call.errno = if ret < 0 { Errno((-ret) as u16) } else { Errno::NONE };
        facts.push(Event::Call(&call));
    }

    #[test]
    fn tries_without_a_wait_are_turns() {
        let mut facts = Facts::default();
        for i in 0..100 {
            push(&mut facts, i * 50, "recvfrom", "5, 0x7ff, 4096, 0, NULL, NULL", -11);
        }
        let spin = &facts.again.spins[0];
        assert_eq!((spin.laps.turns, spin.tried[0].fd, spin.tried[0].times), (99, 5, 99));
        assert_eq!(spin.laps.per_second(), Some(20_000.0));
    }

    #[test]
    fn a_slow_tracer_hides_no_spin() {
        // Two calls a turn, each stopped for 400 us and as long again twice between two: no turn is below 2 ms.
        let spins = |dur_us: u64| {
            let mut facts = Facts::default();
            for i in 0..100 {
                for (name, ret, at) in [("getpid", 7, 0), ("recvfrom", -11, 1_300)] {
                    let mut call = Call::new(name, "5, 0x7ff, 4096, 0, NULL, NULL");
                    call.ts = Timestamp::new(i * 2_600_000 + at * 1_000);
                    call.dur = Nanos::new(dur_us * 1_000);
                    call.ret = Ret::Value(if ret < 0 { -1 } else { ret });
                    call.errno = if ret < 0 { Errno::EAGAIN } else { Errno::NONE };
                    facts.push(Event::Call(&call));
                }
            }
            facts.again.spins.len()
        };
        assert_eq!((spins(400), spins(1)), (1, 0));
    }

    #[test]
    fn draining_and_sleeping_are_none() {
        let mut facts = Facts::default();
        for i in 0..100 {
            push(&mut facts, i * 100, "recvfrom", "5, \"x\", 4096, 0, NULL, NULL", 1);
            push(&mut facts, i * 100 + 50, "recvfrom", "5, 0x7ff, 4096, 0, NULL, NULL", -11);
        }
        for i in 200..300 {
            push(&mut facts, i * 100, "recvfrom", "5, 0x7ff, 4096, 0, NULL, NULL", -11);
            push(&mut facts, i * 100 + 50, "nanosleep", "{tv_sec=0, tv_nsec=50000}, NULL", 0);
        }
        for i in 100..200 {
            push(&mut facts, i * 10_000, "recvfrom", "5, 0x7ff, 4096, 0, NULL, NULL", -11);
        }
        assert!(facts.again.spins.is_empty(), "{:?}", facts.again.spins);
    }
}
