//! The forms in which a report is told: to people, to tickets, and to CI.

mod github;
mod json;
mod junit;
mod markdown;
mod sarif;
mod text;

use crate::judge::BudgetReport;

/// One form.
pub struct BudgetFormat {
    /// As it is asked for.
    pub name: &'static str,
    /// The ending by which a file asks for it.
    pub extension: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// The report in this form.
    pub write: fn(&BudgetReport) -> String,
}

/// All forms.
pub static BUDGET_FORMATS: &[&BudgetFormat] = &[
    &BudgetFormat { name: "text", extension: "txt", summary: "for people", write: text::write },
    &BudgetFormat { name: "json", extension: "json", summary: "all figures", write: json::write },
    &BudgetFormat {
        name: "junit",
        extension: "xml",
        summary: "JUnit XML: a test case a limit",
        write: junit::write,
    },
    &BudgetFormat {
        name: "github",
        extension: "github",
        summary: "annotations of GitHub Actions, at the lines of the budget",
        write: github::write,
    },
    &BudgetFormat { name: "sarif", extension: "sarif", summary: "SARIF 2.1.0", write: sarif::write },
    &BudgetFormat {
        name: "markdown",
        extension: "md",
        summary: "a comment on a change",
        write: markdown::write,
    },
];

/// The form of that name.
pub fn find(name: &str) -> Option<&'static BudgetFormat> {
    BUDGET_FORMATS.iter().copied().find(|format| format.name == name)
}

/// The form that a file's ending asks for.
pub fn of_extension(extension: &str) -> Option<&'static BudgetFormat> {
    BUDGET_FORMATS.iter().copied().find(|format| format.extension == extension)
}

#[cfg(test)]
pub(crate) mod sample {
    use crate::file::DefinedLimit;
    use crate::judge::{BudgetReport, JudgedLimit, LimitOutcome};
    use crate::limit::BudgetLimit;

    /// A limit of each outcome, with text that must be escaped.
    pub(crate) fn report() -> BudgetReport {
        let judged = |text: &str, line, outcome, value, reason: Option<&str>| JudgedLimit {
            defined: DefinedLimit {
                limit: BudgetLimit::parse(text).unwrap(),
                why: Some("a <disk> & \"more\"".to_string()),
                line: Some(line),
            },
            outcome,
            value,
            at_least: false,
            mad: None,
            runs: vec![value],
            reason: reason.map(str::to_string),
            next: reason.map(|_| "record requests".to_string()),
            note: value.map(|_| "50 % <of>\n| x \u{1b}[1m".to_string()),
        };
        BudgetReport {
            file: "budget.toml".to_string(),
            runs: 1,
            limits: vec![
                judged("stat <= 10", 2, LimitOutcome::Broken, Some(12.0), None),
                judged("fsync <= 1/request", 3, LimitOutcome::NotJudged, None, Some("no requests")),
                judged("bytes_written <= 2 MB", 4, LimitOutcome::Kept, Some(1e6), None),
            ],
        }
    }
}
