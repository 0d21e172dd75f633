//! Peers whose answers are slow, where requests that the program serves are not seen.

use super::asked::{self, LATE, SLOW};
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use crate::words;
use whyslow_facts::folds::account::{CallTime, ObjectKind, ThreadAccount};
use whyslow_facts::folds::requests::{EndpointFacts, Side};
use whyslow_facts::{Facts, PeerFacts, ProcessId, WaitKind};
use whyslow_model::syscall::Moves;
use whyslow_model::{CallStats, Measurement, Nanos, SaturatingSum, Severity, Subject, Syscall, Tid};

/// Where no request is seen, an answer that takes longer may be no answer but news: long polls and subscriptions are held open
/// for half a second and more (Kafka's fetch.max.wait.ms is 500).
pub(crate) const NEWS: Nanos = Nanos::from_millis(500);
/// From this part of the time on, quick answers take too much of it, too.
const MUCH: f64 = 0.5;
/// Fewer waits are no habit.
const FEW: u64 = 5;
/// Where less than this of the answers' time was waited for at all, their durations tell what the program did meanwhile.
const LEAST_AWAITED: f64 = 0.3;

/// Where requests that the program serves are not seen, the connections tell how long answers take, and the account of time what
/// the threads wait for.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) {
    let mut waits: Vec<Waits<'_>> = Vec::new();
    // Who answers other questions at once is not slow: what is waited for beside them is news.
    let is_slow = |name: &str| {
        let merged = facts.peers.servers().find(|peer| *peer.name == *name);
        merged.is_none_or(|peer| answers(facts, peer).percentile(0.1) >= SLOW)
    };
    let answering = asked::servers(facts).filter(|peer| !asked::waits_on_purpose(facts, peer));
    let answering = answering.chain(asked::name_servers(facts));
    for peer in answering.filter(|peer| is_slow(&peer.name)) {
        waits.push(Waits {
            process: peer.process,
            peer: &peer.name,
            threads: vec![peer.only_thread()],
            stats: answers(facts, peer).clone(),
            row: None,
            may_be_news: false,
            is_name_server: asked::is_name_server(peer),
            awaited: 1.0,
        });
    }
    // Where calls are only counted, the long ones alone tell, and no turns.
    if facts.recording.only_counts() {
        waits = of_accounts(facts);
    }
    let unnamed = unnamed(facts);
    waits.extend(unnamed.iter().map(|one| Waits {
        process: one.process,
        peer: &one.name,
        threads: vec![one.tid],
        stats: one.row.stats.clone(),
        row: Some(one.row),
        may_be_news: one.may_be_news,
        is_name_server: false,
        awaited: 1.0,
    }));
    for one in &mut waits {
        one.may_be_news |= comes_by_its_own_pace(facts, one);
        one.awaited = awaited_part(facts, one);
    }
    waits.retain(|one| one.awaited >= LEAST_AWAITED);
    waits = joined(facts, waits);
    waits.retain(|waits| {
        let median = waits.stats.percentile(0.5);
        // No name server has news, and the next one that it asks may be far away.
        let is_slow = if waits.is_name_server { median >= LATE } else { (SLOW..NEWS).contains(&median) };
        waits.stats.count >= FEW && is_slow && !is_ack_delay(&waits.stats)
    });
    waits.sort_by_key(|waits| (std::cmp::Reverse(waits.stats.total_ns), waits.peer));
    for waits in waits.iter() {
        report_peer(facts, out, waits);
    }
}

/// How long answers take, to their first byte. Where a protocol is not known a small answer counts to its last: the first may only say that
/// the question came.
#[gated]
fn answers<'a>(facts: &'a Facts, peer: &'a PeerFacts) -> &'a CallStats {
    let mut rows = asked::endpoints(facts, &peer.name).filter(|row| row.stats.count > 0);
    let (Some(row), None) = (rows.next(), rows.next()) else { return &peer.answers };
    let is_small = row.stats.bytes / row.stats.count < SEGMENT;
    // The row is of all processes that ask.
    let of_one = row.kept().all(|record| peer.process.is_none_or(|process| process == record.process));
    if row.is_undecoded() && is_small && of_one { &row.stats } else { &peer.answers }
}

/// What fits into one segment of TCP: its payload in an Ethernet frame of 1,500 bytes (RFC 9293, 3.7.1).
const SEGMENT: u64 = 1_460;

/// A server that is asked on connections that are older than the capture, and that nothing names.
struct Unnamed<'a> {
    process: Option<ProcessId>,
    /// The thread that asks, where it is one.
    tid: Option<Tid>,
    name: String,
    row: &'a EndpointFacts,
    /// Something that is asked in the same protocol of a server without a name is answered at once: where it is the same server, what
    /// takes long is news.
    may_be_news: bool,
}

/// Such servers, as far as their requests are recognised: by protocol, or by the sizes of what went each way.
#[gated]
fn unnamed(facts: &Facts) -> Vec<Unnamed<'_>> {
    let rows = facts.requests.endpoints().iter().filter(|row| row.side == Side::Client && row.peer.is_none());
    let rows: Vec<&EndpointFacts> = rows.collect();
    let is_quick = |row: &&EndpointFacts| row.stats.count >= FEW && row.stats.percentile(0.1) < SLOW;
    let answers = rows.iter().copied().filter(|row| {
        let command = row.name.split(' ').next().unwrap_or_default();
        !asked::lists(asked::WAITING, command) && row.protocol != Some("AMQP")
    });
    let mut all: Vec<Unnamed<'_>> = Vec::new();
    for row in answers.filter(|row| row.stats.percentile(0.1) >= SLOW) {
        let Some(first) = row.kept().next() else { continue };
        let tid = Some(first.tid).filter(|tid| row.kept().all(|record| record.tid == *tid));
        let fd = Some(first.fd).filter(|fd| row.kept().all(|record| record.fd == *fd));
        let by = fd.map_or("several descriptors".to_string(), |fd| format!("fd {fd}"));
        let what = if row.is_hidden() { String::new() } else { format!(", asked for {}", row.name) };
        all.push(Unnamed {
            process: Some(first.process),
            tid,
            name: format!("the server behind {by}{what}"),
            row,
            may_be_news: rows.iter().any(|other| is_quick(other) && may_be_one(other, row))
                || may_be_served(facts, row, tid),
        });
    }
    all
}

/// True where two rows may be of one server.
fn may_be_one(one: &EndpointFacts, other: &EndpointFacts) -> bool {
    one.protocol == other.protocol && (one.fd == other.fd || one.fd.is_none() || other.fd.is_none())
}

/// True where one thread would wait for several answers at once, and who asks whom is known by sizes alone: then it may be the one that
/// answers, with short words, and what takes long is what its clients do between two questions.
#[gated]
fn may_be_served(facts: &Facts, row: &EndpointFacts, tid: Option<Tid>) -> bool {
    let whole = asked::whole(facts, tid);
    row.is_undecoded() && whole > 0 && row.stats.total_ns > whole
}

/// True where the waits of a thread for answers end at even distances, whatever it did in between: what comes has its own pace, be it a feed, a
/// queue or the limit of a rate.
fn comes_by_its_own_pace(facts: &Facts, waits: &Waits<'_>) -> bool {
    let of_it = |time: &&CallTime| {
        let object = facts.accounts.objects.get(time.key.object);
        object.kind == ObjectKind::Peer && object.name() == waits.peer && time.key.waits.is_some()
    };
    let calls = accounts(facts, waits.process).flat_map(|account| &account.calls).filter(of_it);
    let main = calls.max_by_key(|time| time.calls.total_ns);
    main.is_some_and(|time| time.pace.is_kept() || time.pace.is_due())
}

/// The accounts of a process's threads.
fn accounts(facts: &Facts, process: Option<ProcessId>) -> impl Iterator<Item = &ThreadAccount> {
    let threads = facts.world.threads.iter().filter(move |(_, thread)| Some(thread.process) == process);
    threads.filter_map(|(id, thread)| facts.accounts.of(id).filter(|account| account.tid == thread.tid))
}

/// The part of the answers' time in which the process can have waited for them: an answer that was there while its thread slept by itself, or
/// worked on what it had of it, did not take so long.
#[gated]
fn awaited_part(facts: &Facts, waits: &Waits<'_>) -> f64 {
    let awaited = awaited_ns(facts, waits.process, waits.peer).unwrap_or(waits.stats.total_ns);
    (awaited as f64 / waits.stats.total_ns.max(1) as f64).min(1.0)
}

/// What the threads of a process waited in calls that an answer can end, ns: not for a time, nor for a file; `None` without an account.
#[gated]
fn awaited_ns(facts: &Facts, process: Option<ProcessId>, peer: &str) -> Option<u64> {
    let is_for_others = |time: &&CallTime| {
        let kind = facts.accounts.objects.get(time.key.object).kind;
        let waits = match time.key.waits {
            Some(waits) => !matches!(waits, WaitKind::Timer | WaitKind::Child),
            // What a descriptor leads to is not known.
            None => kind == ObjectKind::Descriptor,
        };
        waits && !matches!(kind, ObjectKind::Timer | ObjectKind::File | ObjectKind::Listener)
    };
    let all: Vec<&ThreadAccount> = accounts(facts, process).collect();
    // Those that ask it, where that shows.
    let asks = |account: &&ThreadAccount| {
        let mut objects = account.calls.iter().map(|time| facts.accounts.objects.get(time.key.object));
        objects.any(|object| object.name() == peer)
    };
    let asking: Vec<&ThreadAccount> = all.iter().copied().filter(asks).collect();
    let accounts = if asking.is_empty() { all } else { asking };
    accounts.first()?;
    let calls = accounts.iter().flat_map(|account| &account.calls).filter(is_for_others);
    Some(calls.map(|time| time.parts.total()).saturating_sum())
}

/// Nearly all of them as long as an ACK is delayed (38 to 50 ms: TCP_DELACK_MIN is 40 ms, include/net/tcp.h): that is TCP's
/// doing, not the server's.
#[gated]
fn is_ack_delay(stats: &CallStats) -> bool {
    stats.percentile(0.1) >= Nanos::from_millis(38) && stats.percentile(0.9) <= Nanos::from_millis(50)
}

/// Waits for one peer.
struct Waits<'a> {
    process: Option<ProcessId>,
    peer: &'a str,
    /// Who waits: of each process its thread, `None` where it is several.
    threads: Vec<Option<Tid>>,
    stats: CallStats,
    /// What is asked of it, where its address is not known.
    row: Option<&'a EndpointFacts>,
    may_be_news: bool,
    is_name_server: bool,
    /// The part of the answers' time in which it can have waited for them.
    awaited: f64,
}

impl Waits<'_> {
    fn tid(&self) -> Option<Tid> {
        self.threads.first().copied().flatten()
    }

    #[gated]
    fn who(&self, facts: &Facts) -> String {
        match (self.threads.len(), asked::program(facts, self.process)) {
            (several, Some(name)) if several > 1 => format!("{several} processes of {name}"),
            _ => asked::asker(facts, self.process),
        }
    }

    #[gated]
    fn share(&self, facts: &Facts) -> Share {
        let (ns, several) = ((self.stats.total_ns as f64 * self.awaited) as u64, self.threads.len());
        let wholes: Vec<u64> = self.threads.iter().map(|tid| asked::whole(facts, *tid)).collect();
        if several < 2 || wholes.contains(&0) {
            return asked::share(facts, self.tid().filter(|_| several < 2), ns, self.stats.count);
        }
        let whole: u64 = wholes.iter().sum();
        let value = Some((ns as f64 / whole as f64).min(1.0));
        Share::of_time(value, format!("the time of {several} processes"))
    }
}

/// The workers of one program wait as one.
fn joined<'a>(facts: &Facts, waits: Vec<Waits<'a>>) -> Vec<Waits<'a>> {
    let mut all: Vec<Waits<'a>> = Vec::new();
    for one in waits {
        let name = asked::program(facts, one.process);
        let same = |known: &&mut Waits<'_>| {
            name.is_some() && known.peer == one.peer && asked::program(facts, known.process) == name
        };
        match all.iter_mut().find(same) {
            Some(known) => {
                known.stats.merge(&one.stats);
                known.threads.extend(one.threads);
            }
            None => all.push(one),
        }
    }
    all
}

/// The waits of all threads for peers that this program connected to, by process.
#[gated]
fn of_accounts(facts: &Facts) -> Vec<Waits<'_>> {
    let mut all: Vec<Waits<'_>> = Vec::new();
    for (id, thread) in facts.world.threads.iter() {
        let Some(account) = facts.accounts.of(id).filter(|account| account.tid == thread.tid) else {
            continue;
        };
        for time in account.calls.iter().filter(|time| time.key.waits.is_some() && !time.is_at_most) {
            let object = facts.accounts.objects.get(time.key.object);
            // A write waits for room, not for an answer.
            let answers =
                time.key.syscall.info().moves != Moves::Write && time.key.syscall != Syscall::CONNECT;
            if object.kind != ObjectKind::Peer || !asked::is_address(object.name()) || !answers {
                continue;
            }
            let (process, peer) = (Some(thread.process), object.name());
            match all.iter_mut().find(|known| known.process == process && known.peer == peer) {
                Some(known) => {
                    known.stats.merge(&time.calls);
                    known.threads = vec![known.tid().filter(|tid| *tid == thread.tid)];
                }
                None => {
                    let stats = time.calls.clone();
                    all.push(Waits {
                        process,
                        peer,
                        threads: vec![Some(thread.tid)],
                        stats,
                        row: None,
                        may_be_news: false,
                        is_name_server: false,
                        awaited: 1.0,
                    });
                }
            }
        }
    }
    all
}

#[gated]
fn report_peer(facts: &Facts, out: &mut Findings<'_>, waits: &Waits<'_>) {
    let stats = &waits.stats;
    let share = waits.share(facts);
    // A job that asks a server for each of its items waits for answers a part of the time, as it must.
    // Where calls were only counted, what it waits for may be what somebody sends unasked; where the next line ends a wait, what it did with
    // the answer counts too.
    let is_sure = !waits.may_be_news && !facts.capture.bounds_answers();
    let is_late = stats.percentile(0.5) >= LATE;
    // Quick answers take too much of the time where all of them do.
    let is_much = is_late || !facts.recording.only_counts();
    let who = waits.who(facts);
    let of_time = share.figure().at_least(WARNING_SHARE);
    let processes = Some(waits.threads.len() as u64).filter(|several| *several > 1);
    let title = format!(
        "{} takes {} of {}: {who} waits {} for it, p50 {}, max {}",
        facts.peer_words(waits.peer),
        of_time,
        share.of,
        words::plural(stats.count, "time"),
        words::duration(stats.percentile(0.5)),
        words::duration(stats.max()),
    );
    let subject = Subject {
        peer: Some(waits.peer.to_string()),
        ..Subjects::thread(facts, waits.tid().unwrap_or_default())
    };
    let asked =
        waits.row.or_else(|| asked::endpoints(facts, waits.peer).max_by_key(|row| row.stats.total_ns));
    let slowest = asked.and_then(|row| row.kept().max_by_key(|record| record.dur));
    let (host, port) = waits.peer.rsplit_once(':').unwrap_or(("HOST", "PORT"));
    let mut found = out.report(share, title)
        // What waits for these answers is not seen.
        .at_most(if is_sure && is_much { Severity::Warning } else { Severity::Notice })
        .notice_below_together(if is_late { 0.0 } else { MUCH })
        .measured(of_time)
        .measured_all(processes.map(|several| Measurement::count("processes", several)))
        .measured(Measurement::count("waits", stats.count).at_least(FEW as f64))
        .measured(Measurement::time("p50", stats.percentile(0.5)).at_least(SLOW.or_zero() as f64))
        .measured(Measurement::time("p99", stats.percentile(0.99)))
        .measured(Measurement::time("longest", stats.max()))
        .subject(subject)
        .cause(format!(
            "{who} asks {} and waits for the answer: p50 {}, p99 {}. What it does next waits for that.",
            facts.peer_words(waits.peer),
            words::duration(stats.percentile(0.5)),
            words::duration(stats.percentile(0.99)),
        ))
        .fix(match waits.is_name_server {
            true => format!("ask it by hand: dig @{host} NAME +tries=1; where it is slow, put another one first in /etc/resolv.conf"),
            false => format!("see what the server did then: its log of slow requests, or whyslow diagnose --port {port} on {host} at the same time"),
        });
    if waits.is_name_server {
        found = found.fix("a cache on the host: systemd-resolved, dnsmasq, NodeLocal DNSCache; keep connections, and the addresses of servers that are asked again");
    }
    if waits.row.is_some() {
        found = found.fix("the capture does not name it: lsof -nP -p PID > trace.lsof, then whyslow diagnose trace.st trace.lsof");
    }
    found
        .fix("ask for less, or for several things at once; keep what seldom changes")
        .fix("do other work meanwhile: several connections, or requests sent before their answers are needed")
        .saving(stats.total())
        .evidence(slowest.map(|record| &record.first_line))
        .verify("whyslow account --by object FILE; whyslow peers FILE")
        .from_together(WARNING_SHARE)
        .file();
}
