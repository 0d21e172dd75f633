//! How often dear looks are taken: so seldom that they cost a small share of a CPU in the long run.

/// When the next one is due.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Highest share of a CPU.
    share: f64,
    /// Seconds since boot from which on it is due.
    due: f64,
}

impl Pace {
    pub(crate) fn new(share: f64) -> Pace {
        Pace { share, due: 0.0 }
    }

    /// True where it is due.
    pub(crate) fn is_due(&self, uptime: f64) -> bool {
        uptime >= self.due
    }

    /// It was taken, and cost that many seconds of CPU time.
    pub(crate) fn took(&mut self, uptime: f64, cost: f64) {
        // At least now and then, however dear.
        self.due = uptime + (cost / self.share).min(60.0);
    }
}

/// Seconds of CPU time of this thread.
pub(crate) fn cpu_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dear_is_seldom() {
        let mut pace = Pace::new(0.01);
        assert!(pace.is_due(5.0));
        pace.took(5.0, 0.1);
        assert!(!pace.is_due(14.9) && pace.is_due(15.1));
        pace.took(5.0, 1e9);
        assert!(pace.is_due(65.1));
    }
}
