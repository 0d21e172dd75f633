//! Answers that programs take from servers: how large each is, and the time that a thread spends on taking it and on what it
//! brought. That time begins with the answer's first bytes: what is waited for before is the server's.

use crate::Fold;
use crate::exemplar::Exemplar;
use crate::folds::in_hand::{InHand, is_in_passing};
use crate::folds::peers::{Role, role_of};
use crate::world::fds::Origin;
use crate::world::ids::{LifeId, ProcessId};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Syscall};

/// The answers of one server to one process.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Who takes them.
    pub process: ProcessId,
    /// The server's address; `the server behind fd 5` on a connection that is older than the capture, and that nothing names.
    pub peer: Box<str>,
    /// False for the latter: who asks on it nothing but the sizes tell.
    pub is_named: bool,
    /// How many began.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Bytes that the same thread wrote elsewhere right after it had read them.
    pub passed_on: u64,
    /// Reads that go on with an answer, and the time between such a read and the thread's next call on something else, ns.
    pub taking_ns: u64,
    /// How many times between calls are in it.
    pub times: u64,
    /// The largest answer, bytes.
    pub largest: u64,
    /// The last read of the largest answer.
    pub exemplar: Option<Box<Exemplar>>,
    /// The thread that takes them; `None` where several do.
    pub tid: Option<Tid>,
}

/// All answers. Bounded: servers and connections past the caps are not seen.
#[derive(Debug, Default)]
pub struct TakenAnswers {
    rows: Vec<Answers>,
    index: HashMap<(ProcessId, Box<str>), u32>,
    connections: HashMap<LifeId, Connection>,
    in_hand: InHand<Current>,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    /// `None` where the other end is a client: finding that out may take a look at all listeners, and is done once.
    row: Option<u32>,
    /// Of the answer under way; 0 before its first byte.
    bytes: u64,
}

/// What a thread works on.
#[derive(Clone, Copy, Debug)]
struct Current {
    life: LifeId,
    row: u32,
    /// What its last read brought, bytes.
    read: u64,
    /// Waits for more of the answer, ns: they count if more comes.
    waited_ns: u64,
}

impl TakenAnswers {
    const MAX_ROWS: usize = 1_024;
    const MAX_CONNECTIONS: usize = 16_384;

    /// By process and server, in order of appearance.
    pub fn rows(&self) -> &[Answers] {
        &self.rows
    }

    /// The connection of a socket to a server, with its row.
    fn connection(&mut self, seen: &Seen<'_>, world: &World) -> Option<(LifeId, u32)> {
        let id = seen.life?;
        if let Some(known) = self.connections.get(&id) {
            return Some((id, known.row?));
        }
        if self.connections.len() >= Self::MAX_CONNECTIONS {
            return None;
        }
        let life = world.fds.get(id)?;
        let is_older = life.origin == Origin::BeforeCapture && life.kind == FdKind::Socket;
        let unnamed = || is_older.then(|| format!("the server behind fd {}", life.fd));
        let is_named = life.peer().is_some();
        let name = life.peer().map(str::to_string).or_else(unnamed)?;
        if role_of(life, world) != Role::Server {
            self.connections.insert(id, Connection { row: None, bytes: 0 });
            return None;
        }
        let key = (seen.process, name.into_boxed_str());
        let row = match self.index.get(&key) {
            Some(row) => *row,
            None if self.rows.len() < Self::MAX_ROWS => {
                let row = self.rows.len() as u32;
                self.rows.push(Answers {
                    process: key.0,
                    peer: key.1.clone(),
                    is_named,
                    count: 0,
                    bytes: 0,
                    passed_on: 0,
                    taking_ns: 0,
                    times: 0,
                    largest: 0,
                    exemplar: None,
                    tid: Some(seen.call.tid),
                });
                self.index.insert(key, row);
                row
            }
            None => {
                self.connections.insert(id, Connection { row: None, bytes: 0 });
                return None;
            }
        };
        self.connections.insert(id, Connection { row: Some(row), bytes: 0 });
        Some((id, row))
    }

    /// Something came: true where it goes on with an answer.
    fn read(&mut self, seen: &Seen<'_>, life: LifeId, row: u32) -> bool {
        let (Some(connection), Some(answers)) =
            (self.connections.get_mut(&life), self.rows.get_mut(row as usize))
        else {
            return false;
        };
        let goes_on = connection.bytes > 0;
        connection.bytes = connection.bytes.saturating_add(seen.bytes);
        answers.bytes = answers.bytes.saturating_add(seen.bytes);
        answers.count += !goes_on as u64;
        answers.tid = answers.tid.filter(|tid| *tid == seen.call.tid);
        // Kept anew only where it grew by a quarter, so that each read of a large one costs nothing.
        let kept = answers.exemplar.is_some();
        if !kept || connection.bytes > answers.largest.saturating_add(answers.largest / 4) {
            answers.exemplar = Some(Box::new(Exemplar::of(seen.call)));
        }
        answers.largest = answers.largest.max(connection.bytes);
        goes_on
    }
}

impl Fold for TakenAnswers {
    fn wants(&self, _: Syscall) -> bool {
        true
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let (current, between) = match self.in_hand.of(seen) {
            Some((current, between)) => (Some(current), between),
            None => (None, None),
        };
        let moves = seen.call.syscall.info().moves;
        let on_stream = matches!(seen.kind, FdKind::Tcp | FdKind::Unix | FdKind::Socket);
        if current.is_none() && !(on_stream && moves != Moves::None) {
            return;
        }
        if let (Some(current), Some(between)) = (current, between)
            && let Some(answers) = self.rows.get_mut(current.row as usize)
        {
            answers.taking_ns = answers.taking_ns.saturating_add(between);
            answers.times += 1;
        }
        let connection = if on_stream && moves != Moves::None { self.connection(seen, world) } else { None };
        let mut next = None;
        match (connection, moves) {
            (Some((life, row)), Moves::Read) if seen.bytes > 0 && !seen.call.failed() => {
                if self.read(seen, life, row)
                    && let Some(answers) = self.rows.get_mut(row as usize)
                {
                    let waited = current.filter(|one| one.life == life).map_or(0, |one| one.waited_ns);
                    let taking = seen.call.dur.or_zero().saturating_add(waited);
                    answers.taking_ns = answers.taking_ns.saturating_add(taking);
                }
                next = Some(Current { life, row, read: seen.bytes, waited_ns: 0 });
            }
            // The next question.
            (Some((life, _)), Moves::Write | Moves::Move) => {
                if let Some(connection) = self.connections.get_mut(&life) {
                    connection.bytes = 0;
                }
            }
            _ => {
                let same = |one: &Current| seen.life == Some(one.life) && seen.call.syscall != Syscall::CLOSE;
                next = current.filter(|one| same(one) || is_in_passing(seen)).map(|one| Current {
                    waited_ns: match same(&one) {
                        true => one.waited_ns.saturating_add(seen.call.dur.or_zero()),
                        false => one.waited_ns,
                    },
                    ..one
                });
            }
        }
        if let Some(current) = current
            && matches!(moves, Moves::Write | Moves::Move)
            && seen.life != Some(current.life)
            && let Some(answers) = self.rows.get_mut(current.row as usize)
        {
            answers.passed_on = answers.passed_on.saturating_add(seen.bytes.min(current.read));
        }
        self.in_hand.put(seen, next);
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    fn push(facts: &mut Facts, at_us: u64, name: &str, args: &str, ret: i64) {
        let mut call = Call::new(name, args);
        (call.tid, call.ts, call.dur) = (1, Timestamp::new(1 + at_us * 1_000), Nanos::new(1_000));
        call.ret = Ret::Value(ret);
        facts.push(Event::Call(&call));
    }

    fn connected() -> Facts {
        let mut facts = Facts::default();
        push(&mut facts, 0, "socket", "AF_INET, SOCK_STREAM, IPPROTO_TCP", 3);
        let to = r#"3, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr("10.0.0.1")}, 16"#;
        push(&mut facts, 10, "connect", to, 0);
        facts
    }

    #[test]
    fn an_answer_reaches_to_the_next_question_and_its_time_to_the_next_call_elsewhere() {
        let mut facts = connected();
        for at in [100, 10_100] {
            push(&mut facts, at, "write", r#"3, "GET all", 7"#, 7);
            push(&mut facts, at + 50, "read", r#"3, "x"..., 65536"#, 65_536);
            push(&mut facts, at + 151, "read", r#"3, "x"..., 65536"#, 1_000);
            push(&mut facts, at + 652, "brk", "0x1000", 4_096);
            push(&mut facts, at + 1_153, "getrandom", r#""x", 1, 0"#, 1);
            push(&mut facts, at + 2_154, "openat", r#"AT_FDCWD, "/srv/a", O_RDONLY"#, 4);
        }
        facts.finish();
        let answers = &facts.answers.rows()[0];
        assert_eq!((answers.count, answers.bytes, answers.largest), (2, 2 * 66_536, 66_536));
        // 100, 500, 500 and 1,000 us between calls, and 1 us of the second read.
        assert_eq!((answers.taking_ns, answers.times), (2 * 2_101_000, 8));
        assert_eq!((answers.passed_on, answers.tid), (0, Some(1)));
    }

    #[test]
    fn what_is_written_elsewhere_is_passed_on() {
        let mut facts = connected();
        push(&mut facts, 100, "write", r#"3, "GET all", 7"#, 7);
        for at in [200, 400, 600] {
            push(&mut facts, at, "read", r#"3, "x"..., 65536"#, 65_536);
            push(&mut facts, at + 100, "write", r#"5</srv/out>, "x"..., 65536"#, 65_536);
        }
        facts.finish();
        let answers = &facts.answers.rows()[0];
        assert_eq!((answers.count, answers.bytes, answers.passed_on), (1, 3 * 65_536, 3 * 65_536));
    }
}
