//! # slow-redis-command
//!
//! ## What it is
//! A command that makes Redis go through many elements at once (KEYS, SMEMBERS, HGETALL, a long LRANGE, a script), or an
//! answer of many kilobytes, takes a hundredth of a second and more, while other commands to the same Redis are quick.
//!
//! ## Why it is slow
//! Redis runs one command at a time. What takes long holds up every other client behind it, not only the one that asked.
//! The time grows with the data: what was quick when it was written is slow a year later.
//!
//! ## Example
//! ```text
//! sendto(6, "*2\r\n$7\r\nHGETALL\r\n$9\r\ncart:1234\r\n", 34, 0, NULL, 0) = 34 <0.000040>
//! recvfrom(6, "*40000\r\n$6\r\nitem:1\r\n"..., 262144, 0, NULL, NULL) = 262144 <0.045000>
//! ```
//!
//! ## What to do instead
//! SCAN instead of KEYS; SSCAN, HSCAN or the fields that are needed instead of all; ranges instead of whole lists; several
//! smaller keys instead of one; UNLINK instead of DEL. Long scripts in steps. Where all is needed: on a replica.
//!
//! ## When it is wrong
//! Where all commands of a Redis are slow alike, it is not the command: its host, its disk or the network is, and nothing
//! is said here. Where only one command is seen there is nothing to compare it with: then a large answer tells, or a command
//! that goes through all there is. Commands that wait on purpose (BLPOP, XREAD BLOCK) are left out.

use super::asked::{WAITING, lists};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{EndpointFacts, Side};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "slow-redis-command",
    group: "network",
    summary: "a command keeps Redis busy for long, while others to it are quick",
    source: include_str!("slow_redis_command.rs"),
    needs: &[Need::Durations, Need::Clock, Need::Descriptors],
    check,
};

/// From here on Redis itself logs a command as slow (`slowlog-log-slower-than 10000`, redis.conf).
const SLOW: Nanos = Nanos::from_millis(10);
/// So many times the median of the other commands: else the server or the network is slow, not the command.
const APART: u64 = 5;
/// An answer of this many bytes takes its time whatever the command.
const LARGE: u64 = 64 << 10;

/// Commands whose time grows with the number of elements (redis.io/commands, "Time complexity": O(N) or more in the size of
/// the key or of the database).
const BY_ELEMENTS: &str = "BITCOUNT BITOP DEL EVAL EVALSHA EVALSHA_RO EVAL_RO FCALL FCALL_RO FLUSHALL FLUSHDB GEORADIUS \
     GEOSEARCH HGETALL HKEYS HVALS KEYS LRANGE LREM MGET SDIFF SDIFFSTORE SINTER SINTERSTORE SMEMBERS \
     SORT SORT_RO SUNION SUNIONSTORE XRANGE ZINTERSTORE ZRANGE ZRANGEBYSCORE ZREVRANGE ZUNIONSTORE HMGET";

/// Those of them that go through all of a key, of the database, or of what a script likes: others take their elements from the
/// one who asks, who sees how many these are.
const WHOLE: &str = "EVAL EVALSHA EVALSHA_RO EVAL_RO FCALL FCALL_RO HGETALL HKEYS HVALS KEYS SDIFF SINTER SMEMBERS SORT \
     SORT_RO SUNION";

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut slow: Vec<&EndpointFacts> = redis(facts).filter(|row| is_slow(facts, row)).collect();
    slow.sort_by_key(|row| std::cmp::Reverse(row.stats.total_ns));
    for row in slow {
        report(facts, out, row);
    }
}

#[gated]
fn redis(facts: &Facts) -> impl Iterator<Item = &EndpointFacts> {
    let rows = facts.requests.endpoints().iter();
    rows.filter(|row| is_redis(facts, row) && row.stats.timed > 0 && !lists(WAITING, command(row)))
}

/// By its payload, or by that of the connection's first request.
fn is_redis(facts: &Facts, row: &EndpointFacts) -> bool {
    let by_connection = || {
        let peer = facts.peers.servers().find(|peer| row.peer.as_deref() == Some(&*peer.name));
        row.side == Side::Client && peer.is_some_and(|peer| peer.protocol == Some("Redis"))
    };
    row.protocol == Some("Redis") || row.protocol.is_none() && by_connection()
}

fn command(row: &EndpointFacts) -> &str {
    row.name.split(' ').next().unwrap_or_default()
}

/// Bytes of an answer, in the mean.
fn answer_bytes(row: &EndpointFacts) -> u64 {
    row.stats.bytes / row.stats.count.max(1)
}

#[gated]
fn is_slow(facts: &Facts, row: &EndpointFacts) -> bool {
    let median = row.stats.percentile(0.5);
    let by_elements = lists(BY_ELEMENTS, command(row));
    let large = answer_bytes(row) >= LARGE;
    if median < SLOW || !median.is_known() || !(by_elements || large) {
        return false;
    }
    match others(facts, row) {
        Some(other) => other.or_zero().saturating_mul(APART) <= median.or_zero(),
        // Nothing to compare with: the answer itself must tell, or the command.
        None => large || row.side == Side::Client && lists(WHOLE, command(row)),
    }
}

/// The median of the quickest half of the other commands to the same Redis; `None` where there are none.
#[gated]
fn others(facts: &Facts, row: &EndpointFacts) -> Option<Nanos> {
    let mut medians: Vec<(Nanos, u64)> = redis(facts)
        .filter(|other| (other.side, &other.peer) == (row.side, &row.peer) && other.name != row.name)
        .map(|other| (other.stats.percentile(0.5), other.stats.timed))
        .collect();
    medians.sort_unstable();
    let half = medians.iter().map(|(_, count)| count).sum::<u64>().div_ceil(2);
    let mut seen = 0;
    medians.into_iter().find_map(|(median, count)| {
        seen += count;
        (seen >= half).then_some(median)
    })
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &EndpointFacts) {
    let (share, served) = share(facts, row);
    let median = row.stats.percentile(0.5);
    let peer = row.peer.as_deref().unwrap_or("this Redis");
    let slowest = row.kept().max_by_key(|record| record.dur);
    let bytes = guards::passed(Measurement::bytes("bytes_per_answer", answer_bytes(row)), LARGE as f64);
    let answers = if bytes.threshold.is_some() { format!(", answers of {bytes}") } else { String::new() };
    let other = others(facts, row);
    // Where one command alone is seen, there is none.
    let of_others = other.map(|other| {
        let times = median.or_zero() as f64 / other.or_zero() as f64;
        let times = Measurement::number("times_p50_of_others", times).at_least(APART as f64);
        [Measurement::time("p50_of_others", other), times]
    });
    let title = format!(
        "{} at {peer} takes {} (p50){answers}{}",
        if row.protocol.is_none() { "a command" } else { &row.name },
        words::duration(median),
        other.map_or(String::new(), |other| format!(", other commands {}", words::duration(other))),
    );
    let held_up = redis(facts)
        .filter(|other| (other.side, &other.peer) == (row.side, &row.peer) && other.name != row.name)
        .filter(|other| other.stats.percentile(0.5) < SLOW && other.stats.max() >= SLOW)
        .max_by_key(|other| other.stats.max());
    let behind = held_up.map_or(String::new(), |other| {
        format!(
            " {}: p50 {}, max {}: it waits behind it.",
            other.name,
            words::duration(other.stats.percentile(0.5)),
            words::duration(other.stats.max())
        )
    });
    let behind_it = held_up.into_iter().flat_map(|other| {
        [
            Measurement::time("p50_of_held_up", other.stats.percentile(0.5)),
            Measurement::time("longest_of_held_up", other.stats.max()),
        ]
    });
    let mut found = out
        .report(share, title)
        .measured(Measurement::time("p50", median).at_least(SLOW.or_zero() as f64))
        .measured(bytes)
        .measured_all(of_others.into_iter().flatten())
        .measured(Measurement::count("calls", row.stats.count))
        .measured(Measurement::time("time", row.stats.total()))
        .measured_all(behind_it)
        .subject(Subject {
            peer: row.peer.as_deref().map(str::to_string),
            endpoint: Some(row.name.to_string()),
            ..Subjects::thread(facts, slowest.map_or(0, |record| record.tid))
        })
        .cause(format!(
            "{} was asked {} and kept Redis for {} in all; Redis runs one command at a time, so all its clients wait \
             meanwhile.{behind}",
            row.name,
            words::plural(row.stats.count, "time"),
            words::duration(row.stats.total()),
        ))
        .fix(instead(command(row)))
        .fix("keep what seldom changes in the program, or ask a replica for what must be whole")
        .saving(Nanos::new(served))
        .evidence(slowest.map(|record| &record.first_line))
        .evidence(slowest.and_then(|record| record.last_line.as_ref()));
    // Rare, and nobody waits for it: worth knowing.
    if row.side == Side::Client && row.stats.count < 3 {
        found = found.at_most(Severity::Notice);
    }
    let (host, port) = peer.rsplit_once(':').unwrap_or(("HOST", "6379"));
    found
        .verify(format!(
            "redis-cli -h {host} -p {port} SLOWLOG GET 20; redis-cli -h {host} -p {port} --bigkeys"
        ))
        .file();
}

/// What the command takes of the time of the requests that are served meanwhile, with that time; of the wall time where none
/// are.
#[gated]
fn share(facts: &Facts, row: &EndpointFacts) -> (Share, u64) {
    let served =
        || facts.requests.endpoints().iter().filter(|own| own.side == Side::Server && own.stats.total_ns > 0);
    let part = served()
        .flat_map(|own| &own.downstream)
        .filter(|part| facts.requests.endpoint(part.endpoint).is_some_and(|asked| std::ptr::eq(asked, row)));
    let ns = part.fold(0, |sum: u64, part| sum.saturating_add(part.ns));
    if ns == 0 {
        return (guards::share_of_ns(facts, None, row.stats.total(), row.stats.count), row.stats.total_ns);
    }
    let all = served().fold(0, |sum: u64, own| sum.saturating_add(own.stats.total_ns));
    let value = Some((ns as f64 / all.max(1) as f64).min(1.0));
    (Share::of_time(value, "time of all requests served"), ns)
}

fn instead(command: &str) -> &'static str {
    match command {
        "KEYS" => "SCAN in steps instead of KEYS, or keep the names wanted in a set of their own",
        "SMEMBERS" | "SUNION" | "SINTER" | "SDIFF" => {
            "SSCAN in steps, SISMEMBER for single members, or several smaller sets instead of one"
        }
        "HGETALL" | "HKEYS" | "HVALS" => {
            "HMGET of the fields that are needed, HSCAN in steps, or several smaller hashes instead of one"
        }
        "LRANGE" | "ZRANGE" | "ZREVRANGE" | "ZRANGEBYSCORE" | "XRANGE" => {
            "ask for a page, not for all: a smaller range"
        }
        "EVAL" | "EVALSHA" | "EVAL_RO" | "EVALSHA_RO" | "FCALL" | "FCALL_RO" => {
            "do less in one script: in steps, or with the loop in the program"
        }
        "DEL" => "UNLINK instead of DEL: the memory is freed in another thread",
        "FLUSHALL" | "FLUSHDB" => "FLUSHALL ASYNC, FLUSHDB ASYNC: the memory is freed in another thread",
        "SORT" | "SORT_RO" => "keep a sorted set instead of sorting at each request",
        _ => "ask for less at once: fewer keys, smaller values, compressed or split",
    }
}
