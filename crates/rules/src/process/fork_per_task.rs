//! # fork-per-task
//!
//! ## What it is
//! A program starts a child process for each small piece of work: a shell loop that runs `date` or `sed` for each
//! line, a service that calls an external command for each request.
//!
//! ## Why it is slow
//! A fork and exec costs a millisecond or more before the child does anything: copying page tables, loading the
//! program and its libraries, ending again. A loop of 1,000 lines with three commands each spends seconds on it.
//!
//! ## Example
//! ```text
//! clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f3a10) = 4711
//! wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL) = 4711
//! ```
//!
//! ## What to do instead
//! Do it inside the process: a library call, the shell's own `${x%y}` and `printf '%(%F)T'`, one awk for the whole
//! file. Give many items to one child (`xargs -n 500`, `find -exec … +`). Keep one worker alive and feed it.
//!
//! ## When it is wrong
//! A build starts a compiler for each file because that is its work: make, ninja and their like, with all that
//! they start, are left out. Workers that are forked once and live on are not counted.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::{Facts, Forks, ProcessId};
use whyslow_model::{Measurement, Nanos, SaturatingSum, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "fork-per-task",
    group: "process",
    summary: "a child process is started for each small piece of work",
    source: include_str!("fork_per_task.rs"),
    needs: &[Need::AnyOf(&["fork", "vfork", "clone", "clone3"])],
    check,
};

/// Forks a second from which on they are part of the work and not of its set-up.
const FORKS_PER_S: f64 = 5.0;
/// Forks from which on it is a habit: a script of a few commands stays below.
const MIN_FORKS: u64 = 20;
/// Children that live longer do real work on their own.
const SHORT_LIFE: Nanos = Nanos::from_secs(1);
/// The part of the children that must have ended (or been waited for): the others are workers that stay.
const ENDED_SHARE: f64 = 0.5;
/// Programs that start others because that is their work, by name.
const BUILD_TOOLS: [&str; 24] = [
    "make",
    "gmake",
    "ninja",
    "cmake",
    "meson",
    "bazel",
    "scons",
    "cargo",
    "go",
    "gcc",
    "g++",
    "cc",
    "c++",
    "clang",
    "clang++",
    "collect2",
    "ccache",
    "configure",
    "dpkg",
    "rpmbuild",
    "libtool",
    "mvn",
    "gradle",
    "buildah",
];

/// The children of one parent, as far as the capture shows them.
struct Children {
    seen: u64,
    ended: u64,
    /// Those of which begin and end are known.
    timed: u64,
    life_ns: u64,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut parents: Vec<(&Forks, Children, Share)> = facts
        .spawns
        .by_parent
        .iter()
        .filter(|(process, forks)| is_habit(facts, forks) && !builds(facts, **process))
        .map(|(process, forks)| (*process, forks, children(facts, *process)))
        .filter(|(_, forks, children)| are_short(forks, children))
        .map(|(process, forks, children)| {
            let share = share(facts, process, forks, &children);
            (forks, children, share)
        })
        .collect();
    parents.sort_by_key(|(forks, ..)| (std::cmp::Reverse(forks.forks.count), forks.tid));
    for (forks, children, share) in parents {
        report(facts, out, forks, &children, share);
    }
}

#[gated]
fn is_habit(facts: &Facts, forks: &Forks) -> bool {
    let rate = whyslow_facts::window::per_second(forks.forks.count, forks.first, forks.last);
    forks.forks.count >= MIN_FORKS && facts.pace.untraced(rate).is_none_or(|rate| rate >= FORKS_PER_S)
}

/// True for a build tool and for what it started.
#[gated]
fn builds(facts: &Facts, process: ProcessId) -> bool {
    let mut at = Some(process);
    // Generations: far more than any build nests.
    for _ in 0..64 {
        let Some(process) = at.map(|id| facts.world.threads.process(id)) else {
            return false;
        };
        if process.program().is_some_and(|name| BUILD_TOOLS.contains(&name)) {
            return true;
        }
        at = process.parent;
    }
    false
}

#[gated]
fn children(facts: &Facts, parent: ProcessId) -> Children {
    let mut children = Children { seen: 0, ended: 0, timed: 0, life_ns: 0 };
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    for thread in threads {
        let process = facts.world.threads.process(thread.process);
        if process.parent != Some(parent) || process.pid != Some(thread.tid) {
            continue;
        }
        children.seen += 1;
        children.ended += process.exited as u64;
        if let Some(life) = thread.wall().get().filter(|_| process.exited) {
            children.timed += 1;
            children.life_ns += life;
        }
    }
    children
}

/// The part of the children that have ended; of those that are not seen, that were waited for.
fn ended(forks: &Forks, children: &Children) -> f64 {
    let (ended, of) = match children.seen {
        0 => (forks.waits.count - forks.waits.errors, forks.forks.count),
        seen => (children.ended, seen),
    };
    (ended as f64 / of.max(1) as f64).min(1.0)
}

#[gated]
fn are_short(forks: &Forks, children: &Children) -> bool {
    let life = children.life_ns.checked_div(children.timed).filter(|_| children.seen > 0);
    ended(forks, children) >= ENDED_SHARE && life.is_none_or(|life| life <= SHORT_LIFE.or_zero())
}

/// The part of the parent's time that went into its children: their lives where they are seen and it waits for them, else the
/// forks and the waits for them.
#[gated]
fn share(facts: &Facts, parent: ProcessId, forks: &Forks, children: &Children) -> Share {
    let tid = Some(forks.tid).filter(|_| !forks.shared);
    let count = forks.forks.count + forks.waits.count;
    let own = forks.forks.total().or_zero() + forks.waits.total().or_zero();
    // Whom nobody waits for takes none of the parent's time.
    let lives = if forks.waits.count > 0 { children.life_ns } else { 0 };
    let total = match own.max(lives) {
        0 => counted(facts, parent),
        total => total,
    };
    guards::share_of_ns(facts, tid, if total > 0 { Nanos::new(total) } else { Nanos::UNKNOWN }, count)
}

/// Where calls were only counted: the parent's time in forks, and its children's until their program was loaded, ns.
#[gated]
fn counted(facts: &Facts, parent: ProcessId) -> u64 {
    let threads = &facts.world.threads;
    let time = |wanted: fn(&str) -> bool, of: &dyn Fn(ProcessId) -> bool| {
        let threads = threads.iter().map(|(_, thread)| thread).filter(|thread| of(thread.process));
        let calls = threads.flat_map(|thread| thread.all_calls());
        calls
            .filter(|(syscall, _)| wanted(facts.name_of(*syscall)))
            .map(|(_, stats)| stats.total_ns)
            .saturating_sum()
    };
    let forks: u64 =
        time(|name| matches!(name, "fork" | "vfork" | "clone" | "clone3"), &|process| process == parent);
    let loads: u64 = time(|name| matches!(name, "execve" | "execveat"), &|process| {
        threads.process(process).parent == Some(parent)
    });
    forks.saturating_add(loads)
}

fn report(facts: &Facts, out: &mut Findings<'_>, forks: &Forks, children: &Children, share: Share) {
    let count = forks.forks.count;
    let rate = whyslow_facts::window::per_second(count, forks.first, forks.last);
    let rates = guards::rate_figures(
        facts,
        ["children_per_second", "children_per_second_untraced"],
        rate,
        FORKS_PER_S,
    );
    let rate = rate.map_or(String::new(), |rate| format!(", {} per second", words::quantity(rate)));
    let forked = Measurement::count("children", count).at_least(MIN_FORKS as f64);
    let subject = Subjects::thread(facts, forks.tid);
    let who = subject.comm.clone().unwrap_or_else(|| "the program".to_string());
    let most = forks.favourite();
    let program = match most {
        Some((path, times)) => format!("; most often {path} ({})", words::count(times)),
        None => String::new(),
    };
    let requests = Some(facts.work.requests).filter(|requests| *requests > 0);
    let each =
        requests.map(|requests| Measurement::number("children_per_request", count as f64 / requests as f64));
    let per_request = each.as_ref().map_or(String::new(), |each| format!(" ({each} per request)"));
    let (lives, times) = match children.life_ns.checked_div(children.timed) {
        Some(mean) => {
            let mean =
                Measurement::time("time_per_child", Nanos::new(mean)).at_most(SHORT_LIFE.or_zero() as f64);
            let all = Measurement::time("time_of_children", Nanos::new(children.life_ns));
            (format!("A child lived {mean} on average, {all} in all."), [mean, all])
        }
        None => {
            let fork = Measurement::time("time_in_forks", forks.forks.total());
            let wait = Measurement::time("time_in_waits", forks.waits.total());
            let told = format!(
                "The forks took {fork} and the waits for the children {wait}; what the children did is not in the capture (strace -f shows it)."
            );
            (told, [fork, wait])
        }
    };
    let ended = Measurement::share("share_ended", ended(forks, children)).at_least(ENDED_SHARE);
    out.report(share, format!("{who} forks {forked} children{rate}{per_request}{program}"))
        .measured(forked)
        .measured_all(rates)
        .measured_all(each)
        .measured_all(most.map(|(_, times)| Measurement::count("children_of_one_program", times)))
        .measured(ended)
        .measured_all(times)
        .subject(Subject { path: most.map(|(path, _)| path.to_string()), ..subject })
        .cause(format!("Each piece of work pays for a new process: its fork, the loading of the program and its libraries, and its end. {lives}"))
        .fix("shell: use built-ins (${x##*/}, ${x%.*}, printf '%(%F %T)T', [[ =~ ]], read) instead of sed, cut, basename, date; or one awk over the whole input")
        .fix("shell: many items for one child: xargs -n 500, find … -exec CMD {} +")
        .fix("code: call a library instead of a command (subprocess, os.system, popen, Runtime.exec); or keep one worker process and send it the items over a pipe")
        .fix("where a child must be: posix_spawn or vfork instead of fork in a process with much memory")
        .verify("execsnoop (bcc: execsnoop-bpfcc) for some seconds;  perf stat -e 'sched:sched_process_fork' -a sleep 4")
        .evidence_all(forks.exemplars.iter())
        .evidence_all(forks.exec_exemplars.iter())
        .file();
}
