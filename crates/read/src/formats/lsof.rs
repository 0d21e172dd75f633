//! lsof: what processes have open, from its table (4.7x to 4.9x, any columns, with or without the header) or from
//! its `-F` fields. A row is an [`Event::Fd`]; a process, and each thread of `-K`, an [`Event::Process`] once.
//!
//! ```text
//! COMMAND   PID USER   FD   TYPE    DEVICE SIZE/OFF      NODE NAME
//! java    14985 root   23w   REG    253,16 78445591 201326657 /data/app/logs/all.log
//! java    14985 root   42u  IPv4 426991408      0t0       TCP *:8715 (LISTEN)
//! ```
//!
//! A row that says only that lsof was not allowed to look (`/proc/1/fd (opendir: Permission denied)`) is an entry
//! of unknown kind.

mod fields;
mod row;
mod table;
#[cfg(test)]
mod tests;

use crate::formats::fd_text::bounded;
use crate::formats::strace_count::tool_note;
use crate::formats::{Format, SniffInput};
use crate::source::{MAX_QUOTED, Source};
use fields::{Complete, Fields};
use std::collections::HashSet;
use std::io;
use table::{Line, Table};
use whyslow_model::event::Tid;
use whyslow_model::{CaptureKind, Event, FdEntry, ProcessInfo, Sink};

/// The table.
pub(crate) static LSOF: Format = Format {
    kind: CaptureKind::Lsof,
    name: "lsof",
    made_by: "lsof -nP -p PID",
    sniff: sniff_table,
    read: read_table,
};

/// The fields.
pub(crate) static LSOF_FIELDS: Format = Format {
    kind: CaptureKind::Lsof,
    name: "lsof -F",
    made_by: "lsof -nP -F -p PID",
    sniff: sniff_fields,
    read: read_fields,
};

/// Processes and threads remembered as told already. A host has fewer; past this, one may be told again.
const MAX_PROCESSES: usize = 1 << 18;

/// Lines looked at to recognise the format.
const SNIFF_LINES: usize = 1000;

/// Half the lines of a table's sample must be its header, its rows and lsof's messages: prose that quotes a row
/// is none.
fn sniff_table(sample: &SniffInput<'_>) -> bool {
    let mut table = Table::default();
    let (mut own, mut rows, mut other) = (0, 0, 0);
    for line in sample.lines(SNIFF_LINES).filter(|line| !line.trim_ascii().is_empty()) {
        match table.line(line) {
            Line::Header | Line::Row(_) => rows += 1,
            _ if is_message(line) => own += 1,
            _ => other += 1,
        }
    }
    rows > 0 && rows + own >= other
}

/// Fields begin with a process, and a file follows within the few fields that a process can have.
fn sniff_fields(sample: &SniffInput<'_>) -> bool {
    let lines = sample.lines(SNIFF_LINES).filter(|line| !is_message(line));
    let mut fields = lines.flat_map(|line| line.split(|byte| *byte == 0)).filter(|field| !field.is_empty());
    let process = |field: &[u8]| {
        field.strip_prefix(b"p").is_some_and(|value| crate::formats::fd_text::pid(value).is_some())
    };
    if !fields.next().is_some_and(process) {
        return false;
    }
    let mut named = false;
    for field in fields {
        match field.split_first() {
            Some((b'g' | b'R' | b'u' | b'K' | b'M' | b'Z' | b'z', _)) => {}
            Some((b'c' | b'L', _)) => named = true,
            Some((b'f', cell)) => return row::FdCell::parse(cell).is_some(),
            // lsof before 4.86 leaves the descriptor out where it was not asked for.
            Some((b'n', name)) => return named && !name.is_empty(),
            _ => return false,
        }
    }
    false
}

/// `lsof: WARNING: …`, and the line that goes with it.
fn is_message(line: &[u8]) -> bool {
    line.starts_with(b"lsof: ") || line.trim_ascii() == b"Output information may be incomplete."
}

fn read_table(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    let mut table = Table::default();
    let mut told = Told::default();
    loop {
        let (number, id) = (source.line_number() + 1, source.info.id);
        let Some(line) = source.next_line()? else { return Ok(()) };
        if is_message(line) {
            let line = bounded(line);
            told.message(source, sink, line);
            continue;
        }
        let complete = match table.line(line) {
            Line::Header => {
                source.info.events += 1;
                continue;
            }
            Line::Row(row) => row.entry(id, number).map(|entry| Complete {
                entry,
                task: row::readable(row.task),
                parent: row.parent,
            }),
            Line::Damaged => None,
            // `lsof -r` draws such a line between its rounds.
            Line::Other if line.starts_with(b"=======") => {
                source.info.events += 1;
                continue;
            }
            Line::Other => {
                source.info.foreign += !line.trim_ascii().is_empty() as u64;
                continue;
            }
        };
        match complete {
            Some(file) => {
                source.info.events += 1;
                told.file(sink, file);
            }
            None => {
                let line = line.to_vec();
                source.reject(sink, &line, "a row of lsof's table");
            }
        }
    }
}

fn read_fields(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    let mut fields = Fields::default();
    let mut told = Told::default();
    loop {
        let (number, id) = (source.line_number() + 1, source.info.id);
        let Some(line) = source.next_line()? else { break };
        if is_message(line) {
            let line = bounded(line);
            told.message(source, sink, line);
        } else if line.trim_ascii().is_empty() {
            continue;
        } else if let Some(complete) = fields.line(line, number, id) {
            source.info.events += 1;
            complete.into_iter().for_each(|file| told.file(sink, file));
        } else {
            let line = line.to_vec();
            source.reject(sink, &line, "a field of lsof -F");
        }
    }
    fields.finish(source.info.id).into_iter().for_each(|file| told.file(sink, file));
    Ok(())
}

/// What the sink was told already.
#[derive(Default)]
struct Told {
    processes: HashSet<(Tid, Option<Tid>)>,
    last: Option<(Tid, Option<Tid>)>,
    messages: usize,
}

impl Told {
    fn message(&mut self, source: &mut Source, sink: &mut dyn Sink, text: String) {
        source.info.events += 1;
        if self.messages < MAX_QUOTED {
            self.messages += 1;
            sink.push(Event::Note(tool_note(&source.info, text)));
        }
    }

    fn file(&mut self, sink: &mut dyn Sink, file: Complete) {
        let Complete { entry, task, parent } = file;
        if let Some(pid) = entry.pid {
            self.process(sink, &entry, (pid, None), entry.comm.clone(), parent);
            if entry.tid.is_some() {
                self.process(sink, &entry, (pid, entry.tid), task.or_else(|| entry.comm.clone()), parent);
            }
        }
        sink.push(Event::Fd(Box::new(entry)));
    }

    fn process(
        &mut self,
        sink: &mut dyn Sink,
        entry: &FdEntry,
        key: (Tid, Option<Tid>),
        comm: Option<String>,
        parent: Option<Tid>,
    ) {
        if self.last == Some(key) || self.processes.contains(&key) {
            return;
        }
        self.last = Some(key);
        if self.processes.len() < MAX_PROCESSES {
            self.processes.insert(key);
        }
        sink.push(Event::Process(ProcessInfo {
            pid: key.0,
            tid: key.1,
            comm,
            user: entry.user.clone(),
            parent,
            ..ProcessInfo::default()
        }));
    }
}
