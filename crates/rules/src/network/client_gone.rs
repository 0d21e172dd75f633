//! # client-gone
//!
//! ## What it is
//! An answer could not be delivered: its client had closed the connection (EPIPE, ECONNRESET, SIGPIPE). Most
//! often the client had given up, because the answer took longer than its time limit.
//!
//! ## Why it is slow
//! The work was done for nothing, and a client that retries has it done again. What made the answer late is what
//! the thread waited for since the request began: a slow database, cache or lock. That wait is named here.
//!
//! ## Example
//! ```text
//! 21124 10:34:34.289915 sendto(669, "*4\r\n$5\r\nHMGET\r\n…", 89, 0, NULL, 0) = 89 <0.000051>
//! 21124 10:34:34.290015 poll([{fd=669, events=POLLIN|POLLERR}], 1, 2000) = 1 <1.779099>
//! 21124 10:34:36.114034 write(835, "HTTP/1.1 200 …", 283) = -1 EPIPE (Broken pipe) <0.000037>
//! ```
//!
//! ## What to do instead
//! Make the wait shorter: look at the peer that is named. Give the wait a time limit below the client's, so that
//! the client gets an answer (an error or an older value) while it still listens. Stop work on a request
//! whose client has gone.
//!
//! ## When it is wrong
//! A person who closes a browser tab, or a health check that reads only the first line, leaves the same marks:
//! single failures without a long wait before them stay a notice.

use super::lost_answers::{TimeLimit, asked_for, left_after, name_of, time_limit};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::WaitKind;
use whyslow_facts::folds::requests::RequestRecord;
use whyslow_facts::folds::waits::LongWait;
use whyslow_facts::folds::waits::aborted::{AbortedAnswer, AbortedGroup};
use whyslow_model::{ChainLink, Measurement, Nanos, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "client-gone",
    group: "network",
    summary: "answers are written to clients that have given up waiting",
    source: include_str!("client_gone.rs"),
    needs: &[Need::AnyOf(&["write", "writev", "sendto", "sendmsg", "send", "sendfile", "recvfrom"])],
    check,
};

/// Findings at most: one for each thing that was waited for.
const MOST: usize = 3;
/// Lost answers from which on they are a warning whatever time they took, if a long wait was before them.
const MANY: u64 = 5;
/// The part of the requests from which on the same holds.
const LOST_ANSWERS: f64 = 0.05;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let aborted = &facts.waits.aborted;
    if aborted.count == 0 {
        if aborted.unknown_ends > 0 {
            out.not_judged(
                "whether the sockets of failed writes lead to clients",
                "lsof -nP -p PID > trace.lsof   (or strace with -yy)",
            );
        }
        return;
    }
    let mut groups = aborted.groups();
    groups.truncate(MOST);
    let told = groups.iter().map(|group| group.answers.count()).saturating_sum();
    for (at, group) in groups.iter().enumerate() {
        let rest = if at + 1 == groups.len() { aborted.count.saturating_sub(told) } else { 0 };
        report(facts, out, group, rest);
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, group: &AbortedGroup, rest: u64) {
    let answers = group.longest();
    let Some(worst) = answers.first() else { return };
    let count = group.answers.count();
    let share = match worst.wait {
        Some(_) => guards::share_of_ns(facts, group.tid, Nanos::new(group.waited_ns), count),
        None => Share::unknown(),
    };
    let often = facts.work.requests > 0 && count as f64 >= LOST_ANSWERS * facts.work.requests as f64;
    let least =
        if worst.wait.is_some() && count >= MANY && often { Severity::Warning } else { Severity::Notice };
    let client = worst.client.as_deref().unwrap_or("a client");
    let thread = thread_name(facts, worst);
    let requests: Vec<Option<&RequestRecord>> =
        answers.iter().map(|answer| facts.requests.lost_by(&answer.exemplar)).collect();
    let request = requests.first().copied().flatten();
    let asked = asked_for(facts, &requests);
    let lost = match count {
        1 => format!("1 answer{asked} was"),
        more => format!("{} answers{asked} were", words::count(more)),
    };
    let errno = worst.errno.name();
    let left_at = left_after(&requests);
    let title = match &worst.wait {
        Some(wait) => format!(
            "{lost} lost, the client had gone ({errno}{}): thread {} had waited {} for {}",
            left_at.map_or(String::new(), |after| format!(", {} after it had asked", words::duration(after))),
            worst.tid,
            words::duration(wait.dur),
            what(wait),
        ),
        None => format!("{lost} lost, the client {client} had gone ({errno})"),
    };
    // Another thread may have read it: then the request knows when.
    let read_at =
        if worst.started.is_known() { worst.started } else { request.map_or(worst.started, |one| one.begin) };
    let elapsed = worst.ts.since(read_at);
    let limit = worst.wait.as_ref().map(|_| time_limit(facts, &requests, elapsed));
    let between = match limit {
        Some(TimeLimit::Between(longest, shortest)) => {
            [("longest_answer_taken", longest), ("shortest_answer_lost", shortest)]
                .map(|(name, time)| Measurement::time(name, time))
                .to_vec()
        }
        _ => Vec::new(),
    };
    let patience = match elapsed.get() {
        Some(_) => format!(
            "{client} had gone when the answer was written, {} after its request was read{}",
            words::duration(elapsed),
            limit.map_or(String::new(), TimeLimit::words)
        ),
        None => format!(
            "{client} had gone when the answer was written (the start of its request is not in the capture, or was read by another thread)"
        ),
    };
    let reason = match &worst.wait {
        Some(wait) => format!(
            "The longest wait of thread {} before it took {}: {}{}.",
            worst.tid,
            words::duration(wait.dur),
            what(wait),
            wait.protocol.map_or(String::new(), |protocol| format!(", {protocol} by its payload")),
        ),
        None => "No wait of the thread before it explains why the client left.".to_string(),
    };
    let more = if rest > 0 {
        format!(" {} more after other waits.", words::plural(rest, "lost answer"))
    } else {
        String::new()
    };
    let subject = Subject {
        fd: Some(worst.fd),
        syscall: Some(facts.name_of(worst.syscall).to_string()),
        errno: Some(worst.errno),
        peer: worst.wait.as_ref().and_then(|wait| wait.target.clone()).or_else(|| worst.client.clone()),
        endpoint: worst.wait.as_ref().and_then(|wait| wait.sent.clone()),
        ..Subjects::thread(facts, worst.tid)
    };
    let source = |exemplar: &whyslow_facts::Exemplar| facts.evidence(exemplar).source;
    let mut lost = Measurement::count("lost_answers", count);
    let mut part = Measurement::share("share_of_requests", count as f64 / facts.work.requests.max(1) as f64);
    if least == Severity::Warning {
        (lost, part) = (lost.at_least(MANY as f64), part.at_least(LOST_ANSWERS));
    }
    let mut found = out
        .report(share, title)
        .subject(subject)
        .cause(format!("{patience}. {reason}{more}"))
        .measured(lost)
        .measured_all((facts.work.requests > 0).then_some(part))
        .measured_all(worst.wait.as_ref().map(|wait| Measurement::time("longest", wait.dur)))
        .measured_all(left_at.map(|after| Measurement::time("time_until_client_left", after)))
        .measured(Measurement::time("time_until_answer", elapsed))
        .measured_all(between)
        .measured_all((rest > 0).then(|| Measurement::count("other_lost_answers", rest)))
        .at_least(least)
        .link(ChainLink {
            who: format!("client {client}"),
            waits_for: match request.and_then(|request| name_of(facts, request)) {
                Some(name) => format!("the answer to {name} of {thread} on fd {}", worst.fd),
                None => format!("the answer of {thread} on fd {}", worst.fd),
            },
            ns: elapsed,
            evidence: source(&worst.exemplar),
        });
    if let Some(wait) = &worst.wait {
        let awaited = what(wait);
        found = found
            .link(ChainLink {
                who: thread,
                waits_for: what(wait),
                ns: wait.dur,
                evidence: source(&wait.exemplar),
            })
            .fix(format!("find out why {awaited} took {}: {}", words::duration(wait.dur), look_at(wait)))
            .fix("align the time limits: the server's limit for what it waits for must be shorter than its clients' limit, so that they get an answer in time")
            .fix("code: check that the client is still there before expensive steps, and cancel the work when it has gone")
            .evidence(Some(&wait.exemplar));
    } else {
        found = found
            .fix("check the client's time limit and log why it closes; single closed tabs need no change");
    }
    found
        .evidence_all(answers.iter().take(3).map(|answer| &answer.exemplar))
        .verify("strace -f -e trace=write,writev,sendto,sendmsg -e status=failed -p PID   (EPIPE and ECONNRESET cease); or: ss -tnp state close-wait")
        .file();
}

/// `172.16.0.21:6379 (HMGET relation:series:1234:check)`.
fn what(wait: &LongWait) -> String {
    match (&wait.target, &wait.sent) {
        (Some(target), Some(sent)) => format!("{target} ({sent})"),
        (Some(target), None) => target.to_string(),
        (None, Some(sent)) => format!("a peer that the capture does not name ({sent})"),
        (None, None) => match wait.kind {
            WaitKind::Lock => "a lock",
            WaitKind::Network => "a peer that the capture does not name",
            WaitKind::Pipe => "a pipe",
            WaitKind::Timer => "a time to pass (sleep)",
            WaitKind::Child => "a child process",
            WaitKind::Poll => "any of several descriptors",
            WaitKind::Accept => "a new connection",
            WaitKind::Other => "an event",
        }
        .to_string(),
    }
}

fn look_at(wait: &LongWait) -> String {
    match (wait.protocol, wait.target.as_deref().and_then(|peer| peer.rsplit_once(':'))) {
        (Some("Redis"), Some((host, port))) => {
            format!(
                "redis-cli -h {host} -p {port} SLOWLOG GET 20; redis-cli -h {host} -p {port} --latency-history"
            )
        }
        _ if wait.kind == WaitKind::Lock => {
            "who held it and what that thread waited for: whyslow waits, or jstack, gdb -p".to_string()
        }
        _ => "its own log of slow requests, or a trace of it at the same time".to_string(),
    }
}

/// `14985/21124 java`.
fn thread_name(facts: &Facts, answer: &AbortedAnswer) -> String {
    let process = facts.world.threads.process(answer.process);
    let pid = process.pid.map_or(String::new(), |pid| format!("{pid}/"));
    format!("{pid}{} {}", answer.tid, process.name().unwrap_or("")).trim_end().to_string()
}
