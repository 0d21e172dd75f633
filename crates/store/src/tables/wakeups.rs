//! Table `wakeups`: who woke whom.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Event, Wakeup};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "wakeups",
    about: "A wake-up.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When."),
        ColumnSpec::always("cpu", Kind::U32, "The CPU it was done on."),
        ColumnSpec::maybe("waker", Kind::U32, "The thread that did it; null in an interrupt."),
        ColumnSpec::always("context", Kind::Word, "task, hard-irq, soft-irq, other."),
        ColumnSpec::always("wakee", Kind::U32, "The thread that was woken."),
    ],
    keep: Keep::Newest,
    replay,
};

words!(WakeContext { Task = "task", HardIrq = "hard-irq", SoftIrq = "soft-irq", Other = "other" });

#[inline]
pub(super) fn put(wakeup: &Wakeup, seq: u64, rows: &mut Rows) {
    let Wakeup { ts, cpu, waker, context, wakee } = *wakeup;
    let mut row = rows.row(seq);
    row.time(ts).u32(Some(cpu.into())).u32(waker).text(Some(word(context))).u32(Some(wakee)).end();
}

#[inline]
fn replay(row: &mut Take<'_>, _seq: u64, to: &mut Replay<'_>) -> Option<()> {
    to.sink.push(Event::Wakeup(Wakeup {
        ts: row.time(),
        cpu: row.u32()?.try_into().ok()?,
        waker: row.u32(),
        context: of_word(row.text()?)?,
        wakee: row.u32()?,
    }));
    Some(())
}
