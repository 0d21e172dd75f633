//! What the ptrace recorder hands out, as events.

use super::event::{RawEvent, ThreadEnd, TraceOrigin};
use super::signals::signal_name;
use crate::arguments;
use crate::clock::Clock;
use crate::decode::{self, CallText, NoNames, PrintOptions};
use crate::names::FdNames;
use crate::options::Options;
use crate::raw::RawFlags;
use std::collections::HashMap;
use whyslow_model::{
    CaptureKind, ClockKind, Coverage, Event, Exit, FdEntry, Loss, ProcessInfo, RecordedSpan, Signal, Sink,
    SourceId, SourceInfo, Timestamp,
};

/// Turns raw events into events, one recording long.
pub struct Translator {
    clock: Clock,
    print: PrintOptions,
    text: CallText,
    names: Option<FdNames>,
    /// Arguments of programs without secrets; `None` where secrets are to be kept.
    hidden: Option<Vec<u8>>,
    info: SourceInfo,
    calls: u64,
    began: Timestamp,
    /// When threads were taken that were there before, ns of the kernel's clock.
    attached: HashMap<u32, u64>,
}

impl Translator {
    /// Of a recording under the name `name`, from now on.
    pub fn new(name: &str, options: &Options) -> Translator {
        let clock = Clock::now();
        let mut info = SourceInfo::new(SourceId::default(), name, CaptureKind::Recording);
        info.clock = ClockKind::Epoch;
        Translator {
            clock,
            print: options.print(),
            text: CallText::default(),
            names: options.fd_names.then(FdNames::live),
            hidden: (!options.show_secrets).then(Vec::new),
            info,
            calls: 0,
            began: clock.epoch(crate::clock::monotonic_ns()),
            attached: HashMap::new(),
        }
    }

    /// Learns of a descriptor that was open at the start.
    pub fn open_at_attach(&mut self, entry: &FdEntry) {
        if let Some(names) = &mut self.names {
            names.open_at_attach(entry);
        }
    }

    /// Tells one.
    pub fn take(&mut self, event: RawEvent<'_>, sink: &mut dyn Sink) {
        self.info.lines += 1;
        self.info.events += 1;
        let (source, line) = (self.info.id, self.info.lines);
        match event {
            RawEvent::Call(mut call) => {
                self.calls += 1;
                if let Some(hidden) = self.hidden.as_mut().filter(|_| arguments::has_secrets(call.nr)) {
                    hidden.clear();
                    arguments::hide(call.nr, call.memory, hidden);
                    call.memory = hidden;
                }
                // What was under way before is known to have lasted as long as its thread was watched.
                if call.flags.contains(RawFlags::NO_ENTER) {
                    call.enter = self.attached.get(&call.tid).copied();
                    if !call.flags.contains(RawFlags::NO_EXIT) {
                        let now = crate::clock::monotonic_ns();
                        call.dur = call.enter.map(|enter| now.saturating_sub(enter));
                    }
                }
                self.info.starts_not_seen += u64::from(call.flags.contains(RawFlags::NO_ENTER));
                let clock = self.clock;
                decode::print(&call, &NoNames, &self.print, &mut self.text);
                if let Some(names) = &mut self.names {
                    names.before(&self.text.to_call(&call, clock, source, line));
                    decode::print(&call, names, &self.print, &mut self.text);
                    self.text.name_result(&call, names);
                }
                let event = self.text.to_call(&call, clock, source, line);
                sink.push(Event::Call(&event));
                if let Some(names) = &mut self.names {
                    names.after(&event);
                }
            }
            RawEvent::Signal(signal) => {
                let (name, info) = (signal_name(signal.signal), signal.info());
                sink.push(Event::Signal(Signal {
                    source,
                    line,
                    tid: signal.tid,
                    ts: self.clock.epoch(signal.ts),
                    name: name.as_bytes(),
                    info: info.as_bytes(),
                    raw: b"",
                }));
            }
            RawEvent::Started { ts, pid, tid, parent, origin } => {
                if origin == TraceOrigin::Attached {
                    self.attached.insert(tid, ts);
                }
                let start = match origin {
                    TraceOrigin::Attached => Timestamp::UNKNOWN,
                    TraceOrigin::Command | TraceOrigin::Created => self.clock.epoch(ts),
                };
                sink.push(Event::Process(ProcessInfo { start, parent, ..named(pid, tid) }));
            }
            RawEvent::Exec { pid, .. } => {
                sink.push(Event::Process(ProcessInfo { executed: true, ..named(pid, pid) }));
            }
            RawEvent::Ended { ts, tid, how, .. } => {
                self.attached.remove(&tid);
                let (status, signal) = match how {
                    ThreadEnd::Exit(status) => (Some(status), None),
                    ThreadEnd::Signal(signal) => (None, Some(signal_name(signal))),
                };
                let signal = signal.as_deref().map(str::as_bytes);
                sink.push(Event::Exit(Exit { source, line, tid, ts: self.clock.epoch(ts), status, signal }));
            }
        }
    }

    /// Tells the end; `lost`: calls that could not be read.
    pub fn finish(self, lost: u64, sink: &mut dyn Sink) {
        let (from, to) = (self.began, self.clock.epoch(crate::clock::monotonic_ns()));
        sink.push(Event::Span(RecordedSpan { from, to, calls: Coverage::Full }));
        let produced = self.calls + lost;
        sink.push(Event::Loss(Loss { table: "syscalls".into(), from, to, lost, produced, refused: 0 }));
        sink.push(Event::Source(self.info));
    }
}

/// A thread with the name that it has now.
fn named(pid: u32, tid: u32) -> ProcessInfo {
    let comm = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).ok();
    ProcessInfo {
        pid,
        tid: Some(tid),
        comm: comm.map(|comm| comm.trim_end().to_string()),
        ..ProcessInfo::default()
    }
}
