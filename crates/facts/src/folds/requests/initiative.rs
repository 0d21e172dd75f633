//! Who asks on connections that are older than the capture, where neither the bytes nor their number tells: who begins without having been told
//! anything asks.
//!
//! A thread that goes round several connections writes to one, reads from it, writes to the next. Whoever it serves wrote first: between what it
//! reads of that one and what it writes next there is its own work. Where it waits there instead, and nothing comes meanwhile, it has begun by itself
//! (a pause, the next round): it asks there, and on each connection to which it writes before it hears of another one. One connection alone tells
//! nothing: a server that sleeps before it answers looks like a client that pauses.

use super::record::Side;
use super::{Requests, reads};
use crate::args::WaitKind;
use crate::world::{Seen, World};
use whyslow_model::FdKind;
use whyslow_model::event::Tid;

/// One thread.
#[derive(Debug, Default)]
struct Round {
    tid: Tid,
    /// What it had waited for times and for several descriptors when it last moved anything, ns.
    waited: u64,
    /// The connection that it read from last.
    read: Option<usize>,
    /// Where it has written since it began by itself; empty where it did not.
    asked: Vec<usize>,
}

/// All threads, by their place.
#[derive(Debug, Default)]
pub(super) struct Initiatives(Vec<Round>);

impl Initiatives {
    /// A shorter wait is a turn of a lock, or a look at what is ready.
    const PAUSE_NS: u64 = 1_000_000;
    /// Rounds in which it wrote there by itself: a single one may follow from something that is not seen.
    const ROUNDS: u8 = 3;
    /// Connections of one round.
    const MOST: usize = 64;

    fn of(&mut self, at: usize, tid: Tid) -> &mut Round {
        if at >= self.0.len() {
            self.0.resize_with(at + 1, Round::default);
        }
        let round = &mut self.0[at];
        if round.tid != tid {
            *round = Round { tid, ..Round::default() };
        }
        round
    }
}

impl Requests {
    /// Bytes went over something that is no connection: another thread or a timer told it what to do.
    pub(super) fn heard(&mut self, seen: &Seen<'_>, world: &World) {
        if matches!(seen.kind, FdKind::Event | FdKind::Pipe | FdKind::Timer | FdKind::Signal)
            && reads(seen.call.syscall)
            && seen.bytes > 0
            && self.has_unknown_sides
        {
            let round = self.initiatives.of(seen.thread.0 as usize, seen.call.tid);
            (round.waited, round.read) = (waited(seen, world), None);
            round.asked.clear();
        }
    }

    /// Bytes went over the connection at `at`.
    pub(super) fn takes_initiative(&mut self, at: usize, seen: &Seen<'_>, world: &World) {
        let Requests { connections, initiatives, has_unknown_sides, .. } = self;
        let connection = &mut connections[at];
        *has_unknown_sides |= connection.is_unknown_stream();
        if !*has_unknown_sides {
            return;
        }
        let round = initiatives.of(seen.thread.0 as usize, seen.call.tid);
        let waited = waited(seen, world);
        let pause = waited.saturating_sub(std::mem::replace(&mut round.waited, waited));
        if reads(seen.call.syscall) {
            if connection.side == Some(Side::Server) || !round.asked.contains(&at) {
                round.asked.clear();
            }
            round.read = Some(at);
            return;
        }
        let begins = pause >= Initiatives::PAUSE_NS && round.read.is_some_and(|read| read != at);
        if begins {
            round.asked.clear();
        }
        if (begins || !round.asked.is_empty()) && round.asked.len() < Initiatives::MOST {
            if !round.asked.contains(&at) {
                round.asked.push(at);
                connection.begun = connection.begun.saturating_add(1);
            }
        } else {
            connection.told = connection.told.saturating_add(1);
        }
        if connection.is_unknown_stream()
            && connection.begun >= Initiatives::ROUNDS
            && connection.told <= connection.begun / Initiatives::ROUNDS
        {
            connection.asks();
            connection.by_initiative = true;
        }
    }
}

/// What a thread has waited for times and for several descriptors, ns.
fn waited(seen: &Seen<'_>, world: &World) -> u64 {
    let waiting = &world.threads.thread(seen.thread).waiting_ns;
    waiting[WaitKind::Timer as usize].saturating_add(waiting[WaitKind::Poll as usize])
}
