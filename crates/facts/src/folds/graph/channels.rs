//! What two threads hand each other through a descriptor: pipes, eventfds, unix sockets, TCP on one host.

use super::wait::{How, Waker};
use crate::world::{Seen, World};
use crate::{FdLife, LifeId};
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use whyslow_model::event::Tid;
use whyslow_model::{FdKind, Timestamp, text};

/// One direction of bytes between two ends, by a number made of what identifies it on its host.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Flow(u64);

/// The flows of one descriptor: what is read from it and what is written to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ends {
    pub(super) inward: Flow,
    pub(super) outward: Flow,
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
    hasher: foldhash::fast::FixedState,
    turn: u64,
}

impl Channels {
    /// Flows with traffic, some 700 bytes each.
    const MAX_FLOWS: usize = 8192;
    /// Calls remembered of one flow and side: a wait ends at the first one that comes during it.
    const REMEMBERED: usize = 8;

    /// The flows of the descriptor of `seen`.
    pub(super) fn of_call(&mut self, seen: &Seen<'_>, world: &World) -> Option<Ends> {
        let id = seen.life?;
        if let Some(Some((known, ends))) = self.known.get(id.place())
            && *known == id
        {
            return Some(*ends);
        }
        let note = text::descriptor(seen.call.args).and_then(|(_, note)| note);
        let ends = self.ends(id, world.fds.get(id)?, note)?;
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
            _ => self.ends(id, world.fds.get(id)?, None),
        }
    }

    /// The flow that stands for something with a name, as the lock of a file.
    pub(super) fn named(&self, kind: &str, name: &str) -> Flow {
        let mut hasher = self.hasher.build_hasher();
        (kind, name).hash(&mut hasher);
        Flow(std::hash::Hasher::finish(&hasher))
    }

    /// The flow that stands for something with a number of its own: a set of semaphores, a thread's signals.
    pub(super) fn numbered(&self, kind: &str, number: u64) -> Flow {
        let mut hasher = self.hasher.build_hasher();
        (kind, number).hash(&mut hasher);
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

    fn ends(&self, id: LifeId, life: &FdLife, note: Option<&[u8]>) -> Option<Ends> {
        let flow = |of: &dyn Fn(&mut foldhash::fast::FoldHasher<'_>)| {
            let mut hasher = self.hasher.build_hasher();
            of(&mut hasher);
            Flow(std::hash::Hasher::finish(&hasher))
        };
        // Both ends of a pair were made here, so that both are known so.
        if let Some(other) = life.other_end {
            let own = |id: LifeId| flow(&|hasher| ("pair", id).hash(hasher));
            return Some(Ends { inward: own(id), outward: own(other) });
        }
        let of_inodes = note.and_then(inodes);
        match life.kind {
            FdKind::Pipe => {
                let inode = of_inodes.map(|(inode, _)| inode).or(life.inode);
                // A FIFO of which only the path is known.
                let both = match (inode, life.file) {
                    (Some(inode), _) => self.numbered("pipe", inode),
                    (None, file) => self.numbered("fifo", file?.0.into()),
                };
                Some(Ends { inward: both, outward: both })
            }
            FdKind::Event => {
                let both = flow(&|hasher| ("event", id).hash(hasher));
                Some(Ends { inward: both, outward: both })
            }
            FdKind::Unix => {
                let (ours, theirs) = of_inodes?;
                Some(Ends { inward: self.numbered("unix", ours), outward: self.numbered("unix", theirs?) })
            }
            FdKind::Tcp | FdKind::Socket | FdKind::Udp => {
                let (local, peer) = (life.local()?, life.peer()?);
                let udp = life.kind == FdKind::Udp;
                Some(Ends {
                    inward: flow(&|hasher| (udp, local, peer).hash(hasher)),
                    outward: flow(&|hasher| (udp, peer, local).hash(hasher)),
                })
            }
            _ => None,
        }
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
        let wait = early.filter(|wait| wait.tid != tid && wait.to >= moved.ts && wait.to <= moved.end)?;
        *early = None;
        Some((wait.tid, wait.from, Waker { tid, ts: moved.ts.max(wait.from), how }))
    }

    /// Who ended a wait at `flow`: the first call that gave what it waited for while it lasted.
    pub(super) fn ended(&mut self, flow: Flow, wants: For, seen: &Seen<'_>) -> Option<Waker> {
        let (tid, from, to) = (seen.call.tid, seen.call.ts, seen.call.end());
        if !to.is_known() {
            return None;
        }
        let traffic = self.traffic(flow);
        let log = match wants {
            For::Data => &traffic.writes,
            For::Room => &traffic.reads,
        };
        let fits = |moved: &&Moved| moved.tid != tid && moved.end >= from && moved.ts <= to;
        // What another reader took meanwhile did not wake this one.
        let taken = |moved: &&Moved| {
            let by_another = |read: &Moved| read.tid != tid && read.end >= moved.ts && read.end < to;
            wants == For::Data && traffic.reads.iter().any(by_another)
        };
        let first = log.iter().filter(fits).find(|moved| !taken(moved));
        if let Some(moved) = first.or_else(|| log.iter().rev().find(fits)) {
            return Some(Waker { tid: moved.tid, ts: moved.ts.max(from), how: moved.how });
        }
        traffic.early[wants as usize] = Some(Early { tid, from, to });
        None
    }
}

/// The inodes that strace's `-yy` shows: `pipe:[12]`, `UNIX-STREAM:[12->13,"/run/x"]`.
fn inodes(note: &[u8]) -> Option<(u64, Option<u64>)> {
    if !note.starts_with(b"pipe:[") && !note.starts_with(b"UNIX") {
        return None;
    }
    let at = memchr::memmem::find(note, b":[")? + 2;
    let (ours, digits) = text::decimal(&note[at..])?;
    let theirs = note[at + digits..].strip_prefix(b"->").and_then(text::decimal);
    let theirs = theirs.and_then(|(theirs, _)| u64::try_from(theirs).ok());
    Some((u64::try_from(ours).ok()?, theirs))
}
