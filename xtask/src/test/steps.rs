//! What `make` checks besides the tests: format, lint, and in the rest what is not built otherwise.

use super::build;
use super::child::{self, End, Ended, Mark};
use super::config::Tier;
use super::outcome::Outcome;
use super::report::Report;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Time to fetch packages in: without a network apt does not give up by itself.
const FETCH: Duration = Duration::from_secs(600);

/// Checks that come before the tests are built.
pub(crate) fn before_build(root: &Path, mark: &Mark, report: &mut Report) {
    cargo(root, mark, report, "format", &["fmt", "--all", "--check"]);
}

/// No warning may stay; the build has linted what it compiled.
pub(crate) fn lint(warnings: usize, report: &mut Report) {
    let outcome = match warnings {
        0 => Outcome::Passed,
        _ => Outcome::Failed(format!("{warnings} warnings, which stand above at the build")),
    };
    report.check("lint", outcome, "");
}

/// Checks that come after it.
pub(crate) fn after_build(
    root: &Path,
    mark: &Mark,
    report: &mut Report,
    tier: Option<Tier>,
    stop: &AtomicBool,
) {
    if tier != Some(Tier::Rest) {
        return;
    }
    doc_tests(root, mark, report);
    // One by one: beside each other one may turn on what the other is to do without.
    for package in ["whyslow", "whyslow-record"] {
        let bare = ["check", "--quiet", "--no-default-features", "--package", package];
        cargo(root, mark, report, &format!("{package} without its features"), &bare);
    }
    // What it calls is what `fuzz/tests` calls: that its lock file fits is what nothing else tells.
    let lock = ["tree", "--quiet", "--locked", "--depth", "0", "--manifest-path", "fuzz/nightly/Cargo.toml"];
    cargo(root, mark, report, "lock file of the build for libFuzzer", &lock);
    report.step("fetch a stock kernel", |_| {
        let install = Command::new(root.join("cases/stock-kernel/install"));
        let fetched = child::run(install, "checks/stock kernel", FETCH, mark, stop);
        let wrong = match fetched {
            Ok(Ended { end: End::Exited(status), .. }) if status.success() => return,
            Ok(ended) => ended.output.lines().last().unwrap_or("no word of why").to_string(),
            Err(error) => error.to_string(),
        };
        // The tests that boot it are skipped then, and say so.
        println!("   no stock kernel can be had: {wrong}");
    });
}

/// The examples in the documentation, if there are any.
fn doc_tests(root: &Path, mark: &Mark, report: &mut Report) {
    match build::with_doc_tests(root) {
        Ok(packages) if packages.is_empty() => {}
        Ok(packages) => {
            let mut words = vec!["test", "--quiet", "--doc"];
            words.extend(packages.iter().flat_map(|package| ["--package", package.as_str()]));
            cargo(root, mark, report, "documentation's examples", &words);
        }
        Err(error) => report.wrong("documentation's examples", &format!("{error:#}")),
    }
}

/// A step that is one call of cargo; what it writes is shown as it comes.
fn cargo(root: &Path, mark: &Mark, report: &mut Report, name: &str, words: &[&str]) {
    report.step(name, |report| {
        let outcome = match build::cargo(root, mark).args(words).stdin(Stdio::null()).status() {
            Ok(status) if status.success() => Outcome::Passed,
            Ok(status) => {
                Outcome::Failed(format!("cargo {}: {status}; the errors stand above", words.join(" ")))
            }
            Err(error) => Outcome::Failed(format!("cargo: {error}")),
        };
        report.check(name, outcome, "");
    });
}
