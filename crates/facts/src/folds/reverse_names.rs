//! Names that are asked for by address (PTR): how often, by whom, and how long the answers take.

use super::fold::Fold;
use crate::args::payload;
use crate::exemplar::Exemplars;
use crate::folds::peers::{DNS_PORT, host_of, port_of};
use crate::world::fds::Origin;
use crate::world::ids::{LifeId, ProcessId};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{CallStats, FdKind, Syscall, Timestamp};

/// What one process asked.
#[derive(Debug)]
pub struct Reverse {
    /// The process.
    pub process: ProcessId,
    /// Look-ups that were answered, or given up: from the first query to the answer, or to the close of the socket. An error is one that got no
    /// answer.
    pub lookups: CallStats,
    /// The last address that was asked for: `7.0.0.10.in-addr.arpa`; empty where a service of the host looks it up.
    pub name: Box<str>,
    /// The name server, or the socket of the service that was asked.
    pub server: Box<str>,
    /// The first thread that asked.
    pub tid: Tid,
    /// Another one did too.
    pub shared: bool,
    /// The first query.
    pub first: Timestamp,
    /// The last answer.
    pub last: Timestamp,
    /// Lines of queries.
    pub lines: Exemplars,
}

/// All of them.
#[derive(Debug, Default)]
pub struct ReverseNames {
    /// By process, in order of appearance.
    pub rows: Vec<Reverse>,
    /// When it was asked, and whose row it is, by socket.
    asked: HashMap<LifeId, (Timestamp, usize), foldhash::fast::RandomState>,
}

impl ReverseNames {
    /// Processes told apart.
    const MAX_ROWS: usize = 256;
    /// Sockets with a question under way.
    const MAX_ASKED: usize = 2_048;
    /// What systemd-resolved is asked over its socket (varlink, org.freedesktop: `io.systemd.Resolve`).
    const RESOLVED: &[u8] = b"io.systemd.Resolve.ResolveAddress";

    fn asks(&mut self, seen: &Seen<'_>, life: LifeId, server: &str, name: Option<String>) {
        let call = seen.call;
        let known = self.rows.iter().position(|row| row.process == seen.process);
        let at = match known {
            Some(at) => at,
            None if self.rows.len() >= Self::MAX_ROWS => return,
            None => {
                self.rows.push(Reverse {
                    process: seen.process,
                    lookups: CallStats::default(),
                    name: "".into(),
                    server: server.into(),
                    tid: call.tid,
                    shared: false,
                    first: call.ts,
                    last: call.ts,
                    lines: Exemplars::default(),
                });
                self.rows.len() - 1
            }
        };
        let row = &mut self.rows[at];
        row.shared |= row.tid != call.tid;
        row.lines.see(call);
        if let Some(name) = name.filter(|name| **name != *row.name) {
            row.name = name.into();
        }
        // What is asked again on the same socket is the same question.
        if self.asked.len() < Self::MAX_ASKED || self.asked.contains_key(&life) {
            self.asked.entry(life).or_insert((call.ts, at));
        }
    }

    fn ended(&mut self, life: LifeId, at: Timestamp, is_answer: bool) {
        let Some((since, row)) = self.asked.remove(&life) else { return };
        if let Some(row) = self.rows.get_mut(row) {
            row.lookups.record(at.since(since), !is_answer, 0);
            row.last = at;
        }
    }
}

/// The name that a query asks for, where it is that of an address.
fn reverse(args: &[u8]) -> Option<String> {
    let name = payload::dns_question(args);
    let name = match name {
        Some(name) => name,
        None => payload::dns_cut(args)?.0,
    };
    is_reverse(&name).then_some(name)
}

/// True for the name of an address, perhaps cut off (`7.0.0.10.in-ad…`).
fn is_reverse(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let whole = lower.trim_end_matches('.');
    if whole.ends_with(".in-addr.arpa") || whole.ends_with(".ip6.arpa") {
        return true;
    }
    let Some(cut) = lower.strip_suffix('…') else { return false };
    let labels: Vec<&str> = cut.split('.').collect();
    let is_byte = |label: &&&str| label.parse::<u8>().is_ok();
    let is_nibble = |label: &&&str| label.len() == 1 && label.bytes().all(|byte| byte.is_ascii_hexdigit());
    match labels.iter().take_while(is_byte).count() {
        4 => labels.get(4).is_none_or(|rest| "in-addr".starts_with(rest)),
        _ => {
            labels.len() >= 8
                && labels[..labels.len() - 1].iter().take_while(is_nibble).count() + 1 == labels.len()
        }
    }
}

impl Fold for ReverseNames {
    fn wants(&self, syscall: Syscall) -> bool {
        syscall.info().moves != Moves::None
            || matches!(syscall, Syscall::SENDMMSG | Syscall::RECVMMSG | Syscall::CLOSE)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if !matches!(seen.kind, FdKind::Udp | FdKind::Tcp | FdKind::Socket | FdKind::Unix) {
            return;
        }
        let Some(life) = seen.life else { return };
        let call = seen.call;
        if call.syscall == Syscall::CLOSE {
            if !self.asked.is_empty() {
                self.ended(life, call.ts, false);
            }
            return;
        }
        if call.ok().is_none() {
            return;
        }
        let reads = call.syscall.info().moves == Moves::Read || call.syscall == Syscall::RECVMMSG;
        if reads {
            if !self.asked.is_empty() {
                self.ended(life, call.end(), true);
            }
            return;
        }
        let Some(known) = world.fds.get(life) else { return };
        match known.peer() {
            Some(peer) if port_of(peer) == Some(DNS_PORT) => {
                if let Some(name) = reverse(call.args) {
                    self.asks(seen, life, host_of(peer), Some(name));
                }
            }
            Some(peer)
                if seen.kind == FdKind::Unix && memchr::memmem::find(call.args, Self::RESOLVED).is_some() =>
            {
                self.asks(seen, life, peer, None);
            }
            // Not connected, or before the capture: each datagram may name where it goes, and its bytes tell.
            None if seen.kind != FdKind::Unix => {
                let to = crate::args::sockets::address(call.args).map(|(_, to)| to);
                let is_dns = to
                    .as_deref()
                    .map_or(known.origin == Origin::BeforeCapture, |to| port_of(to) == Some(DNS_PORT));
                if is_dns && let Some(name) = reverse(call.args) {
                    self.asks(seen, life, to.as_deref().map_or("", host_of), Some(name));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink};

    #[test]
    fn names_of_addresses() {
        for name in [
            "7.0.0.10.in-addr.arpa",
            "7.0.0.10.IN-ADDR.arpa.",
            "7.0.0.10.in-ad…",
            "7.0.0.10…",
            "1.0.0.0.0.0.0.0.0.0.0…",
        ] {
            assert!(is_reverse(name), "{name}");
        }
        for name in ["example.com", "10.0.0.example…", "in-addr.arpa.example.com", "a.b.c…", "…", ""] {
            assert!(!is_reverse(name), "{name}");
        }
    }

    #[test]
    fn a_lookup_lasts_to_its_answer_or_to_the_close() {
        let to = r#"3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.2")}, 16"#;
        let query = r#"3, "\22\64\1\0\0\1\0\0\0\0\0\0\0017\0010\0010\00210\7in-addr\4arpa\0\0\f\0\1", 39, 0"#;
        let calls = [
            (0, "socket", "AF_INET, SOCK_DGRAM, IPPROTO_IP", 3),
            (1, "connect", to, 0),
            (2, "sendto", query, 39),
            (42, "recvfrom", r#"3, "\22\64\201\203"..., 512, 0, NULL, NULL"#, 60),
            (50, "sendto", query, 39),
            (5_050, "sendto", query, 39),
            (10_050, "close", "3", 0),
        ];
        let mut facts = Facts::default();
        for (ms, name, args, ret) in calls {
            let ts = Timestamp::new(1_000_000_000 + ms * 1_000_000);
            let call = Call { tid: 1, ts, dur: Nanos::ZERO, ret: Ret::Value(ret), ..Call::new(name, args) };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let [row] = &facts.reverse_names.rows[..] else { panic!("{:?}", facts.reverse_names.rows) };
        assert_eq!((row.lookups.count, row.lookups.errors), (2, 1));
        assert_eq!(row.lookups.total(), Nanos::from_millis(10_040));
        assert_eq!((&*row.name, &*row.server), ("7.0.0.10.in-addr.arpa", "10.0.0.2"));
    }
}
