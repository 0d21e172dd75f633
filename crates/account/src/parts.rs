//! A part of the time, before parts that are alike become one row.

use hashbrown::HashMap;
use whyslow_facts::folds::account::{CallKey, CallTime};
use whyslow_facts::samples::WaitShares;
use whyslow_facts::world::ids::ObjectId;
use whyslow_facts::{EndpointId, ProcessId};
use whyslow_model::event::Tid;
use whyslow_model::{Known, Syscall, TimeState};

/// A part of a thread's time.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// The process.
    pub(crate) process: ProcessId,
    /// The thread.
    pub(crate) tid: Tid,
    /// Doing what.
    pub(crate) state: TimeState,
    /// In which call.
    pub(crate) call: Option<Syscall>,
    /// On what.
    pub(crate) object: ObjectId,
    /// How much, ns.
    pub(crate) ns: u64,
    /// Parts of paths that it is; 0 where it is one sum.
    pub(crate) times: u64,
    /// Calls that were only counted, in which it was spent.
    pub(crate) counted: u64,
    /// How well it is known.
    pub(crate) known: Known,
    /// What the thread spent in this way in all.
    pub(crate) time: Option<&'a CallTime>,
    /// The request that it is a part of.
    pub(crate) request: Option<EndpointId>,
    /// That is one of the slowest of its endpoint.
    pub(crate) is_slow: bool,
    /// The number of the line of the program's own code, where it was asked for and is known.
    pub(crate) site: Option<u32>,
}

impl<'a> Part<'a> {
    /// Of a thread, on nothing that has a name.
    pub(crate) fn new(process: ProcessId, tid: Tid, state: TimeState, ns: u64) -> Part<'a> {
        Part {
            process,
            tid,
            state,
            call: None,
            object: ObjectId::NONE,
            ns,
            times: 0,
            counted: 0,
            known: Known::Exact,
            time: None,
            request: None,
            is_slow: false,
            site: None,
        }
    }

    /// In a call.
    pub(crate) fn in_call(self, key: CallKey, time: Option<&'a CallTime>) -> Part<'a> {
        Part { call: Some(key.syscall), object: key.object, time, ..self }
    }
}

/// Waits of one kind.
pub(crate) struct Wait<'a> {
    pub(crate) time: &'a CallTime,
    pub(crate) state: TimeState,
    /// What the thread slept in them, ns.
    pub(crate) asleep_ns: u64,
    /// The part of it that was waiting for work.
    pub(crate) idle: f64,
}

/// What stacks say of waits, by thread and call.
pub(crate) type Waits<'a> = HashMap<(ProcessId, Tid, Option<&'a str>), WaitShares>;
