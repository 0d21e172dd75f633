//! /proc/locks: who waits for a lock on a file, and who holds it.

use super::line::Line;
use super::{Block, Out, Step, Tool};
use whyslow_counters::locks::{self, Waiters};
use whyslow_model::{Entity, FigureRow, Trait};

pub(super) static LOCKS: Tool = Tool {
    begins: |line| locks::line(line.text.as_bytes()).is_some(),
    row: |_| false,
    open: || Box::new(Locks(Waiters::default())),
};

struct Locks(Waiters);

impl Block for Locks {
    fn line(&mut self, line: &Line<'_>, _: &mut Out<'_>) -> Step {
        let Some(lock) = locks::line(line.text.as_bytes()) else { return Step::Other };
        self.0.take(lock);
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let mut table = out.table("/proc/locks");
        for (waiter, holder) in self.0.pairs() {
            let mut row = FigureRow::new(Entity::Process(waiter));
            row.say(Trait::LockHolder, holder.to_string());
            table.rows.push(row);
        }
        if !table.rows.is_empty() {
            out.push(table);
        }
    }
}
