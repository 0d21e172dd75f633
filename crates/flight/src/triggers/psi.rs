//! `psi=cpu>20%`: tasks of the host were stalled for that share of the last seconds.

use super::{Trigger, TriggerKind};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

pub(crate) static KIND: TriggerKind = TriggerKind {
    name: "psi",
    forms: &["psi=cpu>20%", "psi=memory>20%", "psi=io>20%"],
    about: "Some task of the host waited for CPU, memory or disks for that share of the last three seconds (/proc/pressure).",
    make: |text| {
        let wanted = text.strip_prefix('=').and_then(|text| text.split_once('>'));
        let (resource, share) = wanted.ok_or("a resource and a share are missing")?;
        if !["cpu", "memory", "io"].contains(&resource) {
            return Err(format!("{resource:?} has no pressure: cpu, memory and io have"));
        }
        let share: f64 = share
            .strip_suffix('%')
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| format!("{share:?} is no share, as 20% is"))?;
        if !(0.0..=100.0).contains(&share) {
            return Err("expected a share up to 100%".to_string());
        }
        let path = PathBuf::from("/proc/pressure").join(resource);
        Ok(Box::new(Pressure {
            path,
            resource: resource.to_string(),
            share: share / 100.0,
            looks: VecDeque::new(),
        }))
    },
};

/// Looks that are compared, of one a second: the first and the last.
const LOOKS: usize = 4;

struct Pressure {
    path: PathBuf,
    resource: String,
    share: f64,
    /// When, and for how long some task had been stalled by then, us.
    looks: VecDeque<(Instant, u64)>,
}

/// The time of the line `some` of a file of /proc/pressure, us.
fn stalled(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split(' ').find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

impl Pressure {
    fn at(&mut self, now: Instant, stalled: u64) -> Option<String> {
        self.looks.push_back((now, stalled));
        if self.looks.len() < LOOKS {
            return None;
        }
        let (then, before) = self.looks.pop_front()?;
        let seconds = (now - then).as_secs_f64();
        let share = stalled.saturating_sub(before) as f64 / 1e6 / seconds.max(1e-3);
        (share >= self.share).then(|| {
            let share = whyslow_model::figures::percent(share.min(1.0));
            format!("tasks of the host waited for {} for {share} of {seconds:.0} s", self.resource)
        })
    }
}

impl Trigger for Pressure {
    fn look(&mut self) -> Option<String> {
        // A kernel without pressure figures has none to tell.
        let stalled = stalled(&std::fs::read_to_string(&self.path).ok()?)?;
        self.at(Instant::now(), stalled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_share_is_that_of_the_last_looks() {
        let text =
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=1200\nfull avg10=0.00 avg60=0 avg300=0 total=7\n";
        assert_eq!((stalled(text), stalled("full total=7"), stalled("")), (Some(1200), None, None));
        let mut psi =
            Pressure { path: PathBuf::new(), resource: "io".into(), share: 0.2, looks: VecDeque::new() };
        let begin = Instant::now();
        let mut at = |second: u64, us: u64| psi.at(begin + Duration::from_secs(second), us);
        assert_eq!(
            [at(0, 9_000_000), at(1, 9_000_000), at(2, 9_300_000), at(3, 9_500_000)],
            [None, None, None, None]
        );
        assert_eq!(at(4, 9_900_000).as_deref(), Some("tasks of the host waited for io for 30.0 % of 3 s"));
    }
}
