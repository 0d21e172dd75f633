//! Whose time counts: brings the shares of findings, each of a whole of its own, to the time of what was asked about.

use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Finding, ShareWhole, Subject, TimeAccount, TimeState};

/// What was asked about.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) account: Option<&'a TimeAccount>,
}

impl Asker<'_> {
    /// The part of the asker's time that a finding is about, weighed by how sure it is; 0 where it is unknown.
    pub(crate) fn weight(&self, finding: &Finding) -> f64 {
        self.share(finding) * finding.confidence
    }

    /// That part; 0 where it is unknown.
    pub(crate) fn share(&self, finding: &Finding) -> f64 {
        let share = finding.share.unwrap_or(0.0);
        match finding.share_whole {
            ShareWhole::CpuTime => share * self.on_cpu(),
            ShareWhole::Time => share * self.life(&finding.subject),
            ShareWhole::Calls => share,
        }
    }

    /// The part of the time that may have been spent on a CPU: 1 where nothing tells.
    fn on_cpu(&self) -> f64 {
        use TimeState::{BetweenCalls, InCall, Kernel, Unknown, User};
        let Some(account) = self.account else { return 1.0 };
        let computing = |state| [User, Kernel, InCall, BetweenCalls, Unknown].contains(&state);
        let parts = account.rows.iter().filter(|row| computing(row.state)).map(|row| row.share);
        parts.sum::<f64>().min(1.0)
    }

    /// The part of the window for which the subject's thread lived: a thread of a moment may spend all of it in one way.
    fn life(&self, subject: &Subject) -> f64 {
        let thread = subject.tid.and_then(|tid| self.facts.world.threads.thread_of(tid));
        let wall = thread.and_then(|thread| thread.wall().get());
        match (wall, self.facts.window.whole().get()) {
            (Some(wall), Some(window)) if window > 0 => (wall as f64 / window as f64).min(1.0),
            _ => 1.0,
        }
    }

    /// True where nothing tells that two findings are about programs that have nothing to do with each other.
    pub(crate) fn may_be_one(&self, a: &Subject, b: &Subject) -> bool {
        let (Some(a), Some(b)) = (a.pid, b.pid) else { return true };
        let threads = &self.facts.world.threads;
        let process = |pid| threads.id_of(pid).map(|id| threads.thread(id).process);
        let is_child = |child: Option<ProcessId>, parent: Option<ProcessId>| {
            let child = child.and_then(|child| threads.known_process(child));
            parent.is_some() && child.is_some_and(|child| child.parent == parent)
        };
        let (one, other) = (process(a), process(b));
        a == b || is_child(one, other) || is_child(other, one)
    }
}
