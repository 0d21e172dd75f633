//! How a window of a recording that goes on ended: what is known of it that no record tells, in a file beside the streams. Windows that the
//! agent cuts and those that a ring keeps have the same.

use crate::clock::Clock;
use crate::error::RecordError;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;
use whyslow_model::{Cost, Coverage, Loss, Nanos, RecordedSpan, Timestamp};
use whyslow_privacy::files;
use whyslow_unwind::inside;

/// The file beside the streams.
const FILE: &str = "end.json";
/// A longer one is none of ours.
const MOST_BYTES: u64 = 4 << 20;
/// Notes that are kept of a window that is put together of many stretches.
const MOST_NOTES: usize = 100;

/// What is known as a stretch of a recording ends. Several stretches, one after the other, make a window ([`WindowEnd::add`]).
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub(crate) struct WindowEnd {
    /// ns of the kernel's clock.
    pub(crate) ended: u64,
    /// Calls were too many to be recorded one by one.
    pub(crate) only_counted: bool,
    /// From when to when, ns of the kernel's clock, and what was recorded of the calls.
    pub(crate) spans: Vec<(u64, u64, CallsKept)>,
    /// By table.
    pub(crate) losses: Vec<WindowLoss>,
    /// For the notes.
    pub(crate) notes: Vec<String>,
    /// What recording took of the watched, since it began.
    #[serde(default)]
    pub(crate) cost: Option<CostKept>,
}

/// What of [`Cost`] is known while a recording goes on.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub(crate) struct CostKept {
    /// Share of the target's time.
    pub(crate) target_share: Option<f64>,
    /// Added to one recorded call, ns.
    pub(crate) per_call: u64,
}

/// [`Coverage`] in a file.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CallsKept {
    /// Each call, unless they were so many that all were counted.
    Few,
    Full,
    Counts,
    None,
}

/// [`Loss`] in a file; times are ns of the kernel's clock, and meaningless where nothing was lost.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub(crate) struct WindowLoss {
    pub(crate) table: String,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) lost: u64,
    pub(crate) produced: u64,
    pub(crate) refused: u64,
}

impl WindowLoss {
    fn add(&mut self, later: &WindowLoss) {
        if later.lost > 0 {
            self.first = if self.lost > 0 { self.first.min(later.first) } else { later.first };
            self.last = if self.lost > 0 { self.last.max(later.last) } else { later.last };
        }
        self.lost += later.lost;
        self.produced += later.produced;
        self.refused += later.refused;
    }

    /// Adds a row to those of other tables, or to that of the same one.
    pub(crate) fn add_to(losses: &mut Vec<WindowLoss>, row: WindowLoss) {
        match losses.iter_mut().find(|known| known.table == row.table) {
            Some(known) => known.add(&row),
            None => losses.push(row),
        }
    }
}

impl WindowEnd {
    /// Adds the stretch that follows: both are one window then.
    pub(crate) fn add(&mut self, later: &WindowEnd) {
        self.ended = self.ended.max(later.ended);
        self.only_counted |= later.only_counted;
        for (from, to, calls) in &later.spans {
            match self.spans.last_mut() {
                Some(last) if last.2 == *calls && last.1 >= *from => last.1 = *to,
                _ => self.spans.push((*from, *to, *calls)),
            }
        }
        for row in &later.losses {
            WindowLoss::add_to(&mut self.losses, row.clone());
        }
        for note in &later.notes {
            if !self.notes.contains(note) && self.notes.len() < MOST_NOTES {
                self.notes.push(note.clone());
            }
        }
        self.cost = later.cost.or(self.cost);
    }

    pub(crate) fn write(&self, spool: &Path) -> Result<(), RecordError> {
        let path = spool.join(FILE);
        let text = serde_json::to_vec(self).map_err(|error| RecordError::Internal(error.to_string()))?;
        files::write(&path, &text).map_err(|source| RecordError::Spool { path, source })
    }

    /// `None` where there is none that can be read: the window did not end.
    pub(crate) fn read(spool: &Path) -> Option<WindowEnd> {
        let file = inside::open(spool, Path::new(FILE)).ok()?;
        let mut text = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub(crate) fn spans(&self, clock: Clock) -> Vec<RecordedSpan> {
        let span = |(from, to, calls): &(u64, u64, CallsKept)| RecordedSpan {
            from: clock.epoch(*from),
            to: clock.epoch(*to),
            calls: match calls {
                CallsKept::Few if self.only_counted => Coverage::Counts,
                CallsKept::Full | CallsKept::Few => Coverage::Full,
                CallsKept::Counts => Coverage::Counts,
                CallsKept::None => Coverage::None,
            },
        };
        self.spans.iter().map(span).collect()
    }

    pub(crate) fn losses(&self, clock: Clock, whole: (Timestamp, Timestamp)) -> Vec<Loss> {
        let loss = |one: &WindowLoss| {
            let (from, to) = match one.lost {
                0 => whole,
                _ => (clock.epoch(one.first), clock.epoch(one.last)),
            };
            let WindowLoss { table, lost, produced, refused, .. } = one.clone();
            Loss { table, from, to, lost, produced, refused }
        };
        self.losses.iter().map(loss).collect()
    }

    pub(crate) fn cost(&self) -> Option<Cost> {
        self.cost.map(|CostKept { target_share, per_call }| Cost {
            target_share,
            added: Nanos::UNKNOWN,
            recorder_cpu: Nanos::UNKNOWN,
            per_call: Nanos::new(per_call),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end() -> WindowEnd {
        let loss = WindowLoss { table: "sched".into(), first: 6, last: 7, lost: 3, produced: 90, refused: 1 };
        WindowEnd {
            ended: 9,
            only_counted: true,
            spans: vec![(5, 9, CallsKept::Few)],
            losses: vec![loss.clone(), WindowLoss { table: "net".into(), lost: 0, ..loss }],
            notes: vec!["a note".into()],
            cost: Some(CostKept { target_share: Some(0.01), per_call: 200 }),
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_a_damaged_one_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(WindowEnd::read(folder.path()), None);
        let end = end();
        end.write(folder.path()).expect("written");
        assert_eq!(WindowEnd::read(folder.path()).as_ref(), Some(&end));
        let clock = Clock { offset: 100 };
        let whole = (Timestamp::new(105), Timestamp::new(109));
        let losses = end.losses(clock, whole);
        assert_eq!(
            (losses[0].from, losses[0].to, losses[0].lost),
            (Timestamp::new(106), Timestamp::new(107), 3)
        );
        assert_eq!((losses[1].from, losses[1].to), whole);
        assert_eq!(end.spans(clock)[0].calls, Coverage::Counts);
        assert_eq!(end.cost().map(|cost| cost.per_call), Some(Nanos::new(200)));
        std::fs::write(folder.path().join(FILE), b"{\"ended\":").expect("damaged");
        assert_eq!(WindowEnd::read(folder.path()), None);
    }

    #[test]
    fn stretches_one_after_the_other_are_one_window() {
        let first = WindowEnd { only_counted: false, ..end() };
        let mut whole = WindowEnd::default();
        whole.add(&first);
        assert_eq!(whole, first);
        let loss = |first, lost| WindowLoss { first, last: 12, lost, ..first_loss(&end()) };
        let then = |ended, calls, lost| WindowEnd {
            ended,
            spans: vec![(ended - 3, ended, calls)],
            losses: vec![loss(11, lost)],
            cost: None,
            ..first.clone()
        };
        whole.add(&then(12, CallsKept::Few, 0));
        whole.add(&then(15, CallsKept::None, 2));
        assert_eq!(whole.ended, 15);
        assert_eq!(whole.spans, [(5, 12, CallsKept::Few), (12, 15, CallsKept::None)]);
        let sched = &whole.losses[0];
        assert_eq!((sched.first, sched.last, sched.lost, sched.produced), (6, 12, 5, 270));
        assert_eq!((whole.notes.len(), whole.cost), (1, first.cost));
        assert_eq!(whole.spans(Clock { offset: 0 })[0].calls, Coverage::Full);
        // Calls that were counted in one stretch are not all there in the others.
        whole.add(&WindowEnd { ended: 16, only_counted: true, ..WindowEnd::default() });
        assert_eq!(whole.spans(Clock { offset: 0 })[0].calls, Coverage::Counts);
    }

    fn first_loss(end: &WindowEnd) -> WindowLoss {
        end.losses[0].clone()
    }
}
