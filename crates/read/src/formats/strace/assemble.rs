//! Records in order to events: times made continuous, halves joined, damaged lines counted.

use super::clock::Clock;
use super::held::{Asked, Held};
use super::pending::{FirstHalf, Pending, call_flags};
use super::record::{Kind, Marks, NO_TIME, Record};
use crate::formats::strace_count::{TableStep, Tables};
use crate::source::{MAX_QUOTED, reject_note};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{
    Call, CallFlags, CaptureNote, ClockKind, Event, Exit, Nanos, NoteKind, ProcessInfo, Signal, Sink,
    SourceInfo, Syscall, Timestamp, text,
};

/// What a damaged line should have been.
const EXPECTED: &str = "a call with its result, `name(arguments) = result`";

/// The state of one source.
pub(crate) struct Assembler {
    info: SourceInfo,
    clock: Clock,
    pending: Pending,
    /// The wait that the next line ends, in a log without durations.
    held: Held,
    asked: Asked,
    /// The thread of lines that show none (`-ff`: the file's own), else 0.
    default_tid: Tid,
    /// The thread of the last call: stack frames follow it without a thread of their own.
    last_tid: Tid,
    /// The thread whose call was torn last: `) = 36` ends it.
    torn: Option<Tid>,
    /// True once a call stated its duration: then every call does.
    timed: bool,
    comms: HashMap<Tid, Box<[u8]>>,
    /// What `-C` prints behind the log.
    tables: Tables,
    quoted: usize,
    warned: usize,
}

impl Assembler {
    pub(crate) fn new(info: SourceInfo, default_tid: Tid, days: u64) -> Assembler {
        Assembler {
            info,
            clock: Clock::new(days),
            pending: Pending::default(),
            held: Held::default(),
            asked: Asked::default(),
            default_tid,
            last_tid: default_tid,
            torn: None,
            timed: false,
            comms: HashMap::new(),
            tables: Tables::default(),
            quoted: 0,
            warned: 0,
        }
    }

    /// When the line is, without taking it; unknown where it shows no time.
    pub(crate) fn time_of(&self, record: &Record) -> Timestamp {
        let mut clock = self.clock;
        clock.at(record)
    }

    /// Takes the next line.
    #[inline]
    pub(crate) fn take(&mut self, batch: &[u8], record: &Record, sink: &mut dyn Sink) {
        let tid = if record.tid == 0 { self.default_tid } else { record.tid };
        // The name of a thread stands before its line.
        if self.held.is_full() && !matches!(record.kind, Kind::Comm | Kind::Blank) {
            self.release(record, sink);
        }
        if record.kind != Kind::Call {
            // Half of the lines of a busy program with several threads.
            if matches!(record.kind, Kind::Unfinished | Kind::Resumed) {
                self.info.lines += 1;
                self.info.events += 1;
                let ts = self.clock.at(record);
                return match record.kind {
                    Kind::Unfinished => self.begin(batch, record, tid, ts, sink),
                    _ => self.resume(batch, record, tid, ts, sink),
                };
            }
            return self.take_other(batch, record, tid, sink);
        }
        self.info.lines += 1;
        self.info.events += 1;
        let ts = self.clock.at(record);
        if self.pending.may_have(tid) {
            self.settle(batch, tid, sink);
        }
        self.last_tid = tid;
        self.timed |= record.dur != NO_TIME;
        let waits = !self.timed && (self.asked.is_answer(record, batch, tid) || Held::wants(record, batch));
        if waits {
            return self.held.keep(batch, record, tid, self.info.lines, ts);
        }
        sink.push(Event::Call(&self.call(batch, record, tid, ts)));
    }

    /// The wait that was held back is over when the line `record` is. A line without a time tells nothing: neither whether it is of
    /// strace at all.
    #[cold]
    fn release(&mut self, record: &Record, sink: &mut dyn Sink) {
        let next = if record.kind == Kind::Other { Timestamp::UNKNOWN } else { self.time_of(record) };
        let is_precise = record.marks.has(Marks::SUB_SECOND);
        let next = if is_precise { next } else { Timestamp::UNKNOWN };
        sink.push(Event::Call(&self.held.release(self.info.id, next)));
    }

    /// A record as a call of its own.
    #[inline(always)]
    fn call<'a>(&self, batch: &'a [u8], record: &Record, tid: Tid, ts: Timestamp) -> Call<'a> {
        Call {
            source: self.info.id,
            line: self.info.lines,
            end_line: self.info.lines,
            tid,
            pid: None,
            cpu: None,
            ts,
            dur: record.dur(),
            syscall: record.syscall(),
            name: record.name(batch),
            args: record.args.of(batch),
            ret: record.ret(),
            errno: record.errno(),
            ret_note: record.note.of(batch),
            flags: call_flags(record),
            raw: record.line.of(batch),
            raw_end: b"",
        }
    }

    fn take_other(&mut self, batch: &[u8], record: &Record, tid: Tid, sink: &mut dyn Sink) {
        if record.kind == Kind::Comm {
            return self.comm(record.args.of(batch), tid, sink);
        }
        self.info.lines += 1;
        // What is no line of strace does not move its clock.
        let ts = if record.kind == Kind::Other { Timestamp::UNKNOWN } else { self.clock.at(record) };
        match record.kind {
            Kind::Blank | Kind::Call | Kind::Comm | Kind::Unfinished | Kind::Resumed => return,
            Kind::Torn => return self.begin(batch, record, tid, ts, sink),
            Kind::Tail if self.end_torn(batch, record, ts, sink) => {}
            Kind::Tail | Kind::Other => return self.other(batch, record, sink),
            Kind::Abandoned => {
                self.begin(batch, record, tid, ts, sink);
                self.settle(batch, tid, sink);
            }
            Kind::ResumedUnfinished => self.resume(batch, record, tid, ts, sink),
            Kind::Signal => self.signal(batch, record, tid, ts, sink),
            Kind::Exit => self.exit(batch, record, tid, ts, sink),
            Kind::Frame => {
                let frame = record.args.of(batch);
                let text = frame.strip_prefix(b" > ").unwrap_or(frame);
                sink.push(Event::Frame { tid: self.last_tid, text });
            }
            Kind::Tracer => self.tracer(record.args.of(batch), sink),
            Kind::Meta => {}
        }
        self.info.events += 1;
    }

    /// A call's first half.
    fn begin(&mut self, batch: &[u8], record: &Record, tid: Tid, ts: Timestamp, sink: &mut dyn Sink) {
        if self.pending.may_have(tid) {
            self.settle(batch, tid, sink);
        }
        self.make_room(batch, sink);
        self.asked.forget(tid);
        self.last_tid = tid;
        let source = self.info.id;
        let half = self.pending.keep(tid, record, self.info.lines, ts);
        half.torn = record.kind == Kind::Torn;
        if half.torn {
            self.torn = Some(tid);
        } else {
            sink.push(Event::Enter(&half.call(source, tid, batch)));
        }
    }

    /// A call's second half.
    fn resume(&mut self, batch: &[u8], record: &Record, tid: Tid, ts: Timestamp, sink: &mut dyn Sink) {
        self.last_tid = tid;
        self.timed |= record.dur != NO_TIME;
        let Some(mut half) = self.first_half(batch, record.name(batch), tid, sink) else {
            return self.resume_without_start(batch, record, tid, ts, sink);
        };
        if half.torn {
            half.torn = false;
            self.info.events += 1;
        }
        half.append(batch, record.args.of(batch));
        if record.kind == Kind::ResumedUnfinished {
            self.pending.put(tid, half);
            return self.make_room(batch, sink);
        }
        self.join(half, batch, record, tid, ts, sink);
    }

    /// Pushes a call of which both halves are there.
    #[inline]
    fn join(
        &mut self,
        half: Box<FirstHalf>,
        batch: &[u8],
        record: &Record,
        tid: Tid,
        ts: Timestamp,
        sink: &mut dyn Sink,
    ) {
        let first = half.call(self.info.id, tid, batch);
        // Whole seconds (`-t`) would make most durations zero.
        let precise = half.sub_second() && record.marks.has(Marks::SUB_SECOND);
        let measured = if precise { ts.since(half.ts) } else { Nanos::UNKNOWN };
        sink.push(Event::Call(&Call {
            end_line: self.info.lines,
            dur: if record.dur == NO_TIME { measured } else { record.dur() },
            ret: record.ret(),
            errno: record.errno(),
            ret_note: record.note.of(batch),
            flags: first.flags.with(CallFlags::JOINED),
            raw_end: record.line.of(batch),
            ..first
        }));
        self.pending.recycle(half);
    }

    /// The open call that `<... name resumed>` of `tid` continues. Another open call of that thread did not end.
    fn first_half(
        &mut self,
        batch: &[u8],
        name: &[u8],
        tid: Tid,
        sink: &mut dyn Sink,
    ) -> Option<Box<FirstHalf>> {
        if let Some(half) = self.pending.take(tid) {
            // A restarted call is resumed under its own name by some versions.
            if half.name(batch) == name || half.syscall() == Syscall::RESTART_SYSCALL {
                return Some(half);
            }
            self.pending.put(tid, half);
            self.settle(batch, tid, sink);
            return None;
        }
        // Without `-o`, strace shows no thread while there is but one: a call may begin without and end with it.
        let other = if tid == 0 { self.pending.only_one_named(name, batch)? } else { 0 };
        self.pending.get(other).filter(|half| half.name(batch) == name)?;
        self.pending.take(other)
    }

    fn resume_without_start(
        &mut self,
        batch: &[u8],
        record: &Record,
        tid: Tid,
        ts: Timestamp,
        sink: &mut dyn Sink,
    ) {
        self.info.starts_not_seen += 1;
        let start = match (ts.get(), record.dur().get()) {
            (Some(end), Some(dur)) => end.checked_sub(dur).map_or(Timestamp::UNKNOWN, Timestamp::new),
            _ => Timestamp::UNKNOWN,
        };
        if record.kind == Kind::ResumedUnfinished {
            self.make_room(batch, sink);
            let half = self.pending.keep(tid, record, self.info.lines, Timestamp::UNKNOWN);
            half.flags = half.flags.with(CallFlags::START_NOT_SEEN);
            return;
        }
        let call = self.call(batch, record, tid, start);
        sink.push(Event::Call(&Call { flags: call.flags.with(CallFlags::START_NOT_SEEN), ..call }));
    }

    /// `NULL) = 36`: ends the call that was torn last.
    fn end_torn(&mut self, batch: &[u8], record: &Record, ts: Timestamp, sink: &mut dyn Sink) -> bool {
        let Some(tid) = self.torn.take() else { return false };
        if !self.pending.get(tid).is_some_and(|half| half.torn) {
            return false;
        }
        let Some(mut half) = self.pending.take(tid) else { return false };
        half.append(batch, record.args.of(batch));
        self.info.events += 1;
        self.last_tid = tid;
        self.join(half, batch, record, tid, ts, sink);
        true
    }

    /// Gives up waiting for the second half of the thread's open call, if it has one.
    fn settle(&mut self, batch: &[u8], tid: Tid, sink: &mut dyn Sink) {
        let Some(half) = self.pending.take(tid) else { return };
        if half.torn {
            self.reject(half.raw(batch), half.line, sink);
        } else {
            self.info.ends_not_seen += 1;
            let call = half.call(self.info.id, tid, batch);
            sink.push(Event::Call(&Call { flags: call.flags.with(CallFlags::END_NOT_SEEN), ..call }));
        }
        self.pending.recycle(half);
    }

    /// Gives up all open calls where there are more than any sane capture has.
    fn make_room(&mut self, batch: &[u8], sink: &mut dyn Sink) {
        if self.pending.is_full() {
            self.settle_all(batch, sink);
        }
    }

    fn settle_all(&mut self, batch: &[u8], sink: &mut dyn Sink) {
        for tid in self.pending.tids() {
            self.settle(batch, tid, sink);
        }
    }

    fn signal(&mut self, batch: &[u8], record: &Record, tid: Tid, ts: Timestamp, sink: &mut dyn Sink) {
        let text = record.args.of(batch);
        let inner = text.strip_prefix(b"--- ").unwrap_or(text);
        let inner = inner.strip_suffix(b"---").unwrap_or(inner).trim_ascii();
        let inner = inner.strip_prefix(b"stopped by ").unwrap_or(inner);
        let end = inner.iter().position(|byte| *byte == b' ').unwrap_or(inner.len());
        let (name, info) = inner.split_at(end);
        if name.starts_with(b"SIG") {
            sink.push(Event::Signal(Signal {
                source: self.info.id,
                line: self.info.lines,
                tid,
                ts,
                name,
                info: info.trim_ascii(),
                raw: record.line.of(batch),
            }));
        }
    }

    fn exit(&mut self, batch: &[u8], record: &Record, tid: Tid, ts: Timestamp, sink: &mut dyn Sink) {
        let text = record.args.of(batch);
        let inner = text.strip_prefix(b"+++ ").unwrap_or(text);
        let inner = inner.strip_suffix(b"+++").unwrap_or(inner).trim_ascii();
        self.settle(batch, tid, sink);
        let mut exit =
            Exit { source: self.info.id, line: self.info.lines, tid, ts, status: None, signal: None };
        let status = inner.strip_prefix(b"exited with ").or_else(|| inner.strip_prefix(b"exited (status "));
        if let Some(status) = status {
            exit.status = text::decimal(status).and_then(|(value, _)| i32::try_from(value).ok());
        } else if let Some(signal) = inner.strip_prefix(b"killed by ") {
            exit.signal = signal.split(|byte| *byte == b' ').next();
        } else if let Some(other) = inner.strip_prefix(b"superseded by execve in pid ") {
            // The thread that calls execve takes over the id of its process: its open call goes with it.
            let Some(caller) = text::decimal(other).and_then(|(value, _)| Tid::try_from(value).ok()) else {
                return;
            };
            exit.tid = caller;
            if let Some(half) = self.pending.take(caller) {
                self.pending.put(tid, half);
            }
        }
        sink.push(Event::Exit(exit));
    }

    /// The thread's name, told on when it is new.
    fn comm(&mut self, comm: &[u8], tid: Tid, sink: &mut dyn Sink) {
        const MOST: usize = 1 << 16;
        let known = self.comms.get(&tid);
        if known.is_some_and(|known| **known == *comm) || (known.is_none() && self.comms.len() >= MOST) {
            return;
        }
        self.comms.insert(tid, comm.into());
        let comm = Some(text::lossy(comm));
        sink.push(Event::Process(ProcessInfo { pid: tid, tid: Some(tid), comm, ..ProcessInfo::default() }));
    }

    /// `strace: …`: an error or a loss, told on.
    fn tracer(&mut self, message: &[u8], sink: &mut dyn Sink) {
        let plain = message.strip_prefix(b"strace: ").unwrap_or(message);
        if super::line::is_process_message(plain) || plain.starts_with(b"[ Process PID=") {
            return;
        }
        self.warned += 1;
        if self.warned <= MAX_QUOTED {
            let text = text::lossy(&message[..message.len().min(crate::source::QUOTE_LEN)]);
            let text = format!("{}:{}: the tracer says `{text}`", self.info.name, self.info.lines);
            self.note(NoteKind::Tracer, self.info.lines, text, sink);
        }
    }

    /// A line without a call: of the table that `-C` puts behind the log, damaged, or of something else.
    fn other(&mut self, batch: &[u8], record: &Record, sink: &mut dyn Sink) {
        let line = record.line.of(batch);
        match self.tables.line(line, self.info.lines, &self.info, sink) {
            TableStep::Other if self.looks_damaged(batch, record) => self.reject(line, self.info.lines, sink),
            TableStep::Other => self.info.foreign += 1,
            TableStep::Damaged => self.reject(line, self.info.lines, sink),
            TableStep::Header | TableStep::Row | TableStep::Separator | TableStep::Total => {
                self.info.events += 1
            }
        }
    }

    /// Told from foreign lines: a known call stands in it, or the prefix that the calls have.
    fn looks_damaged(&self, batch: &[u8], record: &Record) -> bool {
        let clock = record.marks.clock();
        let same_prefix = clock != ClockKind::None && clock == self.clock.kind();
        same_prefix || record.marks.has(Marks::CALL_LIKE) || record.line.of(batch).starts_with(b")")
    }

    fn reject(&mut self, line: &[u8], number: u64, sink: &mut dyn Sink) {
        self.info.rejects += 1;
        self.quoted += 1;
        if self.quoted <= MAX_QUOTED {
            sink.push(Event::Note(reject_note(&self.info, number, line, EXPECTED)));
        }
    }

    fn note(&self, kind: NoteKind, line: u64, text: String, sink: &mut dyn Sink) {
        sink.push(Event::Note(CaptureNote { kind, source: self.info.id, line: Some(line), text, tid: None }));
    }

    /// The last line has no end: true where it is cut in the middle, so that its figures may be wrong.
    /// strace ends every line, but text that was pasted may lack the last end.
    pub(crate) fn is_cut(&self, batch: &[u8], record: &Record) -> bool {
        match record.kind {
            Kind::Call | Kind::Resumed => {
                self.timed && record.dur == NO_TIME && record.marks.has(Marks::HAS_RET)
            }
            Kind::Torn => true,
            // The start of a prefix: `11091 08:36:23.52`.
            Kind::Other => self.looks_damaged(batch, record) || record.tid != 0,
            _ => false,
        }
    }

    /// Takes the last line, which is cut.
    pub(crate) fn take_cut(&mut self, batch: &[u8], record: &Record, sink: &mut dyn Sink) {
        if self.held.is_full() {
            self.release(record, sink);
        }
        self.info.lines += 1;
        self.info.rejects += 1;
        let line = record.line.of(batch);
        let shown = text::lossy(&line[..line.len().min(crate::source::QUOTE_LEN)]);
        let text = format!(
            "{}:{}: the capture ends in the middle of this line: `{shown}`; it is not used",
            self.info.name, self.info.lines
        );
        self.note(NoteKind::Truncated, self.info.lines, text, sink);
    }

    /// The batch is about to go: what is still open copies its text. To be called before each batch is parsed on.
    pub(crate) fn leave(&mut self, batch: &[u8]) {
        self.pending.leave(batch);
    }

    /// The end of the source: what is still open did not end.
    pub(crate) fn finish(mut self, bytes: u64, sink: &mut dyn Sink) -> SourceInfo {
        if self.held.is_full() {
            sink.push(Event::Call(&self.held.release(self.info.id, Timestamp::UNKNOWN)));
        }
        self.settle_all(b"", sink);
        std::mem::take(&mut self.tables).finish(&self.info, sink);
        self.info.clock = self.clock.kind();
        self.info.bytes = bytes;
        self.info
    }
}
