//! The network's counters: TCP and UDP (/proc/net/snmp, netstat, snmp6), interfaces (/proc/net/dev), sockets in all
//! (/proc/net/sockstat), the queue of packets of each CPU (/proc/net/softnet_stat).

use crate::figures::Figures;
use crate::text;
use whyslow_model::Metric;

/// Counters of the protocols: the head of the line, the column (net/ipv4/proc.c, net/ipv6/proc.c).
const COUNTERS: [(&str, &str, Metric); 17] = [
    ("Tcp", "OutSegs", Metric::TcpSegmentsOut),
    ("Tcp", "RetransSegs", Metric::TcpRetransmits),
    ("Tcp", "ActiveOpens", Metric::TcpActiveOpens),
    ("Tcp", "PassiveOpens", Metric::TcpPassiveOpens),
    ("Tcp", "AttemptFails", Metric::TcpAttemptFails),
    ("Tcp", "OutRsts", Metric::TcpResetsSent),
    ("Udp", "RcvbufErrors", Metric::UdpReceiveErrors),
    ("TcpExt", "ListenOverflows", Metric::ListenOverflows),
    ("TcpExt", "ListenDrops", Metric::ListenDrops),
    ("TcpExt", "TCPReqQFullDoCookies", Metric::SynQueueOverflows),
    ("TcpExt", "TCPReqQFullDrop", Metric::SynQueueOverflows),
    ("TcpExt", "TCPAbortOnMemory", Metric::TcpMemoryAborts),
    ("TcpExt", "TCPTimeouts", Metric::TcpTimeouts),
    ("TcpExt", "TCPSynRetrans", Metric::TcpSynRetransmits),
    ("TcpExt", "TCPToZeroWindowAdv", Metric::ZeroWindowSent),
    // A probe of the peer's window is sent while that is full and there is data.
    ("TcpExt", "TCPWinProbe", Metric::ZeroWindowSeen),
    ("Udp6", "RcvbufErrors", Metric::UdpReceiveErrors),
];

/// The metric of a counter as the kernel's files name it: `Tcp`, `RetransSegs`.
pub fn counter(head: &str, column: &str) -> Option<Metric> {
    COUNTERS.iter().find(|(of, name, _)| *of == head && *name == column).map(|(.., metric)| *metric)
}

/// The same by one name, as nstat(8) and /proc/net/snmp6 show it: `TcpRetransSegs`, `Udp6RcvbufErrors`.
pub fn counter_named(name: &str) -> Option<Metric> {
    COUNTERS.iter().find(|(of, column, _)| name.strip_prefix(of) == Some(column)).map(|(.., metric)| *metric)
}

/// /proc/net/snmp and netstat: a line of names above one of numbers, both with the same head; false where there is no such
/// pair.
pub fn by_column(text: &[u8], figures: &mut Figures) -> bool {
    let mut found = false;
    let mut lines = text.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    while let (Some((_, names)), Some((at, numbers))) = (lines.next(), lines.next()) {
        let (mut names, mut numbers) = (text::words(names), text::words(numbers));
        let head = names.next().filter(|head| numbers.next() == Some(head));
        let Some(head) = head.and_then(|head| head.strip_suffix(b":")) else { continue };
        figures.at_line(u32::try_from(at + 1).unwrap_or(0));
        for (name, number) in names.zip(numbers) {
            let known =
                COUNTERS.iter().find(|(of, column, _)| of.as_bytes() == head && column.as_bytes() == name);
            if let Some((.., metric)) = known {
                figures.sum(*metric, text::number(number), 1.0);
            }
            found = true;
        }
    }
    figures.at_line(0);
    found
}

/// /proc/net/snmp6: a name and a number a line.
pub fn by_name(text: &[u8], figures: &mut Figures) {
    figures.each_line(text, |figures, line| {
        let mut words = text::words(line);
        let (Some(name), number) = (words.next(), words.next().and_then(text::number)) else { return };
        if let Some(metric) = std::str::from_utf8(name).ok().and_then(counter_named) {
            figures.sum(metric, number, 1.0);
        }
    });
}

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

/// A line of /proc/net/dev: the interface and what it did; empty figures where it is damaged. The two lines of heads are
/// `None`, and so is an interface that never did anything.
pub fn interface(line: &[u8], figures: &mut Figures) -> Option<Box<str>> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let numbers: Vec<Option<u64>> = text::words(&line[colon + 1..]).map(text::number).collect();
    let sum =
        |columns: &[usize]| columns.iter().try_fold(0u64, |sum, at| sum.checked_add((*numbers.get(*at)?)?));
    let mut known = false;
    let mut used = false;
    for (metric, columns) in COLUMNS {
        let value = sum(columns);
        known |= value.is_some();
        used |= value.is_some_and(|value| value > 0);
        figures.sum(metric, value, 1.0);
    }
    (!known || used).then(|| whyslow_model::text::bounded(line[..colon].trim_ascii()).into())
}

/// /proc/net/sockstat.
pub fn sockets(text: &[u8], figures: &mut Figures) {
    figures.each_line(text, |figures, line| {
        let after = |key: &[u8]| {
            let mut words = text::words(line);
            words.find(|word| *word == key)?;
            words.next().and_then(text::number)
        };
        if line.starts_with(b"sockets:") {
            figures.number(Metric::Sockets, after(b"used"));
        } else if line.starts_with(b"TCP:") {
            figures.number(Metric::TcpTimeWait, after(b"tw"));
        }
    });
}

/// A line of /proc/net/softnet_stat, which is a CPU's: packets that found its queue full (net.core.netdev_max_backlog).
pub fn softnet(line: &[u8]) -> Option<u64> {
    text::words(line).nth(1).and_then(text::hexadecimal)
}

/// First and last port for outgoing connections (`ip_local_port_range`), how many that are without the reserved ones.
pub fn port_range(text: &[u8]) -> Option<(u16, u16)> {
    let mut ports = text::words(text.trim_ascii()).map(|word| u16::try_from(text::number(word)?).ok());
    let (first, last) = (ports.next()??, ports.next()??);
    (first <= last).then_some((first, last))
}

/// How many ports that are, without the reserved ones (`ip_local_reserved_ports`).
pub fn ports((first, last): (u16, u16), reserved: &[u8]) -> u64 {
    let reserved = text::numbers_of_list(reserved).filter(|port| (first..=last).contains(port)).count();
    // All 65,536 are one more than a port's number holds.
    (u64::from(last) + 1).saturating_sub(u64::from(first)).saturating_sub(reserved as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(figures: &Figures) -> Vec<(Metric, f64, u32)> {
        figures.totals().map(|told| (told.metric, told.value, told.line)).collect()
    }

    #[test]
    fn columns_are_found_by_name() {
        let mut figures = Figures::default();
        let text =
            b"Ip: A B\nIp: 1 2\nTcp: RetransSegs X OutSegs\nTcp: 7 -1 9\nUdp: RcvbufErrors\nOther: 5\n";
        assert!(by_column(text, &mut figures));
        assert_eq!(totals(&figures), [(Metric::TcpRetransmits, 7.0, 4), (Metric::TcpSegmentsOut, 9.0, 4)]);
        assert!(!by_column(b"rubbish\n", &mut figures));
        by_name(b"Udp6RcvbufErrors   \t4\n", &mut figures);
        assert_eq!(totals(&figures)[2], (Metric::UdpReceiveErrors, 4.0, 1));
        assert_eq!(counter_named("TcpExtListenDrops"), Some(Metric::ListenDrops));
        assert_eq!((counter_named("TcpListenDrops"), counter("TcpExt", "OutSegs")), (None, None));
    }

    #[test]
    fn interfaces_and_sockets() {
        let mut figures = Figures::default();
        let name = interface(b"  eth0:1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0", &mut figures);
        assert_eq!(name.as_deref(), Some("eth0"));
        assert!(totals(&figures).contains(&(Metric::NetErrors, 4.0, 0)));
        assert_eq!(interface(b"  ifb0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", &mut Figures::default()), None);
        assert_eq!(interface(b" face |bytes", &mut Figures::default()), None);
        let mut figures = Figures::default();
        sockets(b"sockets: used 30\nTCP: inuse 1 orphan 0 tw 12 alloc 1\n", &mut figures);
        let levels: Vec<_> = figures.levels().map(|told| (told.metric, told.value)).collect();
        assert_eq!(levels, [(Metric::Sockets, 30.0), (Metric::TcpTimeWait, 12.0)]);
        assert_eq!(softnet(b"00002ef7 0000001f 00000001"), Some(31));
        assert_eq!(port_range(b"32768\t60999\n").map(|range| ports(range, b"40000-40001,80")), Some(28_230));
    }
}
