//! Which tests run, in which processes, in which order.

use super::asked::Asked;
use super::config::{Config, Settings, Tier};
use super::durations::Durations;
use super::list::Suite;
use super::quarantine::Quarantine;
use super::slots::Weight;
use std::collections::BTreeMap;

/// A test of a suite.
#[derive(Debug)]
pub(crate) struct Test {
    /// SUITE/NAME
    pub(crate) id: String,
    pub(crate) suite: usize,
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) tier: Tier,
}

/// All tests of all suites.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) suites: Vec<Suite>,
    pub(crate) tests: Vec<Test>,
}

/// Tests that run in one process: one, but where they are to run together.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// Numbers of tests, all of one suite and with the settings of the first.
    pub(crate) tests: Vec<usize>,
}

impl Plan {
    pub(crate) fn of(suites: Vec<Suite>, config: &Config) -> Plan {
        let mut tests = Vec::new();
        for (number, suite) in suites.iter().enumerate() {
            for (name, weight) in suite.tests.iter().flatten() {
                let id = format!("{}/{name}", suite.name);
                let settings = config.of(&id, *weight);
                let tier = settings.tier.unwrap_or(suite.tier);
                tests.push(Test { id, suite: number, name: name.clone(), settings, tier });
            }
        }
        Plan { suites, tests }
    }

    /// The suites that could not say which tests they have, and why: each is a failure.
    pub(crate) fn unlisted(&self) -> impl Iterator<Item = (&str, &anyhow::Error)> {
        self.suites.iter().filter_map(|suite| Some((suite.name.as_str(), suite.tests.as_ref().err()?)))
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.tests.iter().map(|test| test.id.clone()).collect()
    }

    /// Keeps what is asked for. A run of the rest also tries what is in quarantine, wherever it belongs.
    pub(crate) fn keep(&mut self, asked: &Asked, quarantine: &Quarantine) {
        let is_named =
            |id: &str| asked.names.is_empty() || asked.names.iter().any(|name| id.contains(name.as_str()));
        self.tests.retain(|test| {
            let is_of_tier = asked.tier.is_none_or(|tier| tier == test.tier);
            let is_tried = asked.tier == Some(Tier::Rest) && quarantine.has(&test.id);
            (is_of_tier || is_tried) && is_named(&test.id)
        });
    }

    /// The processes in the order to try them: those that took longest first, those that need the machine to themselves last.
    pub(crate) fn processes(&self, durations: &Durations, quarantine: &Quarantine) -> Vec<Process> {
        let mut together: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
        let mut processes = Vec::new();
        for (number, test) in self.tests.iter().enumerate() {
            match &test.settings.together {
                // It may have to run more often than the others.
                Some(name) if !quarantine.has(&test.id) => {
                    together.entry((test.suite, name)).or_default().push(number);
                }
                _ => processes.push(Process { tests: vec![number] }),
            }
        }
        processes.extend(together.into_values().map(|tests| Process { tests }));
        processes.sort_by(|a, b| {
            self.rank(a, durations).partial_cmp(&self.rank(b, durations)).unwrap_or(std::cmp::Ordering::Equal)
        });
        processes
    }

    fn rank(&self, process: &Process, durations: &Durations) -> (bool, f64) {
        let is_alone = self.tests[process.tests[0]].settings.need.weight == Weight::Alone;
        let seconds = process
            .tests
            .iter()
            .map(|&test| durations.get(&self.tests[test].id).map_or(UNKNOWN, |row| row.0));
        (is_alone, -seconds.fold(0.0, f64::max))
    }

    pub(crate) fn print(&self) {
        for test in &self.tests {
            println!("{}\t{}\t{} s", test.id, test.settings.need.weight, test.settings.limit.as_secs());
        }
    }
}

/// Seconds that a test is expected to take that never ran: before the many that take none, after those known to be slow.
const UNKNOWN: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::TestBinary;
    use crate::list::Kind;

    fn plan(config: &str) -> Plan {
        let suite = |name: &str, tier, tests: &[&str]| Suite {
            name: name.to_string(),
            kind: Kind::Libtest {
                binary: TestBinary { suite: name.to_string(), executable: "x".into(), folder: "x".into() },
                environment: &[],
            },
            tier,
            tests: Ok(tests.iter().map(|test| (test.to_string(), None)).collect()),
        };
        let mut broken = suite("broken", Tier::Fast, &[]);
        broken.tests = Err(anyhow::anyhow!("usage"));
        let suites = vec![
            suite("fast", Tier::Fast, &["one", "two", "three", "guest::a", "guest::b"]),
            suite("rest", Tier::Rest, &["one"]),
            broken,
        ];
        Plan::of(suites, &Config::parse(config).unwrap())
    }

    const CONFIG: &str = "fast/three weight=alone\nfast/guest::* together=guest\nfast/two tier=all\n";

    #[test]
    fn a_suite_that_cannot_list_is_named() {
        let plan = plan(CONFIG);
        let unlisted: Vec<&str> = plan.unlisted().map(|(suite, _)| suite).collect();
        assert_eq!(unlisted, ["broken"]);
    }

    #[test]
    fn a_tier_and_names_are_kept() {
        let quarantine = Quarantine::parse("fast/one\t2026-01-01\t7\twhy\n").unwrap();
        let kept = |tier, names: &[&str]| {
            let mut plan = plan(CONFIG);
            let names = names.iter().map(|name| name.to_string()).collect();
            plan.keep(&Asked { tier, names, ..Asked::default() }, &quarantine);
            plan.ids().join(" ")
        };
        assert_eq!(kept(Some(Tier::Fast), &[]), "fast/one fast/three fast/guest::a fast/guest::b");
        assert_eq!(kept(Some(Tier::Rest), &[]), "fast/one fast/two rest/one");
        assert_eq!(kept(None, &["one", "two"]), "fast/one fast/two rest/one");
    }

    #[test]
    fn slow_ones_are_first_and_lone_ones_last() {
        let plan = plan(CONFIG);
        let durations = Durations::from([
            ("fast/one".to_string(), (0.1, "passed".to_string())),
            ("fast/three".to_string(), (90.0, "passed".to_string())),
            ("fast/guest::a".to_string(), (30.0, "passed".to_string())),
        ]);
        let names = |quarantine: &str| -> Vec<String> {
            let quarantine = Quarantine::parse(quarantine).unwrap();
            let processes = plan.processes(&durations, &quarantine);
            let names = |process: &Process| {
                process.tests.iter().map(|&test| plan.tests[test].name.as_str()).collect::<Vec<_>>().join("+")
            };
            processes.iter().map(names).collect()
        };
        assert_eq!(names(""), ["guest::a+guest::b", "two", "one", "one", "three"]);
        assert_eq!(
            names("fast/guest::b\t2026-01-01\t7\twhy\n"),
            ["guest::a", "two", "guest::b", "one", "one", "three"]
        );
    }
}
