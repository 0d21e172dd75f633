//! # io-imbalance
//!
//! ## What it is
//! Several threads share the input and output of one job, one of them does far more of it than each other, and the others wait for it.
//!
//! ## Why it is slow
//! The job is done when its slowest part is. While one thread reads or writes most of the data, the others sleep at a barrier or a join, and the devices serve one
//! stream where they could serve all of them.
//!
//! ## Example
//! ```text
//! thread 1 writes /srv/export/part0: 2.6 GB in 3.1 s; threads 2 to 4 write 65 MB each, and wait 2.9 s in futex
//! ```
//!
//! ## What to do instead
//! Share the data out by bytes and not by files or keys; smaller pieces that each thread takes from a queue when it is done; no barrier after each round.
//!
//! ## When it is wrong
//! One thread that writes for all by design is no imbalance: only threads that work on files of the same kind (names that differ in their numbers) are held against each other, three at least, and
//! only where the others wait for a lock, a child or a pipe for a good part of their time.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use std::collections::BTreeMap;
use whyslow_facts::{Facts, FileFacts, ProcessId, ThreadFacts, WaitKind};
use whyslow_model::{FdKind, Measurement, Nanos, Severity, Subject, Tid};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "io-imbalance",
    group: "io",
    summary: "one thread does most of the input and output while its peers wait for it",
    source: include_str!("io_imbalance.rs"),
    needs: &[Need::Calls, Need::Durations, Need::Descriptors],
    check,
};

/// Times what its peers do, in bytes and in time (Drishti P18 and P19 warn at such differences between ranks).
const TIMES_PEERS: f64 = 5.0;
/// Threads that share the work: of two, one may be the reader and one the writer.
const MIN_THREADS: usize = 3;
/// Of the peers' time, the part in which they wait.
const PEERS_WAIT: f64 = 0.40;
/// Bytes that the one moves: less is no job.
const MIN_BYTES: u64 = 16 << 20;

/// What a thread does with files of one pattern.
#[derive(Clone, Copy, Default)]
struct Part {
    bytes: u64,
    ns: u64,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut parts: BTreeMap<(ProcessId, String), BTreeMap<Tid, Part>> = BTreeMap::new();
    for (_, file) in facts.world.files.iter() {
        if FdKind::of_path(file.path.as_bytes()) == FdKind::File && !file.fifo {
            add(facts, file, &mut parts);
        }
    }
    for ((process, pattern), threads) in parts.iter() {
        if threads.len() >= MIN_THREADS {
            hold(facts, out, *process, pattern, threads);
        }
    }
}

#[gated]
fn add(facts: &Facts, file: &FileFacts, parts: &mut BTreeMap<(ProcessId, String), BTreeMap<Tid, Part>>) {
    let (seen, counted) = (file.users.sum(), file.counted.sum());
    let users = if counted.calls() > seen.calls() { &file.counted } else { &file.users };
    let mut pattern = None;
    for (user, used) in users.iter().filter(|(user, used)| user.tid != 0 && used.bytes() > 0) {
        let Some(process) = facts.process_of_thread(user.tid) else { continue };
        let pattern: &String = pattern.get_or_insert_with(|| without_numbers(&file.path));
        let part = parts.entry((process, pattern.clone())).or_default().entry(user.tid).or_default();
        part.bytes = part.bytes.saturating_add(used.bytes());
        part.ns = part.ns.saturating_add(used.total_ns());
    }
}

/// The path with `{n}` for each number in it: parts of one thing are numbered in all ways.
fn without_numbers(path: &str) -> String {
    let mut name = String::with_capacity(path.len());
    let mut in_number = false;
    for letter in path.chars() {
        let is_digit = letter.is_ascii_digit();
        match (is_digit, in_number) {
            (true, false) => name.push_str("{n}"),
            (true, true) => {}
            (false, _) => name.push(letter),
        }
        in_number = is_digit;
    }
    name
}

/// The part of its time that a thread waits for others.
fn waiting(thread: &ThreadFacts) -> Option<f64> {
    let kinds = [WaitKind::Lock, WaitKind::Child, WaitKind::Pipe];
    let waited = kinds.iter().map(|kind| thread.waiting_ns[*kind as usize]).fold(0, u64::saturating_add);
    let wall = thread.wall().get().filter(|wall| *wall > 0)?;
    Some((waited as f64 / wall as f64).min(1.0))
}

/// The middle one of several figures.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

#[gated]
fn hold(
    facts: &Facts,
    out: &mut Findings<'_>,
    process: ProcessId,
    pattern: &str,
    threads: &BTreeMap<Tid, Part>,
) {
    let Some((tid, most)) =
        threads.iter().max_by_key(|(tid, part)| (part.ns, part.bytes, std::cmp::Reverse(**tid)))
    else {
        return;
    };
    let peers = || threads.iter().filter(|(other, _)| *other != tid);
    let bytes = median(peers().map(|(_, part)| part.bytes as f64).collect());
    let ns = median(peers().map(|(_, part)| part.ns as f64).collect());
    let waits = |of: &Tid| facts.world.threads.thread_of(*of).and_then(waiting);
    let wait = median(peers().filter_map(|(of, _)| waits(of)).collect());
    let times = most.bytes as f64 / bytes.max(1.0);
    let is_uneven = times >= TIMES_PEERS && most.ns as f64 >= TIMES_PEERS * ns && most.bytes >= MIN_BYTES;
    let share = guards::share_of_ns(facts, Some(*tid), Nanos::new(most.ns), 0);
    let felt = share.value.is_some_and(|value| value >= guards::WARNING_SHARE);
    if !is_uneven || !felt || wait < PEERS_WAIT {
        return;
    }
    let subject = Subjects::thread(facts, *tid);
    let count = threads.len() as u64;
    let all = Measurement::count("threads", count).at_least(MIN_THREADS as f64);
    let moved = Measurement::bytes("bytes", most.bytes).at_least(MIN_BYTES as f64);
    let each = Measurement::bytes("bytes_of_a_peer", bytes as u64);
    let took = Measurement::time("time", Nanos::new(most.ns));
    let peers_took = Measurement::time("time_of_a_peer", Nanos::new(ns as u64));
    let times = Measurement::number("times_a_peer", times).at_least(TIMES_PEERS);
    let wait = Measurement::share("share_of_peers_time_waiting", wait).at_least(PEERS_WAIT);
    let name = facts.world.threads.process(process).name().unwrap_or("the program").to_string();
    let peers_count = count.saturating_sub(1);
    let line = format!(
        "{pattern}: thread {tid} {moved} in {took}; its {peers_count} peers {each} and {peers_took} in the middle"
    );
    out.report(
        share,
        format!(
            "{pattern}: {} moves {moved} in {took}, {times} times what each of the {all} threads of {name} does ({each}), while they wait {wait} of their time",
            Subjects::words(&subject)
        ),
    )
    .at_most(Severity::Critical)
    .subject(Subject { path: Some(pattern.to_string()), ..subject })
    .cause(format!(
        "The work is shared out unevenly: a peer's own part takes {peers_took}, and then it waits for the one thread that has most of it. The job takes as long as that one."
    ))
    .measured_all([moved, took, times, all, each, wait, peers_took])
    .fix("code: share the data out by bytes, or in small pieces that each thread takes from one queue when it is done with the last (work stealing)")
    .fix("code: split the large file or partition: several threads read ranges of it by pread; choose the key by which records are shared out so that no part is hot")
    .fix("code: no barrier after each round where the parts do not need each other")
    .verify("pidstat -d -t -p PID 1 (kB_rd/s and kB_wr/s of the threads come near each other)")
    .saving(Nanos::new(most.ns.saturating_sub(ns as u64)))
    .evidence_line(facts.capture.first_name().to_string(), line)
    .file();
}

#[cfg(test)]
mod tests {
    use super::without_numbers;

    #[test]
    fn numbers_are_one() {
        assert_eq!(without_numbers("/srv/2026/part12.csv"), "/srv/{n}/part{n}.csv");
        assert_eq!(without_numbers("/srv/é7"), "/srv/é{n}");
    }
}
