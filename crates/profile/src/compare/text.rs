//! A comparison as plain text.

use super::judge::points;
use super::{Basis, CompareRow, Comparison, StepOutcome};
use crate::kinds::short;
use std::fmt::Write as _;

/// A function's name is cut here.
const NAME: usize = 48;

impl Comparison {
    /// For people: what each step did, then the figures.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for change in &self.changes {
            let _ = writeln!(out, "step {} ({}): {}.", change.step, change.name, change.text);
        }
        match self.best {
            Some(best) => {
                let _ = writeln!(out, "best: step {best} ({}).", self.steps[best - 1].name);
            }
            None if self.changes.iter().all(|change| change.outcome == StepOutcome::Same) => {
                let _ = writeln!(out, "best: none, beyond noise.");
            }
            None => {
                let _ = writeln!(out, "best: cannot be told from these profiles.");
            }
        }
        for regression in &self.regressions {
            let _ = writeln!(
                out,
                "regression: {} {}, against step {}.",
                short(&regression.name),
                self.amounts(regression.before, regression.after),
                regression.best
            );
        }
        let _ = writeln!(out, "left: {}", self.left);
        for refusal in &self.refusals {
            let _ = writeln!(out, "note: {refusal}");
        }
        let _ = writeln!(
            out,
            "\n{:<6} {:>14} {:>10} {:>12} {:>14} {:>18}  profile",
            "step",
            "total",
            "samples",
            "length",
            "work",
            self.basis_words()
        );
        for (at, step) in self.steps.iter().enumerate() {
            let _ = writeln!(
                out,
                "{:<6} {:>14} {:>10} {:>12} {:>14} {:>18}  {}",
                at + 1,
                step.total_text,
                step.samples.map_or("-".to_string(), |samples| samples.to_string()),
                step.seconds.map_or("-".to_string(), |seconds| format!("{seconds:.1} s")),
                step.work.map_or("-".to_string(), |work| format!("{work}")),
                step.value.map_or("-".to_string(), |value| self.amount(value)),
                step.name
            );
        }
        self.rows(&mut out, "kinds of cost", &self.kinds);
        self.rows(&mut out, "functions (own cost)", &self.functions);
        self.rows(&mut out, "functions (with all below them)", &self.paths);
        out
    }

    fn rows(&self, out: &mut String, heading: &str, rows: &[CompareRow]) {
        if rows.is_empty() {
            return;
        }
        let _ = write!(out, "\n{heading:<NAME$}");
        for at in 0..self.steps.len() {
            let _ = write!(out, " {:>8}", format!("step {}", at + 1));
        }
        let _ = writeln!(out, "  first to last");
        for row in rows {
            let name: String = short(&row.name).chars().take(NAME - 1).collect();
            let _ = write!(out, "{name:<NAME$}");
            for share in &row.shares {
                let _ = write!(
                    out,
                    " {:>8}",
                    share.map_or("-".to_string(), |share| format!("{:.1} %", share * 100.0))
                );
            }
            let ends = row.shares.first().copied().flatten().zip(row.shares.last().copied().flatten());
            let ends = ends.map_or("-".to_string(), |(first, last)| {
                let is_chance = row.beyond_chance == Some(false) && first != last;
                points(first, last) + if is_chance { " (may be chance)" } else { "" }
            });
            let _ = writeln!(out, "  {ends}");
        }
    }

    fn basis_words(&self) -> String {
        match self.basis {
            Basis::Work => {
                format!("per {}", self.work_unit.as_deref().map_or("unit", |unit| unit.trim_end_matches('s')))
            }
            Basis::Second => "per second".to_string(),
            Basis::Share => "(shares only)".to_string(),
            Basis::Amount => "amount".to_string(),
        }
    }

    /// A value relative to the basis.
    fn amount(&self, value: f64) -> String {
        match (self.basis, self.measured.seconds(value)) {
            (Basis::Second, Some(seconds)) => format!("{seconds:.2} CPUs"),
            // A part of a unit of work can be less than a nanosecond.
            (_, Some(seconds)) if seconds != 0.0 && seconds.abs() < 1e-8 => {
                format!("{:.2} ns", seconds * 1e9)
            }
            _ if value != 0.0 && value.abs() < 10.0 && self.measured.seconds(1.0).is_none() => {
                format!("{value:.3}")
            }
            _ => self.measured.value(value),
        }
    }

    /// `1.28 CPUs -> 0.31 CPUs a second (4.1x less)`.
    pub(super) fn amounts(&self, before: f64, after: f64) -> String {
        let factor = match (before > 0.0 && after > 0.0, after > before) {
            (false, _) => String::new(),
            (true, true) => format!(" ({:.1}x)", after / before),
            (true, false) => format!(" ({:.1}x less)", before / after),
        };
        let of = if self.basis == Basis::Second {
            " busy".to_string()
        } else if self.basis == Basis::Work {
            format!(" {}", self.basis_words())
        } else {
            String::new()
        };
        format!("{} -> {}{of}{factor}", self.amount(before), self.amount(after))
    }
}
