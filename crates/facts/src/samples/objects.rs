//! What waits with a stack were for: a thread may wait in one call for several things (a lock, and its next piece of work), in code of its own for each.
//!
//! The stack of a wait is told by itself, the call by which the thread waited by itself, whichever comes first: they belong together where the
//! stack is of a moment within the call.

use super::{Key, Samples, Weight};
use crate::world::ids::ObjectId;
use hashbrown::HashMap;
use std::collections::VecDeque;
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, Timestamp};

/// The last waits of each thread, and the last stacks of waits whose call is not known yet.
#[derive(Debug, Default)]
pub(super) struct LastWaits(HashMap<Tid, Last, foldhash::fast::RandomState>);

#[derive(Debug, Default)]
struct Last {
    calls: VecDeque<(Timestamp, Timestamp, ObjectId)>,
    stacks: VecDeque<(Timestamp, Key, Nanos)>,
}

impl LastWaits {
    /// Threads that are followed.
    const MAX_THREADS: usize = 8_192;
    /// Of each thread.
    const KEPT: usize = 4;

    fn of(&mut self, tid: Tid) -> Option<&mut Last> {
        let has_room = self.0.len() < Self::MAX_THREADS || self.0.contains_key(&tid);
        has_room.then(|| self.0.entry(tid).or_default())
    }

    /// What the thread waited for at that moment, where its call is known; else the stack waits for that.
    pub(super) fn stack(&mut self, key: Key, at: Timestamp, weight: Nanos) -> ObjectId {
        let Some(last) = self.of(key.tid).filter(|_| at.is_known()) else { return ObjectId::NONE };
        let call = last.calls.iter().find(|(from, to, _)| *from <= at && at <= *to);
        if let Some((.., object)) = call {
            return *object;
        }
        last.stacks.push_back((at, key, weight));
        if last.stacks.len() > Self::KEPT {
            last.stacks.pop_front();
        }
        ObjectId::NONE
    }
}

impl Samples {
    /// A thread waited for `object` in a call from `from` to `to`.
    pub(crate) fn waited(&mut self, tid: Tid, from: Timestamp, to: Timestamp, object: ObjectId) {
        if object == ObjectId::NONE || !from.is_known() || !to.is_known() {
            return;
        }
        let Some(last) = self.last_waits.of(tid) else { return };
        last.calls.push_back((from, to, object));
        if last.calls.len() > LastWaits::KEPT {
            last.calls.pop_front();
        }
        let mut found = Vec::new();
        last.stacks.retain(|(at, key, weight)| {
            let is_of = from <= *at && *at <= to;
            if is_of {
                found.push((*key, *weight));
            }
            !is_of
        });
        for (key, weight) in found {
            if self.rows.len() < Self::MAX_ROWS && self.take_out(&key, weight) {
                self.rows.entry(Key { object, ..key }).or_default().add(weight.or_zero());
            }
        }
    }

    /// Takes one sample out of a row again; false where it is not there any more.
    fn take_out(&mut self, key: &Key, weight: Nanos) -> bool {
        let Some(row) = self.rows.get_mut(key).filter(|row| row.count > 0) else { return false };
        *row = Weight { count: row.count - 1, ns: row.ns.saturating_sub(weight.or_zero()) };
        if row.count == 0 {
            self.rows.remove(key);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{
        Call, Event, Nanos, Ret, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Timestamp,
    };

    const MS: u64 = 1_000_000;

    fn stack(facts: &mut Facts, id: u32, function: &str) {
        let frame = StackFrame {
            function: Some(function.to_string()),
            module: Some("/srv/app".to_string()),
            ..StackFrame::default()
        };
        facts.push(Event::Stack(Stack { id: StackId(id), frames: vec![frame], cut: false }));
    }

    fn wait(facts: &mut Facts, address: &str, from_ms: u64, ms: u64) {
        let args = format!("{address}, FUTEX_WAIT_PRIVATE, 2, NULL");
        let mut call = Call::new("futex", &args);
        (call.tid, call.pid, call.ret) = (7, Some(7), Ret::Value(0));
        (call.ts, call.dur) = (Timestamp::new(from_ms * MS), Nanos::new(ms * MS));
        facts.push(Event::Call(&call));
    }

    fn blocked(facts: &mut Facts, user: u32, at_ms: u64, ms: u64) {
        facts.push(Event::Sample(SampledStack {
            kind: SampleKind::OffCpu,
            ts: Timestamp::new(at_ms * MS),
            cpu: 0,
            pid: 7,
            tid: 7,
            weight: Nanos::new(ms * MS),
            user: Some(StackId(user)),
            kernel: None,
        }));
    }

    #[test]
    fn waits_of_one_call_for_two_things_have_the_code_of_each() {
        let mut facts = Facts::default();
        stack(&mut facts, 1, "take_lock");
        stack(&mut facts, 2, "next_job");
        for turn in 0..4 {
            let at = 100 + turn * 100;
            // Whichever comes first.
            blocked(&mut facts, 1, at + 1, 20);
            wait(&mut facts, "0x7f10", at, 22);
            wait(&mut facts, "0x7f20", at + 30, 60);
            blocked(&mut facts, 2, at + 31, 58);
        }
        facts.finish();
        let process = facts.world.threads.find_process(7).unwrap();
        let code = |name: &str| {
            let objects: Vec<_> = facts.accounts.objects.of_name(name).collect();
            let code = facts.samples.code_of_waits(process, None, |object| objects.contains(&object))?;
            Some((code.site.function.to_string(), code.weight.count, code.weight.ns / MS))
        };
        assert_eq!(code("0x7f10"), Some(("take_lock".to_string(), 4, 80)));
        assert_eq!(code("0x7f20"), Some(("next_job".to_string(), 4, 232)));
        assert_eq!(code("0x7f30"), None);
        // No stack counts twice.
        let all = facts.samples.total(SampleKind::OffCpu, process, None);
        assert_eq!((all.count, all.ns / MS), (8, 312));
    }
}
