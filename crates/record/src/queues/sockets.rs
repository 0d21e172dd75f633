//! The sockets of one network namespace by sock_diag(7): what waits in those that watched processes serve by. Nothing of the target is
//! touched: the kernel is asked about its sockets.

use super::pace::Question;
use super::{Asked, GroupId, Groups};
use crate::target::diag::Diag;
use crate::target::inet_diag::{InetTold, LISTEN, question};
use crate::target::unix_peers::{SHOW_NAME, SHOW_PEER, SHOW_QUEUE, UnixTold, question as unix_question};
use std::collections::{HashMap, HashSet};
use whyslow_model::DemandKind;

/// Protocols and families that may be asked, each by a question of its own.
const INTERNET: [(u8, u8); 4] = [
    (libc::IPPROTO_TCP as u8, libc::AF_INET as u8),
    (libc::IPPROTO_TCP as u8, libc::AF_INET6 as u8),
    (libc::IPPROTO_UDP as u8, libc::AF_INET as u8),
    (libc::IPPROTO_UDP as u8, libc::AF_INET6 as u8),
];
/// States of TCP (include/net/tcp_states.h): connected, closed by us or by the peer, listening. A UDP socket that takes from
/// anybody is CLOSE.
const CONNECTED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9;
const CLOSE: u32 = 1 << 7;

/// A namespace, and the sockets in it that are asked about.
#[derive(Debug)]
pub(super) struct Space {
    /// Its device and inode.
    pub(super) id: (u64, u64),
    /// `None` where it cannot be asked.
    diag: Option<Diag>,
    /// By inode number.
    known: HashMap<u64, GroupId>,
    /// Ports of TCP listeners: the group of what their connections hold.
    ports: HashMap<u16, GroupId>,
    /// Which questions have an answer that matters.
    internet: [bool; INTERNET.len()],
    has_unix: bool,
    /// Connections whose listener is another process'.
    has_handed: bool,
}

fn is_udp(at: usize) -> bool {
    INTERNET[at].0 == libc::IPPROTO_UDP as u8
}

impl Space {
    pub(super) fn new(id: (u64, u64), diag: Option<Diag>) -> Space {
        Space {
            id,
            diag,
            known: HashMap::new(),
            ports: HashMap::new(),
            internet: [false; INTERNET.len()],
            has_unix: false,
            has_handed: false,
        }
    }

    /// False where the kernel does not tell of its sockets.
    pub(super) fn is_told(&self) -> bool {
        self.diag.is_some()
    }

    /// Finds out which of these sockets work can wait in: `sockets` has the process of each inode number.
    pub(super) fn learn(&mut self, sockets: &HashMap<u64, u32>, groups: &mut Groups) {
        self.known.clear();
        self.ports.clear();
        (self.internet, self.has_unix, self.has_handed) = ([false; INTERNET.len()], false, false);
        if sockets.is_empty() {
            return;
        }
        let Some(diag) = &mut self.diag else { return };
        let mut connected: Vec<(u64, usize, u16)> = Vec::new();
        let mut listening: HashSet<u16> = HashSet::new();
        for (at, of) in INTERNET.into_iter().enumerate() {
            let states = if is_udp(at) { CLOSE } else { CONNECTED | 1 << LISTEN };
            let (known, ports, internet) = (&mut self.known, &mut self.ports, &mut self.internet);
            // A kernel without the module for a protocol tells nothing of it.
            let _ = diag.ask(&question(of, states, None), |body| {
                let Some(told) = InetTold::of(body) else { return };
                let port = told.local.port();
                if told.state == LISTEN {
                    listening.insert(port);
                }
                let Some(pid) = sockets.get(&told.inode) else { return };
                if is_udp(at) {
                    if !told.has_peer() {
                        let name = format!("udp {}", told.local);
                        known.insert(told.inode, groups.id(*pid, DemandKind::UnreadDatagrams, &name));
                        internet[at] = true;
                    }
                } else if told.state == LISTEN {
                    let name = told.local.to_string();
                    known.insert(told.inode, groups.id(*pid, DemandKind::AcceptQueue, &name));
                    ports.entry(port).or_insert_with(|| groups.id(*pid, DemandKind::UnreadBytes, &name));
                    internet[at] = true;
                } else {
                    connected.push((told.inode, at, port));
                }
            });
        }
        // Who listens may be another process, which hands connections on.
        for (inode, at, port) in connected {
            if listening.contains(&port) && !self.ports.contains_key(&port) {
                let group = groups.id(sockets[&inode], DemandKind::UnreadBytes, &format!("port {port}"));
                self.known.insert(inode, group);
                (self.internet[at], self.has_handed) = (true, true);
            }
        }
        self.learn_unix(sockets, groups);
    }

    /// A client's own end has no name, and its peer has one: what it is sent is what it asked for. All others count, but those
    /// whose other end the same process holds.
    fn learn_unix(&mut self, sockets: &HashMap<u64, u32>, groups: &mut Groups) {
        let Some(diag) = &mut self.diag else { return };
        let mut named: HashSet<u64> = HashSet::new();
        let mut pending = Vec::new();
        let _ = diag.ask(&unix_question(SHOW_NAME | SHOW_PEER), |body| {
            let Some(told) = UnixTold::of(body) else { return };
            let socket = told.socket();
            if socket.name.is_some() {
                named.insert(told.inode);
            }
            if let Some(pid) = sockets.get(&told.inode) {
                pending.push((told.inode, told.state, i32::from(told.kind), *pid, socket));
            }
        });
        for (inode, state, kind, pid, socket) in pending {
            let is_client = socket.name.is_none() && socket.peer.is_some_and(|peer| named.contains(&peer));
            let is_own = socket.peer.is_some_and(|peer| sockets.get(&peer) == Some(&pid));
            if is_client || is_own || (socket.name.is_none() && socket.peer.is_none()) {
                continue;
            }
            let what = match kind {
                _ if state == LISTEN => DemandKind::AcceptQueue,
                libc::SOCK_DGRAM => DemandKind::UnreadDatagrams,
                _ => DemandKind::UnreadBytes,
            };
            let name = socket.name.unwrap_or_else(|| "its pairs of unix sockets".to_string());
            self.known.insert(inode, groups.id(pid, what, &name));
            self.has_unix = true;
        }
    }

    /// Whether there is anything to ask so.
    pub(super) fn has(&self, asks: Question) -> bool {
        let any_of = |udp: bool| (0..INTERNET.len()).any(|at| self.internet[at] && is_udp(at) == udp);
        match asks {
            Question::Listeners | Question::Connections => any_of(false),
            Question::Datagrams => any_of(true),
            Question::Unix => self.has_unix,
            Question::Pipes => false,
        }
    }

    /// Takes a sample of what waits in sockets of that kind.
    pub(super) fn sample(&mut self, asks: Question, asked: &mut Asked<'_>) {
        let (states, udp) = match asks {
            Question::Listeners => (1 << LISTEN, false),
            Question::Connections => (CONNECTED, false),
            Question::Datagrams => (CLOSE, true),
            Question::Unix => return self.sample_unix(asked),
            Question::Pipes => return,
        };
        let Some(diag) = &mut self.diag else { return };
        let (known, ports) = (&self.known, &self.ports);
        // Else connections of all ports are told, and the others passed over.
        let only = match &ports.keys().copied().collect::<Vec<_>>()[..] {
            [port] if asks == Question::Connections && !self.has_handed => Some(*port),
            _ => None,
        };
        let internet = (0..INTERNET.len()).filter(|at| self.internet[*at] && is_udp(*at) == udp);
        for of in internet.map(|at| INTERNET[at]) {
            let mut queues = Vec::new();
            let told = diag.ask(&question(of, states, only), |body| {
                let Some(told) = InetTold::of(body) else { return };
                let known = known.get(&told.inode).copied();
                // One that nobody accepted has no inode, and is in the queue of its listener.
                let is_accepted = told.inode != 0 && asks == Question::Connections;
                let accepted = is_accepted.then(|| ports.get(&told.local.port()).copied());
                if let Some(group) = known.or(accepted.flatten()) {
                    queues.push((group, told.inode, told.waiting));
                }
            });
            // A sample that broke off says nothing of what it did not come to.
            if told.is_ok() {
                queues
                    .iter()
                    .for_each(|(group, inode, waiting)| asked.queue(*group, *inode, u64::from(*waiting)));
                if asks == Question::Connections {
                    ports.values().for_each(|group| asked.looked(*group));
                }
            }
        }
    }

    fn sample_unix(&mut self, asked: &mut Asked<'_>) {
        let Some(diag) = &mut self.diag else { return };
        let (known, mut queues) = (&self.known, Vec::new());
        let told = diag.ask(&unix_question(SHOW_QUEUE), |body| {
            let Some(told) = UnixTold::of(body) else { return };
            if let Some(group) = known.get(&told.inode)
                && let Some(waiting) = told.socket().waiting
            {
                queues.push((*group, told.inode, waiting));
            }
        });
        if told.is_ok() {
            queues
                .iter()
                .for_each(|(group, inode, waiting)| asked.queue(*group, *inode, u64::from(*waiting)));
        }
    }
}
