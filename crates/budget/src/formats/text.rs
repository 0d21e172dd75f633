//! For people: a line a limit, what is broken first.

use crate::judge::{BudgetReport, JudgedLimit, LimitOutcome};
use std::fmt::Write as _;
use whyslow_model::visible;

pub(super) fn write(report: &BudgetReport) -> String {
    let mut out = format!("{}: {}\n", visible::line(&report.file), report.summary());
    for outcome in [LimitOutcome::Broken, LimitOutcome::NotJudged, LimitOutcome::Kept] {
        for judged in report.limits.iter().filter(|judged| judged.outcome == outcome) {
            line(judged, &mut out);
        }
    }
    out
}

fn line(judged: &JudgedLimit, out: &mut String) {
    let sentence = judged.sentence();
    let told = sentence.strip_prefix("not judged: ").unwrap_or(&sentence);
    let _ = writeln!(
        out,
        "  {:10}  {}: {}",
        judged.outcome.word(),
        visible::line(&judged.defined.limit.text),
        visible::line(told)
    );
    if judged.outcome == LimitOutcome::Kept {
        return;
    }
    if let Some(why) = &judged.defined.why {
        let _ = writeln!(out, "              why: {}", visible::line(why));
    }
    if let Some(next) = &judged.next {
        let _ = writeln!(out, "              next: {}", visible::line(next));
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn what_is_broken_comes_first() {
        let text = super::write(&sample::report());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "budget.toml: 1 of 3 limits broken, 1 not judged");
        assert!(lines[1].starts_with("  broken      stat <= 10: 12"), "{text}");
        assert!(text.contains("  not judged  fsync <= 1/request: no requests\n"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
