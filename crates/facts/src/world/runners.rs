//! Who had the CPUs that one thread waited for, as recorded.

use whyslow_model::event::Tid;
use whyslow_model::{HadCpu, Meanwhile, SaturatingSum};

/// Whose turns one thread waited for.
#[derive(Clone, Debug, Default)]
pub struct Runners {
    /// By process and name of the thread without its number, ns.
    pub(crate) runners: Vec<(Tid, Box<str>, u64)>,
    /// Of threads that had no room here, ns.
    pub(crate) more_ns: u64,
    /// Nobody's: the CPU was to wake up, ns.
    pub(crate) idle_ns: u64,
    /// Its quota's, ns.
    pub(crate) quota_ns: u64,
    /// Somebody's, ns.
    pub(crate) untold_ns: u64,
    /// The recorder's, ns.
    pub(crate) recorder_ns: u64,
}

impl Runners {
    /// Kept of one thread; what has no room is told as nobody's in particular.
    const MOST: usize = 64;

    pub(crate) fn see(&mut self, one: &Meanwhile) {
        let ns = one.total.or_zero();
        match (one.had, one.runner) {
            (HadCpu::Thread, Some(pid)) => {
                self.add(pid, without_number(one.comm.as_deref().unwrap_or_default()), ns)
            }
            (HadCpu::Idle, _) => self.idle_ns = self.idle_ns.saturating_add(ns),
            (HadCpu::Quota, _) => self.quota_ns = self.quota_ns.saturating_add(ns),
            (HadCpu::Recorder, _) => self.recorder_ns = self.recorder_ns.saturating_add(ns),
            (HadCpu::Untold | HadCpu::Thread, _) => self.untold_ns = self.untold_ns.saturating_add(ns),
        }
    }

    fn add(&mut self, pid: Tid, name: &str, ns: u64) {
        let known = self.runners.iter().position(|(of, known, _)| *of == pid && **known == *name);
        match known {
            Some(at) => self.runners[at].2 = self.runners[at].2.saturating_add(ns),
            None if self.runners.len() < Self::MOST => self.runners.push((pid, name.into(), ns)),
            None => self.more_ns = self.more_ns.saturating_add(ns),
        }
    }

    pub(crate) fn merge(&mut self, other: Runners) {
        for (pid, name, ns) in other.runners {
            self.add(pid, &name, ns);
        }
        for (sum, more) in [
            (&mut self.more_ns, other.more_ns),
            (&mut self.idle_ns, other.idle_ns),
            (&mut self.quota_ns, other.quota_ns),
            (&mut self.untold_ns, other.untold_ns),
            (&mut self.recorder_ns, other.recorder_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// What of its waits was for its quota, ns.
    pub fn quota_ns(&self) -> u64 {
        self.quota_ns
    }

    /// All that is told of its waits, ns.
    pub fn total_ns(&self) -> u64 {
        let rest = [self.more_ns, self.idle_ns, self.quota_ns, self.untold_ns, self.recorder_ns];
        self.runners.iter().map(|(.., ns)| *ns).chain(rest).saturating_sum()
    }
}

/// `worker-12` is one of `worker`, `pool-3-thread-7` one of `pool-3-thread`: threads of one program whose names differ in a
/// number do the same.
pub fn without_number(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if bare.len() == name.len() {
        return name;
    }
    bare.trim_end_matches(['-', '_', '#', ':', '/', '.', ' ', '['])
}
