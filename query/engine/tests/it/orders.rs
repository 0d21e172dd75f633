//! A made-up service with a known slowness, as events: orders come in by HTTP; for each its worker asks a database, reads the same
//! configuration file again, appends to a journal and waits until it is on disk. Every figure follows from its number.
#![allow(dead_code)] // not each of those who use it uses all of it

use std::path::Path;
use whyslow_model::{
    Call, Coverage, Entity, Errno, Event, FigureRow, FigureTable, LeftAs, Metric, Nanos, Over, ProcessInfo,
    RecordedSpan, Ret, SampleKind, SampledStack, Sink, SourceId, Stack, StackFrame, StackId, Stretch, Tid,
    Timestamp,
};
use whyslow_store::{Meta, WriteOptions, Writer, Written};

/// The service.
pub(crate) const PID: Tid = 4000;
/// Its workers: 4001 to 4004.
pub(crate) const WORKERS: u64 = 4;
/// Calls of an order.
pub(crate) const CALLS: u64 = 10;
/// When the recording begins: 2026-05-01 10:00:00 UTC, ns.
pub(crate) const START: u64 = 1_777_629_600_000_000_000;
/// From an order of a worker to its next one, ns.
const ROUND: u64 = 40_000_000;

struct Made {
    tid: Tid,
    ts: u64,
    dur: u64,
    name: &'static str,
    args: String,
    ret: i64,
    errno: Option<&'static str>,
}

/// Writes a recording of so many orders to `dir`.
pub(crate) fn write(dir: &Path, orders: u64) -> Written {
    let mut writer = Writer::create(dir, Meta::new("full"), WriteOptions::CONVERT).expect("a new directory");
    events(orders, &mut writer);
    writer.finish().expect("all was written")
}

/// Pushes the events of so many orders.
pub(crate) fn events(orders: u64, sink: &mut dyn Sink) {
    let rounds = orders.div_ceil(WORKERS);
    let (from, to) = (Timestamp::new(START), Timestamp::new(START + rounds * ROUND));
    sink.push(Event::Span(RecordedSpan { from, to, calls: Coverage::Full }));
    people(sink);
    stacks(sink);
    for round in 0..rounds {
        let mut calls: Vec<Made> = Vec::new();
        for worker in 0..WORKERS.min(orders - round * WORKERS) {
            order(round, worker, &mut calls);
        }
        calls.sort_by_key(|call| call.ts + call.dur);
        for made in &calls {
            push(made, sink);
        }
        if round % 50 == 0 {
            host(round, sink);
        }
    }
}

/// The calls of one order.
fn order(round: u64, worker: u64, calls: &mut Vec<Made>) {
    let number = round * WORKERS + worker;
    let tid = PID + 1 + worker as Tid;
    let mut now = START + round * ROUND + worker * 50_000;
    let mut call = |name: &'static str, args: String, dur: u64, ret: i64, errno: Option<&'static str>| {
        calls.push(Made { tid, ts: now, dur, name, args, ret, errno });
        now += dur + 20_000;
    };
    let client = format!("{}<TCP:[10.0.0.2:8080->10.0.0.9:{}]>", 20 + worker, 40_000 + worker);
    let database = format!("{}<TCP:[10.0.0.2:{}->10.0.0.7:5432]>", 30 + worker, 50_000 + worker);
    // Varies as delays do: every hundredth is ten times as long.
    let vary = |base: u64| (base + number * 7_919 % (base / 4)) * if number % 100 == 99 { 10 } else { 1 };
    let asked = format!("GET /orders/{number} HTTP/1.1\\r\\nHost: shop\\r\\n\\r\\n");
    call(
        "recvfrom",
        format!("{client}, \"{asked}\", 4096, 0, NULL, NULL"),
        300_000,
        asked.len() as i64 - 6,
        None,
    );
    call("openat", "AT_FDCWD, \"/srv/orders/config.yml\", O_RDONLY".to_string(), 40_000, 11, None);
    call("read", "11</srv/orders/config.yml>, \"limits:\\n\"..., 512".to_string(), 15_000, 512, None);
    call("close", "11</srv/orders/config.yml>".to_string(), 4_000, 0, None);
    call("stat", format!("\"/srv/orders/cache/{}.json\", 0x7ffd", number % 5_000), 6_000, -1, Some("ENOENT"));
    call("sendto", format!("{database}, \"SELECT {number}\", 64, 0, NULL, 0"), 30_000, 64, None);
    call(
        "recvfrom",
        format!("{database}, \"row {number}\", 4096, 0, NULL, NULL"),
        vary(2_000_000) / 2,
        128,
        None,
    );
    call("write", format!("5</srv/orders/journal.log>, \"order {number}\\n\", 64"), 25_000, 64, None);
    call("fsync", "5</srv/orders/journal.log>".to_string(), vary(4_000_000) / 2, 0, None);
    call(
        "sendto",
        format!("{client}, \"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok\", 40, 0, NULL, 0"),
        20_000,
        40,
        None,
    );
}

fn push(made: &Made, sink: &mut dyn Sink) {
    let mut call = Call::new(made.name, &made.args);
    (call.tid, call.pid, call.cpu) = (made.tid, Some(PID), Some((made.tid % 2) as u16));
    (call.ts, call.dur) = (Timestamp::new(made.ts), Nanos::new(made.dur));
    call.ret = Ret::Value(made.ret);
    call.errno = made.errno.map_or(Errno::NONE, |name| Errno::lookup(name.as_bytes()));
    sink.push(Event::Call(&call));
    // A long wait takes the thread off its CPU.
    if made.dur < 200_000 {
        return;
    }
    let end = Timestamp::new(made.ts + made.dur);
    let stack = match made.name {
        "fsync" => 2,
        _ if made.args.contains(":5432]") => 1,
        _ => 4,
    };
    let (pid, tid, cpu) = (PID, made.tid, (made.tid % 2) as u16);
    let off = SampledStack {
        kind: SampleKind::OffCpu,
        ts: Timestamp::new(made.ts),
        cpu,
        pid,
        tid,
        weight: Nanos::new(made.dur - 10_000),
        user: Some(StackId(stack)),
        kernel: None,
    };
    sink.push(Event::Sample(off));
    let (on_cpu, runnable, blocked) = (Nanos::new(60_000), Nanos::new(10_000), Nanos::new(made.dur - 10_000));
    sink.push(Event::Stretch(Stretch {
        ts: end,
        cpu,
        pid,
        tid,
        left_as: LeftAs::Sleeping,
        on_cpu,
        runnable,
        blocked,
    }));
    if made.name == "fsync" {
        let on = SampledStack {
            kind: SampleKind::OnCpu,
            ts: end,
            weight: Nanos::new(60_000),
            user: Some(StackId(3)),
            ..off
        };
        sink.push(Event::Sample(on));
    }
}

fn people(sink: &mut dyn Sink) {
    let process = ProcessInfo {
        pid: PID,
        comm: Some("orders".to_string()),
        exe: Some("/srv/orders/orders".to_string()),
        cmdline: Some("/srv/orders/orders --port 8080".to_string()),
        user: Some("shop".to_string()),
        ..ProcessInfo::default()
    };
    sink.push(Event::Process(process));
    for worker in 1..=WORKERS {
        let thread = ProcessInfo {
            pid: PID,
            tid: Some(PID + worker as Tid),
            comm: Some(format!("worker-{worker}")),
            ..ProcessInfo::default()
        };
        sink.push(Event::Process(thread));
    }
}

/// Stacks: where it asks the database, where it syncs the journal, where it computes.
fn stacks(sink: &mut dyn Sink) {
    let frame = |function: &str, place: Option<&str>, module: &str| StackFrame {
        address: 0x40_1000,
        function: Some(function.to_string()),
        module: Some(module.to_string()),
        place: place.map(str::to_string),
    };
    let own = "/srv/orders/orders";
    let libc = "/lib/x86_64-linux-gnu/libc.so.6";
    let stack =
        |id: u32, frames: Vec<StackFrame>| Event::Stack(Stack { id: StackId(id), frames, cut: false });
    let outer = [frame("serve", Some("serve.c:40"), own), frame("main", Some("main.c:12"), own)];
    let with = |inner: Vec<StackFrame>| inner.into_iter().chain(outer.clone()).collect::<Vec<_>>();
    sink.push(stack(1, with(vec![frame("recv", None, libc), frame("find_order", Some("db.c:88"), own)])));
    sink.push(stack(
        2,
        with(vec![frame("fsync", None, libc), frame("append_journal", Some("journal.c:31"), own)]),
    ));
    sink.push(stack(3, with(vec![frame("price", Some("price.c:7"), own)])));
    sink.push(stack(4, with(vec![frame("recv", None, libc), frame("next_order", Some("http.c:52"), own)])));
}

fn host(round: u64, sink: &mut dyn Sink) {
    let mut table = FigureTable::new(SourceId(0), "/proc");
    table.at = Timestamp::new(START + (round + 1) * ROUND);
    table.over = Over::Interval(Nanos::new(1_000_000_000));
    let mut row = FigureRow::new(Entity::Host);
    row.set(Metric::CpuUser, 0.5 + (round % 5) as f64 / 10.0);
    table.rows.push(row);
    sink.push(Event::Figures(Box::new(table)));
}
