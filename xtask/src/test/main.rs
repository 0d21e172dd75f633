//! The test runner: `cargo xtask test`. docs/TESTING.md says how to use it; this folder is how it works.
//!
//! Why not cargo-nextest: where no prebuilt one can be had, building it takes longer than all of our tests. What we need of it is
//! little (a process per test, a time limit, weights, true counts of what was skipped), and libtest's own interface
//! (`--list --format terse`, `--exact NAME`) gives it. That interface is also what libtest-mimic speaks, and it can be put in front of
//! scripts. So this stays small, and there is no retry in it: a test that fails has failed.

mod asked;
mod build;
mod child;
mod config;
mod durations;
mod list;
mod outcome;
mod plan;
mod pool;
mod quarantine;
mod report;
mod slots;
mod steps;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the project's root")?;
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test", "--help"] => {
            println!("{}", asked::USAGE);
            Ok(ExitCode::SUCCESS)
        }
        ["test", words @ ..] => test(root, &asked::Asked::parse(words)?),
        words => other_chore(root, words),
    }
}

/// What is no test: xtask itself does it.
fn other_chore(root: &Path, words: &[&str]) -> Result<ExitCode> {
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["run", "--quiet", "--package", "xtask", "--bin", "xtask", "--"])
        .args(words)
        .current_dir(root)
        .status()
        .context("cargo")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds, runs and reports what is asked for; the closing line is printed in any case.
fn test(root: &Path, asked: &asked::Asked) -> Result<ExitCode> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("a handler of signals")?;
    }
    let mark = child::Mark::of_this_run();
    let mut report = report::Report::new();
    let done = run(root, asked, &mark, &stop, &mut report);
    // Whatever went wrong, nothing that we started stays, and the closing line is said.
    mark.kill_all();
    if let Err(error) = done {
        report.wrong("runner", &format!("{error:#}"));
    }
    Ok(if report.close() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run(
    root: &Path,
    asked: &asked::Asked,
    mark: &child::Mark,
    stop: &AtomicBool,
    report: &mut report::Report,
) -> Result<()> {
    let config = config::Config::read(&root.join(config::FILE))?;
    let quarantine = quarantine::Quarantine::read(&root.join(quarantine::FILE))?;
    if asked.checks && asked.tier == Some(config::Tier::Fast) {
        steps::before_build(root, mark, report);
    }
    let only = build::enough_for(&asked.names).filter(|_| !asked.checks);
    let built = match report.step("build", |_| build::build(root, mark, only.as_deref())) {
        Ok(built) => built,
        Err(error) => {
            report.wrong("build", &format!("{error:#}"));
            return Ok(());
        }
    };
    if asked.checks {
        steps::lint(built.warnings, report);
        steps::after_build(root, mark, report, asked.tier, stop);
    }
    let suites = report.step("list the tests", |_| list::suites(root, &built, only.is_some(), mark))?;
    let mut plan = plan::Plan::of(suites, &config);
    for (suite, error) in plan.unlisted() {
        report.wrong(suite, &format!("{error:#}"));
    }
    let ids = plan.ids();
    if only.is_none() {
        for pattern in config.unused(&ids) {
            report.wrong(
                "configuration",
                &format!("{}: {pattern}: no test is called so: remove it", config::FILE),
            );
        }
        for wrong in quarantine.wrong(&ids, quarantine::today()) {
            report.wrong("configuration", &wrong);
        }
    }
    plan.keep(asked, &quarantine);
    if asked.list {
        plan.print();
        return Ok(());
    }
    if plan.tests.is_empty() {
        bail!("no test is called so: {}", asked.names.join(", "));
    }
    if asked.checks {
        // What the build has written goes to the disk now, not under the eyes of tests that judge the disk.
        report.step("write back", |_| rustix::fs::sync());
    }
    let file = durations::file(root);
    let before = durations::read(&file);
    let processes = plan.processes(&before, &quarantine);
    let run = pool::Run { plan: &plan, quarantine: &quarantine, tier: asked.tier, mark, stop };
    let now = report.step("tests", |report| run.all(processes, report));
    durations::write(&file, before, now).with_context(|| file.display().to_string())
}

/// All files below `folder` with that extension.
fn files_below(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_below(&path, extension)?);
        } else if path.extension().is_some_and(|known| known == extension) {
            found.push(path);
        }
    }
    Ok(found)
}
