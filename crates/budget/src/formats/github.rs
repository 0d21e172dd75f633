//! Annotations of GitHub Actions (workflow commands), at the lines of the budget.

use crate::judge::{BudgetReport, LimitOutcome};
use std::fmt::Write as _;

pub(super) fn write(report: &BudgetReport) -> String {
    let mut out = String::new();
    for judged in &report.limits {
        let (command, title) = match judged.outcome {
            LimitOutcome::Broken => ("error", "Budget broken"),
            LimitOutcome::NotJudged => ("warning", "Budget not judged"),
            LimitOutcome::Kept => continue,
        };
        let line = judged.defined.line.map_or(String::new(), |line| format!(",line={line}"));
        let next = judged.next.as_ref().map_or(String::new(), |next| format!("\nnext: {next}"));
        let text = format!("{}: {}{next}", judged.defined.limit.text, judged.sentence());
        let _ =
            writeln!(out, "::{command} file={}{line},title={title}::{}", property(&report.file), data(&text));
    }
    let _ =
        writeln!(out, "::notice title=Budget::{}", data(&format!("{}: {}", report.file, report.summary())));
    out
}

/// As the runner's own toolkit escapes it (actions/toolkit, command.ts).
fn data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    text.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn a_broken_limit_is_an_error_at_its_line() {
        let text = super::write(&sample::report());
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].starts_with(
                "::error file=budget.toml,line=2,title=Budget broken::stat <= 10: 12 (50 %25 <of>%0A| x"
            ),
            "{text}"
        );
        assert_eq!(
            lines[1],
            "::warning file=budget.toml,line=3,title=Budget not judged::fsync <= 1/request: not judged: no requests%0Anext: record requests"
        );
        assert_eq!(lines.len(), 3, "{text}");
    }
}
