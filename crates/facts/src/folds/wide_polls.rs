//! Polls and selects of many descriptors: the kernel looks at each of them, and asks to be told by each, in every call.

use crate::Fold;
use crate::exemplar::Exemplar;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::{Syscall, text};

/// Polls of one thread.
#[derive(Debug)]
pub struct WidePolls {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// All its polls of which the number of descriptors is known.
    pub polls: u64,
    /// Of these, with [`WidePollFacts::WIDE`] descriptors and more.
    pub wide: u64,
    /// Descriptors of the wide ones, in all.
    pub descriptors: u64,
    /// The first wide one.
    pub line: Option<Exemplar>,
}

impl WidePolls {
    /// Descriptors of a wide one, on average.
    pub fn mean(&self) -> u64 {
        self.descriptors.checked_div(self.wide).unwrap_or(0)
    }
}

/// Polls by thread.
#[derive(Debug, Default)]
pub struct WidePollFacts {
    /// The rows.
    pub rows: Vec<WidePolls>,
}

impl WidePollFacts {
    /// Descriptors from which on a poll is wide.
    pub const WIDE: u64 = 256;
    /// Threads told apart.
    const MAX_ROWS: usize = 512;
}

impl Fold for WidePollFacts {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::POLL | Syscall::PPOLL | Syscall::SELECT | Syscall::PSELECT6)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, _: &World) {
        let call = seen.call;
        // `poll([…], 3500, 10)`, `select(1024, …)`: of a select the highest number, which it looks up to.
        let at = if matches!(call.syscall, Syscall::POLL | Syscall::PPOLL) { 1 } else { 0 };
        let count = call.arg(at).and_then(text::number).and_then(|count| u64::try_from(count).ok());
        let Some(count) = count else { return };
        let row = match self.rows.iter().position(|row| row.tid == call.tid && row.process == seen.process) {
            Some(at) => at,
            // Who polls a few is not kept.
            None if count < Self::WIDE || self.rows.len() >= Self::MAX_ROWS => return,
            None => {
                self.rows.push(WidePolls {
                    process: seen.process,
                    tid: call.tid,
                    polls: 0,
                    wide: 0,
                    descriptors: 0,
                    line: None,
                });
                self.rows.len() - 1
            }
        };
        let row = &mut self.rows[row];
        row.polls += 1;
        if count >= Self::WIDE {
            row.wide += 1;
            row.descriptors = row.descriptors.saturating_add(count);
            row.line.get_or_insert_with(|| Exemplar::of(call));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    #[test]
    fn the_number_of_descriptors_is_an_argument() {
        let mut facts = Facts::default();
        for (name, args) in [
            ("poll", "[{fd=3, events=POLLIN}, {fd=4, events=POLLIN}, ...], 3500, 10"),
            ("poll", "[{fd=3, events=POLLIN}], 1, -1"),
            ("select", "1020, [3 4 5], NULL, NULL, {tv_sec=1, tv_usec=0}"),
            ("poll", "0x7ffd, many, 10"),
        ] {
            let mut call = Call::new(name, args);
            (call.tid, call.ret) = (7, Ret::Value(1));
            facts.push(Event::Call(&call));
        }
        let [row] = facts.wide_polls.rows.as_slice() else { panic!("one row") };
        assert_eq!((row.polls, row.wide, row.mean()), (3, 2, 2_260));
        assert!(row.line.is_some());
    }
}
