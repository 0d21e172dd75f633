//! Calls as the graph takes them in: which end waits, which are long, what they waited for.

use super::channels::{Ends, For};
use super::wait::{End, Ended, How, Line, LongCall, Resource, Sums, Waker};
use super::{Birth, Graph, futexes};
use crate::args::WaitKind;
use crate::args::futex::{self, is_private};
use crate::args::poll::polled_fd;
use crate::folds::readiness::ready_descriptors;
use crate::world::ids::ObjectId;
use crate::world::{Seen, World};
use crate::{LifeId, SLOW_CALL};
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{Call, CallFlags, Errno, Exit, FdKind, Syscall, Timestamp, text};

impl Graph {
    /// A call, in order of completion.
    #[inline]
    pub(super) fn take(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let long = call.dur.is_known() && call.dur >= SLOW_CALL && call.ts.is_known();
        if futex::is_futex(call.syscall) {
            return self.futex(seen, world, long);
        }
        let mut waker = None;
        if call.syscall.info().moves != Moves::None
            || call.syscall.info().fd != whyslow_model::syscall::FdArg::None
        {
            waker = self.on_descriptor(seen, world, long);
        } else if matches!(call.syscall, Syscall::CLONE | Syscall::CLONE3 | Syscall::FORK | Syscall::VFORK) {
            self.born(seen);
        } else {
            waker = self.beside_descriptors(seen, world, long);
        }
        if long {
            self.long_call(seen, world, waker);
        }
    }

    fn born(&mut self, seen: &Seen<'_>) {
        let call = seen.call;
        let Some(child) = call.ok().and_then(|ret| Tid::try_from(ret).ok()).filter(|child| *child != 0)
        else {
            return;
        };
        let birth = Birth { parent: call.tid, ts: call.ts };
        if let Some(timeline) = self.timeline_mut(child) {
            timeline.born(birth);
        }
    }

    /// Who made what this call waited for available; and whose wait this call ends.
    fn on_descriptor(&mut self, seen: &Seen<'_>, world: &World, long: bool) -> Option<Waker> {
        let call = seen.call;
        if let "flock" | "fcntl" | "fcntl64" = call.syscall.info().name {
            return self.file_lock(seen, world, long);
        }
        if call.syscall == Syscall::CLOSE {
            self.lock_closed(seen, world);
        }
        if seen.kind == FdKind::Signal {
            return if long { self.signalled(seen, world) } else { None };
        }
        if !hands_over(seen.kind) {
            return None;
        }
        let ends = self.channels.of_call(seen, world)?;
        let (writes, reads) = match call.syscall {
            Syscall::SENDMMSG => (true, false),
            Syscall::RECVMMSG => (false, true),
            Syscall::CLOSE | Syscall::SHUTDOWN => {
                let closed =
                    seen.life.and_then(|life| world.fds.get(life)).is_none_or(|life| !life.is_open());
                if closed || call.syscall == Syscall::SHUTDOWN {
                    self.gave(ends, For::Data, seen, How::Closed);
                }
                return None;
            }
            syscall => match syscall.info().moves {
                Moves::Write => (true, false),
                Moves::Read => (false, true),
                _ => return None,
            },
        };
        let waited = long && seen.waits.is_some();
        let waker = match (waited, writes) {
            (true, false) => self.channels.ended_at(ends, For::Data, seen),
            (true, true) => self.channels.ended_at(ends, For::Room, seen),
            (false, _) => None,
        };
        if call.errno.is_error() || seen.bytes == 0 && seen.kind != FdKind::Event {
            return waker;
        }
        if writes {
            self.gave(ends, For::Data, seen, How::OtherEnd);
        } else if reads {
            self.gave(ends, For::Room, seen, How::OtherEnd);
        }
        waker
    }

    fn gave(&mut self, ends: Ends, what: For, seen: &Seen<'_>, how: How) {
        if let Some(met) = self.channels.gave_at(ends, what, seen, how) {
            self.meet(met);
        }
    }

    /// A process ends and with it the last descriptors of these: who reads at the other ends sees the end. `last` is what
    /// the thread was seen to do before: the kernel closes behind that, and tells of the end later.
    pub(crate) fn closed_by_exit(
        &mut self,
        ended: &[LifeId],
        last: Timestamp,
        exit: &Exit<'_>,
        world: &World,
    ) {
        for id in ended {
            let Some(ends) = self.channels.of_life(*id, world) else { continue };
            let closed = (exit.tid, last, exit.ts);
            if let Some(met) = self.channels.moved(ends.outward, For::Data, closed, How::Closed) {
                self.meet(met);
            }
        }
    }

    fn futex(&mut self, seen: &Seen<'_>, world: &World, long: bool) {
        let call = seen.call;
        let Some((address, operation, rest)) = seen.futex else { return };
        if seen.waits.is_none() {
            if let Some(woke) = futexes::woke(call, address, operation) {
                let mut met = std::mem::take(&mut self.met);
                self.futexes.woke(seen.process, call, &woke, &mut met);
                for met in met.drain(..) {
                    self.meet(met);
                }
                self.met = met;
            }
            return;
        }
        let shared = !is_private(operation);
        let joined = joined(operation, rest, shared, call.tid).filter(|tid| world.threads.has_seen(*tid));
        let mut waker = None;
        if call.errno == Errno::NONE && joined.is_none() && !call.flags.contains(CallFlags::END_NOT_SEEN) {
            waker = self.futexes.ended(seen.process, address, shared, call);
        }
        if !long {
            return;
        }
        let what = joined.map_or(Resource::Lock { address }, |tid| Resource::Thread { tid });
        let mut kept = self.described(seen, world, what);
        kept.waker = kept.waker.or(waker);
        if let Some(tid) = joined.filter(|_| kept.waker.is_none() && kept.ended == Ended::Done) {
            let ended = self.timelines.get(&tid).and_then(|timeline| timeline.ends.last().copied());
            match ended.filter(|ts| *ts >= kept.from && *ts <= kept.to) {
                Some(ts) => kept.waker = Some(Waker { tid, ts, how: How::Exit }),
                None => self.joins(tid, &kept),
            }
        }
        self.keep(kept);
    }

    fn joins(&mut self, tid: Tid, call: &LongCall) {
        /// Of one thread's end; a parent waits once.
        const MOST: usize = 8;
        if self.joins.len() < Self::MAX_JOINS || self.joins.contains_key(&tid) {
            let waiting = self.joins.entry(tid).or_default();
            if waiting.len() < MOST {
                waiting.push((call.tid, call.from));
            }
        }
    }

    #[cold]
    fn long_call(&mut self, seen: &Seen<'_>, world: &World, waker: Option<Waker>) {
        let (what, from_poll) = self.resource(seen, world);
        let mut call = self.described(seen, world, what);
        call.waker = call.waker.or(waker).or(from_poll).filter(|_| call.ended == Ended::Done);
        if let (Resource::Child { pid: Some(pid) }, None, Ended::Done) = (call.what, call.waker, call.ended) {
            let ended = self.timelines.get(&pid).and_then(|timeline| timeline.ends.last().copied());
            match ended.filter(|ts| *ts >= call.from) {
                Some(ts) => call.waker = Some(Waker { tid: pid, ts: ts.min(call.to), how: How::Exit }),
                None => self.joins(pid, &call),
            }
        }
        if let (Resource::Peer(end), Some(_)) = (call.what, call.waits) {
            self.unnamed = Some((call.tid, end.fd));
        }
        self.keep(call);
    }

    /// What a call waited for or worked on; where a poll found descriptors ready, who made them so.
    fn resource(&mut self, seen: &Seen<'_>, world: &World) -> (Resource, Option<Waker>) {
        let call = seen.call;
        let end = |graph: &mut Graph, fd: Option<i32>| {
            let life = fd.and_then(|fd| world.life_of(seen.process, fd));
            let name = life.and_then(|life| life.target(world));
            let name = name.map_or(super::NameId::NONE, |name| graph.names.intern(&name));
            (End { fd: fd.unwrap_or(-1), name }, life.map_or(FdKind::Unknown, |life| life.kind))
        };
        let what = match seen.waits {
            Some(WaitKind::Lock) => match call.syscall.info().name {
                "flock" | "fcntl" | "fcntl64" => Resource::FileLock(end(self, seen.fd).0),
                "semop" | "semtimedop" => {
                    let set = call.arg(0).map_or(String::from("?"), text::lossy);
                    Resource::Semaphore(End {
                        fd: -1,
                        name: self.names.intern(&format!("semaphore set {set}")),
                    })
                }
                _ => Resource::Unknown,
            },
            Some(WaitKind::Network | WaitKind::Pipe | WaitKind::Other) => {
                let (end, _) = end(self, seen.fd);
                match (seen.kind, call.syscall.info().name) {
                    (FdKind::Pipe, _) => Resource::Pipe(end),
                    (FdKind::Event, _) => Resource::Event(end),
                    (FdKind::Signal, _) => Resource::Signal,
                    (kind, _) if kind.is_socket() => Resource::Peer(end),
                    (_, "pause" | "rt_sigsuspend" | "sigsuspend" | "rt_sigtimedwait") => Resource::Signal,
                    _ if seen.waits == Some(WaitKind::Network) => Resource::Peer(end),
                    _ => Resource::Unknown,
                }
            }
            Some(WaitKind::Timer) => Resource::Timer,
            Some(WaitKind::Child) => {
                let pid = call.ok().and_then(|ret| Tid::try_from(ret).ok()).filter(|pid| *pid != 0);
                let waits_still = call.flags.contains(CallFlags::END_NOT_SEEN);
                let pid =
                    pid.or_else(|| waited_child(call.args).filter(|_| call.ok() == Some(0) || waits_still));
                Resource::Child { pid }
            }
            Some(WaitKind::Accept) => Resource::Accept(end(self, seen.fd).0),
            Some(WaitKind::Poll) => return self.polled(seen, world, end),
            None => match (seen.file, seen.fd) {
                (Some(file), fd) => {
                    let name = self.names.intern(&world.files.get(file).path);
                    Resource::File(End { fd: fd.unwrap_or(-1), name })
                }
                (None, Some(_)) if hands_over(seen.kind) => Resource::Peer(end(self, seen.fd).0),
                (None, Some(_)) => Resource::File(end(self, seen.fd).0),
                (None, None) => Resource::Call,
            },
        };
        (what, None)
    }

    fn polled(
        &mut self,
        seen: &Seen<'_>,
        world: &World,
        end: impl Fn(&mut Graph, Option<i32>) -> (End, FdKind),
    ) -> (Resource, Option<Waker>) {
        let call = seen.call;
        if timed_out(seen) {
            // A limit on one answer is still a wait for that one.
            return match polled_fd(call.args) {
                Some(fd) => (of_kind(end(self, Some(fd))), None),
                None => (Resource::Timer, None),
            };
        }
        let mut first: Option<(i32, Option<Waker>)> = None;
        ready_descriptors(seen, world, |fd, readable| {
            let life = world.threads.process(seen.process).slots.get(fd);
            let ends = life.and_then(|life| self.channels.of_life(life, world));
            let waker = ends.and_then(|ends| match readable {
                true => self.channels.ended_at(ends, For::Data, seen),
                false => self.channels.ended_at(ends, For::Room, seen),
            });
            let earlier = match (&first, &waker) {
                (Some((_, Some(known))), Some(waker)) => waker.ts < known.ts,
                (Some((_, known)), waker) => known.is_none() && waker.is_some(),
                (None, _) => true,
            };
            if earlier {
                first = Some((fd, waker));
            }
        });
        match first {
            Some((fd, waker)) => (of_kind(end(self, Some(fd))), waker),
            None => match polled_fd(call.args) {
                Some(fd) => (of_kind(end(self, Some(fd))), None),
                None => (Resource::Several, None),
            },
        }
    }

    /// The long call, without who ended it but for what the kernel told.
    fn described(&mut self, seen: &Seen<'_>, world: &World, what: Resource) -> LongCall {
        let call = seen.call;
        let thread = world.threads.thread(seen.thread);
        let own = call.dur.or_zero();
        let mut before = Sums {
            working_ns: thread.working_ns,
            waiting_ns: thread.waiting_ns,
            runnable_ns: thread.sched.as_ref().map_or(0, |sched| sched.runnable_ns),
        };
        let sum = match seen.waits {
            Some(kind) => &mut before.waiting_ns[kind as usize],
            None => &mut before.working_ns,
        };
        *sum = sum.saturating_sub(own);
        let ended = match call.errno {
            _ if call.flags.contains(CallFlags::END_NOT_SEEN) => Ended::NotYet,
            Errno::ETIMEDOUT => Ended::TimedOut,
            _ if timed_out(seen) => Ended::TimedOut,
            // That is what these wait for.
            errno if (errno == Errno::EINTR || errno.is_restart()) && super::others::ends_by_signal(call) => {
                Ended::Done
            }
            Errno::EINTR => Ended::Interrupted,
            errno if errno.is_restart() => Ended::Interrupted,
            _ => Ended::Done,
        };
        let (waker, by_interrupt) = match ended {
            Ended::Done => self.woken(call.tid, call.ts, call.end()),
            _ => (None, false),
        };
        LongCall {
            process: seen.process,
            tid: call.tid,
            from: call.ts,
            to: call.end(),
            syscall: call.syscall,
            waits: seen.waits,
            what,
            object: ObjectId::NONE,
            fd_kind: seen.kind,
            asked: super::NameId::NONE,
            ended,
            waker: waker.filter(|_| seen.waits.is_some()),
            by_interrupt,
            bytes: seen.bytes,
            held: futex::is_futex(call.syscall) && futex::waits_for_mutex(call.args),
            owner: if futex::is_futex(call.syscall) { futex::owner(call.args) } else { None },
            limited: has_limit(call),
            line: Line { source: call.source, line: call.line, end_line: call.end_line },
            before,
        }
    }

    /// A call whose end is not in the capture: if it waits, it waits still.
    #[cold]
    pub(crate) fn unfinished(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        // A connection that is being made waits for the other end, though such calls are no waits as a rule: most return at once.
        let may_wait = seen.waits.is_some() || call.syscall == Syscall::CONNECT;
        let waits = may_wait && call.ts.is_known() && !call.dur.is_known();
        if !waits || world.threads.is_rest(seen.thread) {
            return;
        }
        let what = match seen.futex {
            Some((address, operation, rest)) => {
                let joined = joined(operation, rest, !is_private(operation), call.tid);
                let joined = joined.filter(|tid| world.threads.has_seen(*tid));
                joined.map_or(Resource::Lock { address }, |tid| Resource::Thread { tid })
            }
            None => self.resource(seen, world).0,
        };
        let mut kept = self.described(seen, world, what);
        kept.to = Timestamp::UNKNOWN;
        if let Some(timeline) = self.timeline_mut(call.tid) {
            timeline.keep(kept);
            self.count_kept();
        }
    }
}

/// The thread whose end a futex wait is for: the kernel clears the word that holds its number and wakes there
/// (CLONE_CHILD_CLEARTID, set_tid_address(2)). glibc waits in memory that is not private (nptl/pthread_join_common.c).
fn joined(operation: &[u8], rest: &[u8], shared: bool, own: Tid) -> Option<Tid> {
    if !shared || !operation.starts_with(b"FUTEX_WAIT") {
        return None;
    }
    let (value, _) = text::decimal(rest)?;
    // 1 and 2 are the values of locks.
    Tid::try_from(value).ok().filter(|tid| *tid > 2 && *tid != own)
}

/// The child of `waitid(P_PID, 12, …)` and of `wait4(12, …)`; less than 1 stands for any of several.
fn waited_child(args: &[u8]) -> Option<Tid> {
    let rest = args.strip_prefix(b"P_PID, ").unwrap_or(args);
    text::decimal(rest).and_then(|(pid, _)| Tid::try_from(pid).ok()).filter(|pid| *pid > 0)
}

/// True where a wait ends by itself: the futex calls and semtimedop take a time, or NULL, as their fourth argument; poll
/// and its like are taken for limited.
fn has_limit(call: &Call<'_>) -> bool {
    let limit = |at: usize| call.arg(at).is_some_and(|limit| limit != b"NULL");
    match call.syscall.info().name {
        "futex" | "futex_time64" | "semtimedop" | "rt_sigtimedwait" => limit(3),
        "wait4" | "waitpid" | "waitid" | "flock" | "fcntl" | "fcntl64" | "semop" | "connect" => false,
        _ => call.syscall.info().moves == Moves::None,
    }
}

/// Kinds that lead to another thread's calls.
fn hands_over(kind: FdKind) -> bool {
    use FdKind::*;
    matches!(kind, Pipe | Event | Tcp | Udp | Unix | Socket)
}

fn of_kind((end, kind): (End, FdKind)) -> Resource {
    match kind {
        FdKind::Pipe => Resource::Pipe(end),
        FdKind::Event => Resource::Event(end),
        FdKind::Timer => Resource::Timer,
        FdKind::Signal => Resource::Signal,
        kind if kind.is_socket() => Resource::Peer(end),
        _ => Resource::Several,
    }
}

/// A poll, select or epoll that brought nothing, a sleep that was slept out.
fn timed_out(seen: &Seen<'_>) -> bool {
    let call = seen.call;
    call.ret_note.starts_with(b"(Timeout)")
        || seen.waits == Some(WaitKind::Poll) && call.ok() == Some(0)
        || call.errno == Errno::EAGAIN && seen.waits.is_some() && seen.kind.is_socket()
}
