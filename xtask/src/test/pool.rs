//! Runs the processes of a plan beside each other, as many as the machine has room for.

use super::child::{self, Mark};
use super::config::Tier;
use super::durations::Durations;
use super::outcome::Outcome;
use super::plan::{Plan, Process};
use super::quarantine::{self, Quarantine, Verdict};
use super::report::{Finished, Report};
use super::slots::{Need, Slots, Weight};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// What a run of a plan goes by.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) quarantine: &'a Quarantine,
    pub(crate) tier: Option<Tier>,
    pub(crate) mark: &'a Mark,
    pub(crate) stop: &'a AtomicBool,
}

impl Run<'_> {
    /// Runs `processes`, the first ones first; how long each test took.
    pub(crate) fn all(self, processes: Vec<Process>, report: &mut Report) -> Durations {
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32);
        let mut slots = Slots::new(cpus);
        let mut waiting = processes;
        let mut running = 0;
        let mut durations = Durations::new();
        for test in &self.plan.tests {
            report.expect(&self.plan.suites[test.suite].name);
        }
        std::thread::scope(|scope| {
            let (sender, ended) = channel();
            loop {
                waiting.retain(|process| {
                    let is_stopped = self.stop.load(Ordering::Relaxed);
                    if is_stopped || slots.is_full() || !slots.take(self.need(process)) {
                        return true;
                    }
                    running += 1;
                    let (sender, tests) = (sender.clone(), process.tests.clone());
                    scope.spawn(move || {
                        let process = Process { tests };
                        let finished = self.one(&process);
                        // Nobody hears it only where the receiver has gone with the whole run.
                        let _ = sender.send((process, finished));
                    });
                    false
                });
                if running == 0 {
                    break;
                }
                let Ok((process, finished)) = ended.recv() else { break };
                running -= 1;
                slots.give(self.need(&process));
                for finished in finished {
                    durations.insert(
                        finished.id.clone(),
                        (finished.took.as_secs_f64(), finished.word().to_string()),
                    );
                    report.finished(finished);
                }
            }
        });
        let left_out: usize = waiting.iter().map(|process| process.tests.len()).sum();
        if left_out > 0 {
            report.wrong("runner", &format!("stopped: {left_out} tests did not run"));
        }
        durations
    }

    fn need(&self, process: &Process) -> &Need {
        &self.plan.tests[process.tests[0]].settings.need
    }

    fn one(&self, process: &Process) -> Vec<Finished> {
        let first = &self.plan.tests[process.tests[0]];
        let is_quarantined = process.tests.len() == 1 && self.quarantine.has(&first.id);
        let runs = if is_quarantined && self.tier == Some(Tier::Rest) { quarantine::RUNS } else { 1 };
        let start = Instant::now();
        let mut passes = 0;
        loop {
            let mut finished = self.once(process);
            let is_passed = finished.iter().all(|test| test.verdict == Verdict::Counts(Outcome::Passed));
            passes += u32::from(is_passed);
            if is_passed && passes < runs && start.elapsed() < quarantine::TIME {
                continue;
            }
            if is_quarantined {
                for test in &mut finished {
                    if let Verdict::Counts(last) = &test.verdict {
                        test.verdict = quarantine::judge(last.clone(), passes, runs);
                    }
                    test.note = self.quarantine.reason(&test.id);
                    test.took = start.elapsed();
                }
            }
            return finished;
        }
    }

    fn once(&self, process: &Process) -> Vec<Finished> {
        let tests: Vec<_> = process.tests.iter().map(|&test| &self.plan.tests[test]).collect();
        let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
        let suite = &self.plan.suites[tests[0].suite];
        let settings = &tests[0].settings;
        let threads = match settings.need.weight {
            Weight::Quarters(quarters) => quarters.div_ceil(4),
            Weight::Alone => 1,
        };
        let ended = child::run(
            suite.command_for(&names, threads),
            &tests[0].id,
            settings.limit,
            self.mark,
            self.stop,
        );
        let (outcomes, took, mut left) = match ended {
            Ok(ended) => (suite.outcomes(&ended, &names), ended.took, ended.left),
            Err(error) => {
                let failed = Outcome::Failed(format!("cannot be run: {error}"));
                (vec![(failed, String::new()); tests.len()], Duration::ZERO, Vec::new())
            }
        };
        // Of several tests in a process it is not known which took how long.
        let took = took / tests.len() as u32;
        let pairs = tests.iter().zip(outcomes);
        pairs
            .map(|(test, (outcome, output))| Finished {
                id: test.id.clone(),
                suite: suite.name.clone(),
                verdict: Verdict::Counts(outcome),
                output,
                took,
                left: std::mem::take(&mut left),
                note: None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::list::{Kind, Suite};

    /// Runs the tests of a script, each named after what it does.
    fn run(names: &[&str], quarantine: &str, tier: Tier) -> (Report, Durations, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let log = folder.path().join("log");
        let script = format!(
            "echo $2 >>{log}\ncase $2 in\npass*) ;;\nfail*) echo sorry; exit 1 ;;\nskip*) echo skipped: no need ;;\n\
             sleep*) sleep 30 ;;\nthird*) [ $(grep -c $2 {log}) -lt 3 ] ;;\nesac\n",
            log = log.display()
        );
        std::fs::write(&path, script).unwrap();
        let words = vec![path.display().to_string()];
        let suite = Suite {
            name: "s".to_string(),
            kind: Kind::Script { path: "/bin/sh".into(), words, whyslow: "x".into() },
            tier: Tier::Fast,
            tests: Ok(names.iter().map(|name| (name.to_string(), None)).collect()),
        };
        let config = Config::parse("s/sleep* limit=1 weight=1\ns/* weight=2").unwrap();
        let mut report = Report::new();
        let plan = Plan::of(vec![suite], &config);
        let quarantine = Quarantine::parse(quarantine).unwrap();
        let (mark, stop) = (Mark::of_this_run(), AtomicBool::new(false));
        let run = Run { plan: &plan, quarantine: &quarantine, tier: Some(tier), mark: &mark, stop: &stop };
        let durations = run.all(plan.processes(&Durations::new(), &quarantine), &mut report);
        (report, durations, folder)
    }

    fn runs_of(name: &str, folder: &tempfile::TempDir) -> usize {
        std::fs::read_to_string(folder.path().join("log"))
            .unwrap()
            .lines()
            .filter(|line| *line == name)
            .count()
    }

    #[test]
    fn each_outcome_is_counted_as_what_it_is() {
        let (report, durations, _) = run(&["pass", "fail", "skip", "sleep", "pass2"], "", Tier::Fast);
        assert_eq!(report.closing_line(), "2 passed, 2 failed, 1 skipped");
        assert_eq!(durations["s/sleep"].1, "timed-out");
        assert_eq!(durations["s/skip"].1, "skipped");
        assert!(durations["s/sleep"].0 >= 1.0);
    }

    #[test]
    fn a_failure_in_quarantine_fails_nothing_and_is_not_passed() {
        let (report, _, folder) = run(&["fail", "pass"], "s/fail\t2026-01-01\t#1\twhy\n", Tier::Fast);
        assert_eq!(report.closing_line(), "1 passed, 0 failed, 0 skipped");
        assert_eq!(runs_of("fail", &folder), 1);
        assert!(report.close());
    }

    #[test]
    fn what_is_in_quarantine_runs_twenty_times_in_the_rest() {
        let quarantine = "s/pass\t2026-01-01\t#1\twhy\ns/third\t2026-01-01\t#1\twhy\n";
        let (report, _, folder) = run(&["pass", "third", "pass2"], quarantine, Tier::Rest);
        // One healed, which fails; one failed the third time, which it may.
        assert_eq!(report.closing_line(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(
            (runs_of("pass", &folder), runs_of("third", &folder), runs_of("pass2", &folder)),
            (20, 3, 1)
        );
        assert!(!report.close());
    }

    #[test]
    fn a_failure_is_not_tried_again() {
        let (report, _, folder) = run(&["third", "fail"], "", Tier::Rest);
        assert_eq!(report.closing_line(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(runs_of("fail", &folder), 1);
    }
}
