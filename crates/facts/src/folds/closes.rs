//! Close loops: close of one number after the other, whether open or not.

use crate::Fold;
use crate::exemplar::Exemplars;
use crate::world::ids::FileId;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Errno, Nanos, Syscall};

/// Loops that close all numbers up to a limit.
#[derive(Debug, Default)]
pub struct CloseLoops {
    /// Loops of at least [`CloseLoops::LOOP`] closes of numbers that were not open.
    pub loops: u64,
    /// Their closes that failed with EBADF.
    pub closes: CallStats,
    /// The highest number closed in vain.
    pub highest: i32,
    /// The first thread that ran one.
    pub tid: Tid,
    /// Lines of the loops.
    pub exemplars: Exemplars,
    /// The programs that were started behind loops, and how often.
    started: Vec<(FileId, u64)>,
    runs: Vec<Run>,
}

/// A run of closes of neighbouring numbers by one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    last: i32,
    failed: u32,
    timed: bool,
    total_ns: u64,
}

impl CloseLoops {
    /// Closes in vain from which on a run is a loop over all numbers: the default limit of open files is 1,024
    /// (`INR_OPEN_CUR`, include/uapi/linux/fs.h), of which a few are open.
    pub const LOOP: u32 = 1_000;
    /// Open numbers between those that are not, in a loop that skips them.
    const GAP: u32 = 64;
    /// Programs told apart.
    const MAX_PROGRAMS: usize = 64;

    /// The program that was started behind a loop most often.
    pub fn favourite(&self) -> Option<FileId> {
        self.started.iter().max_by_key(|(_, times)| *times).map(|(program, _)| *program)
    }

    fn executed(&mut self, seen: &Seen<'_>) {
        let at = seen.thread.0 as usize;
        let (Some(program), Some(run)) = (seen.file, self.runs.get_mut(at)) else { return };
        if seen.call.ok().is_none() || run.failed < Self::LOOP {
            return;
        }
        *run = Run::default();
        let room = self.started.len() < Self::MAX_PROGRAMS;
        match self.started.iter_mut().find(|(known, _)| *known == program) {
            Some((_, times)) => *times += 1,
            None if room => self.started.push((program, 1)),
            None => {}
        }
    }
}

impl Fold for CloseLoops {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::CLOSE | Syscall::EXECVE | Syscall::EXECVEAT)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, _: &World) {
        let at = seen.thread.0 as usize;
        if seen.call.syscall != Syscall::CLOSE {
            return self.executed(seen);
        }
        let Some(fd) = seen.fd else { return };
        let failed = seen.call.errno == Errno::EBADF;
        if !failed {
            // An open number in the middle of a loop is part of it.
            if let Some(run) = self.runs.get_mut(at).filter(|run| run.failed > 0) {
                run.last = fd;
            }
            return;
        }
        if at >= self.runs.len() {
            self.runs.resize(at + 1, Run::default());
        }
        let run = &mut self.runs[at];
        // A number that fails twice in a row is a double close, not a loop.
        if run.failed > 0 && (run.last == fd || run.last.abs_diff(fd) > Self::GAP) {
            *run = Run::default();
        }
        run.last = fd;
        run.failed += 1;
        run.timed |= seen.call.dur.is_known();
        run.total_ns = run.total_ns.saturating_add(seen.call.dur.or_zero());
        if run.failed < Self::LOOP {
            return;
        }
        if run.failed == Self::LOOP {
            self.loops += 1;
            let total = if run.timed { Nanos::new(run.total_ns) } else { Nanos::UNKNOWN };
            self.closes.merge(&CallStats::of_totals(run.failed as u64, run.failed as u64, total));
            if self.loops == 1 {
                self.tid = seen.call.tid;
            }
        } else {
            self.closes.record(seen.call.dur, true, 0);
        }
        self.highest = self.highest.max(fd);
        self.exemplars.see(seen.call);
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Ret, Sink};

    fn closes(fds: impl Iterator<Item = i32>) -> Facts {
        let mut facts = Facts::default();
        for fd in fds {
            let call = Call { tid: 1, ret: Ret::Value(-1), errno: Errno::EBADF, ..Call::new("close", "") };
            let args = fd.to_string();
            facts.push(Event::Call(&Call { args: args.as_bytes(), ..call }));
        }
        facts
    }

    #[test]
    fn a_loop_up_or_down_is_one_loop() {
        let up = closes(3..5000).close_loops;
        assert_eq!((up.loops, up.closes.count, up.highest), (1, 4997, 4999));
        let down = closes((3..2000).rev()).close_loops;
        assert_eq!((down.loops, down.closes.count), (1, 1997));
    }

    #[test]
    fn the_program_that_is_started_behind_a_loop_is_known() {
        let mut facts = closes(3..5000);
        assert_eq!(facts.close_loops.favourite(), None);
        let exec = Call { tid: 1, ret: Ret::Value(0), ..Call::new("execve", r#""bin/tool", ["tool"], 0x1"#) };
        facts.push(Event::Call(&exec));
        let program = facts.close_loops.favourite().map(|file| &*facts.world.files.get(file).path);
        assert!(program.is_some_and(|path| path.ends_with("bin/tool")));
    }

    #[test]
    fn double_closes_and_scattered_ones_are_none() {
        assert_eq!(closes(std::iter::repeat_n(7, 5000)).close_loops.loops, 0);
        assert_eq!(closes((0..5000).map(|i| i * 7919 % 4096)).close_loops.loops, 0);
        assert_eq!(closes(3..900).close_loops.loops, 0);
    }
}
