//! A comment on a change: the summary, and a table of the limits.

use crate::judge::{BudgetReport, LimitOutcome};
use std::fmt::Write as _;

pub(super) fn write(report: &BudgetReport) -> String {
    let mut out = format!("**Budget {}: {}**\n\n", cell(&report.file), report.summary());
    out += "| | limit | measured |\n|---|---|---|\n";
    for outcome in [LimitOutcome::Broken, LimitOutcome::NotJudged, LimitOutcome::Kept] {
        for judged in report.limits.iter().filter(|judged| judged.outcome == outcome) {
            let mark = match outcome {
                LimitOutcome::Broken => "❌ broken",
                LimitOutcome::NotJudged => "❔ not judged",
                LimitOutcome::Kept => "✅ kept",
            };
            let sentence = judged.sentence();
            let told = sentence.strip_prefix("not judged: ").unwrap_or(&sentence);
            let next = judged.next.as_ref().map_or(String::new(), |next| format!("; next: {next}"));
            let _ = writeln!(
                out,
                "| {mark} | {} | {} |",
                cell(&judged.defined.limit.text),
                cell(&format!("{told}{next}"))
            );
        }
    }
    out
}

/// Text in a cell: nothing in it is markup, and it is one line.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\n' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '~' | '#' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            other if other.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn each_limit_is_a_row() {
        let text = super::write(&sample::report());
        assert!(text.starts_with("**Budget budget.toml: 1 of 3 limits broken, 1 not judged**\n"), "{text}");
        assert!(text.contains("| ❌ broken | stat &lt;= 10 | 12 (50 % &lt;of&gt; \\| x"), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with('|')).count(), 5);
    }
}
