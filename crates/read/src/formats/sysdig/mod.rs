//! Text of sysdig: a line an event, an entry (`>`) and an exit (`<`) a call, which become one call as strace would
//! write it.
//!
//! ```text
//! 34378 12:02:36.269753803 2 echo (7896) > read fd=3(<f>/etc/hosts) size=512
//! 34379 12:02:36.269754164 2 echo (7896) < read res=174 data=127.0.0.1.localhost.
//! ```
//!
//! Lines of `-p '%evt.type %evt.args'` bear neither thread nor direction: there the second of two of a name is the exit.
//! `line` takes a line apart, `args` writes strace's arguments. Data is left out: sysdig shows dots for what is not
//! printable, so that nothing could be decoded from it.

mod args;
mod line;

use super::{Format, SniffInput};
use crate::source::Source;
use args::{Values, Written};
use hashbrown::HashMap;
use line::{Entry, Way};
use std::io;
use whyslow_model::event::{CallFlags, Tid};
use whyslow_model::{
    Call, CaptureKind, CaptureNote, Event, Exit, NoteKind, ProcessInfo, Sink, Syscall, Timestamp,
};

/// The format.
pub(crate) static SYSDIG: Format = Format {
    kind: CaptureKind::Sysdig,
    name: "sysdig",
    made_by: "sysdig -r FILE.scap > FILE.txt",
    sniff,
    read,
};

/// Lines looked at to recognise the format.
const SNIFF_LINES: usize = 200;

fn sniff(sample: &SniffInput<'_>) -> bool {
    let (mut filled, mut events, mut sure) = (0, 0, 0);
    // The last line may be cut.
    for line in sample.lines(SNIFF_LINES) {
        let text = String::from_utf8_lossy(line);
        if text.trim().is_empty() {
            continue;
        }
        filled += 1;
        if let Some(entry) = Entry::parse(&line::of_json(&text)) {
            events += 1;
            sure += usize::from(entry.way != Way::Untold || Values::of(entry.params).tell_sysdig());
        }
    }
    sure > 0 && events * 3 >= filled * 2
}

/// A call that was entered.
struct Open {
    name: Box<str>,
    params: Box<str>,
    ts: Timestamp,
    line: u64,
    raw: Box<[u8]>,
    pid: Option<Tid>,
    cpu: Option<u16>,
}

/// Threads with an open call; more than any machine's.
const MOST_OPEN: usize = 1 << 16;
/// Bytes of a line that are kept until its exit.
const MOST_LINE: usize = 8 << 10;

#[derive(Default)]
struct Reading {
    open: HashMap<Tid, Open>,
    /// Names told of threads.
    named: HashMap<Tid, Box<str>>,
    /// Descriptors that came from accept: sysdig shows the client's end first, strace its own.
    accepted: hashbrown::HashSet<(Tid, i64)>,
    clock: line::Clock,
    drops: u64,
}

fn read(source: &mut Source<'_>, sink: &mut dyn Sink) -> io::Result<()> {
    let mut reading = Reading::default();
    let mut bytes = Vec::new();
    while let Some(next) = source.next_line()? {
        bytes.clear();
        bytes.extend_from_slice(next.get(..MOST_LINE).unwrap_or(next));
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = line::of_json(&text);
        match Entry::parse(&text) {
            Some(entry) => {
                source.info.events += 1;
                reading.take(&entry, &bytes, source, sink);
            }
            None if line::begins_as_event(&text) => {
                source.reject(sink, &bytes, "an event of sysdig: number, time, CPU, thread, direction, name");
            }
            None => source.info.foreign += 1,
        }
    }
    reading.finish(source, sink);
    Ok(())
}

impl Reading {
    fn take(&mut self, entry: &Entry<'_>, raw: &[u8], source: &mut Source<'_>, sink: &mut dyn Sink) {
        let ts = self.clock.at(entry);
        if let Some(clock) = self.clock.kind() {
            source.info.clock = clock;
        }
        self.name(entry, sink);
        let tid = entry.tid.unwrap_or(0);
        match entry.name {
            "procexit" => {
                self.abandon(tid, source, sink);
                let status = Values::of(entry.params).number("status").and_then(|n| i32::try_from(n).ok());
                let (id, line) = (source.info.id, source.info.lines);
                return sink.push(Event::Exit(Exit { source: id, line, tid, ts, status, signal: None }));
            }
            "drop" => {
                self.drops += 1;
                return;
            }
            name if line::NO_CALLS.contains(&name) => return,
            _ => {}
        }
        let waits = self.open.get(&tid).is_some_and(|open| *open.name == *entry.name);
        let is_exit = match entry.way {
            Way::In => false,
            Way::Out => true,
            Way::Untold => {
                let values = Values::of(entry.params);
                waits || values.has("res") || (args::gives_descriptor(entry.name) && values.has("fd"))
            }
        };
        if !is_exit {
            self.abandon(tid, source, sink);
            if self.open.len() >= MOST_OPEN {
                return;
            }
            self.open.insert(
                tid,
                Open {
                    name: entry.name.into(),
                    params: entry.params.into(),
                    ts,
                    line: source.info.lines,
                    raw: raw.into(),
                    pid: entry.pid,
                    cpu: entry.cpu,
                },
            );
            return;
        }
        let open = if waits { self.open.remove(&tid) } else { None };
        if open.is_none() {
            self.abandon(tid, source, sink);
        }
        let exit = Values::of(entry.params);
        // The first thing that a child does is to return from its parent's call: strace does not show it.
        let is_child = open.is_none() && exit.number("res") == Some(0) && exit.has("ptid");
        self.tell_process(&exit, is_child, entry, sink);
        if is_child {
            return;
        }
        if open.is_none() {
            source.info.starts_not_seen += 1;
        }
        self.call(open, Some((entry, ts, raw, &exit)), tid, source, sink);
    }

    /// Gives one call: entry, exit or both.
    fn call(
        &mut self,
        open: Option<Open>,
        exit: Option<(&Entry<'_>, Timestamp, &[u8], &Values<'_>)>,
        tid: Tid,
        source: &Source<'_>,
        sink: &mut dyn Sink,
    ) {
        let nothing = Values::default();
        let entered = open.as_ref().map_or(Values::default(), |open| Values::of(&open.params));
        let out = exit.map_or(&nothing, |(.., out)| out);
        let name = exit.map(|(entry, ..)| entry.name).or(open.as_ref().map(|open| &*open.name));
        let Some(name) = name else { return };
        let pid = open.as_ref().and_then(|open| open.pid).or(exit.and_then(|(entry, ..)| entry.pid));
        let owner = pid.unwrap_or(tid);
        let written = Written::of(name, &entered, out, &|fd| self.accepted.contains(&(owner, fd)));
        if matches!(name, "accept" | "accept4") && written.value >= Some(0) {
            self.accepted
                .extend(written.value.map(|fd| (owner, fd)).filter(|_| self.accepted.len() < MOST_OPEN));
        } else if name == "close"
            && let Some(fd) = entered.number("fd")
        {
            self.accepted.remove(&(owner, fd));
        }
        let begun = open.as_ref().map_or(Timestamp::UNKNOWN, |open| open.ts);
        let ended = exit.map_or(Timestamp::UNKNOWN, |(_, ts, ..)| ts);
        let line = open.as_ref().map_or(source.info.lines, |open| open.line);
        let end_line = if exit.is_some() { source.info.lines } else { line };
        let exit_raw = exit.map_or(&b""[..], |(_, _, raw, _)| raw);
        let (flags, raw, raw_end) = match (&open, exit.is_some()) {
            (Some(open), true) => (CallFlags::JOINED, &*open.raw, exit_raw),
            (Some(open), false) => (CallFlags::END_NOT_SEEN, &*open.raw, &b""[..]),
            (None, _) => (CallFlags::START_NOT_SEEN, exit_raw, &b""[..]),
        };
        let (ret, errno) = written.result();
        sink.push(Event::Call(&Call {
            source: source.info.id,
            line,
            end_line,
            tid,
            pid,
            cpu: open.as_ref().and_then(|open| open.cpu),
            ts: begun,
            dur: ended.since(begun),
            syscall: Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED),
            args: written.args.as_bytes(),
            ret,
            errno,
            ret_note: written.note.as_bytes(),
            flags,
            raw,
            raw_end,
            ..Call::new(name, "")
        }));
    }

    /// A call whose exit the capture does not have.
    fn abandon(&mut self, tid: Tid, source: &mut Source<'_>, sink: &mut dyn Sink) {
        if let Some(open) = self.open.remove(&tid) {
            source.info.ends_not_seen += 1;
            self.call(Some(open), None, tid, source, sink);
        }
    }

    /// Tells the name of a thread where it is new.
    fn name(&mut self, entry: &Entry<'_>, sink: &mut dyn Sink) {
        let Some(tid) = entry.tid.filter(|_| !entry.comm.is_empty() && entry.comm != "<NA>") else { return };
        let known = self.named.get(&tid);
        if known.is_some_and(|known| **known == *entry.comm)
            || (known.is_none() && self.named.len() >= MOST_OPEN)
        {
            return;
        }
        self.named.insert(tid, entry.comm.into());
        sink.push(Event::Process(ProcessInfo {
            pid: entry.pid.unwrap_or(tid),
            tid: Some(tid),
            comm: Some(entry.comm.to_string()),
            ..ProcessInfo::default()
        }));
    }

    /// What clone and execve tell of a process.
    fn tell_process(&self, exit: &Values<'_>, is_child: bool, entry: &Entry<'_>, sink: &mut dyn Sink) {
        let started = is_child || entry.name == "execve";
        let task = |name: &str| exit.number(name).and_then(|number| Tid::try_from(number).ok());
        let Some(pid) = task("pid").filter(|_| started && exit.has("exe")) else { return };
        let text = |name: &str| exit.get(name).filter(|text| !text.is_empty()).map(str::to_string);
        sink.push(Event::Process(ProcessInfo {
            pid,
            tid: task("tid"),
            comm: text("comm"),
            parent: task("ptid"),
            cmdline: text("exe").map(|exe| args::command_line(&exe, exit.get("args").unwrap_or(""))),
            uid: exit.number("uid").and_then(|uid| u32::try_from(uid).ok()),
            ..ProcessInfo::default()
        }));
    }

    fn finish(mut self, source: &mut Source<'_>, sink: &mut dyn Sink) {
        let mut tids: Vec<Tid> = self.open.keys().copied().collect();
        tids.sort_unstable();
        for tid in tids {
            self.abandon(tid, source, sink);
        }
        if self.drops > 0 {
            let text = format!(
                "{}: sysdig says {} times that it dropped events: counts are too low; record less (`sysdig proc.pid=PID`)",
                source.info.name, self.drops
            );
            let (kind, id) = (NoteKind::Tracer, source.info.id);
            sink.push(Event::Note(CaptureNote { kind, source: id, line: None, text, tid: None }));
        }
    }
}

#[cfg(test)]
mod tests;
