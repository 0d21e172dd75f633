//! What one look at a thing says: levels, and counts so far of which two looks make rates, means and shares.

use crate::span::Span;
use crate::text;
use whyslow_model::{Metric, Unit};

/// A figure, and the line that told it, from 1; 0 where it is no text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Told {
    /// What is measured.
    pub metric: Metric,
    /// How much.
    pub value: f64,
    /// Where it stands.
    pub line: u32,
}

/// What one look says of one thing.
#[derive(Clone, Default, Debug)]
pub struct Figures {
    levels: Vec<Told>,
    counts: Vec<Count>,
    /// The quota of a control group and its period, in microseconds: version 1 has a file for each.
    quota: Option<(u64, u32)>,
    period: Option<u64>,
    line: u32,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    metric: Metric,
    line: u32,
    so_far: SoFar,
}

/// What was counted.
#[derive(Clone, Copy, Debug)]
enum SoFar {
    /// Events, bytes, time; `unit` of the metric each. A rate is at most `most`.
    Sum { so_far: u64, unit: f64, most: f64, of_32_bits: bool },
    /// A sum of times or sizes over a number of events, two of each; `unit` of the metric each.
    Mean { sums: [Option<u64>; 2], counts: [Option<u64>; 2], unit: f64, of_32_bits: bool },
    /// A part of the time: shares of what all modes add up to.
    Mode(CpuMode, u64),
}

/// How a mode of a CPU counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuMode {
    /// It never goes back.
    Steady,
    /// Idle and iowait may go back by a tick (proc_stat(5)).
    MayGoBack,
    /// It is within another one (guests' time).
    Within,
}

impl Figures {
    /// Hands each line to `take`, and notes what it tells as of that line.
    pub fn each_line(&mut self, text: &[u8], mut take: impl FnMut(&mut Figures, &[u8])) {
        for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
            self.line = u32::try_from(at + 1).unwrap_or(0);
            if !line.is_empty() {
                take(self, line.strip_suffix(b"\r").unwrap_or(line));
            }
        }
        self.line = 0;
    }

    /// Says that what comes next stands on that line, from 1.
    pub fn at_line(&mut self, line: u32) {
        self.line = line;
    }

    /// Empty ones, for what stands on the same line.
    pub fn of_same_line(&self) -> Figures {
        Figures { line: self.line, ..Figures::default() }
    }

    /// True where nothing is known.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty() && self.counts.is_empty() && self.quota.is_none() && self.period.is_none()
    }

    /// True where something was counted.
    pub fn has_counts(&self) -> bool {
        !self.counts.is_empty()
    }

    /// Takes a level, where it is known.
    pub fn level(&mut self, metric: Metric, value: Option<f64>) {
        let line = self.line;
        self.levels.extend(value.map(|value| Told { metric, value, line }));
    }

    /// Takes a whole number as a level.
    pub fn number(&mut self, metric: Metric, value: Option<u64>) {
        self.level(metric, value.map(|value| value as f64));
    }

    /// Takes a limit; of several the smallest holds.
    pub fn limit(&mut self, metric: Metric, value: Option<u64>) {
        let Some(value) = value.map(|value| value as f64) else { return };
        match self.levels.iter_mut().find(|known| known.metric == metric) {
            Some(known) => known.value = known.value.min(value),
            None => self.level(metric, Some(value)),
        }
    }

    /// Takes a count; several of one metric (zones, devices, versions of a protocol) are added.
    pub fn sum(&mut self, metric: Metric, value: Option<u64>, unit: f64) {
        let Some(value) = value else { return };
        let known = self.counts.iter_mut().find(|count| count.metric == metric);
        if let Some(Count { so_far: SoFar::Sum { so_far, .. }, .. }) = known {
            *so_far = so_far.saturating_add(value);
        } else {
            self.count(metric, SoFar::Sum { so_far: value, unit, most: f64::INFINITY, of_32_bits: false });
        }
    }

    /// Takes a sum of time that is shown as 32 bits, of which no more than `most` can pass a second.
    pub fn time_32(&mut self, metric: Metric, value: Option<u64>, unit: f64, most: f64) {
        let Some(so_far) = value else { return };
        self.count(metric, SoFar::Sum { so_far, unit, most, of_32_bits: true });
    }

    /// Takes a sum of time of which no more than all can pass.
    pub fn stall(&mut self, metric: Metric, value: Option<u64>, unit: f64) {
        let Some(so_far) = value else { return };
        self.count(metric, SoFar::Sum { so_far, unit, most: 1.0, of_32_bits: false });
    }

    /// Takes sums over numbers of events, which give a mean where there were events.
    pub fn mean(
        &mut self,
        metric: Metric,
        sums: [Option<u64>; 2],
        counts: [Option<u64>; 2],
        unit: f64,
        of_32_bits: bool,
    ) {
        self.count(metric, SoFar::Mean { sums, counts, unit, of_32_bits });
    }

    /// Takes the time of a mode.
    pub fn mode(&mut self, metric: Metric, mode: CpuMode, ticks: Option<u64>) {
        let Some(ticks) = ticks else { return };
        self.count(metric, SoFar::Mode(mode, ticks));
    }

    /// Takes the CPU quota of a control group, in microseconds a period.
    pub fn quota(&mut self, quota: Option<u64>) {
        self.quota = quota.map(|quota| (quota, self.line));
    }

    /// Takes the period of the quota, in microseconds.
    pub fn period(&mut self, period: Option<u64>) {
        self.period = period;
    }

    fn count(&mut self, metric: Metric, so_far: SoFar) {
        self.counts.push(Count { metric, line: self.line, so_far });
    }

    /// True where a quota is known and its period is not, or the other way round.
    pub fn has_half_quota(&self) -> bool {
        self.quota.is_some() != self.period.is_some()
    }

    /// Takes the half of the quota that is missing.
    pub fn join_quota(&mut self, other: &Figures) {
        self.quota = self.quota.or(other.quota);
        self.period = self.period.or(other.period);
    }

    /// `name value` lines as counts.
    pub fn sums_by_name(&mut self, text: &[u8], wanted: &[(&[u8], Metric, f64)]) {
        self.each_line(text, |figures, line| {
            let mut words = text::words(line);
            let (Some(name), value) = (words.next(), words.next().and_then(text::number)) else { return };
            for (_, metric, unit) in wanted.iter().filter(|(key, ..)| *key == name) {
                figures.sum(*metric, value, *unit);
            }
        });
    }

    /// `name value` lines as levels.
    pub fn numbers_by_name(&mut self, text: &[u8], wanted: &[(&[u8], Metric)]) {
        self.each_line(text, |figures, line| {
            let mut words = text::words(line);
            let (Some(name), value) = (words.next(), words.next().and_then(text::number)) else { return };
            for (_, metric) in wanted.iter().filter(|(key, _)| *key == name) {
                figures.number(*metric, value);
            }
        });
    }

    /// The levels.
    pub fn levels(&self) -> impl Iterator<Item = Told> + '_ {
        let quota = self.quota.zip(self.period.filter(|period| *period > 0));
        let quota = quota.map(|((quota, line), period)| Told {
            metric: Metric::CpuQuota,
            value: quota as f64 / period as f64,
            line,
        });
        self.levels.iter().copied().chain(quota)
    }

    /// Rates, means and shares since `before`; `None`: since what is counted began. What went back is left out, and where
    /// the span is not known, rates are.
    pub fn rates<'f>(
        &'f self,
        before: Option<&'f Figures>,
        span: &'f Span,
    ) -> impl Iterator<Item = Told> + 'f {
        let whole = self.modes(before, span);
        self.counts.iter().filter_map(move |count| {
            let was = before.and_then(|before| before.of(count.metric));
            let value = match (count.so_far, was) {
                (SoFar::Sum { so_far, unit, most, of_32_bits }, was) => {
                    let was = match was {
                        Some(SoFar::Sum { so_far, .. }) => Some(so_far),
                        _ => None,
                    };
                    let grown = grown(span, Some(so_far), was, of_32_bits);
                    span.per_second(grown).map(|rate| (rate * unit).min(most))
                }
                (SoFar::Mean { sums, counts, unit, of_32_bits }, was) => {
                    let (sums_before, counts_before) = match was {
                        Some(SoFar::Mean { sums, counts, .. }) => (sums, counts),
                        _ => ([None; 2], [None; 2]),
                    };
                    let both = |now: [Option<u64>; 2], was: [Option<u64>; 2], of_32_bits: bool| {
                        let one = |at: usize| grown(span, now[at], was[at], of_32_bits);
                        one(0)?.checked_add(one(1)?)
                    };
                    let events = both(counts, counts_before, false).filter(|events| *events > 0);
                    both(sums, sums_before, of_32_bits)
                        .zip(events)
                        .map(|(sum, events)| sum as f64 * unit / events as f64)
                }
                (SoFar::Mode(_, ticks), was) => {
                    let was = match was {
                        Some(SoFar::Mode(_, ticks)) => Some(ticks),
                        _ => None,
                    };
                    let part = span.grown(Some(ticks), was);
                    part.zip(whole).map(|(part, whole)| (part as f64 / whole as f64).min(1.0))
                }
            };
            let value = value.filter(|value| value.is_finite())?;
            Some(Told { metric: count.metric, value, line: count.line })
        })
    }

    /// What was counted in all since it began, in units of the metric: not a second.
    pub fn totals(&self) -> impl Iterator<Item = Told> + '_ {
        self.counts.iter().filter_map(|count| {
            let SoFar::Sum { so_far, unit, .. } = count.so_far else { return None };
            let counts = matches!(
                count.metric.unit(),
                Unit::PerSecond | Unit::BytesPerSecond | Unit::SecondsPerSecond
            );
            counts.then_some(Told { metric: count.metric, value: so_far as f64 * unit, line: count.line })
        })
    }

    /// What the counts grew by since `before`, in units of the metric: not a second. What went back is left out.
    pub fn growth<'f>(&'f self, before: &'f Figures) -> impl Iterator<Item = Told> + 'f {
        // Of a span of unknown length a difference is known, a rate is not.
        let span = Span::since_last(f64::NAN);
        self.totals().filter_map(move |told| {
            let (
                Some(SoFar::Sum { so_far: now, unit, of_32_bits, .. }),
                Some(SoFar::Sum { so_far: was, .. }),
            ) = (self.of(told.metric), before.of(told.metric))
            else {
                return None;
            };
            let grown = grown(&span, Some(now), Some(was), of_32_bits)?;
            Some(Told { value: grown as f64 * unit, ..told })
        })
    }

    /// True where a count is smaller than before, and was not shown as 32 bits: it began anew, or is another machine's.
    pub fn went_back(&self, before: &Figures) -> bool {
        self.counts.iter().any(|count| match (count.so_far, before.of(count.metric)) {
            (SoFar::Sum { so_far: now, of_32_bits: false, .. }, Some(SoFar::Sum { so_far: was, .. })) => {
                now < was
            }
            _ => false,
        })
    }

    fn of(&self, metric: Metric) -> Option<SoFar> {
        self.counts.iter().find(|count| count.metric == metric).map(|count| count.so_far)
    }

    /// What all modes grew by; `None` where that is nothing, or where one went back that never does: then the counts are
    /// not the same (a CPU that came back).
    fn modes(&self, before: Option<&Figures>, span: &Span) -> Option<u64> {
        let mut whole = 0u64;
        for count in &self.counts {
            let SoFar::Mode(mode, ticks) = count.so_far else { continue };
            if mode == CpuMode::Within {
                continue;
            }
            let was = before.and_then(|before| before.of(count.metric)).and_then(|was| match was {
                SoFar::Mode(_, ticks) => Some(ticks),
                _ => None,
            });
            match span.grown(Some(ticks), was) {
                Some(grown) => whole = whole.saturating_add(grown),
                None if mode == CpuMode::MayGoBack => {}
                None => return None,
            }
        }
        (whole > 0).then_some(whole)
    }
}

fn grown(span: &Span, now: Option<u64>, before: Option<u64>, of_32_bits: bool) -> Option<u64> {
    if of_32_bits { span.grown_32(now, before) } else { span.grown(now, before) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(told: impl Iterator<Item = Told>, metric: Metric) -> Option<f64> {
        told.into_iter().find(|told| told.metric == metric).map(|told| told.value)
    }

    #[test]
    fn two_looks_give_rates_and_one_gives_totals() {
        let look = |resent: u64, reads: u64, ms: u64| {
            let mut figures = Figures::default();
            figures.each_line(b"\na 1", |figures, _| figures.sum(Metric::TcpRetransmits, Some(resent), 1.0));
            figures.mean(Metric::ReadLatency, [Some(ms), Some(0)], [Some(reads), Some(0)], 1e6, true);
            figures
        };
        let (first, second) = (look(10, 100, 500), look(40, 110, 600));
        let span = Span::since_last(10.0);
        let told: Vec<Told> = second.rates(Some(&first), &span).collect();
        assert_eq!(told[0], Told { metric: Metric::TcpRetransmits, value: 3.0, line: 2 });
        assert_eq!(told[1].value, 10e6);
        assert_eq!(value(first.rates(Some(&second), &span), Metric::TcpRetransmits), None);
        assert!(first.went_back(&second) && !second.went_back(&first));
        assert_eq!(value(second.totals(), Metric::TcpRetransmits), Some(40.0));
        assert_eq!(value(second.totals(), Metric::ReadLatency), None);
        // Over an unknown time a mean is known, a rate is not.
        let unknown = Span::of_unknown();
        assert_eq!(value(second.rates(None, &unknown), Metric::TcpRetransmits), None);
        assert_eq!(value(first.rates(None, &unknown), Metric::ReadLatency), Some(5e6));
    }

    #[test]
    fn a_quota_needs_its_period() {
        let mut figures = Figures::default();
        figures.period(Some(100_000));
        assert_eq!(figures.levels().count(), 0);
        figures.quota(Some(50_000));
        assert_eq!(value(figures.levels(), Metric::CpuQuota), Some(0.5));
    }
}
