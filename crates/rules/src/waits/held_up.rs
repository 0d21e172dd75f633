//! What holds up a thread that waits for another one: the segments of its path that are a cause.

use super::fifo_end;
use crate::gate::gated;
use whyslow_chain::{Explainer, Path, PathKind, Segment};
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_model::Syscall;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;

/// A cause at the end of chains: what, of which kind, in which thread.
pub(super) type Cause = (String, PathKind, Tid);

/// The cause that a segment of a path stands for, where it does.
pub(super) fn cause_of(explainer: &Explainer<'_>, path: &Path<'_>, segment: &Segment<'_>) -> Option<Cause> {
    if segment.call.is_some_and(|call| is_idle(explainer, call)) {
        return None;
    }
    if is_cause(path, segment) {
        return Some((explainer.cause(segment), segment.kind, path.stays[segment.stay].tid));
    }
    let (stay, what, tid) = fifo_end::beyond(explainer, path, segment)?;
    handed_over(path, stay).then_some((what, PathKind::Pipe, tid))
}

/// True for a wait for clients: who has nothing to do holds up nobody, and whose turn it is is the client. A client that does not take
/// its answer is another matter.
fn is_idle(explainer: &Explainer<'_>, call: &LongCall) -> bool {
    let object = explainer.facts().accounts.objects.get(call.object).kind;
    let reads = call.syscall.info().moves != Moves::Write;
    call.waits.is_some() && reads && matches!(object, ObjectKind::Clients | ObjectKind::Listener)
}

/// A real wait at the end of a chain, which came over a lock, a pipe or a socket.
fn is_cause(path: &Path<'_>, segment: &Segment<'_>) -> bool {
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
    waits && works && handed_over(path, segment.stay) || computes(path, segment)
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
fn handed_over(path: &Path<'_>, mut stay: usize) -> bool {
    while let Some((before, wait)) = path.stays[stay].came_from {
        let held = wait.is_some_and(|wait| {
            matches!(
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
