//! Event loops: what a thread does between two polls, where that takes long and others wait meanwhile.

use crate::exemplar::Exemplar;
use crate::folds::readiness::ready_descriptors;
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use crate::{Fold, When};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Call, FdKind, Histogram, Nanos, Syscall, Timestamp};

/// What a turn of the loop was spent in.
#[derive(Clone, Debug)]
pub struct Blocker {
    /// The call that took most of the turn; `None`: the thread's own code.
    pub call: Option<(Syscall, Option<Box<str>>)>,
    /// Turns.
    pub turns: u64,
    /// Their time, ns.
    pub ns: u64,
    /// The line of the longest such call, or of the poll that ended the longest turn.
    pub longest: Exemplar,
    longest_ns: u64,
}

/// One thread's loop.
#[derive(Debug)]
pub struct EventLoop {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// Another thread polled the same epoll instance too: what is ready then waits for any of them.
    pub shared: bool,
    /// Polls.
    pub polls: u64,
    /// Turns of at least [`Loops::BLOCKED`], whatever the others took.
    blocked: Blocked,
    /// Shorter ones, of at least [`Loops::STALLED`] for each descriptor that their poll had found ready.
    stalled: Blocked,
    /// What a turn took for each descriptor that its poll had found ready.
    turns: Histogram,
}

/// Turns from the end of a poll to the start of the next that took long, and after which something was ready at once.
#[derive(Clone, Debug, Default)]
pub struct Blocked {
    /// What each took at least.
    pub from: Nanos,
    /// How many.
    pub turns: u64,
    /// Their time, ns.
    pub ns: u64,
    /// Calls made in them.
    pub calls: u64,
    /// Those after which two descriptors or more were ready at once.
    pub several_waited: u64,
    /// Descriptors that were ready at once after them.
    pub waiting: u64,
    /// The longest one, ns.
    pub longest_ns: u64,
    /// What they were spent in.
    pub blockers: Vec<Blocker>,
}

impl EventLoop {
    /// The turns that those who wait for the loop feel: long ones, and with `shorter` such as are long beside what a turn usually takes. Where
    /// every turn is as long, that is what the loop has to do.
    pub fn blocked(&self, shorter: bool) -> Blocked {
        let mut all = Blocked { from: Loops::BLOCKED, ..self.blocked.clone() };
        let usual = self.turns.percentile(0.5);
        if shorter && self.stalled.turns > 0 && usual.is_known() && usual <= Loops::USUAL {
            all.merge(&self.stalled);
            all.from = Loops::STALLED;
        }
        all
    }
}

impl Blocked {
    fn merge(&mut self, other: &Blocked) {
        self.turns += other.turns;
        self.ns = self.ns.saturating_add(other.ns);
        self.calls += other.calls;
        self.several_waited += other.several_waited;
        self.waiting += other.waiting;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        for blocker in &other.blockers {
            match self.blockers.iter_mut().find(|own| own.call == blocker.call) {
                Some(own) => own.add(blocker.turns, blocker.ns, blocker.longest.clone(), blocker.longest_ns),
                None => self.blockers.push(blocker.clone()),
            }
        }
    }
}

impl Blocker {
    fn add(&mut self, turns: u64, ns: u64, line: Exemplar, line_ns: u64) {
        self.turns += turns;
        self.ns = self.ns.saturating_add(ns);
        if line_ns > self.longest_ns {
            (self.longest_ns, self.longest) = (line_ns, line);
        }
    }
}

/// A call, what it worked on, and its line.
type Slowest = (Syscall, Option<Box<str>>, Exemplar);

#[derive(Debug, Default, Clone)]
struct State {
    tid: Tid,
    /// End of the last poll.
    polled: Timestamp,
    /// What that poll found ready.
    ready: u64,
    /// Calls of the thread by then.
    calls: u64,
    /// The longest call since.
    slowest: Option<Box<Slowest>>,
    /// Row, from 1.
    row: u32,
}

/// Event loops by thread.
#[derive(Debug, Default)]
pub struct Loops {
    /// The rows.
    pub rows: Vec<EventLoop>,
    threads: Vec<State>,
    /// By epoll instance the thread that polled it first.
    pollers: HashMap<(ProcessId, i32, Option<LifeId>), Tid, foldhash::fast::RandomState>,
}

impl Loops {
    /// A turn this long is felt by those who wait for the loop.
    pub const BLOCKED: Nanos = Nanos::from_millis(50);
    /// A shorter turn is felt from here on, where most turns take a twentieth of it at most ([`Loops::USUAL`]): a request that is answered at once
    /// takes twenty times as long then.
    pub const STALLED: Nanos = Nanos::from_millis(10);
    /// What half of the turns of a quick loop take at most.
    pub const USUAL: Nanos = Nanos::new(500_000);
    /// A poll that ends within this time found what was ready before it began.
    const AT_ONCE: Nanos = Nanos::from_millis(1);
    /// Loops told apart.
    const MAX_ROWS: usize = 256;
    /// Things a loop is blocked in that are told apart.
    const MAX_BLOCKERS: usize = 16;
    /// Epoll instances told apart.
    const MAX_POLLERS: usize = 4_096;

    fn poll(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let calls = world.threads.thread(seen.thread).calls;
        let state = &mut self.threads[seen.thread.0 as usize];
        let slowest = state.slowest.take();
        let turn = call.ts.since(state.polled);
        let made = calls.saturating_sub(state.calls);
        let ready = call.ok().unwrap_or(0).max(0) as u64;
        let each = turn.or_zero() / state.ready.max(1);
        (state.polled, state.calls, state.ready) = (ended(call), calls, ready);
        if state.row == 0 {
            if self.rows.len() >= Self::MAX_ROWS {
                return;
            }
            self.rows.push(EventLoop {
                process: seen.process,
                tid: call.tid,
                shared: false,
                polls: 0,
                blocked: Blocked::default(),
                stalled: Blocked::default(),
                turns: Histogram::default(),
            });
            state.row = self.rows.len() as u32;
        }
        let at = state.row as usize - 1;
        if let Some((fd, _)) = call.first_fd() {
            let epoll = (seen.process, fd, seen.life);
            let room = self.pollers.len() < Self::MAX_POLLERS;
            let first = match self.pollers.get(&epoll) {
                Some(first) => *first,
                None if room => *self.pollers.entry(epoll).or_insert(call.tid),
                None => call.tid,
            };
            if first != call.tid {
                self.rows[at].shared = true;
                let process = seen.process;
                let others = self.rows.iter_mut().filter(|row| row.tid == first && row.process == process);
                others.for_each(|row| row.shared = true);
            }
        }
        let row = &mut self.rows[at];
        row.polls += 1;
        if turn.is_known() {
            row.turns.record(each);
        }
        let is_blocked = turn.is_known() && turn >= Self::BLOCKED;
        let is_stalled = turn.is_known() && each >= Self::STALLED.or_zero();
        if ready > 0
            && (is_blocked || is_stalled)
            && found_at_once(call, ready)
            && let waiting = ready.saturating_sub(own_signals(seen, world))
            && waiting > 0
        {
            let turns = if is_blocked { &mut row.blocked } else { &mut row.stalled };
            let ns = turn.or_zero();
            turns.turns += 1;
            turns.ns = turns.ns.saturating_add(ns);
            turns.calls += made;
            turns.waiting += waiting;
            turns.several_waited += (waiting > 1) as u64;
            turns.longest_ns = turns.longest_ns.max(ns);
            blame(&mut turns.blockers, slowest, ns, call);
        }
    }
}

/// When a poll ended: without durations that is known of one that does not wait.
fn ended(call: &Call<'_>) -> Timestamp {
    match call.dur.is_known() || call.arg(3).is_none_or(|limit| limit != b"0") {
        true => call.end(),
        false => call.ts,
    }
}

/// Whether what a poll found was ready before it began. Without durations: several descriptors after so long a turn have not become ready at one
/// moment.
fn found_at_once(call: &Call<'_>, ready: u64) -> bool {
    match call.dur.is_known() {
        true => call.dur <= Loops::AT_ONCE,
        false => ready > 1,
    }
}

/// Of the descriptors that a poll found ready, those by which a program tells itself something: nobody else waits for these.
#[cold]
fn own_signals(seen: &Seen<'_>, world: &World) -> u64 {
    let mut own = 0;
    ready_descriptors(seen, world, |fd, _| {
        let kind = world.life_of(seen.process, fd).map(|life| life.kind);
        own += u64::from(matches!(kind, Some(FdKind::Event | FdKind::Timer | FdKind::Signal)));
    });
    own
}

/// The call that took at least half of the turn, else the thread's own code.
#[cold]
fn blame(blockers: &mut Vec<Blocker>, slowest: Option<Box<Slowest>>, ns: u64, poll: &Call<'_>) {
    let slowest = slowest.map(|slowest| *slowest).filter(|(.., line)| line.dur.or_zero() * 2 >= ns);
    let (call, line) = match slowest {
        Some((syscall, target, line)) => (Some((syscall, target)), line),
        None => (None, Exemplar::of(poll)),
    };
    match blockers.iter().position(|blocker| blocker.call == call) {
        Some(at) => blockers[at].add(1, ns, line, ns),
        None if blockers.len() < Loops::MAX_BLOCKERS => {
            blockers.push(Blocker { call, turns: 1, ns, longest: line, longest_ns: ns });
        }
        None => {}
    }
}

/// Polls of many descriptors: those of an event loop.
fn is_poll(syscall: Syscall) -> bool {
    matches!(syscall, Syscall::EPOLL_WAIT | Syscall::EPOLL_PWAIT | Syscall::EPOLL_PWAIT2)
}

impl Fold for Loops {
    fn wants(&self, _: Syscall) -> bool {
        true
    }

    fn when(&self, syscall: Syscall) -> When {
        if is_poll(syscall) { When::Always } else { When::Slow }
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let at = seen.thread.0 as usize;
        if at >= self.threads.len() {
            self.threads.resize(at + 1, State::default());
        }
        let state = &mut self.threads[at];
        if state.tid != seen.call.tid {
            // The place of a thread that ended was given to another one.
            *state = State { tid: seen.call.tid, ..State::default() };
        }
        if is_poll(seen.call.syscall) {
            return self.poll(seen, world);
        }
        let longest = state.slowest.as_ref().map_or(0, |slowest| slowest.2.dur.or_zero());
        if state.polled.is_known() && seen.call.dur.or_zero() > longest {
            let life = seen.life.and_then(|life| world.fds.get(life));
            let target = life.and_then(|life| life.target(world)).or_else(|| {
                let file = seen.file?;
                Some(world.files.get(file).path.to_string())
            });
            state.slowest =
                Some(Box::new((seen.call.syscall, target.map(Into::into), Exemplar::of(seen.call))));
        }
    }
}
