//! A set of inputs as one stream: opened, decompressed, sniffed, snapshots first, traces merged by time.

use crate::error::InputError;
use crate::folder;
use crate::formats::strace::{Dialect, Lane, Look, merge, read_shared};
use crate::formats::{FORMATS, Format, SniffInput};
use crate::looks::Looks;
use crate::open::{self, Hold, Meter, Opened, Progress};
use crate::source::{Source, Trouble, conclude, read_retrying};
use crate::starts::{self, Head, Named};
use std::io;
use std::path::{Path, PathBuf};
use whyslow_model::event::Tid;
use whyslow_model::{
    CaptureKind, CaptureNote, ClockKind, Event, NoteKind, Sink, SourceId, SourceInfo, visible,
};

/// Something to read.
#[derive(Clone, Debug)]
pub enum Input {
    /// A file, perhaps compressed (gzip, zstd), or a directory: then all files in it and below it, in the order of their
    /// names; what is no capture there is counted in one note.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// Bytes in memory, under a name.
    Bytes {
        /// Stands for the file's name.
        name: String,
        /// What would be in the file.
        data: Vec<u8>,
    },
}

/// How to read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Threads that work on a single trace, the caller's among them. The events are the same for any number.
    pub threads: usize,
}

impl Default for ReadOptions {
    /// Two threads, where the machine has them: parsing and the sink's work then run side by side.
    fn default() -> Self {
        ReadOptions { threads: std::thread::available_parallelism().map_or(1, |cores| cores.get().min(2)) }
    }
}

/// What was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadOutcome {
    /// Inputs that were used.
    pub used: usize,
    /// Inputs that were passed over, each with a note.
    pub skipped: usize,
}

/// First bytes that a format may look at.
const HEAD: usize = 64 << 10;
/// More files than this are not kept open at once: a process may open 1,024 by default.
const MOST_OPEN: usize = 256;

/// Reads all inputs into `sink`: snapshots first (lsof, `/proc`), then tables of counts, then traces; traces with the
/// same kind of clock are merged by time. An input that cannot be used is a note, and the rest is read.
///
/// # Errors
/// [`InputError`] if none of the inputs could be used.
pub fn read(
    inputs: &[Input],
    options: &ReadOptions,
    progress: &dyn Progress,
    sink: &mut (dyn Sink + Send),
) -> Result<ReadOutcome, InputError> {
    let mut reading = Reading {
        options: *options,
        used: 0,
        skipped: Vec::new(),
        looks: Looks::default(),
        named: Named::default(),
        files: Vec::new(),
    };
    let entries = reading.expand(inputs, sink);
    let hold = if entries.len() > MOST_OPEN { Hold::Closed } else { Hold::Open };
    let meter = Meter::new(progress, total_size(&entries));
    let mut plans = Vec::with_capacity(entries.len());
    let mut unknown = Unknown::default();
    for entry in entries {
        let below = entry.below;
        match plan(entry, &meter) {
            Ok(plan) => plans.push(plan),
            Err((name, ..)) if below => unknown.add(name),
            Err((name, id, reason)) => reading.skip(name, id, reason, sink),
        }
    }
    reading.skip_unknown(unknown, sink);
    let (traces, mut others): (Vec<_>, Vec<_>) = plans.into_iter().partition(|plan| plan.dialect().is_some());
    others.sort_by_key(|plan| matches!(plan.info.kind, CaptureKind::StraceCount | CaptureKind::LtraceCount));
    for plan in others {
        reading.files.push((plan.info.id, file_name(&plan.info.name).to_string()));
        reading.snapshot(plan, &meter, hold, sink);
    }
    std::mem::take(&mut reading.looks).finish(sink);
    reading.traces(traces, &meter, hold, sink);
    meter.end();
    reading.outcome()
}

/// One input of which nothing is known yet.
struct Entry<'i> {
    id: SourceId,
    name: String,
    origin: Origin<'i>,
    /// It stands in a folder below a directory: nobody named it.
    below: bool,
}

#[derive(Clone)]
enum Origin<'i> {
    Path(PathBuf),
    Stdin,
    Bytes(&'i [u8]),
}

impl<'i> Origin<'i> {
    fn open<'m>(&self, hold: Hold, meter: &'m Meter<'m>) -> io::Result<Opened<'m>>
    where
        'i: 'm,
    {
        match self {
            Origin::Path(path) => open::file(path, hold, meter),
            Origin::Stdin => open::stream(io::stdin(), meter),
            Origin::Bytes(data) => open::stream(*data, meter),
        }
    }

    /// True where it can be read from its start a second time.
    fn is_lasting(&self) -> bool {
        match self {
            Origin::Path(path) => is_regular(path),
            Origin::Stdin => false,
            Origin::Bytes(_) => true,
        }
    }
}

fn is_regular(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| data.is_file())
}

/// A profile by more than lines that end in numbers, or by its file's name.
fn is_sure_profile(sample: &SniffInput<'_>) -> bool {
    sample.file_name.ends_with(".folded")
        || whyslow_profile::formats::recognise(sample.head)
            .is_some_and(|format| format.name != "folded stacks")
}

/// One input of a known kind.
struct Plan<'m> {
    info: SourceInfo,
    format: &'static Format,
    origin: Origin<'m>,
    /// Of a stream that cannot be opened again: what was taken from it, and the rest.
    held: Option<(Vec<u8>, Opened<'m>)>,
    /// The first timestamp of a trace.
    first: Option<(ClockKind, u64)>,
    /// The thread that the file's name tells (`-ff`), else 0.
    tid: Tid,
    /// The threads that lines of a trace begin with, the first ones.
    tids: Vec<Tid>,
    /// The first timestamp is of whole seconds.
    whole_seconds: bool,
}

impl<'m> Plan<'m> {
    fn dialect(&self) -> Option<Dialect> {
        match self.info.kind {
            CaptureKind::Strace => Some(Dialect::Strace),
            CaptureKind::Ltrace => Some(Dialect::Ltrace),
            _ => None,
        }
    }

    fn clock(&self) -> ClockKind {
        self.first.map_or(ClockKind::None, |(clock, _)| clock)
    }

    fn open(self, hold: Hold, meter: &'m Meter<'m>) -> io::Result<(Source<'m>, Trouble)> {
        let (head, opened) = match self.held {
            Some(held) => held,
            None => (Vec::new(), self.origin.open(hold, meter)?),
        };
        Ok((Source::new(self.info, head, opened.reader), opened.trouble))
    }
}

type Skip = (String, SourceId, String);

/// Files of a directory's folders that are no captures: a dump of a machine has hundreds.
#[derive(Default)]
struct Unknown {
    count: usize,
    first: Vec<String>,
}

impl Unknown {
    fn add(&mut self, name: String) {
        self.count += 1;
        if self.first.len() < 3 {
            self.first.push(name);
        }
    }
}

/// Looks at the head of an input and decides how to read it.
fn plan<'m>(entry: Entry<'m>, meter: &'m Meter<'m>) -> Result<Plan<'m>, Skip> {
    let Entry { id, name, origin, below } = entry;
    let lasting = origin.is_lasting();
    // What is opened a second time is metered then.
    let (head, opened) = match look_ahead(&origin, lasting, meter) {
        Ok(looked) => looked,
        Err(error) => return Err((name, id, error.to_string())),
    };
    let file_name = file_name(&name);
    let path = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    let sample = SniffInput { file_name, path, head: &head };
    let Some(format) = FORMATS
        .iter()
        // Of an empty file nothing but its name says what it should be.
        .filter(|format| !head.is_empty() || format.kind == CaptureKind::Profile)
        // Settings that end in a number look like folded stacks.
        .filter(|format| !below || format.kind != CaptureKind::Profile || is_sure_profile(&sample))
        .find(|format| (format.sniff)(&sample))
    else {
        if head.is_empty() {
            return Err((name, id, "the file is empty".to_string()));
        }
        let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        return Err((name, id, format!("not a capture of a known kind; accepted are {}", known.join(", "))));
    };
    let (mut first, mut tid, mut tids, mut whole_seconds) = (None, 0, Vec::new(), false);
    for (kind, dialect) in [(CaptureKind::Strace, Dialect::Strace), (CaptureKind::Ltrace, Dialect::Ltrace)] {
        if format.kind == kind {
            let look = Look::at(&sample, dialect);
            whole_seconds = look.first.is_some() && !look.sub_second;
            (first, tids) = (look.first, look.tids);
            tid = tid_of(file_name);
        }
    }
    let held = (!lasting).then_some((head, opened));
    Ok(Plan {
        info: SourceInfo::new(id, name, format.kind),
        format,
        origin,
        held,
        first,
        tid,
        tids,
        whole_seconds,
    })
}

/// The first bytes of an input, and the rest of it.
fn look_ahead<'m>(
    origin: &Origin<'m>,
    lasting: bool,
    meter: &'m Meter<'m>,
) -> io::Result<(Vec<u8>, Opened<'m>)> {
    let mut opened =
        if lasting { origin.open(Hold::Open, Meter::none())? } else { origin.open(Hold::Open, meter)? };
    let head = read_head(&mut opened.reader)?;
    Ok((head, opened))
}

/// The bytes that a format may look at.
pub(crate) fn read_head(reader: &mut dyn io::Read) -> io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD];
    let mut filled = 0;
    while filled < HEAD {
        match read_retrying(reader, &mut head[filled..])? {
            0 => break,
            got => filled += got,
        }
    }
    head.truncate(filled);
    Ok(head)
}

/// The name of an input's file, without the ending of a compression.
fn file_name(name: &str) -> &str {
    let file = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name);
    file.strip_suffix(".gz").or_else(|| file.strip_suffix(".zst")).unwrap_or(file)
}

/// The thread in the name of a file of `strace -ff -o NAME`: `NAME.1234`.
fn tid_of(file_name: &str) -> Tid {
    let tid = file_name.rsplit_once('.').and_then(|(_, digits)| digits.parse().ok());
    // The kernel's largest is 2^22; a longer number is a date.
    tid.filter(|tid| *tid <= 1 << 22).unwrap_or(0)
}

/// Bytes of all inputs as stored; unknown where one is a stream.
fn total_size(entries: &[Entry<'_>]) -> Option<u64> {
    entries
        .iter()
        .map(|entry| match &entry.origin {
            Origin::Path(path) => {
                std::fs::metadata(path).ok().filter(|data| data.is_file()).map(|data| data.len())
            }
            Origin::Stdin => None,
            Origin::Bytes(data) => Some(data.len() as u64),
        })
        .sum()
}

/// The state of one [`read`].
struct Reading {
    options: ReadOptions,
    used: usize,
    skipped: Vec<(PathBuf, String)>,
    /// Dumps of the kernel's counters, of which two make rates.
    looks: Looks,
    /// The processes that snapshots name: they tell whose traces are.
    named: Named,
    /// The names of the files that are no traces.
    files: Vec<(SourceId, String)>,
}

impl Reading {
    /// Numbers the inputs, directories replaced by their files.
    fn expand<'i>(&mut self, inputs: &'i [Input], sink: &mut dyn Sink) -> Vec<Entry<'i>> {
        let mut found: Vec<(String, Origin<'i>, bool)> = Vec::new();
        for input in inputs {
            match input {
                Input::Stdin => found.push(("-".to_string(), Origin::Stdin, false)),
                Input::Bytes { name, data } => found.push((name.clone(), Origin::Bytes(data), false)),
                Input::File(path) if path.is_dir() => match folder::files_in(path) {
                    Ok((files, passed_over)) => {
                        found.extend(files.into_iter().map(|file| {
                            let below = file.parent() != Some(path);
                            (name_of(&file), Origin::Path(file), below)
                        }));
                        if let Some(text) = passed_over {
                            let text = format!("{}: {text}", visible::path(path));
                            let (kind, source) = (NoteKind::Skipped, SourceId(0));
                            sink.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
                        }
                    }
                    Err(reason) => self.skip(name_of(path), SourceId(0), reason, sink),
                },
                Input::File(path) => found.push((name_of(path), Origin::Path(path.clone()), false)),
            }
        }
        let mut entries = Vec::with_capacity(found.len());
        for (i, (name, origin, below)) in found.into_iter().enumerate() {
            match u16::try_from(i) {
                Ok(id) => entries.push(Entry { id: SourceId(id), name, origin, below }),
                Err(_) => self.skip(name, SourceId(u16::MAX), format!("more than {} inputs", u16::MAX), sink),
            }
        }
        entries
    }

    fn skip(&mut self, name: String, id: SourceId, reason: String, sink: &mut dyn Sink) {
        let text = format!("{name}: {reason}; it is not used");
        sink.push(Event::Note(CaptureNote {
            kind: NoteKind::Skipped,
            source: id,
            line: None,
            text,
            tid: None,
        }));
        self.skipped.push((name.into(), reason));
    }

    fn skip_unknown(&mut self, unknown: Unknown, sink: &mut dyn Sink) {
        let Some(first) = unknown.first.first() else { return };
        let text = format!(
            "{} files in folders below are not captures of a known kind, such as {}; they are not used",
            unknown.count,
            unknown.first.join(", ")
        );
        let kind = NoteKind::Skipped;
        sink.push(Event::Note(CaptureNote { kind, source: SourceId(0), line: None, text, tid: None }));
        let reason = format!("one of {} files that are not captures of a known kind", unknown.count);
        self.skipped.push((first.into(), reason));
    }

    fn snapshot<'m>(&mut self, plan: Plan<'m>, meter: &'m Meter<'m>, hold: Hold, sink: &mut dyn Sink) {
        let (name, id, read) = (plan.info.name.clone(), plan.info.id, plan.format.read);
        match plan.open(hold, meter) {
            Ok((mut source, trouble)) => {
                source.looks = std::mem::take(&mut self.looks);
                let named = &mut self.named;
                let mut watched = |event: Event<'_>| {
                    named.see(&event);
                    sink.push(event);
                };
                if let Err(error) = read(&mut source, &mut watched) {
                    trouble.set(error.to_string());
                }
                self.looks = std::mem::take(&mut source.looks);
                self.used += 1;
                conclude(source.info, &trouble, sink);
            }
            Err(error) => self.skip(name, id, error.to_string(), sink),
        }
    }

    /// Traces: those of one clock together, the others one after another.
    fn traces<'m>(
        &mut self,
        traces: Vec<Plan<'m>>,
        meter: &'m Meter<'m>,
        hold: Hold,
        sink: &mut (dyn Sink + Send),
    ) {
        let several = traces.len() > 1;
        let mut traces = traces;
        if several {
            self.tell_starts(&mut traces, sink);
        }
        let (epoch, rest): (Vec<_>, Vec<_>) =
            traces.into_iter().partition(|plan| plan.clock() == ClockKind::Epoch);
        let (day, rest): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|plan| plan.clock() == ClockKind::TimeOfDay);
        let mut alone = Vec::new();
        for group in [epoch, day] {
            match group.len() {
                0 => {}
                1 => alone.extend(group),
                _ => self.merged(group, meter, hold, sink),
            }
        }
        alone.extend(rest);
        for plan in alone {
            if several {
                let text = format!(
                    "{}: its clock is not that of the other traces; it is read by itself",
                    plan.info.name
                );
                let source = plan.info.id;
                sink.push(Event::Note(CaptureNote {
                    kind: NoteKind::Assumed,
                    source,
                    line: None,
                    text,
                    tid: None,
                }));
            }
            self.alone(plan, meter, hold, sink);
        }
    }

    /// Says of each trace whose it is.
    fn tell_starts(&self, traces: &mut [Plan<'_>], sink: &mut dyn Sink) {
        let heads = traces.iter().map(|plan| Head {
            source: plan.info.id,
            file_name: file_name(&plan.info.name).to_string(),
            folder: Path::new(&plan.info.name).parent().map_or(String::new(), |at| at.display().to_string()),
            tid: plan.tid,
            tids: plan.tids.clone(),
            clock: plan.clock(),
            whole_seconds: plan.whole_seconds,
        });
        let heads: Vec<Head> = heads.collect();
        let threads = starts::tell(&heads, &self.files, &self.named, sink);
        for (plan, tid) in traces.iter_mut().zip(threads) {
            plan.tid = tid;
        }
    }

    fn alone<'m>(&mut self, plan: Plan<'m>, meter: &'m Meter<'m>, hold: Hold, sink: &mut (dyn Sink + Send)) {
        let (name, id, tid, threads) = (plan.info.name.clone(), plan.info.id, plan.tid, self.options.threads);
        let dialect = plan.dialect().unwrap_or(Dialect::Strace);
        match plan.open(hold, meter) {
            Ok((mut source, trouble)) => {
                if let Err(error) = read_shared(&mut source, dialect, tid, threads, sink) {
                    trouble.set(error.to_string());
                }
                self.used += 1;
                conclude(source.info, &trouble, sink);
            }
            Err(error) => self.skip(name, id, error.to_string(), sink),
        }
    }

    fn merged<'m>(
        &mut self,
        group: Vec<Plan<'m>>,
        meter: &'m Meter<'m>,
        hold: Hold,
        sink: &mut (dyn Sink + Send),
    ) {
        const DAY: u64 = 86_400_000_000_000;
        let count = group.len();
        let latest = group.iter().filter_map(|plan| plan.first).map(|(_, time)| time).max().unwrap_or(0);
        let mut lanes = Vec::with_capacity(count);
        for plan in group {
            let (name, id, tid) = (plan.info.name.clone(), plan.info.id, plan.tid);
            let dialect = plan.dialect().unwrap_or(Dialect::Strace);
            // Begun after the midnight that others begun before.
            let next_day = plan
                .first
                .is_some_and(|(clock, time)| clock == ClockKind::TimeOfDay && time + DAY / 2 < latest);
            match plan.open(hold, meter) {
                Ok((source, trouble)) => {
                    lanes.push(Lane::new(
                        source,
                        trouble,
                        dialect,
                        tid,
                        if next_day { DAY } else { 0 },
                        count,
                    ));
                }
                Err(error) => self.skip(name, id, error.to_string(), sink),
            }
        }
        self.used += lanes.len();
        merge(lanes, sink);
    }

    fn outcome(mut self) -> Result<ReadOutcome, InputError> {
        if self.used > 0 {
            return Ok(ReadOutcome { used: self.used, skipped: self.skipped.len() });
        }
        const SHOWN: usize = 5;
        let more = self.skipped.len().saturating_sub(SHOWN);
        self.skipped.truncate(SHOWN);
        let reasons = self.skipped.iter().map(|(path, reason)| format!("{}: {reason}", visible::path(path)));
        let mut reasons: Vec<String> = reasons.collect();
        if more > 0 {
            reasons.push(format!("and {more} more"));
        }
        Err(InputError::Nothing { reasons: reasons.join("; ") })
    }
}

fn name_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
