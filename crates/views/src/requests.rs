//! The view `requests`: what is asked of the program and by it, how long answers take, and what takes the time.

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, RequestFilter, View};
use crate::words;
use whyslow_facts::LifeId;
use whyslow_facts::ProcessId;
use whyslow_facts::folds::requests::{
    Ending, EndpointFacts, GroupFacts, LogFacts, RequestRecord, Side, TimeSplit,
};
use whyslow_facts::samples::StackWait;
use whyslow_facts::who::process_name;
use whyslow_facts::{Facts, WaitKind};
use whyslow_model::{CallStats, Cell, Column, Nanos, SampleKind, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "requests",
    of_calls: true,
    summary: "requests by endpoint, peer or thread, or one by one: how long, how many failed, what takes the time",
    by: &["endpoint", "peer", "thread"],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let by = VIEW.grouping(ask)?;
    let filter = &ask.requests;
    let mut notes: Vec<String> = nothing_because(facts, "requests").into_iter().collect();
    let singly = filter.slowest.is_some() || filter.errors;
    let (question, columns, rows) = if singly {
        (
            "Which requests were the slowest, and what took their time?",
            columns_singly(),
            singly_rows(facts, filter),
        )
    } else {
        let rows = match by {
            "peer" => by_peer(facts, filter),
            "thread" => by_thread(facts, filter),
            _ => by_endpoint(facts, filter),
        };
        (
            "What is asked of it and by it, how long do answers take, and what takes the time?",
            columns(by),
            rows,
        )
    };
    let seen = facts.requests.count() > facts.requests.of_logs().count;
    if !rows.is_empty() && seen {
        notes.push(
            "server: from reading the request to the last byte of the answer; the time before the program reads it is \
             not seen. client: from sending to the last byte of the answer."
                .to_string(),
        );
    }
    let log = facts.requests.of_logs();
    if log.count > 0 {
        notes.push(log_note(log));
    }
    if singly && !rows.is_empty() && !facts.samples.is_empty(SampleKind::OffCpu) {
        notes.push(
            "its thread mostly at: the line of the program's own code where the thread that answered waits (or computes, if that \
             took most) most of the time, in this request or in others."
                .to_string(),
        );
    }
    let hidden =
        facts.requests.endpoints().iter().any(|row| row.is_hidden() && row.stats.count + row.open > 0);
    if hidden && !rows.is_empty() {
        notes.push(
            "unknown: the payload is not in the capture (strace -s 256 keeps it), is encrypted, or is of no protocol \
             that is known here; a turn of the connection stands for a request. Feeds, logs and what is said unasked are none."
                .to_string(),
        );
    }
    if by == "endpoint" && !rows.is_empty() {
        notes.extend(through(facts));
    }
    if facts.requests.not_followed > 0 {
        notes.push(format!(
            "{} more were not followed: too many were open at once.",
            words::plural(facts.requests.not_followed, "request")
        ));
    }
    let table = Table { name: VIEW.name, question: question.to_string(), columns, rows, total: None, notes };
    let cut = Ask { top: filter.slowest.or(ask.top), ..ask.clone() };
    finish(table, if singly { &cut } else { ask }, if singly { "time" } else { "total" })
}

/// What is asked of this program and handed on, each request in one of its own: which part of the time is the next one's.
fn through(facts: &Facts) -> Vec<String> {
    /// Requests behind one in front, from and to which it is the same one.
    const ONE: std::ops::RangeInclusive<f64> = 0.7..=1.5;
    /// The part of the time from which on the next one's is worth a word.
    const MUCH: f64 = 0.5;
    /// Notes at most.
    const MOST: usize = 4;
    let served =
        facts.requests.endpoints().iter().filter(|row| row.side == Side::Server && row.stats.count > 0);
    let mut notes: Vec<(u64, String)> = Vec::new();
    for row in served {
        let Some(part) = row.downstream.iter().max_by_key(|part| part.ns) else { continue };
        let Some(behind) = facts.requests.endpoint(part.endpoint) else { continue };
        let (Some(peer), Some(whole)) = (&behind.peer, row.stats.total().get()) else { continue };
        let each = part.count as f64 / row.stats.count as f64;
        let size = |row: &EndpointFacts| row.request_bytes as f64 / row.stats.count.max(1) as f64;
        // What is not seen is the same where it is about as large.
        let alike = match (row.is_hidden(), behind.is_hidden()) {
            (true, true) => ONE.contains(&(size(behind) / size(row).max(1.0))),
            (false, false) => behind.name == row.name,
            _ => false,
        };
        if alike && ONE.contains(&each) && part.ns as f64 >= MUCH * whole as f64 {
            let mean = |ns: u64| words::duration(Nanos::new(ns / row.stats.count));
            notes.push((
                part.ns,
                format!(
                    "A request{} goes through: of {}, {} in {}.",
                    match &row.local {
                        Some(local) => format!(" to {local}"),
                        None if row.is_hidden() => String::new(),
                        None => format!(" ({})", row.name),
                    },
                    mean(whole),
                    mean(part.ns),
                    facts.peer_words(peer)
                ),
            ));
        }
    }
    notes.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
    let mut notes: Vec<String> = notes.into_iter().take(MOST).map(|(_, note)| note).collect();
    let asked = facts.requests.endpoints().iter().filter(|row| row.side == Side::Client);
    let ambiguous = asked.fold(0u64, |sum, row| sum.saturating_add(row.ambiguous));
    if ambiguous > 0 {
        notes.push(format!(
            "Ambiguous: {} made while several were served, and nothing tells for which.",
            match ambiguous {
                1 => "1 request was".to_string(),
                more => format!("{} requests were", words::count(more)),
            }
        ));
    }
    notes
}

/// What the figures of an access log mean.
fn log_note(log: &LogFacts) -> String {
    let mut note = format!(
        "HTTP (log): {} of an access log, timed by the server itself; a server behind is what it asked meanwhile.",
        words::plural(log.count, "line")
    );
    if log.timed < log.count {
        let untimed = log.count - log.timed;
        note.push_str(&format!(
            " {} no duration in a known unit (--verbose tells why).",
            if untimed == 1 {
                "1 line has".to_string()
            } else {
                format!("{} lines have", words::count(untimed))
            }
        ));
    }
    if log.whole_seconds > 0 {
        note.push_str(
            " Times are known to the second (UTC): nginx writes when it answered, Apache when it was asked.",
        );
    }
    note
}

fn columns(by: &str) -> Vec<Column> {
    let mut columns = vec![Column::new("side", "side")];
    if by == "endpoint" {
        columns.push(Column::optional("protocol", "protocol", 5));
    }
    columns.extend([
        Column::new("requests", "requests"),
        Column::optional("errors", "errors", 3),
        Column::optional("open", "open", 8),
        Column::optional("rate", "/s", 6),
        Column::optional("total", "total", 4),
        Column::new("p50", "p50"),
        Column::optional("p90", "p90", 7),
        Column::new("p99", "p99"),
        Column::optional("p999", "p99.9", 7),
        Column::new("max", "max"),
        Column::optional("received", "in", 9),
        Column::optional("sent", "out", 9),
    ]);
    match by {
        "endpoint" => columns.extend([
            Column::optional("waiting", "waiting", 6),
            Column::optional("working", "working", 8),
            Column::optional("between", "between", 8),
            Column::optional("downstream", "most of it for", 2),
            Column::new("endpoint", "endpoint"),
            Column::optional("peer", "peer", 1),
        ]),
        "peer" => columns.push(Column::new("peer", "peer")),
        _ => {
            columns.extend([Column::optional("process", "process", 5), Column::new("thread", "thread")]);
        }
    }
    columns
}

/// The figures that all groupings share.
fn figures(facts: &Facts, side: Side, stats: &CallStats, open: u64, request_bytes: u64) -> Vec<Cell> {
    // Logs leave bytes out: of them, none is not nothing.
    let bytes = |bytes: u64| match bytes {
        0 if facts.requests.of_logs().count > 0 => Cell::Unknown,
        bytes => Cell::Bytes(bytes),
    };
    let (received, sent) = match side {
        Side::Server => (request_bytes, stats.bytes),
        Side::Client => (stats.bytes, request_bytes),
    };
    vec![
        Cell::Count(stats.count),
        Cell::Count(stats.errors),
        Cell::count(Some(open).filter(|open| *open > 0)),
        Cell::per_second(facts.window.per_second(stats.count)),
        Cell::duration(stats.total()),
        Cell::duration(stats.percentile(0.5)),
        Cell::duration(stats.percentile(0.9)),
        Cell::duration(stats.percentile(0.99)),
        Cell::duration(stats.percentile(0.999)),
        Cell::duration(stats.max()),
        bytes(received),
        bytes(sent),
    ]
}

fn by_endpoint(facts: &Facts, filter: &RequestFilter) -> Vec<Vec<Cell>> {
    let matching = facts.requests.endpoints().iter().filter(|row| {
        row.stats.count + row.open > 0
            && (filter.holds(&endpoint_texts(row))
                || row.kept().any(|record| record_matches(facts, record, filter)))
    });
    matching.map(|row| endpoint_row(facts, row)).collect()
}

fn endpoint_texts(row: &EndpointFacts) -> [Option<&str>; 3] {
    [Some(&row.name), row.protocol_words(), row.peer.as_deref().or(row.local.as_deref())]
}

fn endpoint_row(facts: &Facts, row: &EndpointFacts) -> Vec<Cell> {
    let mut cells = vec![Cell::Text(row.side.word().to_string()), Cell::text(row.protocol_words())];
    cells.extend(figures(facts, row.side, &row.stats, row.open, row.request_bytes));
    let split = Some(&row.split).filter(|_| row.split_count > 0);
    let part = |ns: fn(&TimeSplit) -> u64| {
        Cell::share(split.and_then(|split| share(ns(split) as f64, split.total_ns() as f64)))
    };
    cells.extend([
        part(TimeSplit::waits_ns),
        part(|split| split.working_ns),
        part(|split| split.between_ns),
        Cell::text(mostly(facts, row)),
        Cell::Text(match &row.local {
            Some(local) => format!("{} (at {local})", row.name),
            None => row.name.to_string(),
        }),
        Cell::text(row.peer.as_deref()),
    ]);
    cells
}

/// What takes most of the time of an endpoint's requests: the downstream endpoint, or the kind of wait.
fn mostly(facts: &Facts, row: &EndpointFacts) -> Option<String> {
    let whole = row.stats.total().get()? as f64;
    let part = row.downstream.iter().max_by_key(|part| part.ns);
    let asked = part.and_then(|part| {
        let share = share(part.ns as f64, whole)?;
        let name = name(facts, facts.requests.endpoint(part.endpoint)?);
        Some((share, format!("{} {name}", words::percent(share))))
    });
    let waited = longest_wait(&row.split).and_then(|(kind, ns)| {
        let share = share(ns as f64, row.split.total_ns() as f64)?;
        Some((share, format!("{} {}", words::percent(share), kind.word())))
    });
    // What waits for a downstream endpoint is the same time by another name.
    let least = 0.1;
    asked
        .filter(|(share, _)| *share >= least)
        .or(waited.filter(|(share, _)| *share >= least))
        .map(|(_, text)| text)
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn longest_wait(split: &TimeSplit) -> Option<(WaitKind, u64)> {
    let all = WaitKind::ALL.into_iter().zip(split.waiting_ns);
    all.max_by_key(|(_, ns)| *ns).filter(|(_, ns)| *ns > 0)
}

/// An endpoint with whom it asks; the server alone where what is asked is not seen.
fn name(facts: &Facts, row: &EndpointFacts) -> String {
    match &row.peer {
        Some(peer) if row.is_hidden() => facts.peer_words(peer).into_owned(),
        Some(peer) => format!("{} ({peer})", row.name),
        None => row.name.to_string(),
    }
}

fn by_peer(facts: &Facts, filter: &RequestFilter) -> Vec<Vec<Cell>> {
    let peers = facts.requests.peers().filter(|(_, peer, _)| filter.holds(&[Some(*peer)]));
    let row = |(side, peer, group): (Side, &str, &GroupFacts)| {
        let mut cells = vec![Cell::Text(side.word().to_string())];
        cells.extend(figures(facts, side, &group.stats, group.open, group.request_bytes));
        cells.push(Cell::Text(peer.to_string()));
        cells
    };
    let mut rows: Vec<_> = peers.collect();
    rows.sort_by_key(|(side, peer, _)| (side.word(), *peer));
    rows.into_iter().map(row).collect()
}

fn by_thread(facts: &Facts, filter: &RequestFilter) -> Vec<Vec<Cell>> {
    let mut rows: Vec<_> = facts.requests.threads().collect();
    rows.sort_by_key(|(side, process, tid, _)| (side.word(), *process, *tid));
    rows.into_iter()
        .map(|(side, process, tid, group)| {
            let mut cells = vec![Cell::Text(side.word().to_string())];
            cells.extend(figures(facts, side, &group.stats, group.open, group.request_bytes));
            cells.push(Cell::Text(process_name(facts, process)));
            cells.push(Cell::Text(match (tid, process) {
                (0, ProcessId::NONE) => "(unknown)".to_string(),
                (0, _) => "(other threads)".to_string(),
                _ => thread_name(facts, tid),
            }));
            cells
        })
        .filter(|cells| {
            let text = |at: usize| match &cells[cells.len() - at] {
                Cell::Text(text) => Some(text.as_str()),
                _ => None,
            };
            filter.holds(&[text(1), text(2)])
        })
        .collect()
}

fn thread_name(facts: &Facts, tid: u32) -> String {
    let known = facts.world.threads.iter().map(|(_, thread)| thread).find(|thread| thread.tid == tid);
    known.map_or(tid.to_string(), |thread| super::threads::name(facts, thread))
}

fn columns_singly() -> Vec<Column> {
    vec![
        Column::new("number", "#"),
        Column::new("side", "side"),
        Column::optional("at", "at", 4),
        Column::new("time", "time"),
        Column::optional("first_byte", "to first byte", 9),
        Column::new("status", "status"),
        Column::optional("waits", "mostly", 2),
        Column::optional("where", "its thread mostly at", 2),
        Column::optional("process", "process", 9),
        Column::optional("thread", "thread", 5),
        Column::optional("answered_by", "answered by", 9),
        Column::optional("parent", "made in", 6),
        Column::optional("received", "in", 8),
        Column::optional("sent", "out", 8),
        Column::optional("fd", "fd", 9),
        Column::new("request", "request"),
        Column::optional("host", "host", 7),
        Column::optional("trace_id", "trace", 7),
        Column::optional("peer", "peer", 3),
        Column::optional("line", "line", 9),
    ]
}

fn singly_rows(facts: &Facts, filter: &RequestFilter) -> Vec<Vec<Cell>> {
    let wanted = facts
        .requests
        .records()
        .filter(|record| !filter.errors || record.failed())
        .filter(|record| record_matches(facts, record, filter));
    let mut wanted: Vec<_> = wanted.collect();
    wanted.sort_by_key(|record| record.number);
    wanted.into_iter().map(|record| record_row(facts, record)).collect()
}

/// When it began; of a log that knows whole seconds, no more than these.
fn time_of(facts: &Facts, record: &RequestRecord) -> String {
    let mut text = record.begin.time_of_day();
    if record.life == LifeId::NONE && facts.requests.of_logs().whole_seconds > 0 {
        text.truncate("10:34:36".len());
    }
    text
}

fn record_matches(facts: &Facts, record: &RequestRecord, filter: &RequestFilter) -> bool {
    let row = facts.requests.endpoint(record.endpoint);
    let own = [
        Some(record.detail.as_str()),
        record.host.as_deref(),
        record.trace_id.as_deref(),
        record.peer.as_deref(),
    ];
    filter.holds(&own) || row.is_some_and(|row| filter.holds(&endpoint_texts(row)))
}

fn record_row(facts: &Facts, record: &RequestRecord) -> Vec<Cell> {
    let row = facts.requests.endpoint(record.endpoint);
    let status = match (record.ending, &record.status) {
        (Ending::Aborted, _) => Some("aborted".to_string()),
        (Ending::Open, _) => Some("open".to_string()),
        (Ending::Answered, status) => status.as_ref().map(|status| status.text.to_string()),
    };
    let (received, sent) = match record.side {
        Side::Server => (record.request_bytes, record.answer_bytes),
        Side::Client => (record.answer_bytes, record.request_bytes),
    };
    let bytes = |bytes: u64| match bytes {
        0 if record.life == LifeId::NONE => Cell::Unknown,
        bytes => Cell::Bytes(bytes),
    };
    let asked = if record.detail.is_empty() {
        row.map(|row| row.name.to_string())
    } else {
        Some(record.detail.clone())
    };
    let line = record.first_line.evidence(facts.capture.source(record.first_line.source));
    vec![
        Cell::Count(record.number),
        Cell::Text(record.side.word().to_string()),
        Cell::text(Some(time_of(facts, record)).filter(|at| !at.is_empty())),
        Cell::duration(record.dur),
        Cell::duration(record.first_byte.since(record.begin)),
        Cell::text(status),
        Cell::text(mostly_of(facts, record)),
        Cell::text(place_of(facts, record)),
        Cell::Text(process_name(facts, record.process)),
        Cell::text(
            Some(record.tid)
                .filter(|tid| *tid != 0 || record.life != LifeId::NONE)
                .map(|tid| thread_name(facts, tid)),
        ),
        Cell::text(record.answered_by.filter(|tid| *tid != record.tid).map(|tid| thread_name(facts, tid))),
        Cell::count(record.parent.map(|(number, _)| number)),
        bytes(received),
        bytes(sent),
        Cell::count(u64::try_from(record.fd).ok()),
        Cell::text(asked),
        Cell::text(record.host.clone()),
        Cell::text(record.trace_id.clone()),
        Cell::text(record.peer.as_deref()),
        Cell::Text(line.source),
    ]
}

/// Where in the program's own code the thread that answered spends most of such time as took most of the request: `store.py:88 save_row`.
/// Stacks are kept by thread: another request of the same thread may have been elsewhere.
fn place_of(facts: &Facts, record: &RequestRecord) -> Option<String> {
    /// The part of the stacks that the function must have to be told.
    const MOSTLY: f64 = 0.5;
    let split = record.split?;
    let tid = record.answered_by.unwrap_or(record.tid);
    let waits = longest_wait(&split).map_or(0, |(_, ns)| ns) >= split.working_ns.max(split.between_ns);
    let found = match waits {
        true => facts.samples.own_site(SampleKind::OffCpu, record.process, Some(tid), |time| {
            time.wait != Some(StackWait::Work)
        }),
        false => facts.samples.own_site(SampleKind::OnCpu, record.process, Some(tid), |_| true),
    };
    found.filter(|(_, part)| *part >= MOSTLY).map(|(site, _)| site.listed())
}

/// What took most of the time of one request.
fn mostly_of(facts: &Facts, record: &RequestRecord) -> Option<String> {
    let whole = record.dur.get().filter(|ns| *ns > 0)? as f64;
    if let Some(part) = record.downstream.iter().max_by_key(|part| part.ns)
        && let Some(share) = share(part.ns as f64, whole).filter(|share| *share >= 0.1)
        && let Some(row) = facts.requests.endpoint(part.endpoint)
    {
        let times = if part.count > 1 { format!(" x{}", part.count) } else { String::new() };
        return Some(format!("{} {}{times}", words::percent(share), name(facts, row)));
    }
    let split = record.split?;
    let between = (split.between_ns, "between calls");
    let working = (split.working_ns, "working calls");
    let waits = WaitKind::ALL.into_iter().map(|kind| (split.waiting_ns[kind as usize], kind.word()));
    let (ns, what) = waits.chain([between, working]).max_by_key(|(ns, _)| *ns)?;
    let share = share(ns as f64, whole)?;
    Some(format!("{} {what}", words::percent(share)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, Event, Ret, Sink, Timestamp};

    /// A request that a server answers, with one of its own to a Redis meanwhile: start in µs, call, arguments, result, µs.
    const REQUEST: &[(u64, &str, &str, i64, u64)] = &[
        (
            0,
            "accept4",
            r#"3, {sa_family=AF_INET, sin_port=htons(50001), sin_addr=inet_addr("10.0.0.9")}, [16], SOCK_CLOEXEC"#,
            5,
            10,
        ),
        (1, "socket", "AF_INET, SOCK_STREAM, 0", 6, 5),
        (
            2,
            "connect",
            r#"6, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr("10.0.0.1")}, 16"#,
            0,
            50,
        ),
        (1_000, "read", "5, 0x7f00, 8192", 100, 20),
        (2_000, "write", "6, 0x7f00, 30", 30, 10),
        (2_100, "poll", "[{fd=6, events=POLLIN}], 1, 2000", 1, 5_000),
        (7_200, "read", "6, 0x7f00, 8192", 40, 10),
        (9_500, "write", "5, 0x7f00, 200", 200, 30),
    ];

    fn played() -> Facts {
        asking(30)
    }

    /// The same, with so many bytes asked of the Redis.
    fn asking(bytes: i64) -> Facts {
        let mut facts = Facts::default();
        for &(us, name, args, ret, dur_us) in REQUEST {
            let ret = if ret == 30 { bytes } else { ret };
            let mut call = Call::new(name, args);
            (call.tid, call.pid) = (7, Some(7));
            call.ts = Timestamp::new(us * 1_000);
            call.dur = Nanos::new(dur_us * 1_000);
            call.ret = Ret::Value(ret);
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts
    }

    #[test]
    fn a_request_that_is_handed_on_is_one_and_says_what_is_the_next_ones() {
        let notes = |bytes| table(&asking(bytes), &Ask::default()).unwrap().notes.join(" ");
        let through = "A request goes through: of 8.53 ms, 5.21 ms in 10.0.0.1:6379.";
        assert!(notes(100).contains(through), "{}", notes(100));
        assert!(!notes(30).contains("goes through"), "{}", notes(30));
        let table = table(&played(), &Ask::default()).unwrap();
        let at = table.columns.iter().position(|column| column.key == "protocol").unwrap();
        assert!(table.rows.iter().all(|row| row[at] == Cell::Text("unknown protocol".to_string())));
    }

    #[test]
    fn one_by_one_and_by_groups_rows_fit_their_columns() {
        let facts = played();
        for by in VIEW.by {
            for slowest in [None, Some(5)] {
                let requests = RequestFilter { slowest, ..RequestFilter::default() };
                let ask = Ask { by: Some(by.to_string()), requests, ..Ask::default() };
                let table = table(&facts, &ask).unwrap();
                assert!(!table.rows.is_empty());
                assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{by}");
            }
        }
        let text = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains("10.0.0.1:6379"));
        let matching = Some("10.0.0.1".to_string());
        let requests = RequestFilter { matching, slowest: Some(9), ..RequestFilter::default() };
        let found = table(&facts, &Ask { requests, ..Ask::default() }).unwrap();
        assert!(found.rows.iter().all(|row| row.iter().any(text)));
        assert_eq!(found.rows.len(), 1);
        let total = found.columns.iter().position(|column| column.key == "time").unwrap();
        assert_eq!(found.rows[0][total], Cell::Duration(Nanos::new(5_210_000)));
    }
}
