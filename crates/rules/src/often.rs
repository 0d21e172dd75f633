//! How often something was done, a second and for each unit of work: as figures, and in words.

use crate::gate::gated;
use crate::guards::{passed, rate_from};
use whyslow_facts::Facts;
use whyslow_facts::folds::work::Work;
use whyslow_model::Measurement;

/// The names of the figures of one kind of thing.
pub(crate) struct Names {
    per_second: &'static str,
    untraced: &'static str,
    per_work: [(&'static str, &'static str); 3],
}

macro_rules! names {
    ($of:literal) => {
        Names {
            per_second: concat!($of, "_per_second"),
            untraced: concat!($of, "_per_second_untraced"),
            per_work: [
                ("request", concat!($of, "_per_request")),
                ("write", concat!($of, "_per_write")),
                ("rename", concat!($of, "_per_rename")),
            ],
        }
    };
}

/// Calls.
pub(crate) const CALLS: Names = names!("calls");
/// Seeks, beside reads.
pub(crate) const SEEKS: Names = names!("seeks");
/// Readings of a whole file.
pub(crate) const PASSES: Names = names!("passes");
/// Opens of a file.
pub(crate) const OPENS: Names = names!("opens");
/// What brought the same as the time before.
pub(crate) const REPEATS: Names = names!("repeats");

/// How often something was done, as far as that is known.
pub(crate) struct Often {
    names: &'static Names,
    per_second: Option<Measurement>,
    untraced: Option<Measurement>,
    per_work: Vec<(&'static str, Measurement)>,
}

impl Often {
    /// So many times, at `rate` a second (`None` without a clock), while that work was done.
    #[gated]
    pub(crate) fn of(names: &'static Names, count: u64, rate: Option<f64>, work: &Work) -> Often {
        let per_work = work.units().filter_map(|(unit, done)| {
            let (unit, name) = *names.per_work.iter().find(|(of, _)| *of == unit)?;
            Some((unit, Measurement::number(name, count as f64 / done as f64)))
        });
        Often {
            names,
            per_second: rate.map(|rate| Measurement::per_second(names.per_second, rate)),
            untraced: None,
            per_work: per_work.collect(),
        }
    }

    /// Of the units of work, the requests alone.
    #[gated]
    pub(crate) fn by_request(mut self) -> Often {
        self.per_work.retain(|(unit, _)| *unit == "request");
        self
    }

    /// The threshold a second, where it was passed. Where only the rate without the tracer passes it, that is a figure of its own.
    pub(crate) fn per_second_from(self, facts: &Facts, threshold: f64) -> Often {
        let untraced = facts.pace.untraced(self.per_second.as_ref().and_then(|figure| figure.value));
        self.either_from(untraced, threshold)
    }

    fn either_from(mut self, untraced: Option<f64>, threshold: f64) -> Often {
        if let Some(rate) = self.per_second.as_ref().and_then(|figure| figure.value) {
            let names = [self.names.per_second, self.names.untraced];
            let (per_second, untraced) = rate_from(names, rate, untraced, threshold);
            (self.per_second, self.untraced) = (Some(per_second), untraced);
        }
        self
    }

    /// The threshold for each of that unit of work, where it was passed.
    pub(crate) fn per_work_from(mut self, of: &str, threshold: f64) -> Often {
        for (unit, figure) in &mut self.per_work {
            if *unit == of {
                *figure = passed(figure.clone(), threshold);
            }
        }
        self
    }

    /// `336.1 a second, 0.99 per request`; empty where nothing is known.
    pub(crate) fn words(&self) -> String {
        let per_second = self.per_second.iter().map(|rate| format!("{rate} per second"));
        let per_work = self.per_work.iter().map(|(unit, figure)| format!("{figure} per {unit}"));
        per_second.chain(per_work).collect::<Vec<_>>().join(", ")
    }

    /// The same in brackets: ` (336.1 a second)`.
    #[gated]
    pub(crate) fn in_brackets(&self) -> String {
        Some(self.words())
            .filter(|words| !words.is_empty())
            .map_or(String::new(), |words| format!(" ({words})"))
    }

    /// The same behind a comma: `, 336.1 a second`.
    #[gated]
    pub(crate) fn behind_comma(&self) -> String {
        Some(self.words())
            .filter(|words| !words.is_empty())
            .map_or(String::new(), |words| format!(", {words}"))
    }

    /// The figures that the words print, and what decided.
    pub(crate) fn figures(self) -> impl Iterator<Item = Measurement> {
        let per_work = self.per_work.into_iter().map(|(_, figure)| figure);
        self.per_second.into_iter().chain(self.untraced).chain(per_work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_figures_are_the_same() {
        let work = Work { requests: 4, reads: 9, ..Work::default() };
        let often = Often::of(&CALLS, 10, Some(50.0), &work);
        assert_eq!(often.behind_comma(), ", 50 per second, 2.50 per request");
        let often = often.per_second_from(&Facts::default(), 20.0).per_work_from("request", 3.0);
        let told: Vec<String> = often
            .figures()
            .map(|figure| format!("{} {figure} {:?}", figure.name, figure.threshold_words()))
            .collect();
        assert_eq!(told, ["calls_per_second 50 Some(\"at least 20\")", "calls_per_request 2.50 None"]);
    }

    #[test]
    fn a_rate_that_only_passes_without_the_tracer_is_a_figure_of_its_own() {
        let told = |threshold: f64| -> Vec<(&'static str, bool)> {
            let often =
                Often::of(&CALLS, 10, Some(50.0), &Work::default()).either_from(Some(80.0), threshold);
            often.figures().map(|figure| (figure.name, figure.threshold.is_some())).collect()
        };
        assert_eq!(told(50.0), [("calls_per_second", true)]);
        assert_eq!(told(60.0), [("calls_per_second", false), ("calls_per_second_untraced", true)]);
        assert_eq!(told(90.0), [("calls_per_second", false)]);
    }

    #[test]
    fn nothing_known_says_nothing() {
        let often = Often::of(&REPEATS, 10, None, &Work::default()).per_second_from(&Facts::default(), 1.0);
        assert_eq!(often.in_brackets(), "");
        assert_eq!(often.figures().count(), 0);
    }
}
