//! # nscd-sssd-slow
//!
//! ## What it is
//! The program asks a service of the host for users, groups or hosts (nscd, sssd, nslcd, winbind, systemd-userdb), and that is slow to
//! answer.
//!
//! ## Why it is slow
//! The C library asks such a service in getpwnam, getgrouplist or getaddrinfo, in the middle of whatever the program does, and waits: nscd's
//! client up to 5 s, sssd's up to 5 minutes. The service itself may wait for LDAP or a name server, one question after the other.
//!
//! ## Example
//! ```text
//! connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = 0 <0.000030>
//! sendto(3, "\2\0\0\0\0\0\0\0\5\0\0\0ada\0"..., 17, MSG_NOSIGNAL, NULL, 0) = 17 <0.000020>
//! poll([{fd=3, events=POLLIN|POLLERR|POLLHUP}], 1, 5000) = 1 ([{fd=3, revents=POLLIN}]) <0.210000>
//! ```
//!
//! ## What to do instead
//! Mend the service: its cache (`enumerate = false`, `entry_cache_timeout`, `memcache_timeout` of sssd; positive-time-to-live of nscd), the
//! server that it asks, its number of threads. Or take it off the path: another order in nsswitch.conf. In the program, look a user up once and
//! keep the answer.
//!
//! ## When it is wrong
//! The first look-up after a start fills a cache: one or two are quiet. A service that answers from memory takes a tenth of a millisecond. A
//! socket that is not there (nscd is not installed) costs a failed connect, and is quiet.

use super::asked::SLOW;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards, words};
use whyslow_facts::{Facts, PeerFacts};
use whyslow_model::syscall::Class;
use whyslow_model::{FdKind, Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "nscd-sssd-slow",
    group: "network",
    summary: "look-ups of users or hosts wait for a service of the host",
    source: include_str!("nscd_sssd_slow.rs"),
    needs: &[Need::Durations, Need::Class(Class::Network), Need::Descriptors],
    check,
};

/// Fewer look-ups are the first ones, which fill a cache.
const MIN_LOOKUPS: u64 = 3;
/// Calls by which a look-up waits.
const WAITS: &[&str] = &["poll", "ppoll", "recvfrom", "recvmsg", "read", "connect"];

/// Sockets of services that the C library's modules ask (nsswitch.conf(5)), by how their paths end or what is in them, with the service's name.
const SERVICES: &[(&str, &str)] = &[
    ("/nscd/socket", "nscd"),
    ("/nslcd/socket", "nslcd"),
    ("/sss/pipes/", "sssd"),
    ("/winbindd/pipe", "winbindd"),
    ("/systemd/userdb/", "systemd-userdbd"),
    ("/nsncd", "nsncd"),
];

/// What one service is asked by a process.
struct Asked<'a> {
    peer: &'a PeerFacts,
    service: &'static str,
    lookups: u64,
    time: Nanos,
}

impl<'a> Asked<'a> {
    #[gated]
    fn of(peer: &'a PeerFacts) -> Option<Asked<'a>> {
        let path = &*peer.name;
        let (_, service) = SERVICES.iter().find(|(socket, _)| path.contains(socket))?;
        let unanswered = peer.unanswered.waited_ns;
        let ns = peer.connects.total_ns.saturating_add(peer.answers.total_ns).saturating_add(unanswered);
        let lookups = peer.answers.count.saturating_add(peer.unanswered.count);
        let is_unix = matches!(peer.kind, FdKind::Unix | FdKind::Socket);
        let each = Nanos::new(ns / lookups.max(1));
        (is_unix && lookups >= MIN_LOOKUPS && each >= SLOW).then_some(Asked {
            peer,
            service,
            lookups,
            time: Nanos::new(ns),
        })
    }
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut asked: Vec<Asked<'_>> = facts.peers.servers().filter_map(Asked::of).collect();
    asked.sort_by_key(|one| std::cmp::Reverse(one.time));
    for one in &asked {
        report(facts, out, one);
    }
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, asked: &Asked<'_>) {
    let (peer, service) = (asked.peer, asked.service);
    let share = guards::share_of_ns(facts, peer.only_thread(), asked.time, asked.lookups);
    let count = Measurement::count("lookups", asked.lookups).at_least(MIN_LOOKUPS as f64);
    let took = Measurement::time("time", asked.time);
    let mean = asked.time.or_zero() / asked.lookups.max(1);
    let mean = Measurement::time("time_per_lookup", Nanos::new(mean)).at_least(SLOW.or_zero() as f64);
    let without = (peer.unanswered.count > 0)
        .then(|| Measurement::count("lookups_without_answer", peer.unanswered.count));
    let vain =
        without.as_ref().map_or(String::new(), |count| format!(" {count} of them got no answer in time."));
    let per = match facts.work.requests {
        0 => String::new(),
        _ => format!(" That is {}.", facts.work.rates(asked.lookups)),
    };
    let site = callers::of_calls(facts, peer.tid, WAITS);
    let (mend, show) = match service {
        "nscd" => (
            "nscd: more threads and a longer life of entries (nscd.conf: threads, positive-time-to-live, reload-count), or stop it where systemd-resolved or sssd answers",
            "nscd -g   (cache hit rate)",
        ),
        "sssd" => (
            "sssd: let its cache answer (entry_cache_timeout, memcache_timeout, entry_cache_nowait_percentage; enumerate = false; ignore_group_members = true), and mend the LDAP server that it waits for",
            "time getent passwd USER;  sss_cache -E",
        ),
        _ => ("mend the service: its cache, and the server that it asks itself", "time getent passwd USER"),
    };
    out.report(
        share,
        format!(
            "{service} ({}) takes {mean} for each of {count} look-ups: {took} of waiting{}",
            peer.name,
            callers::words(site.as_ref())
        ),
    )
    .subject(Subject {
        peer: Some(peer.name.to_string()),
        function: callers::function(site.as_ref()),
        ..Subjects::thread(facts, peer.tid)
    })
    .cause(format!(
        "The C library asks {service} for a user, a group or a host, and the thread waits for its answer.{vain}{per} What {service} does then, its own log and a recording of it tell."
    ))
    .measured(count)
    .measured(took)
    .measured(mean)
    .measured_all(without)
    .fix(mend)
    .fix("nsswitch.conf: `files` first, and without the module for what it is not needed for (passwd, group, hosts each have a line)")
    .fix("code: look a user, group or host up once, and keep the answer")
    .verify(format!("whyslow record -p $(pidof {service}) -d 10s;  {show}"))
    .saving(asked.time)
    .saving_text(format!("up to {} of waiting", words::duration(asked.time)))
    .evidence_all(peer.connect_lines.iter())
    .file();
}
