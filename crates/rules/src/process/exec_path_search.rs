//! # exec-path-search
//!
//! ## What it is
//! A program is started by its bare name, and execve is tried in each directory of PATH until it is found.
//!
//! ## Why it is slow
//! Each directory before the right one costs a failed execve; with a long PATH (or one on a network file system)
//! that is many times the cost of the lookup itself, and it is paid again for each start.
//!
//! ## Example
//! ```text
//! execve("/usr/local/sbin/convert", ["convert", "a.png"], 0x7ffd) = -1 ENOENT (No such file or directory)
//! execve("/usr/local/bin/convert", ["convert", "a.png"], 0x7ffd) = -1 ENOENT (No such file or directory)
//! execve("/usr/bin/convert", ["convert", "a.png"], 0x7ffd) = 0
//! ```
//!
//! ## What to do instead
//! Start the program by its full path, or put its directory first in PATH. Shells keep the places they found
//! (`hash`); a new shell for each command forgets them.
//!
//! ## When it is wrong
//! A few misses at the start of a program cost nothing and stay below the threshold. Mostly this is a small thing
//! beside the starts themselves (see `fork-per-task`).

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "exec-path-search",
    group: "process",
    summary: "programs are looked for along PATH with failed execve calls at each start",
    source: include_str!("exec_path_search.rs"),
    needs: &[Need::AnyOf(&["execve", "execveat"])],
    check,
};

/// Failed execve calls from which on it is a habit: a script of twenty commands with five directories each.
const MIN_MISSES: u64 = 100;
/// Programs found after a search from which on it is no start-up (a version manager's shim starts a dozen).
const MIN_FOUND: u64 = 20;
/// The same where each of them is found after [`LONG_SEARCH`] failed calls or more: no PATH of a start-up is so long.
const MIN_FOUND_LATE: u64 = 5;
/// Failed calls for each program: a PATH has ten directories, or twenty.
const LONG_SEARCH: u64 = 100;
/// Failed execve calls a second from which on they are part of the work.
const MISSES_PER_S: f64 = 5.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let searches = &facts.spawns.searches;
    let misses = searches.misses.count;
    let rate = whyslow_facts::window::per_second(misses, searches.first, searches.last);
    let often = facts.pace.untraced(rate).is_none_or(|rate| rate >= MISSES_PER_S);
    let late = misses >= LONG_SEARCH.saturating_mul(searches.found);
    let least = if late { MIN_FOUND_LATE } else { MIN_FOUND };
    if misses < MIN_MISSES || searches.found < least || !often {
        return;
    }
    let share = guards::share_of_ns(facts, None, searches.misses.total(), misses);
    let each = Measurement::number("errors_per_exec", misses as f64 / searches.found as f64);
    let rates =
        guards::rate_figures(facts, ["errors_per_second", "errors_per_second_untraced"], rate, MISSES_PER_S);
    let rate = rate.map_or(String::new(), |rate| format!(" ({} per second)", words::quantity(rate)));
    let errors = Measurement::count("errors", misses).at_least(MIN_MISSES as f64);
    let found = Measurement::count("execs", searches.found).at_least(least as f64);
    let time = Measurement::time("time_per_call", searches.misses.mean());
    let longest = searches.longest.as_ref().map(|(path, tries)| (&**path, *tries));
    let example = longest.map_or(String::new(), |(path, tries)| {
        format!(" The longest search: {path}, found after {}.", words::plural(tries as u64, "failed call"))
    });
    let path = longest.map_or("", |(path, _)| path);
    out.report(
        share,
        format!("{errors} failed execve calls{rate}: {each} for each program that is started"),
    )
    .subject(Subject { path: longest.map(|(path, _)| path.to_string()), ..Subjects::thread(facts, searches.tid) })
    .cause(format!(
        "Programs are started by their bare names, so each start tries the directories of PATH in turn; one failed call took {time} on average.{example}"
    ))
    .measured(errors)
    .measured_all(rates)
    .measured_all([found, each, time])
    .measured_all(longest.map(|(_, tries)| Measurement::count("errors_of_longest_search", tries as u64)))
    .fix(format!("start it by its full path: {}", if path.is_empty() { "/usr/bin/NAME" } else { path }))
    .fix("put its directory first in PATH (systemd: Environment=PATH=/usr/bin:/bin), and take out directories that have nothing")
    .fix("better: start fewer programs, see fork-per-task")
    .verify("bcc: execsnoop -x   (shows failed exec calls, too)")
    .saving(searches.misses.total())
    .evidence_all(searches.exemplars.iter())
    .file();
}
