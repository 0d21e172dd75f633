//! The suites and their tests: executables of libtest (or libtest-mimic), and scripts that speak like this:
//!
//! ```text
//! SCRIPT --list        a line a test: NAME, tab, WEIGHT (quarters of a CPU, or `alone`)
//! SCRIPT --run NAME    ends with 0 if it passed; a line `skipped: REASON` says that it could not be tried
//! ```

use super::build::{self, Built, TestBinary};
use super::child::{self, Ended, Mark};
use super::config::Tier;
use super::outcome;
use super::slots::Weight;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A suite of scripts.
struct Script {
    suite: &'static str,
    /// From the project's root, with its words.
    words: &'static [&'static str],
    tier: Tier,
}

const SCRIPTS: &[Script] = &[
    Script { suite: "live-bpf", words: &["cases/live/run", "--by", "bpf"], tier: Tier::Fast },
    Script { suite: "sites", words: &["cases/live/sites/run"], tier: Tier::Fast },
    Script { suite: "truth", words: &["truth/test"], tier: Tier::Fast },
    Script { suite: "truth-draws", words: &["truth/test", "--draws"], tier: Tier::Rest },
    Script { suite: "live-strace", words: &["cases/live/run", "--by", "strace"], tier: Tier::Rest },
    Script { suite: "deploy", words: &["deploy/test"], tier: Tier::Rest },
    Script { suite: "outlets", words: &["deploy/prometheus/test"], tier: Tier::Rest },
    Script { suite: "inject", words: &["cases/live/inject/run"], tier: Tier::Rest },
    Script { suite: "stress", words: &["cases/live/stress/run"], tier: Tier::Rest },
    Script { suite: "page", words: &["page/test/run"], tier: Tier::Rest },
    Script { suite: "query", words: &["query/test/run"], tier: Tier::Rest },
    Script { suite: "serve", words: &["query/serve/test/run"], tier: Tier::Rest },
    Script { suite: "fleet-serve", words: &["query/fleet-serve/test/run"], tier: Tier::Rest },
    Script { suite: "what-if", words: &["cases/live/whatif/run"], tier: Tier::Rest },
];

/// An executable that runs once more in the rest, for longer.
struct Again {
    suite: &'static str,
    of: &'static str,
    environment: &'static [(&'static str, &'static str)],
}

const AGAIN: &[Again] = &[Again {
    suite: "fuzz-long",
    of: "whyslow-fuzz::targets",
    // Ten times as many inputs, and others.
    environment: &[("FUZZ_ROUNDS", "15000"), ("FUZZ_SEED", "2")],
}];

/// A suite must say which tests it has within this time.
const LIMIT: Duration = Duration::from_secs(60);

/// How the tests of a suite are run.
#[derive(Debug)]
pub(crate) enum Kind {
    Libtest { binary: TestBinary, environment: &'static [(&'static str, &'static str)] },
    Script { path: PathBuf, words: Vec<String>, whyslow: PathBuf },
}

/// A suite and its tests, each with what the suite says of its weight.
#[derive(Debug)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) tier: Tier,
    pub(crate) tests: Result<Vec<(String, Option<Weight>)>>,
}

impl Suite {
    fn command(&self) -> Command {
        match &self.kind {
            Kind::Libtest { binary, environment } => {
                let mut command = Command::new(&binary.executable);
                build::without_own_package(&mut command);
                command.current_dir(&binary.folder).env("CARGO_MANIFEST_DIR", &binary.folder);
                command.envs(environment.iter().copied());
                command
            }
            Kind::Script { path, words, whyslow } => {
                let mut command = Command::new(path);
                build::without_own_package(&mut command);
                command.args(words).env("WHYSLOW", whyslow);
                command
            }
        }
    }

    /// The command that runs these tests of it, the several of one process on `threads`.
    pub(crate) fn command_for(&self, names: &[&str], threads: u32) -> Command {
        let mut command = self.command();
        match (&self.kind, names) {
            (Kind::Script { .. }, names) => command.arg("--run").args(names),
            (Kind::Libtest { .. }, [name]) => command.args(["--exact", name, "--nocapture"]),
            (Kind::Libtest { .. }, names) => {
                let threads = threads.to_string();
                command.args(["--exact", "--show-output", "--test-threads", &threads]).args(names)
            }
        };
        command
    }

    /// What became of each of the tests that the process was to run.
    pub(crate) fn outcomes(&self, ended: &Ended, names: &[&str]) -> Vec<(outcome::Outcome, String)> {
        match (&self.kind, names) {
            (Kind::Script { .. }, _) => vec![(outcome::of_script(ended), ended.output.clone())],
            (Kind::Libtest { .. }, [name]) => vec![(outcome::of_one(ended, name), ended.output.clone())],
            (Kind::Libtest { .. }, names) => outcome::of_several(ended, names),
        }
    }

    fn list(&self, mark: &Mark) -> Result<Vec<(String, Option<Weight>)>> {
        let mut command = self.command();
        command.arg("--list");
        if matches!(self.kind, Kind::Libtest { .. }) {
            command.args(["--format", "terse"]);
        }
        let ended = child::run(command, &self.name, LIMIT, mark, &AtomicBool::new(false))?;
        let child::End::Exited(status) = ended.end else { bail!("--list did not end within {LIMIT:?}") };
        if !status.success() {
            bail!("--list: {status}: {}", ended.output.trim());
        }
        match self.kind {
            Kind::Libtest { .. } => Ok(terse(&ended.output)),
            Kind::Script { .. } => weighed(&ended.output),
        }
    }
}

/// All suites, or, of a build that `is_part`, those that were built. One that cannot list its tests says so in their place.
pub(crate) fn suites(root: &Path, built: &Built, is_part: bool, mark: &Mark) -> Result<Vec<Suite>> {
    let libtest = |name: &str, binary: &TestBinary, environment, tier| Suite {
        name: name.to_string(),
        kind: Kind::Libtest { binary: binary.clone(), environment },
        tier,
        tests: Ok(Vec::new()),
    };
    let once = built.tests.iter().map(|binary| libtest(&binary.suite, binary, &[], Tier::Fast));
    let mut suites: Vec<Suite> = once.collect();
    if !is_part {
        let whyslow = built.whyslow.clone().context("the build made no program whyslow")?;
        suites.extend(AGAIN.iter().map(|again| {
            let binary = built.tests.iter().find(|binary| binary.suite == again.of);
            libtest(again.suite, binary.unwrap_or(&TestBinary::default()), again.environment, Tier::Rest)
        }));
        suites.extend(SCRIPTS.iter().map(|script| Suite {
            name: script.suite.to_string(),
            kind: Kind::Script {
                path: root.join(script.words[0]),
                words: script.words[1..].iter().map(|word| word.to_string()).collect(),
                whyslow: whyslow.clone(),
            },
            tier: script.tier,
            tests: Ok(Vec::new()),
        }));
    }
    for suite in &mut suites {
        suite.tests = suite.list(mark);
    }
    Ok(suites)
}

/// The names in a list of libtest's.
fn terse(output: &str) -> Vec<(String, Option<Weight>)> {
    output.lines().filter_map(|line| Some((line.strip_suffix(": test")?.to_string(), None))).collect()
}

/// The names and weights in a script's list.
fn weighed(output: &str) -> Result<Vec<(String, Option<Weight>)>> {
    let mut tests = Vec::new();
    for line in output.lines() {
        let (name, weight) =
            line.split_once('\t').with_context(|| format!("{line:?}: not NAME, tab, WEIGHT"))?;
        let weight = Weight::parse(weight).with_context(|| format!("{line:?}: {weight:?} is no weight"))?;
        if name.is_empty() || tests.iter().any(|(known, _)| known == name) {
            bail!("{line:?}: a name that is empty, or twice there");
        }
        tests.push((name.to_string(), Some(weight)));
    }
    if tests.is_empty() {
        bail!("it lists no tests");
    }
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_libtest_is_read() {
        let names: Vec<String> = terse("a::b: test\nc: test\nd: benchmark\n\n2 tests, 1 benchmark\n")
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["a::b", "c"]);
    }

    #[test]
    fn a_list_of_a_script_is_read() {
        let tests = weighed("fork_storm\talone\nsleepers\t1\n").unwrap();
        assert_eq!(tests[0], ("fork_storm".to_string(), Some(Weight::Alone)));
        assert_eq!(tests[1], ("sleepers".to_string(), Some(Weight::Quarters(1))));
        for wrong in ["", "a", "a 1", "a\tmuch", "\t1", "a\t1\na\t2"] {
            assert!(weighed(wrong).is_err(), "{wrong:?}");
        }
    }

    fn script(text: &str) -> (tempfile::TempDir, Suite) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        std::fs::write(&path, text).unwrap();
        // By the shell: what another thread forks meanwhile may still hold the file for writing.
        let words = vec![path.display().to_string(), "--by".to_string(), "x".to_string()];
        let kind = Kind::Script { path: "/bin/sh".into(), words, whyslow: "/the/binary".into() };
        (folder, Suite { name: "made-up".to_string(), kind, tier: Tier::Fast, tests: Ok(Vec::new()) })
    }

    #[test]
    fn a_script_is_asked_and_run() {
        let (_folder, suite) =
            script("[ \"$3\" = --list ] && printf 'a\\t2\\n' && exit\necho $*: $WHYSLOW\n");
        let mark = Mark::of_this_run();
        assert_eq!(suite.list(&mark).unwrap(), [("a".to_string(), Some(Weight::Quarters(2)))]);
        let stop = AtomicBool::new(false);
        let ended = child::run(suite.command_for(&["a"], 1), "a", LIMIT, &mark, &stop).unwrap();
        assert_eq!(ended.output, "--by x --run a: /the/binary\n");
        assert_eq!(suite.outcomes(&ended, &["a"])[0].0, outcome::Outcome::Passed);
    }

    #[test]
    fn a_script_that_cannot_list_is_an_error() {
        let (_folder, suite) = script("echo usage\nexit 2\n");
        assert!(suite.list(&Mark::of_this_run()).unwrap_err().to_string().contains("usage"));
    }
}
