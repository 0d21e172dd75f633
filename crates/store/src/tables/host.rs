//! Table `host`: what is told of the machine and of what is on it, a figure or word a row.

use super::{Keep, Replay, SEQ, TableSpec};
use crate::column::{ColumnSpec, Kind, Rows, Take};
use whyslow_model::{Entity, FigureRow, FigureTable, Metric, Over, Tid, Trait};

pub(crate) static TABLE: TableSpec = TableSpec {
    name: "host",
    about: "One figure or word of a thing of the host, in one look of a tool; the look is in host_tables under the same seq.",
    columns: &[
        SEQ,
        ColumnSpec::maybe("ts", Kind::Time, "When the look ended."),
        ColumnSpec::maybe("dur", Kind::Duration, "The time that rates are over; null for levels and rates since boot."),
        ColumnSpec::always("tool", Kind::Word, "Who tells: /proc for whyslow itself, iostat -x, pidstat -d and others."),
        ColumnSpec::always("row", Kind::U32, "The row of the look."),
        ColumnSpec::always("kind", Kind::Word, "Of what: host, cpu, device, mount, interface, cgroup, process, thread and others."),
        ColumnSpec::always("name", Kind::Word, "Its name or number; empty for the host, processes and threads."),
        ColumnSpec::maybe("pid", Kind::U32, "The process."),
        ColumnSpec::maybe("tid", Kind::U32, "The thread."),
        ColumnSpec::maybe("metric", Kind::Word, "What is told: cpu_user, read_latency, state; null where nothing is."),
        ColumnSpec::maybe("value", Kind::F64, "The figure: shares from 0 to 1, seconds and bytes per second, ns, bytes."),
        ColumnSpec::maybe("text", Kind::Word, "The word, where it is no figure."),
        ColumnSpec::maybe("line", Kind::U64, "The line of the capture; null where the source is no text."),
        ColumnSpec::maybe("raw", Kind::Text, "The line as captured, on its first row."),
    ],
    keep: Keep::Newest,
    replay,
};

/// Rows of one look at most: a host of some 30,000 threads with all its sockets' peers.
const MOST_ROWS: usize = 1 << 18;
/// Figures and words of one thing at most: there are fewer metrics and traits.
const MOST_OF_ONE: usize = 512;

pub(super) fn put(table: &FigureTable, seq: u64, rows: &mut Rows) {
    for (number, row) in table.rows.iter().enumerate() {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let mut is_first = true;
        let mut put = |metric: Option<&str>, value: Option<f64>, text: Option<&str>| {
            let cpu = if let Entity::Cpu(number) = row.of { number.to_string() } else { String::new() };
            let name = if cpu.is_empty() { row.of.name() } else { &cpu };
            let tid = if let Entity::Thread { tid, .. } = row.of { Some(tid) } else { None };
            let dur = if let Over::Interval(length) = table.over { length } else { whyslow_model::Nanos::UNKNOWN };
            let mut out = rows.row(seq);
            out.time(table.at).nanos(dur).text(Some(table.tool)).u32(Some(number));
            out.text(Some(row.of.kind())).string(Some(name)).u32(row.of.pid()).u32(tid);
            out.text(metric).f64(value).string(text);
            let has_line = is_first && (row.line > 0 || !row.raw.is_empty());
            out.u64(has_line.then_some(row.line)).string(has_line.then_some(&row.raw)).end();
            is_first = false;
        };
        row.figures.iter().for_each(|(metric, value)| put(Some(metric.name()), Some(*value), None));
        row.traits.iter().for_each(|(of, text)| put(Some(of.name()), None, Some(text)));
        if row.figures.is_empty() && row.traits.is_empty() {
            put(None, None, None);
        }
    }
}

fn replay(row: &mut Take<'_>, seq: u64, to: &mut Replay<'_>) -> Option<()> {
    // When, over what and by whom the look tells.
    row.skip();
    row.skip();
    row.skip();
    let number = row.u32()?;
    let (kind, name) = (row.text()?, row.text()?);
    let of = entity(kind, name, row.u32(), row.u32())?;
    let (metric, value, text) = (row.text(), row.f64(), row.text());
    let (line, raw) = (row.u64(), row.text());
    // Rows of a look whose own row was lost belong to none.
    if to.figure_rows.last().is_some_and(|((look, _), _)| *look != seq) {
        to.figure_rows.clear();
    }
    if to.figure_rows.last().is_none_or(|(last, _)| *last != (seq, number)) {
        if to.figure_rows.len() >= MOST_ROWS {
            return Some(());
        }
        to.figure_rows.push(((seq, number), FigureRow::new(of)));
    }
    let (_, into) = to.figure_rows.last_mut()?;
    if let Some(line) = line {
        into.line = line;
        into.raw = raw.unwrap_or_default().into();
    }
    let Some(metric) = metric else { return Some(()) };
    match (Metric::named(metric), value, Trait::named(metric), text) {
        (Some(metric), Some(value), ..) if into.figures.len() < MOST_OF_ONE => into.set(metric, value),
        (_, _, Some(of), Some(text)) if into.traits.len() < MOST_OF_ONE => into.say(of, text),
        // Of a later version.
        _ => {}
    }
    Some(())
}

/// The thing of that kind.
fn entity(kind: &str, name: &str, pid: Option<Tid>, tid: Option<Tid>) -> Option<Entity> {
    let of: fn(Box<str>) -> Entity = match kind {
        "host" => return Some(Entity::Host),
        "cpu" => return name.parse().ok().map(Entity::Cpu),
        "process" => return pid.map(Entity::Process),
        "thread" => return Some(Entity::Thread { pid: pid?, tid: tid? }),
        "file" => return Some(Entity::File { pid, path: name.into() }),
        "queue" => return Some(Entity::Queue { pid: pid?, name: name.into() }),
        "function" => return Some(Entity::Function { pid, name: name.into() }),
        "device" => Entity::Device,
        "mount" => Entity::Mount,
        "interface" => Entity::Interface,
        "cgroup" => Entity::Cgroup,
        "interrupt" => Entity::Interrupt,
        "listener" => Entity::Listener,
        "peer" => Entity::Peer,
        "command" => Entity::Command,
        _ => return None,
    };
    Some(of(name.into()))
}
