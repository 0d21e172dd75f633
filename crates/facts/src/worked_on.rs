//! What threads work on while they compute: the things that they had read last, of several threads together.

use crate::Facts;
use crate::folds::account::{ObjectKind, ThreadAccount};
use crate::world::ids::ObjectId;
use whyslow_model::SaturatingSum;

/// A thing whose content threads work on outside of calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkedOn {
    /// The thing.
    pub object: ObjectId,
    /// What it is: a file, a peer, clients, a pipe.
    pub kind: ObjectKind,
    /// The time of the threads outside of calls, on a CPU, that follows reads of it, ns: in proportion to the time between calls.
    pub ns: u64,
    /// Its part of all of that time, 0 to 1.
    pub part: f64,
    /// The part of it that follows one single read, at most, 0 to 1.
    pub longest: f64,
    /// How often reading it began anew.
    pub rounds: u64,
    /// Reads that brought something.
    pub reads: u64,
    /// What they brought, bytes.
    pub bytes: u64,
}

impl WorkedOn {
    /// The part that one read may have: with more, what follows is another work than on what was read.
    const ONE_READ: f64 = 0.25;
    /// Decoders that take longer for a byte are not known: PyYAML's own loader takes some 10 us.
    const NS_PER_BYTE: u64 = 20_000;
    /// The same of what comes as messages, which also ask for work: decoders written in Python take less (`pickle._Unpickler`).
    const NS_PER_BYTE_OF_MESSAGE: u64 = 1_000;

    /// True where it can be its content that the time goes to: each read has its part, and the time is no more than decoders take.
    pub fn is_content(&self) -> bool {
        let most = match self.kind {
            ObjectKind::File => Self::NS_PER_BYTE,
            _ => Self::NS_PER_BYTE_OF_MESSAGE,
        };
        self.longest <= Self::ONE_READ && self.ns <= self.bytes.saturating_mul(most)
    }

    /// What a round brought, bytes.
    pub fn bytes_each(&self) -> u64 {
        self.bytes / self.rounds.max(1)
    }
}

impl Facts {
    /// What these threads work on outside of calls, the most first. Nothing of threads most of whose calls nobody saw one by one.
    pub fn worked_on<'a>(&self, threads: impl IntoIterator<Item = &'a ThreadAccount>) -> Vec<WorkedOn> {
        let mut all: Vec<(WorkedOn, f64)> = Vec::new();
        let mut whole = 0u64;
        for account in threads {
            // Between calls a thread may also have waited for a CPU.
            let ran = account.outside.on_cpu_ns.saturating_add(account.outside.unsplit_ns);
            whole = whole.saturating_add(ran);
            let (around, between) = account.around();
            if around.is_empty() || !self.sees_calls_of(account) {
                continue;
            }
            let between = between.max(account.outside.total()).max(1);
            for one in around {
                let added = self.pace.added_between(one.times).or_zero();
                let ns = |ns: u64| u128::from(ran) * u128::from(ns) / u128::from(between);
                let (mine, longest) =
                    (ns(one.between_ns.saturating_sub(added)) as u64, ns(one.longest_ns) as f64);
                let at = match all.iter().position(|(known, _)| known.object == one.object) {
                    Some(at) => at,
                    None => {
                        let kind = self.accounts.objects.get(one.object).kind;
                        let (ns, rounds, reads, bytes) = (0, 0, 0, 0);
                        let new = WorkedOn {
                            object: one.object,
                            kind,
                            ns,
                            part: 0.0,
                            longest: 0.0,
                            rounds,
                            reads,
                            bytes,
                        };
                        all.push((new, 0.0));
                        all.len() - 1
                    }
                };
                let (sum, most) = &mut all[at];
                sum.ns = sum.ns.saturating_add(mine);
                sum.rounds = sum.rounds.saturating_add(one.rounds);
                sum.reads = sum.reads.saturating_add(one.reads);
                sum.bytes = sum.bytes.saturating_add(one.bytes);
                *most = most.max(longest);
            }
        }
        let told = |(one, longest): (WorkedOn, f64)| WorkedOn {
            part: one.ns as f64 / whole.max(1) as f64,
            longest: longest / one.ns.max(1) as f64,
            ..one
        };
        let mut all: Vec<WorkedOn> = all.into_iter().map(told).filter(|one| one.ns > 0).collect();
        all.sort_by_key(|one| (std::cmp::Reverse(one.ns), one.object));
        all
    }

    /// True where most calls of a thread were recorded one by one: between two of them there is no third.
    fn sees_calls_of(&self, account: &ThreadAccount) -> bool {
        let thread =
            self.world.threads.thread_of(account.tid).filter(|thread| thread.process == account.process);
        let Some(thread) = thread else { return !self.recording.is_partial() };
        let counted = thread.counted.iter().flat_map(|table| table.iter()).map(|(_, stats)| stats.count);
        counted.saturating_sum() <= thread.calls && !self.gave_up_most()
    }

    /// True where for most of the time calls were not even counted.
    fn gave_up_most(&self) -> bool {
        let told = self.recording.told().get().zip(self.window.whole().get());
        told.is_some_and(|(told, whole)| told < whole / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    const US: u64 = 1_000;

    fn push(facts: &mut Facts, at_us: u64, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        (call.tid, call.ts, call.dur) = (1, Timestamp::new((1_000 + at_us) * US), Nanos::new(US));
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }

    fn of(facts: &Facts) -> Vec<WorkedOn> {
        let accounts = facts.world.threads.iter().filter_map(|(id, _)| facts.accounts.of(id));
        facts.worked_on(accounts)
    }

    #[test]
    fn a_file_read_again_each_time_is_what_is_worked_on() {
        let mut facts = Facts::default();
        for round in 0..10 {
            let at = round * 1_000;
            push(&mut facts, at, "openat", r#"AT_FDCWD, "/srv/a.json", O_RDONLY"#, 3);
            push(&mut facts, at + 1, "read", r#"3</srv/a.json>, "x"..., 4096"#, 4096);
            push(&mut facts, at + 2, "close", "3</srv/a.json>", 0);
            push(&mut facts, at + 999, "write", r#"1</srv/out>, "y", 1"#, 1);
        }
        facts.finish();
        let all = of(&facts);
        assert_eq!((all.len(), all[0].rounds, all[0].bytes_each()), (1, 10, 4_096));
        assert!(all[0].part > 0.99 && all[0].is_content(), "{all:?}");
    }

    #[test]
    fn what_follows_one_read_for_long_is_no_work_on_its_content() {
        let mut facts = Facts::default();
        push(&mut facts, 0, "openat", r#"AT_FDCWD, "/etc/app.conf", O_RDONLY"#, 3);
        push(&mut facts, 1, "read", r#"3</etc/app.conf>, "x"..., 4096"#, 4096);
        push(&mut facts, 2, "close", "3</etc/app.conf>", 0);
        push(&mut facts, 60_000, "write", r#"1</srv/out>, "y", 1"#, 1);
        facts.finish();
        let all = of(&facts);
        assert!(all[0].part > 0.9 && all[0].longest > 0.9 && !all[0].is_content(), "{all:?}");
    }

    #[test]
    fn a_few_bytes_are_not_what_long_computing_is_spent_on() {
        let mut facts = Facts::default();
        for round in 0..10 {
            push(&mut facts, round * 50_000, "read", r#"3</proc/loadavg>, "x", 27"#, 27);
        }
        push(&mut facts, 500_000, "getpid", "", 1);
        facts.finish();
        let all = of(&facts);
        assert!(all[0].part > 0.9 && all[0].longest < 0.2 && !all[0].is_content(), "{all:?}");
    }
}
