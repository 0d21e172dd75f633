//! Writes of parts of pages, out of order: where such a page is not in memory, it has to be read before it is written.

use crate::Fold;
use crate::exemplar::Exemplars;
use crate::world::ids::FileId;
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{CallStats, FdKind, Syscall};

/// Such writes to one file.
#[derive(Clone, Debug)]
pub struct PartWrites {
    /// The file's path.
    pub path: Box<str>,
    /// The first thread that made one.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
    /// Writes that begin or end within a page, and do not begin where the one before ended.
    pub calls: CallStats,
    /// Lines.
    pub exemplars: Exemplars,
    last_end: u64,
}

impl PartWrites {
    /// The thread that made all of them; `None` where several did.
    pub fn only_thread(&self) -> Option<Tid> {
        (!self.shared && self.tid != 0).then_some(self.tid)
    }
}

/// Such writes by file.
#[derive(Debug, Default)]
pub struct PageParts {
    rows: HashMap<FileId, PartWrites>,
}

impl PageParts {
    /// Bytes of a page: the least that file systems read and write (getconf PAGE_SIZE on x86-64; larger ones are multiples).
    pub const PAGE: u64 = 4_096;
    /// Files told apart; of further ones nothing is told.
    const MAX_ROWS: usize = 1_024;

    /// All rows, the most time first.
    pub fn by_time(&self) -> Vec<&PartWrites> {
        let mut all: Vec<_> = self.rows.values().filter(|row| row.calls.count > 0).collect();
        all.sort_by(|a, b| b.calls.total_ns.cmp(&a.calls.total_ns).then_with(|| a.path.cmp(&b.path)));
        all
    }
}

impl Fold for PageParts {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().moves == Moves::Write
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let (Some(file), FdKind::File) = (seen.file, seen.kind) else { return };
        let Some(life) = seen.life.and_then(|life| world.fds.get(life)).filter(|_| seen.bytes > 0) else {
            return;
        };
        let (end, from) = (life.last_end, life.last_end.saturating_sub(seen.bytes));
        if from % Self::PAGE == 0 && end % Self::PAGE == 0 || life.append {
            return;
        }
        let call = seen.call;
        let path = &world.files.get(file).path;
        // The number may be another file's since.
        let known = self.rows.get(&file).is_some_and(|row| row.path == *path);
        if !known {
            if self.rows.len() >= Self::MAX_ROWS && !self.rows.contains_key(&file) {
                return;
            }
            let row = PartWrites {
                path: path.clone(),
                tid: call.tid,
                shared: false,
                calls: CallStats::default(),
                exemplars: Exemplars::default(),
                // The first one tells no order.
                last_end: from,
            };
            self.rows.insert(file, row);
        }
        let Some(row) = self.rows.get_mut(&file) else { return };
        let in_order = from == row.last_end;
        row.last_end = end;
        if !in_order {
            row.shared |= row.tid != call.tid;
            row.calls.record(call.dur, call.failed(), seen.bytes);
            row.exemplars.see(call);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    fn counted(writes: &[(u64, u64)]) -> u64 {
        let mut facts = Facts::default();
        let mut push = |name: &str, args: &str, ret| {
            facts.push(Event::Call(&Call { tid: 7, ret: Ret::Value(ret), ..Call::new(name, args) }))
        };
        push("openat", "AT_FDCWD, \"/srv/table.db\", O_RDWR", 3);
        for (at, bytes) in writes {
            push("pwrite64", &format!("3, \"x\"..., {bytes}, {at}"), *bytes as i64);
        }
        facts.finish();
        facts.page_parts.by_time().first().map_or(0, |row| row.calls.count)
    }

    #[test]
    fn parts_of_pages_out_of_order_are_counted() {
        assert_eq!(counted(&[(0, 5_000), (500_000, 5_000), (40_000, 5_000)]), 2);
    }

    #[test]
    fn whole_pages_and_logs_are_not() {
        assert_eq!(counted(&[(0, 4_096), (81_920, 8_192), (4_096, 4_096)]), 0);
        assert_eq!(counted(&[(0, 100), (100, 50), (150, 7)]), 0);
    }
}
