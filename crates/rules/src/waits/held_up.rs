//! What holds up a thread that waits for another one: the segments of its path that are a cause.

use super::fifo_end;
use crate::gate::gated;
use whyslow_chain::{Explainer, Path, PathKind, Scope, Segment};
use whyslow_facts::Parking;
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_model::Syscall;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;

/// A cause at the end of chains: what, of which kind, in which thread.
pub(super) type Cause = (String, PathKind, Tid);

/// What tells causes from waits that say nothing.
pub(super) struct Causes<'e, 'a> {
    pub(super) explainer: &'e Explainer<'a>,
    parking: Parking,
    scope: Scope,
}

impl<'e, 'a> Causes<'e, 'a> {
    pub(super) fn of(explainer: &'e Explainer<'a>, scope: Scope) -> Causes<'e, 'a> {
        Causes { explainer, parking: Parking::of(explainer.facts()), scope }
    }

    /// True for a wait by which a runtime parked its thread: who woke it gave it something to run, and held up nobody. A worker of a pool
    /// that serves a request does not wait for work.
    fn parks(&self, call: &LongCall) -> bool {
        let serves = self.scope == Scope::Requests;
        self.parking.is_goroutines(call) || !serves && self.parking.is_workers(call)
    }

    /// The cause that a segment of a path stands for, where it does.
    pub(super) fn cause_of(&self, path: &Path<'_>, segment: &Segment<'_>) -> Option<Cause> {
        cause_of(self, path, segment)
    }
}

fn cause_of(causes: &Causes<'_, '_>, path: &Path<'_>, segment: &Segment<'_>) -> Option<Cause> {
    let explainer = causes.explainer;
    if segment.call.is_some_and(|call| is_idle(explainer, call) || causes.parks(call)) {
        return None;
    }
    if is_cause(causes, path, segment) {
        return Some((explainer.cause(segment), segment.kind, path.stays[segment.stay].tid));
    }
    let (stay, what, tid) = fifo_end::beyond(explainer, path, segment)?;
    handed_over(causes, path, stay).then_some((what, PathKind::Pipe, tid))
}

/// True for a wait for clients: who has nothing to do holds up nobody, and whose turn it is is the client. A client that does not take
/// its answer is another matter.
fn is_idle(explainer: &Explainer<'_>, call: &LongCall) -> bool {
    let object = explainer.facts().accounts.objects.get(call.object).kind;
    let reads = call.syscall.info().moves != Moves::Write;
    call.waits.is_some() && reads && matches!(object, ObjectKind::Clients | ObjectKind::Listener)
}

/// A real wait at the end of a chain, which came over a lock, a pipe or a socket.
fn is_cause(causes: &Causes<'_, '_>, path: &Path<'_>, segment: &Segment<'_>) -> bool {
    let waits = matches!(
        segment.kind,
        PathKind::Lock
            | PathKind::Disk
            | PathKind::Peer
            | PathKind::PageFault
            | PathKind::RunQueue
            | PathKind::Throttled
    );
    // A program that starts waits for its file once (guard 4).
    let works = segment.call.is_some_and(|call| call.syscall != Syscall::EXECVE);
    waits && works && handed_over(causes, path, segment.stay) || computes(path, segment)
}

/// A reader that is busy while the writer waits for room: the one that stands still is not the slow one.
fn computes(path: &Path<'_>, segment: &Segment<'_>) -> bool {
    let busy = matches!(segment.kind, PathKind::Between | PathKind::User) && segment.call.is_none();
    let for_room = |wait: &LongCall| {
        wait.syscall.info().moves == Moves::Write
            && matches!(wait.what, Resource::Pipe(_) | Resource::Peer(_))
    };
    busy && path.stays[segment.stay].came_from.is_some_and(|(_, wait)| wait.is_some_and(for_room))
}

/// True where one on the way to this stay was held up by the next, and did not merely wait for its end.
#[gated]
fn handed_over(causes: &Causes<'_, '_>, path: &Path<'_>, mut stay: usize) -> bool {
    while let Some((before, wait)) = path.stays[stay].came_from {
        let held = wait.is_some_and(|wait| {
            !causes.parks(wait)
                && matches!(
                    wait.what,
                    Resource::Lock { .. }
                        | Resource::FileLock(_)
                        | Resource::Semaphore(_)
                        | Resource::Pipe(_)
                        | Resource::Event(_)
                        | Resource::Peer(_)
                )
        });
        if held {
            return true;
        }
        stay = before;
    }
    false
}
