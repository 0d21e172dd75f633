//! # zombie-buildup
//!
//! ## What it is
//! Processes that have ended are not waited for by their parent: they stay as zombies, and become more.
//!
//! ## Why it is slow
//! A zombie takes no memory or CPU, but a number. When the numbers are used up (`pid_max`, a group's `pids.max`), fork
//! fails with EAGAIN for everybody, and every list of processes is as long.
//!
//! ## Example
//! ```text
//! 4,211 zombies, 3,900 of them of supervisor (812); 32,768 numbers for processes
//! ```
//!
//! ## What to do instead
//! The parent must wait: `waitpid` in a loop upon SIGCHLD, or `SIGCHLD` set to ignored. In a container, an init that does
//! (docker run --init, tini).
//!
//! ## When it is wrong
//! A few zombies are children that end just now, or that a parent gets to later. Below fifty nothing is said, and nothing
//! of fewer than there were.

use crate::engine::{Findings, Rule};
use crate::figures;
use crate::guards::Share;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::{Entity, Metric, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "zombie-buildup",
    group: "process",
    summary: "ended processes are not waited for, and become more",
    source: include_str!("zombie_buildup.rs"),
    needs: &[figures::tasks(&[Metric::Zombies])],
    check,
};

/// Fewer are normal on a large host.
const MIN_ZOMBIES: f64 = 50.0;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let Some(host) = facts.host.host() else { return };
    let Some(reading) = host.current_reading(Metric::Zombies) else { return };
    let zombies = reading.last;
    // They are being taken away.
    if zombies < MIN_ZOMBIES || zombies < reading.max {
        return;
    }
    let grown = match zombies > reading.min {
        true => format!(" They were {} when it began.", words::quantity(reading.min)),
        false => String::new(),
    };
    let limit = host.current(Metric::PidLimit).filter(|limit| *limit > 0.0);
    let share = limit.map_or_else(figures::no_share, |limit| Share {
        value: Some((zombies / limit).min(1.0)),
        of: "the numbers for processes".to_string(),
    });
    let parent = parent_of_most(facts);
    let (whose, of, pid) = match &parent {
        Some((of, count)) => {
            let whose = format!(", {} of them of {}", words::count(*count), facts.host.name_of(of));
            (whose, of, of.pid().map_or("PID".to_string(), |pid| pid.to_string()))
        }
        None => (String::new(), &Entity::Host, "PID".to_string()),
    };
    out.report(share, format!("{} zombies{whose}: ended processes that their parent does not wait for", words::count(zombies as u64)))
        .confidence(0.9)
        .subject(figures::subject(facts, of))
        .cause(format!("Each keeps its number until its parent asks how it ended. When no number is left, nothing on the host can be started.{grown}"))
        .fix("in the parent: upon SIGCHLD call waitpid(-1, &status, WNOHANG) until it returns 0; or signal(SIGCHLD, SIG_IGN) where the outcome does not matter")
        .fix("in a container: an init that waits (docker run --init, tini, dumb-init; Kubernetes: shareProcessNamespace)")
        .fix(format!("at once: kill -CHLD {pid}; else end the parent, and init takes its zombies away"))
        .verify("ps -eo stat,ppid,comm | awk '$1 ~ /^Z/ {print $2}' | sort | uniq -c | sort -rn | head")
        .evidence_of(&Entity::Host, &[Metric::Zombies, Metric::Tasks, Metric::PidLimit])
        .file();
}

/// The parent with the most zombies, and how many it has.
fn parent_of_most(facts: &Facts) -> Option<(Entity, u64)> {
    let mut counts: std::collections::BTreeMap<u32, u64> = std::collections::BTreeMap::new();
    for (_, thing) in facts.host.processes() {
        let parent = thing.told(Trait::Parent).and_then(|parent| parent.parse().ok());
        if let Some(parent) =
            parent.filter(|_| thing.told(Trait::State).is_some_and(|state| state.starts_with('Z')))
        {
            *counts.entry(parent).or_default() += 1;
        }
    }
    let (pid, count) = counts.into_iter().max_by_key(|(pid, count)| (*count, std::cmp::Reverse(*pid)))?;
    Some((Entity::Process(pid), count))
}
