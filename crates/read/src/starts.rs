//! Whose several traces are: what their names, their first lines and the snapshots beside them tell of processes, threads and clocks.

use std::collections::{BTreeMap, BTreeSet};
use whyslow_model::event::Tid;
use whyslow_model::{CaptureNote, ClockKind, Entity, Event, NoteKind, Sink, SourceId, TraceStart, Trait};

/// Processes that snapshots name, at most.
const MOST: usize = 65_536;
/// The kernel numbers processes up to 2^22 (PID_MAX_LIMIT in include/linux/threads.h): what is above stands for an unknown number.
const FIRST_UNKNOWN: Tid = (1 << 22) + 1;
/// Endings of names that say of which tool a file is, and not whose it is.
const OF_TOOLS: &[&str] =
    &["strace", "ltrace", "trace", "st", "txt", "log", "out", "lsof", "fd", "fds", "gz", "zst"];

/// What the first lines of a trace show.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) source: SourceId,
    /// Its name, without the folder and the endings of compression.
    pub(crate) file_name: String,
    /// The folder it stands in.
    pub(crate) folder: String,
    /// The thread that the name tells (`-ff`), else 0.
    pub(crate) tid: Tid,
    /// The threads that lines begin with.
    pub(crate) tids: Vec<Tid>,
    pub(crate) clock: ClockKind,
    pub(crate) whole_seconds: bool,
}

impl Head {
    /// What stands before the thread's number in the names of the files of one tracer.
    fn family(&self) -> Option<(&str, &str)> {
        let (stem, _) = self.file_name.rsplit_once('.').filter(|_| self.tid != 0)?;
        Some((&self.folder, stem))
    }

    fn shows_no_thread(&self) -> bool {
        self.tids.is_empty() && self.tid == 0
    }
}

/// The processes that snapshots name, and in which inputs.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// Names of processes.
    comms: BTreeMap<Tid, String>,
    /// Processes by input.
    by_source: BTreeMap<SourceId, BTreeSet<Tid>>,
}

impl Named {
    /// Takes note of whom an event is about.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        match event {
            Event::Fd(entry) => {
                if let Some(pid) = entry.pid {
                    self.add(entry.source, pid, entry.comm.as_deref());
                }
            }
            Event::Figures(table) => {
                for row in &table.rows {
                    if let Entity::Process(pid) = row.of {
                        let name = row.told(Trait::Name).map(str::to_string);
                        self.add(table.source, pid, name.as_deref());
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, source: SourceId, pid: Tid, comm: Option<&str>) {
        if self.comms.len() >= MOST && !self.comms.contains_key(&pid) {
            return;
        }
        let known = self.comms.entry(pid).or_default();
        if let Some(comm) = comm.filter(|_| known.is_empty()) {
            *known = comm.to_string();
        }
        self.by_source.entry(source).or_default().insert(pid);
    }

    fn has(&self, pid: Tid) -> bool {
        self.comms.contains_key(&pid)
    }
}

/// The words of a name, without those that say of which tool it is: `front` and `4711` of `strace.front.4711.log`.
fn words(file_name: &str) -> Vec<&str> {
    let all = file_name.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
    all.filter(|word| !word.is_empty() && !OF_TOOLS.contains(word)).collect()
}

/// Says of each trace whose it is. Gives the thread of lines that show none, in the order of `heads`.
pub(crate) fn tell(
    heads: &[Head],
    files: &[(SourceId, String)],
    named: &Named,
    sink: &mut dyn Sink,
) -> Vec<Tid> {
    let mut families: BTreeMap<(&str, &str), (SourceId, Vec<Tid>)> = BTreeMap::new();
    for head in heads {
        if let Some(key) = head.family() {
            families.entry(key).or_insert((head.source, Vec::new())).1.push(head.tid);
        }
    }
    let mut unknown = FIRST_UNKNOWN;
    let mut threads = Vec::with_capacity(heads.len());
    for head in heads {
        let family = head.family().and_then(|key| families.get(&key));
        let tids = family.map_or(&head.tids, |(_, tids)| tids);
        let mut known = tids.iter().copied().filter(|tid| named.has(*tid));
        let only = known.next().filter(|_| known.next().is_none());
        let told = only.or_else(|| if tids.is_empty() { by_name(head, files, named) } else { None });
        let is_unknown = told.is_none() && head.shows_no_thread();
        let pid = if is_unknown { Some(unknown) } else { told };
        let name = words(&head.file_name).first().map(|word| word.to_string());
        if is_unknown {
            let text = format!(
                "{}: nothing tells the number of its process, which is called {unknown} here; `lsof -nP -p PID` beside it, under the same name, or strace -f tells it",
                head.file_name
            );
            let (kind, source) = (NoteKind::Assumed, head.source);
            sink.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
            unknown += 1;
        }
        threads.push(match head.tid {
            0 => pid.unwrap_or(0),
            tid => tid,
        });
        sink.push(Event::Trace(Box::new(TraceStart {
            source: head.source,
            family: family.map_or(head.source, |(first, _)| *first),
            pid,
            name,
            clock: head.clock,
            whole_seconds: head.whole_seconds,
        })));
    }
    threads
}

/// The process of a trace whose lines show no thread: a number in its name, the one process of the snapshot of the same name, or the
/// one process that is called so.
fn by_name(head: &Head, files: &[(SourceId, String)], named: &Named) -> Option<Tid> {
    let own = words(&head.file_name);
    let numbers = head.file_name.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
    let mut numbers = numbers.filter(|pid| named.has(*pid));
    if let Some(pid) = numbers.next() {
        return Some(pid).filter(|_| numbers.next().is_none());
    }
    let first = own.first()?;
    let beside = files.iter().filter(|(_, name)| words(name).first() == Some(first));
    let pids: BTreeSet<Tid> =
        beside.filter_map(|(source, _)| named.by_source.get(source)).flatten().copied().collect();
    let called = named.comms.iter().filter(|(_, comm)| comm == first).map(|(pid, _)| *pid);
    let called: BTreeSet<Tid> = called.collect();
    let one = |pids: &BTreeSet<Tid>| pids.first().copied().filter(|_| pids.len() == 1);
    one(&pids).or_else(|| one(&called))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::FdEntry;

    fn head(source: u16, file_name: &str, tid: Tid, tids: &[Tid]) -> Head {
        Head {
            source: SourceId(source),
            file_name: file_name.to_string(),
            folder: "/x".to_string(),
            tid,
            tids: tids.to_vec(),
            clock: ClockKind::Epoch,
            whole_seconds: false,
        }
    }

    fn named(of: &[(u16, Tid, &str)]) -> Named {
        let mut named = Named::default();
        for (source, pid, comm) in of {
            let (source, comm) = (SourceId(*source), Some(comm.to_string()));
            let entry = FdEntry { source, pid: Some(*pid), comm, ..FdEntry::default() };
            named.see(&Event::Fd(Box::new(entry)));
        }
        named
    }

    fn starts(heads: &[Head], files: &[(SourceId, String)], named: &Named) -> (Vec<Tid>, Vec<TraceStart>) {
        let mut starts = Vec::new();
        let mut sink = |event: Event<'_>| {
            if let Event::Trace(start) = event {
                starts.push(*start);
            }
        };
        let threads = tell(heads, files, named, &mut sink);
        (threads, starts)
    }

    #[test]
    fn a_trace_without_threads_is_of_the_process_in_its_name_or_in_the_snapshot_beside_it() {
        let heads =
            [head(0, "front.strace", 0, &[]), head(1, "strace-812.log", 0, &[]), head(2, "db.st", 0, &[])];
        let files = [(SourceId(7), "front.lsof".to_string()), (SourceId(8), "all.lsof".to_string())];
        let named = named(&[(7, 700, "python3"), (8, 700, "python3"), (8, 812, "python3"), (8, 900, "db")]);
        let (threads, starts) = starts(&heads, &files, &named);
        assert_eq!(threads, [700, 812, 900]);
        assert_eq!(
            starts.iter().map(|start| start.pid).collect::<Vec<_>>(),
            [Some(700), Some(812), Some(900)]
        );
    }

    #[test]
    fn who_cannot_be_told_gets_a_number_that_no_process_has() {
        let heads = [head(0, "a.st", 0, &[]), head(1, "b.st", 0, &[]), head(2, "c.st", 0, &[41])];
        let (threads, starts) = starts(&heads, &[], &Named::default());
        assert_eq!(threads, [FIRST_UNKNOWN, FIRST_UNKNOWN + 1, 0]);
        assert_eq!((starts[0].name.as_deref(), starts[2].pid), (Some("a"), None));
    }

    #[test]
    fn the_files_of_one_tracer_are_one_family() {
        let heads = [head(0, "app.100", 100, &[]), head(1, "app.101", 101, &[]), head(2, "db.7", 7, &[])];
        let (threads, starts) = starts(&heads, &[], &named(&[(9, 100, "app")]));
        assert_eq!(threads, [100, 101, 7]);
        let told: Vec<_> = starts.iter().map(|start| (start.family.0, start.pid)).collect();
        assert_eq!(told, [(0, Some(100)), (0, Some(100)), (2, None)]);
    }
}
