//! The text form in which cases show what only a recorder sees, one event a line: `TIME KIND key=value …`. Other lines
//! are calls, as strace -f -tt -T prints them.
//!
//! ```text
//! 10:00:00.000000 process pid=1 tid=7 comm=worker parent=3
//! 10:00:00.000000 span for=10s calls=full
//! 10:00:00.000000 stretch pid=1 tid=7 cpu=0 on=5ms runnable=2ms blocked=0us left=sleeping
//! 10:00:00.000000 wakeup waker=8 wakee=7
//! 10:00:00.000000 stack id=1 frames=hash;lookup;main
//! 10:00:00.000000 stack id=2 frames=/usr/lib/libpython3.11.so.1.0!sre_ucs1_match;[python]!check@/srv/check.py:7
//! 10:00:00.000000 sample kind=on-cpu pid=1 tid=7 weight=10ms user=1
//! 10:00:00.000000 call-stack pid=1 tid=7 syscall=newfstatat took=3us user=1
//! 10:00:00.000000 block device=253:0 op=read sector=8 bytes=4096 queued=1ms took=3ms pid=1 tid=7 file=253:1/42
//! 10:00:00.000000 under-way pid=1 tid=7 asleep=47s recvfrom(5<TCP:[10.0.0.2:50000->10.0.0.7:7001]>,
//! 10:00:00.000000 file pid=1 tid=7 op=write path=/tmp/a calls=3 bytes=4096 took=2ms for=10s
//! 10:00:00.000000 file pid=1 tid=7 op=read peer=10.0.0.7:6379 calls=3 bytes=90 took=2ms for=10s   (local= where it accepts, udp= of datagrams)
//! 10:00:00.000000 meanwhile pid=1 tid=7 had=thread runner=71 comm=ffmpeg turns=40 for=2s
//! 10:00:00.000000 parked pid=1 waits=lock call=sync.Mutex.Lock at=main.reserve place=/srv/stock/main.go:42 goroutines=150 looks=10
//! 10:00:00.000000 net kind=retransmit local=10.0.0.1:4000 peer=10.0.0.2:6379 rtt=200us
//! 10:00:00.000000 counts pid=1 tid=7 syscall=read calls=1000 errors=3 each=5us for=10s
//! 10:00:00.000000 totals pid=1 tid=7 faults=90000 major=400
//! 10:00:00.000000 loss table=syscalls lost=5 produced=100 for=10s
//! 10:00:10.000000 figures for=10s of=host cpu_user=0.9 runnable=12
//! 10:00:10.000000 figures for=10s of=device:vda utilisation=0.99 read_latency=20ms volume=vg-data
//! 10:00:10.000000 figures for=10s of=queue:731/accept_queue/127.0.0.1:80 queue_samples=40 queue_waited=38 queue_most=120
//! 10:00:10.000000 figures for=10s of=process:731 name=redis-server task_user=0.5 state=R
//! ```
//!
//! `figures` takes the names of metrics and traits; `of=` is `host`, `cpu:N`, `process:PID`, `thread:PID/TID`, or a
//! kind and a name; `tool=` is who tells (`/proc`). Without `for=` they are levels of a moment. Shares are 0 to 1, bytes plain numbers.

use std::collections::HashMap;
use whyslow_facts::Facts;
use whyslow_model::*;

/// Pushes the events of `text`, and at its end the recording `name` as their source.
pub(crate) fn push(text: &str, name: &str, facts: &mut Facts) {
    let mut processes = HashMap::new();
    let mut calls = String::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let kind = words.nth(1).unwrap_or_default();
        let fields = Fields { line, of: words.filter_map(|word| word.split_once('=')).collect() };
        if !KINDS.contains(&kind) {
            calls.push_str(line);
            calls.push('\n');
            continue;
        }
        push_calls(&mut calls, &processes, facts);
        if let (Some(tid), Some(pid)) = (fields.get("tid"), fields.get("pid")) {
            processes.insert(tid.parse::<Tid>().expect("a thread"), pid.parse::<Tid>().expect("a process"));
        }
        match kind {
            "under-way" => under_way(line, &fields, facts),
            _ => facts.push(event(kind, clock(line), &fields)),
        }
    }
    push_calls(&mut calls, &processes, facts);
    let mut info = SourceInfo::new(SourceId(0), name, CaptureKind::Recording);
    info.clock = ClockKind::TimeOfDay;
    facts.push(Event::Source(info));
}

const KINDS: [&str; 17] = [
    "process",
    "span",
    "stretch",
    "wakeup",
    "stack",
    "sample",
    "call-stack",
    "block",
    "under-way",
    "file",
    "meanwhile",
    "parked",
    "net",
    "counts",
    "totals",
    "loss",
    "figures",
];

struct Fields<'a> {
    line: &'a str,
    of: HashMap<&'a str, &'a str>,
}

impl<'a> Fields<'a> {
    fn get(&self, key: &str) -> Option<&'a str> {
        self.of.get(key).copied()
    }
    fn text(&self, key: &str) -> String {
        self.get(key).unwrap_or_else(|| panic!("`{key}=` expected: {}", self.line)).to_string()
    }
    fn number(&self, key: &str) -> Option<u64> {
        self.get(key).map(|text| text.parse().unwrap_or_else(|_| panic!("{key}: a number: {}", self.line)))
    }
    fn tid(&self, key: &str) -> Option<Tid> {
        self.number(key).map(|number| number as Tid)
    }
    fn time(&self, key: &str) -> Nanos {
        self.get(key).map_or(Nanos::UNKNOWN, |text| Nanos::new(crate::document::micros(text) * 1_000))
    }
    fn stack(&self, key: &str) -> Option<StackId> {
        self.number(key).map(|number| StackId(number as u32))
    }
    fn inode(&self, key: &str) -> Option<InodeId> {
        let text = self.get(key)?;
        let numbers: Vec<u64> = text.split([':', '/']).filter_map(|number| number.parse().ok()).collect();
        let [major, minor, inode] = numbers[..] else { panic!("{key}: MAJOR:MINOR/INODE: {}", self.line) };
        Some(InodeId { major: major as u32, minor: minor as u32, inode, generation: 0 })
    }
}

/// Nanoseconds since midnight.
fn clock(line: &str) -> Timestamp {
    let time = line.split_whitespace().next().unwrap_or_default();
    let (clock, micros) = time.split_once('.').expect("10:00:00.000000");
    let seconds =
        clock.split(':').fold(0, |sum, part| sum * 60 + part.parse::<u64>().expect("a time of day"));
    Timestamp::new((seconds * 1_000_000 + micros.parse::<u64>().expect("microseconds")) * 1_000)
}

/// A call that its thread was in all along.
fn under_way(line: &str, fields: &Fields<'_>, facts: &mut Facts) {
    let (words, args) = line.split_once('(').expect("name(arguments");
    let mut call = Call::new(words.split_whitespace().last().expect("a name"), args);
    (call.tid, call.pid, call.ts) = (fields.tid("tid").expect("tid="), fields.tid("pid"), clock(line));
    call.flags = CallFlags::START_NOT_SEEN.with(CallFlags::END_NOT_SEEN);
    let note = Call::asleep_note(fields.time("asleep"));
    call.ret_note = note.as_bytes();
    facts.push(Event::Call(&call));
}

fn event<'a>(kind: &str, ts: Timestamp, fields: &Fields<'_>) -> Event<'a> {
    let (pid, tid) = (fields.tid("pid").unwrap_or(0), fields.tid("tid").unwrap_or(0));
    let to = ts.plus(fields.time("for"));
    match kind {
        "figures" => Event::Figures(Box::new(figures(ts, fields))),
        "process" => Event::Process(ProcessInfo {
            pid,
            tid: Some(tid),
            comm: Some(fields.text("comm")),
            parent: fields.tid("parent"),
            ..ProcessInfo::default()
        }),
        "span" => Event::Span(RecordedSpan {
            from: ts,
            to,
            calls: match fields.get("calls") {
                Some("full") => Coverage::Full,
                Some("counts") => Coverage::Counts,
                _ => Coverage::None,
            },
        }),
        "stretch" => Event::Stretch(Stretch {
            ts,
            cpu: fields.number("cpu").unwrap_or(0) as u16,
            pid,
            tid,
            left_as: match fields.get("left") {
                Some("sleeping") => LeftAs::Sleeping,
                Some("uninterruptible") => LeftAs::Uninterruptible,
                _ => LeftAs::Runnable,
            },
            on_cpu: fields.time("on"),
            runnable: fields.time("runnable"),
            blocked: fields.time("blocked"),
        }),
        "wakeup" => {
            let waker = fields.tid("waker");
            let context = if waker.is_some() { WakeContext::Task } else { WakeContext::SoftIrq };
            Event::Wakeup(Wakeup { ts, cpu: 0, waker, context, wakee: fields.tid("wakee").expect("wakee=") })
        }
        "stack" => {
            let module = fields.get("module").map(str::to_string);
            let frame = |text: &str| {
                let (own, name) = text.split_once('!').map_or((None, text), |(own, name)| (Some(own), name));
                let placed = name.split_once('@').filter(|(_, place)| place.contains(':'));
                StackFrame {
                    function: Some(placed.map_or(name, |(name, _)| name).to_string()),
                    module: own.map(str::to_string).or_else(|| module.clone()),
                    place: placed.map(|(_, place)| place.to_string()),
                    ..StackFrame::default()
                }
            };
            let frames = fields.text("frames").split(';').map(frame).collect();
            Event::Stack(Stack { id: fields.stack("id").expect("id="), frames, cut: false })
        }
        "sample" => Event::Sample(SampledStack {
            kind: if fields.get("kind") == Some("off-cpu") { SampleKind::OffCpu } else { SampleKind::OnCpu },
            ts,
            cpu: 0,
            pid,
            tid,
            weight: fields.time("weight"),
            user: fields.stack("user"),
            kernel: fields.stack("kernel"),
        }),
        "call-stack" => Event::CallStack(CallStack {
            ts,
            cpu: 0,
            pid,
            tid,
            call: Syscall::lookup(fields.text("syscall").as_bytes()).expect("a system call"),
            took: fields.time("took"),
            user: fields.stack("user").expect("user="),
        }),
        "block" => Event::BlockIo(Box::new(BlockIo {
            queued: match fields.time("queued").get() {
                Some(waited) => Timestamp::new(ts.or_zero().saturating_sub(waited)),
                None => Timestamp::UNKNOWN,
            },
            issued: ts,
            completed: ts.plus(fields.time("took")),
            device: fields.text("device"),
            sector: fields.number("sector").unwrap_or(0),
            bytes: fields.number("bytes").unwrap_or(0),
            op: fields.text("op"),
            pid: fields.tid("pid"),
            tid: fields.tid("tid"),
            file: fields.inode("file"),
        })),
        "file" => {
            let calls = fields.number("calls").unwrap_or(1);
            let took = fields.time("took");
            Event::FileIo(Box::new(FileIo {
                pid,
                tid,
                op: match fields.get("op") {
                    Some("read") => FileOp::Read,
                    Some("write") => FileOp::Write,
                    Some("sync") => FileOp::Sync,
                    Some("open") => FileOp::Open,
                    other => panic!("nothing is done with files so: {other:?}"),
                },
                kind: match (fields.get("path"), fields.get("udp")) {
                    (Some(_), _) => FdKind::File,
                    (None, Some(_)) => FdKind::Udp,
                    (None, None) => FdKind::Tcp,
                },
                path: fields.get("path").map(str::to_string),
                ends: SocketEnds {
                    local: fields.get("local").map(str::to_string),
                    peer: fields.get("peer").or(fields.get("udp")).map(str::to_string),
                },
                size: fields.number("size"),
                in_order: fields.number("in_order"),
                file: fields.inode("file"),
                first: ts,
                last: to,
                calls,
                errors: 0,
                timed: if took.is_known() { calls } else { 0 },
                bytes: fields.number("bytes").unwrap_or(0),
                total: took,
                longest: took,
            }))
        }
        "meanwhile" => Event::Meanwhile(Box::new(Meanwhile {
            pid,
            tid,
            had: match fields.get("had") {
                Some("thread") => HadCpu::Thread,
                Some("idle") => HadCpu::Idle,
                Some("quota") => HadCpu::Quota,
                Some("untold") => HadCpu::Untold,
                Some("recorder") => HadCpu::Recorder,
                other => panic!("nobody had a CPU so: {other:?}"),
            },
            runner: fields.tid("runner"),
            comm: fields.get("comm").map(str::to_string),
            turns: fields.number("turns").unwrap_or(1),
            total: fields.time("for"),
        })),
        "parked" => Event::Parked(Box::new(Parked {
            pid,
            waits: match fields.get("waits") {
                Some("lock") => ParkedFor::Lock,
                Some("send") => ParkedFor::Send,
                Some("receive") => ParkedFor::Receive,
                Some("answer") => ParkedFor::Answer,
                Some("sleep") => ParkedFor::Sleep,
                Some("io") => ParkedFor::Io,
                Some("accept") => ParkedFor::Accept,
                other => panic!("no goroutine waits so: {other:?}"),
            },
            call: fields.text("call"),
            function: fields.text("at"),
            place: fields.get("place").map(str::to_string),
            goroutines: fields.number("goroutines").unwrap_or(0),
            looks: fields.number("looks").unwrap_or(0),
        })),
        "net" => Event::Net(Box::new(NetEvent {
            ts,
            kind: match fields.get("kind") {
                Some("connected") => NetKind::Connected,
                Some("accepted") => NetKind::Accepted,
                Some("retransmit") => NetKind::Retransmit,
                Some("reset") => NetKind::Reset,
                Some("listen-overflow") => NetKind::ListenOverflow,
                other => panic!("no kind of network event: {other:?}"),
            },
            pid: fields.tid("pid"),
            local: fields.text("local"),
            peer: fields.get("peer").unwrap_or_default().to_string(),
            took: fields.time("took"),
            rtt: fields.time("rtt"),
        })),
        "counts" => {
            let name = fields.text("syscall");
            let mut stats = CallStats::default();
            let errors = fields.number("errors").unwrap_or(0);
            for at in 0..fields.number("calls").unwrap_or(0) {
                stats.record(fields.time("each"), at < errors, 0);
            }
            let syscall = Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED);
            Event::ThreadCounts(Box::new(ThreadCounts { pid, tid, syscall, name, from: ts, to, stats }))
        }
        "totals" => Event::ThreadTotals(ThreadTotals {
            pid,
            tid,
            page_faults: fields.number("faults"),
            major_faults: fields.number("major"),
            voluntary_switches: fields.number("voluntary"),
            involuntary_switches: fields.number("involuntary"),
        }),
        "loss" => Event::Loss(Loss {
            table: fields.text("table"),
            from: ts,
            to,
            lost: fields.number("lost").unwrap_or(0),
            produced: fields.number("produced").unwrap_or(0),
            refused: fields.number("refused").unwrap_or(0),
        }),
        other => unreachable!("{other} is in KINDS"),
    }
}

/// Hands on the calls among the lines, as a recorder does: without text, and with their process.
fn push_calls(lines: &mut String, processes: &HashMap<Tid, Tid>, facts: &mut Facts) {
    let data = std::mem::take(lines).into_bytes();
    if data.is_empty() {
        return;
    }
    let input = whyslow_read::Input::Bytes { name: "calls".to_string(), data };
    let mut sink = |event: Event<'_>| match event {
        Event::Call(call) => {
            let pid = processes.get(&call.tid).copied();
            facts.push(Event::Call(&Call { raw: b"", raw_end: b"", pid, ..*call }));
        }
        Event::Signal(signal) => facts.push(Event::Signal(Signal { raw: b"", ..signal })),
        Event::Exit(exit) => facts.push(Event::Exit(exit)),
        _ => {}
    };
    let options = whyslow_read::ReadOptions { threads: 1 };
    whyslow_read::read(&[input], &options, &(), &mut sink).expect("a case's calls can be read");
}

fn figures(at: Timestamp, fields: &Fields<'_>) -> FigureTable {
    // A test's few names live as long as it does.
    let tool = fields.get("tool").map_or("/proc", |tool| Box::leak(tool.to_string().into_boxed_str()));
    let mut table = FigureTable::new(SourceId(0), tool);
    table.at = at;
    let over = fields.time("for");
    table.over = if over.is_known() { Over::Interval(over) } else { Over::Moment };
    table.complete = true;
    let row = table.row(entity(&fields.text("of")));
    let mut keys: Vec<(&&str, &&str)> =
        fields.of.iter().filter(|(key, _)| !matches!(**key, "for" | "of" | "tool")).collect();
    keys.sort();
    for (key, text) in keys {
        if let Some(of) = Trait::named(key) {
            row.say(of, *text);
            continue;
        }
        let metric =
            Metric::named(key).unwrap_or_else(|| panic!("{key}: neither metric nor trait: {}", fields.line));
        let value = match metric.unit() {
            Unit::Nanos => fields.time(key).get().expect("a duration") as f64,
            _ => text.parse().unwrap_or_else(|_| panic!("{key}: a number: {}", fields.line)),
        };
        row.set(metric, value);
    }
    table
}

fn entity(text: &str) -> Entity {
    let (kind, name) = text.split_once(':').unwrap_or((text, ""));
    let number = |text: &str| text.parse::<Tid>().unwrap_or_else(|_| panic!("a number: {text}"));
    match kind {
        "host" => Entity::Host,
        "cpu" => Entity::Cpu(number(name)),
        "process" => Entity::Process(number(name)),
        "thread" => {
            let (pid, tid) = name.split_once('/').expect("thread:PID/TID");
            Entity::Thread { pid: number(pid), tid: number(tid) }
        }
        "device" => Entity::Device(name.into()),
        "mount" => Entity::Mount(name.into()),
        "interface" => Entity::Interface(name.into()),
        "cgroup" => Entity::Cgroup(name.into()),
        "interrupt" => Entity::Interrupt(name.into()),
        "listener" => Entity::Listener(name.into()),
        "peer" => Entity::Peer(name.into()),
        "queue" => {
            let (pid, queue) = name.split_once('/').expect("queue:PID/KIND/NAME");
            Entity::Queue { pid: number(pid), name: queue.replacen('/', " ", 1).into() }
        }
        "command" => Entity::Command(name.into()),
        "file" => Entity::File { pid: None, path: name.into() },
        "function" => Entity::Function { pid: None, name: name.into() },
        other => panic!("no such thing: {other}"),
    }
}
