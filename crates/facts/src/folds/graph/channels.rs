//! What two threads hand each other through a descriptor: pipes, eventfds, unix sockets, TCP on one host.

use super::wait::{How, Waker};
use crate::args::sockets;
use crate::folds::peers::{Role, is_loopback_address, role_by_path};
use crate::world::{Seen, World};
use crate::{FdLife, LifeId, Origin};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use whyslow_model::event::Tid;
use whyslow_model::ids::host_of_tid;
use whyslow_model::{FdKind, Timestamp, text};

/// One direction of bytes between two ends, by a number made of what identifies it on its host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Flow(u64);

/// The flows of one descriptor: what is read from it and what is written to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ends {
    pub(super) inward: Flow,
    pub(super) outward: Flow,
    /// The address at which it is served: what joins the ends where one of them is not known in full.
    pub(super) served: Option<Served>,
}

/// The flows of all connections to one address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Served {
    to_server: Flow,
    to_client: Flow,
    is_client: bool,
    /// Nothing but the address tells the other end.
    is_all: bool,
}

impl Ends {
    fn new(inward: Flow, outward: Flow) -> Ends {
        Ends { inward, outward, served: None }
    }
}

/// A call that moved bytes.
#[derive(Clone, Copy, Debug)]
struct Moved {
    tid: Tid,
    ts: Timestamp,
    end: Timestamp,
    how: How,
}

/// A wait that ended before the call that ended it did.
#[derive(Clone, Copy, Debug)]
struct Early {
    tid: Tid,
    from: Timestamp,
    to: Timestamp,
    /// It may have ended so much later, ns.
    late_ns: u64,
}

#[derive(Debug, Default)]
struct Traffic {
    writes: VecDeque<Moved>,
    reads: VecDeque<Moved>,
    /// Waits for data, and for room.
    early: [Option<Early>; 2],
    used: u64,
}

/// What a wait at a flow is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum For {
    /// Something to read.
    Data,
    /// Room to write.
    Room,
}

/// The last calls on each flow. Bounded: past the cap the half that was not used for longest is dropped.
#[derive(Debug, Default)]
pub(super) struct Channels {
    by_flow: HashMap<Flow, Traffic, foldhash::fast::RandomState>,
    /// The ends of descriptors by the place of their life.
    known: Vec<Option<(LifeId, Ends)>>,
    /// Ends of which nothing but the address is known were seen: it joins them to the others.
    joins_by_address: bool,
    /// So far may calls of one exchange be apart where two hosts' clocks tell their times, ns.
    clocks_ns: u64,
    hasher: foldhash::fast::FixedState,
    turn: u64,
}

impl Channels {
    /// Flows with traffic, some 700 bytes each.
    const MAX_FLOWS: usize = 8192;
    /// Calls remembered of one flow and side: a wait ends at the first one that comes during it.
    const REMEMBERED: usize = 8;
    /// A traced call ends up to so much later than its start and duration add up to, ns: strace takes the time that it prints first, then what the
    /// arguments say (with `-yy` it asks the kernel for each socket), and counts the duration from then on.
    const LATE_NS: u64 = 1_000_000;

    /// Calls of one exchange may be so far apart.
    pub(super) fn tolerate_clocks(&mut self, ns: u64) {
        self.clocks_ns = ns;
    }

    /// The flows of the descriptor of `seen`.
    pub(super) fn of_call(&mut self, seen: &Seen<'_>, world: &World) -> Option<Ends> {
        let id = seen.life?;
        let note = || text::descriptor(seen.call.args).and_then(|(_, note)| note);
        if let Some(Some((known, ends))) = self.known.get(id.place())
            && *known == id
        {
            let ends = *ends;
            let is_all = ends.served.is_some_and(|served| served.is_all);
            // A later call may tell the other end, or getsockname our own.
            let may_tell =
                || note().is_some() || world.fds.get(id).is_some_and(|life| life.local().is_some());
            if !is_all || !may_tell() {
                return Some(ends);
            }
        }
        let ends = self.ends(id, world.fds.get(id)?, note(), host_of_tid(seen.call.tid))?;
        self.joins_by_address |= ends.served.is_some_and(|served| served.is_all);
        if id.place() >= self.known.len() {
            self.known.resize(id.place() + 1, None);
        }
        self.known[id.place()] = Some((id, ends));
        Some(ends)
    }

    /// The flows of a descriptor that another call names, as poll does.
    pub(super) fn of_life(&self, id: LifeId, world: &World) -> Option<Ends> {
        match self.known.get(id.place()) {
            Some(Some((known, ends))) if *known == id => Some(*ends),
            _ => {
                let life = world.fds.get(id)?;
                let pid = world.threads.known_process(life.process).and_then(|process| process.pid);
                self.ends(id, life, None, pid.map_or(0, host_of_tid))
            }
        }
    }

    /// The flow that stands for something with a name on that host, as the lock of a file.
    pub(super) fn named(&self, kind: &str, name: &str, host: u16) -> Flow {
        let mut hasher = self.hasher.build_hasher();
        (kind, name, host).hash(&mut hasher);
        Flow(std::hash::Hasher::finish(&hasher))
    }

    /// The flow that stands for something with a number of its own: a set of semaphores, a thread's signals.
    pub(super) fn numbered(&self, kind: &str, number: u64, host: u16) -> Flow {
        let mut hasher = self.hasher.build_hasher();
        (kind, number, host).hash(&mut hasher);
        Flow(std::hash::Hasher::finish(&hasher))
    }

    /// Makes a flow known that nothing went through yet.
    pub(super) fn know(&mut self, flow: Flow) {
        self.traffic(flow);
    }

    /// True where somebody used that flow.
    pub(super) fn knows(&self, flow: Flow) -> bool {
        self.by_flow.contains_key(&flow)
    }

    /// `host` is the one that the descriptor is of: what has an address on one host alone is joined with nothing of another one.
    fn ends(&self, id: LifeId, life: &FdLife, note: Option<&[u8]>, host: u16) -> Option<Ends> {
        let flow = |of: &dyn Fn(&mut foldhash::fast::FoldHasher<'_>)| {
            let mut hasher = self.hasher.build_hasher();
            of(&mut hasher);
            Flow(std::hash::Hasher::finish(&hasher))
        };
        // Both ends of a pair were made here, so that both are known so.
        if let Some(other) = life.other_end {
            let own = |id: LifeId| flow(&|hasher| ("pair", id).hash(hasher));
            return Some(Ends::new(own(id), own(other)));
        }
        let of_inodes = note.and_then(sockets::inodes);
        match life.kind {
            FdKind::Pipe => {
                let inode = of_inodes.map(|(inode, _)| inode).or(life.inode);
                // A FIFO of which only the path is known.
                let both = match (inode, life.file) {
                    (Some(inode), _) => self.numbered("pipe", inode, host),
                    (None, file) => self.numbered("fifo", file?.0.into(), host),
                };
                Some(Ends::new(both, both))
            }
            FdKind::Event => {
                let both = flow(&|hasher| ("event", id).hash(hasher));
                Some(Ends::new(both, both))
            }
            FdKind::Unix => {
                let served = self.served(life, host);
                let exact = of_inodes.and_then(|(ours, theirs)| {
                    Some(Ends::new(self.numbered("unix", ours, host), self.numbered("unix", theirs?, host)))
                });
                Channels::with(exact, served)
            }
            FdKind::Tcp | FdKind::Socket | FdKind::Udp => {
                let udp = life.kind == FdKind::Udp;
                let served = if udp { None } else { self.served(life, host) };
                let exact = life.local().zip(life.peer()).map(|(local, peer)| {
                    let local = &*own_address(local, peer);
                    let host = on_the_way(peer, host);
                    Ends::new(
                        flow(&|hasher| (udp, local, peer, host).hash(hasher)),
                        flow(&|hasher| (udp, peer, local, host).hash(hasher)),
                    )
                });
                Channels::with(exact, served)
            }
            _ => None,
        }
    }

    fn with(exact: Option<Ends>, served: Option<Served>) -> Option<Ends> {
        match (exact, served) {
            (Some(exact), served) => Some(Ends { served, ..exact }),
            (None, Some(served)) => {
                let served = Served { is_all: true, ..served };
                let (inward, outward) = served.flows();
                Some(Ends { inward, outward, served: Some(served) })
            }
            (None, None) => None,
        }
    }

    /// The flows of the address at which a connection is served.
    fn served(&self, life: &FdLife, host: u16) -> Option<Served> {
        let is_server = life.origin == Origin::Accept
            || life.origin != Origin::Socket && role_by_path(life) == Some(Role::Client);
        let (address, is_client) = match is_server {
            true => (own_address(life.local()?, life.peer().unwrap_or_default()), false),
            false => (life.peer()?.into(), true),
        };
        let host = on_the_way(&address, host);
        let to_server = self.named("to", &address, host);
        let to_client = self.named("from", &address, host);
        Some(Served { to_server, to_client, is_client, is_all: false })
    }

    fn traffic(&mut self, flow: Flow) -> &mut Traffic {
        self.turn += 1;
        let turn = self.turn;
        if self.by_flow.len() >= Self::MAX_FLOWS && !self.by_flow.contains_key(&flow) {
            let oldest = turn.saturating_sub(Self::MAX_FLOWS as u64 / 2);
            self.by_flow.retain(|_, traffic| traffic.used > oldest);
        }
        let traffic = self.by_flow.entry(flow).or_default();
        traffic.used = turn;
        traffic
    }

    /// Who ended a wait at one end of a descriptor: by the two ends, else, where nothing that the other end did is known by these, by the
    /// address at which it is served.
    pub(super) fn ended_at(&mut self, ends: Ends, wants: For, seen: &Seen<'_>) -> Option<Waker> {
        let (flow, by_address) = match (wants, ends.served.map(Served::flows)) {
            (For::Data, served) => (ends.inward, served.map(|(inward, _)| inward)),
            (For::Room, served) => (ends.outward, served.map(|(_, outward)| outward)),
        };
        if let Some(waker) = self.ended(flow, wants, seen) {
            return Some(Channels::as_told(ends, waker));
        }
        let by_address = by_address.filter(|other| self.joins_by_address && *other != flow)?;
        let traffic = self.by_flow.get(&flow)?;
        let is_silent = match wants {
            For::Data => traffic.writes.is_empty(),
            For::Room => traffic.reads.is_empty(),
        };
        let waker = if is_silent { self.ended(by_address, wants, seen) } else { None };
        waker.map(|waker| Waker { how: How::SameAddress, ..waker })
    }

    /// Gives what waits at the other end waits for.
    pub(super) fn gave_at(
        &mut self,
        ends: Ends,
        gives: For,
        seen: &Seen<'_>,
        how: How,
    ) -> Option<(Tid, Timestamp, Waker)> {
        let call = seen.call;
        let moved = (call.tid, call.ts, call.end());
        let of = |(inward, outward): (Flow, Flow)| if gives == For::Data { outward } else { inward };
        let flow = of((ends.inward, ends.outward));
        let met = self.moved(flow, gives, moved, how);
        if let Some((tid, from, waker)) = met {
            return Some((tid, from, Channels::as_told(ends, waker)));
        }
        let by_address = of(ends.served.filter(|_| self.joins_by_address)?.flows());
        if by_address == flow { None } else { self.moved(by_address, gives, moved, How::SameAddress) }
    }

    /// The same, less sure where nothing but the address joined the ends.
    fn as_told(ends: Ends, waker: Waker) -> Waker {
        let is_all = ends.served.is_some_and(|served| served.is_all);
        Waker { how: if is_all { How::SameAddress } else { waker.how }, ..waker }
    }

    /// A call wrote to `flow` (or, with `For::Room`, read from it and made room), or closed its end: a wait that had ended
    /// before this call returned is met now.
    pub(super) fn moved(
        &mut self,
        flow: Flow,
        gives: For,
        (tid, ts, end): (Tid, Timestamp, Timestamp),
        how: How,
    ) -> Option<(Tid, Timestamp, Waker)> {
        let moved = Moved { tid, ts, end: if end.is_known() { end } else { ts }, how };
        let traffic = self.traffic(flow);
        let log = match gives {
            For::Data => &mut traffic.writes,
            For::Room => &mut traffic.reads,
        };
        if log.len() >= Self::REMEMBERED {
            log.pop_front();
        }
        log.push_back(moved);
        let early = &mut traffic.early[gives as usize];
        let wait = early.filter(|wait| {
            wait.tid != tid && later(wait.to, wait.late_ns) >= moved.ts && wait.to <= moved.end
        })?;
        *early = None;
        Some((wait.tid, wait.from, Waker { tid, ts: moved.ts.max(wait.from), how }))
    }

    /// Who ended a wait at `flow`: the first call that gave what it waited for while it lasted.
    pub(super) fn ended(&mut self, flow: Flow, wants: For, seen: &Seen<'_>) -> Option<Waker> {
        let (tid, from, to) = (seen.call.tid, seen.call.ts, seen.call.end());
        if !to.is_known() {
            return None;
        }
        let late_ns =
            if seen.call.pid.is_some() { self.clocks_ns } else { Self::LATE_NS.max(self.clocks_ns) };
        let traffic = self.traffic(flow);
        let log = match wants {
            For::Data => &traffic.writes,
            For::Room => &traffic.reads,
        };
        // What this reader had taken before it waited did not wake it. A tracer may say late that the write ended.
        let is_spent = |moved: &Moved| {
            let before =
                |read: &Moved| read.tid == tid && later(read.end, late_ns) >= moved.ts && read.end <= from;
            let is_over = moved.ts < from && moved.end < to;
            wants == For::Data && is_over && traffic.reads.iter().any(before)
        };
        let fits =
            |moved: &&Moved| moved.tid != tid && moved.end >= from && moved.ts <= to && !is_spent(moved);
        // What another reader took meanwhile did not wake this one.
        let taken = |moved: &&Moved| {
            let by_another = |read: &Moved| read.tid != tid && read.end >= moved.ts && read.end < to;
            wants == For::Data && traffic.reads.iter().any(by_another)
        };
        let first = log.iter().filter(fits).find(|moved| !taken(moved));
        if let Some(moved) = first.or_else(|| log.iter().rev().find(fits)) {
            return Some(Waker { tid: moved.tid, ts: moved.ts.max(from), how: moved.how });
        }
        traffic.early[wants as usize] = Some(Early { tid, from, to, late_ns });
        None
    }
}

/// The host that an address is of; 0 where all hosts mean the same one by it.
fn on_the_way(address: &str, host: u16) -> u16 {
    let is_of_one = address.starts_with(['/', '@']) || is_loopback_address(address);
    if is_of_one { host } else { 0 }
}

fn later(at: Timestamp, ns: u64) -> Timestamp {
    at.get().map_or(at, |at| Timestamp::new(at.saturating_add(ns)))
}

impl Served {
    /// What is read of an end, and what is written to it.
    fn flows(self) -> (Flow, Flow) {
        match self.is_client {
            true => (self.to_client, self.to_server),
            false => (self.to_server, self.to_client),
        }
    }
}

/// Our end of a connection: where the socket listens at all addresses, the one that was asked is, for who asks from the same host, the one that
/// he asks from.
fn own_address<'a>(local: &'a str, peer: &str) -> Cow<'a, str> {
    let port = local.strip_prefix("0.0.0.0:").or_else(|| local.strip_prefix("[::]:"));
    match (port, peer.rsplit_once(':')) {
        (Some(port), Some((host, _))) => format!("{host}:{port}").into(),
        _ => local.into(),
    }
}
