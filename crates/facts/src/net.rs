//! TCP as the kernel sees it: by peer, the handshakes, segments sent again, resets; by listening socket, connections
//! that found its backlog full.

use hashbrown::HashMap;
use whyslow_model::{CallStats, Histogram, Nanos, NetEvent, NetKind, Timestamp};

/// What happened on the connections with one peer.
#[derive(Debug, Default)]
pub struct PeerNet {
    /// Our connects that were answered; a duration is that of the handshake.
    pub connects: CallStats,
    /// Connections of its that were set up.
    pub accepted: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Connections it refused or reset.
    pub resets: u64,
    /// Connections that ended.
    pub closed: u64,
    /// The first retransmit.
    pub first_retransmit: Timestamp,
    /// The last retransmit.
    pub last_retransmit: Timestamp,
    /// Round-trip times at these events.
    pub rtt: Histogram,
}

/// Connections that a listening socket could not take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overflow {
    /// How many times a connection found the backlog full.
    pub count: u64,
    /// The first time.
    pub first: Timestamp,
    /// The last time.
    pub last: Timestamp,
    /// The process, where it is known.
    pub pid: Option<u32>,
}

/// All peers and listening sockets. Bounded: further ones share a row.
#[derive(Debug, Default)]
pub struct Net {
    peers: HashMap<Box<str>, PeerNet>,
    listeners: HashMap<Box<str>, Overflow>,
    /// Events seen.
    pub events: u64,
}

impl Net {
    /// Peers, and listening sockets, told apart.
    const MAX_ROWS: usize = 4_096;
    /// The row of the others.
    const OTHERS: &str = "(others)";
    /// From this port on a number is given for one connection only (Linux: net.ipv4.ip_local_port_range).
    const FIRST_EPHEMERAL: u16 = 32_768;

    pub(crate) fn see(&mut self, event: &NetEvent) {
        self.events += 1;
        if event.kind == NetKind::ListenOverflow {
            let row = row(&mut self.listeners, &event.local);
            row.count += 1;
            row.pid = row.pid.or(event.pid);
            if !row.first.is_known() {
                row.first = event.ts;
            }
            row.last = event.ts;
            return;
        }
        let row = row(&mut self.peers, peer_name(&event.peer));
        match event.kind {
            NetKind::Connected => row.connects.record(event.took, false, 0),
            NetKind::Accepted => row.accepted += 1,
            NetKind::Retransmit => {
                row.retransmits += 1;
                if !row.first_retransmit.is_known() {
                    row.first_retransmit = event.ts;
                }
                row.last_retransmit = event.ts;
            }
            NetKind::Reset => row.resets += 1,
            NetKind::Closed => row.closed += 1,
            NetKind::ListenOverflow => {}
        }
        if let Some(ns) = event.rtt.get() {
            row.rtt.record(ns);
        }
    }

    /// Each peer, the one with the most retransmits first.
    pub fn peers(&self) -> Vec<(&str, &PeerNet)> {
        let mut peers: Vec<_> = self.peers.iter().map(|(name, peer)| (&**name, peer)).collect();
        peers.sort_by_key(|(name, peer)| (std::cmp::Reverse(peer.retransmits), *name));
        peers
    }

    /// Each listening socket whose backlog was full, the fullest first.
    pub fn overflows(&self) -> Vec<(&str, &Overflow)> {
        let mut rows: Vec<_> = self.listeners.iter().map(|(name, row)| (&**name, row)).collect();
        rows.sort_by_key(|(name, row)| (std::cmp::Reverse(row.count), *name));
        rows
    }
}

impl PeerNet {
    /// The median round-trip time; unknown where no event told one.
    pub fn rtt(&self) -> Nanos {
        self.rtt.percentile(0.5)
    }
}

fn row<'a, T: Default>(rows: &'a mut HashMap<Box<str>, T>, name: &str) -> &'a mut T {
    let full = rows.len() >= Net::MAX_ROWS && !rows.contains_key(name);
    rows.entry_ref(if full { Net::OTHERS } else { name }).or_default()
}

/// A peer by its service, or, where the port is that of one connection only, by its host.
fn peer_name(peer: &str) -> &str {
    match peer.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok_and(|port| port >= Net::FIRST_EPHEMERAL) => host,
        _ => peer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: NetKind, local: &str, peer: &str) -> NetEvent {
        NetEvent {
            ts: Timestamp::new(5),
            kind,
            pid: None,
            local: local.to_string(),
            peer: peer.to_string(),
            took: Nanos::new(300_000),
            rtt: Nanos::new(200_000),
        }
    }

    #[test]
    fn peers_and_listeners() {
        let mut net = Net::default();
        net.see(&event(NetKind::Connected, "10.0.0.1:40000", "10.0.0.2:6379"));
        for port in 40_000..50_000 {
            net.see(&event(NetKind::Retransmit, "10.0.0.1:80", &format!("10.0.0.9:{port}")));
        }
        net.see(&event(NetKind::ListenOverflow, "[::]:80", ""));
        let peers = net.peers();
        assert_eq!((peers[0].0, peers[0].1.retransmits), ("10.0.0.9", 10_000));
        assert_eq!((peers[1].0, peers[1].1.connects.total()), ("10.0.0.2:6379", Nanos::new(300_000)));
        assert_eq!((net.overflows()[0].0, net.overflows()[0].1.count, net.events), ("[::]:80", 1, 10_002));
        for host in 0..10_000u32 {
            net.see(&event(
                NetKind::Accepted,
                "10.0.0.1:80",
                &format!("10.1.{}.{}:40000", host / 256, host % 256),
            ));
        }
        assert!(net.peers.len() <= Net::MAX_ROWS + 1);
        assert_eq!(net.peers.values().map(|peer| peer.accepted).sum::<u64>(), 10_000);
    }
}
