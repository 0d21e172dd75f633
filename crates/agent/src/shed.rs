//! What is given up where the agent takes more than its budget, and when it is taken up again.

use serde::{Deserialize, Serialize};

/// How much is recorded: each step gives up what the one before had most cost from for the least worth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentDetail {
    /// All.
    #[default]
    Whole,
    /// No stacks of waits, and not who woke whom.
    NoWaitStacks,
    /// Calls counted; one by one only those of a millisecond or more.
    Counts,
    /// No switches of threads: what a thread waits for is known of its calls alone.
    NoSwitches,
    /// No requests, no stacks, and no network events either.
    Least,
}

impl AgentDetail {
    /// All, the most detail first.
    pub const ALL: [AgentDetail; 5] = [
        AgentDetail::Whole,
        AgentDetail::NoWaitStacks,
        AgentDetail::Counts,
        AgentDetail::NoSwitches,
        AgentDetail::Least,
    ];

    /// What is given up, in words; `None` where nothing is.
    pub fn shed(self) -> Option<&'static str> {
        match self {
            AgentDetail::Whole => None,
            AgentDetail::NoWaitStacks => Some("stacks of waits, who wakes whom"),
            AgentDetail::Counts => Some("stacks of waits, who wakes whom, calls one by one"),
            AgentDetail::NoSwitches => Some("stacks of waits, calls one by one, switches of threads"),
            AgentDetail::Least => {
                Some("stacks of waits, calls one by one, switches of threads, requests, stacks, connections")
            }
        }
    }

    fn less(self) -> AgentDetail {
        let at = self as usize + 1;
        *AgentDetail::ALL.get(at).unwrap_or(&AgentDetail::Least)
    }

    fn more(self) -> AgentDetail {
        AgentDetail::ALL[(self as usize).saturating_sub(1)]
    }
}

/// Windows over the budget from which on detail is given up: one may have been a start of ours.
const OVER: u32 = 2;
/// Windows below a good part of it from which on more is tried again; each time it was wrong it is twice as many.
const UNDER: u32 = 10;
const MOST_UNDER: u32 = 10 * 64;
/// What leaves so much of the budget has room for more.
const ROOM: f64 = 0.5;
/// What takes so many times the budget is given up at once, two steps of it.
const FAR_OVER: f64 = 3.0;

/// Decides how much is recorded, window by window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shedding {
    pub(crate) detail: AgentDetail,
    over: u32,
    under: u32,
    wait: u32,
}

impl Shedding {
    pub(crate) fn at(detail: AgentDetail) -> Shedding {
        Shedding { detail, ..Shedding::default() }
    }

    /// Takes what a window took, as parts of the budget; true where something else is to be recorded from now on.
    pub(crate) fn decide(&mut self, cpu: f64, memory: f64) -> bool {
        let used = cpu.max(memory);
        let before = self.detail;
        if used > 1.0 {
            self.under = 0;
            self.over += 1;
            if self.over >= OVER || used >= FAR_OVER {
                self.over = 0;
                self.wait = (self.wait.max(UNDER / 2) * 2).min(MOST_UNDER);
                self.detail = self.detail.less();
                if used >= FAR_OVER {
                    self.detail = self.detail.less();
                }
            }
        } else if used < ROOM {
            self.over = 0;
            self.under += 1;
            if self.under >= self.wait.max(UNDER) {
                self.under = 0;
                self.detail = self.detail.more();
            }
        } else {
            (self.over, self.under) = (0, 0);
        }
        self.detail != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detail_is_given_up_step_by_step_and_taken_up_later_each_time() {
        let mut shedding = Shedding::default();
        assert!(!shedding.decide(1.2, 0.1) && shedding.decide(1.2, 0.1));
        assert_eq!(shedding.detail, AgentDetail::NoWaitStacks);
        // A window in between begins anew.
        assert!(!shedding.decide(1.2, 0.1) && !shedding.decide(0.8, 0.1) && !shedding.decide(1.2, 0.1));
        assert!(shedding.decide(0.1, 1.1));
        assert_eq!(shedding.detail, AgentDetail::Counts);
        let until_more =
            |shedding: &mut Shedding| (1..2_000).find(|_| shedding.decide(0.2, 0.2)).expect("more");
        assert_eq!((until_more(&mut shedding), shedding.detail), (20, AgentDetail::NoWaitStacks));
        assert!(shedding.decide(5.0, 0.1));
        assert_eq!(shedding.detail, AgentDetail::NoSwitches);
        assert_eq!((until_more(&mut shedding), shedding.detail), (40, AgentDetail::Counts));
    }

    #[test]
    fn there_is_a_least_and_a_most() {
        let mut shedding = Shedding::default();
        (0..20).for_each(|_| assert!(shedding.decide(9.0, 9.0) || shedding.detail == AgentDetail::Least));
        assert_eq!(shedding.detail, AgentDetail::Least);
        let back = (0..20_000).find(|_| shedding.decide(0.0, 0.0) && shedding.detail == AgentDetail::Whole);
        assert!(back.is_some());
        assert!(AgentDetail::ALL.iter().is_sorted());
    }
}
