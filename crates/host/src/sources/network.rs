//! The network as the kernel counts it: interfaces (/proc/net/dev), TCP and UDP (/proc/net/snmp, netstat), sockets in all,
//! tracked connections, ports for outgoing connections.

use super::{Look, Source};
use crate::options::Options;
use crate::out::{Out, Row};
use crate::sampler::Context;
use crate::text;
use hashbrown::HashMap;
use whyslow_model::text::bounded;
use whyslow_model::{Entity, Metric, Over};

pub(super) const SOURCE: Source = Source {
    name: "network",
    reads: "/proc/net/{dev,snmp,snmp6,netstat,sockstat}, /proc/sys/net, /sys/class/net",
    open: |_: &Options| Box::new(Network::default()),
};

/// Counters of /proc/net/snmp and netstat: the line's head, the column.
const COUNTERS: [(&[u8], &[u8], Metric); 14] = [
    (b"Tcp:", b"OutSegs", Metric::TcpSegmentsOut),
    (b"Tcp:", b"RetransSegs", Metric::TcpRetransmits),
    (b"Tcp:", b"ActiveOpens", Metric::TcpActiveOpens),
    (b"Tcp:", b"PassiveOpens", Metric::TcpPassiveOpens),
    (b"Tcp:", b"AttemptFails", Metric::TcpAttemptFails),
    (b"Tcp:", b"OutRsts", Metric::TcpResetsSent),
    (b"Udp:", b"RcvbufErrors", Metric::UdpReceiveErrors),
    (b"TcpExt:", b"ListenOverflows", Metric::ListenOverflows),
    (b"TcpExt:", b"ListenDrops", Metric::ListenDrops),
    (b"TcpExt:", b"TCPTimeouts", Metric::TcpTimeouts),
    (b"TcpExt:", b"TCPSynRetrans", Metric::TcpSynRetransmits),
    (b"TcpExt:", b"TCPToZeroWindowAdv", Metric::ZeroWindowSent),
    // A probe of the peer's window is sent while that is full and there is data.
    (b"TcpExt:", b"TCPWinProbe", Metric::ZeroWindowSeen),
    // Of version 6, in /proc/net/snmp6.
    (b"", b"Udp6RcvbufErrors", Metric::UdpReceiveErrors),
];

/// Columns of /proc/net/dev that are told.
const COLUMNS: [(Metric, &[usize]); 7] = [
    (Metric::RxBytes, &[0]),
    (Metric::RxPackets, &[1]),
    (Metric::RxDrops, &[3]),
    (Metric::TxBytes, &[8]),
    (Metric::TxPackets, &[9]),
    (Metric::TxDrops, &[11]),
    (Metric::NetErrors, &[2, 10]),
];

/// Most interfaces told apart.
const MOST: usize = 4096;

type Counts = [Option<u64>; COLUMNS.len()];

#[derive(Default)]
struct Network {
    counters: [Option<u64>; COUNTERS.len()],
    interfaces: HashMap<Box<str>, Counts>,
}

impl Look for Network {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        self.interfaces(context, out);
        let mut row = Row::new(Entity::Host);
        self.protocols(context, out, &mut row);
        match context.reader.proc("net/sockstat") {
            Ok(text) => {
                row.count(Metric::Sockets, after(text, b"sockets:", b"used"));
                row.count(Metric::TcpTimeWait, after(text, b"TCP:", b"tw"));
            }
            Err(why) => out.unread(SOURCE.name, "the number of sockets", "/proc/net/sockstat", why),
        }
        let mut one = |file: &str| context.reader.proc(file).ok().and_then(text::only_number);
        // There is none without a firewall.
        row.count(Metric::Conntrack, one("sys/net/netfilter/nf_conntrack_count"));
        row.count(Metric::ConntrackLimit, one("sys/net/netfilter/nf_conntrack_max"));
        row.count(
            Metric::EphemeralPorts,
            port_range(context).map(|(first, last)| {
                let reserved =
                    context.reader.proc("sys/net/ipv4/ip_local_reserved_ports").unwrap_or_default();
                let reserved =
                    text::numbers_of_list(reserved).filter(|port| (first..=last).contains(port)).count();
                u64::from(last - first + 1).saturating_sub(reserved as u64)
            }),
        );
        out.table(vec![row], Over::SinceBoot, false);
    }
}

/// First and last port for outgoing connections.
pub(super) fn port_range(context: &mut Context<'_>) -> Option<(u16, u16)> {
    let text = context.reader.proc("sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ports = text::words(text.trim_ascii()).map(|word| u16::try_from(text::number(word)?).ok());
    let (first, last) = (ports.next()??, ports.next()??);
    (first <= last).then_some((first, last))
}

/// The number behind `key` in the line that begins with `head`.
fn after(text: &[u8], head: &[u8], key: &[u8]) -> Option<u64> {
    let line = text::lines(text).find_map(|line| line.strip_prefix(head))?;
    let mut words = text::words(line);
    words.find(|word| *word == key)?;
    words.next().and_then(text::number)
}

impl Network {
    fn protocols(&mut self, context: &mut Context<'_>, out: &mut Out, row: &mut Row) {
        let mut now = [None; COUNTERS.len()];
        for (file, needed) in [("net/snmp", true), ("net/netstat", true), ("net/snmp6", false)] {
            match context.reader.proc(file) {
                Ok(text) if file == "net/snmp6" => by_name(text, &mut now),
                Ok(text) => {
                    if !by_column(text, &mut now) {
                        out.damaged(
                            SOURCE.name,
                            "counts of TCP",
                            &format!("/proc/{file}"),
                            "a line of names above one of numbers",
                        );
                    }
                }
                Err(why) if needed => out.unread(SOURCE.name, "counts of TCP", &format!("/proc/{file}"), why),
                Err(_) => {}
            }
        }
        let mut told: Vec<(Metric, f64)> = Vec::with_capacity(COUNTERS.len());
        for (((_, _, metric), now), before) in COUNTERS.into_iter().zip(now).zip(self.counters) {
            let Some(rate) = context.span.rate(now, before) else { continue };
            match told.iter_mut().find(|(known, _)| *known == metric) {
                Some((_, sum)) => *sum += rate,
                None => told.push((metric, rate)),
            }
        }
        for (metric, rate) in told {
            row.rate(metric, Some(rate));
        }
        self.counters = now;
    }

    fn interfaces(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let mut now: HashMap<Box<str>, Counts> = HashMap::new();
        match context.reader.proc("net/dev") {
            Ok(text) => {
                // Two lines of heads have no colon.
                for line in text::lines(text) {
                    let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
                    let counts: Vec<Option<u64>> =
                        text::words(&line[colon + 1..]).map(text::number).collect();
                    let sum = |columns: &[usize]| {
                        columns.iter().try_fold(0u64, |sum, at| sum.checked_add((*counts.get(*at)?)?))
                    };
                    let counts: Counts = std::array::from_fn(|at| sum(COLUMNS[at].1));
                    if counts.iter().all(Option::is_none) {
                        out.damaged(SOURCE.name, "an interface", "/proc/net/dev", "eth0: 1234 5 0 0 …");
                    } else if now.len() < MOST && counts.iter().flatten().any(|count| *count > 0) {
                        now.insert(bounded(line[..colon].trim_ascii()).into(), counts);
                    }
                }
            }
            Err(why) => out.unread(SOURCE.name, "interfaces", "/proc/net/dev", why),
        }
        let mut rows = Vec::with_capacity(now.len());
        for (name, counts) in &now {
            let mut row = Row::new(Entity::Interface(name.clone()));
            let before = self.interfaces.get(name).copied().unwrap_or_default();
            for (((metric, _), now), before) in COLUMNS.into_iter().zip(counts).zip(before) {
                row.rate(metric, context.span.rate(*now, before));
            }
            // A virtual interface has no speed (-1, or an error). The kernel tells megabits a second.
            let speed =
                context.reader.file(format!("/sys/class/net/{name}/speed")).ok().and_then(text::only_number);
            row.level(
                Metric::LinkSpeed,
                speed.filter(|speed| *speed > 0).map(|megabits| megabits as f64 * 125_000.0),
            );
            rows.push(row);
        }
        self.interfaces = now;
        out.table(rows, Over::SinceBoot, true);
    }
}

/// A line of names above one of numbers, both with the same head; false where there is no such pair.
fn by_column(text: &[u8], now: &mut [Option<u64>; COUNTERS.len()]) -> bool {
    let mut found = false;
    let mut lines = text::lines(text);
    while let (Some(names), Some(numbers)) = (lines.next(), lines.next()) {
        let (mut names, mut numbers) = (text::words(names), text::words(numbers));
        let Some(head) = names.next().filter(|head| numbers.next() == Some(head)) else { continue };
        for (name, number) in names.zip(numbers) {
            let at = COUNTERS.iter().position(|(of, column, _)| *of == head && *column == name);
            if let Some(slot) = at.and_then(|at| now.get_mut(at)) {
                *slot = text::number(number);
            }
            found = true;
        }
    }
    found
}

/// A name and a number a line.
fn by_name(text: &[u8], now: &mut [Option<u64>; COUNTERS.len()]) {
    for line in text::lines(text) {
        let mut words = text::words(line);
        let (Some(name), number) = (words.next(), words.next().and_then(text::number)) else { continue };
        let at = COUNTERS.iter().position(|(of, column, _)| of.is_empty() && *column == name);
        if let Some(slot) = at.and_then(|at| now.get_mut(at)) {
            *slot = number;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let mut now = [None; COUNTERS.len()];
        let text =
            b"Ip: A B\nIp: 1 2\nTcp: RetransSegs X OutSegs\nTcp: 7 -1 9\nUdp: RcvbufErrors\nOther: 5\n";
        assert!(by_column(text, &mut now));
        assert_eq!((now[0], now[1], now[6]), (Some(9), Some(7), None));
        assert!(!by_column(b"rubbish\n", &mut now));
        by_name(b"Udp6RcvbufErrors   \t4\n", &mut now);
        assert_eq!(now[13], Some(4));
        assert_eq!(after(b"TCP: inuse 1 orphan 0 tw 12 alloc 1\n", b"TCP:", b"tw"), Some(12));
    }
}
