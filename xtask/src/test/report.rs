//! What a run says: progress as it goes, at the end what was slow, skipped and failed, and how many passed.

use super::outcome::Outcome;
use super::quarantine::Verdict;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A test that has run.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    pub(crate) id: String,
    pub(crate) suite: String,
    pub(crate) verdict: Verdict,
    pub(crate) output: String,
    pub(crate) took: Duration,
    /// Processes that it left behind.
    pub(crate) left: Vec<String>,
    /// Why it is in quarantine.
    pub(crate) note: Option<String>,
}

impl Finished {
    /// As the file of durations names it.
    pub(crate) fn word(&self) -> &'static str {
        match &self.verdict {
            Verdict::Counts(outcome) => outcome.word(),
            Verdict::Quarantined(_) => "quarantined",
        }
    }
}

/// Lines of a failed test's output: at once, and again at the end.
const LINES: usize = 200;
const LINES_AGAIN: usize = 25;
/// Lines of its beginning besides: scripts say there what is wrong, and then show why.
const HEAD: usize = 5;
/// Slowest tests that are named.
const SLOWEST: usize = 15;
/// Tests that are named at a reason for skipping.
const NAMED: usize = 3;

/// How far a suite is.
#[derive(Debug, Default)]
struct Suite {
    waiting: usize,
    counts: BTreeMap<&'static str, usize>,
    took: Duration,
}

/// Counts, and what the end has to say.
#[derive(Debug)]
pub(crate) struct Report {
    start: Instant,
    is_terminal: bool,
    steps: Vec<(String, Duration)>,
    suites: BTreeMap<String, Suite>,
    passed: usize,
    /// Headline and output.
    failed: Vec<(String, String)>,
    quarantined: Vec<(String, String)>,
    skipped: BTreeMap<String, Vec<String>>,
    took: Vec<(Duration, String)>,
    left: Vec<String>,
}

impl Report {
    pub(crate) fn new() -> Report {
        Report {
            start: Instant::now(),
            is_terminal: std::io::stdout().is_terminal(),
            steps: Vec::new(),
            suites: BTreeMap::new(),
            passed: 0,
            failed: Vec::new(),
            quarantined: Vec::new(),
            skipped: BTreeMap::new(),
            took: Vec::new(),
            left: Vec::new(),
        }
    }

    /// A step that is timed.
    pub(crate) fn step<T>(&mut self, name: &str, step: impl FnOnce(&mut Report) -> T) -> T {
        self.say(&format!("== {name}"));
        let start = Instant::now();
        let result = step(self);
        self.say(&format!("   {name}: {:.1} s", start.elapsed().as_secs_f64()));
        self.steps.push((name.to_string(), start.elapsed()));
        result
    }

    /// Something that is checked besides the tests, and counts as one.
    pub(crate) fn check(&mut self, name: &str, outcome: Outcome, output: &str) {
        self.finished(Finished {
            id: format!("checks/{name}"),
            suite: "checks".to_string(),
            verdict: Verdict::Counts(outcome),
            output: output.to_string(),
            took: Duration::ZERO,
            left: Vec::new(),
            note: None,
        });
    }

    /// Something is wrong that is no test's result.
    pub(crate) fn wrong(&mut self, what: &str, why: &str) {
        self.check(what, Outcome::Failed(String::new()), why);
    }

    /// A test of the suite is going to run.
    pub(crate) fn expect(&mut self, suite: &str) {
        self.suites.entry(suite.to_string()).or_default().waiting += 1;
    }

    pub(crate) fn finished(&mut self, test: Finished) {
        let suite = self.suites.entry(test.suite.clone()).or_default();
        suite.waiting = suite.waiting.saturating_sub(1);
        *suite.counts.entry(test.word()).or_default() += 1;
        suite.took += test.took;
        if !test.took.is_zero() {
            self.took.push((test.took, test.id.clone()));
        }
        if !test.left.is_empty() {
            self.left.push(format!("{}: {}", test.id, test.left.join(", ")));
        }
        match &test.verdict {
            Verdict::Counts(Outcome::Passed) => self.passed += 1,
            Verdict::Counts(Outcome::Skipped(reason)) => {
                self.skipped.entry(reason.clone()).or_default().push(test.id.clone());
            }
            Verdict::Counts(outcome) => {
                let headline = headline("FAILED", outcome, &test);
                self.say(&format!("{headline}\n{}", indented(&test.output, LINES)));
                self.failed.push((headline, test.output.clone()));
            }
            Verdict::Quarantined(outcome) => {
                let headline = headline("quarantined", outcome, &test);
                self.say(&format!("{headline}\n{}", indented(&test.output, LINES)));
                self.quarantined.push((headline, test.output.clone()));
            }
        }
        self.progress(&test.suite);
    }

    /// On a terminal a line that changes, else a line for each suite that is done.
    fn progress(&self, suite: &str) {
        if self.is_terminal {
            let waiting: usize = self.suites.values().map(|suite| suite.waiting).sum();
            let seconds = self.start.elapsed().as_secs();
            print!(
                "\r\x1b[K{} passed, {} failed, {waiting} to go, {seconds} s",
                self.passed,
                self.failed.len()
            );
            // A terminal that has gone is no reason to stop.
            let _ = std::io::stdout().flush();
        } else if let Some(done) = self.suites.get(suite).filter(|of| of.waiting == 0 && suite != "checks") {
            let counts: Vec<String> =
                done.counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
            println!("{suite}: {} ({:.1} s of tests)", counts.join(", "), done.took.as_secs_f64());
        }
    }

    fn say(&self, line: &str) {
        let clear = if self.is_terminal { "\r\x1b[K" } else { "" };
        println!("{clear}{}", line.trim_end());
    }

    fn skipped_count(&self) -> usize {
        self.skipped.values().map(Vec::len).sum()
    }

    pub(crate) fn closing_line(&self) -> String {
        format!("{} passed, {} failed, {} skipped", self.passed, self.failed.len(), self.skipped_count())
    }

    /// The end of the run's output. Whether nothing failed.
    pub(crate) fn close(mut self) -> bool {
        self.took.sort_by(|a, b| b.cmp(a));
        if !self.took.is_empty() {
            self.say("slowest tests:");
        }
        for (took, id) in self.took.iter().take(SLOWEST) {
            println!("{:8.1} s  {id}", took.as_secs_f64());
        }
        if !self.left.is_empty() {
            self.say("processes that a test left behind, killed:");
            self.left.iter().for_each(|left| println!("    {left}"));
        }
        if !self.skipped.is_empty() {
            self.say("skipped:");
        }
        for (reason, ids) in &self.skipped {
            let more = if ids.len() > NAMED { ", …" } else { "" };
            let named = ids[..ids.len().min(NAMED)].join(", ");
            println!("{:6}  {reason} ({named}{more})", ids.len());
        }
        for (headline, output) in self.quarantined.iter().chain(&self.failed) {
            self.say(&format!("{headline}\n{}", indented(output, LINES_AGAIN)));
        }
        println!("time:");
        for (name, took) in &self.steps {
            println!("{:8.1} s  {name}", took.as_secs_f64());
        }
        println!("{:8.1} s  in all", self.start.elapsed().as_secs_f64());
        if !self.quarantined.is_empty() {
            println!("{} quarantined: they failed, as they may", self.quarantined.len());
        }
        println!("{}", self.closing_line());
        self.failed.is_empty()
    }
}

fn headline(word: &str, outcome: &Outcome, test: &Finished) -> String {
    let why = match outcome {
        Outcome::TimedOut => "its time was over: killed",
        Outcome::Failed(why) => why,
        Outcome::Stopped => "the run was stopped",
        Outcome::Passed | Outcome::Skipped(_) => "",
    };
    let time = if test.took.is_zero() { String::new() } else { format!("{:.1} s", test.took.as_secs_f64()) };
    let words = [why, &time, test.note.as_deref().unwrap_or_default()];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    format!("{word}: {}{}{}", test.id, if words.is_empty() { "" } else { ": " }, words.join("; "))
}

/// The first [`HEAD`] and the last `lines` of the output, indented, without backtraces: a page that says less than the line before it.
fn indented(output: &str, lines: usize) -> String {
    let mut is_backtrace = false;
    let all = output.lines().filter(|line| {
        is_backtrace = (is_backtrace || *line == "stack backtrace:") && !line.starts_with("note: ");
        !is_backtrace
    });
    let mut all: Vec<String> = all.map(|line| format!("    {line}")).collect();
    let cut = all.len().saturating_sub(HEAD + lines);
    if cut > 0 {
        all.splice(HEAD..HEAD + cut, [format!("    [… {cut} lines]")]);
    }
    all.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(id: &str, verdict: Verdict) -> Finished {
        Finished {
            id: id.to_string(),
            suite: "s".to_string(),
            verdict,
            output: "out\n".to_string(),
            took: Duration::from_millis(1500),
            left: Vec::new(),
            note: None,
        }
    }

    #[test]
    fn what_was_skipped_or_quarantined_is_not_counted_as_passed() {
        let mut report = Report::new();
        report.finished(finished("s/a", Verdict::Counts(Outcome::Passed)));
        report.finished(finished("s/b", Verdict::Counts(Outcome::Skipped("no disk".to_string()))));
        report.finished(finished("s/c", Verdict::Quarantined(Outcome::TimedOut)));
        assert_eq!(report.closing_line(), "1 passed, 0 failed, 1 skipped");
        assert!(report.close());
        let mut report = Report::new();
        report.check("format", Outcome::Passed, "");
        report.wrong("configuration", "a pattern of no test");
        report.finished(finished("s/d", Verdict::Counts(Outcome::Stopped)));
        assert_eq!(report.closing_line(), "1 passed, 2 failed, 0 skipped");
        assert!(!report.close());
    }

    #[test]
    fn a_failure_says_why() {
        let mut test = finished("s/a", Verdict::Counts(Outcome::Passed));
        assert_eq!(
            headline("FAILED", &Outcome::TimedOut, &test),
            "FAILED: s/a: its time was over: killed; 1.5 s"
        );
        test.note = Some("why (since then)".to_string());
        let outcome = Outcome::Failed(String::new());
        assert_eq!(headline("quarantined", &outcome, &test), "quarantined: s/a: 1.5 s; why (since then)");
    }

    #[test]
    fn the_end_of_an_output_is_shown() {
        let (long, cut) = ("1\n2\n3\n4\n5\nx\ny\nb\nc\n", "    [… 2 lines]\n    b\n    c");
        assert_eq!(indented(long, 2), format!("    1\n    2\n    3\n    4\n    5\n{cut}"));
        assert_eq!(indented("a\n", 2), "    a");
        let panic = "panicked\nstack backtrace:\n   0: begin\n      at x\nnote: more\nFAILED\n";
        assert_eq!(indented(panic, 9), "    panicked\n    note: more\n    FAILED");
    }
}
