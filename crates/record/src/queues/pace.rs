//! How often each kind of question is asked: as often as is wanted, and so seldom that all together cost a small share of a CPU.

/// What is asked, the most worth for its cost first: the last gets what the others leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Question {
    /// Accept queues of TCP.
    Listeners,
    /// Bytes in pipes.
    Pipes,
    /// All that waits in unix sockets.
    Unix,
    /// Datagrams of UDP.
    Datagrams,
    /// Unread bytes of TCP connections: the kernel goes through its table of all connections.
    Connections,
}

impl Question {
    pub(super) const ALL: [Question; 5] =
        [Question::Listeners, Question::Pipes, Question::Unix, Question::Datagrams, Question::Connections];
}

/// One kind of question.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    due: u64,
    /// What it costs, ns: the mean, in which the last four weigh half.
    cost: f64,
}

/// When each is due.
#[derive(Debug, Default)]
pub(super) struct Paces([Turn; Question::ALL.len()]);

impl Paces {
    /// Between two of a kind at least: four a second.
    pub(super) const EVERY_NS: u64 = 250_000_000;
    /// And at most, however dear: what changes is to be noticed.
    const AT_MOST_NS: u64 = 10_000_000_000;
    /// What all may cost together in the long run, of one CPU.
    const SHARE: f64 = 0.001_5;
    /// Of that, what the last gets at least.
    const LEAST: f64 = 0.2;
    /// Weight of the newest cost.
    const WEIGHT: f64 = 0.16;

    /// When the next one is due, ns of the kernel's clock.
    pub(super) fn next(&self) -> u64 {
        self.0.iter().map(|turn| turn.due).min().unwrap_or(0)
    }

    pub(super) fn is_due(&self, question: Question, now: u64) -> bool {
        self.0[question as usize].due <= now
    }

    /// It was asked at `now`, and cost that many ns of CPU time.
    pub(super) fn asked(&mut self, question: Question, now: u64, cost: u64) {
        let turn = &mut self.0[question as usize];
        let weight = if turn.cost > 0.0 { Self::WEIGHT } else { 1.0 };
        turn.cost += weight * (cost as f64 - turn.cost);
        let mut left = Self::SHARE;
        for before in &self.0[..question as usize] {
            left -= before.cost / Self::pause(before.cost, left) as f64;
        }
        self.0[question as usize].due = now + Self::pause(self.0[question as usize].cost, left);
    }

    /// Between two that cost `cost` each, where they may have `share` of a CPU, ns.
    fn pause(cost: f64, share: f64) -> u64 {
        let share = share.max(Self::LEAST * Self::SHARE);
        ((cost / share) as u64).clamp(Self::EVERY_NS, Self::AT_MOST_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times that each was asked in a minute, and the share of a CPU that all cost.
    fn in_a_minute(costs: [u64; 5]) -> ([u64; 5], f64) {
        let (mut paces, mut asked, mut spent) = (Paces::default(), [0; 5], 0);
        for now in (0..60_000_000_000).step_by(40_000_000) {
            for question in Question::ALL {
                if paces.is_due(question, now) {
                    let cost = costs[question as usize];
                    paces.asked(question, now, cost);
                    asked[question as usize] += 1;
                    spent += cost;
                }
            }
        }
        (asked, spent as f64 / 60e9)
    }

    #[test]
    fn what_is_cheap_is_asked_four_times_a_second_and_what_is_dear_gets_the_rest() {
        let (asked, share) = in_a_minute([20_000, 30_000, 10_000, 10_000, 50_000]);
        // In ticks of 40 ms a quarter of a second are seven.
        assert!(asked.iter().all(|count| *count >= 210), "{asked:?}");
        assert!(share < 0.001, "{share}");
        let (asked, share) = in_a_minute([20_000, 200_000, 10_000, 10_000, 2_000_000]);
        assert!(asked[..4].iter().all(|count| *count >= 210) && (10..30).contains(&asked[4]), "{asked:?}");
        assert!(share <= 0.001_6, "{share}");
    }

    #[test]
    fn the_dearest_is_asked_now_and_then() {
        let (asked, _) = in_a_minute([0, 3_000_000, 0, 0, 1_000_000_000]);
        assert!((25..35).contains(&asked[1]) && (6..=7).contains(&asked[4]), "{asked:?}");
    }
}
