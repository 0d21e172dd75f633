//! What the sources of one sample tell: rows, and what is missing.

use crate::TOOL;
use whyslow_counters::{Figures, Span};
use whyslow_model::{Entity, FigureRow, FigureTable, Metric, Nanos, Over, SourceId, Timestamp, Trait};

/// What a sample cannot tell, and why.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Gap {
    /// The source, as [`crate::SOURCES`] names it.
    pub source: &'static str,
    /// What is missing: `delays of tasks`.
    pub missing: String,
    /// Why.
    pub why: String,
    /// What to do about it; empty where nothing can be done.
    pub remedy: String,
}

/// A row under way: levels, which are of a moment, and rates, which are over the sample's time.
pub(crate) struct Row {
    row: FigureRow,
    rates: Vec<(Metric, f64)>,
}

impl Row {
    pub(crate) fn new(of: Entity) -> Row {
        Row { row: FigureRow::new(of), rates: Vec::new() }
    }

    /// Takes a level, where it is known.
    pub(crate) fn level(&mut self, metric: Metric, value: Option<f64>) {
        if let Some(value) = value {
            self.row.set(metric, value);
        }
    }

    /// Takes a whole number as a level.
    pub(crate) fn count(&mut self, metric: Metric, value: Option<u64>) {
        self.level(metric, value.map(|value| value as f64));
    }

    /// Takes a rate, a share or a mean over the sample's time.
    pub(crate) fn rate(&mut self, metric: Metric, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.rates.push((metric, value));
        }
    }

    /// Takes what a look says, and what it comes to since the one before.
    pub(crate) fn take(&mut self, figures: &Figures, before: Option<&Figures>, span: &Span) {
        figures.levels().for_each(|told| self.level(told.metric, Some(told.value)));
        figures.rates(before, span).for_each(|told| self.rate(told.metric, Some(told.value)));
    }

    /// Takes a trait.
    pub(crate) fn say(&mut self, of: Trait, text: impl Into<Box<str>>) {
        self.row.say(of, text);
    }
}

/// What one sample comes to.
pub(crate) struct Out {
    at: Timestamp,
    /// What the sample is over; `None` for the first.
    over: Option<Nanos>,
    tables: Vec<FigureTable>,
    gaps: Vec<Gap>,
}

impl Out {
    pub(crate) fn new(at: Timestamp, over: Option<Nanos>) -> Out {
        Out { at, over, tables: Vec::new(), gaps: Vec::new() }
    }

    /// Takes the rows of one source. In the first sample the rates go to a table of their own, over `before` (the time
    /// since boot or the life of each thing). `complete`: what is not listed is not there, or did nothing.
    pub(crate) fn table(&mut self, rows: Vec<Row>, before: Over, complete: bool) {
        self.table_of(rows, before, complete, self.over);
    }

    /// The same of a source that is not looked at in each sample: `over` is the time since its last look.
    pub(crate) fn table_of(&mut self, rows: Vec<Row>, before: Over, complete: bool, over: Option<Nanos>) {
        let (mut now, mut since) = (self.empty(complete), self.empty(complete));
        match over {
            Some(length) => now.over = Over::Interval(length),
            None => since.over = before,
        }
        for Row { mut row, rates } in rows {
            if over.is_some() {
                row.figures.extend(rates);
            } else if !rates.is_empty() {
                let mut apart = FigureRow::new(row.of.clone());
                apart.figures = rates;
                since.rows.push(apart);
            }
            if !row.figures.is_empty() || !row.traits.is_empty() {
                now.rows.push(row);
            }
        }
        self.tables.extend([now, since].into_iter().filter(|table| !table.rows.is_empty()));
    }

    fn empty(&self, complete: bool) -> FigureTable {
        FigureTable { at: self.at, complete, ..FigureTable::new(SourceId::default(), TOOL) }
    }

    /// Says what is missing.
    pub(crate) fn gap(
        &mut self,
        source: &'static str,
        missing: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        let gap = Gap { source, missing: missing.into(), why: why.into(), remedy: remedy.into() };
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// Says that a file cannot be read.
    pub(crate) fn unread(&mut self, source: &'static str, missing: &str, file: &str, why: rustix::io::Errno) {
        let remedy = match why {
            rustix::io::Errno::ACCESS | rustix::io::Errno::PERM => "run as root",
            _ => "",
        };
        self.gap(source, missing, format!("{file}: {}", std::io::Error::from(why)), remedy);
    }

    /// Says that a file has nothing that is known.
    pub(crate) fn damaged(&mut self, source: &'static str, missing: &str, file: &str, expected: &str) {
        self.gap(source, missing, format!("{file}: not as expected ({expected})"), "");
    }

    pub(crate) fn finish(self) -> (Vec<FigureTable>, Vec<Gap>) {
        (self.tables, self.gaps)
    }
}
