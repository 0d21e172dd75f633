//! Figures of the host over time: of the machine, its CPUs, disks and interfaces.

use crate::data::PageSeries;
use hashbrown::HashMap;
use whyslow_model::host::Over;
use whyslow_model::{Entity, FigureTable, Metric};

/// Values with their times, ns.
type Points = Vec<(u64, f64)>;

/// The series, as they are read.
#[derive(Debug, Default)]
pub(crate) struct HostSeries {
    index: HashMap<(Entity, Metric), usize>,
    series: Vec<(Entity, Metric, Points)>,
    /// Series for which there was no room, as figures.
    left_out: u64,
    /// Each point of so many is kept.
    step: Vec<(u32, u32)>,
}

impl HostSeries {
    /// Series.
    const MAX: usize = 256;
    /// Points of each; past it each second one is left out.
    const POINTS: usize = 1_000;

    /// Takes what a look told.
    pub(crate) fn see(&mut self, table: &FigureTable) {
        let Some(at) = table.at.get() else { return };
        let from = match table.over {
            Over::Interval(length) => at.saturating_sub(length.or_zero()),
            Over::Moment => at,
            Over::SinceBoot | Over::Lifetime | Over::Total | Over::Growth => return,
        };
        let is_shown = |of: &Entity| {
            matches!(of, Entity::Host | Entity::Cpu(_) | Entity::Device(_) | Entity::Interface(_))
        };
        for row in table.rows.iter().filter(|row| is_shown(&row.of)) {
            for (metric, value) in row.figures.iter().filter(|(_, value)| value.is_finite()) {
                self.point(&row.of, *metric, from, *value);
            }
        }
    }

    fn point(&mut self, of: &Entity, metric: Metric, at: u64, value: f64) {
        let key = (of.clone(), metric);
        let place = match self.index.get(&key) {
            Some(place) => *place,
            None if self.series.len() >= Self::MAX => {
                self.left_out += 1;
                return;
            }
            None => {
                self.index.insert(key, self.series.len());
                self.series.push((of.clone(), metric, Vec::new()));
                self.step.push((1, 0));
                self.series.len() - 1
            }
        };
        let (every, count) = &mut self.step[place];
        *count += 1;
        if !count.is_multiple_of(*every) {
            return;
        }
        let points = &mut self.series[place].2;
        points.push((at, value));
        if points.len() >= 2 * Self::POINTS {
            let mut number = 0;
            points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            *every *= 2;
        }
    }

    /// The series, and a sentence about what is not among them.
    pub(crate) fn finish(&self, origin: u64) -> (Vec<PageSeries>, Option<String>) {
        let mut series: Vec<_> = self.series.iter().collect();
        series.sort_by_key(|(of, metric, _)| (rank(of), of.to_string(), metric.name()));
        let series = series.into_iter().map(|(of, metric, points)| PageSeries {
            resource: whyslow_privacy::redact(&of.to_string()).into_owned(),
            name: metric.name(),
            unit: metric.unit().name(),
            at: points.iter().map(|(at, _)| *at as i64 - origin as i64).collect(),
            value: points.iter().map(|(_, value)| Some(rounded(*value))).collect(),
        });
        let left_out = (self.left_out > 0)
            .then(|| format!("{} figures of the host beyond the first {} series", self.left_out, Self::MAX));
        (series.collect(), left_out)
    }
}

fn rank(of: &Entity) -> u8 {
    match of {
        Entity::Host => 0,
        Entity::Cpu(_) => 1,
        Entity::Device(_) => 2,
        _ => 3,
    }
}

/// Six digits: more than the eye tells apart.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
