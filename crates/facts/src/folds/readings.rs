//! What a thread does with what it read: the time from a read of a file up to the next call on anything else. The reads of a
//! file that is in the page cache cost little; parsing, inflating and searching what they brought is what a second reading costs.

use crate::Fold;
use crate::folds::in_hand::{InHand, is_in_passing};
use crate::pace::Pace;
use crate::world::ids::FileId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Nanos, Syscall};

/// Time that threads spent on what files brought them.
#[derive(Debug, Default)]
pub struct Readings {
    by_file: HashMap<FileId, Reading>,
    in_hand: InHand<FileId>,
}

/// Time spent on what one file brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reading {
    /// Time between the calls, ns.
    between_ns: u64,
    /// How many such times there were.
    times: u64,
}

impl Readings {
    /// Files kept apart.
    const MAX_FILES: usize = 4_096;

    pub(crate) fn spent_on(&self, file: FileId, pace: &Pace) -> Nanos {
        let Some(reading) = self.by_file.get(&file) else { return Nanos::ZERO };
        Nanos::new(reading.between_ns.saturating_sub(pace.added_between(reading.times).or_zero()))
    }
}

impl Fold for Readings {
    fn wants(&self, _: Syscall) -> bool {
        true
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, _: &World) {
        let current = self.in_hand.of(seen);
        let read =
            seen.call.syscall.info().moves == Moves::Read && seen.kind == FdKind::File && !seen.call.failed();
        let read = seen.file.filter(|_| read);
        if current.is_none() && read.is_none() {
            return;
        }
        if let Some((file, Some(between))) = current
            && (self.by_file.len() < Self::MAX_FILES || self.by_file.contains_key(&file))
        {
            let reading = self.by_file.entry(file).or_default();
            reading.between_ns = reading.between_ns.saturating_add(between);
            reading.times += 1;
        }
        let goes_on = |file: &FileId| {
            // To close it, or what was open besides, ends no work.
            seen.file == Some(*file) || seen.call.syscall == Syscall::CLOSE || is_in_passing(seen)
        };
        self.in_hand.put(seen, read.or(current.map(|(file, _)| file).filter(goes_on)));
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    fn push(facts: &mut Facts, at_us: u64, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        (call.tid, call.ts, call.dur) = (1, Timestamp::new(1 + at_us * 1_000), Nanos::new(1_000));
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }

    #[test]
    fn what_follows_a_read_is_for_its_file_up_to_the_next_call_elsewhere() {
        let mut facts = Facts::default();
        push(&mut facts, 0, "openat", r#"AT_FDCWD, "/srv/a.tab", O_RDONLY"#, 3);
        push(&mut facts, 100, "read", r#"3, "x"..., 4096"#, 4096);
        push(&mut facts, 301, "brk", "0x1000", 4096);
        push(&mut facts, 402, "close", "3", 0);
        push(&mut facts, 903, "write", r#"1</srv/out>, "y", 1"#, 1);
        push(&mut facts, 5_000, "getpid", "", 1);
        facts.finish();
        let (id, _) =
            facts.world.files.iter().find(|(_, file)| &*file.path == "/srv/a.tab").expect("the file");
        assert_eq!(facts.work_on_content(id), Nanos::new(800_000));
    }
}
