//! What the tests share: events with texts of their own, arbitrary ones, and both ways through a recording.
#![allow(dead_code, unreachable_pub)] // not every test uses all of it

use proptest::prelude::*;
use std::fmt::Display;
use std::path::Path;
use whyslow_model::*;
use whyslow_store::{Meta, Outcome, WriteOptions, Writer, read};

/// Says that the test cannot run here: `cargo xtask test` counts by this line. What a test says of a part of it begins with `note: `.
pub fn skipped(reason: impl Display) {
    println!("skipped: {}", reason.to_string().trim().replace('\n', "; "));
}

/// An event that owns its texts.
#[derive(Clone, Debug)]
pub enum Owned {
    Call { enter: bool, fields: Fields },
    Signal { tid: Tid, ts: Timestamp, name: String, info: String },
    Exit { tid: Tid, ts: Timestamp, status: Option<i32>, signal: Option<String> },
    Frame { tid: Tid, text: String },
    Other(Event<'static>),
}

#[derive(Clone, Debug)]
pub struct Fields {
    pub tid: Tid,
    pub pid: Option<Tid>,
    pub cpu: Option<u16>,
    pub ts: Timestamp,
    pub dur: Nanos,
    pub name: String,
    pub args: String,
    pub ret: Ret,
    pub errno: Errno,
    pub note: String,
    pub flags: CallFlags,
}

impl Fields {
    pub fn call(&self) -> Call<'_> {
        let mut call = Call::new(&self.name, &self.args);
        (call.tid, call.pid, call.cpu) = (self.tid, self.pid, self.cpu);
        (call.ts, call.dur) = (self.ts, self.dur);
        (call.ret, call.errno) = (self.ret, self.errno);
        call.ret_note = self.note.as_bytes();
        call.flags = self.flags;
        call
    }
}

impl Owned {
    pub fn push(&self, sink: &mut dyn Sink) {
        let source = SourceId(0);
        match self {
            Owned::Call { enter: false, fields } => sink.push(Event::Call(&fields.call())),
            Owned::Call { enter: true, fields } => sink.push(Event::Enter(&fields.call())),
            Owned::Signal { tid, ts, name, info } => sink.push(Event::Signal(Signal {
                source,
                line: 1,
                tid: *tid,
                ts: *ts,
                name: name.as_bytes(),
                info: info.as_bytes(),
                raw: b"",
            })),
            Owned::Exit { tid, ts, status, signal } => sink.push(Event::Exit(Exit {
                source,
                line: 1,
                tid: *tid,
                ts: *ts,
                status: *status,
                signal: signal.as_deref().map(str::as_bytes),
            })),
            Owned::Frame { tid, text } => sink.push(Event::Frame { tid: *tid, text: text.as_bytes() }),
            Owned::Other(event) => sink.push(event.clone()),
        }
    }
}

/// An event as text, all fields but where it was read. Two events are equal if their texts are.
pub fn shown(event: &Event<'_>) -> String {
    let source = SourceId(0);
    match event {
        Event::Call(call) | Event::Enter(call) => {
            let mut call = **call;
            (call.source, call.line, call.end_line) = (source, 1, 1);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let kind = if matches!(event, Event::Call(_)) { "call" } else { "enter" };
            format!("{kind} {call:?} {} {} {}", text(call.name), text(call.args), text(call.ret_note))
        }
        Event::Signal(signal) => format!("{:?}", Signal { source, line: 1, ..*signal }),
        Event::Exit(exit) => format!("{:?}", Exit { source, line: 1, ..*exit }),
        Event::Fd(entry) => format!("{:?}", FdEntry { source, line: 1, ..(**entry).clone() }),
        Event::Note(note) => format!("{:?}", CaptureNote { source, ..note.clone() }),
        Event::Counts(table) => format!("{:?}", CountTable { source, ..table.clone() }),
        Event::Figures(table) => format!("{:?}", FigureTable { source, ..(**table).clone() }),
        Event::ThreadCounts(counts) => {
            let of = &counts.stats;
            let histogram = of.histogram.durations();
            let mut sums = std::collections::BTreeMap::new();
            histogram.iter().for_each(|(ns, count)| *sums.entry(*ns).or_insert(0u64) += u64::from(*count));
            format!(
                "{:?} {} {} {} {:?} {} {:?} {:?} {} {sums:?}",
                (counts.pid, counts.tid, counts.syscall, &counts.name, counts.from, counts.to),
                of.count,
                of.errors,
                of.timed,
                of.total(),
                of.waiting_ns,
                of.min(),
                of.max(),
                of.bytes
            )
        }
        other => format!("{other:?}"),
    }
}

/// Writes the events; the recording is complete.
pub fn write(dir: &Path, events: &[Owned], options: WriteOptions) {
    let mut writer = Writer::create(dir, Meta::new("test"), options).expect("a new directory");
    events.iter().for_each(|event| event.push(&mut writer));
    writer.check().expect("all was written");
    writer.finish().expect("all was written");
}

/// The events of a recording as text, without the source at its end; and what was told of it.
pub fn replay(dir: &Path) -> (Vec<String>, Vec<CaptureNote>, Outcome) {
    let (mut events, mut notes, mut sources) = (Vec::new(), Vec::new(), 0);
    let mut sink = |event: Event<'_>| match &event {
        Event::Source(info) => {
            assert_eq!((info.kind, info.id), (CaptureKind::Recording, SourceId(7)));
            sources += 1;
        }
        Event::Note(note) if note.text.starts_with(&dir.display().to_string()) => notes.push(note.clone()),
        other => events.push(shown(other)),
    };
    let outcome = read(dir, SourceId(7), &mut sink, &mut |_, _| {}).expect("it opens");
    assert_eq!(sources, 1);
    (events, notes, outcome)
}

/// A plain call, number `i`, a millisecond after the one before.
pub fn call(i: u64) -> Owned {
    Owned::Call {
        enter: false,
        fields: Fields {
            tid: 100 + (i % 3) as u32,
            pid: Some(100),
            cpu: Some((i % 2) as u16),
            ts: Timestamp::new(1_700_000_000_000_000_000 + i * 1_000_000),
            dur: Nanos::new(10_000 + i % 977),
            name: "read".to_string(),
            args: format!("{}</var/log/{}.log>, \"line {i}\"..., 4096", 3 + i % 5, i % 7),
            ret: Ret::Value(i as i64 % 4096),
            errno: Errno::NONE,
            note: String::new(),
            flags: CallFlags::default(),
        },
    }
}

fn time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![Just(Timestamp::UNKNOWN), (0..=i64::MAX as u64).prop_map(Timestamp::new)]
}

fn nanos() -> impl Strategy<Value = Nanos> {
    prop_oneof![
        Just(Nanos::UNKNOWN),
        (0..=i64::MAX as u64).prop_map(Nanos::new),
        (0u64..100_000).prop_map(Nanos::new)
    ]
}

fn maybe<S: Strategy>(strategy: S) -> impl Strategy<Value = Option<S::Value>>
where
    S::Value: Clone,
{
    prop::option::of(strategy)
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(all)
}

fn flags() -> impl Strategy<Value = CallFlags> {
    let all = [CallFlags::END_NOT_SEEN, CallFlags::START_NOT_SEEN, CallFlags::LIBRARY, CallFlags::JOINED];
    prop::collection::vec(prop::sample::select(all.to_vec()), 0..3)
        .prop_map(|set| set.into_iter().fold(CallFlags::default(), CallFlags::with))
}

fn fields() -> impl Strategy<Value = Fields> {
    let name = prop_oneof![
        one_of(&["read", "openat", "futex", "newfstatat"]).prop_map(String::from),
        "[a-z_]{1,12}"
    ];
    let args = prop_oneof![
        any::<String>(),
        "[0-9]{1,3}(</[a-z/]{0,9}>)?, \"[a-z\\\\n]{0,9}\"\\.\\.\\., 4096",
        "AT_FDCWD, \"/[a-z/]{0,20}\", O_RDONLY",
    ];
    let ret = prop_oneof![Just(Ret::Unknown), any::<i64>().prop_map(Ret::Value)];
    let errno = prop_oneof![
        Just(Errno::NONE),
        (1u16..140).prop_map(Errno),
        Just(Errno::OTHER),
        any::<u16>().prop_map(Errno)
    ];
    (
        (any::<u32>(), maybe(any::<u32>()), maybe(any::<u16>()), time(), nanos()),
        (name, args, ret, errno, any::<String>(), flags()),
    )
        .prop_map(|((tid, pid, cpu, ts, dur), (name, args, ret, errno, note, flags))| Fields {
            tid,
            pid,
            cpu,
            ts,
            dur,
            name,
            args,
            ret,
            errno,
            note,
            flags,
        })
}

fn process() -> impl Strategy<Value = ProcessInfo> {
    let texts = || maybe(any::<String>());
    (
        (any::<u32>(), maybe(any::<u32>()), texts(), texts(), maybe(any::<u32>()), texts(), texts()),
        (maybe(any::<u32>()), texts(), texts(), time(), time(), maybe(any::<u64>()), any::<bool>()),
    )
        .prop_map(
            |(
                (pid, tid, comm, user, parent, exe, cmdline),
                (uid, cgroup, container, start, end, fd_limit, executed),
            )| {
                ProcessInfo {
                    pid,
                    tid,
                    comm,
                    user,
                    parent,
                    exe,
                    cmdline,
                    uid,
                    cgroup,
                    container,
                    start,
                    end,
                    fd_limit,
                    executed,
                }
            },
        )
}

fn fd() -> impl Strategy<Value = FdEntry> {
    use FdKind::*;
    let kind = one_of(&[
        File, Directory, DevNull, Terminal, Device, Proc, Pipe, Tcp, Udp, Unix, Netlink, Socket, Epoll,
        Event, Timer, Signal, Inotify, Anonymous, Unknown,
    ]);
    let texts = || maybe("[ -~é]{0,12}");
    let ends = maybe((texts(), texts()).prop_map(|(local, peer)| SocketEnds { local, peer }));
    (
        (maybe(any::<u32>()), maybe(any::<u32>()), maybe(any::<i32>()), texts(), texts(), texts(), kind),
        (maybe(any::<bool>()), maybe(any::<bool>()), texts(), any::<bool>(), texts(), ends, texts()),
        (maybe(any::<u64>()), texts(), maybe(any::<u64>()), maybe(any::<u64>()), maybe(any::<(u64, u64)>())),
    )
        .prop_map(
            |(
                (pid, tid, fd, role, comm, user, kind),
                (readable, writable, name, deleted, mount, ends, state),
                (inode, device, size, offset, queues),
            )| FdEntry {
                source: SourceId(0),
                line: 1,
                pid,
                tid,
                comm,
                user,
                fd,
                role,
                readable,
                writable,
                kind,
                name,
                deleted,
                mount,
                ends,
                state,
                inode,
                device,
                size,
                offset,
                queues,
            },
        )
}

fn counts() -> impl Strategy<Value = ThreadCounts> {
    let calls = prop::collection::vec((nanos(), any::<bool>(), 0u64..5000), 0..40);
    (any::<u32>(), any::<u32>(), one_of(&["read", "futex", "nosuchcall"]), time(), time(), calls).prop_map(
        |(pid, tid, name, from, to, calls)| {
            let mut stats = CallStats::default();
            for (dur, failed, bytes) in calls {
                stats.record(Nanos::new(dur.or_zero() % 1_000_000_000_000), failed, bytes);
            }
            stats.waiting_ns = stats.total_ns / 3;
            let syscall = Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED);
            ThreadCounts { pid, tid, syscall, name: name.to_string(), from, to, stats }
        },
    )
}

fn count_table() -> impl Strategy<Value = CountTable> {
    let row = (
        ("[a-z]{1,9}", maybe(any::<u64>()), maybe(any::<u64>()), nanos(), nanos()),
        (nanos(), nanos(), any::<u64>(), any::<String>()),
    )
        .prop_map(|((name, calls, errors, total, min), (max, mean, line, raw))| CountRow {
            name,
            calls,
            errors,
            total,
            min,
            max,
            mean,
            line,
            raw,
        });
    let time = one_of(&[TimeKind::SystemCpu, TimeKind::Wall, TimeKind::Unknown]);
    (time, any::<bool>(), prop::collection::vec(row, 0..4), maybe(any::<u64>()), nanos()).prop_map(
        |(time, library, rows, stated_calls, stated_total)| CountTable {
            source: SourceId(0),
            time,
            library,
            rows,
            stated_calls,
            stated_total,
        },
    )
}

fn entity() -> impl Strategy<Value = Entity> {
    let name = || "[ -~]{0,20}".prop_map(Box::<str>::from);
    let pid = || maybe(any::<u32>());
    prop_oneof![
        Just(Entity::Host),
        any::<u32>().prop_map(Entity::Cpu),
        any::<u32>().prop_map(Entity::Process),
        (any::<u32>(), any::<u32>()).prop_map(|(pid, tid)| Entity::Thread { pid, tid }),
        (pid(), name()).prop_map(|(pid, path)| Entity::File { pid, path }),
        (pid(), name()).prop_map(|(pid, name)| Entity::Function { pid, name }),
        (any::<u32>(), name()).prop_map(|(pid, name)| Entity::Queue { pid, name }),
        (0usize..9, name()).prop_map(|(kind, name)| {
            let kinds: [fn(Box<str>) -> Entity; 9] = [
                Entity::Device,
                Entity::Mount,
                Entity::Interface,
                Entity::Cgroup,
                Entity::Interrupt,
                Entity::Listener,
                Entity::Peer,
                Entity::Command,
                Entity::Device,
            ];
            kinds[kind](name)
        }),
    ]
}

fn figure_table() -> impl Strategy<Value = FigureTable> {
    let figure = (one_of(Metric::ALL), any::<u32>().prop_map(|n| f64::from(n) / 7.0));
    let told = (one_of(Trait::ALL), "[ -~]{1,12}".prop_map(Box::<str>::from));
    let line = prop_oneof![Just((0, "".into())), (any::<u64>(), "[ -~]{0,20}".prop_map(Box::<str>::from))];
    let row = (entity(), line, prop::collection::vec(figure, 0..5), prop::collection::vec(told, 0..3))
        .prop_map(|(of, (line, raw), figures, traits)| FigureRow { of, line, raw, figures, traits });
    let over = prop_oneof![
        nanos().prop_map(Over::Interval),
        Just(Over::SinceBoot),
        Just(Over::Lifetime),
        Just(Over::Moment)
    ];
    let tool = one_of(&["/proc", "iostat -x", "pidstat -d"]);
    (tool, time(), over, any::<bool>(), prop::collection::vec(row, 0..6)).prop_map(
        |(tool, at, over, complete, rows)| FigureTable {
            source: SourceId(0),
            tool,
            at,
            over,
            complete,
            rows,
        },
    )
}

fn note() -> impl Strategy<Value = CaptureNote> {
    use NoteKind::*;
    let kind = one_of(&[Reject, Skipped, Truncated, Tracer, Assumed, Read]);
    (kind, maybe(any::<u64>()), any::<String>(), maybe(any::<u32>()))
        .prop_map(|(kind, line, text, tid)| CaptureNote { kind, source: SourceId(0), line, text, tid })
}

fn scheduling() -> impl Strategy<Value = Event<'static>> {
    use LeftAs::*;
    let left_as = one_of(&[Runnable, Sleeping, Uninterruptible, Stopped, Dead, Other]);
    let stretch = (time(), any::<u16>(), any::<u32>(), any::<u32>(), left_as, nanos(), nanos(), nanos())
        .prop_map(|(ts, cpu, pid, tid, left_as, on_cpu, runnable, blocked)| {
            Event::Stretch(Stretch { ts, cpu, pid, tid, left_as, on_cpu, runnable, blocked })
        });
    let context =
        one_of(&[WakeContext::Task, WakeContext::HardIrq, WakeContext::SoftIrq, WakeContext::Other]);
    let wakeup = (time(), any::<u16>(), maybe(any::<u32>()), context, any::<u32>()).prop_map(
        |(ts, cpu, waker, context, wakee)| Event::Wakeup(Wakeup { ts, cpu, waker, context, wakee }),
    );
    let kind = one_of(&[SampleKind::OnCpu, SampleKind::OffCpu]);
    let id = || maybe(any::<u32>().prop_map(StackId));
    let sample = (kind, time(), any::<u16>(), any::<u32>(), any::<u32>(), nanos(), id(), id()).prop_map(
        |(kind, ts, cpu, pid, tid, weight, user, kernel)| {
            Event::Sample(SampledStack { kind, ts, cpu, pid, tid, weight, user, kernel })
        },
    );
    let call =
        one_of(&["read", "newfstatat", "connect"]).prop_map(|name| Syscall::lookup(name.as_bytes()).unwrap());
    let stack = any::<u32>().prop_map(StackId);
    let made = (time(), any::<u16>(), any::<u32>(), any::<u32>(), call, nanos(), stack).prop_map(
        |(ts, cpu, pid, tid, call, took, user)| {
            Event::CallStack(CallStack { ts, cpu, pid, tid, call, took, user })
        },
    );
    let text = || maybe("[ -~]{0,12}");
    let frame = (any::<u64>(), text(), text(), text())
        .prop_map(|(address, function, module, place)| StackFrame { address, function, module, place });
    let stack = (any::<u32>(), prop::collection::vec(frame, 0..5), any::<bool>())
        .prop_map(|(id, frames, cut)| Event::Stack(Stack { id: StackId(id), frames, cut }));
    prop_oneof![stretch, wakeup, sample, made, stack]
}

fn inode() -> impl Strategy<Value = InodeId> {
    (any::<u32>(), any::<u32>(), any::<u64>(), any::<u32>())
        .prop_map(|(major, minor, inode, generation)| InodeId { major, minor, inode, generation })
}

fn devices() -> impl Strategy<Value = Event<'static>> {
    use NetKind::*;
    let io = (
        (time(), time(), time(), "[0-9]{1,3}:[0-9]", any::<u64>()),
        (any::<u64>(), "read|write\\+sync", maybe(any::<u32>()), maybe(any::<u32>()), maybe(inode())),
    )
        .prop_map(|((queued, issued, completed, device, sector), (bytes, op, pid, tid, file))| {
            Event::BlockIo(Box::new(BlockIo {
                queued,
                issued,
                completed,
                device,
                sector,
                bytes,
                op,
                pid,
                tid,
                file,
            }))
        });
    let kind = one_of(&[Connected, Accepted, Retransmit, Reset, ListenOverflow, Closed]);
    let net = (time(), kind, maybe(any::<u32>()), "[0-9.:]{0,20}", "[0-9.:]{0,20}", nanos(), nanos())
        .prop_map(|(ts, kind, pid, local, peer, took, rtt)| {
            Event::Net(Box::new(NetEvent { ts, kind, pid, local, peer, took, rtt }))
        });
    let kind = one_of(&[FdKind::File, FdKind::Device, FdKind::Pipe, FdKind::Socket, FdKind::Unknown]);
    let file = (
        (any::<u32>(), any::<u32>(), one_of(&[FileOp::Read, FileOp::Write, FileOp::Sync, FileOp::Open])),
        (kind, maybe("[ -~]{0,12}"), maybe(inode()), time(), time()),
        (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>(), nanos(), nanos()),
        (maybe("[ -~]{0,12}"), maybe("[ -~]{0,12}"), maybe(any::<u64>()), maybe(any::<u64>())),
    )
        .prop_map(
            |(
                (pid, tid, op),
                (kind, path, file, first, last),
                (calls, errors, timed, bytes, total, longest),
                (local, peer, size, in_order),
            )| {
                Event::FileIo(Box::new(FileIo {
                    ends: SocketEnds { local, peer },
                    size,
                    in_order,
                    pid,
                    tid,
                    op,
                    kind,
                    path,
                    file,
                    first,
                    last,
                    calls,
                    errors,
                    timed,
                    bytes,
                    total,
                    longest,
                }))
            },
        );
    let had = one_of(&[HadCpu::Thread, HadCpu::Idle, HadCpu::Quota, HadCpu::Untold, HadCpu::Recorder]);
    let runner = (maybe(any::<u32>()), maybe("[ -~]{0,15}"));
    let meanwhile = (any::<u32>(), any::<u32>(), had, runner, any::<u64>(), nanos()).prop_map(
        |(pid, tid, had, (runner, comm), turns, total)| {
            Event::Meanwhile(Box::new(Meanwhile { pid, tid, had, runner, comm, turns, total }))
        },
    );
    let waits =
        one_of(&[ParkedFor::Lock, ParkedFor::Send, ParkedFor::Io, ParkedFor::Group, ParkedFor::Other]);
    let place = ("[ -~]{0,15}", "[ -~]{0,15}", maybe("[ -~]{0,15}"));
    let parked = (any::<u32>(), waits, place, any::<u64>(), any::<u64>()).prop_map(
        |(pid, waits, (call, function, place), goroutines, looks)| {
            Event::Parked(Box::new(Parked { pid, waits, call, function, place, goroutines, looks }))
        },
    );
    prop_oneof![io, net, file, meanwhile, parked]
}

fn figures() -> impl Strategy<Value = Event<'static>> {
    let some = || maybe(any::<u64>());
    let totals = (any::<u32>(), any::<u32>(), some(), some(), some(), some()).prop_map(
        |(pid, tid, page_faults, major_faults, voluntary_switches, involuntary_switches)| {
            Event::ThreadTotals(ThreadTotals {
                pid,
                tid,
                page_faults,
                major_faults,
                voluntary_switches,
                involuntary_switches,
            })
        },
    );
    let span = (time(), time(), one_of(&[Coverage::Full, Coverage::Counts, Coverage::None]))
        .prop_map(|(from, to, calls)| Event::Span(RecordedSpan { from, to, calls }));
    let loss = ("[a-z]{1,9}", time(), time(), any::<u64>(), any::<u64>(), any::<u64>()).prop_map(
        |(table, from, to, lost, produced, refused)| {
            Event::Loss(Loss { table, from, to, lost, produced, refused })
        },
    );
    let share = proptest::option::of(0.0f64..1.0);
    let cost =
        (share, nanos(), nanos(), nanos()).prop_map(|(target_share, added, recorder_cpu, per_call)| {
            Event::Cost(Cost { target_share, added, recorder_cpu, per_call })
        });
    let followed = (time(), any::<u32>(), ".{0,15}", any::<u32>(), ".{0,40}", 0.0f64..1.0, any::<u32>());
    let followed = followed.prop_map(|(ts, pid, comm, waiter, via, share, hop)| {
        let via = whyslow_model::Via::of_words(&via);
        Event::Followed(Box::new(Followed { ts, pid, comm, waiter, via, share, hop }))
    });
    prop_oneof![
        followed,
        totals,
        span,
        loss,
        cost,
        counts().prop_map(|counts| Event::ThreadCounts(Box::new(counts))),
        count_table().prop_map(Event::Counts),
        figure_table().prop_map(|table| Event::Figures(Box::new(table))),
        note().prop_map(Event::Note),
        process().prop_map(Event::Process),
        fd().prop_map(|entry| Event::Fd(Box::new(entry))),
    ]
}

/// Any event that a source may push, but the source itself.
pub fn event() -> impl Strategy<Value = Owned> {
    let text = || any::<String>();
    prop_oneof![
        4 => (prop::bool::weighted(0.1), fields()).prop_map(|(enter, mut fields)| {
            if enter {
                // A call that has only begun has no result yet.
                (fields.dur, fields.ret, fields.errno) = (Nanos::UNKNOWN, Ret::Unknown, Errno::NONE);
                (fields.note, fields.cpu) = (String::new(), None);
            }
            Owned::Call { enter, fields }
        }),
        1 => (any::<u32>(), time(), text(), text())
            .prop_map(|(tid, ts, name, info)| Owned::Signal { tid, ts, name, info }),
        1 => (any::<u32>(), time(), maybe(any::<i32>()), maybe(text()))
            .prop_map(|(tid, ts, status, signal)| Owned::Exit { tid, ts, status, signal }),
        1 => (any::<u32>(), text()).prop_map(|(tid, text)| Owned::Frame { tid, text }),
        3 => scheduling().prop_map(Owned::Other),
        2 => devices().prop_map(Owned::Other),
        4 => figures().prop_map(Owned::Other),
    ]
}
