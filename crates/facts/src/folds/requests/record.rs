//! One request, and how the time of its thread was split while it was open.

use crate::args::WaitKind;
use crate::exemplar::Exemplar;
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use crate::world::threads::ThreadFacts;
use std::sync::Arc;
use whyslow_model::event::Tid;
use whyslow_model::{Nanos, Timestamp};
use whyslow_wire::Status;

/// Which end of the connection this program is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// It is asked.
    Server,
    /// It asks.
    Client,
}

impl Side {
    /// The word for it in reports and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Side::Server => "server",
            Side::Client => "client",
        }
    }
}

/// A row of [`super::Requests::endpoints`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct EndpointId(pub u32);

/// How it is known in which request another one was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParentBy {
    /// The thread that made it served that request and no other.
    Thread,
    /// The thread that made it served several, and had read something for that one last, as event loops do: likely, not sure.
    Turn,
    /// The thread that made it answered that request, which another thread had read: likely, not sure.
    HandOver,
    /// The thread that made it was given work by the one that serves that request, and gave it something back: likely, not
    /// sure.
    Helper,
    /// A line of an access log names both.
    Log,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// Its answer was moved to its last byte, as far as the capture tells; `dur` is unknown where the capture misses
    /// what would say when.
    Answered,
    /// The connection was closed or broken before that.
    Aborted,
    /// The capture ended before that.
    Open,
}

/// One request. Of each endpoint the slowest are kept, and those that failed; the rest only count.
#[derive(Clone, Debug)]
pub struct RequestRecord {
    /// From 1, in the order in which they began.
    pub number: u64,
    /// Which end of the connection this program is.
    pub side: Side,
    /// Its row.
    pub endpoint: EndpointId,
    /// The request with its own values: `HMGET relation:series:1234:check`; empty where unknown.
    pub detail: String,
    /// Whom it is meant for, where the request says so: the `Host` of HTTP.
    pub host: Option<String>,
    /// The trace that it belongs to (W3C traceparent, B3).
    pub trace_id: Option<String>,
    /// What the answer said; `None` where there was none or where it is not in the capture.
    pub status: Option<Status>,
    /// The other end, if known.
    pub peer: Option<Arc<str>>,
    /// The connection.
    pub life: LifeId,
    /// Its descriptor.
    pub fd: i32,
    /// The process.
    pub process: ProcessId,
    /// The thread that read it (server) or sent it (client).
    pub tid: Tid,
    /// The thread that wrote the answer (server) or read it (client); `None` without an answer.
    pub answered_by: Option<Tid>,
    /// Server: the start of the read that got its first byte, or the end of that read where it had waited. Client:
    /// the start of the write that sent its first byte. Of a log: the time in its line, whatever the server means by it.
    pub begin: Timestamp,
    /// When its last byte was moved.
    pub received: Timestamp,
    /// When its answer began: the start of the first write (server), the end of the first read (client).
    pub first_byte: Timestamp,
    /// When the client closed its end before it had the answer, as a read of the connection told (server); unknown where
    /// none did.
    pub client_left: Timestamp,
    /// When the last byte of its answer was moved; where it was aborted, when that was seen; unknown while open.
    pub end: Timestamp,
    /// From begin to end; while open, to the end of the capture.
    pub dur: Nanos,
    /// How it ended.
    pub ending: Ending,
    /// Bytes of the request.
    pub request_bytes: u64,
    /// Bytes of the answer.
    pub answer_bytes: u64,
    /// The request in which it was made (client).
    pub parent: Option<(u64, ParentBy)>,
    /// What was asked of others while it was open (server).
    pub downstream: Vec<Downstream>,
    /// Where the time of its thread went; `None` where more than one thread or request shared it.
    pub split: Option<TimeSplit>,
    /// The call that moved its first byte.
    pub first_line: Exemplar,
    /// The call that moved the last byte of its answer, or that failed to.
    pub last_line: Option<Exemplar>,
}

impl RequestRecord {
    /// True where the answer says so, or where there was none.
    pub fn failed(&self) -> bool {
        self.ending == Ending::Aborted || self.status.as_ref().is_some_and(|status| status.is_error)
    }
}

/// Requests of one endpoint that were made while serving another one.
#[derive(Clone, Copy, Debug)]
pub struct Downstream {
    /// What was asked.
    pub endpoint: EndpointId,
    /// How often.
    pub count: u64,
    /// Of these, asked when nothing else was under way: round trips one behind the other.
    pub trips: u64,
    /// Time from asking to answer that no earlier one of them covers, ns: the sum over all is at most the whole.
    pub ns: u64,
}

impl Downstream {
    /// Endpoints told apart in one request or one row.
    pub(super) const MOST: usize = 32;

    /// Adds to the row of the same endpoint, where there is room for it.
    pub(super) fn add(rows: &mut Vec<Downstream>, more: Downstream) {
        if let Some(row) = rows.iter_mut().find(|row| row.endpoint == more.endpoint) {
            row.count = row.count.saturating_add(more.count);
            row.trips += more.trips;
            row.ns = row.ns.saturating_add(more.ns);
        } else if rows.len() < Downstream::MOST {
            rows.push(more);
        }
    }
}

/// What a thread had spent at some moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) waiting_ns: [u64; WaitKind::COUNT],
    pub(super) working_ns: u64,
}

impl Figures {
    /// With the scheduler's account, what a thread did in a waiting call without leaving the CPU is work.
    pub(super) fn of(thread: &ThreadFacts) -> Figures {
        let mut figures = Figures { waiting_ns: thread.waiting_ns, working_ns: thread.working_ns };
        if let Some(time) = thread.sched.as_deref() {
            for (waiting, ran) in figures.waiting_ns.iter_mut().zip(time.unblocked_ns) {
                *waiting = waiting.saturating_sub(ran);
                figures.working_ns = figures.working_ns.saturating_add(ran);
            }
        }
        figures
    }

    /// Without a call that is already in them.
    pub(super) fn without(mut self, waits: Option<WaitKind>, dur: Nanos) -> Figures {
        let part = match waits {
            Some(kind) => &mut self.waiting_ns[kind as usize],
            None => &mut self.working_ns,
        };
        *part = part.saturating_sub(dur.or_zero());
        self
    }
}

/// Where the wall time of a request went, on its thread. The parts are exclusive and add up to the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSplit {
    /// In calls that wait, by kind, ns.
    pub waiting_ns: [u64; WaitKind::COUNT],
    /// In calls that work, ns.
    pub working_ns: u64,
    /// Between calls: user mode, or without a CPU, ns.
    pub between_ns: u64,
}

impl TimeSplit {
    /// The split of `wall` between two moments of one thread.
    pub(super) fn between(from: &Figures, to: &Figures, wall: u64) -> TimeSplit {
        let mut split = TimeSplit::default();
        let mut left = wall;
        // Times are cut to microseconds: the parts may add up to a little more than the whole.
        let mut take = |ns: u64| {
            let part = ns.min(left);
            left -= part;
            part
        };
        for (part, (from, to)) in split.waiting_ns.iter_mut().zip(from.waiting_ns.iter().zip(to.waiting_ns)) {
            *part = take(to.saturating_sub(*from));
        }
        split.working_ns = take(to.working_ns.saturating_sub(from.working_ns));
        split.between_ns = left;
        split
    }

    /// Adds another request's time.
    pub fn merge(&mut self, other: &TimeSplit) {
        for (part, more) in self.waiting_ns.iter_mut().zip(other.waiting_ns) {
            *part = part.saturating_add(more);
        }
        self.working_ns = self.working_ns.saturating_add(other.working_ns);
        self.between_ns = self.between_ns.saturating_add(other.between_ns);
    }

    /// In calls that wait, ns.
    pub fn waits_ns(&self) -> u64 {
        self.waiting_ns.iter().fold(0, |sum, ns| sum.saturating_add(*ns))
    }

    /// All of it, ns.
    pub fn total_ns(&self) -> u64 {
        self.waits_ns().saturating_add(self.working_ns).saturating_add(self.between_ns)
    }
}
