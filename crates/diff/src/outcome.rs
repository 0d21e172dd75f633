//! Whether the change helped: the first word of a comparison.
//!
//! Judged by the time of what users get: how long requests took; else the time per request or file; else, of whole runs, their
//! time; else the time per write. Only where no time is known, by findings, as long as no less work was done.

use super::findings::Changes;
use super::{matters, noise};
use whyslow_model::{DiffOutcome, FigureChange};

/// The figures that tell, the most telling kind first. Of each less is better.
#[derive(Default)]
pub(super) struct Telling {
    /// How long requests took that were served.
    pub(super) requests: Vec<Change>,
    /// The time per request or file.
    pub(super) results: Vec<Change>,
    /// The time of whole runs.
    pub(super) run: Vec<Change>,
    /// The time per write: a cure may be to write less.
    pub(super) work: Vec<Change>,
}

/// How a figure changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    Less,
    More,
    Same,
}

impl Change {
    /// `None` where there is too little to tell.
    pub(super) fn of(figure: &FigureChange) -> Option<Change> {
        Some(Change::beyond(figure.beyond_noise?, figure.before?, figure.after?))
    }

    /// Of a figure without counts: of chance nothing is known, but equal runs lie nearer together.
    pub(super) fn of_uncounted(figure: &FigureChange) -> Option<Change> {
        let (before, after) = (figure.before?, figure.after?);
        Some(Change::beyond(noise::times_differ(before, after), before, after))
    }

    fn beyond(differs: bool, before: f64, after: f64) -> Change {
        match differs {
            false => Change::Same,
            true if after < before => Change::Less,
            true => Change::More,
        }
    }
}

impl Telling {
    fn outcome(&self) -> Option<DiffOutcome> {
        let kinds = [&self.requests, &self.results, &self.run, &self.work];
        let first = kinds.into_iter().find(|changes| !changes.is_empty())?;
        Some(match (first.contains(&Change::Less), first.contains(&Change::More)) {
            (true, true) => DiffOutcome::Mixed,
            (true, false) => DiffOutcome::Better,
            (false, true) => DiffOutcome::Worse,
            (false, false) => DiffOutcome::Unchanged,
        })
    }
}

/// What became of the whole; `less_work`: the second did less of what the first was there for, or other work.
pub(super) fn outcome(
    telling: &Telling,
    changes: &Changes,
    less_work: bool,
    other_figures: bool,
) -> DiffOutcome {
    let by_time = telling.outcome();
    if less_work && by_time != Some(DiffOutcome::Worse) {
        return DiffOutcome::Unknown;
    }
    by_time.unwrap_or_else(|| {
        let any = |list: &[_]| list.iter().any(matters);
        match (any(&changes.gone), any(&changes.new)) {
            (true, true) => DiffOutcome::Mixed,
            (true, false) => DiffOutcome::Better,
            (false, true) => DiffOutcome::Worse,
            (false, false) if any(&changes.unknown) || other_figures => DiffOutcome::Unknown,
            (false, false) => DiffOutcome::Unchanged,
        }
    })
}
