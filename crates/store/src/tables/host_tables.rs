//! Table `host_tables`: looks at the host, of the live sampler or of a tool.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use std::sync::Mutex;
use whyslow_model::{Event, FigureTable, Nanos, Over};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "host_tables",
    about: "One look of a tool at the host; what it tells is in host under the same seq.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When it ended."),
        ColumnSpec::maybe("dur", Kind::Duration, "The time that rates are over, where it is known."),
        ColumnSpec::always("tool", Kind::Word, "Who tells."),
        ColumnSpec::always("over", Kind::Word, "What rates are over: interval, since-boot, lifetime, total (counted so far, not per second), growth (counted between two looks of unknown time), moment (levels only)."),
        ColumnSpec::always("complete", Kind::Bool, "True where what is not listed was not there, or did nothing."),
        ColumnSpec::always("rows", Kind::U64, "Things that it tells of."),
    ],
    keep: Keep::Newest,
    replay,
};

pub(super) fn put(table: &FigureTable, seq: u64, rows: &mut Rows) {
    let (over, dur) = match table.over {
        Over::Interval(length) => ("interval", length),
        Over::SinceBoot => ("since-boot", Nanos::UNKNOWN),
        Over::Lifetime => ("lifetime", Nanos::UNKNOWN),
        Over::Total => ("total", Nanos::UNKNOWN),
        Over::Growth => ("growth", Nanos::UNKNOWN),
        Over::Moment => ("moment", Nanos::UNKNOWN),
    };
    let mut row = rows.row(seq);
    row.time(table.at).nanos(dur).text(Some(table.tool)).text(Some(over)).bool(Some(table.complete));
    row.u64(Some(table.rows.len() as u64)).end();
}

fn replay(row: &mut Take<'_>, seq: u64, to: &mut Replay<'_>) -> Option<()> {
    let mut told = std::mem::take(&mut to.figure_rows);
    told.retain(|((look, _), _)| *look == seq);
    let (at, dur, tool) = (row.time(), row.nanos(), tool(row.text()?));
    let over = match row.text()? {
        "interval" => Over::Interval(dur),
        "since-boot" => Over::SinceBoot,
        "lifetime" => Over::Lifetime,
        "total" => Over::Total,
        "growth" => Over::Growth,
        "moment" => Over::Moment,
        _ => return None,
    };
    // Rows that were lost or removed may be of any thing.
    let complete = row.bool()? && row.u64() == Some(told.len() as u64);
    let rows = told.into_iter().map(|(_, row)| row).collect();
    to.sink.push(Event::Figures(Box::new(FigureTable { source: to.source, tool, at, over, complete, rows })));
    Some(())
}

/// Tools told apart in one run, and bytes of a name: there are some dozens of both.
const MOST_TOOLS: usize = 256;
const LONGEST: usize = 64;

/// The name for good: there are few, and each is kept once.
fn tool(name: &str) -> &'static str {
    static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(name) = known.iter().find(|known| **known == name) {
        return name;
    }
    if known.len() >= MOST_TOOLS || name.len() > LONGEST {
        return "another tool";
    }
    let name: &'static str = Box::leak(name.into());
    known.push(name);
    name
}
