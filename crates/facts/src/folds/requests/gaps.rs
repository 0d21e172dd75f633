//! Times in which a recorder only counted calls. Slow calls are recorded even then, but a request without its quick answer
//! would be paired with the answer to another.

use whyslow_model::{Call, Coverage, RecordedSpan, Timestamp};

/// The gaps of a recording, in order of time. None for other captures.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// From, to; ns.
    list: Vec<(u64, u64)>,
}

impl Gaps {
    /// Gaps kept; past them the last one is lengthened.
    const MOST: usize = 4_096;

    pub(super) fn see(&mut self, span: &RecordedSpan) {
        if span.calls == Coverage::Full {
            return;
        }
        let (Some(from), Some(to)) = (span.from.get(), span.to.get()) else { return };
        let full = self.list.len() >= Self::MOST;
        match self.list.last_mut() {
            Some(last) if from <= last.1 || full => last.1 = last.1.max(to),
            _ => self.list.push((from, to)),
        }
    }

    /// How many there are in all.
    pub(super) fn count(&self) -> u32 {
        self.list.len() as u32
    }

    /// How many gaps there were before this call; `None` where it returned in one.
    #[inline]
    pub(super) fn before(&self, call: &Call<'_>) -> Option<u32> {
        if self.list.is_empty() { Some(0) } else { self.find(call.end(), call.ts) }
    }

    fn find(&self, end: Timestamp, begin: Timestamp) -> Option<u32> {
        let Some(when) = end.get().or(begin.get()) else { return Some(0) };
        let before = self.list.partition_point(|(from, _)| *from <= when);
        let within = before > 0 && when < self.list[before - 1].1;
        (!within).then_some(before as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_in_a_gap_are_told_from_those_between() {
        let at = Timestamp::new;
        let span = |from, to, calls| RecordedSpan { from: at(from), to: at(to), calls };
        let mut gaps = Gaps::default();
        assert_eq!(gaps.find(at(5), at(5)), Some(0));
        gaps.see(&span(10, 20, Coverage::Counts));
        gaps.see(&span(20, 50, Coverage::Full));
        gaps.see(&span(50, 60, Coverage::Counts));
        gaps.see(&span(60, 70, Coverage::Counts));
        let found: Vec<Option<u32>> =
            [5, 10, 19, 20, 49, 50, 65, 70].map(|ns| gaps.find(at(ns), at(ns))).to_vec();
        assert_eq!(found, [Some(0), None, None, Some(1), Some(1), None, None, Some(2)]);
        assert_eq!(gaps.find(Timestamp::UNKNOWN, at(15)), None);
    }
}
