//! JUnit XML: a test case a limit. Broken ones fail, what is not judged is skipped with its reason.

use crate::judge::{BudgetReport, LimitOutcome};
use std::fmt::Write as _;

pub(super) fn write(report: &BudgetReport) -> String {
    let (all, broken, skipped) =
        (report.limits.len(), report.count(LimitOutcome::Broken), report.count(LimitOutcome::NotJudged));
    let file = escaped(&report.file);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites>");
    let _ = writeln!(
        out,
        "  <testsuite name=\"whyslow check {file}\" tests=\"{all}\" failures=\"{broken}\" errors=\"0\" skipped=\"{skipped}\">"
    );
    for judged in &report.limits {
        let sentence = escaped(&judged.sentence());
        let name = escaped(&judged.defined.limit.text);
        let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{file}\"");
        match judged.outcome {
            LimitOutcome::Kept => {
                let _ = writeln!(out, ">\n      <system-out>{sentence}</system-out>\n    </testcase>");
            }
            LimitOutcome::Broken => {
                let why = judged
                    .defined
                    .why
                    .as_deref()
                    .map_or(String::new(), |why| format!("\nwhy: {}", escaped(why)));
                let _ = writeln!(
                    out,
                    ">\n      <failure message=\"{sentence}\" type=\"budget\">{name}: {sentence}{why}</failure>\n    </testcase>"
                );
            }
            LimitOutcome::NotJudged => {
                let next =
                    judged.next.as_deref().map_or(String::new(), |next| format!("; next: {}", escaped(next)));
                let _ = writeln!(out, ">\n      <skipped message=\"{sentence}{next}\"/>\n    </testcase>");
            }
        }
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// Text for XML: characters that XML 1.0 forbids are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn each_limit_is_a_case() {
        let text = super::write(&sample::report());
        assert!(text.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""), "{text}");
        assert!(text.contains("<testcase name=\"stat &lt;= 10\""), "{text}");
        assert!(
            text.contains("<skipped message=\"not judged: no requests; next: record requests\"/>"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
