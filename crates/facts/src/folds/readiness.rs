//! Polls that spin: the same descriptor is ready at once, again and again, and nobody touches it; or nothing
//! is ready and the poll does not wait.

use crate::Fold;
use crate::args::epoll::token;
use crate::folds::laps::{Laps, lap_time, paced, within};
use crate::world::ids::LifeId;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use std::hash::{BuildHasher, Hasher};
use whyslow_model::event::Tid;
use whyslow_model::{Call, Syscall, Timestamp, text};

/// A descriptor that a poll calls ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Its number; `None` where the capture shows only the program's own token for it.
    pub fd: Option<i32>,
    /// The token.
    pub token: u64,
    /// `EPOLLIN|EPOLLHUP`, `POLLIN`, `in`.
    pub events: Box<str>,
    /// Its peer or path, if known.
    pub target: Option<String>,
    /// A read had returned 0 before: the peer had closed.
    pub end_seen: bool,
    /// Reads that returned 0 again, after the first.
    pub ends_read: u64,
}

impl Ready {
    /// `fd 5 (10.0.0.3:6379)`.
    pub fn named(&self) -> String {
        match (self.fd, &self.target) {
            (Some(fd), Some(target)) => format!("fd {fd} ({target})"),
            (Some(fd), None) => format!("fd {fd}"),
            (None, _) => format!("the descriptor registered as {:#x}", self.token),
        }
    }
}

/// A set of descriptors reported again and again with nobody touching them.
#[derive(Clone, Debug)]
pub struct ReadySpin {
    /// The process.
    pub process: ProcessId,
    /// The first thread that went round.
    pub tid: Tid,
    /// The poll.
    pub syscall: Syscall,
    /// The descriptors.
    pub ready: Vec<Ready>,
    /// The turns.
    pub laps: Laps,
}

impl ReadySpin {
    /// `fd 5 (10.0.0.3:6379), fd 6`.
    pub fn named(&self) -> String {
        let names: Vec<String> = self.ready.iter().map(Ready::named).collect();
        names.join(", ")
    }

    /// What they are ready for: `EPOLLIN|EPOLLHUP`.
    pub fn events(&self) -> String {
        let mut events: Vec<&str> = self.ready.iter().map(|ready| &*ready.events).collect();
        events.sort_unstable();
        events.dedup();
        events.join(", ")
    }

    /// True where all that is ready is that something could be written.
    pub fn only_writable(&self) -> bool {
        let writable = |events: &str| {
            events
                .split('|')
                .all(|event| matches!(event, "EPOLLOUT" | "POLLOUT" | "EPOLLWRNORM" | "POLLWRNORM" | "out"))
        };
        self.ready.iter().all(|ready| writable(&ready.events))
    }

    /// True where the end of one of them is read again and again.
    pub fn reads_the_end(&self) -> bool {
        self.ready.iter().any(|ready| ready.ends_read > 0)
    }

    /// True where one of them is broken or closed, which only closing or removing it clears.
    pub fn hung_up(&self) -> bool {
        self.ready.iter().any(|ready| ready.events.contains("HUP") || ready.events.contains("ERR"))
    }
}

/// Polls of one thread with a timeout of 0.
#[derive(Clone, Debug)]
pub struct ZeroTimeouts {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// The poll.
    pub syscall: Syscall,
    /// All of them.
    pub polls: u64,
    /// Of these, those that found nothing ready.
    pub empty: u64,
    /// Empty ones right behind another empty one, with nothing done in between.
    pub laps: Laps,
    /// The peer or path of the first descriptor polled of which one is known.
    pub target: Option<String>,
}

/// What polls brought.
#[derive(Debug, Default)]
pub struct Readiness {
    /// Sets that stay ready.
    pub spins: Vec<ReadySpin>,
    /// Polls that do not wait, one row a thread and call.
    pub zero_timeouts: Vec<ZeroTimeouts>,
    loops: Vec<Loop>,
    hasher: foldhash::fast::FixedState,
}

/// The polls of one thread.
#[derive(Debug, Default, Clone)]
struct Loop {
    /// Of the last set that was ready, whatever its order; 0 for none.
    set: u64,
    started: Timestamp,
    calls: u64,
    useful: u64,
    /// What is in the set, with the calls seen on each; filled once the set comes a second time.
    watched: Vec<Watched>,
    /// Its row in `spins`, from 1.
    row: u32,
    /// The last poll had a timeout of 0 and found nothing.
    was_empty: bool,
    /// Its row in `zero_timeouts`, from 1.
    zero_row: u32,
}

#[derive(Debug, Clone, Copy)]
struct Watched {
    fd: Option<i32>,
    /// The capture shows that this is the descriptor; else it is the token taken for one.
    certain: bool,
    /// What is behind it, and the calls on that so far.
    calls: Option<(LifeId, u64)>,
}

impl Readiness {
    /// A turn longer than this does something else besides spinning, ns: 500 turns a second under strace, which
    /// makes each call some 50 us longer, are several thousand without it.
    const LONGEST_LAP_NS: u64 = 2_000_000;
    /// The same for polls that find nothing, which healthy programs make now and then between their work.
    const LONGEST_EMPTY_LAP_NS: u64 = 500_000;
    /// Rows of each kind; a program spins on one or a few.
    const MAX_ROWS: usize = 128;
    /// Descriptors of a set that are watched.
    const MAX_WATCHED: usize = 8;
    /// A set's text is compared up to here.
    const MAX_SET: usize = 1024;

    fn some_ready(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let thread = world.threads.thread(seen.thread);
        let Some(ready) = ready_text(call) else { return };
        let set = set_hash(&self.hasher, ready);
        let state = &mut self.loops[seen.thread.0 as usize];
        let lap = lap_time(state.started, call.ts).filter(|time| within(*time, Self::LONGEST_LAP_NS));
        let (made, useful) = (thread.calls - state.calls.min(thread.calls), thread.useful != state.useful);
        (state.started, state.calls, state.useful) = (call.ts, thread.calls, thread.useful);
        let again = state.set == set && lap.is_some();
        state.set = set;
        if !again {
            state.watched.clear();
            state.row = 0;
            return;
        }
        if state.watched.is_empty() {
            let found = entries(ready, call.syscall).take(Self::MAX_WATCHED);
            state.watched.extend(found.map(|entry| watch(seen.process, &entry, world)));
            return;
        }
        let mut touched = false;
        for watched in &mut state.watched {
            let calls = calls_on(seen.process, watched.fd, world);
            touched |= calls != watched.calls || (!watched.certain && useful);
            watched.calls = calls;
        }
        if touched {
            return;
        }
        if state.row == 0 {
            state.row = match row_of(&mut self.spins, seen, ready, &state.watched, world) {
                Some(row) => row,
                None => return,
            };
        }
        let lap = lap.unwrap_or_default();
        self.spins[state.row as usize - 1].laps.turn(call, lap, made);
    }

    fn none_ready(&mut self, seen: &Seen<'_>, world: &World, empty: bool) {
        let call = seen.call;
        let thread = world.threads.thread(seen.thread);
        let state = &mut self.loops[seen.thread.0 as usize];
        let (from, was_empty) = (state.started, state.was_empty);
        let (made, idle) = (thread.calls - state.calls.min(thread.calls), thread.useful == state.useful);
        if empty {
            (state.started, state.calls, state.useful) = (call.ts, thread.calls, thread.useful);
            state.set = 0;
        }
        state.was_empty = empty;
        let fits = |row: &ZeroTimeouts| {
            row.tid == call.tid && row.process == seen.process && row.syscall == call.syscall
        };
        if state.zero_row == 0 || !self.zero_timeouts.get(state.zero_row as usize - 1).is_some_and(fits) {
            let at = match self.zero_timeouts.iter().position(fits) {
                Some(at) => at,
                None if self.zero_timeouts.len() < Self::MAX_ROWS => {
                    self.zero_timeouts.push(ZeroTimeouts {
                        process: seen.process,
                        tid: call.tid,
                        syscall: call.syscall,
                        polls: 0,
                        empty: 0,
                        laps: Laps::default(),
                        target: None,
                    });
                    self.zero_timeouts.len() - 1
                }
                None => return,
            };
            state.zero_row = at as u32 + 1;
        }
        let row = &mut self.zero_timeouts[state.zero_row as usize - 1];
        row.polls += 1;
        row.empty += empty as u64;
        // What a descriptor leads to may come out later, by a call on it.
        if row.target.is_none() && row.polls.is_power_of_two() {
            row.target = polled_target(seen, world);
        }
        let longest = paced(Self::LONGEST_EMPTY_LAP_NS, call, made);
        let lap = lap_time(from, call.ts).filter(|time| within(*time, longest));
        if let Some(lap) = lap.filter(|_| empty && was_empty && idle) {
            row.laps.turn(call, lap, made);
        }
    }
}

/// What the first of the polled descriptors leads to of which that is known.
fn polled_target(seen: &Seen<'_>, world: &World) -> Option<String> {
    let call = seen.call;
    let target = |fd: i32| world.life_of(seen.process, fd).and_then(|life| life.target(world));
    if is_epoll(call.syscall) {
        let slots = &world.threads.process(seen.process).slots;
        let mut polled =
            slots.iter().filter_map(|(_, id)| world.fds.get(id)).filter(|life| life.epoll_token.is_some());
        return polled.find_map(|life| life.target(world));
    }
    let args = &call.args[..call.args.len().min(Readiness::MAX_SET)];
    if is_select(call.syscall) {
        let list = args.get(memchr::memchr(b'[', args)? + 1..)?;
        let list = &list[..memchr::memmem::find(list, b"], ").unwrap_or(list.len())];
        return list.split(|byte| *byte == b' ').find_map(|fd| target(text::descriptor(fd)?.0));
    }
    let list = args.strip_prefix(b"[")?;
    SplitEntries(Some(list)).find_map(|entry| target(text::descriptor(entry.strip_prefix(b"fd=")?)?.0))
}

/// The row of a set; `None` where there are too many.
fn row_of(
    spins: &mut Vec<ReadySpin>,
    seen: &Seen<'_>,
    ready: &[u8],
    watched: &[Watched],
    world: &World,
) -> Option<u32> {
    let found: Vec<Ready> = entries(ready, seen.call.syscall)
        .zip(watched)
        .map(|(entry, watched)| {
            let life = watched.fd.and_then(|fd| world.life_of(seen.process, fd));
            Ready {
                fd: watched.fd,
                token: entry.token,
                events: String::from_utf8_lossy(entry.events).into(),
                target: life.and_then(|life| life.target(world)),
                end_seen: life.is_some_and(|life| life.end_seen),
                ends_read: life.map_or(0, |life| life.ends_read),
            }
        })
        .collect();
    let same = |row: &ReadySpin| {
        row.process == seen.process
            && row.syscall == seen.call.syscall
            && row.ready.len() == found.len()
            && found.iter().all(|one| {
                row.ready.iter().any(|known| known.token == one.token && known.events == one.events)
            })
    };
    if let Some(at) = spins.iter().position(same) {
        return Some(at as u32 + 1);
    }
    if spins.len() >= Readiness::MAX_ROWS {
        return None;
    }
    spins.push(ReadySpin {
        process: seen.process,
        tid: seen.call.tid,
        syscall: seen.call.syscall,
        ready: found,
        laps: Laps::default(),
    });
    Some(spins.len() as u32)
}

fn watch(process: ProcessId, entry: &Entry<'_>, world: &World) -> Watched {
    let (fd, certain) = match entry.fd {
        Some(fd) => (Some(fd), true),
        None => {
            let slots = &world.threads.process(process).slots;
            let known = slots.iter().find(|(_, life)| {
                world.fds.get(*life).is_some_and(|life| life.epoll_token == Some(entry.token))
            });
            match known {
                Some((fd, _)) => (Some(fd), true),
                None => (fd_in_token(entry.token), false),
            }
        }
    };
    Watched { fd, certain, calls: calls_on(process, fd, world) }
}

/// Most programs give epoll the descriptor itself, some (libev) with a counter in the upper half.
fn fd_in_token(token: u64) -> Option<i32> {
    let low = token as u32;
    // More descriptors than this (`ulimit -n` of a large server), or a pointer's half.
    (low < 1 << 20 && token >> 32 < 1 << 16).then_some(low as i32)
}

/// What is behind the descriptor, and the calls on that so far.
fn calls_on(process: ProcessId, fd: Option<i32>, world: &World) -> Option<(LifeId, u64)> {
    let life = world.threads.process(process).slots.get(fd?)?;
    let known = world.fds.get(life)?;
    // To read the end again changes nothing: it stays ready.
    Some((life, known.calls - known.ends_read.min(known.calls)))
}

fn is_epoll(syscall: Syscall) -> bool {
    matches!(syscall, Syscall::EPOLL_WAIT | Syscall::EPOLL_PWAIT | Syscall::EPOLL_PWAIT2)
}

fn is_select(syscall: Syscall) -> bool {
    matches!(syscall, Syscall::SELECT | Syscall::NEWSELECT | Syscall::PSELECT6)
        || syscall.info().name == "pselect6_time64"
}

fn is_poll(syscall: Syscall) -> bool {
    matches!(syscall, Syscall::POLL | Syscall::PPOLL) || syscall.info().name == "ppoll_time64"
}

/// What a poll that found something calls ready.
fn ready_text<'a>(call: &Call<'a>) -> Option<&'a [u8]> {
    let found = if is_epoll(call.syscall) {
        let from = memchr::memmem::find(call.args, b", ")? + 2;
        let list = call.args[from..]
            .strip_prefix(b"[")
            .or_else(|| call.args[from..].strip_prefix(b"{{").map(|_| &call.args[from + 1..]))?;
        let end = memchr::memmem::find(list, b"}]")
            .or_else(|| memchr::memmem::find(list, b"}}}, ").map(|at| at + 1))?;
        &list[..end]
    } else if is_select(call.syscall) {
        let list = call.ret_note.strip_prefix(b"(")?;
        &list[..memchr::memmem::find(list, b"left").unwrap_or(list.len())]
    } else {
        let list = call.ret_note.strip_prefix(b"([")?;
        &list[..memchr::memmem::find(list, b"}]").unwrap_or(list.len())]
    };
    (!found.is_empty()).then(|| &found[..found.len().min(Readiness::MAX_SET)])
}

/// A number for the set, the same in whatever order its entries stand. Never 0.
#[inline]
fn set_hash(hasher: &foldhash::fast::FixedState, ready: &[u8]) -> u64 {
    let mut sum: u64 = 0;
    let mut rest = ready;
    loop {
        let (entry, more) = match memchr::memmem::find(rest, b"}, {") {
            Some(at) => (&rest[..at], Some(&rest[at + 3..])),
            None => (rest, None),
        };
        let mut state = hasher.build_hasher();
        state.write(entry.strip_prefix(b"{").unwrap_or(entry).trim_ascii_end());
        sum = sum.wrapping_add(state.finish());
        match more {
            Some(more) => rest = more,
            None => return sum | 1,
        }
    }
}

struct Entry<'a> {
    fd: Option<i32>,
    token: u64,
    events: &'a [u8],
}

/// The descriptors that a poll, select or epoll found ready, each with whether it can be read.
pub(super) fn ready_descriptors(seen: &Seen<'_>, world: &World, mut take: impl FnMut(i32, bool)) {
    /// More at once are a busy loop's, whose waits are short.
    const MOST: usize = 16;
    let Some(ready) = ready_text(seen.call) else { return };
    for entry in entries(ready, seen.call.syscall).take(MOST) {
        let readable = [&b"IN"[..], b"HUP", b"PRI", b"RDNORM"]
            .iter()
            .any(|event| memchr::memmem::find(entry.events, event).is_some())
            || entry.events.starts_with(b"in");
        if let Some(fd) = watch(seen.process, &entry, world).fd {
            take(fd, readable);
        }
    }
}

/// The descriptors of a set.
fn entries(ready: &[u8], syscall: Syscall) -> Box<dyn Iterator<Item = Entry<'_>> + '_> {
    if is_select(syscall) {
        return Box::new(select_entries(ready));
    }
    let entries = SplitEntries(Some(ready));
    if is_epoll(syscall) {
        return Box::new(entries.filter_map(|entry| {
            let events = entry.strip_prefix(b"events=").unwrap_or(entry);
            let end = memchr::memchr(b',', events)?;
            Some(Entry { fd: None, token: token(entry)?, events: &events[..end] })
        }));
    }
    Box::new(entries.filter_map(|entry| {
        let (fd, _) = text::descriptor(entry.strip_prefix(b"fd=")?)?;
        let at = memchr::memmem::find(entry, b"revents=")? + b"revents=".len();
        Some(Entry { fd: Some(fd), token: fd as u64, events: entry[at..].trim_ascii() })
    }))
}

struct SplitEntries<'a>(Option<&'a [u8]>);

impl<'a> Iterator for SplitEntries<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0?;
        let (entry, more) = match memchr::memmem::find(rest, b"}, {") {
            Some(at) => (&rest[..at], rest.get(at + 3..)),
            None => (rest, None),
        };
        self.0 = more;
        Some(entry.strip_prefix(b"{").unwrap_or(entry))
    }
}

/// `in [5 6], out [7], `.
fn select_entries(ready: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    ready.split(|byte| *byte == b']').flat_map(|list| {
        let at = memchr::memchr(b'[', list).unwrap_or(list.len());
        let events = list[..at].trim_ascii();
        let events = events.strip_prefix(b",").unwrap_or(events).trim_ascii();
        let fds = list.get(at + 1..).unwrap_or_default();
        fds.split(|byte| *byte == b' ').filter_map(move |fd| {
            let (fd, _) = text::descriptor(fd)?;
            Some(Entry { fd: Some(fd), token: fd as u64, events })
        })
    })
}

/// True where the poll was told not to wait.
fn has_zero_timeout(call: &Call<'_>) -> bool {
    let args = call.args;
    match call.syscall {
        Syscall::EPOLL_WAIT | Syscall::POLL => args.ends_with(b", 0"),
        Syscall::EPOLL_PWAIT => call.arg(3) == Some(b"0"),
        _ => {
            let zero: [&[u8]; 3] = [b"{tv_sec=0, tv_nsec=0}", b"{tv_sec=0, tv_usec=0}", b"{0, 0}"];
            zero.iter().any(|zero| memchr::memmem::find(args, zero).is_some())
        }
    }
}

impl Fold for Readiness {
    fn wants(&self, syscall: Syscall) -> bool {
        is_epoll(syscall) || is_poll(syscall) || is_select(syscall)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let at = seen.thread.0 as usize;
        if at >= self.loops.len() {
            self.loops.resize(at + 1, Loop::default());
        }
        match seen.call.ok() {
            Some(found) if found > 0 => {
                self.some_ready(seen, world);
                if has_zero_timeout(seen.call) {
                    self.none_ready(seen, world, false);
                }
                self.loops[at].was_empty = false;
            }
            Some(0) if has_zero_timeout(seen.call) => self.none_ready(seen, world, true),
            // It waited, or failed: no turn.
            _ => self.loops[at] = Loop { zero_row: self.loops[at].zero_row, ..Loop::default() },
        }
    }
}

#[cfg(test)]
#[path = "readiness_tests.rs"]
mod tests;
