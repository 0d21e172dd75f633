//! Whether a thread sleeps until its next round is due: then its sleeps differ in length, as the rounds do, and end at equal distances.
//! A fixed pause has equal lengths, and ends at distances that differ as the work in between does.

/// Rounds to judge by: where sleep and work know nothing of each other, a round is by chance so much more alike than its sleep in one case
/// of six.
const FEW: u32 = 6;
/// Shorter rounds are as long as the scheduler is late, ns.
const SHORTEST: u64 = 1_000_000;
/// Two lengths that differ by less are equal: the slack of timers is 50 us (PR_SET_TIMERSLACK in prctl(2)), on either side; ns.
const SLACK: u64 = 100_000;

/// How a thread's sleeps follow on each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct SleepRounds {
    /// When the last one ended.
    end: u64,
    /// How long it took.
    took: u64,
    /// From the end before to its end.
    round: u64,
    /// Rounds that differ from the one before them, in all or in their sleep.
    rounds: u32,
    /// Of these, those that differ half as much as their sleeps at most: the sleep made up for the work.
    made_up: u32,
    /// Rounds so far.
    all: u32,
    /// When the last ones ended, by turns.
    ends: [u64; MORE],
    /// Lengths of some rounds in a row, and of more.
    some: Spread,
    more: Spread,
}

/// Rounds in a row that are compared with [`MORE`]: two, so that sleeps of two kinds by turns are alike.
const SOME: usize = 2;
const MORE: usize = 8;
/// Rounds to judge their drift by: six times as many as are compared.
const MANY: u32 = 48;
/// Where each round begins when the one before is done, 8 of them scatter four times as much as 2 (variance). Where each is due at its time,
/// they scatter alike. Halfway between, on a scale of ratios, is 2; less is taken, as few rounds scatter by chance. Of 18 threads that wait
/// for slow answers the ratio was 3.2 and more, of five that wait for feeds 0.65 to 1.13 (recordings of truth, seeds 27 to 31).
const DRIFT: f64 = 1.5;

/// How much lengths scatter (Welford's sums).
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    count: u32,
    mean: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, length: u64) {
        self.count = self.count.saturating_add(1);
        let from_mean = length as f64 - self.mean;
        self.mean += from_mean / f64::from(self.count);
        self.squares += from_mean * (length as f64 - self.mean);
    }

    fn variance(&self) -> f64 {
        self.squares / f64::from(self.count.max(2) - 1)
    }
}

impl SleepRounds {
    pub(super) fn sleep(&mut self, from: u64, took: u64) {
        // What was there at once, as the rest of a message is, ends no round.
        if took < SHORTEST {
            return;
        }
        let end = from.saturating_add(took);
        let round = if self.end > 0 { end.saturating_sub(self.end) } else { 0 };
        if self.round >= SHORTEST && round >= SHORTEST {
            let (rounds, sleeps) = (round.abs_diff(self.round), took.abs_diff(self.took));
            if rounds.max(sleeps) > SLACK {
                self.rounds = self.rounds.saturating_add(1);
                self.made_up += u32::from(rounds <= sleeps / 2);
            }
        }
        self.drift(end);
        (self.end, self.took, self.round) = (end, took, round);
    }

    fn drift(&mut self, end: u64) {
        let at = self.all as usize;
        let ended_before = |rounds: usize| match at >= rounds {
            true => self.ends[(at - rounds) % MORE],
            false => u64::MAX,
        };
        let (some, more) = (end.checked_sub(ended_before(SOME)), end.checked_sub(ended_before(MORE)));
        some.into_iter().for_each(|length| self.some.add(length));
        more.into_iter().for_each(|length| self.more.add(length));
        self.ends[at % MORE] = end;
        self.all = self.all.saturating_add(1);
    }

    /// True where many rounds in a row scatter no more than a few: each ends at a time of its own, whatever came before.
    pub fn is_due(&self) -> bool {
        let some = self.some.variance();
        // What differs by the slack of timers alone tells nothing.
        let scatters = some.sqrt() > SLACK as f64 / 2.0;
        self.all >= MANY && scatters && self.more.variance() < DRIFT * some
    }

    /// True for sleeps until the next round is due: in six of ten rounds the sleep made up for what the work took more or less. A round that
    /// takes too long changes two.
    pub fn is_kept(&self) -> bool {
        self.rounds >= FEW && u64::from(self.made_up) * 10 >= u64::from(self.rounds) * 6
    }
}

#[cfg(test)]
mod tests {
    use super::SleepRounds;

    const MS: u64 = 1_000_000;

    /// Rounds of which each works for so long, ms, and then sleeps as `sleep` says.
    fn is_kept(work: impl Iterator<Item = u64>, sleep: impl Fn(u64) -> u64) -> bool {
        let (mut pace, mut now) = (SleepRounds::default(), 5 * MS);
        for work in work {
            now += work * MS;
            let took = sleep(work) * MS;
            pace.sleep(now, took);
            now += took + 60_000;
        }
        pace.is_kept()
    }

    #[test]
    fn who_sleeps_for_the_rest_of_a_round_keeps_a_pace() {
        let work = || (0..40).map(|i| 2 + i * 7 % 11);
        assert!(is_kept(work(), |work| 20 - work));
        // One round in eight takes too long.
        let late = || (0..40).map(|i| if i % 8 == 0 { 27 } else { 2 + i * 7 % 11 });
        assert!(is_kept(late(), |work| 20u64.saturating_sub(work).max(1)));
        // The rest of what came is read at once.
        let (mut pace, mut now) = (SleepRounds::default(), 5 * MS);
        for work in work() {
            now += work * MS;
            pace.sleep(now, (20 - work) * MS);
            now += (20 - work) * MS + 60_000;
            pace.sleep(now - 40_000, 5_000);
        }
        assert!(pace.is_kept());
        assert!(!is_kept(work().take(7), |work| 20 - work), "too few");
        // Little work that differs little, beside a long sleep.
        assert!(is_kept((0..20).map(|i| 14 + i % 3), |work| 160 - work));
    }

    #[test]
    fn a_fixed_pause_keeps_none_whether_the_work_varies_or_not() {
        // Work that differs as little as the timers are late.
        let noise = |i: u64, most: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % most;
        let (mut due, mut one_by_one) = (SleepRounds::default(), SleepRounds::default());
        let mut now = 5 * MS;
        for round in 1..150 {
            let late = round * 215 * MS + noise(round, 400_000);
            due.sleep(late - 212 * MS - noise(round + 1_000, 400_000), 212 * MS);
            now += 2 * MS + noise(round + 1_000, 400_000);
            let took = 212 * MS + noise(round, 400_000);
            one_by_one.sleep(now, took);
            now += took;
        }
        assert!(due.is_due());
        assert!(!one_by_one.is_due() && !one_by_one.is_kept());
        // Pauses of two kinds by turns.
        let (mut turns, mut now) = (SleepRounds::default(), 5 * MS);
        for round in 1..300 {
            let took = if round % 2 == 0 { 22 } else { 80 } * MS;
            now += MS + noise(round, 400_000);
            turns.sleep(now, took);
            now += took;
        }
        assert!(!turns.is_due() && !turns.is_kept());
        assert!(!is_kept((0..40).map(|i| 2 + i * 7 % 11), |_| 20));
        assert!(!is_kept((0..40).map(|_| 3), |_| 20));
        assert!(!is_kept((0..40).map(|_| 3), |_| 0));
        // Pauses that grow, as between tries.
        assert!(
            !is_kept((0..12).map(|_| 1), |_| 20) && !is_kept((0..12).map(|i| i * 13 % 7), |work| work * 5)
        );
    }
}
