//! Signals by which one process tells another to go on. Servers that have a process for each session hand their locks on so: who gives
//! one up signals whoever is next (PostgreSQL's latches, `SetLatch`).

use crate::Fold;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::{Syscall, Timestamp, text};

/// One signal from a process to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nudge {
    /// When it was sent.
    pub ts: Timestamp,
    /// By which thread.
    pub from: Tid,
    /// To which process, by its number.
    pub to: Tid,
}

/// All of them, in the order in which the calls ended.
#[derive(Debug, Default)]
pub struct Nudges {
    rows: Vec<Nudge>,
}

impl Nudges {
    /// Kept at most, the first; one takes 16 bytes.
    const MAX: usize = 65_536;

    /// The last one to that process from another one in a time, by when it was sent.
    pub fn last_to(&self, to: Tid, from: Timestamp, until: Timestamp) -> Option<&Nudge> {
        let within = |nudge: &&Nudge| nudge.to == to && from <= nudge.ts && nudge.ts <= until;
        self.rows.iter().filter(within).max_by_key(|nudge| nudge.ts)
    }

    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl Fold for Nudges {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall == Syscall::KILL
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        // Signal 0 only asks whether the target is there.
        let signals = call.arg(1).is_some_and(|signal| signal != b"0") && call.ok() == Some(0);
        let to = call.arg(0).and_then(text::decimal).and_then(|(number, _)| Tid::try_from(number).ok());
        let Some(to) = to.filter(|to| signals && *to > 0 && call.ts.is_known()) else { return };
        let own = to == call.tid || world.threads.process(seen.process).pid == Some(to);
        if !own && self.rows.len() < Self::MAX {
            self.rows.push(Nudge { ts: call.ts, from: call.tid, to });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    #[test]
    fn signals_to_others_are_kept_and_questions_and_own_ones_are_not() {
        let mut facts = Facts::default();
        for (tid, ts, args) in
            [(7, 10, "8, SIGURG"), (7, 20, "8, SIGUSR1"), (7, 30, "8, 0"), (8, 40, "8, SIGURG")]
        {
            let mut call = Call::new("kill", args);
            (call.tid, call.pid, call.ret) = (tid, Some(tid), Ret::Value(0));
            (call.ts, call.dur) = (Timestamp::new(ts), Nanos::new(1));
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let last = |from, until| {
            let nudge = facts.nudges.last_to(8, Timestamp::new(from), Timestamp::new(until));
            nudge.map(|nudge| (nudge.from, nudge.ts))
        };
        assert_eq!(last(0, 50), Some((7, Timestamp::new(20))));
        assert_eq!(last(0, 15), Some((7, Timestamp::new(10))));
        assert_eq!(last(25, 50), None);
    }
}
