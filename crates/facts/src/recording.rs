//! What a recording says about itself: what was written down when, what was lost, what it cost.

use whyslow_model::{Cost, Coverage, Loss, Nanos, RecordedSpan, SaturatingSum, Timestamp};

/// Facts of a recording about itself; empty for captures of other tools.
#[derive(Debug, Default)]
pub struct RecordingFacts {
    spans: Vec<RecordedSpan>,
    losses: Vec<Loss>,
    /// What it cost, where the recorder measured it.
    pub cost: Option<Cost>,
}

impl RecordingFacts {
    /// Spans kept; past them neighbours of the same coverage are joined, and then the last one is lengthened.
    const MAX_SPANS: usize = 65_536;
    /// Rows of losses kept; past them a table's last row takes the rest.
    const MAX_LOSSES: usize = 4_096;

    pub(crate) fn span(&mut self, span: RecordedSpan) {
        if span.to.since(span.from).get().is_none() {
            return;
        }
        let full = self.spans.len() >= Self::MAX_SPANS;
        match self.spans.last_mut() {
            Some(last) if last.calls == span.calls && (last.to == span.from || full) => last.to = span.to,
            _ if !full => self.spans.push(span),
            _ => {}
        }
    }

    pub(crate) fn loss(&mut self, loss: Loss) {
        if self.losses.len() >= Self::MAX_LOSSES
            && let Some(known) = self.losses.iter_mut().rev().find(|known| known.table == loss.table)
        {
            known.to = known.to.max(loss.to);
            known.lost = known.lost.saturating_add(loss.lost);
            known.produced = known.produced.saturating_add(loss.produced);
        } else {
            self.losses.push(loss);
        }
    }

    /// What was written down when, in order of time.
    pub fn spans(&self) -> &[RecordedSpan] {
        &self.spans
    }

    /// True where for a part of the time calls were not even counted, to keep the cost low.
    pub fn gave_up_calls(&self) -> bool {
        self.spans.iter().any(|span| span.calls == Coverage::None)
    }

    /// The time in which calls were recorded or counted; unknown where that was all of it.
    pub fn told(&self) -> Nanos {
        let told = self.spans.iter().filter(|span| span.calls != Coverage::None);
        let told = told.map(|span| span.to.since(span.from).or_zero()).saturating_sum();
        if self.gave_up_calls() && told > 0 { Nanos::new(told) } else { Nanos::UNKNOWN }
    }

    /// True where some time was not recorded call by call.
    pub fn is_partial(&self) -> bool {
        self.spans.iter().any(|span| span.calls != Coverage::Full)
    }

    /// True where calls were only counted, in all of the time.
    pub fn only_counts(&self) -> bool {
        self.is_partial() && self.spans.iter().all(|span| span.calls != Coverage::Full)
    }

    /// The time between `from` and `to` in which each call was recorded; all of it where the recording has no spans.
    pub fn covered(&self, from: Timestamp, to: Timestamp) -> Nanos {
        if self.spans.is_empty() {
            return to.since(from);
        }
        let (Some(from), Some(to)) = (from.get(), to.get()) else { return Nanos::UNKNOWN };
        let full = self.spans.iter().filter(|span| span.calls == Coverage::Full);
        let overlap = |span: &RecordedSpan| {
            let (start, end) = (span.from.or_zero().max(from), span.to.or_zero().min(to));
            end.saturating_sub(start)
        };
        Nanos::new(full.map(overlap).saturating_sum())
    }

    /// Losses, a row for each table and span of time, those of nothing left out.
    pub fn losses(&self) -> impl Iterator<Item = &Loss> {
        self.losses.iter().filter(|loss| loss.lost > 0)
    }

    /// Rows of `table` that are lost, and that the kernel had to tell; `None` where the recording does not say.
    pub fn lost_of(&self, table: &str) -> Option<(u64, u64)> {
        let mut rows = self.losses.iter().filter(|loss| loss.table == table).peekable();
        rows.peek()?;
        Some(rows.fold((0, 0), |(lost, produced), loss| {
            (u64::saturating_add(lost, loss.lost), u64::saturating_add(produced, loss.produced))
        }))
    }

    /// Rows lost of all tables.
    pub fn lost(&self) -> u64 {
        self.losses.iter().filter(|loss| loss.is_of_rows()).map(|loss| loss.lost).saturating_sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: u64, to: u64, calls: Coverage) -> RecordedSpan {
        RecordedSpan { from: Timestamp::new(from), to: Timestamp::new(to), calls }
    }

    #[test]
    fn only_time_in_full_is_covered() {
        let mut facts = RecordingFacts::default();
        assert_eq!(facts.covered(Timestamp::new(5), Timestamp::new(25)), Nanos::new(20));
        assert!(!facts.only_counts());
        for span in [
            span(0, 10, Coverage::Full),
            span(10, 20, Coverage::Counts),
            span(20, 25, Coverage::Full),
            span(25, 30, Coverage::Full),
        ] {
            facts.span(span);
        }
        assert_eq!(facts.spans().len(), 3);
        assert_eq!(facts.covered(Timestamp::new(5), Timestamp::new(25)), Nanos::new(10));
        assert_eq!(facts.covered(Timestamp::UNKNOWN, Timestamp::new(25)), Nanos::UNKNOWN);
        assert!(facts.is_partial() && !facts.only_counts());
    }

    #[test]
    fn losses_add_up_however_many_rows_there_are() {
        let mut facts = RecordingFacts::default();
        for i in 0..10_000u64 {
            let at = Timestamp::new(i);
            facts.loss(Loss {
                table: "syscalls".to_string(),
                from: at,
                to: at,
                lost: i % 2,
                produced: 3,
                refused: 0,
            });
        }
        assert_eq!(facts.lost_of("syscalls"), Some((5_000, 30_000)));
        assert_eq!((facts.lost_of("sched"), facts.lost()), (None, 5_000));
        assert!(facts.losses().count() <= RecordingFacts::MAX_LOSSES);
    }
}
