//! What a test's end means: passed, failed, timed out, or skipped with a reason. A test that did not say that it passed did not.

use super::child::{End, Ended};
use std::collections::BTreeMap;

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// Why, where its output does not say.
    Failed(String),
    TimedOut,
    Skipped(String),
    /// The run was stopped before its end.
    Stopped,
}

impl Outcome {
    /// As the file of durations names it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed(_) => "failed",
            Outcome::TimedOut => "timed-out",
            Outcome::Skipped(_) => "skipped",
            Outcome::Stopped => "stopped",
        }
    }
}

/// A line that starts so says that the whole test was skipped, and why.
const SKIPPED: &str = "skipped: ";

/// The reason why a test with this output was skipped, if it was.
fn skip_reason(output: &str, name: &str) -> Option<String> {
    output.lines().find_map(|line| {
        // libtest has begun the line, where a test runs alone: `test NAME ... `, or `test NAME - should panic ... `.
        let rest = line.strip_prefix("test ").and_then(|rest| rest.strip_prefix(name)?.split_once(" ... "));
        let line = rest
            .filter(|(between, _)| matches!(between.trim(), "" | "- should panic"))
            .map_or(line, |rest| rest.1);
        line.strip_prefix(SKIPPED).map(|reason| reason.trim().to_string())
    })
}

/// The outcome if the process did not come to its own end.
fn cut_short(end: &End) -> Option<Outcome> {
    match end {
        End::Exited(_) => None,
        End::TimedOut => Some(Outcome::TimedOut),
        End::Stopped => Some(Outcome::Stopped),
    }
}

/// Of a script's `--run NAME`.
pub(crate) fn of_script(ended: &Ended) -> Outcome {
    match &ended.end {
        End::Exited(status) if status.success() => {
            skip_reason(&ended.output, "").map_or(Outcome::Passed, Outcome::Skipped)
        }
        End::Exited(status) => Outcome::Failed(status.to_string()),
        end => cut_short(end).unwrap_or(Outcome::Stopped),
    }
}

/// Passed, failed, ignored by the last summary of libtest in the output.
fn summary(output: &str) -> Option<[u32; 3]> {
    let line = output.lines().rev().find_map(|line| line.strip_prefix("test result: "))?;
    let counts = line.split_once(". ")?.1;
    let of = |kind: &str| {
        let part = counts.split("; ").find_map(|part| part.strip_suffix(kind))?;
        part.trim().parse().ok()
    };
    Some([of("passed")?, of("failed")?, of("ignored")?])
}

/// Of a process of libtest, or of libtest-mimic, that was to run the test `name` and no other.
pub(crate) fn of_one(ended: &Ended, name: &str) -> Outcome {
    let End::Exited(status) = &ended.end else { return cut_short(&ended.end).unwrap_or(Outcome::Stopped) };
    match summary(&ended.output) {
        // An end without a summary is an exit in the middle of the test, whatever its status.
        None => Outcome::Failed(format!("ended before its result: {status}")),
        Some(_) if !status.success() => Outcome::Failed(status.to_string()),
        Some([1, 0, 0]) => skip_reason(&ended.output, name).map_or(Outcome::Passed, Outcome::Skipped),
        Some([0, 0, 1]) => Outcome::Skipped(ignored_reason(&ended.output, name)),
        Some([0, 0, 0]) => Outcome::Failed("no test of that name ran".to_string()),
        Some([passed, failed, ignored]) => {
            Outcome::Failed(format!("{} tests of that name ran", passed + failed + ignored))
        }
    }
}

/// The reason that stands at `#[ignore = "…"]`.
fn ignored_reason(output: &str, name: &str) -> String {
    let reason = output.lines().find_map(|line| {
        let (_, result) = line.strip_prefix("test ")?.strip_prefix(name)?.split_once(" ... ")?;
        result.strip_prefix("ignored, ")
    });
    format!("ignored{}", reason.map(|reason| format!(": {reason}")).unwrap_or_default())
}

/// Of a process of libtest that was to run `names`, with `--show-output`: each test's outcome and output.
pub(crate) fn of_several(ended: &Ended, names: &[&str]) -> Vec<(Outcome, String)> {
    let said = Said::by(&ended.output);
    let ends = cut_short(&ended.end);
    let is_failure = matches!(&ended.end, End::Exited(status) if !status.success());
    let mut outcomes: Vec<(Outcome, String)> = Vec::new();
    for name in names {
        let output = said.outputs.get(name).cloned().unwrap_or_default();
        let outcome = match said.results.get(name) {
            Some(Result::Ok) => skip_reason(&output, name).map_or(Outcome::Passed, Outcome::Skipped),
            Some(Result::Failed) => Outcome::Failed(String::new()),
            Some(Result::Ignored) => Outcome::Skipped(ignored_reason(&ended.output, name)),
            None => ends.clone().unwrap_or_else(|| {
                let End::Exited(status) = &ended.end else { return Outcome::Stopped };
                Outcome::Failed(format!("its process ended before its result: {status}"))
            }),
        };
        // What a process that was cut short wrote last is of those that it did not come to.
        let output = if said.results.contains_key(name) { output } else { ended.output.clone() };
        outcomes.push((outcome, output));
    }
    let some_failed =
        outcomes.iter().any(|(outcome, _)| !matches!(outcome, Outcome::Passed | Outcome::Skipped(_)));
    if is_failure && !some_failed {
        // All said that they passed, and then it died.
        for (outcome, output) in &mut outcomes {
            *outcome = Outcome::Failed("its process failed after its tests".to_string());
            output.clone_from(&ended.output);
        }
    }
    outcomes
}

#[derive(Debug, Clone, Copy)]
enum Result {
    Ok,
    Failed,
    Ignored,
}

/// What libtest says of the tests of a process.
#[derive(Default)]
struct Said<'a> {
    results: BTreeMap<&'a str, Result>,
    outputs: BTreeMap<&'a str, String>,
}

impl<'a> Said<'a> {
    fn by(text: &'a str) -> Said<'a> {
        let mut said = Said::default();
        let mut of: Option<&str> = None;
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
            {
                of = Some(name);
            } else if matches!(line, "successes:" | "failures:") || line.starts_with("test result: ") {
                of = None;
            } else if let Some(name) = of {
                let output = said.outputs.entry(name).or_default();
                output.push_str(line);
                output.push('\n');
            } else if let Some((name, result)) =
                line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
            {
                let result = match result {
                    "ok" => Result::Ok,
                    "FAILED" => Result::Failed,
                    _ if result.starts_with("ignored") => Result::Ignored,
                    _ => continue,
                };
                said.results.insert(name.strip_suffix(" - should panic").unwrap_or(name).trim_end(), result);
            }
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::time::Duration;

    fn ended(status: i32, output: &str) -> Ended {
        let end = End::Exited(ExitStatus::from_raw(status << 8));
        Ended { end, output: output.to_string(), took: Duration::ZERO, left: Vec::new() }
    }

    const PASSED: &str =
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n";

    fn one(status: i32, output: &str) -> Outcome {
        of_one(&ended(status, output), "a::b")
    }

    #[test]
    fn a_test_passes_by_its_summary_alone() {
        assert_eq!(one(0, &format!("running 1 test\ntest a::b ... ok\n\n{PASSED}")), Outcome::Passed);
        // std::process::exit(0) in the test.
        assert!(matches!(one(0, "running 1 test\n"), Outcome::Failed(_)));
        assert!(matches!(one(101, PASSED), Outcome::Failed(_)));
        let none = PASSED.replace("1 passed", "0 passed");
        assert_eq!(one(0, &none), Outcome::Failed("no test of that name ran".to_string()));
        let two = PASSED.replace("1 passed", "2 passed");
        assert!(matches!(one(0, &two), Outcome::Failed(_)));
    }

    #[test]
    fn a_skipped_test_says_why() {
        let skipped = |reason: &str| Outcome::Skipped(reason.to_string());
        let output = |line: &str| format!("running 1 test\n{line}\n{PASSED}");
        assert_eq!(one(0, &output("test a::b ... skipped: no strace\nok")), skipped("no strace"));
        assert_eq!(one(0, &output("test a::b - should panic ... skipped: x\nok")), skipped("x"));
        // libtest-mimic pads the names.
        assert_eq!(one(0, &output("test a::b    ... skipped: y\nok")), skipped("y"));
        assert_eq!(one(0, &output("note\nskipped: no disk \ntest a::b ... ok")), skipped("no disk"));
        assert_eq!(one(0, &output("test a::b ... note: skipped: in part\nok")), Outcome::Passed);
        // Who fails has not skipped.
        assert!(matches!(one(101, &output("skipped: x")), Outcome::Failed(_)));
        let ignored = PASSED.replace("1 passed", "0 passed").replace("0 ignored", "1 ignored");
        assert_eq!(one(0, &format!("test a::b ... ignored\n{ignored}")), skipped("ignored"));
        assert_eq!(
            one(0, &format!("test a::b ... ignored, for root\n{ignored}")),
            skipped("ignored: for root")
        );
    }

    #[test]
    fn a_script_passes_by_its_status() {
        assert_eq!(of_script(&ended(0, "all well\n")), Outcome::Passed);
        assert_eq!(of_script(&ended(0, "x\nskipped: no nginx\n")), Outcome::Skipped("no nginx".to_string()));
        assert!(matches!(of_script(&ended(1, "skipped: no nginx\n")), Outcome::Failed(_)));
        let late = Ended { end: End::TimedOut, ..ended(0, "") };
        assert_eq!(of_script(&late), Outcome::TimedOut);
        assert_eq!(of_one(&late, "a"), Outcome::TimedOut);
    }

    const SEVERAL: &str = "\
running 4 tests
test a ... ok
test b - should panic ... ok
test c ... FAILED
test d ... ignored, slow

successes:

---- a stdout ----
skipped: no guest


successes:
    a
    b

failures:

---- c stdout ----
thread panicked

failures:
    c

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    #[test]
    fn each_test_of_a_process_has_its_own_outcome() {
        let outcomes = of_several(&ended(101, SEVERAL), &["a", "b", "c", "d", "e"]);
        let found: Vec<&Outcome> = outcomes.iter().map(|(outcome, _)| outcome).collect();
        assert_eq!(*found[0], Outcome::Skipped("no guest".to_string()));
        assert_eq!(*found[1], Outcome::Passed);
        assert_eq!(*found[2], Outcome::Failed(String::new()));
        assert_eq!(outcomes[2].1, "thread panicked\n\n");
        assert_eq!(*found[3], Outcome::Skipped("ignored: slow".to_string()));
        assert!(matches!(found[4], Outcome::Failed(why) if why.contains("before its result")));
    }

    #[test]
    fn a_process_that_dies_at_its_end_fails_its_tests() {
        let output = "test a ... ok\n";
        assert!(matches!(&of_several(&ended(134, output), &["a"])[..], [(Outcome::Failed(_), _)]));
        assert!(matches!(&of_several(&ended(0, output), &["a"])[..], [(Outcome::Passed, _)]));
    }
}
