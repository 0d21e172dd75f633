//! Large answers of servers, by what came at a time: on connections that were idle before, and on others.

use super::fold::Fold;
use crate::exemplar::Exemplar;
use crate::world::fds::Origin;
use crate::world::ids::{LifeId, ProcessId};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{CallStats, FdKind, Nanos, Syscall, Timestamp};

/// Answers of one server to a process.
#[derive(Debug)]
pub struct IdleAnswer {
    /// The process.
    pub process: ProcessId,
    /// The server.
    pub peer: Box<str>,
    /// Large answers after a pause that came in pieces, each much larger than the one before: from the first byte to the last; bytes.
    pub growing: CallStats,
    /// Pieces of those.
    pub pieces: u64,
    /// All large answers after a pause.
    pub after_pause: u64,
    /// Large answers without a pause before them, but for the first of each connection: from the first byte to the last.
    pub others: CallStats,
    /// Pieces of those.
    pub other_pieces: u64,
    /// Pauses before those that grew, ns.
    pub idle_ns: u64,
    /// Time between two pieces, ns.
    pub gaps_ns: u64,
    /// How many.
    pub gaps: u64,
    /// The first thread.
    pub tid: Tid,
    /// Another one did too.
    pub shared: bool,
    /// The request before the slowest answer, and the read that ended it.
    pub lines: Vec<Exemplar>,
}

/// One connection.
#[derive(Debug)]
struct Line {
    /// The last byte either way.
    used: Timestamp,
    answers: u32,
    idle: Nanos,
    asked: Option<Exemplar>,
    first: Timestamp,
    last: Timestamp,
    last_line: Option<Exemplar>,
    bytes: u64,
    /// Bytes of each piece, and the time before it, ns; of the first pieces.
    pieces: [(u64, u64); Line::PIECES],
    count: usize,
    tid: Tid,
}

impl Line {
    const PIECES: usize = 8;

    fn new() -> Line {
        Line {
            used: Timestamp::UNKNOWN,
            answers: 0,
            idle: Nanos::UNKNOWN,
            asked: None,
            first: Timestamp::UNKNOWN,
            last: Timestamp::UNKNOWN,
            last_line: None,
            bytes: 0,
            pieces: [(0, 0); Line::PIECES],
            count: 0,
            tid: 0,
        }
    }

    /// True where the pieces come at one interval, and each is much larger than the one before, as a sender's window grows: it doubles with
    /// each round trip. The last piece is what is left.
    fn grows(&self) -> bool {
        /// A window that doubles, of which a part may be read with the piece before.
        const GROWTH: f64 = 1.4;
        /// Of the longest interval, the shortest.
        const EVEN: f64 = 0.4;
        let pieces = &self.pieces[..self.count.min(Line::PIECES)];
        let Some((_, whole)) = pieces.split_last().filter(|(_, rest)| rest.len() >= 2) else { return false };
        let grows = whole.windows(2).all(|two| two[1].0 as f64 >= GROWTH * two[0].0 as f64);
        let gaps = || pieces[1..].iter().map(|piece| piece.1);
        let (shortest, longest) = (gaps().min().unwrap_or(0), gaps().max().unwrap_or(0));
        grows && shortest as f64 >= EVEN * longest as f64 && whole[0].0 <= IdleAnswers::FIRST_WINDOW
    }
}

/// All of them. Bounded.
#[derive(Debug, Default)]
pub struct IdleAnswers {
    /// By process and server.
    pub rows: Vec<IdleAnswer>,
    lines: HashMap<LifeId, Line, foldhash::fast::RandomState>,
}

impl IdleAnswers {
    /// An answer that does not fit into a first window and twice that.
    const LARGE: u64 = 48 * 1024;
    /// The first window has ten segments (RFC 6928), of 1,460 bytes, or of jumbo frames.
    const FIRST_WINDOW: u64 = 10 * 9_000;
    /// The kernel forgets a window after its retransmission timeout, which is 200 ms and a round trip at least (net.ipv4.tcp_slow_start_after_idle).
    const IDLE_NS: u64 = 300_000_000;
    /// What comes within this time after another is of one piece: shorter round trips cost little.
    const APART_NS: u64 = 5_000_000;
    const MAX_ROWS: usize = 512;
    const MAX_LINES: usize = 8_192;
    /// The first answers of a connection have a window that grows anyway.
    const FIRST_ANSWERS: u32 = 2;

    fn asks(&mut self, seen: &Seen<'_>, life: LifeId, world: &World) {
        self.ends(seen.process, life, world);
        let full = self.lines.len() >= Self::MAX_LINES && !self.lines.contains_key(&life);
        if full {
            return;
        }
        let line = self.lines.entry(life).or_insert_with(Line::new);
        if line.bytes == 0 && line.asked.is_some() {
            // More of the same request.
            line.used = seen.call.end();
            return;
        }
        line.idle = seen.call.ts.since(line.used);
        line.asked = Some(Exemplar::of(seen.call));
        (line.bytes, line.count, line.first, line.tid) = (0, 0, Timestamp::UNKNOWN, seen.call.tid);
        line.used = seen.call.end();
    }

    fn brings(&mut self, seen: &Seen<'_>, life: LifeId) {
        let Some(line) = self.lines.get_mut(&life).filter(|line| line.asked.is_some()) else { return };
        let at = seen.call.end();
        let gap = if line.first.is_known() { at.since(line.last) } else { Nanos::ZERO };
        if !line.first.is_known() {
            (line.first, line.count) = (at, 1);
            line.pieces = [(0, 0); Line::PIECES];
        } else if gap.or_zero() >= Self::APART_NS {
            line.count += 1;
            if let Some(piece) = line.pieces.get_mut(line.count - 1) {
                piece.1 = gap.or_zero();
            }
            line.last_line = Some(Exemplar::of(seen.call));
        }
        if let Some(piece) = line.pieces.get_mut(line.count.wrapping_sub(1)) {
            piece.0 = piece.0.saturating_add(seen.bytes);
        }
        line.bytes = line.bytes.saturating_add(seen.bytes);
        (line.last, line.used) = (at, at);
    }

    fn ends(&mut self, process: ProcessId, life: LifeId, world: &World) {
        let Some(line) = self.lines.get_mut(&life).filter(|line| line.bytes > 0) else { return };
        let Some(asked) = line.asked.take() else { return };
        line.answers += 1;
        let (bytes, took) = (std::mem::take(&mut line.bytes), line.last.since(line.first));
        let opened_before = world.fds.get(life).is_some_and(|life| life.origin == Origin::BeforeCapture);
        if bytes < Self::LARGE || line.answers <= Self::FIRST_ANSWERS && !opened_before {
            return;
        }
        let Some(peer) = world.fds.get(life).and_then(|known| known.peer()) else { return };
        let known = self.rows.iter().position(|row| row.process == process && *row.peer == *peer);
        let at = match known {
            Some(at) => at,
            None if self.rows.len() >= Self::MAX_ROWS => return,
            None => {
                self.rows.push(IdleAnswer {
                    process,
                    peer: peer.into(),
                    growing: CallStats::default(),
                    pieces: 0,
                    after_pause: 0,
                    others: CallStats::default(),
                    other_pieces: 0,
                    idle_ns: 0,
                    gaps_ns: 0,
                    gaps: 0,
                    tid: line.tid,
                    shared: false,
                    lines: Vec::new(),
                });
                self.rows.len() - 1
            }
        };
        let row = &mut self.rows[at];
        row.shared |= row.tid != line.tid;
        let pieces = line.count as u64;
        if line.idle.get().is_none_or(|idle| idle < Self::IDLE_NS) {
            row.others.record(took, false, bytes);
            row.other_pieces = row.other_pieces.saturating_add(pieces);
            return;
        }
        row.after_pause += 1;
        if !line.grows() {
            return;
        }
        if row.lines.is_empty() || took > row.growing.max() {
            row.lines = [Some(asked), line.last_line.take()].into_iter().flatten().collect();
        }
        row.growing.record(took, false, bytes);
        row.pieces = row.pieces.saturating_add(pieces);
        row.idle_ns = row.idle_ns.saturating_add(line.idle.or_zero());
        for (_, gap) in &line.pieces[1..line.count.min(Line::PIECES)] {
            row.gaps_ns = row.gaps_ns.saturating_add(*gap);
            row.gaps += 1;
        }
    }
}

impl Fold for IdleAnswers {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall.info().moves, Moves::Read | Moves::Write) || syscall == Syscall::CLOSE
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        if !matches!(seen.kind, FdKind::Tcp | FdKind::Socket) || seen.call.ok().is_none() {
            return;
        }
        let Some(life) = seen.life else { return };
        match seen.call.syscall.info().moves {
            Moves::Write => self.asks(seen, life, world),
            Moves::Read if seen.bytes > 0 => self.brings(seen, life),
            Moves::Read => {}
            _ => {
                if !self.lines.is_empty() {
                    self.ends(seen.process, life, world);
                    self.lines.remove(&life);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink};

    #[test]
    fn an_answer_after_a_pause_comes_in_pieces_that_double() {
        let to = r#"3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16"#;
        let mut calls =
            vec![(0u64, "socket", "AF_INET, SOCK_STREAM, IPPROTO_TCP", 3i64), (1, "connect", to, 0)];
        let mut at = 10;
        for (pause, sizes) in
            [(0, &[90_000][..]), (0, &[90_000]), (1_000, &[14_000, 28_000, 56_000, 9_000]), (0, &[107_000])]
        {
            at += pause;
            calls.push((at, "write", r#"3, "get", 3"#, 3));
            for size in sizes {
                at += 40;
                calls.push((at, "read", r#"3, "x"..., 65536"#, *size));
            }
            at += 5;
        }
        calls.push((at, "close", "3", 0));
        let mut facts = Facts::default();
        for (ms, name, args, ret) in calls {
            let ts = Timestamp::new(1_000_000_000 + ms * 1_000_000);
            let call = Call { tid: 9, ts, dur: Nanos::ZERO, ret: Ret::Value(ret), ..Call::new(name, args) };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let [row] = &facts.idle_answers.rows[..] else { panic!("{:?}", facts.idle_answers.rows) };
        assert_eq!((row.growing.count, row.pieces, row.after_pause), (1, 4, 1));
        assert_eq!((row.growing.total(), row.others.count), (Nanos::from_millis(120), 1));
    }
}
