//! How a window of a lasting recording ended: what is known of it that no record tells, in a file beside the streams.

use crate::clock::Clock;
use crate::error::RecordError;
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;
use whyslow_model::{Coverage, Loss, RecordedSpan, Timestamp};
use whyslow_privacy::files;
use whyslow_unwind::inside;

/// The file beside the streams.
const FILE: &str = "end.json";
/// A longer one is none of ours.
const MOST_BYTES: u64 = 4 << 20;

/// What is known as a window ends.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
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
}

/// [`Coverage`] in a file.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CallsKept {
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

impl WindowEnd {
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
                CallsKept::Full => Coverage::Full,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_a_damaged_one_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(WindowEnd::read(folder.path()), None);
        let loss = WindowLoss { table: "sched".into(), first: 6, last: 7, lost: 3, produced: 90, refused: 1 };
        let end = WindowEnd {
            ended: 9,
            only_counted: true,
            spans: vec![(5, 9, CallsKept::Counts)],
            losses: vec![loss.clone(), WindowLoss { lost: 0, ..loss }],
            notes: vec!["a note".into()],
        };
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
        std::fs::write(folder.path().join(FILE), b"{\"ended\":").expect("damaged");
        assert_eq!(WindowEnd::read(folder.path()), None);
    }
}
