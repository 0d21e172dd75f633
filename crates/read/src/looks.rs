//! Dumps of the kernel's counters. One says what was counted since boot, which is no rate of now; two of the same counters,
//! at known times, say how fast they grew between. So they are kept until all inputs are read.
//!
//! The time of a dump is that of the `date` line above it, else the one in the file's name, else that of the `date` of the
//! same directory of dumps (`sos_commands/date/date`).

use crate::order;
use hashbrown::HashMap;
use whyslow_counters::{Figures, Span, Told};
use whyslow_model::{
    CaptureNote, Entity, Event, FigureRow, FigureTable, Nanos, NoteKind, Over, Sink, SourceId, Timestamp,
};

/// A point in time; without a zone only differences to others of its kind mean anything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Stamp {
    /// The zone is known: `ns` is since the epoch. Else since the epoch of the machine's own clock on the wall.
    pub(crate) zoned: bool,
    pub(crate) ns: u64,
}

impl Stamp {
    /// The time between; `None` where the two cannot be compared.
    pub(crate) fn since(self, before: Stamp) -> Option<Nanos> {
        (self.zoned == before.zoned).then_some(Nanos::new(self.ns.checked_sub(before.ns)?))
    }

    /// As the time of an event; unknown without a zone.
    pub(crate) fn timestamp(self) -> Timestamp {
        if self.zoned { Timestamp::new(self.ns) } else { Timestamp::UNKNOWN }
    }

    /// That second of that day, by a clock so many seconds east of UTC.
    pub(crate) fn of(zoned: bool, day: i64, seconds: u64, east: i64) -> Option<Stamp> {
        let seconds = u64::try_from(day * 86_400 + seconds as i64 - east).ok()?;
        Some(Stamp { zoned, ns: seconds.checked_mul(1_000_000_000)? })
    }
}

/// One dump.
pub(crate) struct Look {
    /// Who tells.
    pub(crate) tool: &'static str,
    /// Equal for dumps of the same counters.
    pub(crate) key: String,
    /// Where it was read.
    pub(crate) source: SourceId,
    /// The name of that input.
    pub(crate) name: String,
    /// When it was made.
    pub(crate) at: Option<Stamp>,
    /// The line of the source before its first one.
    pub(crate) above: u64,
    /// What it says.
    pub(crate) things: Vec<(Entity, Figures)>,
    /// Told where there is no second one: counts since boot, and means and shares over that time.
    pub(crate) alone: Vec<FigureTable>,
}

/// Dumps of all inputs.
#[derive(Default)]
pub(crate) struct Looks {
    looks: Vec<Look>,
    /// Directories of dumps, and when these were made.
    places: Vec<(String, Stamp)>,
    /// Of groups of version 1: the quota or its period, whichever came first.
    halves: HashMap<String, Figures>,
    things: usize,
    left_out: u64,
}

/// Things in all dumps: one of a host with 2,000 control groups has some 30,000.
const MOST_THINGS: usize = 1 << 18;
/// Dates of directories.
const MOST_PLACES: usize = 4096;

impl Looks {
    /// Keeps a dump.
    pub(crate) fn take(&mut self, look: Look) {
        if self.things + look.things.len() > MOST_THINGS {
            self.left_out += 1;
            return;
        }
        self.things += look.things.len();
        self.looks.push(look);
    }

    /// Joins the quota of the group in that directory and its period.
    pub(crate) fn join_quota(&mut self, folder: &str, figures: &mut Figures) {
        if !figures.has_half_quota() {
            return;
        }
        match self.halves.remove(folder) {
            Some(half) => figures.join_quota(&half),
            None if self.halves.len() < MOST_PLACES => {
                drop(self.halves.insert(folder.to_string(), figures.clone()))
            }
            None => {}
        }
    }

    /// Takes the time of a file that holds nothing else, for the directory of dumps that it is in.
    pub(crate) fn date_of(&mut self, file: &str, at: Stamp) {
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        // sos puts the output of commands into `sos_commands/GROUP`.
        let root = folder.find("sos_commands").map_or(folder, |at| &folder[..at]).trim_end_matches('/');
        if self.places.len() < MOST_PLACES {
            self.places.push((root.to_string(), at));
        }
    }

    /// Tells what the dumps come to.
    pub(crate) fn finish(mut self, sink: &mut dyn Sink) {
        if self.left_out > 0 {
            let text = format!(
                "{} dumps of counters are not used: there are more than {MOST_THINGS} things in the others",
                self.left_out
            );
            note(sink, SourceId::default(), NoteKind::Skipped, text);
        }
        let places = std::mem::take(&mut self.places);
        for look in &mut self.looks {
            look.at = look.at.or_else(|| place(&places, &look.name));
        }
        let place = |look: &Look| order::split(&look.name).1;
        // What has neither a time nor a place in its name stays as it was given.
        self.looks
            .sort_by(|a, b| a.key.cmp(&b.key).then(a.at.cmp(&b.at)).then_with(|| place(a).cmp(&place(b))));
        let mut rest = self.looks.as_slice();
        while let Some(first) = rest.first() {
            let count = rest.iter().take_while(|look| look.key == first.key).count();
            let (same, behind) = rest.split_at(count);
            tell(same, sink);
            rest = behind;
        }
    }
}

/// The date of the innermost directory of dumps in which that file is.
fn place(places: &[(String, Stamp)], file: &str) -> Option<Stamp> {
    let within =
        |root: &str| root.is_empty() || file.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    let inner = places.iter().filter(|(root, _)| within(root)).max_by_key(|(root, _)| root.len());
    inner.map(|(_, at)| *at)
}

/// Dumps of the same counters, by time.
fn tell(looks: &[Look], sink: &mut dyn Sink) {
    let mut paired = false;
    for (before, now) in looks.iter().zip(looks.iter().skip(1)) {
        let between = before.at.zip(now.at).and_then(|(before, now)| now.since(before));
        let length = match between {
            Some(length) if length.or_zero() < SHORTEST => continue,
            // Of one clock that went back, or of two: no order is known.
            None if before.at.is_some() || now.at.is_some() || !is_ordered(before, now) => continue,
            length => length,
        };
        let went_back = |(of, figures): &(Entity, Figures)| {
            known(&before.things, of).is_some_and(|before| figures.went_back(before))
        };
        if now.things.iter().any(went_back) {
            let text = format!(
                "{}: its counts ({}) went back since {}: the machine was started anew meanwhile, or they are of two machines; \
                 there are no differences between them",
                now.name, now.tool, before.name
            );
            note(sink, now.source, NoteKind::Assumed, text);
            continue;
        }
        paired = true;
        let Some(length) = length else {
            tell_growth(before, now, sink);
            continue;
        };
        let span = Span::since_last(length.as_secs_f64().unwrap_or(0.0));
        let mut table = FigureTable::new(now.source, now.tool);
        table.over = Over::Interval(length);
        table.at = now.at.map_or(Timestamp::UNKNOWN, Stamp::timestamp);
        for (of, figures) in &now.things {
            let rates = figures.rates(known(&before.things, of), &span);
            table.rows.extend(rows(of, rates, |line| (now.above + u64::from(line), "")));
        }
        push(table, sink);
    }
    let Some(last) = looks.last().filter(|_| !paired) else { return };
    if looks.len() > 1 && looks.iter().any(|look| look.at.is_none()) {
        let text = format!(
            "{}: these counts ({}) are told {} times, in an unknown order: only what they are since boot is used; names such as nstat.before \
             and nstat.after give the difference, and `date` above each gives rates",
            last.name,
            last.tool,
            looks.len()
        );
        note(sink, last.source, NoteKind::Assumed, text);
    }
    last.alone.iter().for_each(|table| push(table.clone(), sink));
}

/// True where something says that one dump came before another, though no time does: their names, or their place in one
/// input. Two files of one folder may be of two machines.
fn is_ordered(before: &Look, now: &Look) -> bool {
    match (order::split(&before.name).1, order::split(&now.name).1) {
        (Some(first), Some(second)) => first < second,
        _ => before.source == now.source,
    }
}

/// What was counted between two dumps at unknown times: how often, and means and shares, but no rates.
fn tell_growth(before: &Look, now: &Look, sink: &mut dyn Sink) {
    let span = Span::since_last(f64::NAN);
    let mut counted = FigureTable::new(now.source, now.tool);
    counted.over = Over::Growth;
    let mut means = FigureTable::new(now.source, now.tool);
    means.over = Over::Interval(Nanos::UNKNOWN);
    let line = |line| (now.above + u64::from(line), "");
    for (of, figures) in &now.things {
        // A thing that was not there before began at nothing, nobody knows when.
        let Some(before) = known(&before.things, of) else { continue };
        counted.rows.extend(rows(of, figures.growth(before), line));
        means.rows.extend(rows(of, figures.rates(Some(before), &span), line));
    }
    let text = format!(
        "{}: what its counts ({}) grew by since {}; the time between them is not known, so there is no rate",
        now.name, now.tool, before.name
    );
    note(sink, now.source, NoteKind::Assumed, text);
    push(counted, sink);
    push(means, sink);
}

/// Dumps of the same moment are no two looks: the kernel's tick is a hundredth of a second, `date` tells whole seconds.
const SHORTEST: u64 = 500_000_000;

fn known<'t>(things: &'t [(Entity, Figures)], of: &Entity) -> Option<&'t Figures> {
    // Dumps list things in the same order, mostly few.
    things.iter().find(|(is, _)| is == of).map(|(_, figures)| figures)
}

/// What is told, as rows: one a line, so that each figure stands with its own.
pub(crate) fn rows<'t>(
    of: &Entity,
    told: impl Iterator<Item = Told>,
    line: impl Fn(u32) -> (u64, &'t str),
) -> Vec<FigureRow> {
    let mut rows: Vec<(u32, FigureRow)> = Vec::new();
    for Told { metric, value, line: at } in told {
        let row = match rows.iter_mut().find(|(is, _)| *is == at) {
            Some((_, row)) => row,
            None => {
                let mut row = FigureRow::new(of.clone());
                let (number, text) = line(at);
                row.line = number;
                row.raw = text.get(..text.floor_char_boundary(FigureRow::RAW_LEN)).unwrap_or("").into();
                rows.push((at, row));
                let last = rows.len() - 1;
                &mut rows[last].1
            }
        };
        row.set(metric, value);
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn push(table: FigureTable, sink: &mut dyn Sink) {
    if !table.rows.is_empty() {
        sink.push(Event::Figures(Box::new(table)));
    }
}

fn note(sink: &mut dyn Sink, source: SourceId, kind: NoteKind, text: String) {
    sink.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
}
