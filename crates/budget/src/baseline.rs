//! A baseline: what runs took once, and the limits that follow for later ones.
//!
//! The limit is `median + max(3 x 1.4826 x MAD, share x median)`: 1.4826 x MAD is the standard deviation of what is normally distributed
//! (Hampel 1974), and three of them leave one good run in some 700 out. The share is a floor, as a few runs may agree by chance: of several
//! runs 1 % of counts and bytes and 10 % of times; of a single run, whose spread is unknown, 5 % and 25 %.

use crate::amounts::Quantity;
use crate::file::{Budget, DefinedLimit};
use crate::judge::BudgetReport;
use crate::limit::{BudgetLimit, Comparator, LimitKey};
use crate::names;
use crate::spread::spread;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The version of the file's form.
const SCHEMA: u32 = 1;
/// Median absolute deviation to standard deviation.
const SIGMA: f64 = 1.4826;
/// Standard deviations that pass.
const SIGMAS: f64 = 3.0;
/// Floors of the tolerance, of several runs and of one: counts and bytes, then times.
const FLOORS: [[f64; 2]; 2] = [[0.01, 0.10], [0.05, 0.25]];

/// One figure of a baseline.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BaselineFigure {
    /// What it counts in.
    pub quantity: Quantity,
    /// What each run took.
    pub values: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// The median of their distances from it.
    pub mad: f64,
}

impl BaselineFigure {
    /// What later runs may take.
    pub fn limit(&self) -> f64 {
        let floors = FLOORS[(self.values.len() < 2) as usize];
        let floor = floors[(self.quantity == Quantity::Time) as usize];
        self.median + (SIGMAS * SIGMA * self.mad).max(floor * self.median)
    }
}

/// What runs took.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Baseline {
    /// The version of the file's form.
    pub schema: u32,
    /// Runs measured.
    pub runs: usize,
    /// By what is measured: `stat/request`.
    pub figures: BTreeMap<String, BaselineFigure>,
}

/// What is wrong in a baseline.
#[derive(Clone, PartialEq, Debug)]
pub struct BaselineError(String);

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BaselineError {}

impl Baseline {
    /// The baseline that `text`, of `file`, writes.
    ///
    /// # Errors
    /// What is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Baseline, BaselineError> {
        let baseline: Baseline = serde_json::from_str(text).map_err(|error| {
            BaselineError(format!("{file}:{}:{}: not a baseline: {error}", error.line(), error.column()))
        })?;
        if baseline.schema != SCHEMA {
            return Err(BaselineError(format!(
                "{file}: a baseline of form {}; expected {SCHEMA}",
                baseline.schema
            )));
        }
        for (name, figure) in &baseline.figures {
            LimitKey::parse(name)
                .map_err(|error| BaselineError(format!("{file}: figure `{name}`: expected {error}")))?;
            let numbers = figure.values.iter().chain([&figure.median, &figure.mad]);
            if figure.values.is_empty() || !numbers.clone().all(|value| value.is_finite() && *value >= 0.0) {
                return Err(BaselineError(format!(
                    "{file}: figure `{name}`: expected values, all of them 0 or more"
                )));
            }
        }
        Ok(baseline)
    }

    /// What was measured for a report. What is not known in all runs is left out.
    pub fn of(report: &BudgetReport) -> Baseline {
        let mut figures = BTreeMap::new();
        for judged in
            report.limits.iter().filter(|judged| !judged.at_least && judged.defined.limit.above.is_none())
        {
            let values: Option<Vec<f64>> = judged.runs.iter().copied().collect();
            if let Some(values) = values.filter(|values| !values.is_empty()) {
                let (median, mad) = spread(&values);
                let figure = BaselineFigure { quantity: judged.quantity(), values, median, mad };
                figures.insert(judged.defined.limit.key.to_string(), figure);
            }
        }
        Baseline { schema: SCHEMA, runs: report.runs, figures }
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// The limits for later runs.
    pub fn limits(&self) -> Vec<DefinedLimit> {
        let limits = self.figures.iter().filter_map(|(name, figure)| {
            let (key, subject) = LimitKey::parse(name).ok()?;
            let amount = figure.limit();
            let words = |value| figure.quantity.words(value);
            let text = format!("{name} <= {} (baseline)", words(amount));
            let spread = match figure.values.len() {
                1 => "spread unknown, of 1 run".to_string(),
                runs => format!("spread {} of {runs} runs", words(figure.mad)),
            };
            let why = Some(format!("baseline: median {}, {spread}", words(figure.median)));
            let limit =
                BudgetLimit { text, key, subject, comparator: Comparator::AtMost, amount, above: None };
            Some(DefinedLimit { limit, why, line: None })
        });
        limits.collect()
    }
}

/// What is measured for a baseline beside the limits of the budget: all families of calls, bytes and queries, per request and per run. Times,
/// which are noisy, only where the budget limits them.
pub fn usual(budget: &Budget) -> Vec<BudgetLimit> {
    let families =
        names::FAMILIES.iter().map(|(family, _)| *family).chain(["calls", "bytes_written", "queries"]);
    let texts = families.flat_map(|name| [format!("{name}/run"), format!("{name}/request")]);
    let limits = texts.filter_map(|text| {
        let (key, subject) = LimitKey::parse(&text).ok()?;
        let known = budget.limits.iter().any(|defined| defined.limit.key == key);
        (!known).then_some(BudgetLimit {
            text,
            key,
            subject,
            comparator: Comparator::AtMost,
            amount: f64::MAX,
            above: None,
        })
    });
    limits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(quantity: Quantity, values: &[f64]) -> BaselineFigure {
        let (median, mad) = spread(values);
        BaselineFigure { quantity, values: values.to_vec(), median, mad }
    }

    #[test]
    fn the_limit_follows_the_spread() {
        // Median 100, distances 0, 1, 1, 2, 2: MAD 1.
        let counts = figure(Quantity::Count, &[98.0, 99.0, 100.0, 101.0, 102.0]);
        assert!((counts.limit() - (100.0 + 3.0 * 1.4826)).abs() < 1e-9);
        assert_eq!(figure(Quantity::Count, &[100.0, 100.0, 100.0]).limit(), 101.0);
        assert!((figure(Quantity::Time, &[100.0, 100.0]).limit() - 110.0).abs() < 1e-9);
        assert_eq!(figure(Quantity::Count, &[100.0]).limit(), 105.0);
        assert_eq!(figure(Quantity::Count, &[0.0, 0.0]).limit(), 0.0);
    }

    #[test]
    fn a_baseline_is_read_as_it_was_written() {
        let figures = BTreeMap::from([("stat/run".to_string(), figure(Quantity::Count, &[3.0, 4.0]))]);
        let baseline = Baseline { schema: SCHEMA, runs: 2, figures };
        assert_eq!(Baseline::parse("b", &baseline.to_text()), Ok(baseline.clone()));
        assert_eq!(baseline.limits()[0].limit.key.to_string(), "stat/run");
    }

    #[test]
    fn what_is_no_baseline_is_said() {
        for (text, told) in [
            ("{", "b:1:1: not a baseline"),
            (r#"{"schema":2,"runs":1,"figures":{}}"#, "form 2"),
            (
                r#"{"schema":1,"runs":1,"figures":{"statt/run":{"quantity":"count","values":[1],"median":1,"mad":0}}}"#,
                "`stat`",
            ),
            (
                r#"{"schema":1,"runs":1,"figures":{"stat/run":{"quantity":"count","values":[-1],"median":1,"mad":0}}}"#,
                "0 or more",
            ),
        ] {
            let error = Baseline::parse("b", text).unwrap_err().to_string();
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
