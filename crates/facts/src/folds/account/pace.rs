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
}

impl SleepRounds {
    pub(super) fn sleep(&mut self, from: u64, took: u64) {
        let end = from.saturating_add(took);
        let round = if self.end > 0 { end.saturating_sub(self.end) } else { 0 };
        if self.round >= SHORTEST && round >= SHORTEST {
            let (rounds, sleeps) = (round.abs_diff(self.round), took.abs_diff(self.took));
            if rounds.max(sleeps) > SLACK {
                self.rounds = self.rounds.saturating_add(1);
                self.made_up += u32::from(rounds <= sleeps / 2);
            }
        }
        (self.end, self.took, self.round) = (end, took, round);
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
        assert!(!is_kept(work().take(7), |work| 20 - work), "too few");
        // Little work that differs little, beside a long sleep.
        assert!(is_kept((0..20).map(|i| 14 + i % 3), |work| 160 - work));
    }

    #[test]
    fn a_fixed_pause_keeps_none_whether_the_work_varies_or_not() {
        assert!(!is_kept((0..40).map(|i| 2 + i * 7 % 11), |_| 20));
        assert!(!is_kept((0..40).map(|_| 3), |_| 20));
        assert!(!is_kept((0..40).map(|_| 3), |_| 0));
        // Pauses that grow, as between tries.
        assert!(
            !is_kept((0..12).map(|_| 1), |_| 20) && !is_kept((0..12).map(|i| i * 13 % 7), |work| work * 5)
        );
    }
}
