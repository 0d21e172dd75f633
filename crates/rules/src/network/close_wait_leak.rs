//! # close-wait-leak
//!
//! ## What it is
//! Peers have closed their connections, and the program does not close its own ends: they stay in CLOSE_WAIT,
//! each with a descriptor. `lsof` may show them as `can't identify protocol`.
//!
//! ## Why it is slow
//! The descriptors add up until the limit (`ulimit -n`, often 1,024) is reached: then no client is accepted and no
//! file opened. A program that is only too busy to close shows them too; then they go away again.
//!
//! ## Example
//! ```text
//! java 14985 root 835u IPv4 427001020 0t0 TCP 172.16.0.11:8715->172.16.0.10:52220 (CLOSE_WAIT)
//! recvfrom(835, "", 8192, 0, NULL, NULL) = 0
//! ```
//!
//! ## What to do instead
//! Close the socket when a read returns 0 (end of stream) or fails, on every path, also after an exception. Set an
//! idle time limit for connections. Look whether handlers hang: a thread that waits for a lock or a
//! database closes nothing.
//!
//! ## When it is wrong
//! Some connections in CLOSE_WAIT for seconds are normal: the program has not come round to closing them. A single
//! snapshot cannot tell a leak from that: take two, a minute apart, and compare. Ends that are read in the capture count after ten seconds, or
//! where of twenty and more hardly one is closed.

use super::unclosed_ends;
use crate::engine::{Findings, Rule};
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use std::collections::BTreeMap;
use whyslow_facts::folds::peers::{Role, host_of, role_of};
use whyslow_facts::{Facts, FdLife, Origin, ProcessId};
use whyslow_model::{CaptureKind, Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "close-wait-leak",
    group: "network",
    summary: "connections that the peer closed are never closed by the program",
    source: include_str!("close_wait_leak.rs"),
    needs: &[],
    check,
};

/// Fewer are connections that are just being closed.
const MANY: usize = 10;
/// A tenth of the usual limit of 1,024 descriptors (RLIMIT_NOFILE's soft default).
const WARN: usize = 100;
/// A peer's end that was noticed this long ago and not acted upon is not about to be closed.
const OLD: Nanos = Nanos::from_secs(10);
/// Peers named.
const NAMED: usize = 3;

/// The suspicious sockets of one process.
#[derive(Default)]
struct Suspects<'a> {
    /// CLOSE_WAIT in a snapshot, and still open at the end.
    close_wait: Vec<&'a FdLife>,
    /// `can't identify protocol` in a snapshot.
    unidentified: Vec<&'a FdLife>,
    /// The peer's end was read long ago.
    ended: Vec<&'a FdLife>,
    /// CLOSE_WAIT in the snapshot, but closed since.
    drained: usize,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut suspects: BTreeMap<ProcessId, Suspects<'_>> = BTreeMap::new();
    for (_, life) in facts.world.fds.iter() {
        let waits = life.state.as_deref() == Some("CLOSE_WAIT");
        if !waits && !life.is_unidentified() {
            continue;
        }
        let of_process = suspects.entry(life.process).or_default();
        match (life.was_left_open(), waits) {
            (true, true) => of_process.close_wait.push(life),
            (true, false) => of_process.unidentified.push(life),
            (false, _) => of_process.drained += 1,
        }
    }
    let none_closed = unclosed_ends::processes(facts);
    for (life, since) in facts.peers.left_open(&facts.world) {
        let old = unclosed_ends::left_for(facts, life, since) >= OLD || none_closed.contains(&life.process);
        if old && life.state.as_deref() != Some("CLOSE_WAIT") {
            suspects.entry(life.process).or_default().ended.push(life);
        }
    }
    for (process, suspects) in &suspects {
        report(facts, out, *process, suspects);
    }
    let unknown_states = facts.world.snapshot_rows == 0
        && facts.world.fds.open().any(|(_, life)| life.kind.is_socket() && !life.opened.is_known());
    if suspects.is_empty() && (facts.world.calls == 0 && facts.world.snapshot_rows == 0 || unknown_states) {
        out.not_judged("the states of open sockets", "lsof -nP -p PID > trace.lsof");
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, process: ProcessId, suspects: &Suspects<'_>) {
    let left = suspects.close_wait.len() + suspects.unidentified.len() + suspects.ended.len();
    // A process that closes as many as it leaves is late, and leaks nothing.
    if left < MANY || suspects.drained >= left {
        return;
    }
    let all: Vec<&FdLife> = [&suspects.close_wait, &suspects.unidentified, &suspects.ended]
        .into_iter()
        .flatten()
        .copied()
        .collect();
    let facts_of = facts.world.threads.process(process);
    let name = facts_of.name().unwrap_or("the process");
    let who = facts_of.pid.map_or(name.to_string(), |pid| format!("{name} ({pid})"));
    let proven = !suspects.ended.is_empty();
    let peers = main_peers(facts, &all);
    let since_end = suspects.ended.iter().map(|life| facts.window.end.since(life.end_seen_at)).min();
    let is_old = since_end.is_some_and(|time| time >= OLD);
    let since_end = since_end.filter(|_| is_old);
    let since_end = since_end.map(|time| Measurement::time("shortest", time).at_least(OLD.or_zero() as f64));
    let read = match &since_end {
        Some(time) => format!("whose end was read {time} and more before the end of the capture"),
        None => "whose end was read in the capture, in which hardly one of these is closed".to_string(),
    };
    let mut parts = Vec::new();
    let mut figures = Vec::new();
    for (name, count, what) in [
        ("connections_in_close_wait", suspects.close_wait.len(), "in CLOSE_WAIT"),
        ("connections_unidentified", suspects.unidentified.len(), "that lsof cannot identify"),
        ("connections_ended", suspects.ended.len(), &*read),
    ] {
        if count > 0 {
            parts.push(format!("{} {what}", words::count(count as u64)));
            figures.push(Measurement::count(name, count as u64));
        }
    }
    let threshold = if left >= WARN { WARN } else { MANY };
    let connections = Measurement::count("connections", left as u64).at_least(threshold as f64);
    let of_main_peer = peers.first().map(|(_, count)| *count as u64);
    let told = match (proven, facts.world.calls > 0) {
        (true, _) => "The program has read the peers' end and has not closed since: a leak.",
        (false, true) => {
            "The capture is short, so they may also be closed late by a program that is too busy: compare with a second lsof a minute later (a leak grows)."
        }
        (false, false) => {
            "One snapshot cannot tell a leak from a program that is too busy to close: compare with a second one a minute later (a leak grows, a busy program's go away)."
        }
    };
    let at_most = if left >= WARN { Severity::Warning } else { Severity::Notice };
    let mut found = out
        .report(Share::unknown(), format!("{connections} connections of {who} are not closed though their peer has closed: {}", parts.join(", ")))
        .at_least(at_most)
        .subject(Subject {
            pid: facts_of.pid,
            comm: facts_of.name().map(str::to_string),
            peer: peers.first().map(|(peer, _)| peer.clone()),
            fd: all.first().map(|life| life.fd),
            ..Subject::default()
        })
        .cause(format!("{told} Most of them: {}.", list(&peers)))
        .measured(connections)
        .measured_all(figures)
        .measured_all(since_end)
        .measured(Measurement::count("connections_closed", suspects.drained as u64))
        .measured_all(of_main_peer.map(|count| Measurement::count("connections_to_main_peer", count)))
        .confidence(if proven { 0.9 } else if left >= WARN { 0.7 } else { 0.5 })
        .fix("code: close the socket when a read returns 0 or fails, on every path (try-with-resources, with, defer, RAII)")
        .fix("set an idle time limit for connections in the server and in the client's pool")
        .fix("look whether the threads that should close them hang: strace -f -p PID, jstack")
        .fix("until it is mended: raise the limit (systemd: LimitNOFILE=65536) and watch the number")
        .verify(format!(
            "ss -tnp state close-wait | grep -c 'pid={}'   (twice, a minute apart)",
            facts_of.pid.map_or("PID".to_string(), |pid| pid.to_string())
        ));
    for life in all.iter().take(NAMED) {
        found = found.evidence_line(place(facts, life), shown(life));
    }
    found.file();
}

/// The line of the snapshot that shows it, or that opened it, where there is one source it can be in.
#[gated]
fn place(facts: &Facts, life: &FdLife) -> String {
    let from_snapshot = life.origin == Origin::Snapshot;
    let mut sources = facts.capture.sources.iter().filter(|source| {
        let snapshot = matches!(source.kind, CaptureKind::Lsof | CaptureKind::ProcFd | CaptureKind::ProcNet);
        snapshot == from_snapshot && source.events > 0
    });
    match (sources.next(), sources.next(), life.opened_by.1) {
        (Some(source), None, line) if line > 0 => format!("{}:{line}", source.name),
        (Some(source), None, _) => source.name.clone(),
        _ => "open descriptors".to_string(),
    }
}

/// `fd 835: 172.16.0.11:8715->172.16.0.10:52220 CLOSE_WAIT`.
fn shown(life: &FdLife) -> String {
    let ends = match (life.local(), life.peer()) {
        (Some(local), Some(peer)) => format!("{local}->{peer}"),
        (None, Some(peer)) => peer.to_string(),
        _ => life.name.as_deref().unwrap_or("?").to_string(),
    };
    let state = life.state.as_deref().unwrap_or(if life.end_seen { "end read, not closed" } else { "" });
    format!("fd {}: {ends} {state}", life.fd).trim_end().to_string()
}

/// The peers of most of them: servers by address, clients by host.
fn main_peers(facts: &Facts, lives: &[&FdLife]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for life in lives {
        let name = match life.peer() {
            Some(peer) if role_of(life, &facts.world) == Role::Client => {
                format!("clients at {}", host_of(peer))
            }
            Some(peer) => peer.to_string(),
            None => "peers unknown".to_string(),
        };
        *counts.entry(name).or_default() += 1;
    }
    let mut peers: Vec<(String, usize)> = counts.into_iter().collect();
    peers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    peers
}

fn list(peers: &[(String, usize)]) -> String {
    let named: Vec<String> =
        peers.iter().take(NAMED).map(|(peer, count)| format!("{peer} ({count})")).collect();
    named.join(", ")
}
