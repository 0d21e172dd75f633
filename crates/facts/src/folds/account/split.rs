//! Cuts a thread's time into what was in calls and what was outside of them, each part as the scheduler tells it.
//!
//! A call is told when it returns, a stretch on a CPU when it ends. Between two stretches a thread leaves the CPU once, so of
//! the calls that end within a stretch only the first can have waited: the others ran. What is not inside of a call that
//! ended waits here for the next one to end, because that may have begun before.

/// What is known of a time. The parts exclude each other and add up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// On a CPU, ns.
    pub on_cpu_ns: u64,
    /// Able to run, without a CPU, ns.
    pub runnable_ns: u64,
    /// Waiting, where a signal can end that, ns.
    pub blocked_ns: u64,
    /// Waiting for a disk, a page or a lock of the kernel, where no signal can end that, ns.
    pub uninterruptible_ns: u64,
    /// One of these: the scheduler was not recorded, ns.
    pub unsplit_ns: u64,
    /// The scheduler was recorded, and its account of this time is missing, ns.
    pub unknown_ns: u64,
}

impl Parts {
    fn all(&mut self) -> [&mut u64; 6] {
        let Parts { on_cpu_ns, runnable_ns, blocked_ns, uninterruptible_ns, unsplit_ns, unknown_ns } = self;
        [on_cpu_ns, runnable_ns, blocked_ns, uninterruptible_ns, unsplit_ns, unknown_ns]
    }

    /// The time that they add up to, ns.
    pub fn total(mut self) -> u64 {
        self.all().into_iter().fold(0, |sum, part| sum.saturating_add(*part))
    }

    /// Adds the parts of another time.
    pub fn add(&mut self, mut more: Parts) {
        for (sum, part) in self.all().into_iter().zip(more.all()) {
            *sum = sum.saturating_add(*part);
        }
    }

    fn unsplit(ns: u64) -> Parts {
        Parts { unsplit_ns: ns, ..Parts::default() }
    }

    fn on_cpu(ns: u64) -> Parts {
        Parts { on_cpu_ns: ns, ..Parts::default() }
    }
}

/// A time and its parts. Where calls within it were given before, the parts are less than the time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) parts: Parts,
}

impl Piece {
    fn new(from: u64, to: u64, parts: impl Fn(u64) -> Parts) -> Piece {
        Piece { from, to, parts: parts(to.saturating_sub(from)) }
    }

    /// What lies before `at`, and the rest. Parts are cut in proportion: of most pieces there is one.
    fn cut(mut self, at: u64) -> (Piece, Piece) {
        let at = at.clamp(self.from, self.to);
        let (whole, left) = (self.to - self.from, at - self.from);
        let mut before = Piece { from: self.from, to: at, parts: Parts::default() };
        if left == whole {
            return (self, Piece { from: at, to: at, parts: Parts::default() });
        }
        for (mine, rest) in before.parts.all().into_iter().zip(self.parts.all()) {
            *mine = (*rest as u128 * left as u128 / whole as u128) as u64;
            *rest -= *mine;
        }
        // What rounding left out.
        let mut missing = left - before.parts.total();
        for (mine, rest) in before.parts.all().into_iter().zip(self.parts.all()) {
            let taken = missing.min(*rest);
            *mine += taken;
            *rest -= taken;
            missing -= taken;
        }
        self.from = at;
        (before, self)
    }
}

/// A stretch on a CPU with the wait before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// When it got the CPU, ns.
    pub(super) from: u64,
    /// For how long, ns.
    pub(super) on_cpu: u64,
    /// How long it had waited for a CPU before, ns.
    pub(super) runnable: u64,
    /// How long it had slept before that, ns.
    pub(super) blocked: u64,
    /// No signal could end that.
    pub(super) uninterruptible: bool,
}

/// How a thread spends the time from what the scheduler told last to the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tail {
    /// It is not there any more, or nobody knows.
    None,
    /// It waits for a CPU.
    Runnable,
    /// It waits.
    Blocked,
    /// It waits, and no signal can end that.
    Uninterruptible,
}

/// A call that ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    row: usize,
    from: u64,
    to: u64,
}

/// The cutting of one thread's time. What it finds goes to `give`: the row of the call, or `None` for outside of calls.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// From the end of the last call, or of the call before `first`, to `told`.
    open: Vec<Piece>,
    /// The first call that ended since the last stretch was told.
    first: Option<Ended>,
    /// In calls that ended after that one, ns.
    later_ns: u64,
    /// When the first call began that was told before the scheduler told anything.
    begun: Option<u64>,
    /// The end of the last call.
    last_end: Option<u64>,
    /// The end of what the scheduler told.
    told: Option<u64>,
    /// Given to calls and not yet told by the scheduler, ns: clocks of several CPUs differ a little.
    debt_ns: u64,
}

impl Split {
    /// Pieces that wait for the end of a call; past it each two become one.
    const MAX_OPEN: usize = 64;

    /// A call ended.
    pub(super) fn call(
        &mut self,
        row: usize,
        from: u64,
        to: u64,
        give: &mut impl FnMut(Option<usize>, Piece),
    ) {
        let from = self.last_end.map_or(from, |end| from.max(end));
        let to = to.max(from);
        if self.told.is_none() {
            self.begun.get_or_insert(from);
            give(None, Piece::new(self.last_end.unwrap_or(from), from, Parts::unsplit));
            give(Some(row), Piece::new(from, to, Parts::unsplit));
        } else if self.first.is_none() && self.told.is_some_and(|told| to <= told) {
            self.told_late(Ended { row, from, to }, give);
        } else if self.first.is_none() {
            self.first = Some(Ended { row, from, to });
        } else {
            give(Some(row), Piece::new(from, to, Parts::on_cpu));
            self.later_ns = self.later_ns.saturating_add(to - from);
        }
        self.last_end = Some(to);
    }

    /// A stretch on a CPU ended.
    pub(super) fn run(&mut self, run: Run, give: &mut impl FnMut(Option<usize>, Piece)) {
        let woken = run.from.saturating_sub(run.runnable);
        let left = woken.saturating_sub(run.blocked);
        let end = run.from.saturating_add(run.on_cpu);
        let wait = |ns| match run.uninterruptible {
            true => Parts { uninterruptible_ns: ns, ..Parts::default() },
            false => Parts { blocked_ns: ns, ..Parts::default() },
        };
        let unknown = |ns| Parts { unknown_ns: ns, ..Parts::default() };
        let runnable = |ns| Parts { runnable_ns: ns, ..Parts::default() };
        let told = match self.told {
            Some(told) => told,
            None => {
                // The calls before the end of the first stretch were told without the scheduler.
                if let Some(begun) = self.begun {
                    let whole = |from, to: u64, parts: Parts| Piece { from, to, parts };
                    let waited = whole(left, woken, wait(woken - left));
                    let queued = whole(woken, run.from, runnable(run.from - woken));
                    let ran = whole(run.from, end, Parts::on_cpu(end - run.from));
                    for piece in [waited, queued, ran] {
                        give(None, piece.cut(begun).0);
                    }
                }
                let begin = self.last_end.map_or(left, |end| left.max(end));
                give(None, Piece::new(self.last_end.unwrap_or(begin), begin, Parts::unsplit));
                begin
            }
        };
        self.told = Some(told.max(end));
        self.piece(told, left, unknown);
        self.piece(left.max(told), woken, wait);
        self.piece(woken.max(told), run.from, runnable);
        let turn = self.last_end.filter(|_| self.first.is_some());
        match turn.map(|turn| turn.clamp(run.from, end)) {
            None => self.piece(run.from.max(told), end, Parts::on_cpu),
            Some(turn) => {
                self.piece(run.from.max(told), turn, Parts::on_cpu);
                self.close(give);
                self.piece(turn.max(told), end, Parts::on_cpu);
            }
        }
    }

    fn piece(&mut self, from: u64, to: u64, parts: impl Fn(u64) -> Parts) {
        if from >= to {
            return;
        }
        if self.open.len() >= Self::MAX_OPEN {
            let both = |pair: &[Piece]| {
                let mut sum = pair[0];
                for more in &pair[1..] {
                    sum.to = more.to;
                    sum.parts.add(more.parts);
                }
                sum
            };
            self.open = self.open.chunks(2).map(both).collect();
        }
        self.open.push(Piece { from, to, parts: parts(to - from) });
    }

    /// A call that lies in what the scheduler has told.
    fn told_late(&mut self, call: Ended, give: &mut impl FnMut(Option<usize>, Piece)) {
        for piece in std::mem::take(&mut self.open) {
            let (before, rest) = piece.cut(call.from);
            let (within, after) = rest.cut(call.to);
            give(None, before);
            give(Some(call.row), within);
            if after.from < after.to {
                self.open.push(after);
            }
        }
    }

    /// All calls that began in the open time have ended.
    fn close(&mut self, give: &mut impl FnMut(Option<usize>, Piece)) {
        let Some(first) = self.first.take() else { return };
        let mut due = self.later_ns.saturating_add(std::mem::take(&mut self.debt_ns));
        self.later_ns = 0;
        for piece in std::mem::take(&mut self.open) {
            let (before, rest) = piece.cut(first.from);
            let (within, mut after) = rest.cut(first.to);
            give(None, before);
            give(Some(first.row), within);
            let paid = after.parts.on_cpu_ns.min(due);
            after.parts.on_cpu_ns -= paid;
            due -= paid;
            give(None, after);
        }
        self.debt_ns = due;
    }

    /// The recording ended, at `end`, and the thread in `tail`; perhaps in a call of the row, which it had entered then.
    pub(super) fn finish(
        &mut self,
        end: u64,
        tail: Tail,
        under_way: Option<(usize, u64)>,
        give: &mut impl FnMut(Option<usize>, Piece),
    ) {
        let Some(told) = self.told else {
            if let (Some((row, entered)), Some(last)) =
                (under_way, self.last_end.or(under_way.map(|(_, at)| at)))
            {
                let entered = entered.clamp(last, end.max(last));
                give(None, Piece::new(last, entered, Parts::unsplit));
                give(Some(row), Piece::new(entered, end, Parts::unsplit));
            }
            return;
        };
        self.close(give);
        match tail {
            Tail::None => {}
            Tail::Runnable => self.piece(told, end, |ns| Parts { runnable_ns: ns, ..Parts::default() }),
            Tail::Blocked => self.piece(told, end, |ns| Parts { blocked_ns: ns, ..Parts::default() }),
            Tail::Uninterruptible => {
                self.piece(told, end, |ns| Parts { uninterruptible_ns: ns, ..Parts::default() });
            }
        }
        for piece in std::mem::take(&mut self.open) {
            let (before, within) = piece.cut(under_way.map_or(u64::MAX, |(_, entered)| entered));
            give(None, before);
            give(under_way.map(|(row, _)| row), within);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What each row got; the last is outside of calls.
    #[derive(Default)]
    struct Given(Vec<Parts>, Parts);

    impl Given {
        fn take(&mut self, row: Option<usize>, parts: Parts) {
            match row {
                Some(row) => {
                    self.0.resize(self.0.len().max(row + 1), Parts::default());
                    self.0[row].add(parts);
                }
                None => self.1.add(parts),
            }
        }
        fn total(&self) -> u64 {
            self.0.iter().chain([&self.1]).map(|parts| parts.total()).sum()
        }
    }

    fn run(from: u64, on_cpu: u64, runnable: u64, blocked: u64) -> Run {
        Run { from, on_cpu, runnable, blocked, uninterruptible: false }
    }

    #[test]
    fn a_wait_in_a_call_is_the_calls() {
        let (mut split, mut given) = (Split::default(), Given::default());
        let give = &mut |row, piece: Piece| given.take(row, piece.parts);
        split.run(run(0, 100, 0, 0), give);
        // Entered at 90, asleep from 100 to 500, woken, on a CPU at 510, back at 515; a short call; then off the CPU.
        split.call(0, 90, 515, give);
        split.call(1, 520, 530, give);
        split.run(run(510, 90, 10, 400), give);
        split.finish(600, Tail::None, None, give);
        let in_call = Parts { on_cpu_ns: 15, runnable_ns: 10, blocked_ns: 400, ..Parts::default() };
        assert_eq!(given.0, [in_call, Parts::on_cpu(10)]);
        assert_eq!(given.1, Parts::on_cpu(90 + 5 + 70));
    }

    #[test]
    fn a_wait_outside_of_calls_stays_outside() {
        let (mut split, mut given) = (Split::default(), Given::default());
        let give = &mut |row, piece: Piece| given.take(row, piece.parts);
        split.run(run(0, 100, 0, 0), give);
        split.run(Run { uninterruptible: true, ..run(400, 50, 0, 300) }, give);
        split.call(0, 460, 470, give);
        split.run(run(450, 50, 0, 0), give);
        split.finish(500, Tail::None, None, give);
        assert_eq!(given.0, [Parts::on_cpu(10)]);
        assert_eq!(given.1, Parts { on_cpu_ns: 190, uninterruptible_ns: 300, ..Parts::default() });
    }

    #[test]
    fn a_call_under_way_has_the_time_since_it_was_entered() {
        let (mut split, mut given) = (Split::default(), Given::default());
        let give = &mut |row, piece: Piece| given.take(row, piece.parts);
        split.run(run(0, 100, 0, 0), give);
        split.finish(1_000, Tail::Blocked, Some((0, 95)), give);
        assert_eq!(given.0, [Parts { on_cpu_ns: 5, blocked_ns: 900, ..Parts::default() }]);
        assert_eq!(given.1, Parts::on_cpu(95));
    }

    #[test]
    fn a_call_may_be_told_after_the_stretch_in_which_it_ended() {
        let (mut split, mut given) = (Split::default(), Given::default());
        let give = &mut |row, piece: Piece| given.take(row, piece.parts);
        split.run(run(0, 100, 0, 0), give);
        split.run(run(500, 100, 0, 400), give);
        split.call(0, 90, 520, give);
        split.call(1, 590, 720, give);
        split.run(run(700, 100, 0, 100), give);
        split.finish(800, Tail::None, None, give);
        let waited = |on_cpu_ns, blocked_ns| Parts { on_cpu_ns, blocked_ns, ..Parts::default() };
        assert_eq!(given.0, [waited(30, 400), waited(30, 100)]);
        assert_eq!(given.1, Parts::on_cpu(90 + 70 + 80));
    }

    #[test]
    fn without_the_scheduler_a_call_is_one_part() {
        let (mut split, mut given) = (Split::default(), Given::default());
        let give = &mut |row, piece: Piece| given.take(row, piece.parts);
        split.call(0, 100, 130, give);
        split.call(0, 150, 160, give);
        split.finish(200, Tail::None, Some((1, 170)), give);
        assert_eq!(given.0, [Parts::unsplit(40), Parts::unsplit(30)]);
        assert_eq!(given.1, Parts::unsplit(30));
    }

    proptest! {
        /// Whatever a thread does, the parts add up to its time, and each call has what it took.
        #[test]
        fn parts_add_up(steps in prop::collection::vec((0u8..4, 1u64..500, 1u64..300), 1..200)) {
            // Simulates a thread: the clock, whether it is in a call since when, and the stretch on a CPU.
            let (mut split, mut given) = (Split::default(), Given::default());
            let give = &mut |row, piece: Piece| given.take(row, piece.parts);
            let (mut now, mut entered, mut calls) = (1_000u64, None, Vec::new());
            let mut stretch = run(now, 0, 0, 0);
            for (step, ns, more) in steps {
                now += ns;
                match step {
                    0 | 1 => match entered.take() {
                        None => entered = Some(now),
                        Some(from) => {
                            split.call(calls.len(), from, now, give);
                            calls.push(now - from);
                        }
                    },
                    _ => {
                        stretch.on_cpu = now - stretch.from;
                        split.run(stretch, give);
                        let blocked = if step == 2 { 0 } else { more };
                        stretch = run(now + blocked + ns, 0, ns, blocked);
                        now = stretch.from;
                    }
                }
            }
            stretch.on_cpu = now - stretch.from;
            split.run(stretch, give);
            let row = calls.len();
            split.finish(now + 50, Tail::Runnable, entered.map(|from| (row, from)), give);
            prop_assert_eq!(given.total(), now + 50 - 1_000);
            for (row, ns) in calls.iter().enumerate() {
                prop_assert_eq!(given.0.get(row).map_or(0, |parts| parts.total()), *ns, "call {}", row);
            }
        }
    }
}
