//! Sockets by netlink (sock_diag(7)): TCP listeners with their queues at each look; all TCP sockets by state, queues, peers
//! and ports in use as often as that is cheap; UDP sockets with what they drop; whose they are.

mod owners;
mod udp;

use super::{HostSource, Look, network};
use crate::context::Context;
use crate::netlink::{self, DUMP, Netlink, u32_at};
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use crate::pace::{Pace, cpu_time};
use hashbrown::HashMap;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use owners::Owners;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use udp::Udp;
use whyslow_model::{Entity, Metric, Over};

pub(super) const SOURCE: HostSource = HostSource {
    name: "sockets",
    reads: "netlink sock_diag: TCP and UDP sockets; /proc/PID/fd: whose they are",
    open: |_: &SamplerOptions| Box::new(Sockets::default()),
};

/// Share of a CPU that listing all sockets may cost in the long run.
const SHARE: f64 = 0.0005;
/// Up to so many sockets each is asked for its round-trip time too, which makes the kernel lock it.
const FEW: u64 = 2_000;
/// Peers told apart, and told of: those with most sockets.
const MOST_PEERS: usize = 16_384;
const PEERS_TOLD: usize = 64;
/// Listeners told of.
const MOST_LISTENERS: usize = 1024;

/// `SOCK_DIAG_BY_FAMILY` (linux/sock_diag.h).
const BY_FAMILY: u16 = 20;
const FAMILIES: [u8; 2] = [2, 10];
const TCP: u8 = 6;
/// `INET_DIAG_INFO` (linux/inet_diag.h), and where `tcpi_rtt` is in `struct tcp_info` (linux/tcp.h), in microseconds.
const INFO: u16 = 2;
const ROUND_TRIP: usize = 68;

/// States of TCP (include/net/tcp_states.h).
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;
const SYN_RECV: u8 = 3;
const TIME_WAIT: u8 = 6;
const CLOSE_WAIT: u8 = 8;
const LISTEN: u8 = 10;
const NEW_SYN_RECV: u8 = 12;

/// One socket of an answer (`struct inet_diag_msg`).
struct Seen<'a> {
    state: u8,
    local: SocketAddr,
    peer: SocketAddr,
    receive: u32,
    send: u32,
    inode: u32,
    attributes: &'a [u8],
}

impl Seen<'_> {
    fn parse(body: &[u8]) -> Option<Seen<'_>> {
        let family = *body.first()?;
        let port = |at: usize| body.get(at..)?.first_chunk().map(|port| u16::from_be_bytes(*port));
        let address = |at: usize| -> Option<IpAddr> {
            let bytes = body.get(at..)?;
            Some(match family {
                2 => Ipv4Addr::from(*bytes.first_chunk::<4>()?).into(),
                // One of version 4 on a socket of version 6 is the same peer.
                10 => Ipv6Addr::from(*bytes.first_chunk::<16>()?).to_canonical(),
                _ => return None,
            })
        };
        Some(Seen {
            state: *body.get(1)?,
            local: SocketAddr::new(address(8)?, port(4)?),
            peer: SocketAddr::new(address(24)?, port(6)?),
            receive: u32_at(body, 56)?,
            send: u32_at(body, 60)?,
            inode: u32_at(body, 68)?,
            attributes: body.get(72..)?,
        })
    }
}

/// What is counted, of all sockets and of those of one peer.
#[derive(Clone, Copy, Default)]
struct Sums {
    sockets: u64,
    states: [u64; 16],
    receive: u64,
    send: u64,
    ports: u64,
    round_trips: u64,
    round_trip: f64,
}

impl Sums {
    fn add(&mut self, seen: &Seen<'_>, from_range: bool) {
        self.sockets += 1;
        if let Some(count) = self.states.get_mut(usize::from(seen.state)) {
            *count += 1;
        }
        self.receive += u64::from(seen.receive);
        self.send += u64::from(seen.send);
        self.ports += u64::from(from_range);
        if !seen.attributes.is_empty() {
            let info = netlink::attributes(seen.attributes).find(|(number, _)| *number == INFO);
            // 0 where none was measured yet.
            if let Some(rtt @ 1..) = info.and_then(|(_, info)| u32_at(info, ROUND_TRIP)) {
                self.round_trips += 1;
                self.round_trip += f64::from(rtt) * 1e3;
            }
        }
    }

    fn tell(&self, row: &mut Row) {
        let of = |state: u8| self.states.get(usize::from(state)).copied();
        row.count(Metric::TcpEstablished, of(ESTABLISHED));
        row.count(Metric::TcpSynSent, of(SYN_SENT));
        row.count(Metric::TcpSynRecv, of(SYN_RECV).zip(of(NEW_SYN_RECV)).map(|(a, b)| a + b));
        row.count(Metric::TcpCloseWait, of(CLOSE_WAIT));
        row.count(Metric::ReceiveQueue, Some(self.receive));
        row.count(Metric::SendQueue, Some(self.send));
        row.level(
            Metric::RoundTrip,
            (self.round_trips > 0).then(|| self.round_trip / self.round_trips as f64),
        );
    }
}

struct Sockets {
    netlink: Option<Netlink>,
    owners: Owners,
    udp: Udp,
    pace: Pace,
    /// Sockets at the last look at all.
    count: u64,
    peers: HashMap<(IpAddr, u16), Sums>,
    /// A bit a local port in use.
    ports: Vec<u64>,
}

impl Default for Sockets {
    fn default() -> Sockets {
        Sockets {
            netlink: None,
            owners: Owners::default(),
            udp: Udp::default(),
            pace: Pace::new(SHARE),
            count: 0,
            peers: HashMap::new(),
            ports: Vec::new(),
        }
    }
}

impl Look for Sockets {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        // A made-up tree has no kernel to ask.
        if !context.options.root.is_live() {
            return;
        }
        if let Err(why) = self.ask(context, out) {
            self.netlink = None;
            out.gap(
                SOURCE.name,
                "listeners and sockets by state",
                format!("netlink sock_diag: {why}"),
                "a kernel with CONFIG_INET_DIAG; a sandbox that allows AF_NETLINK",
            );
        }
    }
}

impl Sockets {
    fn ask(&mut self, context: &mut Context<'_>, out: &mut Out) -> std::io::Result<()> {
        let netlink = match &mut self.netlink {
            Some(netlink) => netlink,
            none => none.insert(Netlink::open(NETLINK_SOCK_DIAG)?),
        };
        let mut host = Row::new(Entity::Host);
        let mut listeners: Vec<(u32, Row)> = Vec::new();
        // The port of each, in their order.
        let mut ports_of: Vec<u16> = Vec::new();
        let mut listening = vec![0u64; 1024];
        let mut count = 0u64;
        for family in FAMILIES {
            netlink.ask(BY_FAMILY, DUMP, &question(family, TCP, 1 << LISTEN, None), |body| {
                let Some(seen) = Seen::parse(body) else { return };
                count += 1;
                mark(&mut listening, seen.local.port());
                if listeners.len() < MOST_LISTENERS {
                    // Of a listener the queues are those of connections: waiting, and at most.
                    let mut row = Row::new(Entity::Listener(seen.local.to_string().into()));
                    row.count(Metric::Backlog, Some(seen.receive.into()));
                    row.count(Metric::BacklogLimit, Some(seen.send.into()));
                    ports_of.push(seen.local.port());
                    listeners.push((seen.inode, row));
                }
            })?;
        }
        host.count(Metric::TcpListening, Some(count));
        if context.options.sockets && self.pace.is_due(context.uptime) {
            let began = cpu_time();
            let unread = self.all(&listening, context, out, &mut host)?;
            // What clients sent and nobody read. Of several listeners at one port nobody tells whose it is: each has it all.
            for ((_, row), port) in listeners.iter_mut().zip(&ports_of) {
                row.count(Metric::ReceiveQueue, Some(unread.get(port).copied().unwrap_or(0)));
            }
            self.pace.took(context.uptime, cpu_time() - began);
        }
        out.table(vec![host], Over::SinceBoot, false);
        self.with_owners(listeners, context, out);
        Ok(())
    }

    /// Tells of listeners and UDP sockets, with their processes.
    fn with_owners(&mut self, listeners: Vec<(u32, Row)>, context: &mut Context<'_>, out: &mut Out) {
        let mut rows = listeners;
        let listening = rows.len();
        let udp = self.netlink.as_mut().map(|netlink| self.udp.look(netlink, context.uptime));
        let mut about = None;
        match udp {
            Some(Ok(Some(told))) => {
                about = Some((told.is_whole, told.over));
                rows.extend(told.rows);
            }
            Some(Err(why)) => {
                self.netlink = None;
                out.gap(
                    SOURCE.name,
                    "UDP sockets: what waits in them, what they drop",
                    format!("netlink sock_diag: {why}"),
                    "a kernel with CONFIG_INET_UDP_DIAG (modprobe udp_diag)",
                );
            }
            Some(Ok(None)) | None => {}
        }
        self.owners.tell(&mut rows, context);
        let mut rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        if let Some((is_whole, over)) = about {
            out.table_of(rows.split_off(listening), Over::SinceBoot, is_whole, over);
        }
        out.table(rows, Over::SinceBoot, true);
    }

    /// Tells of all sockets but listeners. Returns the unread bytes of accepted connections, by local port.
    fn all(
        &mut self,
        listening: &[u64],
        context: &mut Context<'_>,
        out: &mut Out,
        host: &mut Row,
    ) -> std::io::Result<HashMap<u16, u64>> {
        let range = network::port_range(context);
        let mut unread: HashMap<u16, u64> = HashMap::new();
        let Sockets { netlink: Some(netlink), peers, ports, .. } = self else { return Ok(unread) };
        peers.clear();
        ports.clear();
        ports.resize(1024, 0);
        let mut sums = Sums::default();
        let info = (self.count <= FEW).then_some(INFO);
        for family in FAMILIES {
            netlink.ask(BY_FAMILY, DUMP, &question(family, TCP, !(1 << LISTEN), info), |body| {
                let Some(seen) = Seen::parse(body) else { return };
                let port = seen.local.port();
                let is_accepted = is_marked(listening, port);
                let from_range =
                    !is_accepted && range.is_some_and(|(first, last)| (first..=last).contains(&port));
                if from_range {
                    mark(ports, port);
                }
                sums.add(&seen, from_range);
                if is_accepted && seen.receive > 0 {
                    // At most one for each port.
                    *unread.entry(port).or_default() += u64::from(seen.receive);
                }
                // Who connects to us does so from any port.
                let key = (seen.peer.ip(), if is_accepted { 0 } else { seen.peer.port() });
                let room = peers.len() < MOST_PEERS;
                match peers.get_mut(&key) {
                    Some(peer) => peer.add(&seen, from_range),
                    None if room => peers.entry(key).or_default().add(&seen, from_range),
                    None => {}
                }
            })?;
        }
        self.count = sums.sockets;
        sums.tell(host);
        host.count(
            Metric::EphemeralPortsUsed,
            Some(ports.iter().map(|word| u64::from(word.count_ones())).sum()),
        );
        let is_whole = peers.len() <= PEERS_TOLD;
        let mut most: Vec<_> = peers.iter().collect();
        most.sort_unstable_by_key(|(key, sums)| (std::cmp::Reverse(sums.sockets), **key));
        let rows = most.into_iter().take(PEERS_TOLD).map(|((address, port), sums)| {
            let name =
                if *port == 0 { address.to_string() } else { SocketAddr::new(*address, *port).to_string() };
            let mut row = Row::new(Entity::Peer(name.into()));
            row.count(Metric::Sockets, Some(sums.sockets));
            row.count(Metric::TcpTimeWait, sums.states.get(usize::from(TIME_WAIT)).copied());
            row.count(Metric::EphemeralPortsUsed, Some(sums.ports));
            sums.tell(&mut row);
            row
        });
        out.table(rows.collect(), Over::SinceBoot, is_whole);
        Ok(unread)
    }
}

/// `struct inet_diag_req_v2`: the sockets of a protocol in these states, any addresses, with one attribute more.
fn question(family: u8, protocol: u8, states: u32, with: Option<u16>) -> [u8; 56] {
    let mut question = [0; 56];
    question[0] = family;
    question[1] = protocol;
    question[2] = with.map_or(0, |attribute| 1 << (attribute - 1));
    question[4..8].copy_from_slice(&states.to_ne_bytes());
    question
}

fn mark(ports: &mut [u64], port: u16) {
    if let Some(word) = ports.get_mut(usize::from(port / 64)) {
        *word |= 1 << (port % 64);
    }
}

fn is_marked(ports: &[u64], port: u16) -> bool {
    ports.get(usize::from(port / 64)).is_some_and(|word| word & (1 << (port % 64)) != 0)
}
