//! Threads that accept connections and sleep between: what came meanwhile waited in the listening socket's queue, and is taken all at once
//! afterwards.

use crate::Fold;
use crate::exemplar::Exemplar;
use crate::folds::sleeps::asked_for;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::{Errno, Nanos, Syscall, text};

/// What one thread took from one listening socket.
#[derive(Clone, Debug)]
pub struct LateAccepts {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// The listening descriptor.
    pub fd: i32,
    /// Its address, if known.
    pub local: Option<Box<str>>,
    /// Sleeps of [`AcceptsAfterSleeps::SHORTEST`] and more before which and after which it accepted.
    pub sleeps: u64,
    /// Of these, those after which two connections and more were there at once.
    pub late: u64,
    /// Time in these, ns.
    pub late_ns: u64,
    /// Connections that were there after them: the fewest and the most, and all of them.
    pub fewest: u64,
    /// The most.
    pub most: u64,
    /// All of them.
    pub connections: u64,
    /// The longest of those sleeps.
    pub sleep_line: Exemplar,
    longest_ns: u64,
    /// The first connection that was there after it.
    pub accept_line: Option<Exemplar>,
}

/// All threads that accept.
#[derive(Debug, Default)]
pub struct AcceptsAfterSleeps {
    /// By thread and listening socket.
    pub rows: Vec<LateAccepts>,
    /// By the place of a thread.
    threads: Vec<Acceptor>,
}

/// What a thread that accepts is at.
#[derive(Clone, Debug, Default)]
struct Acceptor {
    /// The descriptor that it accepted from; `None`: it did not yet.
    fd: Option<i32>,
    /// The sleep that the present connections came in, ns; 0 where it waited for them.
    slept_ns: u64,
    line: Option<Box<Exemplar>>,
    /// Connections since then, each of them there already.
    taken: u64,
    accept_line: Option<Box<Exemplar>>,
}

impl AcceptsAfterSleeps {
    const MAX_ROWS: usize = 256;
    /// A shorter sleep keeps nobody waiting.
    pub const SHORTEST: Nanos = Nanos::from_millis(10);
    /// What takes longer has waited for its connection.
    const AT_ONCE: Nanos = Nanos::from_millis(1);

    fn settle(&mut self, seen: &Seen<'_>, world: &World) {
        let acceptor = &mut self.threads[seen.thread.0 as usize];
        let done = std::mem::take(acceptor);
        acceptor.fd = done.fd;
        let (Some(fd), Some(sleep)) = (done.fd, done.line) else { return };
        if done.slept_ns == 0 || done.taken == 0 {
            return;
        }
        let fits =
            |row: &LateAccepts| row.tid == seen.call.tid && row.process == seen.process && row.fd == fd;
        let at = match self.rows.iter().position(fits) {
            Some(at) => at,
            None if self.rows.len() < Self::MAX_ROWS => {
                let life = world.threads.process(seen.process).slots.get(fd);
                let local = life.and_then(|life| world.fds.get(life)?.local().map(Box::from));
                self.rows.push(LateAccepts {
                    process: seen.process,
                    tid: seen.call.tid,
                    fd,
                    local,
                    sleeps: 0,
                    late: 0,
                    late_ns: 0,
                    fewest: u64::MAX,
                    most: 0,
                    connections: 0,
                    sleep_line: (*sleep).clone(),
                    longest_ns: 0,
                    accept_line: None,
                });
                self.rows.len() - 1
            }
            None => return,
        };
        let row = &mut self.rows[at];
        row.sleeps += 1;
        if done.taken < 2 {
            return;
        }
        row.late += 1;
        row.late_ns = row.late_ns.saturating_add(done.slept_ns);
        row.connections = row.connections.saturating_add(done.taken);
        (row.fewest, row.most) = (row.fewest.min(done.taken), row.most.max(done.taken));
        if done.slept_ns > row.longest_ns.saturating_add(row.longest_ns / 4) {
            row.longest_ns = done.slept_ns;
            (row.sleep_line, row.accept_line) = (*sleep, done.accept_line.map(|line| *line));
        }
    }

    fn accepted(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        // `4`, or `4<socket:[5584219]>`.
        let Some(fd) = text::decimal(call.args).and_then(|(fd, _)| i32::try_from(fd).ok()) else { return };
        let at = seen.thread.0 as usize;
        if at >= self.threads.len() {
            self.threads.resize_with(at + 1, Acceptor::default);
        }
        let waited = call.dur.is_known() && call.dur > Self::AT_ONCE;
        let acceptor = &mut self.threads[at];
        if waited || call.errno.is_error() || acceptor.fd.is_some_and(|known| known != fd) {
            // All that was there is taken.
            self.settle(seen, world);
            let acceptor = &mut self.threads[at];
            acceptor.fd = Some(fd);
            return;
        }
        acceptor.fd = Some(fd);
        acceptor.taken += 1;
        if acceptor.taken == 1 && acceptor.slept_ns > 0 {
            acceptor.accept_line = Some(Box::new(Exemplar::of(call)));
        }
    }

    /// A wait of a thread that accepts.
    fn waited(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let accepts = self.threads.get(seen.thread.0 as usize).is_some_and(|acceptor| acceptor.fd.is_some());
        if !accepts || !call.dur.is_known() || call.dur <= Self::AT_ONCE {
            return;
        }
        // With connections taken since the last one, it ends what they were counted for.
        if self.threads[seen.thread.0 as usize].taken > 0 {
            self.settle(seen, world);
        }
        let acceptor = &mut self.threads[seen.thread.0 as usize];
        let sleeps =
            asked_for(call).is_some() || call.syscall == Syscall::FUTEX && call.errno == Errno::ETIMEDOUT;
        if !sleeps {
            // It waited for connections, or for somebody else.
            (acceptor.slept_ns, acceptor.line) = (0, None);
        } else if call.dur >= Self::SHORTEST {
            acceptor.slept_ns = acceptor.slept_ns.saturating_add(call.dur.or_zero());
            acceptor.line = Some(Box::new(Exemplar::of(call)));
        }
    }
}

impl Fold for AcceptsAfterSleeps {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::ACCEPT | Syscall::ACCEPT4) || super::sleeps::is_sleep(syscall)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        match seen.call.syscall {
            Syscall::ACCEPT | Syscall::ACCEPT4 => self.accepted(seen, world),
            _ => self.waited(seen, world),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink, Timestamp};

    fn play(lines: &[(&str, &str, i64, u64)]) -> Facts {
        let (mut facts, mut at) = (Facts::default(), 1_000);
        for (name, args, ret, dur_us) in lines {
            let mut call = Call::new(name, args);
            (call.tid, call.ts, call.dur) = (7, Timestamp::new(at), Nanos::new(dur_us * 1_000));
            call.ret = Ret::Value((*ret).max(-1));
            call.errno = if *ret < 0 { Errno((-ret) as u16) } else { Errno::NONE };
            facts.push(Event::Call(&call));
            at += dur_us * 1_000 + 1_000;
        }
        facts.finish();
        facts
    }

    const SLEEP: (&str, &str, i64, u64) = ("nanosleep", "{tv_sec=0, tv_nsec=100000000}, NULL", 0, 100_000);
    const TAKE: (&str, &str, i64, u64) = ("accept", "4, NULL, NULL", 5, 10);

    #[test]
    fn what_is_there_after_a_sleep_has_waited() {
        let facts = play(&[TAKE, SLEEP, TAKE, TAKE, TAKE, SLEEP, TAKE, TAKE, SLEEP, TAKE, SLEEP]);
        let row = &facts.late_accepts.rows[0];
        assert_eq!((row.sleeps, row.late, row.late_ns, row.fd), (3, 2, 200_000_000, 4));
        assert_eq!((row.fewest, row.most, row.connections), (2, 3, 5));
    }

    #[test]
    fn connections_that_are_waited_for_are_not_late() {
        let poll = ("poll", "[{fd=4, events=POLLIN}], 1, -1", 1, 50_000);
        assert!(
            play(&[TAKE, SLEEP, poll, TAKE, TAKE, SLEEP, poll, TAKE, SLEEP]).late_accepts.rows.is_empty()
        );
        let named = ("accept", "4<socket:[558]>, NULL, NULL", 5, 10);
        assert_eq!(play(&[named, SLEEP, named, named, SLEEP]).late_accepts.rows[0].fd, 4);
        let slow = ("accept", "4, NULL, NULL", 5, 50_000);
        assert!(play(&[slow, SLEEP, slow, slow, SLEEP, slow, SLEEP]).late_accepts.rows.is_empty());
    }
}
