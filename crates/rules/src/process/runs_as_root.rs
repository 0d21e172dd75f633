//! # runs-as-root
//!
//! ## What it is
//! A service that listens on the network runs as root.
//!
//! ## Why it is slow
//! It is not: this is hygiene, seen by the way. Whoever finds a hole in the service owns the host.
//!
//! ## Example
//! ```text
//! java    14985 root   42u  IPv4 426991408      0t0       TCP *:8715 (LISTEN)
//! ```
//!
//! ## What to do instead
//! Give the service a user of its own; where it needs a port below 1024, the one capability for that.
//!
//! ## When it is wrong
//! Some programs must be root by their purpose and drop it for the work (sshd, nginx's master): known ones are left
//! out. Inside a container with user namespaces, root is an ordinary user of the host.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::{Facts, FdLife, ProcessId};
use whyslow_model::{CaptureKind, FdKind, Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "runs-as-root",
    group: "process",
    summary: "a service that listens on the network runs as root",
    source: include_str!("runs_as_root.rs"),
    needs: &[Need::Snapshot],
    check,
};

/// Programs that begin as root by their purpose: they start other users' sessions, bind low ports for their
/// workers, or manage the host.
const ROOT_BY_PURPOSE: [&str; 20] = [
    "systemd",
    "init",
    "sshd",
    "nginx",
    "httpd",
    "apache2",
    "master",
    "dockerd",
    "docker-pr",
    "docker-proxy",
    "containerd",
    // As lsof cuts it.
    "container",
    "kubelet",
    "cupsd",
    "xinetd",
    "inetd",
    "rpcbind",
    "crond",
    "launchd",
    "haproxy",
];
/// Findings at most: the rest is summed up.
const MOST: usize = 3;
/// Addresses that a title names.
const SHOWN: usize = 5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let traced = facts.world.calls > 0;
    let mut services: Vec<(ProcessId, Vec<&FdLife>)> = Vec::new();
    for (_, life) in facts.world.fds.iter() {
        if !life.listening || !matches!(life.kind, FdKind::Tcp | FdKind::Socket) {
            continue;
        }
        let process = facts.world.threads.process(life.process);
        let is_root = matches!(process.user.as_deref(), Some("root" | "0"));
        // A list of the whole host beside a trace: only the traced program is asked about.
        let asked = !traced || process.threads > 0;
        if !is_root || !asked || process.program().is_some_and(|name| ROOT_BY_PURPOSE.contains(&name)) {
            continue;
        }
        match services.iter_mut().find(|(known, _)| *known == life.process) {
            Some((_, lives)) => lives.push(life),
            None => services.push((life.process, vec![life])),
        }
    }
    let more = services.len().saturating_sub(MOST);
    for (i, (process, lives)) in services.into_iter().take(MOST).enumerate() {
        let more = (more > 0 && i + 1 == MOST).then(|| Measurement::count("other_services", more as u64));
        report(facts, out, process, &lives, more);
    }
}

fn report(
    facts: &Facts,
    out: &mut Findings<'_>,
    process: ProcessId,
    lives: &[&FdLife],
    more: Option<Measurement>,
) {
    let process = facts.world.threads.process(process);
    let name = process.name().unwrap_or("the process");
    let pid = process.pid.map_or(String::new(), |pid| format!(" (pid {pid})"));
    let mut places: Vec<&str> = lives.iter().filter_map(|life| life.local()).collect();
    places.sort_unstable();
    places.dedup();
    let aside =
        more.as_ref().map_or(String::new(), |more| format!(" {more} more of the listed services do so too."));
    let shown = places.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    let rest = places.len().saturating_sub(SHOWN) as u64;
    let hidden = (rest > 0).then(|| Measurement::count("addresses_not_named", rest));
    let rest = hidden.as_ref().map_or(String::new(), |rest| format!(" and {rest} more"));
    let list = facts.capture.sources.iter().find(|source| source.kind == CaptureKind::Lsof);
    let unknown = Share::unknown();
    let mut report = out
        .report(unknown, format!("{name}{pid} listens on {shown}{rest} as root"))
        .at_most(Severity::Notice)
        .measured(Measurement::count("addresses", places.len() as u64))
        .measured_all(hidden.into_iter().chain(more))
        .subject(Subject {
            pid: process.pid,
            comm: process.name().map(str::to_string),
            fd: lives.first().map(|life| life.fd),
            ..Subject::default()
        })
        .cause(format!("It does not make the service slow, but whoever finds a hole in it has the whole host. The snapshot shows its owner and its listening sockets.{aside}"))
        .fix("systemd: User= of its own in the unit (or DynamicUser=yes), and NoNewPrivileges=yes; Dockerfile: USER 1000")
        .fix("a port below 1024: AmbientCapabilities=CAP_NET_BIND_SERVICE instead of root")
        .verify("ps -o user,pid,args -p $(ss -Hlntp | grep -o 'pid=[0-9]*' | cut -d= -f2 | sort -u | paste -sd,)");
    for life in lives.iter().take(2) {
        let place = list.map_or("snapshot".to_string(), |list| list.name.clone());
        let text = format!(
            "{name} {} root fd {} {} (LISTEN)",
            process.pid.unwrap_or(0),
            life.fd,
            life.local().unwrap_or("?")
        );
        report = report.evidence_line(format!("{place}:{}", life.opened_by.1), text);
    }
    report.file();
}
