//! # reverse-dns
//!
//! ## What it is
//! A server asks a name server for the name of each client's address (a PTR query) before it goes on with the connection.
//!
//! ## Why it is slow
//! The client waits for a look-up that it has no use for. Addresses inside a company and of most homes have no name: the answer is late, or
//! there is none, and glibc gives up after 5 s for each server and try.
//!
//! ## Example
//! ```text
//! accept(3, {sa_family=AF_INET, sin_port=htons(51514), sin_addr=inet_addr("10.0.0.7")}, [16]) = 4
//! sendto(5, "\22\64\1\0\0\1\0\0\0\0\0\0\0017\0010\0010\00210\7in-addr\4arpa\0\0\f\0\1", 39, MSG_NOSIGNAL, NULL, 0) = 39
//! poll([{fd=5, events=POLLIN}], 1, 5000) = 1 ([{fd=5, revents=POLLIN}]) <0.088000>
//! ```
//!
//! ## What to do instead
//! Switch it off and write addresses to the log: `UseDNS no` (sshd), `skip-name-resolve` (MySQL, MariaDB), `HostnameLookups Off` (Apache),
//! `log_hostname = off` (PostgreSQL). Where the name is needed, look it up behind the answer, and keep it for a while.
//!
//! ## When it is wrong
//! A program that takes no connections and looks addresses up (of a log, of a list) does that for its work: it is a notice, as is what
//! takes a small part of the time.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::peers::Role;
use whyslow_facts::folds::reverse_names::Reverse;
use whyslow_model::syscall::Class;
use whyslow_model::{Measurement, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "reverse-dns",
    group: "network",
    summary: "a server looks up the name of each client's address",
    source: include_str!("reverse_dns.rs"),
    needs: &[Need::Class(Class::Network)],
    check,
};

/// Fewer look-ups are one client that came, or a program's start.
const MIN_LOOKUPS: u64 = 3;

/// Calls by which a look-up waits.
const WAITS: &[&str] =
    &["poll", "ppoll", "recvfrom", "recvmsg", "epoll_wait", "epoll_pwait", "sendto", "sendmmsg", "futex"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut rows: Vec<&Reverse> =
        facts.reverse_names.rows.iter().filter(|row| row.lookups.count >= MIN_LOOKUPS).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.lookups.total_ns, row.lookups.count)));
    for row in rows {
        report(facts, out, row);
    }
}

/// Connections that the process took.
#[gated]
fn accepted(facts: &Facts, row: &Reverse) -> u64 {
    let clients = facts.peers.by_process().filter(|peer| peer.role == Role::Client);
    clients.filter(|peer| peer.process == Some(row.process)).map(|peer| peer.opened).saturating_sum()
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &Reverse) {
    let times = &row.lookups;
    let accepted = accepted(facts, row);
    let serves = accepted > 0 || facts.work.requests > 0;
    let tid = Some(row.tid).filter(|_| !row.shared);
    let share = guards::share_of_ns(facts, tid, times.total(), times.count);
    let most = if serves { Severity::Critical } else { Severity::Notice };
    let count = Measurement::count("lookups", times.count).at_least(MIN_LOOKUPS as f64);
    let took = Measurement::time("time", times.total());
    let mean = Measurement::time("time_per_lookup", times.mean());
    let name = if row.name.is_empty() { "addresses" } else { &row.name };
    let server = if row.server.is_empty() { "a name server" } else { &row.server };
    let without = (times.errors > 0).then(|| Measurement::count("lookups_without_answer", times.errors));
    let vain = without.as_ref().map_or(String::new(), |count| format!(" {count} got no answer."));
    let each = (accepted > 0)
        .then(|| Measurement::number("lookups_per_connection", times.count as f64 / accepted as f64));
    let per = match &each {
        Some(each) => format!(" That is {each} for each connection that it accepted."),
        None if serves => format!(" That is {}.", facts.work.rates(times.count)),
        None => " No connection that it accepts is seen: the names may be what it works for.".to_string(),
    };
    let site = callers::of_calls(facts, row.tid, WAITS);
    let subject = Subjects::thread(facts, row.tid);
    let who = subject.comm.clone().unwrap_or_else(|| "the program".to_string());
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    out.report(
        share,
        format!(
            "{who} asks {server} for the names of addresses {count} times ({name}): {took} of waiting, {mean} each{}",
            callers::words(site.as_ref())
        ),
    )
    .at_most(most)
    .subject(Subject {
        peer: Some(row.server.to_string()).filter(|server| !server.is_empty()),
        function: callers::function(site.as_ref()),
        ..subject
    })
    .cause(format!(
        "A PTR query asks for the name that belongs to an address, and the thread that serves the client waits for the answer.{vain}{per}"
    ))
    .measured(count)
    .measured(took)
    .measured(mean)
    .measured(Measurement::time("p50", times.percentile(0.5)))
    .measured(Measurement::time("longest", times.max()))
    .measured_all(without)
    .measured_all(each)
    .fix("switch it off, and log addresses: sshd UseDNS no; MySQL and MariaDB skip-name-resolve; Apache HostnameLookups Off; PostgreSQL log_hostname = off; Postfix smtpd_peername_lookup = no; xinetd and vsftpd reverse_lookup_enable=NO")
    .fix("code: drop getnameinfo, gethostbyaddr, socket.getfqdn, net.LookupAddr, InetAddress.getHostName of the client's address; getnameinfo with NI_NUMERICHOST asks nobody")
    .fix("where the name is needed: look it up behind the answer, keep it for some minutes, and let a cache on the host answer (systemd-resolved, unbound, nscd)")
    .verify(format!("tcpdump -ni any 'udp port 53' | grep PTR   (silent while clients connect);  strace -f -e trace=network -s 128 -p {pid}"))
    .saving(times.total())
    .saving_text(format!("{} for each client", words::duration(times.mean())))
    .evidence_all(row.lines.iter())
    .file();
}
