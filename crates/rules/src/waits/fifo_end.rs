//! Chains of waits that lead out of the capture through a FIFO.

use crate::gate::gated;
use whyslow_chain::{Explainer, Missing, Path, PathKind, Segment};
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_facts::{Facts, Place};
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;

/// Where the capture ends at a FIFO: a thread asked somebody outside of it, who is late with the answer. The stay, whom it waits for, and
/// the thread.
#[gated]
pub(super) fn beyond(
    explainer: &Explainer<'_>,
    path: &Path<'_>,
    segment: &Segment<'_>,
) -> Option<(usize, String, Tid)> {
    let (stay, wait, who) = match (segment.missing, segment.call) {
        (Some(Missing::Thread(tid)), _) => {
            let (before, wait) = path.stays[segment.stay].came_from?;
            (before, wait?, Some(explainer.who(tid)))
        }
        (_, Some(wait)) if segment.kind == PathKind::Pipe && wait.waker.is_none() => {
            (segment.stay, wait, None)
        }
        _ => return None,
    };
    let Resource::Pipe(end) = wait.what else { return None };
    let fifo = explainer.facts().graph.name(end.name).filter(|name| name.starts_with('/'))?;
    let tid = path.stays[stay].tid;
    if !asks(explainer.facts(), tid, fifo) {
        return None;
    }
    let writes = wait.syscall.info().moves == Moves::Write;
    let waits_for = match who {
        Some(who) => format!("{who} to {} {fifo}", if writes { "read from" } else { "write to" }),
        None if writes => format!("room in {fifo} (its reader was not recorded)"),
        None => format!("data in {fifo} (its writer was not recorded)"),
    };
    Some((stay, waits_for, tid))
}

/// True where the thread writes, about as often as it reads from the FIFO, what nobody in the capture reads: it asks. A stage of a
/// pipeline that waits for more to do asks nobody.
#[gated]
fn asks(facts: &Facts, tid: Tid, fifo: &str) -> bool {
    let is_named_fifo = |stream: &whyslow_facts::Stream| match stream.place {
        Place::Life(life) => {
            let name = facts.world.fds.get(life).and_then(|life| life.name.as_deref());
            name.is_some_and(|name| name.starts_with('/'))
        }
        _ => false,
    };
    let at_fifo = |call: &&LongCall| match call.what {
        Resource::Pipe(end) => call.tid == tid && facts.graph.name(end.name) == Some(fifo),
        _ => false,
    };
    // Waits: a shell reads an answer byte by byte.
    let answers = facts.graph.calls().filter(at_fifo).count() as u64;
    facts.streams.iter().any(|stream| {
        let writes = &stream.writes;
        writes.only_thread() == Some(tid)
            && stream.reads.calls.count == 0
            // Of a pipe without a name the other end is another descriptor.
            && (stream.path.is_some() || stream.peer.is_some() || is_named_fifo(stream))
            && stream.path.as_deref() != Some(fifo)
            && !facts.log_levels.is_log(stream)
            && writes.calls.count.saturating_mul(2) >= answers.max(1)
    })
}
