//! Our own samples as a profile: what a recorder tells (stacks, samples, names of threads) becomes a [`Profile`].

use std::collections::HashMap;
use whyslow_model::profile::{
    Function, Label, LabelSetId, LabelValue, Location, LocationId, Mapping, MappingId, Profile,
    ProfileBuilder, SourceLine, StringId, TooLarge, ValueType,
};
use whyslow_model::{
    Event, Nanos, SampleKind, SampledStack, Sink, Stack, StackFrame, StackId, Stretch, Tid, Timestamp,
};

/// Stacks that are known by their number at once, and rows of a profile (a stack of a thread).
const MAX_ROWS: usize = 1 << 20;
/// Threads whose names are remembered.
const MAX_NAMES: usize = 1 << 16;

/// Stands for waits that are too short for a stack of their own.
const SHORT_WAITS: &str = "[short waits]";
/// Stands for the time that a thread could have run but had no CPU.
const WAITS_FOR_CPU: &str = "[waits for a CPU]";
/// Waits from which on the recorder keeps their stack (record/src/session.rs).
const LONG_WAIT_NS: u64 = 1_000_000;

/// A stack of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Row {
    pid: Tid,
    tid: Tid,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum What {
    Stack { kernel: Option<StackId>, user: Option<StackId> },
    ShortWaits,
    WaitsForCpu,
}

/// How often, and for how long in all, ns.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: i64,
    ns: i64,
}

/// Takes a recorder's events and makes a profile of one kind of samples.
pub struct Sampled {
    kind: SampleKind,
    builder: ProfileBuilder,
    modules: HashMap<StringId, MappingId>,
    locations: HashMap<(Option<MappingId>, u64, Vec<SourceLine>), LocationId>,
    stacks: HashMap<StackId, Box<[LocationId]>>,
    rows: HashMap<Row, Sum>,
    names: HashMap<Tid, String>,
    /// The first process, and the file of the program that it ran last: its mapping stands first.
    program: Option<(Tid, String)>,
    period: Option<Nanos>,
    from: Timestamp,
    to: Timestamp,
    /// Samples for which there was no room, and rows lost in the kernel.
    dropped: u64,
    lost: u64,
    /// Stacks that were not taken, to keep the cost low.
    refused: u64,
    remarks: Vec<String>,
    too_large: Option<TooLarge>,
}

impl Sampled {
    /// Of what ran on a CPU, or of what waited.
    pub fn new(kind: SampleKind) -> Sampled {
        Sampled {
            kind,
            builder: ProfileBuilder::new(),
            modules: HashMap::new(),
            locations: HashMap::new(),
            stacks: HashMap::new(),
            rows: HashMap::new(),
            names: HashMap::new(),
            program: None,
            period: None,
            from: Timestamp::UNKNOWN,
            to: Timestamp::UNKNOWN,
            dropped: 0,
            lost: 0,
            refused: 0,
            remarks: Vec::new(),
            too_large: None,
        }
    }

    /// How many samples there are by now.
    pub fn samples(&self) -> u64 {
        self.rows.values().map(|sum| sum.count as u64).sum()
    }

    /// The profile. Its sample types are `samples` and `cpu`, or `waits` and `offcpu`; each sample has the labels `pid`,
    /// `tid` and `thread`.
    ///
    /// # Errors
    /// Where there is more than a profile can number.
    pub fn finish(mut self) -> Result<Profile, TooLarge> {
        if let Some(error) = self.too_large {
            return Err(error);
        }
        self.describe()?;
        self.program_first();
        let mut rows: Vec<(Row, Sum)> = std::mem::take(&mut self.rows).into_iter().collect();
        rows.sort_unstable_by_key(|(row, _)| *row);
        let mut label_sets = HashMap::new();
        for (row, sum) in rows {
            let labels = match label_sets.get(&(row.pid, row.tid)) {
                Some(known) => *known,
                None => {
                    let labels = self.labels(row)?;
                    label_sets.insert((row.pid, row.tid), labels);
                    labels
                }
            };
            let mut stack: Vec<LocationId> = Vec::new();
            match row.what {
                What::Stack { kernel, user } => {
                    for part in [kernel, user].into_iter().flatten() {
                        stack.extend(self.stacks.get(&part).into_iter().flatten());
                    }
                }
                What::ShortWaits => stack.push(self.pseudo(SHORT_WAITS)?),
                What::WaitsForCpu => stack.push(self.pseudo(WAITS_FOR_CPU)?),
            }
            let stack = self.builder.stack(&stack)?;
            self.builder.sample(stack, labels, &[sum.count, sum.ns])?;
        }
        Ok(self.builder.finish())
    }

    /// What stands at the head: types, time, remarks.
    fn describe(&mut self) -> Result<(), TooLarge> {
        let (count, time) = match self.kind {
            SampleKind::OnCpu => ("samples", "cpu"),
            SampleKind::OffCpu => ("waits", "offcpu"),
        };
        let nanoseconds = self.builder.string("nanoseconds")?;
        let count = ValueType { kind: self.builder.string(count)?, unit: self.builder.string("count")? };
        let time = ValueType { kind: self.builder.string(time)?, unit: nanoseconds };
        if self.dropped > 0 {
            self.remarks.push(format!("{} samples were left out: more stacks than are kept", self.dropped));
        }
        if self.lost > 0 {
            self.remarks.push(format!("{} samples were lost while recording", self.lost));
        }
        if self.refused > 0 {
            self.remarks.push(format!(
                "{} stacks were left out, to keep the cost of recording low: what stands here is a part",
                self.refused
            ));
        }
        let remarks = std::mem::take(&mut self.remarks);
        let comments = remarks.iter().map(|text| self.builder.string(text)).collect::<Result<_, _>>()?;
        let profile = self.builder.profile();
        profile.sample_types = vec![count, time];
        profile.default_sample_type = Some(1);
        profile.comments = comments;
        profile.time_ns = self.from.get().map(|ns| ns as i64);
        profile.duration_ns = self.to.since(self.from).get().map(|ns| ns as i64).filter(|ns| *ns > 0);
        if let (SampleKind::OnCpu, Some(period)) = (self.kind, self.period) {
            profile.period_type = Some(time);
            profile.period = period.get().map(|ns| ns as i64);
        }
        Ok(())
    }

    /// What opens the profile takes its first mapping for the program.
    fn program_first(&mut self) {
        let program = self.program.take().map(|(_, exe)| exe);
        let profile = self.builder.profile();
        let named = |mapping: &Mapping| program.as_deref() == Some(profile.str(mapping.file));
        let no_library = |mapping: &Mapping| {
            let name = profile.str(mapping.file).rsplit_once('/').map(|(_, name)| name);
            name.is_some_and(|name| !name.contains(".so"))
        };
        let mappings = &profile.mappings;
        let Some(at) = mappings.iter().position(named).or_else(|| mappings.iter().position(no_library))
        else {
            return;
        };
        profile.mappings.swap(0, at);
        let (first, other) = (Some(MappingId(0)), Some(MappingId(at as u32)));
        for location in &mut profile.locations {
            if location.mapping == first {
                location.mapping = other;
            } else if location.mapping == other {
                location.mapping = first;
            }
        }
    }

    fn labels(&mut self, row: Row) -> Result<LabelSetId, TooLarge> {
        let number = |of: Tid| LabelValue::Number(i64::from(of), StringId::default());
        let mut labels = vec![
            Label { key: self.builder.string("pid")?, value: number(row.pid) },
            Label { key: self.builder.string("tid")?, value: number(row.tid) },
        ];
        if let Some(name) = self.names.get(&row.tid).or_else(|| self.names.get(&row.pid)) {
            let value = LabelValue::Text(self.builder.string(name)?);
            labels.push(Label { key: self.builder.string("thread")?, value });
        }
        self.builder.label_set(&labels)
    }

    fn add(&mut self, row: Row, ns: u64) {
        if self.rows.len() >= MAX_ROWS && !self.rows.contains_key(&row) {
            self.dropped += 1;
            return;
        }
        let sum = self.rows.entry(row).or_default();
        sum.count += 1;
        sum.ns = sum.ns.saturating_add(i64::try_from(ns).unwrap_or(i64::MAX));
    }

    fn sample(&mut self, sample: &SampledStack) {
        let (Some(ns), true) = (sample.weight.get(), sample.kind == self.kind) else { return };
        self.period.get_or_insert(sample.weight);
        let what = What::Stack { kernel: sample.kernel, user: sample.user };
        self.add(Row { pid: sample.pid, tid: sample.tid, what }, ns);
    }

    /// What a thread waited without a stack.
    fn stretch(&mut self, stretch: &Stretch) {
        let (Some(blocked), Some(runnable)) = (stretch.blocked.get(), stretch.runnable.get()) else { return };
        let row = |what| Row { pid: stretch.pid, tid: stretch.tid, what };
        if blocked == 0 && runnable > 0 {
            self.add(row(What::WaitsForCpu), runnable);
        } else if blocked > 0 && blocked.saturating_add(runnable) < LONG_WAIT_NS {
            self.add(row(What::ShortWaits), blocked + runnable);
        }
    }

    fn stack(&mut self, stack: &Stack) -> Result<(), TooLarge> {
        if self.stacks.len() >= MAX_ROWS {
            return Ok(());
        }
        let mut locations = Vec::with_capacity(stack.frames.len());
        let mut rest = stack.frames.as_slice();
        while let Some(first) = rest.first() {
            let run = rest.iter().take_while(|frame| frame.address == first.address).count();
            let (here, behind) = rest.split_at(inlined(&rest[..run]));
            locations.push(self.location(here)?);
            rest = behind;
        }
        self.stacks.insert(stack.id, locations.into());
        Ok(())
    }

    /// The location of one address; its frames innermost first.
    fn location(&mut self, frames: &[StackFrame]) -> Result<LocationId, TooLarge> {
        let mapping = match frames.last().and_then(|frame| frame.module.as_deref()) {
            Some(module) => Some(self.module(module)?),
            None => None,
        };
        let mut lines = Vec::with_capacity(frames.len());
        for frame in frames {
            let Some(name) = &frame.function else { continue };
            let (file, line, column) = frame.place.as_deref().map_or(("", 0, 0), place);
            let function = Function {
                name: self.builder.string(name)?,
                file: self.builder.string(file)?,
                ..Function::default()
            };
            lines.push(SourceLine { function: Some(self.builder.function(function)?), line, column });
        }
        let key = (mapping, frames.first().map_or(0, |frame| frame.address), lines);
        if let Some(known) = self.locations.get(&key) {
            return Ok(*known);
        }
        if let Some(mapping) = mapping
            && !key.2.is_empty()
        {
            // A reader that looks for symbols by itself has the file of today, not the one that ran.
            let mapping = &mut self.builder.profile().mappings[mapping.0 as usize];
            (mapping.has_functions, mapping.has_filenames) = (true, true);
            (mapping.has_line_numbers, mapping.has_inline_frames) = (true, true);
        }
        let location = Location { mapping, address: key.1, ..Location::default() };
        let id = self.builder.location(location, &key.2)?;
        self.locations.insert(key, id);
        Ok(id)
    }

    /// A location that stands for something without an address.
    fn pseudo(&mut self, name: &str) -> Result<LocationId, TooLarge> {
        self.location(&[StackFrame { function: Some(name.to_string()), ..StackFrame::default() }])
    }

    fn module(&mut self, module: &str) -> Result<MappingId, TooLarge> {
        let file = self.builder.string(module)?;
        if let Some(known) = self.modules.get(&file) {
            return Ok(*known);
        }
        let id = self.builder.mapping(Mapping { file, ..Mapping::default() })?;
        self.modules.insert(file, id);
        Ok(id)
    }

    fn name(&mut self, tid: Tid, name: String) {
        if self.names.len() < MAX_NAMES || self.names.contains_key(&tid) {
            self.names.insert(tid, name);
        }
    }
}

impl Sink for Sampled {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Sample(sample) => self.sample(&sample),
            Event::Stretch(stretch) if self.kind == SampleKind::OffCpu => self.stretch(&stretch),
            Event::Stack(stack) => {
                if let Err(error) = self.stack(&stack) {
                    self.too_large.get_or_insert(error);
                }
            }
            Event::Process(info) => {
                if let Some(exe) = info.exe {
                    let first = self.program.as_ref().is_none_or(|(pid, _)| *pid == info.pid);
                    self.program = if first { Some((info.pid, exe)) } else { self.program.take() };
                }
                if let Some(comm) = info.comm {
                    self.name(info.tid.unwrap_or(info.pid), comm);
                }
            }
            Event::Span(span) => {
                if self.from.get().is_none_or(|from| span.from.get().is_some_and(|now| now < from)) {
                    self.from = span.from;
                }
                if self.to.get().is_none_or(|to| span.to.get().is_some_and(|now| now > to)) {
                    self.to = span.to;
                }
            }
            Event::Loss(loss) => {
                let table = match self.kind {
                    SampleKind::OnCpu => "samples",
                    SampleKind::OffCpu => "offcpu",
                };
                if loss.table == table {
                    self.lost += loss.lost;
                    self.refused += loss.refused;
                }
            }
            _ => {}
        }
    }
}

/// How many of the frames, all with one address, are one location: a function with what was inlined into it. A recursion
/// repeats them.
fn inlined(frames: &[StackFrame]) -> usize {
    let length = frames.len();
    if frames.first().is_none_or(|frame| frame.address == 0) {
        return 1.min(length);
    }
    let same = |a: &StackFrame, b: &StackFrame| a.function == b.function && a.place == b.place;
    let repeats = |period: &usize| {
        length.is_multiple_of(*period) && (*period..length).all(|at| same(&frames[at], &frames[at - period]))
    };
    (1..length).find(repeats).unwrap_or(length)
}

/// `src/main.c:12`, `/app/x.js:12:3`: file, line, column; 0 for what is not told.
fn place(text: &str) -> (&str, i64, i64) {
    let number = |text: &str| text.parse::<u32>().ok().map(i64::from);
    let Some((before, last)) = text.rsplit_once(':') else { return (text, 0, 0) };
    let Some(last) = number(last) else { return (text, 0, 0) };
    match before.rsplit_once(':').and_then(|(file, line)| Some((file, number(line)?))) {
        Some((file, line)) => (file, line, last),
        None => (before, last, 0),
    }
}

#[cfg(test)]
mod tests;
