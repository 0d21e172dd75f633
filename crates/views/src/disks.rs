//! The view `disks`: what is asked of each block device, by whom, and how long it takes; as figures, as a histogram of the
//! latency, or as a heat-map of it over time.

use super::rows::finish;
use super::{Ask, AskError, View};
use crate::words;
use std::collections::BTreeMap;
use whyslow_facts::Facts;
use whyslow_facts::block_io::{DeviceFacts, DiskRequests, Log2};
use whyslow_facts::host::Thing;
use whyslow_facts::who::process_name;
use whyslow_model::{Cell, Column, Entity, Metric, Nanos, Table, Trait};

/// The view.
pub(super) static VIEW: View = View {
    name: "disks",
    of_calls: false,
    summary: "block devices: requests, bytes, sizes, order, queue and latency",
    by: &["device,op", "device", "device,process", "device,op,process"],
    table,
};

/// Which disks to show, and how.
#[derive(Clone, Debug, Default)]
pub struct DiskAsk {
    /// The device of this name or number alone: `vda`, `253:0`.
    pub device: Option<String>,
    /// As what.
    pub table: DiskTable,
    /// Columns of the heat-map, at most.
    pub columns: Option<usize>,
}

/// What is told of the requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DiskTable {
    /// Figures, a row a set of requests.
    #[default]
    Figures,
    /// How their latency is spread, a row a power of two.
    Histogram,
    /// The same over time, a row a power of two and a column a slot of time.
    Heat,
}

/// Columns of a heat-map where nothing is asked: with the names beside it, what a terminal of 100 columns has.
const COLUMNS: usize = 60;
/// Stars of the longest bar.
const STARS: u64 = 40;

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let by = VIEW.grouping(ask)?;
    let sets = recorded(facts, ask, by);
    match ask.disks.table {
        DiskTable::Figures => figures_table(facts, ask, by, sets),
        DiskTable::Histogram => histogram(facts, ask, by, sets),
        DiskTable::Heat => heat(facts, ask),
    }
}

/// What tells a set of requests from the others: the device as its source names it, and as the grouping asks, the operation
/// and the process.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    device: String,
    op: Option<&'static str>,
    process: Option<String>,
}

impl Key {
    fn columns(by: &str) -> Vec<Column> {
        let mut columns =
            vec![Column::new("device", "device"), Column::optional("place", "volume, mount", 7)];
        if by.contains("op") {
            columns.push(Column::new("op", "operation"));
        }
        if by.contains("process") {
            columns.push(Column::new("process", "process"));
        }
        columns
    }

    fn cells(&self, facts: &Facts, by: &str) -> Vec<Cell> {
        let known = facts.host.device(&self.device);
        let name = known.map_or(self.device.as_str(), |(of, _)| of.name());
        let place = known.map(|(of, thing)| facts.host.place_of_device(of, thing));
        let mut cells =
            vec![Cell::Text(name.to_string()), Cell::text(place.filter(|place| !place.is_empty()))];
        if by.contains("op") {
            cells.push(Cell::text(self.op));
        }
        if by.contains("process") {
            cells.push(Cell::text(self.process.clone()));
        }
        cells
    }
}

/// Single requests, of a recorder or of biosnoop, by the grouping.
fn recorded(facts: &Facts, ask: &Ask, by: &str) -> Vec<(Key, DiskRequests, Nanos)> {
    let mut sets: BTreeMap<Key, (DiskRequests, Nanos)> = BTreeMap::new();
    for (name, device) in devices(facts, ask) {
        let length = length(facts, device);
        for (op, pid, requests) in device.groups() {
            let key = Key {
                device: name.to_string(),
                op: by.contains("op").then(|| op.word()),
                process: by.contains("process").then(|| who(facts, pid)),
            };
            sets.entry(key).or_insert_with(|| (DiskRequests::default(), length)).0.merge(requests);
        }
    }
    sets.into_iter().map(|(key, (requests, length))| (key, requests, length)).collect()
}

/// The devices that are asked for.
fn devices<'a>(facts: &'a Facts, ask: &Ask) -> Vec<(&'a str, &'a DeviceFacts)> {
    let mut devices = facts.devices.iter();
    devices.retain(|(name, _)| is_asked(facts, ask, name));
    devices
}

fn is_asked(facts: &Facts, ask: &Ask, name: &str) -> bool {
    let Some(wanted) = ask.disks.device.as_deref() else { return true };
    let wanted = wanted.trim_start_matches("/dev/");
    name == wanted
        || facts
            .host
            .device(name)
            .is_some_and(|(of, thing)| of.name() == wanted || thing.told(Trait::Volume) == Some(wanted))
}

/// How long was looked: of a recording its time; else from the first request to the last.
fn length(facts: &Facts, device: &DeviceFacts) -> Nanos {
    let whole = facts.window.whole();
    let known = facts.capture.is_recording() && whole.get().is_some_and(|whole| whole > 0);
    if known { whole } else { device.length() }
}

/// `731 redis-server`, as far as known.
fn who(facts: &Facts, pid: Option<u32>) -> String {
    let Some(pid) = pid else { return "(unknown)".to_string() };
    if let Some(id) = facts.world.threads.last_process(pid)
        && facts.world.threads.known_process(id).is_some_and(|process| process.name().is_some())
    {
        return process_name(facts, id);
    }
    let told = facts.host.thing(&Entity::Process(pid)).and_then(|thing| thing.told(Trait::Name));
    told.map_or(pid.to_string(), |name| format!("{pid} {name}"))
}

/// The figures behind the key.
const FIGURES: [Column; 15] = [
    Column::optional("requests", "requests", 2),
    Column::new("per_s", "rate"),
    Column::optional("bytes", "bytes", 6),
    Column::optional("bytes_per_s", "bytes/s", 1),
    Column::optional("size", "mean size", 3),
    Column::optional("usual_size", "usual size", 6),
    Column::optional("in_order", "in order", 5),
    Column::optional("in_flight", "in flight", 1),
    Column::optional("busy", "busy", 5),
    Column::optional("queued_p50", "queued p50", 5),
    Column::optional("queued_p99", "queued p99", 4),
    Column::optional("mean", "mean", 4),
    Column::optional("p50", "p50", 1),
    Column::optional("p99", "p99", 1),
    Column::optional("max", "max", 3),
];

/// One row of figures; what is unknown is `None`.
#[derive(Default)]
struct Figures {
    requests: Option<u64>,
    per_s: Option<f64>,
    bytes: Option<u64>,
    bytes_per_s: Option<f64>,
    size: Option<u64>,
    usual_size: Option<u64>,
    in_order: Option<f64>,
    in_flight: Option<f64>,
    busy: Option<f64>,
    queued: [Nanos; 2],
    latency: [Nanos; 4],
}

impl Figures {
    fn of(requests: &DiskRequests, length: Nanos) -> Figures {
        let seconds = length.as_secs_f64().filter(|seconds| *seconds > 0.0);
        let per_s = |number: u64| seconds.map(|seconds| number as f64 / seconds);
        let stats = &requests.device;
        Figures {
            requests: Some(stats.count),
            per_s: per_s(stats.count),
            bytes: Some(stats.bytes),
            bytes_per_s: per_s(stats.bytes),
            size: requests.mean_size(),
            usual_size: requests.usual_size(),
            in_order: requests.in_order(),
            in_flight: requests.mean_in_flight(length),
            busy: None,
            queued: [0.5, 0.99].map(|share| requests.queue.percentile(share)),
            latency: [stats.mean(), stats.percentile(0.5), stats.percentile(0.99), stats.max()],
        }
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        let bytes = |bytes: Option<u64>| bytes.map_or(Cell::Unknown, Cell::Bytes);
        let counts = [
            Cell::count(self.requests),
            Cell::per_second(self.per_s),
            bytes(self.bytes),
            bytes(self.bytes_per_s.map(|rate| rate as u64)),
            bytes(self.size),
            bytes(self.usual_size),
            Cell::share(self.in_order),
            Cell::number(self.in_flight),
            Cell::share(self.busy),
        ];
        counts.into_iter().chain(self.queued.map(Cell::duration)).chain(self.latency.map(Cell::duration))
    }
}

fn figures_table(
    facts: &Facts,
    ask: &Ask,
    by: &'static str,
    sets: Vec<(Key, DiskRequests, Nanos)>,
) -> Result<Table, AskError> {
    let mut notes = lost(facts);
    let unfinished: u64 = sets.iter().map(|(_, set, _)| set.device.count - set.device.timed).sum();
    if !sets.is_empty() {
        notes.push(
            "queued: from when a request was made to when the device got it; mean, p50, p99, max: from then to its end, the \
             device's part. in order: beside one of the 16 requests of its kind before it, or a few apart. in flight: under way at \
             a time, on average."
                .to_string(),
        );
    }
    if unfinished > 0 {
        notes.push(format!("{} had not ended when the recording did.", words::plural(unfinished, "request")));
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (key, set, length) in &sets {
        rows.push(key.cells(facts, by).into_iter().chain(Figures::of(set, *length).cells()).collect());
    }
    let seen = |name: &str| {
        facts.devices.iter().iter().any(|(known, _)| {
            *known == name || facts.host.device(known).is_some_and(|(of, _)| of.name() == name)
        })
    };
    let mut from_figures = false;
    for (of, thing) in facts.host.things_that(is_disk) {
        if seen(of.name()) || !is_asked(facts, ask, of.name()) {
            continue;
        }
        for (op, told) in told(thing, by) {
            let key = Key { device: of.name().to_string(), op, process: None };
            rows.push(key.cells(facts, by).into_iter().chain(told.cells()).collect());
            from_figures = true;
        }
    }
    if from_figures {
        notes.push(
            "Rows without requests counted one by one are figures of another tool (iostat, /proc/diskstats, biolatency): these know \
             rates and means, no process and no order; of a histogram, the upper ends of its rows."
                .to_string(),
        );
    }
    if rows.is_empty() {
        notes.push(idle(facts).unwrap_or_else(|| {
            "No input tells of block devices: whyslow disks -a -d 5s, iostat -x 1 5, or bcc's biosnoop."
                .to_string()
        }));
    }
    let mut columns = Key::columns(by);
    columns.extend(FIGURES);
    let question = "What is asked of the disks, and how long does it take?".to_string();
    finish(Table { name: VIEW.name, question, columns, rows, total: None, notes }, ask, "in_flight")
}

/// A disk among the host's figures; all of them together where a histogram is not split.
fn is_disk(of: &Entity) -> bool {
    matches!(of, Entity::Device(_)) || matches!(of, Entity::Function { name, .. } if &**name == "block I/O")
}

/// What another tool tells of a disk now, by operation where that is asked and it tells it.
fn told(thing: &Thing, by: &str) -> Vec<(Option<&'static str>, Figures)> {
    let now = |metric| thing.current(metric);
    let time = |metric| now(metric).map_or(Nanos::UNKNOWN, |ns| Nanos::new(ns.max(0.0) as u64));
    let counted = now(Metric::CallCount).filter(|count| *count > 0.0).map(|count| count as u64);
    let sides: [(&str, Metric, Option<Metric>, Metric); 3] = [
        ("read", Metric::Reads, Some(Metric::ReadBytes), Metric::ReadLatency),
        ("write", Metric::Writes, Some(Metric::WriteBytes), Metric::WriteLatency),
        ("flush", Metric::Flushes, None, Metric::FlushLatency),
    ];
    let side = |(op, rate, bytes, latency): (&'static str, Metric, Option<Metric>, Metric)| {
        let per_s = now(rate).filter(|rate| *rate > 0.0)?;
        let bytes_per_s = bytes.and_then(now);
        let mean = now(latency);
        let told = Figures {
            requests: thing.times(rate).map(|times| times.round() as u64),
            per_s: Some(per_s),
            bytes_per_s,
            size: bytes_per_s.map(|bytes| (bytes / per_s) as u64),
            // Little's law.
            in_flight: mean.map(|ns| ns / 1e9 * per_s),
            latency: [time(latency), Nanos::UNKNOWN, Nanos::UNKNOWN, Nanos::UNKNOWN],
            ..Figures::default()
        };
        Some((Some(op), told))
    };
    let by_op: Vec<_> = sides.into_iter().filter_map(side).collect();
    if by.contains("op") && !by_op.is_empty() {
        return by_op;
    }
    let per_s = thing.sum_current(&[Metric::Reads, Metric::Writes]).filter(|rate| *rate > 0.0);
    if per_s.is_none() && counted.is_none() {
        return Vec::new();
    }
    let bytes_per_s = thing.sum_current(&[Metric::ReadBytes, Metric::WriteBytes]);
    let told = Figures {
        requests: counted,
        per_s: per_s.or_else(|| now(Metric::Calls)),
        bytes_per_s,
        size: bytes_per_s.zip(per_s).map(|(bytes, rate)| (bytes / rate) as u64),
        in_flight: now(Metric::QueueLength),
        busy: now(Metric::Utilisation),
        latency: [time(Metric::Latency), time(Metric::CallP50), time(Metric::CallP99), time(Metric::CallMax)],
        ..Figures::default()
    };
    vec![(None, told)]
}

/// What was lost of the requests.
fn lost(facts: &Facts) -> Vec<String> {
    let lost = facts.recording.lost_of("block_io").filter(|(lost, _)| *lost > 0);
    let told = lost.map(|(lost, produced)| {
        format!(
            "{} of {} were lost: there came more than could be written down; the figures are of the others.",
            words::count(lost),
            words::plural(produced, "request")
        )
    });
    told.into_iter().collect()
}

fn histogram(
    facts: &Facts,
    ask: &Ask,
    by: &'static str,
    sets: Vec<(Key, DiskRequests, Nanos)>,
) -> Result<Table, AskError> {
    let mut rows = Vec::new();
    for (key, set, _) in &sets {
        let counts = set.spread.counts();
        let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let most = counts.iter().copied().max().map_or(1, u64::from).max(1);
        for row in set.spread.used().into_iter().flatten() {
            let (from, to) = Log2::range(row);
            let count = u64::from(counts[row]);
            let mut cells = key.cells(facts, by);
            cells.extend([
                Cell::Duration(from),
                Cell::Duration(to),
                Cell::Count(count),
                Cell::Share(count as f64 / all as f64),
                Cell::Text("*".repeat((count * STARS).div_ceil(most) as usize)),
            ]);
            rows.push(cells);
        }
    }
    let mut notes = lost(facts);
    notes.push("Latency from issue to completion, as biolatency counts it.".to_string());
    notes.extend(without_requests(facts, rows.is_empty()));
    let mut columns = Key::columns(by);
    columns.extend([
        Column::new("from", "from"),
        Column::optional("to", "below", 2),
        Column::new("requests", "requests"),
        Column::optional("share", "share", 3),
        Column::optional("distribution", "distribution", 1),
    ]);
    let question = "How is the latency of the disks' requests spread?".to_string();
    finish(Table { name: VIEW.name, question, columns, rows, total: None, notes }, ask, "none")
}

fn heat(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let mut rows = Vec::new();
    let mut notes = lost(facts);
    for (name, device) in devices(facts, ask) {
        let (columns, slot) = device.heat.columns(ask.disks.columns.unwrap_or(COLUMNS));
        let all = device.all().spread;
        let key = Key { device: name.to_string(), op: None, process: None };
        // Quick ones at the bottom, as heat-maps have it.
        for row in all.used().into_iter().flatten().rev() {
            let mut cells = key.cells(facts, "device");
            let over_time: Vec<u64> = columns.iter().map(|column| column.counts()[row].into()).collect();
            let requests = Cell::Count(all.counts()[row].into());
            cells.extend([Cell::Duration(Log2::range(row).0), requests, Cell::Counts(over_time)]);
            rows.push(cells);
        }
        if let Some(Cell::Text(name)) = key.cells(facts, "device").first() {
            let start = device.heat.start();
            let from = if start.is_known() { start.time_of_day().to_string() } else { "?".to_string() };
            notes.push(format!("{name}: from {from} on, {slot} a character; the darker, the more requests ended then (by powers)."));
        }
    }
    notes.extend(without_requests(facts, rows.is_empty()));
    let mut columns = Key::columns("device");
    columns.extend([
        Column::new("from", "latency from"),
        Column::optional("requests", "requests", 2),
        Column::new("over_time", "over time"),
    ]);
    let question = "How long did the disks' requests take, over time?".to_string();
    finish(Table { name: VIEW.name, question, columns, rows, total: None, notes }, ask, "none")
}

/// That requests were looked for, and none came.
fn idle(facts: &Facts) -> Option<String> {
    let none = facts.has_table("block_io") && facts.devices.iter().is_empty();
    none.then(|| format!("No disk was asked for anything in {}.", facts.window.whole()))
}

/// Says what shows single requests, where there are none.
fn without_requests(facts: &Facts, empty: bool) -> Option<String> {
    if let Some(idle) = idle(facts).filter(|_| empty) {
        return Some(idle);
    }
    let why = match facts.host.things_that(is_disk).is_empty() {
        true => "No input tells of block devices",
        false => "The inputs tell figures of disks, no single requests",
    };
    empty.then(|| format!("{why}: whyslow disks -a -d 5s --histogram, or bcc's biosnoop."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{
        BlockIo, Coverage, Event, FigureTable, Loss, Over, RecordedSpan, Sink, SourceId, Timestamp,
    };

    fn facts() -> Facts {
        let mut facts = Facts::default();
        for i in 0..100u64 {
            facts.push(Event::BlockIo(Box::new(BlockIo {
                queued: Timestamp::new(i * 10_000_000),
                issued: Timestamp::new(i * 10_000_000 + 1_000_000),
                completed: if i == 99 {
                    Timestamp::UNKNOWN
                } else {
                    Timestamp::new(i * 10_000_000 + 1_000_000 + 200_000 * (1 + i % 2 * 30))
                },
                device: "253:0".to_string(),
                sector: i * 8,
                bytes: 4_096,
                op: "read".to_string(),
                pid: Some(7),
                tid: Some(7),
                file: None,
            })));
        }
        let mut table = FigureTable::new(SourceId(0), "/proc");
        table.over = Over::Interval(Nanos::from_secs(1));
        let disk = table.row(Entity::Device("vda".into()));
        disk.say(Trait::Number, "253:0");
        disk.say(Trait::MountedAt, "/srv");
        disk.set(Metric::Reads, 100.0);
        let other = table.row(Entity::Device("sdb".into()));
        other.set(Metric::Writes, 50.0);
        other.set(Metric::WriteBytes, 50.0 * 8_192.0);
        other.set(Metric::WriteLatency, 4e6);
        other.set(Metric::QueueLength, 0.2);
        table.row(Entity::Process(7)).say(Trait::Name, "dd");
        facts.push(Event::Figures(Box::new(table)));
        facts.finish();
        facts
    }

    #[test]
    fn an_idle_disk_was_looked_at() {
        let mut facts = Facts::default();
        let (from, to) = (Timestamp::new(0), Timestamp::new(2_000_000_000));
        facts.push(Event::Loss(Loss {
            table: "block_io".into(),
            from,
            to,
            lost: 0,
            produced: 0,
            refused: 0,
        }));
        facts.push(Event::Span(RecordedSpan { from, to, calls: Coverage::None }));
        facts.finish();
        for table in [DiskTable::Figures, DiskTable::Histogram, DiskTable::Heat] {
            let ask = Ask { disks: DiskAsk { table, ..DiskAsk::default() }, ..Ask::default() };
            let notes = (VIEW.table)(&facts, &ask).expect("a table").notes;
            assert!(
                notes.iter().any(|note| note == "No disk was asked for anything in 2.00 s."),
                "{notes:?}"
            );
        }
    }

    fn rows(table: DiskTable, by: &str) -> Vec<Vec<Cell>> {
        let disks = DiskAsk { table, ..DiskAsk::default() };
        let ask = Ask { by: Some(by.to_string()), disks, ..Ask::default() };
        let table = (VIEW.table)(&facts(), &ask).expect("a table");
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        table.rows
    }

    fn at(table: &str, row: &[Cell], key: &str) -> Cell {
        let mut columns = Key::columns(table);
        columns.extend(FIGURES);
        row[columns.iter().position(|column| column.key == key).expect("a column")].clone()
    }

    #[test]
    fn requests_and_figures_stand_side_by_side() {
        let by = "device,op,process";
        let rows = rows(DiskTable::Figures, by);
        assert_eq!(rows.len(), 2, "{rows:?}");
        let text = |cell: &str| Cell::Text(cell.to_string());
        let vda = &rows[0];
        let heads = [text("vda"), text("/srv"), text("read"), text("7 dd")];
        assert_eq!(vda[..4], heads);
        assert_eq!(at(by, vda, "requests"), Cell::Count(100));
        assert_eq!(at(by, vda, "in_order"), Cell::Share(1.0));
        assert_eq!(at(by, vda, "usual_size"), Cell::Bytes(4_096));
        let Cell::Duration(queued) = at(by, vda, "queued_p50") else { panic!("{vda:?}") };
        assert!(queued.or_zero().abs_diff(1_000_000) < 70_000, "{queued}");
        let sdb = &rows[1];
        assert_eq!(
            (&sdb[0], &sdb[1], &sdb[2], &sdb[3]),
            (&text("sdb"), &Cell::Unknown, &text("write"), &Cell::Unknown)
        );
        assert_eq!(at(by, sdb, "size"), Cell::Bytes(8_192));
        // What iostat does not tell is no zero.
        assert_eq!(at(by, sdb, "p99"), Cell::Unknown);
        assert_eq!(at(by, sdb, "in_flight"), Cell::Number(0.2));
    }

    #[test]
    fn a_histogram_has_each_request_once() {
        let rows = rows(DiskTable::Histogram, "device");
        let counts: u64 = rows.iter().map(|row| if let Cell::Count(n) = row[4] { n } else { 0 }).sum();
        assert_eq!(counts, 99);
        assert_eq!(rows.first().map(|row| &row[2]), Some(&Cell::Duration(Nanos::new(128_000))));
        assert_eq!(rows.last().map(|row| &row[6]), Some(&Cell::Text("*".repeat(40))));
    }

    #[test]
    fn a_heat_map_has_each_request_once_and_the_slow_on_top() {
        let rows = rows(DiskTable::Heat, "device");
        let cells = rows
            .iter()
            .flat_map(|row| if let Cell::Counts(counts) = &row[4] { counts.clone() } else { vec![] });
        assert_eq!(cells.sum::<u64>(), 99);
        assert_eq!(rows[0][2], Cell::Duration(Nanos::new(4_096_000)));
    }

    #[test]
    fn one_device_can_be_asked_for() {
        for (name, found) in [("/dev/vda", 1), ("253:0", 1), ("sdb", 1), ("sdz", 0)] {
            let disks = DiskAsk { device: Some(name.to_string()), ..DiskAsk::default() };
            let table = (VIEW.table)(&facts(), &Ask { disks, ..Ask::default() }).expect("a table");
            assert_eq!(table.rows.len(), found, "{name}");
        }
    }
}
