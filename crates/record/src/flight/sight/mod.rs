//! What is seen in the records while they go by, without decoding them: requests by the bytes of their connections, calls that fail or
//! take long, signals, ends. A trigger asks for no more, and a call that nobody asks about costs a look at its number.

mod connections;
mod opens;

use crate::bpf::layout::{COMM_LENGTH, Fields, Header, kind};
use crate::bpf::spool::SpoolRecord;
use crate::clock::Clock;
use crate::decode::{constants, table};
use crate::ptrace::signal_name;
use crate::raw::{RawCall, RawFlags};
use crate::replay::raw;
use crate::state::State;
use connections::Connections;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use whyslow_model::{Errno, FdEntry, FdKind, Nanos, Timestamp};

/// What is to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SightsWanted {
    /// Requests.
    pub requests: bool,
    /// Calls that take at least so long.
    pub calls_from: Option<Duration>,
    /// Calls that fail with these.
    pub errors: Vec<Errno>,
}

/// Something that a trigger may wait for.
#[derive(Clone, Debug)]
pub enum Sight<'a> {
    /// A request that ended, or that has been open for long.
    Request(SeenRequest<'a>),
    /// A call.
    Call(SeenCall),
    /// A signal was delivered.
    Signal {
        /// When.
        at: Timestamp,
        /// The thread.
        tid: u32,
        /// `SIGUSR1`.
        name: String,
    },
    /// A process ended.
    End {
        /// When.
        at: Timestamp,
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
        /// How.
        end: SeenEnd,
    },
}

/// How a process ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeenEnd {
    /// It exited with this status.
    Status(i32),
    /// This signal ended it.
    Signal(String),
}

/// Which end of a connection the watched process is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SeenSide {
    /// It serves.
    Server,
    /// It asks.
    Client,
}

/// A request as it went by.
#[derive(Clone, Debug)]
pub struct SeenRequest<'a> {
    /// When it ended; of one that is still open, now.
    pub at: Timestamp,
    /// From its first bytes to the last of its answer. Of one that is still open, so far.
    pub took: Nanos,
    /// The process.
    pub pid: u32,
    /// Which end it is.
    pub side: SeenSide,
    /// `HTTP/1.1`.
    pub protocol: &'static str,
    /// `GET /user/{id}`.
    pub endpoint: &'a str,
    /// What the answer says of how it went: `200`.
    pub status: Option<&'a str>,
    /// It failed: by its status (of HTTP from 500 on), or the connection was gone before its answer.
    pub failed: bool,
    /// It was not answered yet.
    pub open: bool,
}

/// A call as it went by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeenCall {
    /// When it returned.
    pub at: Timestamp,
    /// The thread.
    pub tid: u32,
    /// Its name.
    pub name: &'static str,
    /// How long it took.
    pub took: Nanos,
    /// How it failed, where it did.
    pub error: Option<Errno>,
    /// By this call a thread waits for work, or for a time to come: that it takes long is no sign of anything.
    pub is_idle: bool,
}

/// Looks at records.
pub(super) struct Eyes {
    watched: SightsWanted,
    connections: Connections,
    /// The process of each thread, and the names of processes.
    processes: HashMap<u32, u32>,
    names: HashMap<u32, String>,
    /// Processes that are watched, as far as their beginning was told.
    living: HashMap<u32, u32>,
}

/// Threads that are known at once.
const MOST_THREADS: usize = 1 << 18;

impl Eyes {
    pub(super) fn new(watched: SightsWanted) -> Eyes {
        Eyes {
            watched,
            connections: Connections::default(),
            processes: HashMap::new(),
            names: HashMap::new(),
            living: HashMap::new(),
        }
    }

    /// Processes that live, as far as their threads were told.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.living.keys().copied().collect()
    }

    /// What is there now: of all processes that live as far as records told.
    pub(super) fn state(&mut self, state: &State) {
        let there: HashSet<u32> = state.processes.iter().map(|info| info.pid).collect();
        // The end of others was lost.
        self.living.retain(|pid, _| there.contains(pid));
        self.processes.retain(|_, pid| there.contains(pid));
        self.names.retain(|pid, _| there.contains(pid));
        self.descriptors(&state.descriptors);
    }

    fn descriptors(&mut self, entries: &[FdEntry]) {
        if self.watched.requests || self.watched.calls_from.is_some() {
            self.connections.learn(entries);
        }
    }

    /// Tells the requests that have been open for longer than `bound`, once each.
    pub(super) fn open(&mut self, now: u64, bound: Duration, clock: Clock, with: &mut dyn FnMut(Sight<'_>)) {
        self.connections.open(now, bound, clock, with);
    }

    /// Looks at one record.
    pub(super) fn see(&mut self, record: &SpoolRecord<'_>, clock: Clock, with: &mut dyn FnMut(Sight<'_>)) {
        let _ = match record.header.kind {
            kind::CALL => self.call(record, clock, with),
            kind::TASK | kind::FORK | kind::EXEC | kind::EXIT => self.task(record, clock, with),
            kind::SIGNAL => {
                let name = signal_name(i32::from(record.header.flags));
                with(Sight::Signal { at: clock.epoch(record.header.ts), tid: record.header.tid, name });
                Some(())
            }
            _ => None,
        };
    }

    fn process_of(&self, tid: u32) -> u32 {
        self.processes.get(&tid).copied().unwrap_or(tid)
    }

    fn call(
        &mut self,
        record: &SpoolRecord<'_>,
        clock: Clock,
        with: &mut dyn FnMut(Sight<'_>),
    ) -> Option<()> {
        let SightsWanted { requests, calls_from, errors } = &self.watched;
        let call = raw(record)?;
        if call.flags.contains(RawFlags::COMPAT) {
            return None;
        }
        let failed = (-4095..0).contains(&call.ret) && !call.flags.contains(RawFlags::NO_EXIT);
        let error = failed.then(|| Errno(call.ret.unsigned_abs() as u16));
        let is_wanted = error.is_some_and(|error| errors.contains(&error));
        let is_long =
            calls_from.zip(call.dur).is_some_and(|(from, took)| u128::from(took) >= from.as_nanos());
        let (requests, longs) = (*requests, calls_from.is_some());
        let pid = self.process_of(call.tid);
        if is_wanted || is_long {
            let is_idle = opens::is_idle(&call) || self.connections.is_idle(pid, &call);
            with(Sight::Call(SeenCall {
                at: clock.epoch(record.header.ts),
                tid: call.tid,
                name: table::row_of(call.nr).map_or("a call", |row| row.name),
                took: call.dur.map_or(Nanos::UNKNOWN, Nanos::new),
                error,
                is_idle,
            }));
        }
        if requests || longs {
            let seen = Moved { at: record.header.ts, pid, call: &call };
            self.connections.call(&seen, requests, clock, with);
        }
        Some(())
    }

    fn task(
        &mut self,
        record: &SpoolRecord<'_>,
        clock: Clock,
        with: &mut dyn FnMut(Sight<'_>),
    ) -> Option<()> {
        let mut fields = Fields(record.bytes.get(Header::SIZE..)?);
        let (pid, parent, code, _) = (fields.u32()?, fields.u32()?, fields.u32()?, fields.u32()?);
        let comm = fields.bytes(COMM_LENGTH)?;
        let name = String::from_utf8_lossy(comm.split(|byte| *byte == 0).next()?).into_owned();
        let tid = record.header.tid;
        if record.header.kind == kind::EXIT {
            self.processes.remove(&tid);
            let left = self.living.get_mut(&pid).map(|threads| {
                *threads = threads.saturating_sub(1);
                *threads
            });
            // A process has ended with its last thread; where not all were told, with its first one.
            if left == Some(0) || left.is_none() && tid == pid {
                self.living.remove(&pid);
                self.connections.process_ended(pid);
                let name = self.names.remove(&pid).unwrap_or(name);
                // wait(2): the low seven bits are the signal, the next byte the status.
                let end = match code & 0x7f {
                    0 => SeenEnd::Status((code >> 8 & 0xff) as i32),
                    signal => SeenEnd::Signal(
                        constants::SIGNAL
                            .name(u64::from(signal))
                            .map_or_else(|| format!("SIG{signal}"), str::to_string),
                    ),
                };
                with(Sight::End { at: clock.epoch(record.header.ts), pid, name, end });
            }
            return Some(());
        }
        if self.processes.len() < MOST_THREADS && self.processes.insert(tid, pid).is_none() {
            *self.living.entry(pid).or_default() += 1;
        }
        if record.header.kind == kind::EXEC || tid == pid {
            self.names.insert(pid, name);
        }
        if record.header.kind == kind::FORK && tid == pid {
            self.connections.forked(parent, pid);
        }
        Some(())
    }
}

/// A call that may have moved bytes.
struct Moved<'a> {
    /// When it returned, ns of the kernel's clock.
    at: u64,
    pid: u32,
    call: &'a RawCall<'a>,
}

/// True where reading from such a descriptor waits for work or for a time, and for nobody who was asked.
fn waits_for_work(kind: FdKind) -> bool {
    use FdKind::*;
    matches!(kind, Pipe | Terminal | Event | Timer | Signal | Inotify | Netlink | Udp | Epoll | Anonymous)
}
