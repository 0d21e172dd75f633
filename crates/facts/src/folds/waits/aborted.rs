//! Aborted answers: written to a client that had gone away, each with what its thread had waited for before.

use crate::args::WaitKind;
use crate::exemplar::Exemplar;
use crate::folds::peers::{Role, role_of};
use crate::folds::waits::LongWait;
use crate::kept::Kept;
use crate::world::fds::Origin;
use crate::world::ids::LifeId;
use crate::world::ids::{ProcessId, ThreadId};
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::syscall::{Class, Moves};
use whyslow_model::{Errno, FdKind, Nanos, Syscall, Timestamp};

/// An answer that failed because its client was gone.
#[derive(Clone, Debug)]
pub struct AbortedAnswer {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// When it wrote the answer.
    pub ts: Timestamp,
    /// The client's descriptor.
    pub fd: i32,
    /// The client's address, if known.
    pub client: Option<String>,
    /// EPIPE or ECONNRESET.
    pub errno: Errno,
    /// The call that wrote it.
    pub syscall: Syscall,
    /// When the thread read the request; unknown where that is not in the capture or was another thread.
    pub started: Timestamp,
    /// The thread's longest wait since then, or since its last failed answer. Where the request's start is
    /// unknown only a wait for a peer counts: waiting for a lock or for any event may have been idleness.
    pub wait: Option<LongWait>,
    /// The line.
    pub exemplar: Exemplar,
}

/// Answers that could not be delivered after waits for the same thing.
#[derive(Debug)]
pub struct AbortedGroup {
    cause: Box<str>,
    /// Those after the longest waits are kept.
    pub answers: Kept<AbortedAnswer>,
    /// What all of their threads waited before, ns.
    pub waited_ns: u64,
    /// The thread that wrote them; `None` where several did.
    pub tid: Option<Tid>,
}

impl AbortedGroup {
    fn new(cause: Box<str>, tid: Tid) -> AbortedGroup {
        AbortedGroup { cause, answers: Kept::default(), waited_ns: 0, tid: Some(tid) }
    }

    fn add(&mut self, answer: AbortedAnswer) {
        self.waited_ns = self.waited_ns.saturating_add(waited(&answer));
        self.tid = self.tid.filter(|tid| *tid == answer.tid);
        self.answers.add(answer, Self::KEPT, waited);
    }

    /// Kept with their lines.
    const KEPT: usize = 64;

    /// The answers that are kept, those after the longest waits first.
    pub fn longest(&self) -> Vec<&AbortedAnswer> {
        let mut answers: Vec<_> = self.answers.items().iter().collect();
        answers.sort_by_key(|answer| std::cmp::Reverse(waited(answer)));
        answers
    }
}

/// Answers that could not be delivered. Bounded: of further causes only the count is kept.
#[derive(Debug, Default)]
pub struct Aborted {
    groups: Vec<AbortedGroup>,
    /// All of them.
    pub count: u64,
    /// Failed writes to sockets of which it is unknown whether their other end is a client.
    pub unknown_ends: u64,
    threads: Vec<Since>,
}

/// What a thread waited for since its request began.
#[derive(Debug)]
struct Since {
    tid: Tid,
    started: Timestamp,
    request: Option<LifeId>,
    answered: bool,
    /// The last socket looked at, and whether it is a client's.
    looked_at: (LifeId, bool),
    for_peer: Option<Box<LongWait>>,
    for_any: Option<Box<LongWait>>,
}

impl Since {
    fn new(tid: Tid) -> Since {
        Since {
            tid,
            started: Timestamp::UNKNOWN,
            request: None,
            answered: false,
            looked_at: (LifeId::NONE, false),
            for_peer: None,
            for_any: None,
        }
    }

    fn forget(&mut self) {
        self.started = Timestamp::UNKNOWN;
        self.request = None;
        self.answered = false;
        self.for_peer = None;
        self.for_any = None;
    }

    fn serves(&mut self, seen: &Seen<'_>, world: &World) -> bool {
        let Some(id) = seen.life else { return false };
        if self.looked_at.0 != id {
            let client = world.fds.get(id).is_some_and(|life| is_client(life, world));
            self.looked_at = (id, client);
        }
        self.looked_at.1
    }
}

fn is_client(life: &crate::FdLife, world: &World) -> bool {
    life.origin == Origin::Accept || (life.peer().is_some() && role_of(life, world) == Role::Client)
}

impl Aborted {
    /// Causes that are told apart.
    const GROUPS: usize = 16;
    /// Shorter waits make no client give up.
    const SHORTEST_WAIT_NS: u64 = 10_000_000;

    /// By what their threads waited for before, those after the longest wait first.
    pub fn groups(&self) -> Vec<&AbortedGroup> {
        let longest = |group: &AbortedGroup| group.answers.items().iter().map(waited).max();
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(longest(group)));
        groups
    }

    fn since(&mut self, thread: ThreadId, tid: Tid) -> &mut Since {
        let at = thread.0 as usize;
        if at >= self.threads.len() {
            self.threads.resize_with(at + 1, || Since::new(0));
        }
        let since = &mut self.threads[at];
        if since.tid != tid {
            *since = Since::new(tid);
        }
        since
    }

    /// Sees one call; true where it is a wait that [`Aborted::waited`] wants to know.
    #[inline]
    pub(super) fn see(&mut self, seen: &Seen<'_>, world: &World) -> bool {
        let call = seen.call;
        match call.syscall.info().moves {
            Moves::Write | Moves::Move if call.errno.is_error() => {
                if matches!(call.errno, Errno::EPIPE | Errno::ECONNRESET) {
                    self.failed(seen, world);
                }
            }
            Moves::Write | Moves::Move if seen.kind.is_socket() => {
                let since = self.since(seen.thread, call.tid);
                if !since.answered && since.request.is_some() && since.request == seen.life {
                    since.answered = true;
                }
            }
            Moves::Read if seen.kind.is_socket() && seen.bytes > 0 => {
                let since = self.since(seen.thread, call.tid);
                if since.serves(seen, world) && (since.answered || since.request != seen.life) {
                    since.forget();
                    since.request = seen.life;
                    since.started = call.end();
                    if !since.started.is_known() {
                        since.started = call.ts;
                    }
                    return false;
                }
            }
            _ => {}
        }
        let ns = call.dur.or_zero();
        if ns < Self::SHORTEST_WAIT_NS || matches!(seen.waits, None | Some(WaitKind::Accept)) {
            return false;
        }
        let since = self.since(seen.thread, call.tid);
        is_longer(ns, &since.for_any) || is_longer(ns, &since.for_peer)
    }

    /// Takes a wait in.
    #[cold]
    pub(super) fn waited(&mut self, seen: &Seen<'_>, wait: LongWait) {
        let ns = wait.dur.or_zero();
        let since = self.since(seen.thread, seen.call.tid);
        if wait.kind == WaitKind::Network && wait.fd.is_some() && is_longer(ns, &since.for_peer) {
            since.for_peer = Some(Box::new(wait.clone()));
        }
        if is_longer(ns, &since.for_any) {
            since.for_any = Some(Box::new(wait));
        }
    }

    #[cold]
    fn failed(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let life = seen.life.and_then(|id| world.fds.get(id));
        // A broken pipe has a reader, no client; a socket of its own making leads to a server.
        if !(seen.kind.is_socket() || seen.kind == FdKind::Unknown)
            || life.is_some_and(|life| matches!(life.origin, Origin::Socket | Origin::Pair))
        {
            return;
        }
        let client = life.is_some_and(|life| is_client(life, world));
        if !client && !is_http_answer(call.args) {
            let socket = seen.kind.is_socket() || call.syscall.info().class == Class::Network;
            let unnamed = life.is_none_or(|life| life.peer().is_none());
            self.unknown_ends += (socket && unnamed) as u64;
            return;
        }
        let since = self.since(seen.thread, call.tid);
        let seen_start = since.request.is_some() && since.request == seen.life;
        let wait = match (seen_start, since.for_peer.take(), since.for_any.take()) {
            (_, Some(peer), None) => Some(peer),
            (true, _, any) => any,
            (false, peer, _) => peer,
        };
        let started = if seen_start { since.started } else { Timestamp::UNKNOWN };
        since.forget();
        self.count += 1;
        let answer = AbortedAnswer {
            process: seen.process,
            tid: call.tid,
            ts: call.ts,
            fd: seen.fd.unwrap_or(-1),
            client: life.and_then(|life| life.peer()).map(str::to_string),
            errno: call.errno,
            syscall: call.syscall,
            started,
            wait: wait.map(|wait| *wait),
            exemplar: Exemplar::of(call),
        };
        let cause = cause_of(&answer);
        match self.groups.iter().position(|group| *group.cause == *cause) {
            Some(at) => self.groups[at].add(answer),
            None if self.groups.len() < Self::GROUPS => {
                let mut group = AbortedGroup::new(cause.into(), answer.tid);
                group.add(answer);
                self.groups.push(group);
            }
            None => {}
        }
    }
}

/// The peer and the command that its thread waited for; empty where it waited for nothing.
fn cause_of(answer: &AbortedAnswer) -> String {
    answer.wait.as_ref().map_or(String::new(), |wait| {
        let command = wait.sent.as_deref().and_then(|sent| sent.split(' ').next());
        format!("{} {}", wait.target.as_deref().unwrap_or(wait.kind.word()), command.unwrap_or(""))
    })
}

fn waited(answer: &AbortedAnswer) -> u64 {
    answer.wait.as_ref().map_or(Nanos::ZERO, |wait| wait.dur).or_zero()
}

fn is_longer(ns: u64, known: &Option<Box<LongWait>>) -> bool {
    known.as_ref().is_none_or(|known| ns > known.dur.or_zero())
}

/// `835, "HTTP/1.1 200 …`: an answer whatever is known of the descriptor.
fn is_http_answer(args: &[u8]) -> bool {
    let head = &args[..args.len().min(64)];
    memchr::memmem::find(head, b"\"HTTP/").is_some()
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink, Timestamp};

    struct Line(u64, u32, &'static str, &'static str, i64, u64, &'static str);

    fn play(lines: &[Line]) -> Facts {
        let mut facts = Facts::default();
        for &Line(ms, tid, name, args, ret, dur_ms, note) in lines {
            let mut call = Call::new(name, args);
            call.tid = tid;
            call.ts = Timestamp::new(ms * 1_000_000);
            call.dur = Nanos::new(dur_ms * 1_000_000);
            call.ret = Ret::Value(ret.max(-1));
            call.errno = if ret < 0 { Errno(-ret as u16) } else { Errno::NONE };
            call.ret_note = note.as_bytes();
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts
    }

    const ACCEPT: Line = Line(
        1,
        7,
        "accept",
        r#"3, {sa_family=AF_INET, sin_port=htons(52220), sin_addr=inet_addr("10.0.0.9")}, [16]"#,
        5,
        0,
        "",
    );

    #[test]
    fn the_longest_wait_of_the_request_is_blamed_not_an_idle_one() {
        let facts = play(&[
            ACCEPT,
            Line(2, 7, "epoll_wait", "4, [], 8, 9000", 1, 8000, ""),
            Line(8003, 7, "read", r#"5, "GET / HTTP/1.1\r\n""#, 16, 0, ""),
            Line(8004, 7, "futex", "0x1, FUTEX_WAIT_PRIVATE, 2, NULL", 0, 1500, ""),
            Line(9600, 7, "write", r#"5, "HTTP/1.1 200 OK\r\n""#, -32, 0, ""),
        ]);
        let groups = facts.waits.aborted.groups();
        let answers = groups[0].longest();
        assert_eq!((groups.len(), answers.len(), groups[0].answers.count()), (1, 1, 1));
        assert_eq!(answers[0].client.as_deref(), Some("10.0.0.9:52220"));
        assert_eq!(answers[0].wait.as_ref().unwrap().dur, Nanos::new(1_500_000_000));
        assert_eq!(answers[0].ts.since(answers[0].started), Nanos::new(1_597_000_000));
    }

    #[test]
    fn without_the_requests_start_only_a_wait_for_a_peer_counts() {
        let write = Line(9600, 7, "write", r#"5, "HTTP/1.1 200 OK\r\n""#, -32, 0, "");
        let idle = Line(10, 7, "futex", "0x1, FUTEX_WAIT_PRIVATE, 2, NULL", 0, 9000, "");
        let facts = play(&[idle, write]);
        assert!(facts.waits.aborted.groups()[0].longest()[0].wait.is_none());
    }

    #[test]
    fn broken_pipes_and_servers_are_no_clients() {
        let facts = play(&[
            Line(1, 7, "pipe2", "[3, 4], 0", 0, 0, ""),
            Line(2, 7, "write", "4, \"x\", 1", -32, 0, ""),
            Line(3, 7, "socket", "AF_INET, SOCK_STREAM, 0", 6, 0, ""),
            Line(4, 7, "write", "6, \"x\", 1", -32, 0, ""),
        ]);
        assert_eq!(facts.waits.aborted.count, 0);
    }
}
