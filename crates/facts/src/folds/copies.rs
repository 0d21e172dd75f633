//! Loops that read a file and write the same bytes to a socket.

use crate::Fold;
use crate::exemplar::Exemplar;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Nanos, Syscall, text};

/// What one thread copied.
#[derive(Debug)]
pub struct Copies {
    /// The process.
    pub process: ProcessId,
    /// The thread.
    pub tid: Tid,
    /// Reads whose bytes were all written to a socket by the next call that moves data.
    pub pairs: u64,
    /// Bytes copied so.
    pub bytes: u64,
    /// Time in the reads and writes of those pairs, ns.
    pub ns: u64,
    /// Pairs whose duration is known.
    pub timed: u64,
    /// The file of the first.
    pub from: Option<Box<str>>,
    /// The other end of the first.
    pub to: Option<Box<str>>,
    /// The read and the write of the first.
    pub lines: Option<Box<(Exemplar, Exemplar)>>,
}

impl Copies {
    /// Time in reads and writes; unknown where no duration is.
    pub fn time(&self) -> Nanos {
        if self.timed == 0 { Nanos::UNKNOWN } else { Nanos::new(self.ns) }
    }
}

/// The last read of a file by a thread.
#[derive(Clone, Debug, Default)]
struct Pending {
    tid: Tid,
    /// Bytes; 0 for none.
    bytes: u64,
    ns: Nanos,
    /// The first bytes as the capture shows them.
    head: [u8; Pending::HEAD],
    len: u8,
    /// Its line, for the first pair of a thread.
    line: Option<Box<(Exemplar, Option<Box<str>>)>>,
    /// Row, from 1.
    row: u32,
}

impl Pending {
    const HEAD: usize = 32;
}

/// Copies by thread.
#[derive(Debug, Default)]
pub struct CopyLoops {
    /// The rows.
    pub rows: Vec<Copies>,
    threads: Vec<Pending>,
}

impl CopyLoops {
    /// Threads told apart.
    const MAX_ROWS: usize = 1_024;
    /// Smaller pieces are messages, not copies.
    const SMALLEST: u64 = 1_024;

    fn write(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let state = &mut self.threads[seen.thread.0 as usize];
        let bytes = std::mem::take(&mut state.bytes);
        if bytes == 0 || bytes != seen.bytes || !seen.kind.is_socket() {
            return;
        }
        // Without the bytes nothing tells that they are the same.
        let head = head(call.args);
        let shown = head.len().min(state.len as usize);
        if shown == 0 || head[..shown] != state.head[..shown] {
            return;
        }
        if state.row == 0 {
            if self.rows.len() >= Self::MAX_ROWS {
                return;
            }
            let (line, from) = match state.line.take() {
                Some(line) => (Some(line.0), line.1),
                None => (None, None),
            };
            let to = seen.life.and_then(|life| world.fds.get(life)).and_then(|life| life.target(world));
            self.rows.push(Copies {
                process: seen.process,
                tid: call.tid,
                pairs: 0,
                bytes: 0,
                ns: 0,
                timed: 0,
                from,
                to: to.map(Into::into),
                lines: line.map(|line| Box::new((line, Exemplar::of(call)))),
            });
            state.row = self.rows.len() as u32;
        }
        let row = &mut self.rows[state.row as usize - 1];
        row.pairs += 1;
        row.bytes = row.bytes.saturating_add(bytes);
        if let (Some(read), Some(write)) = (state.ns.get(), call.dur.get()) {
            row.timed += 1;
            row.ns = row.ns.saturating_add(read).saturating_add(write);
        }
    }
}

/// The first bytes of the payload, as the capture shows them.
fn head(args: &[u8]) -> &[u8] {
    let from = memchr::memchr(b'"', args).unwrap_or(args.len());
    let shown = text::quoted(&args[from..]).map_or(&b""[..], |(shown, _)| shown);
    &shown[..shown.len().min(Pending::HEAD)]
}

impl Fold for CopyLoops {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::READ | Syscall::PREAD64 | Syscall::WRITE | Syscall::SENDTO | Syscall::SEND)
    }

    #[inline]
    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let at = seen.thread.0 as usize;
        if at >= self.threads.len() {
            self.threads.resize(at + 1, Pending::default());
        }
        if self.threads[at].tid != seen.call.tid {
            // The place of a thread that ended was given to another one.
            self.threads[at] = Pending { tid: seen.call.tid, ..Pending::default() };
        }
        if seen.call.syscall.info().moves == Moves::Write {
            return self.write(seen, world);
        }
        let state = &mut self.threads[at];
        state.bytes = 0;
        if seen.kind == FdKind::File && seen.bytes >= Self::SMALLEST {
            let head = head(seen.call.args);
            (state.bytes, state.ns, state.len) = (seen.bytes, seen.call.dur, head.len() as u8);
            state.head[..head.len()].copy_from_slice(head);
            if state.row == 0 {
                let from = seen.life.and_then(|life| world.fds.get(life)).and_then(|life| life.target(world));
                state.line = Some(Box::new((Exemplar::of(seen.call), from.map(Into::into))));
            }
        }
    }
}
