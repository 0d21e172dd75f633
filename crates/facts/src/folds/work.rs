//! Units of useful work: what a program gets done, to set costs against ("382.7 stats per write").

use crate::Fold;
use crate::world::fds::Origin;
use crate::world::{Seen, World};
use whyslow_model::syscall::Moves;
use whyslow_model::{CallStats, FdKind, Syscall};

/// Work done in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Requests: answers written on accepted connections, one for each run of reads; or those whose protocol is known, where these are more.
    pub requests: u64,
    /// Successful writes, except to `/dev/null` and terminals.
    pub writes: u64,
    /// Bytes of those writes.
    pub bytes_written: u64,
    /// Successful reads that brought something.
    pub reads: u64,
    /// Files renamed: the last step of writing one safely.
    pub renames: u64,
    /// Programs started.
    pub execs: u64,
}

impl Work {
    /// What a table of counts tells of it: successful writes, reads and renames, wherever they went.
    pub fn of_counts(counts: &[(String, CallStats)]) -> Work {
        let mut work = Work::default();
        for (name, stats) in counts {
            let Some(syscall) = Syscall::lookup(name.as_bytes()) else {
                continue;
            };
            let done = stats.count.saturating_sub(stats.errors);
            match syscall.info().moves {
                Moves::Read => work.reads += done,
                Moves::Write | Moves::Move => work.writes += done,
                Moves::None => match syscall {
                    Syscall::RENAME | Syscall::RENAMEAT | Syscall::RENAMEAT2 => work.renames += done,
                    Syscall::EXECVE | Syscall::EXECVEAT => work.execs += done,
                    _ => {}
                },
            }
        }
        work
    }

    /// Fewer requests than this say nothing of how often something is done for each.
    const FEW: u64 = 10;

    /// Takes in requests that were told by what was said, on connections that are older than the capture, too.
    pub(crate) fn answered(&mut self, requests: u64) {
        if requests >= Self::FEW {
            self.requests = self.requests.max(requests);
        }
    }

    /// The units that were done, the most telling first, each with its name in the singular.
    pub fn units(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [("request", self.requests), ("write", self.writes), ("rename", self.renames), ("read", self.reads)]
            .into_iter()
            .filter(|(_, count)| *count > 0)
    }

    /// `count` per unit of work, in words, for the units that were done: `382.7 per write, 40,027 per rename`.
    pub fn rates(&self, count: u64) -> String {
        let rates: Vec<String> = self
            .units()
            .filter(|(unit, _)| *unit != "read")
            .map(|(unit, done)| format!("{} per {unit}", crate::words::quantity(count as f64 / done as f64)))
            .collect();
        rates.join(", ")
    }
}

impl Fold for Work {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().moves != Moves::None
            || matches!(
                syscall,
                Syscall::RENAME
                    | Syscall::RENAMEAT
                    | Syscall::RENAMEAT2
                    | Syscall::EXECVE
                    | Syscall::EXECVEAT
            )
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if seen.call.ok().is_none() {
            return;
        }
        match seen.call.syscall.info().moves {
            Moves::Read => self.reads += (seen.bytes > 0) as u64,
            Moves::Write | Moves::Move => {
                if matches!(seen.kind, FdKind::DevNull | FdKind::Terminal | FdKind::Event) {
                    return;
                }
                self.writes += 1;
                self.bytes_written = self.bytes_written.saturating_add(seen.bytes);
                let answers = seen
                    .life
                    .and_then(|id| world.fds.get(id))
                    .is_some_and(|life| matches!(life.origin, Origin::Accept) && life.turned_to_write);
                self.requests += answers as u64;
            }
            Moves::None => match seen.call.syscall {
                Syscall::EXECVE | Syscall::EXECVEAT => self.execs += 1,
                _ => self.renames += 1,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::Nanos;

    #[test]
    fn a_table_tells_the_work_done() {
        let row = |name: &str, calls, errors| {
            (name.to_string(), CallStats::of_totals(calls, errors, Nanos::UNKNOWN))
        };
        let work = Work::of_counts(&[
            row("stat", 200_135, 0),
            row("write", 525, 2),
            row("rename", 5, 0),
            row("no_such_call", 9, 0),
        ]);
        assert_eq!((work.writes, work.renames, work.reads), (523, 5, 0));
        assert_eq!(work.rates(200_135), "382.7 per write, 40,027 per rename");
    }
}
