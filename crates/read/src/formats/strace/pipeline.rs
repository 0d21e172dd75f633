//! One trace read by one or more workers: lines are parsed side by side, their records assembled in turn.
//!
//! A worker assembles what is ready if nobody else does; else it takes the next batch of the input, parses it and
//! puts it where whoever assembles will find it. So the parsing of some batches runs beside the assembly (and the
//! sink's work) of others, in the input's order, and the work is shared whatever the ratio of the two.

use super::assemble::Assembler;
use super::batch::{Batch, Batches};
use super::line::{Dialect, LineParser};
use std::io;
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
        queue: Mutex::new(Queue::default()),
        changed: Condvar::new(),
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
    /// Held by the one that assembles.
    output: Mutex<(&'a mut Assembler, &'a mut (dyn Sink + Send))>,
    queue: Mutex<Queue>,
    /// Something in the queue changed that a worker may wait for.
    changed: Condvar,
}

/// Batches on their way from the input to the assembler.
#[derive(Default)]
struct Queue {
    /// Parsed, waiting for their turn: with what is left of each to parse.
    ready: Vec<Parsed>,
    /// Empty ones, to be filled again.
    spare: Vec<Parsed>,
    /// The number of the batch to assemble next.
    turn: u64,
    /// Batches taken from the input and not assembled yet.
    under_way: usize,
    /// Somebody assembles.
    assembling: bool,
    /// The input came to its end, or a worker died: take no more from it.
    drained: bool,
    /// A worker died: its batch never comes.
    broken: bool,
}

/// A batch with the parser that may have more of it to give.
struct Parsed {
    number: u64,
    parser: LineParser,
    batch: Batch,
    more: bool,
}

/// What a worker is to do next.
enum Task {
    Assemble(Parsed),
    Parse(Option<Parsed>),
    Stop,
}

impl Shared<'_, '_> {
    /// Batches under way at most: enough that neither side waits for the other's wake-up.
    const UNDER_WAY: usize = 6;

    fn work(&self, dialect: Dialect) -> io::Result<()> {
        let guard = BreakOnPanic(self);
        let mut result = Ok(());
        loop {
            match self.next() {
                Task::Assemble(parsed) => self.assemble(parsed),
                Task::Parse(spare) => {
                    let parsed = spare.unwrap_or_else(|| Parsed {
                        number: 0,
                        parser: LineParser::new(dialect),
                        batch: Batch::default(),
                        more: false,
                    });
                    if let Err(error) = self.parse(parsed) {
                        result = Err(error);
                    }
                }
                Task::Stop => break,
            }
        }
        std::mem::forget(guard);
        result
    }

    /// The next thing to do; waits while there is none.
    fn next(&self) -> Task {
        let mut queue = lock(&self.queue);
        loop {
            let turn = queue.turn;
            if queue.broken || (queue.drained && queue.under_way == 0) {
                return Task::Stop;
            }
            if !queue.assembling
                && let Some(at) = queue.ready.iter().position(|parsed| parsed.number == turn)
            {
                queue.assembling = true;
                return Task::Assemble(queue.ready.swap_remove(at));
            }
            if !queue.drained && queue.under_way < Self::UNDER_WAY {
                queue.under_way += 1;
                return Task::Parse(queue.spare.pop());
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Fills `parsed` from the input and puts it where its turn will come.
    fn parse(&self, mut parsed: Parsed) -> io::Result<()> {
        let filled = {
            let mut input = lock(&self.input);
            let filled = input.0.fill(&mut parsed.batch);
            if let Ok(true) = filled {
                parsed.number = input.1;
                input.1 += 1;
            }
            filled
        };
        if let Ok(true) = filled {
            parsed.more = parsed.parser.parse(&mut parsed.batch);
            let mut queue = lock(&self.queue);
            queue.ready.push(parsed);
            // Whoever assembles looks for himself; one that waits for this batch must be told.
            if !queue.assembling {
                self.changed.notify_one();
            }
            return Ok(());
        }
        let mut queue = lock(&self.queue);
        queue.drained = true;
        queue.under_way -= 1;
        self.changed.notify_all();
        filled.map(|_| ())
    }

    /// Assembles `parsed`, whose turn it is, and all that is ready behind it.
    fn assemble(&self, mut parsed: Parsed) {
        let mut output = lock(&self.output);
        let (assembler, sink) = &mut *output;
        loop {
            while parsed.more {
                assemble(&parsed.batch, assembler, *sink);
                parsed.more = parsed.parser.parse(&mut parsed.batch);
            }
            let mut queue = lock(&self.queue);
            queue.turn += 1;
            queue.under_way -= 1;
            let turn = queue.turn;
            queue.spare.push(parsed);
            let next = queue.ready.iter().position(|parsed| parsed.number == turn);
            // A parser that waits for room is woken when there is room for several: wake-ups are dear.
            if next.is_none() || queue.under_way == Self::UNDER_WAY / 2 || queue.drained {
                self.changed.notify_all();
            }
            match next {
                Some(at) => parsed = queue.ready.swap_remove(at),
                None => {
                    queue.assembling = false;
                    return;
                }
            }
        }
    }
}

/// Tells the others when a worker panics (in the sink), so that they do not wait for what it had.
struct BreakOnPanic<'s, 'a, 'b>(&'s Shared<'a, 'b>);

impl Drop for BreakOnPanic<'_, '_, '_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0.queue);
        (queue.broken, queue.drained) = (true, true);
        self.0.changed.notify_all();
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
