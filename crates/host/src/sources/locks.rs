//! Who waits for a lock on a file, and who holds it: /proc/locks.

use super::{HostSource, Look};
use crate::context::Context;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use whyslow_counters::{locks, text};
use whyslow_model::{Entity, Over, Trait};

pub(super) const SOURCE: HostSource =
    HostSource { name: "locks", reads: "/proc/locks", open: |_: &SamplerOptions| Box::new(Locks) };

struct Locks;

impl Look for Locks {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let text = match context.reader.proc("locks") {
            Ok(text) => text,
            Err(why) => return out.unread(SOURCE.name, "who holds locks on files", "/proc/locks", why),
        };
        let mut waiters = locks::Waiters::default();
        text::lines(text).filter_map(locks::line).for_each(|line| waiters.take(line));
        let rows = waiters.pairs().map(|(waiter, holder)| {
            let mut row = Row::new(Entity::Process(waiter));
            row.say(Trait::LockHolder, holder.to_string());
            row
        });
        out.table(rows.collect(), Over::Moment, false);
    }
}
