//! Looks that the threads of one process take in turns: in a runtime with threads of its own (Go, tokio, an executor of Java) one thread
//! waits for the timer, and whichever is free looks.

use super::{Look, Sleep, SleepCheck, Sleeps, folder, is_sleep, period, says_not_yet};
use crate::exemplar::{Exemplar, Exemplars};
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::syscall::PathArg;
use whyslow_model::{Errno, Nanos, Syscall, Timestamp};

/// The looks of all processes.
#[derive(Debug, Default)]
pub(super) struct LooksInTurns {
    /// By the place of a process.
    processes: Vec<Lookout>,
    /// By the place of a thread: the look that its waits follow on, and the time in them, ns.
    waits: Vec<(u64, u64)>,
    /// Looks in vain so far: each has a number, from 1.
    looks: u64,
}

/// What one process looks at.
#[derive(Debug, Default)]
struct Lookout {
    /// The last look in vain.
    last: Option<LookInVain>,
    /// The row of its last gap, from 1.
    row: u32,
}

#[derive(Debug)]
struct LookInVain {
    number: u64,
    look: Look,
    end: Timestamp,
    tid: Tid,
    /// What the process had done by then.
    useful: u64,
    /// The longest wait since then that its limit ended.
    timer: Option<EndedTimer>,
    /// Time in such waits, ns.
    timers_ns: u64,
}

#[derive(Clone, Debug)]
struct EndedTimer {
    ns: u64,
    tid: Tid,
    syscall: Syscall,
    /// The first alone is kept.
    line: Option<Box<Exemplar>>,
}

impl LooksInTurns {
    /// Processes followed; those past it are not.
    const MAX_PROCESSES: usize = 4_096;
    /// Waits of less are no sleeps.
    const SHORTEST: Nanos = Nanos::from_millis(1);
    /// The part of the time from one look to the next that the thread which looks was asleep.
    const ASLEEP: f64 = 0.8;
    /// The part of that time in waits that their limit ended, of whichever thread.
    const TIMED: f64 = 0.5;

    fn of(&mut self, process: ProcessId) -> Option<&mut Lookout> {
        let at = process.0 as usize;
        if at >= Self::MAX_PROCESSES {
            return None;
        }
        if at >= self.processes.len() {
            self.processes.resize_with(at + 1, Lookout::default);
        }
        self.processes.get_mut(at)
    }

    /// A wait, or a look.
    pub(super) fn see(&mut self, rows: &mut Vec<Sleep>, seen: &Seen<'_>, world: &World) {
        if is_sleep(seen.call.syscall) {
            self.waited(rows, seen, world);
        } else if seen.file.is_some() && seen.call.syscall.info().path != PathArg::None {
            self.looked(rows, seen, world);
        }
    }

    fn waited(&mut self, rows: &[Sleep], seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let Some(lookout) = self.processes.get_mut(seen.process.0 as usize) else { return };
        let Some(last) = &mut lookout.last else { return };
        let Some(ns) = since(call.ts, call.end(), last.end).filter(|ns| *ns >= Self::SHORTEST.or_zero())
        else {
            return;
        };
        let at = seen.thread.0 as usize;
        if at >= self.waits.len() {
            self.waits.resize(at + 1, (0, 0));
        }
        let (number, waited_ns) = &mut self.waits[at];
        if *number != last.number {
            (*number, *waited_ns) = (last.number, 0);
        }
        *waited_ns = waited_ns.saturating_add(ns);
        if period(seen, world).is_some() {
            last.timers_ns = last.timers_ns.saturating_add(ns);
            if last.timer.as_ref().is_some_and(|timer| timer.ns >= ns) {
                return;
            }
            // A line costs memory.
            let kept =
                rows.get((lookout.row as usize).wrapping_sub(1)).is_some_and(|row| row.same_checks > 0);
            let line = (!kept).then(|| Box::new(Exemplar::of(call)));
            last.timer = Some(EndedTimer { ns, tid: call.tid, syscall: call.syscall, line });
        }
    }

    fn looked(&mut self, rows: &mut Vec<Sleep>, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let in_vain = call.errno != Errno::NONE && says_not_yet(seen);
        let known = self.processes.get(seen.process.0 as usize).is_some_and(|lookout| lookout.last.is_some());
        if !in_vain && !known {
            return;
        }
        let waits = self.waits.get(seen.thread.0 as usize).copied();
        let number = self.looks + 1;
        let Some(lookout) = self.of(seen.process) else { return };
        let look = Look { syscall: call.syscall, file: seen.file, path: 0, fd: None };
        let useful = world.threads.process(seen.process).useful;
        if lookout.last.as_ref().is_some_and(|last| is_beside(last.look, look, world))
            && let Some(last) = lookout.last.take()
            && last.useful == useful
            && let Some(gap) = call.ts.since(last.end).get().filter(|gap| *gap > 0)
            && let Some(row) = row_of(rows, lookout.row, seen, look, world)
        {
            lookout.row = row;
            let part = |ns: u64| ns as f64 / gap as f64;
            let asleep = waits.is_some_and(|(of, ns)| of == last.number && part(ns) >= Self::ASLEEP);
            let slept = asleep && part(last.timers_ns) >= Self::TIMED;
            rows[row as usize - 1].took_turn(seen, last, slept, gap, in_vain);
        }
        if in_vain {
            let (end, tid) = (call.end(), call.tid);
            lookout.last = Some(LookInVain { number, look, end, tid, useful, timer: None, timers_ns: 0 });
            self.looks = number;
        }
    }
}

/// How much of the time from `begin` to `end` was after `from`, ns; `None` where that is unknown.
fn since(begin: Timestamp, end: Timestamp, from: Timestamp) -> Option<u64> {
    Some(end.get()?.saturating_sub(begin.get()?.max(from.get()?)))
}

impl Sleep {
    /// A look, `gap` ns after the `last` one.
    fn took_turn(&mut self, seen: &Seen<'_>, last: LookInVain, slept: bool, gap: u64, in_vain: bool) {
        self.times += 1;
        self.checks += 1;
        if !self.first.is_known() {
            self.first = last.end;
        }
        if seen.call.end().is_known() {
            self.last = seen.call.end();
        }
        self.varies |= self.check.as_ref().is_some_and(|check| check.file != seen.file);
        let Some(timer) = last.timer.filter(|_| slept) else { return };
        self.same_checks += 1;
        self.timed += 1;
        self.slept_ns = self.slept_ns.saturating_add(gap);
        self.fruitful += !in_vain as u64;
        self.again += (last.look.file == seen.file) as u64;
        self.turns += (last.tid != seen.call.tid || timer.tid != seen.call.tid) as u64;
        self.syscall = timer.syscall;
        self.exemplars.first = self.exemplars.first.take().or(timer.line);
    }
}

/// The row of what the process looks at, from 1; `None` where there are too many.
fn row_of(rows: &mut Vec<Sleep>, last: u32, seen: &Seen<'_>, look: Look, world: &World) -> Option<u32> {
    let fits = |row: &Sleep| {
        let known = row.check.as_deref().filter(|_| row.in_turns && row.process == seen.process);
        known.is_some_and(|check| {
            is_beside(Look { syscall: check.syscall, file: check.file, path: 0, fd: None }, look, world)
        })
    };
    if rows.get((last as usize).wrapping_sub(1)).is_some_and(fits) {
        return Some(last);
    }
    if let Some(at) = rows.iter().position(fits) {
        return Some(at as u32 + 1);
    }
    if rows.len() >= Sleeps::MAX_ROWS {
        return None;
    }
    let call = seen.call;
    let mut row = Sleep::new(seen, Nanos::UNKNOWN);
    row.in_turns = true;
    row.first = Timestamp::UNKNOWN;
    row.check = Some(Box::new(SleepCheck {
        syscall: call.syscall,
        errno: Errno::ENOENT,
        target: seen.file.map(|file| world.files.get(file).path.to_string()),
        fd: None,
        exemplar: Exemplar::of(call),
        file: seen.file,
    }));
    row.exemplars = Exemplars::default();
    rows.push(row);
    Some(rows.len() as u32)
}

/// The same, or a file of the same folder.
fn is_beside(one: Look, other: Look, world: &World) -> bool {
    let path = |look: Look| look.file.map(|file| &*world.files.get(file).path);
    let beside = || {
        let folders = (path(one).and_then(folder), path(other).and_then(folder));
        folders.0.is_some() && folders.0 == folders.1
    };
    one.syscall == other.syscall && (one.file == other.file || beside())
}

#[cfg(test)]
mod tests {
    use super::super::Sleep;
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink, Timestamp};

    fn push(facts: &mut Facts, tid: u32, at_ms: u64, dur_us: u64, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        (call.tid, call.ts) = (tid, Timestamp::new(1 + at_ms * 1_000_000));
        (call.dur, call.ret) = (Nanos::new(dur_us * 1_000), Ret::Value(ret.max(-1)));
        call.errno = if ret < 0 { Errno((-ret) as u16) } else { Errno::NONE };
        facts.push(Event::Call(&call));
    }

    /// Two threads look each 50 ms, in turns; `between` is what the second does in the middle.
    fn looks(between: Option<(&str, &str, i64)>) -> Option<Sleep> {
        let mut facts = Facts::default();
        for (at, tid) in (0..20).map(|turn| (turn * 50, 100 + turn as u32 % 2)) {
            push(&mut facts, tid, at, 10, "newfstatat", r#"AT_FDCWD, "/srv/done", 0xc0, 0"#, -2);
            if let Some((name, args, ret)) = between {
                push(&mut facts, tid, at + 2, 10, name, args, ret);
            }
            push(&mut facts, 201 - tid, at + 3, 46_900, "epoll_pwait", "5, [], 128, 46, NULL, 0", 0);
        }
        facts.finish();
        facts.sleeps.rows.iter().find(|row| row.in_turns).cloned()
    }

    #[test]
    fn looks_of_two_threads_with_a_timer_between_are_sleeps_of_their_process() {
        let row = looks(None).unwrap();
        assert_eq!((row.times, row.same_checks, row.turns, row.fruitful), (19, 19, 19, 0));
        assert_eq!(row.length(), Nanos::new(49_990_000));
    }

    #[test]
    fn what_only_wakes_a_thread_is_no_work_and_what_is_read_from_others_is() {
        let woken = looks(Some(("write", r#"6, "\1\0\0\0\0\0\0\0", 8"#, 8)));
        assert_eq!(woken.map(|row| row.same_checks), Some(19));
        assert!(looks(Some(("read", r#"7, "page 7\n", 8192"#, 7))).is_none());
    }
}
