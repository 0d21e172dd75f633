//! One trace read by one or more workers: lines are parsed side by side, their records assembled in turn.
//!
//! Each worker takes the next batch, parses it, waits until the batch before it is assembled, then assembles its
//! own into the sink. So the parsing of one batch runs beside the assembly (and the sink's work) of another, and
//! the work is shared whatever the ratio of the two.

use super::assemble::Assembler;
use super::batch::{Batch, Batches};
use super::line::{Dialect, LineParser};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use whyslow_model::Sink;

/// Bytes of a batch for one worker: text and records stay in the second-level cache.
pub(crate) const BATCH: usize = 192 << 10;
/// Bytes of a batch for several: large against the time that one takes to wake another (some 100 us).
pub(crate) const SHARED_BATCH: usize = 512 << 10;

/// Reads all batches into `sink` with the caller's thread.
pub(crate) fn run_alone(
    batches: &mut Batches<'_>,
    dialect: Dialect,
    assembler: &mut Assembler,
    sink: &mut dyn Sink,
) -> io::Result<()> {
    let (mut parser, mut batch) = (LineParser::new(dialect), Batch::default());
    while batches.fill(&mut batch)? {
        while parser.parse(&mut batch) {
            assemble(&batch, assembler, sink);
        }
    }
    Ok(())
}

/// Reads all batches into `sink` with `threads` workers, the caller's thread being one.
pub(crate) fn run(
    batches: &mut Batches<'_>,
    dialect: Dialect,
    assembler: &mut Assembler,
    threads: usize,
    sink: &mut (dyn Sink + Send),
) -> io::Result<()> {
    if threads <= 1 {
        return run_alone(batches, dialect, assembler, sink);
    }
    let shared = Shared {
        input: Mutex::new((batches, 0)),
        output: Mutex::new((assembler, sink)),
        turn: AtomicU64::new(0),
        waiting: Mutex::new(()),
        turned: Condvar::new(),
    };
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(|| shared.work(dialect))).collect();
        let result = shared.work(dialect);
        helpers.into_iter().fold(result, |result, helper| match helper.join() {
            Ok(other) => result.and(other),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// Hands the records of a batch, which may go afterwards, to the assembler.
pub(crate) fn assemble(batch: &Batch, assembler: &mut Assembler, sink: &mut dyn Sink) {
    let Some((last, records)) = batch.records.split_last() else { return };
    for record in records {
        assembler.take(&batch.text, record, sink);
    }
    if batch.ends_unended() && assembler.is_cut(&batch.text, last) {
        assembler.take_cut(&batch.text, last, sink);
    } else {
        assembler.take(&batch.text, last, sink);
    }
    assembler.leave(&batch.text);
}

/// What the workers share.
struct Shared<'a, 'b> {
    /// The batches, and the number of the next.
    input: Mutex<(&'a mut Batches<'b>, u64)>,
    output: Mutex<(&'a mut Assembler, &'a mut (dyn Sink + Send))>,
    /// The number of the batch that may be assembled.
    turn: AtomicU64,
    waiting: Mutex<()>,
    turned: Condvar,
}

/// The turn after a worker died: nobody's.
const BROKEN: u64 = u64::MAX;

impl Shared<'_, '_> {
    fn work(&self, dialect: Dialect) -> io::Result<()> {
        let (mut parser, mut batch) = (LineParser::new(dialect), Batch::default());
        let guard = BreakOnPanic(self);
        let result = loop {
            let number = {
                let mut input = lock(&self.input);
                match input.0.fill(&mut batch) {
                    Ok(true) => {}
                    Ok(false) => break Ok(()),
                    Err(error) => break Err(error),
                }
                input.1 += 1;
                input.1 - 1
            };
            let mut more = parser.parse(&mut batch);
            if !self.wait_for(number) {
                break Ok(());
            }
            {
                let mut output = lock(&self.output);
                let (assembler, sink) = &mut *output;
                while more {
                    assemble(&batch, assembler, *sink);
                    more = parser.parse(&mut batch);
                }
            }
            self.pass(number + 1);
        };
        std::mem::forget(guard);
        result
    }

    /// Waits for the turn of batch `number`; false where another worker died.
    fn wait_for(&self, number: u64) -> bool {
        // Spinning spares a wake-up, which takes longer than most waits.
        const SPINS: u32 = 4_000;
        for _ in 0..SPINS {
            match self.turn.load(Ordering::Acquire) {
                BROKEN => return false,
                turn if turn == number => return true,
                _ => std::hint::spin_loop(),
            }
        }
        let mut waiting = lock(&self.waiting);
        loop {
            match self.turn.load(Ordering::Acquire) {
                BROKEN => return false,
                turn if turn == number => return true,
                _ => waiting = self.turned.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn pass(&self, turn: u64) {
        let waiting = lock(&self.waiting);
        self.turn.store(turn, Ordering::Release);
        drop(waiting);
        self.turned.notify_all();
    }
}

/// Tells the others when a worker panics (in the sink), so that they do not wait for its turn to end.
struct BreakOnPanic<'s, 'a, 'b>(&'s Shared<'a, 'b>);

impl Drop for BreakOnPanic<'_, '_, '_> {
    fn drop(&mut self) {
        self.0.pass(BROKEN);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;
    use whyslow_model::{CaptureKind, Event, SourceId, SourceInfo};

    /// Gives its bytes in pieces of the given sizes, over and over.
    struct Dribble<'a> {
        data: &'a [u8],
        sizes: std::iter::Cycle<std::vec::IntoIter<usize>>,
    }

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = self.sizes.next().unwrap_or(1).min(buffer.len());
            self.data.read(&mut buffer[..size])
        }
    }

    fn events(data: &[u8], sizes: Vec<usize>, batch: usize, threads: usize) -> Vec<String> {
        let reader = Dribble { data, sizes: sizes.into_iter().cycle() };
        let mut batches = Batches::new(Vec::new(), Box::new(reader), batch);
        let info = SourceInfo::new(SourceId(0), "t", CaptureKind::Strace);
        let mut assembler = Assembler::new(info, 0, 0);
        let mut seen = Vec::new();
        let mut sink = |event: Event<'_>| seen.push(format!("{event:?}"));
        run(&mut batches, Dialect::Strace, &mut assembler, threads, &mut sink).expect("memory does not fail");
        let info = assembler.finish(batches.bytes, &mut sink);
        seen.push(format!("{info:?}"));
        seen
    }

    proptest! {
        #[test]
        fn the_way_the_bytes_arrive_changes_nothing(
            picks in prop::collection::vec(0usize..6, 1..80),
            sizes in prop::collection::vec(1usize..90, 1..8),
            batch in 600usize..4000,
            threads in 1usize..4,
            ended: bool,
        ) {
            const LINES: [&str; 6] = [
                "7 10:00:00.000001 read(3,  <unfinished ...>",
                "7 10:00:00.000100 <... read resumed>\"x\", 1) = 1 <0.000090>",
                "8 10:00:00.000100 write(2, \"a\\n\", 2) = 2 <0.000090>",
                "read(fd=3, buf=\"x\") = \x1b[1m1\x1b[0m",
                "",
                "9 10:00:01.000000 something damaged",
            ];
            let mut log = picks.iter().map(|i| LINES[*i]).collect::<Vec<_>>().join("\n");
            if ended {
                log.push('\n');
            }
            let whole = events(log.as_bytes(), vec![usize::MAX], 1 << 20, 1);
            prop_assert_eq!(events(log.as_bytes(), sizes, batch, threads), whole);
        }
    }
}
