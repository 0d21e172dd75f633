//! # interpreter-start-per-item
//!
//! ## What it is
//! A program starts an interpreter or a virtual machine (Python, Node, Java, Ruby, PHP) for each small piece of work, and most of each child's
//! life is its start.
//!
//! ## Why it is slow
//! Before its first line runs, Python opens some hundred files (20 to 100 ms with a few imports), Node sets up its engine (40 ms), a JVM
//! loads its classes (100 ms and more). The item itself may take one.
//!
//! ## Example
//! ```text
//! clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f3a10) = 4711
//! [pid 4711] execve("/usr/bin/python3", ["python3", "to_article.py", "17"], 0x55d0) = 0
//! [pid 4711] openat(AT_FDCWD, "/usr/lib/python3.11/json/decoder.py", O_RDONLY|O_CLOEXEC) = 3
//! ```
//!
//! ## What to do instead
//! Start it once and give it many items: over its standard input, as arguments (`xargs -n 500`), or a worker that stays and takes them from a
//! socket or queue. Or call the code in the program itself.
//!
//! ## When it is wrong
//! A step of a build or a nightly job starts an interpreter for minutes of work: there the start is a small part, and it is quiet. Children whose
//! code is not seen to load are judged by their short life.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use std::collections::BTreeMap;
use whyslow_facts::folds::starts;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "interpreter-start-per-item",
    group: "process",
    summary: "an interpreter is started for each small piece of work",
    source: include_str!("interpreter_start_per_item.rs"),
    needs: &[Need::Either(&[Need::AnyOf(&["execve", "execveat"]), Need::Sums])],
    check,
};

/// Children from which on it is a habit: a script of a few steps stays below; a short window has no more.
const MIN_CHILDREN: u64 = 5;
/// The part of a child's life that its start takes: with less it does more work than it starts.
const START_SHARE: f64 = 0.5;
/// A child whose start is not seen is taken for one that hardly more than starts up to this life: the longest usual starts are those of a JVM
/// and of Python with large libraries.
const SHORT_LIFE: Nanos = Nanos::from_millis(300);

/// The children of one parent that one interpreter runs.
#[derive(Default)]
struct Children {
    count: u64,
    life_ns: u64,
    /// Of those whose start is known.
    known: u64,
    known_life_ns: u64,
    start_ns: u64,
    files: u64,
    /// What they run, with how often.
    scripts: BTreeMap<String, u64>,
}

impl Children {
    /// The part of their lives that is their start; `None` where it is not seen.
    fn part(&self) -> Option<f64> {
        (self.known > 0 && self.known_life_ns > 0).then(|| self.start_ns as f64 / self.known_life_ns as f64)
    }

    /// The time of all starts, ns; of those that are not seen it is as long as of the others, or all of their lives.
    fn starts_ns(&self) -> u64 {
        (self.life_ns as f64 * self.part().unwrap_or(1.0)) as u64
    }
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut all: Vec<_> =
        children(facts).into_iter().filter(|(_, children)| is_start(facts, children)).collect();
    all.sort_by_key(|(key, children)| (std::cmp::Reverse(children.starts_ns()), *key));
    for ((parent, interpreter), children) in &all {
        report(facts, out, *parent, interpreter, children);
    }
}

/// What processes were started and ended, by parent and interpreter.
#[gated]
fn children(facts: &Facts) -> BTreeMap<(ProcessId, &'static str), Children> {
    let threads = &facts.world.threads;
    let mut all: BTreeMap<(ProcessId, &'static str), Children> = BTreeMap::new();
    for (_, thread) in threads.iter() {
        let process = threads.process(thread.process);
        let is_first = process.pid == Some(thread.tid);
        let Some(parent) = process.parent.filter(|_| process.exited && is_first) else { continue };
        let parent = starter(facts, parent);
        let start = facts.starts.by_process.get(&thread.process);
        let Some(interpreter) = (match start {
            Some(start) => start.interpreter,
            None => unseen(facts, thread.process, parent),
        }) else {
            continue;
        };
        // Where calls were only counted, the scheduler tells how long it lived.
        let lived = || thread.sched.as_deref().and_then(|time| time.wall().get());
        let life = thread.wall().get().filter(|life| *life > 0).or_else(lived);
        let Some(life) = life.filter(|life| *life > 0) else { continue };
        let children = all.entry((parent, interpreter)).or_default();
        children.count += 1;
        children.life_ns = children.life_ns.saturating_add(life);
        if let Some((start, took)) = start.and_then(|start| Some((start, start.took().get()?))) {
            children.known += 1;
            children.known_life_ns = children.known_life_ns.saturating_add(life);
            children.start_ns = children.start_ns.saturating_add(took.min(life));
            children.files = children.files.saturating_add(start.files);
        }
        let script = process.name().or(process.program()).unwrap_or(interpreter);
        *children.scripts.entry(script.to_string()).or_default() += 1;
    }
    all
}

/// Who starts children through `parent`: a copy of itself that starts one program and ends with it (`$(…)` of a shell, a fork without
/// execve) stands for the program that it is a copy of.
#[gated]
fn starter(facts: &Facts, parent: ProcessId) -> ProcessId {
    /// Copies of copies: more than scripts nest.
    const MOST: usize = 8;
    let threads = &facts.world.threads;
    let mut at = parent;
    for _ in 0..MOST {
        let process = threads.process(at);
        let is_copy = process.exited && !facts.starts.by_process.contains_key(&at);
        let above =
            process.parent.filter(|above| is_copy && threads.process(*above).name() == process.name());
        let Some(above) = above else { break };
        at = above;
    }
    at
}

/// The interpreter of a process whose execve was not recorded, by its name. A copy of its parent has executed nothing.
#[gated]
fn unseen(facts: &Facts, process: ProcessId, parent: ProcessId) -> Option<&'static str> {
    let threads = &facts.world.threads;
    if !facts.recording.is_partial() && !facts.recording.only_counts() {
        return None;
    }
    let (child, parent) = (threads.process(process), threads.process(parent));
    let differs = child.program() != parent.program() || child.name() != parent.name();
    let by = |name: Option<&str>| name.and_then(starts::interpreter);
    by(child.program()).or_else(|| by(child.name())).filter(|_| differs)
}

#[gated]
fn is_start(facts: &Facts, children: &Children) -> bool {
    let mean = Nanos::new(children.life_ns / children.count.max(1));
    // Where calls were given up, files of code may have been opened unseen: the part is the least.
    let is_least = facts.recording.is_partial();
    let is_start = match children.part() {
        Some(part) if part >= START_SHARE => true,
        Some(_) => is_least && mean <= SHORT_LIFE,
        None => mean <= SHORT_LIFE,
    };
    children.count >= MIN_CHILDREN && is_start
}

/// The parent's thread that starts them, and its part: a parent that waits for none of them loses nothing by them.
#[gated]
fn share(facts: &Facts, parent: ProcessId, children: &Children) -> (Share, u32) {
    let forks = facts.spawns.by_parent.get(&parent);
    let pid = facts.world.threads.process(parent).pid.unwrap_or(0);
    // Where most calls were only counted, waits for children are among them.
    let counted = facts.mostly_counted();
    let (tid, shared, waits) = match forks {
        Some(forks) => (forks.tid, forks.shared, forks.waits.count > 0 || counted),
        None => (pid, false, true),
    };
    let ns = if waits { children.starts_ns() } else { 0 };
    (guards::share_of_ns(facts, Some(tid).filter(|_| !shared), Nanos::new(ns), children.count), tid)
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, parent: ProcessId, interpreter: &str, children: &Children) {
    let (share, tid) = share(facts, parent, children);
    let subject = Subjects::thread(facts, tid);
    let who = facts.world.threads.process(parent).name().map(str::to_string).or(subject.comm.clone());
    let who = who.unwrap_or_else(|| "the program".to_string());
    let count = Measurement::count("children", children.count).at_least(MIN_CHILDREN as f64);
    let life = Measurement::time("time_per_child", Nanos::new(children.life_ns / children.count.max(1)));
    let time = Nanos::new(children.starts_ns());
    let took = Measurement::time("time_of_starts", time);
    let part = children.part().map(|part| Measurement::share("share_of_start", part));
    let part = part.map(|part| guards::passed(part, START_SHARE));
    let files = (children.known > 0).then(|| {
        Measurement::number("files_of_code_per_child", children.files as f64 / children.known as f64)
    });
    let script = children.scripts.iter().max_by_key(|(name, times)| (**times, std::cmp::Reverse(*name)));
    let script = script.map(|(name, _)| name.as_str()).filter(|name| *name != interpreter);
    let runs = script.map_or(String::new(), |script| format!(" for {script}"));
    let (of_life, why) = match (&part, &files) {
        (Some(part), Some(files)) => (
            format!("{part} of {life} of each is its start"),
            format!(
                "Each child opens {files} files of code (modules, libraries, its script) and has lived {part} of its life when it has the last of them."
            ),
        ),
        _ => (
            format!("each lives {life}, hardly longer than a start takes"),
            "What each child loads is not in the recording; its life is about as long as such a start."
                .to_string(),
        ),
    };
    let requests = Some(facts.work.requests).filter(|requests| *requests > 0);
    let each = requests
        .map(|requests| Measurement::number("children_per_request", children.count as f64 / requests as f64));
    let forks = facts.spawns.by_parent.get(&parent);
    out.report(share, format!("{who} starts {interpreter} {count} times{runs}: {of_life}, {took} in all"))
        .at_most(Severity::Critical)
        .confidence(if children.known > 0 { 0.9 } else { 0.5 })
        .subject(Subject { path: script.map(str::to_string), ..subject })
        .cause(format!("The start is paid for each item, though the interpreter is the same each time. {why}"))
        .measured(count)
        .measured(life)
        .measured(took)
        .measured_all(part)
        .measured_all(files)
        .measured_all(each)
        .fix(format!("start {interpreter} once, and give it the items over its standard input or a socket: a worker that stays (a pool of them where items are many)"))
        .fix("give many items to one start: xargs -n 500, find … -exec CMD {} +, a list as its argument")
        .fix("call the code in the program itself: a library, an embedded interpreter, a service that is there already")
        .fix("make the start shorter: python3 -I -X importtime shows what imports cost, -S leaves site out; node --snapshot-blob; java -Xshare:auto -XX:TieredStopAtLevel=1, or GraalVM native-image; php opcache.file_cache")
        .verify("execsnoop (bcc: execsnoop-bpfcc) for some seconds;  perf stat -e 'sched:sched_process_exec' -a sleep 4")
        .saving(time)
        .saving_text(format!("{} of starts", words::duration(time)))
        .evidence_all(forks.into_iter().flat_map(|forks| forks.exec_exemplars.iter()))
        .evidence_all(forks.into_iter().flat_map(|forks| forks.exemplars.first.as_deref()))
        .file();
}
