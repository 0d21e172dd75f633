//! Descriptors through time: what fd 23 was at time t.
//!
//! A [`FdLife`] is one open file description: from the call that made it (or the snapshot that showed it)
//! to the close of its last descriptor. Processes hold [`crate::world::slots::Slots`]: fd number to life. dup and fork share a
//! life; a closed and reopened number is another life, so generations are never mixed.

use crate::exemplar::Exemplars;
use crate::io::IoStats;
use crate::world::World;
use crate::world::ids::FileId;
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use whyslow_model::event::Tid;
use whyslow_model::{FdKind, RareStats, SaturatingSum, SocketEnds, Timestamp};

/// How a descriptor came to be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// It was open when a snapshot (lsof, /proc) was taken.
    Snapshot,
    /// open, openat, creat.
    Open,
    /// socket: an outgoing or listening socket.
    Socket,
    /// accept: a client's connection.
    Accept,
    /// pipe, socketpair.
    Pair,
    /// epoll, eventfd, timerfd and their like.
    Anonymous,
    /// Only seen in use: opened before the capture began, or by a call that is not in it.
    BeforeCapture,
}

/// One open file description.
#[derive(Debug)]
pub struct FdLife {
    /// The process that opened it.
    pub process: ProcessId,
    /// Its number at first.
    pub fd: i32,
    /// What it is.
    pub kind: FdKind,
    /// How it came to be.
    pub origin: Origin,
    /// Path of a file; a snapshot's text for anything else.
    pub name: Option<Box<str>>,
    /// The file's facts, once it was used.
    pub file: Option<FileId>,
    /// Ends of a socket.
    pub ends: Option<Box<SocketEnds>>,
    /// State of a TCP socket as the snapshot showed it.
    pub state: Option<Box<str>>,
    /// Inode, from a snapshot; of a pipe also from the trace.
    pub inode: Option<u64>,
    /// Open for reading and for writing, from a snapshot.
    pub access: Option<(bool, bool)>,
    /// Size of the file, from a snapshot or fstat.
    pub size: Option<u64>,
    /// listen() was called, or a snapshot showed LISTEN.
    pub listening: bool,
    /// Opened with O_SYNC or O_DSYNC.
    pub sync: bool,
    /// Opened with O_APPEND.
    pub append: bool,
    /// When it was opened; unknown where that was before the capture.
    pub opened: Timestamp,
    /// The thread and line that opened it (0 for before the capture).
    pub opened_by: (Tid, u64),
    /// When its last descriptor was closed; unknown while open.
    pub closed: Timestamp,
    /// It was the end of the process that closed it.
    pub closed_by_exit: bool,
    /// Descriptors that refer to it, in all processes. 0: ended.
    pub refs: u32,
    /// Reads.
    pub reads: Option<Box<IoStats>>,
    /// Writes.
    pub writes: Option<Box<IoStats>>,
    /// Bytes of directory entries read (getdents).
    pub listed: u64,
    /// lseek calls.
    pub seeks: RareStats,
    /// fsync and fdatasync.
    pub syncs: RareStats,
    /// The first line of those and the longest.
    pub sync_exemplars: Exemplars,
    /// A read returned 0: the end of the file, or the peer closed.
    pub end_seen: bool,
    /// When the peer's end was seen.
    pub end_seen_at: Timestamp,
    /// The highest offset reached by sequential reads and writes, bytes: a lower bound of the file's size.
    pub extent: u64,
    /// The last call was a write right behind a read: the turn of a request.
    pub turned_to_write: bool,
    /// Calls on it, and changes of what an epoll watches it for.
    pub calls: u64,
    /// Of these, reads that returned 0 once more, after one had told the end.
    pub ends_read: u64,
    /// What the epoll that watches it says instead of its number (`data` of epoll_ctl).
    pub epoll_token: Option<u64>,
    /// The other end of a pipe or socket pair that was made within the capture.
    pub other_end: Option<LifeId>,
    pub(crate) offset: u64,
    /// Where the last read or write ended.
    pub(crate) last_end: u64,
    pub(crate) seek_pending: bool,
    pub(crate) last_was_read: bool,
    /// Times that a read that brought less than was asked for came behind a write, up to what tells a stream of two ways.
    pub(crate) turns: u8,
    /// The thread that made these.
    pub(crate) turns_of: Tid,
    /// The thread of the last write.
    pub(crate) asked_by: Tid,
    /// A read found nothing, and did not wait.
    pub(crate) had_nothing: bool,
    /// Reads in a row that waited and brought less than was asked for.
    pub(crate) waited_short: u8,
    generation: u32,
}

impl FdLife {
    pub(crate) fn new(process: ProcessId, fd: i32, kind: FdKind, origin: Origin) -> FdLife {
        FdLife {
            process,
            fd,
            kind,
            origin,
            name: None,
            file: None,
            ends: None,
            state: None,
            inode: None,
            access: None,
            size: None,
            listening: false,
            sync: false,
            append: false,
            opened: Timestamp::UNKNOWN,
            opened_by: (0, 0),
            closed: Timestamp::UNKNOWN,
            closed_by_exit: false,
            refs: 0,
            reads: None,
            writes: None,
            listed: 0,
            seeks: RareStats::default(),
            syncs: RareStats::default(),
            sync_exemplars: Exemplars::default(),
            end_seen: false,
            ends_read: 0,
            end_seen_at: Timestamp::UNKNOWN,
            extent: 0,
            turned_to_write: false,
            calls: 0,
            epoll_token: None,
            other_end: None,
            offset: 0,
            last_end: 0,
            seek_pending: false,
            last_was_read: false,
            turns: 0,
            turns_of: 0,
            asked_by: 0,
            had_nothing: false,
            waited_short: 0,
            generation: 0,
        }
    }

    /// False for an end of a pipe that is known to be the other one: by a snapshot, else by what was done with it.
    pub fn may_read(&self) -> bool {
        self.access.map_or(self.writes.is_none(), |(reads, _)| reads)
    }

    /// As [`FdLife::may_read`], of writing.
    pub fn may_write(&self) -> bool {
        self.access.map_or(self.reads.is_none(), |(_, writes)| writes)
    }

    /// True while a descriptor refers to it.
    pub fn is_open(&self) -> bool {
        self.refs > 0
    }

    /// True where the program did not close it: it is open, or was until the end of the process.
    pub fn was_left_open(&self) -> bool {
        self.is_open() || self.closed_by_exit
    }

    /// True where lsof says of a socket that it belongs to no protocol any more: closed in part, or never connected.
    pub fn is_unidentified(&self) -> bool {
        self.name.as_deref().is_some_and(|name| name.contains("identify protocol"))
    }

    /// The other end of a socket, if known.
    pub fn peer(&self) -> Option<&str> {
        self.ends.as_ref()?.peer.as_deref()
    }

    /// Our end of a socket, if known.
    pub fn local(&self) -> Option<&str> {
        self.ends.as_ref()?.local.as_deref()
    }

    /// What it leads to: the peer of a socket, the path of a file; `None` where unknown.
    pub fn target(&self, world: &World) -> Option<String> {
        if let Some(peer) = self.peer() {
            return Some(peer.to_string());
        }
        if let Some(file) = self.file {
            return Some(world.files.get(file).path.to_string());
        }
        if let Some(name) = &self.name {
            return Some(name.to_string());
        }
        self.local().map(|local| format!("{local} (listening)")).filter(|_| self.listening)
    }

    /// Reads and writes.
    pub fn io_calls(&self) -> u64 {
        [&self.reads, &self.writes].into_iter().flatten().map(|io| io.calls.count).saturating_sum()
    }
}

/// All lives. Bounded: of the ended ones the first and busiest are kept for the views, the rest only live on
/// in the facts of their file or peer; of the open ones as many as are sane.
#[derive(Debug, Default)]
pub struct Fds {
    lives: Vec<FdLife>,
    free: Vec<u32>,
    ended_kept: usize,
    from_snapshots: usize,
    /// Lives that ended and were dropped from the list.
    pub dropped: u64,
    /// Calls and rows of descriptors that were not kept, because too many are open.
    pub refused: u64,
}

impl Fds {
    /// Ended lives kept for the views.
    const MAX_ENDED: usize = 4096;
    /// Lives of a trace kept, ended and open. A busy server has some thousands of connections; one takes 3 KiB here.
    const MAX_TRACED: usize = 12_288;
    /// Lives of snapshots, which take less as long as they are not used.
    const MAX_SNAPSHOT: usize = 16_384;

    /// A new life without descriptors yet; [`LifeId::NONE`] where there are too many.
    pub(crate) fn add(&mut self, mut life: FdLife) -> LifeId {
        if let Some(at) = self.free.pop() {
            let generation = self.lives[at as usize].generation + 1;
            life.generation = generation;
            self.lives[at as usize] = life;
            return LifeId { at, generation };
        }
        let most = match life.origin {
            Origin::Snapshot => Self::MAX_SNAPSHOT,
            _ => self.from_snapshots + Self::MAX_TRACED,
        };
        if self.lives.len() >= most {
            self.refused += 1;
            return LifeId::NONE;
        }
        self.from_snapshots += (life.origin == Origin::Snapshot) as usize;
        self.lives.push(life);
        LifeId { at: self.lives.len() as u32 - 1, generation: 0 }
    }

    /// The life, if it is still known.
    #[inline]
    pub fn get(&self, id: LifeId) -> Option<&FdLife> {
        self.lives.get(id.at as usize).filter(|life| life.generation == id.generation)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: LifeId) -> Option<&mut FdLife> {
        self.lives.get_mut(id.at as usize).filter(|life| life.generation == id.generation)
    }

    /// The life ended and its statistics were taken: keep it for the views, or free its place.
    pub(crate) fn ended(&mut self, id: LifeId) {
        if self.ended_kept < Self::MAX_ENDED {
            self.ended_kept += 1;
            return;
        }
        self.dropped += 1;
        self.free.push(id.at);
    }

    /// All lives that are known: open ones, and ended ones as far as they were kept.
    pub fn iter(&self) -> impl Iterator<Item = (LifeId, &FdLife)> {
        self.lives
            .iter()
            .enumerate()
            .map(|(at, life)| (LifeId { at: at as u32, generation: life.generation }, life))
    }

    /// Lives a descriptor refers to.
    pub fn open(&self) -> impl Iterator<Item = (LifeId, &FdLife)> {
        self.iter().filter(|(_, life)| life.is_open())
    }
}
