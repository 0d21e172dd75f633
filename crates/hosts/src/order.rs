//! Several readers at once, whose events reach one sink in the order of their times.
//!
//! Events borrow from their reader's buffers, so that they cannot be put aside until another reader has come so far: each reader has a
//! thread, and waits in [`Sink::push`] until no other one can still tell of something earlier.

use std::sync::{Condvar, Mutex, PoisonError};
use whyslow_model::{Event, Sink, Timestamp};

/// Reads one source into a sink.
pub type Reader<'a> = Box<dyn FnOnce(&mut dyn Sink) -> Result<(), ReadError> + Send + 'a>;
/// Why a source could not be read.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// Whose turn it is.
struct Turns<'s> {
    /// How far each reader has come, ns: what it tells of next is no earlier. The largest number where it has ended.
    at: Vec<u64>,
    sink: &'s mut (dyn Sink + Send),
}

struct Shared<'s> {
    turns: Mutex<Turns<'s>>,
    /// A reader has come further than another one waits for.
    moved: Condvar,
}

impl<'s> Shared<'s> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Turns<'s>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One reader's way to the sink. Dropping it lets the others go on.
struct Gate<'g, 's> {
    shared: &'g Shared<'s>,
    own: usize,
    last: u64,
}

impl Sink for Gate<'_, '_> {
    fn push(&mut self, event: Event<'_>) {
        // Several streams make a recording: an event may be told a little after a later one of its own host.
        self.last = time_of(&event).get().map_or(self.last, |ts| ts.max(self.last));
        let mut turns = self.shared.lock();
        if turns.at[self.own] != self.last {
            turns.at[self.own] = self.last;
            self.shared.moved.notify_all();
        }
        // Of equals the first host's come first.
        while turns.at.iter().enumerate().any(|(other, at)| (*at, other) < (self.last, self.own)) {
            turns = self.shared.moved.wait(turns).unwrap_or_else(PoisonError::into_inner);
        }
        turns.sink.push(event);
    }
}

impl Drop for Gate<'_, '_> {
    fn drop(&mut self) {
        self.shared.lock().at[self.own] = u64::MAX;
        self.shared.moved.notify_all();
    }
}

/// When it was over: calls come in the order of completion.
fn time_of(event: &Event<'_>) -> Timestamp {
    let known = |end: Timestamp, start: Timestamp| if end.is_known() { end } else { start };
    match event {
        Event::Call(call) => known(call.end(), call.ts),
        Event::Enter(call) => call.ts,
        Event::Signal(signal) => signal.ts,
        Event::Exit(exit) => exit.ts,
        Event::Stretch(stretch) => known(stretch.ts.plus(stretch.on_cpu), stretch.ts),
        Event::Wakeup(wakeup) => wakeup.ts,
        Event::Sample(sample) => sample.ts,
        Event::CallStack(made) => made.ts,
        Event::Net(net) => net.ts,
        _ => Timestamp::UNKNOWN,
    }
}

/// Reads all of them, each on a thread of its own; tells how each ended, in their order. A reader that panics ends as one that failed.
pub fn in_order(readers: Vec<Reader<'_>>, sink: &mut (dyn Sink + Send)) -> Vec<Result<(), ReadError>> {
    let shared =
        Shared { turns: Mutex::new(Turns { at: vec![0; readers.len()], sink }), moved: Condvar::new() };
    std::thread::scope(|scope| {
        let shared = &shared;
        let threads: Vec<_> = readers
            .into_iter()
            .enumerate()
            .map(|(own, read)| {
                // Made here, so that it is dropped where the thread cannot be made too.
                let mut gate = Gate { shared, own, last: 0 };
                scope.spawn(move || read(&mut gate))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err("the reader failed".into())))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whyslow_model::Call;

    fn reader(times: Vec<u64>, source: u32) -> Reader<'static> {
        Box::new(move |sink| {
            for ts in times {
                let mut call = Call::new("getpid", "");
                (call.tid, call.ts) = (source, Timestamp::new(ts));
                sink.push(Event::Call(&call));
            }
            Ok(())
        })
    }

    fn read(readers: Vec<Reader<'_>>) -> (Vec<(u64, u32)>, Vec<bool>) {
        let mut seen = Vec::new();
        let mut sink = |event: Event<'_>| {
            let Event::Call(call) = event else { return };
            seen.push((call.ts.or_zero(), call.tid));
        };
        let ended = in_order(readers, &mut sink).into_iter().map(|end| end.is_ok()).collect();
        (seen, ended)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn all_events_come_in_the_order_of_their_times(mut times in prop::collection::vec(
            prop::collection::vec(0u64..50, 0..40), 1..5)
        ) {
            times.iter_mut().for_each(|times| times.sort_unstable());
            let readers = times.iter().enumerate().map(|(at, times)| reader(times.clone(), at as u32));
            let (seen, ended) = read(readers.collect());
            let of_one = |(at, times): (usize, &Vec<u64>)| times.iter().map(move |ts| (*ts, at as u32)).collect::<Vec<_>>();
            let mut expected: Vec<(u64, u32)> = times.iter().enumerate().flat_map(of_one).collect();
            expected.sort_unstable();
            prop_assert_eq!(seen, expected);
            prop_assert!(ended.iter().all(|ended| *ended));
        }
    }

    #[test]
    fn one_that_fails_or_panics_holds_up_nobody() {
        let fails: Reader<'_> = Box::new(|_| Err("no such part".into()));
        let panics: Reader<'_> = Box::new(|sink| {
            reader(vec![1], 9)(sink)?;
            panic!("a broken part")
        });
        let (seen, ended) = read(vec![reader(vec![1, 5], 0), fails, panics]);
        assert_eq!(seen, [(1, 0), (1, 9), (5, 0)]);
        assert_eq!(ended, [true, false, false]);
    }
}
