//! # fd-exhaustion
//!
//! ## What it is
//! Calls that make a descriptor are refused: the process has as many open as it may (EMFILE), or the whole
//! system (ENFILE).
//!
//! ## Why it is slow
//! Clients are not accepted and wait until they give up. A server that waits for its listening socket with epoll or
//! poll is woken at once again, because the connection is still there: it burns a CPU and accepts nobody.
//!
//! ## Example
//! ```text
//! accept4(3, NULL, NULL, SOCK_CLOEXEC) = -1 EMFILE (Too many open files)
//! ```
//!
//! ## What to do instead
//! Look at what the descriptors are: if they grow with time, something is not closed. If the load needs them, raise the
//! limit. Keep one descriptor in reserve, or stop accepting for a moment when the limit is reached.
//!
//! ## When it is wrong
//! A server that limits its connections on purpose and pauses at the limit is refused now and then: one or two
//! refusals are a notice. By the host's figures, a process near its limit is a notice as long as a twentieth is left.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::limits::Refused;
use whyslow_facts::host::Thing;
use whyslow_model::{Entity, Errno, Measurement, Metric, Severity, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "fd-exhaustion",
    group: "network",
    summary: "no more descriptors: open, accept or socket are refused",
    source: include_str!("fd_exhaustion.rs"),
    needs: &[Need::Either(&[Need::Calls, figures::tasks(&[Metric::Fds, Metric::FdLimit])])],
    check,
};

/// From this many refusals on it is no probing of the limit.
const MANY: u64 = 3;
/// Part of the limit that is in use: a burst of connections takes the rest.
const NEARLY: f64 = 0.90;
/// From here on the next few are refused.
const NO_ROOM: f64 = 0.95;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    for refused in facts.limits.refused() {
        report(facts, out, refused);
    }
    let processes = facts.host.processes().into_iter();
    let mut near: Vec<_> =
        processes.filter_map(|(of, thing)| near(of, thing, Metric::Fds, Metric::FdLimit)).collect();
    let host = facts.host.host();
    near.extend(host.and_then(near_limit_of_host));
    near.sort_by(|a, b| b.part.total_cmp(&a.part).then(a.of.cmp(b.of)));
    // Who was refused is told above.
    let refused: Vec<Option<u32>> =
        facts.limits.refused().into_iter().map(|one| facts.world.threads.process(one.process).pid).collect();
    for one in near.into_iter().filter(|one| !refused.contains(&one.of.pid()) || one.of.pid().is_none()) {
        report_near(facts, out, &one);
    }
}

/// A process, or the host, with nearly as many open as it may have.
struct Near<'a> {
    of: &'a Entity,
    part: f64,
    open: f64,
    limit: f64,
    metrics: [Metric; 2],
}

#[gated]
fn near<'a>(of: &'a Entity, thing: &Thing, open: Metric, limit: Metric) -> Option<Near<'a>> {
    let metrics = [open, limit];
    let (open, limit) = (thing.current(open)?, thing.current(limit)?);
    let part = open / limit;
    (limit > 0.0 && part >= NEARLY).then_some(Near { of, part, open, limit, metrics })
}

fn near_limit_of_host(host: &Thing) -> Option<Near<'static>> {
    near(&Entity::Host, host, Metric::FilesOpen, Metric::FilesLimit)
}

#[gated]
fn report_near(facts: &Facts, out: &mut Findings<'_>, one: &Near<'_>) {
    let name = facts.host.name_of(one.of);
    let (raise, see) = match one.of.pid() {
        Some(pid) => (
            format!(
                "raise it: prlimit --pid {pid} --nofile=65536:65536 (at once); systemd LimitNOFILE=65536, Docker --ulimit nofile=65536:65536"
            ),
            format!("ls /proc/{pid}/fd | wc -l; grep 'open files' /proc/{pid}/limits; lsof -nP -p {pid}"),
        ),
        None => {
            ("raise it: sysctl -w fs.file-max=2097152".to_string(), "cat /proc/sys/fs/file-nr".to_string())
        }
    };
    let open = Measurement::count("descriptors", one.open as u64);
    let limit = Measurement::count("descriptor_limit", one.limit as u64);
    let (least, threshold) =
        if one.part >= NO_ROOM { (Severity::Warning, NO_ROOM) } else { (Severity::Notice, NEARLY) };
    out.report(Share::unknown(), format!("{name} has {open} of {limit} descriptors open"))
        .at_least(least)
        .measured(open)
        .measured(limit)
        .measured(Measurement::share("share_of_descriptors", one.part).at_least(threshold))
        .subject(figures::subject(facts, one.of))
        .cause("At the limit open, socket and accept are refused (EMFILE, ENFILE), and clients wait in the backlog until they give up.")
        .fix("see what they are, and whether they become more: what is not closed is a leak, and a higher limit only puts it off")
        .fix(raise)
        .verify(see)
        .evidence_of(one.of, &one.metrics)
        .evidence_of(&Entity::Host, &[Metric::FdLimitMost])
        .file();
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, refused: &Refused) {
    let count = refused.calls.count;
    let process = facts.world.threads.process(refused.process);
    let name = facts.name_of(refused.syscall);
    let (whose, limit) = match refused.errno {
        Errno::ENFILE => ("the whole system's", "fs.file-max"),
        _ => ("the process's", "ulimit -n"),
    };
    let rate = whyslow_facts::window::per_second(count, refused.first, refused.last);
    let rate_text = rate.map_or(String::new(), |rate| format!(", {} per second", words::quantity(rate)));
    // Refused clients: the service is down for them.
    let severity = match (refused.accepts > 0, count >= MANY) {
        (true, true) => Severity::Critical,
        (false, true) => Severity::Warning,
        _ => Severity::Notice,
    };
    let open: Vec<String> = refused
        .open_to
        .iter()
        .map(|(target, count)| format!("{target} ({})", words::count(*count)))
        .collect();
    let known = match refused.open {
        0 => "What is open is not in the capture: lsof tells.".to_string(),
        open_now => format!(
            "At the first refusal at least {} descriptors were open, most of them to: {}.",
            words::count(open_now),
            open.join(", ")
        ),
    };
    let of = refused.path.as_ref().map_or(String::new(), |path| format!(" of {path}"));
    let pid = process.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let mut found = out
        .report(
            Share::unknown(),
            format!("{name}{of} refused for lack of descriptors ({}): {} {}{rate_text}", refused.errno.name(), words::count(count), if count == 1 { "time" } else { "times" }),
        )
        .at_least(severity)
        .measured(guards::passed(Measurement::count("refused_calls", count), MANY as f64))
        .measured_all(rate.map(|rate| Measurement::per_second("refused_calls_per_second", rate)))
        .measured(Measurement::count("refused_accepts", refused.accepts))
        .measured_all((refused.open > 0).then(|| Measurement::count("descriptors", refused.open)))
        .subject(Subject {
            pid: process.pid,
            syscall: Some(name.to_string()),
            errno: Some(refused.errno),
            path: refused.path.clone(),
            ..Subjects::thread(facts, refused.tid)
        })
        .cause(format!("The limit of open descriptors ({limit}, {whose}) is reached, so new files and connections are refused. {known}"))
        .fix(format!("see what is open and whether it grows: lsof -nP -p {pid} | awk '{{print $5, $NF}}' | sort | uniq -c | sort -rn | head"));
    found = match refused.errno {
        Errno::ENFILE => found.fix("if the load needs them: sysctl -w fs.file-max=2097152"),
        _ => found
            .fix("systemd: LimitNOFILE=65536 in the unit; shell: ulimit -n 65536; Docker: --ulimit nofile=65536:65536")
            .fix(format!("at once, without a restart: prlimit --pid {pid} --nofile=65536:65536")),
    };
    if matches!(refused.syscall, Syscall::ACCEPT | Syscall::ACCEPT4) {
        found = found.fix("code: when accept is refused, close a descriptor kept in reserve, accept and close the client, or pause: level-triggered epoll reports the waiting client at once again");
    }
    // The limit of a shell (ulimit -a) is that of what it starts.
    found
        .evidence_all(refused.lines.iter())
        .evidence_of(&Entity::Command("shell".into()), &[Metric::FdLimit])
        .verify(format!("grep 'open files' /proc/{pid}/limits; ls /proc/{pid}/fd | wc -l"))
        .file();
}
