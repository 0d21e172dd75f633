//! How often a warning of each rule was the right first finding, measured over programs with known causes (docs/TRUTH.md).

use std::collections::HashMap;
use std::sync::LazyLock;

/// Written by `truth/run precision`: rule, draws in which its warning came first, those in which it was right.
const TABLE: &str = include_str!("precision.tsv");
/// Fewer draws than this measure nothing.
const FEW: f64 = 3.0;
/// The mean of all rules counts as so many draws beside a rule's own, so that three of three are not held to be never wrong. Of
/// 1, 2, 4 and 8 it had the smallest error on runs that were left out.
const MEAN_DRAWS: f64 = 2.0;

/// What was counted of warnings.
#[derive(Clone, Copy, Default)]
struct Counted {
    first: f64,
    right: f64,
}

impl Counted {
    fn rate(self) -> f64 {
        self.right / self.first.max(1.0)
    }
}

struct Precision {
    rules: HashMap<&'static str, Counted>,
    /// Of all rules, on programs that rules' authors may have seen.
    open: f64,
    /// What is left of that on all programs, with those that nobody has seen.
    unseen: f64,
}

static PRECISION: LazyLock<Precision> = LazyLock::new(|| Precision::read(TABLE));

impl Precision {
    fn read(table: &'static str) -> Precision {
        let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
        let rules: HashMap<&str, Counted> = rows
            .filter_map(|line| {
                let mut cells = line.split('\t');
                let rule = cells.next()?;
                let mut number = || cells.next()?.parse().ok();
                Some((rule, Counted { first: number()?, right: number()? }))
            })
            .collect();
        let rate = |kind| rules.get(kind).copied().unwrap_or_default().rate();
        let (all, open): (f64, f64) = (rate("(all)"), rate("(open)"));
        Precision { unseen: if open > 0.0 { (all / open).min(1.0) } else { 0.0 }, open, rules }
    }

    fn of(&self, rule: &str) -> Option<f64> {
        let counted = self.rules.get(rule).filter(|counted| counted.first >= FEW)?;
        let mean = self.open * MEAN_DRAWS;
        Some(self.unseen * (counted.right + mean) / (counted.first + MEAN_DRAWS))
    }
}

/// How often a warning of the rule is right where it comes first: 0 to 1; `None` where too few were seen.
pub fn of(rule: &str) -> Option<f64> {
    PRECISION.of(rule)
}

/// The same for an order: of a rule of which too few were seen, that of all rules.
pub fn or_mean(rule: &str) -> f64 {
    of(rule).unwrap_or(PRECISION.open * PRECISION.unseen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_tends_to_the_mean_of_all_until_it_was_seen_often() {
        let read = Precision::read(
            "# head\nrule\tfirst\tright\n(all)\t10\t6\n(open)\t8\t6\nsafe\t6\t6\nrare\t2\t2\n",
        );
        // 0.8 is left of what open programs show: (6 + 2 x 0.75) / 8 of it.
        assert!((read.of("safe").expect("seen often") - 0.8 * 7.5 / 8.0).abs() < 1e-9);
        assert_eq!(read.of("rare"), None);
        assert_eq!(read.of("never-heard-of"), None);
    }

    #[test]
    fn the_table_is_about_rules() {
        for name in PRECISION.rules.keys().filter(|name| !name.starts_with('(')) {
            assert!(crate::find(name).is_some(), "{name} is no rule: run `truth/run precision`");
            assert!(of(name).is_none_or(|sure| (0.0..=1.0).contains(&sure)), "{name}");
        }
        assert!(PRECISION.rules.len() > 20 && (0.3..1.0).contains(&or_mean("cpu-bound")));
    }
}
