//! UDP sockets that anybody may send to: what waits in them, their room, what they dropped for want of it.

use super::{BY_FAMILY, FAMILIES, Seen, question};
use crate::netlink::{self, DUMP, Netlink, u32_at};
use crate::out::Row;
use crate::pace::{Pace, cpu_time};
use hashbrown::HashMap;
use whyslow_counters::Span;
use whyslow_model::{Entity, Metric, Nanos};

/// Share of a CPU that it may cost in the long run: a name server has thousands.
const SHARE: f64 = 0.0005;
/// Sockets told of: those with something waiting or dropped first.
const TOLD: usize = 64;
/// Sockets whose drops are kept for the next look.
const MOST: usize = 65_536;

const UDP: u8 = 17;
/// The state of a socket that is not connected (`TCP_CLOSE`, include/net/tcp_states.h).
const UNCONNECTED: u8 = 7;
/// `INET_DIAG_SKMEMINFO` (linux/inet_diag.h), and what of its list is told (`SK_MEMINFO_RMEM_ALLOC`, `_RCVBUF`, `_DROPS`,
/// linux/sock_diag.h).
const MEMORY: u16 = 7;
const WAITING: usize = 0;
const ROOM: usize = 1;
const DROPS: usize = 8;

/// What was dropped by the last look, by inode number, and when that was.
pub(super) struct Udp {
    drops: HashMap<u32, u64>,
    last: Option<f64>,
    pace: Pace,
}

impl Default for Udp {
    fn default() -> Udp {
        Udp { drops: HashMap::new(), last: None, pace: Pace::new(SHARE) }
    }
}

/// What a look comes to.
pub(super) struct Told {
    pub(super) rows: Vec<(u32, Row)>,
    /// False where more were left out.
    pub(super) is_whole: bool,
    /// Since the last look.
    pub(super) over: Option<Nanos>,
}

/// One socket.
struct Socket {
    inode: u32,
    name: String,
    waiting: u64,
    room: u64,
    dropped: u64,
}

impl Udp {
    /// The sockets to tell of, with their inode numbers; `None` where no look is due.
    pub(super) fn look(&mut self, netlink: &mut Netlink, uptime: f64) -> std::io::Result<Option<Told>> {
        if !self.pace.is_due(uptime) {
            return Ok(None);
        }
        let began = cpu_time();
        let mut sockets = Vec::new();
        for family in FAMILIES {
            let question = question(family, UDP, 1 << UNCONNECTED, Some(MEMORY));
            netlink.ask(BY_FAMILY, DUMP, &question, |body| {
                if sockets.len() < MOST
                    && let Some(socket) = Seen::parse(body).and_then(|seen| Socket::of(&seen))
                {
                    sockets.push(socket);
                }
            })?;
        }
        let passed = self.last.map(|last| uptime - last);
        let span = passed.map_or(Span::since_boot(uptime), Span::since_last);
        let grown = |socket: &Socket| span.rate(Some(socket.dropped), self.drops.get(&socket.inode).copied());
        let is_whole = sockets.len() <= TOLD;
        let mut told: Vec<(&Socket, Option<f64>)> =
            sockets.iter().map(|socket| (socket, grown(socket))).collect();
        told.sort_by(|(a, a_drops), (b, b_drops)| {
            let drops = |drops: &Option<f64>| drops.unwrap_or(0.0);
            drops(b_drops)
                .total_cmp(&drops(a_drops))
                .then(b.waiting.cmp(&a.waiting))
                .then(a.name.cmp(&b.name))
        });
        let rows = told.into_iter().take(TOLD).map(|(socket, drops)| {
            let mut row = Row::new(Entity::Listener(socket.name.as_str().into()));
            row.count(Metric::UdpReceiveQueue, Some(socket.waiting));
            row.count(Metric::UdpReceiveBuffer, Some(socket.room));
            row.rate(Metric::UdpReceiveErrors, drops);
            (socket.inode, row)
        });
        let over = passed.map(|seconds| Nanos::new((seconds.max(0.0) * 1e9) as u64));
        let told = Told { rows: rows.collect(), is_whole, over };
        self.drops = sockets.iter().map(|socket| (socket.inode, socket.dropped)).collect();
        self.last = Some(uptime);
        self.pace.took(uptime, cpu_time() - began);
        Ok(Some(told))
    }
}

impl Socket {
    fn of(seen: &Seen<'_>) -> Option<Socket> {
        // Without a port nobody can send to it.
        if seen.local.port() == 0 {
            return None;
        }
        let (_, memory) = netlink::attributes(seen.attributes).find(|(number, _)| *number == MEMORY)?;
        let of = |at: usize| u32_at(memory, at * 4).map(u64::from);
        let (waiting, room, dropped) = (of(WAITING)?, of(ROOM)?, of(DROPS)?);
        Some(Socket { inode: seen.inode, name: format!("udp {}", seen.local), waiting, room, dropped })
    }
}
