//! Whose time counts: brings the shares of findings, each of a whole of its own, to the time of what was asked about.

use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Finding, ShareOf, ShareWhole, Subject, TimeAccount, TimeState};
use whyslow_rules::precision;

/// What was asked about.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) account: Option<&'a TimeAccount>,
}

impl Asker<'_> {
    /// The part of the asker's time that a finding is about, weighed by how often its rule is right; 0 where it is unknown.
    pub(crate) fn weight(&self, finding: &Finding) -> f64 {
        self.share(finding) * precision::or_mean(finding.id).min(finding.sure_at_most)
    }

    /// That part; 0 where it is unknown.
    pub(crate) fn share(&self, finding: &Finding) -> f64 {
        let share = finding.share.unwrap_or(0.0);
        match finding.share_whole {
            ShareWhole::CpuTime => share * self.on_cpu(),
            ShareWhole::Time => share * self.life(finding),
            ShareWhole::Calls => share,
        }
    }

    /// The largest part that went into one thing other than waiting for a CPU; 0 where nothing tells.
    pub(crate) fn largest(&self) -> f64 {
        let rows = self.account.map_or(&[][..], |account| &account.rows);
        let rows = rows.iter().filter(|row| {
            !matches!(row.state, TimeState::RunQueue | TimeState::Throttled | TimeState::Stolen)
        });
        rows.map(|row| row.share).fold(0.0, f64::max)
    }

    /// The part of the time that may have been spent on a CPU: 1 where nothing tells.
    fn on_cpu(&self) -> f64 {
        use TimeState::{BetweenCalls, InCall, Kernel, Unknown, User};
        let Some(account) = self.account else { return 1.0 };
        let computing = |state| [User, Kernel, InCall, BetweenCalls, Unknown].contains(&state);
        let parts = account.rows.iter().filter(|row| computing(row.state)).map(|row| row.share);
        parts.sum::<f64>().min(1.0)
    }

    /// The part of the window for which the subject's thread lived: a thread of a moment may spend all of it in one way. A share of the
    /// whole window needs none: its subject is one of several threads.
    fn life(&self, finding: &Finding) -> f64 {
        if matches!(finding.share_of, ShareOf::WallTime | ShareOf::Requests) {
            return 1.0;
        }
        let id = finding.subject.tid.and_then(|tid| self.facts.world.threads.id_of(tid));
        let wall = id.and_then(|id| self.facts.world.threads.thread(id).wall().get());
        // Of calls that were only counted a thread's first and last tell nothing; its account does.
        let told = id.and_then(|id| self.facts.accounts.of(id)).map_or(0, |account| account.total());
        let wall = wall.map(|wall| wall.max(told)).or(Some(told).filter(|told| *told > 0));
        match (wall, self.facts.window.whole().get()) {
            (Some(wall), Some(window)) if window > 0 => (wall as f64 / window as f64).min(1.0),
            _ => 1.0,
        }
    }

    /// True where nothing tells that two findings are about programs that have nothing to do with each other.
    pub(crate) fn may_be_one(&self, a: &Subject, b: &Subject) -> bool {
        let (Some(a), Some(b)) = (a.pid, b.pid) else { return true };
        let process = |pid| {
            let threads = &self.facts.world.threads;
            threads.id_of(pid).map(|id| threads.thread(id).process).or_else(|| threads.last_process(pid))
        };
        let (Some(one), Some(other)) = (process(a), process(b)) else { return a == b };
        one == other || self.is_below(one, other) || self.is_below(other, one)
    }

    /// True where `child` was started by `parent`, or by one that it started; or in the recording by nobody who is known.
    fn is_below(&self, child: ProcessId, parent: ProcessId) -> bool {
        /// Steps up, at most: numbers of a damaged recording may go round.
        const STEPS: usize = 16;
        let known = |id: ProcessId| self.facts.world.threads.known_process(id);
        let above = std::iter::successors(Some(child), |id| known(*id)?.parent).take(STEPS).last();
        let mut chain = std::iter::successors(Some(child), |id| known(*id)?.parent).take(STEPS);
        let was_there = known(parent).is_some_and(|process| !process.started);
        chain.any(|id| id == parent) || was_there && above.and_then(known).is_some_and(|first| first.started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{account, finding, row};

    #[test]
    fn a_share_of_cpu_time_is_brought_to_all_time_by_what_may_have_been_on_a_cpu() {
        let rows = vec![
            row(TimeState::User, None, None, 300),
            row(TimeState::Kernel, None, None, 100),
            row(TimeState::Peer, None, None, 600),
        ];
        let account = account(rows);
        let facts = Facts::default();
        let asker = Asker { facts: &facts, account: Some(&account) };
        let share =
            |whole| asker.share(&Finding { share_whole: whole, ..finding("gc-pressure", None, Some(0.5)) });
        let shares = [ShareWhole::CpuTime, ShareWhole::Time, ShareWhole::Calls].map(share);
        assert_eq!(shares.map(|share| (share * 100.0).round()), [20.0, 50.0, 50.0]);
        assert_eq!(asker.share(&finding("gc-pressure", None, None)), 0.0);
    }

    #[test]
    fn a_share_of_the_window_is_not_cut_to_the_life_of_the_thread_that_stands_for_several() {
        use whyslow_model::{Call, Event, Nanos, Sink, Timestamp};
        let mut facts = Facts::default();
        for (tid, from, to) in [(1, 0, 9_000), (2, 0, 900)] {
            for at in [from, to] {
                let mut call = Call::new("getpid", "");
                (call.tid, call.ts, call.dur) = (tid, Timestamp::new(1 + at), Nanos::new(100));
                facts.push(Event::Call(&call));
            }
        }
        facts.finish();
        let asker = Asker { facts: &facts, account: None };
        let share = |of: ShareOf| {
            let mut found = finding("exec-path-search", None, Some(0.5));
            (found.subject.tid, found.share_of) = (Some(2), of);
            (asker.share(&found) * 100.0).round()
        };
        assert_eq!([share(ShareOf::WallTime), share(ShareOf::wall_time_of(2))], [50.0, 5.0]);
    }

    #[test]
    fn waiting_for_a_cpu_is_not_the_largest_thing() {
        let account =
            account(vec![row(TimeState::RunQueue, None, None, 700), row(TimeState::File, None, None, 300)]);
        let facts = Facts::default();
        assert_eq!(Asker { facts: &facts, account: Some(&account) }.largest(), 0.3);
        assert_eq!(Asker { facts: &facts, account: None }.largest(), 0.0);
    }
}
