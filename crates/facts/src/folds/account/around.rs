//! What a thread works on outside of calls: what it read last within the same request or round.
//!
//! A read of a file, of a peer's answer, of a client's request or of a pipe puts its object in hand. It stays there until the thread reads
//! something else, or waits for work, for a time or for a child.

use super::ObjectKind;
use crate::args::WaitKind;
use crate::folds::in_hand::is_in_passing;
use crate::world::Seen;
use crate::world::ids::ObjectId;
use whyslow_model::syscall::Moves;
use whyslow_model::{Nanos, Syscall};

/// The time of a thread outside of calls, behind reads of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around {
    /// What was read.
    pub object: ObjectId,
    /// Time between calls, whatever the thread did in it, ns.
    pub between_ns: u64,
    /// The most of it behind one read, ns.
    pub longest_ns: u64,
    /// How many times between calls are in it.
    pub times: u64,
    /// How often reading began: since the thing was opened or asked, since something else was read, or since the thread waited for work.
    pub rounds: u64,
    /// Reads that brought something.
    pub reads: u64,
    /// What they brought, bytes.
    pub bytes: u64,
}

/// What one thread works on.
#[derive(Debug, Default)]
pub(super) struct Surroundings {
    all: Vec<Around>,
    in_hand: Option<usize>,
    /// The next read begins a round, also of what is in hand.
    begins: bool,
    /// Since the last read, ns.
    behind_ns: u64,
    /// The end of the last call.
    last_end: Option<u64>,
    /// All times between calls, ns.
    between_ns: u64,
}

/// What a call does to what is in hand.
enum Act {
    Read,
    Renew,
    Drop,
    Keep,
}

impl Act {
    /// A wait for work that is shorter looks whether there is some, and ends no round: some switches of tasks.
    const LOOK: Nanos = Nanos::new(100_000);

    #[inline]
    fn of(seen: &Seen<'_>, kind: ObjectKind) -> Act {
        use ObjectKind::{Clients, File, Peer, Pipe};
        let call = seen.call;
        match call.syscall.info().moves {
            Moves::Read
                if seen.bytes > 0 && !call.failed() && matches!(kind, Clients | File | Peer | Pipe) =>
            {
                return Act::Read;
            }
            // A question, or an answer: the next read is of another one.
            Moves::Write | Moves::Move => return Act::Renew,
            _ => {}
        }
        if matches!(call.syscall, Syscall::OPEN | Syscall::OPENAT | Syscall::OPENAT2) {
            return Act::Renew;
        }
        match seen.waits {
            Some(WaitKind::Lock) if is_in_passing(seen) => Act::Keep,
            Some(WaitKind::Network | WaitKind::Pipe) | None => Act::Keep,
            Some(_) if call.dur.is_known() && call.dur < Act::LOOK => Act::Keep,
            Some(_) => Act::Drop,
        }
    }
}

impl Surroundings {
    /// Things told apart of one thread; what is read past them surrounds nothing.
    const MAX: usize = 64;

    /// Takes a call at its times, ns, with what it works on.
    #[inline]
    pub(super) fn call(
        &mut self,
        seen: &Seen<'_>,
        from: Option<u64>,
        dur: Option<u64>,
        object: (ObjectId, ObjectKind),
    ) {
        self.up_to(from);
        self.last_end = from.zip(dur).map(|(from, ns)| from.saturating_add(ns));
        let (object, kind) = object;
        match Act::of(seen, kind) {
            Act::Read => self.read(object, seen.bytes),
            Act::Renew => self.begins |= self.object() == Some(object),
            Act::Drop => self.in_hand = None,
            Act::Keep => {}
        }
    }

    /// Nothing is known of the time from the last call on.
    pub(super) fn lose(&mut self) {
        self.last_end = None;
        self.in_hand = None;
    }

    /// The thread is outside of calls from its last one up to here.
    pub(super) fn up_to(&mut self, now: Option<u64>) {
        let (Some(end), Some(now)) = (self.last_end.take(), now) else { return };
        let ns = now.saturating_sub(end);
        self.between_ns = self.between_ns.saturating_add(ns);
        let Some(around) = self.in_hand.and_then(|at| self.all.get_mut(at)) else { return };
        self.behind_ns = self.behind_ns.saturating_add(ns);
        around.between_ns = around.between_ns.saturating_add(ns);
        around.longest_ns = around.longest_ns.max(self.behind_ns);
        around.times += 1;
    }

    /// What surrounds the thread's time, and how much time between calls was seen, ns.
    pub(super) fn told(&self) -> (&[Around], u64) {
        (&self.all, self.between_ns)
    }

    fn object(&self) -> Option<ObjectId> {
        self.all.get(self.in_hand?).map(|around| around.object)
    }

    fn read(&mut self, object: ObjectId, bytes: u64) {
        let is_other = self.object() != Some(object);
        if is_other {
            let known = self.all.iter().position(|around| around.object == object);
            self.in_hand = known.or_else(|| {
                let has_room = self.all.len() < Self::MAX && object != ObjectId::NONE;
                has_room.then(|| {
                    let new = Around {
                        object,
                        between_ns: 0,
                        longest_ns: 0,
                        times: 0,
                        rounds: 0,
                        reads: 0,
                        bytes: 0,
                    };
                    self.all.push(new);
                    self.all.len() - 1
                })
            });
        }
        let begins = std::mem::take(&mut self.begins) || is_other;
        self.behind_ns = 0;
        if let Some(around) = self.in_hand.and_then(|at| self.all.get_mut(at)) {
            around.rounds += u64::from(begins);
            around.reads += 1;
            around.bytes = around.bytes.saturating_add(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use proptest::prelude::*;
    use whyslow_model::{Call, Event, Ret, Sink, Timestamp};

    const US: u64 = 1_000;

    /// A call of a microsecond at that time.
    fn push(facts: &mut Facts, at_us: u64, name: &str, args: &str, ret: i64) {
        took(facts, at_us, 1, name, args, ret);
    }

    fn took(facts: &mut Facts, at_us: u64, us: u64, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        (call.tid, call.ts, call.dur) = (1, Timestamp::new((1_000 + at_us) * US), Nanos::new(us * US));
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }

    /// Each object: its name, microseconds between calls, rounds, reads, bytes.
    fn told(facts: &Facts) -> Vec<(String, u64, u64, u64, u64)> {
        let (_, account) =
            facts.world.threads.iter().next().map(|(id, _)| (id, facts.accounts.of(id))).unwrap();
        let one = |around: &Around| {
            let name = facts.accounts.objects.get(around.object).name().to_string();
            (name, around.between_ns / US, around.rounds, around.reads, around.bytes)
        };
        account.unwrap().around().0.iter().map(one).collect()
    }

    #[test]
    fn what_is_computed_behind_a_read_is_around_its_file_up_to_the_end_of_the_round() {
        let mut facts = Facts::default();
        for round in 0..3 {
            let at = round * 10_000;
            push(&mut facts, at, "openat", r#"AT_FDCWD, "/srv/a.json", O_RDONLY"#, 3);
            push(&mut facts, at + 101, "read", r#"3</srv/a.json>, "x"..., 4096"#, 4096);
            push(&mut facts, at + 202, "close", "3</srv/a.json>", 0);
            // What it writes does not end the round; the wait for the next task does.
            push(&mut facts, at + 1_203, "write", r#"1</srv/out>, "y", 1"#, 1);
            took(&mut facts, at + 1_304, 5_000, "poll", r#"[{fd=5, events=POLLIN}], 1, -1"#, 1);
            push(&mut facts, at + 9_000, "getpid", "", 1);
        }
        facts.finish();
        assert_eq!(told(&facts), [("/srv/a.json".to_string(), 3 * (100 + 1_000 + 100), 3, 3, 3 * 4_096)]);
    }

    #[test]
    fn another_object_takes_over_and_short_looks_end_nothing() {
        let mut facts = Facts::default();
        let peer = "5<TCP:[10.0.0.2:50000->10.0.0.7:7001]>";
        push(&mut facts, 0, "sendto", &format!(r#"{peer}, "q", 1, 0, NULL, 0"#), 1);
        push(&mut facts, 101, "recvfrom", &format!(r#"{peer}, "x", 900, 0, NULL, NULL"#), 900);
        took(&mut facts, 202, 50, "poll", r#"[{fd=5, events=POLLIN}], 1, 0"#, 0);
        push(&mut facts, 352, "read", r#"3</srv/b>, "x", 10"#, 10);
        push(&mut facts, 1_353, "sendto", &format!(r#"{peer}, "q", 1, 0, NULL, 0"#), 1);
        push(&mut facts, 1_454, "recvfrom", &format!(r#"{peer}, "x", 900, 0, NULL, NULL"#), 900);
        push(&mut facts, 1_555, "exit_group", "0", 0);
        facts.finish();
        let wanted = [("10.0.0.7:7001", 100 + 100 + 100, 2, 2, 1_800), ("/srv/b", 1_000 + 100, 1, 1, 10)];
        let wanted =
            wanted.map(|(name, us, rounds, reads, bytes)| (name.to_string(), us, rounds, reads, bytes));
        assert_eq!(told(&facts), wanted);
    }

    proptest! {
        /// Whatever is called, what surrounds the time between calls is no more than that time, and bounded.
        #[test]
        fn what_surrounds_is_part_of_the_time_between(steps in prop::collection::vec((0u8..6, 0u64..200, 1u64..400), 1..300)) {
            let mut facts = Facts::default();
            let (mut now, mut between, mut last) = (0u64, 0u64, None);
            for (kind, gap, us) in steps {
                let at = now + gap;
                between += last.map_or(0, |end: u64| at - end);
                match kind {
                    0 => took(&mut facts, at, us, "openat", r#"AT_FDCWD, "/srv/a", O_RDONLY"#, 3),
                    1 => took(&mut facts, at, us, "read", &format!(r#"4</srv/{}{}x>, "x", 9"#, us % 26, gap), 9),
                    2 => took(&mut facts, at, us, "read", r#"3</srv/a>, "x", 9"#, 9),
                    3 => took(&mut facts, at, us, "write", r#"3</srv/a>, "x", 9"#, 9),
                    4 => took(&mut facts, at, us, "poll", r#"[{fd=5, events=POLLIN}], 1, -1"#, 1),
                    _ => took(&mut facts, at, us, "getpid", "", 1),
                }
                now = at + us;
                last = Some(now);
            }
            facts.finish();
            let all = told(&facts);
            prop_assert!(all.len() <= Surroundings::MAX);
            prop_assert!(all.iter().map(|one| one.1).sum::<u64>() <= between);
        }
    }
}
