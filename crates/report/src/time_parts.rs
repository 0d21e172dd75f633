//! Where one thread's time went, as parts that sum to 100 %: waits by kind, working, between calls, unknown.

use whyslow_model::ThreadTime;

/// Labels of the parts that are no waits.
pub(crate) const UNKNOWN: &str = "unknown";

/// One part of a thread's time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// `network wait`, `working`, `between calls`, `unknown`.
    pub(crate) label: String,
    /// Of the whole; the permilles of all parts sum to 1000.
    pub(crate) permille: u64,
}

impl Part {
    /// `network wait 90.7 %`.
    pub(crate) fn text(&self) -> String {
        format!("{} {}.{} %", self.label, self.permille / 10, self.permille % 10)
    }
}

/// The parts, in a fixed order with the waits (longest first) before; `None` where nothing was measured. The
/// whole is the wall time; where the parts exceed it (a clock that went back), their sum.
pub(crate) fn parts(time: &ThreadTime) -> Option<Vec<Part>> {
    let mut measured: Vec<(String, u64)> = Vec::new();
    let mut waits = 0u64;
    for wait in &time.waits {
        waits = waits.saturating_add(wait.ns.or_zero());
        measured.push((format!("{} wait", wait.kind), wait.ns.or_zero()));
    }
    measured.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    measured.push(("wait of unknown kind".to_string(), time.blocked_ns.or_zero().saturating_sub(waits)));
    if time.on_cpu_ns.is_known() || time.runnable_ns.is_known() {
        measured.push(("on CPU".to_string(), time.on_cpu_ns.or_zero()));
        let throttled = time.throttled_ns.or_zero();
        measured.push(("runnable".to_string(), time.runnable_ns.or_zero().saturating_sub(throttled)));
        measured.push(("throttled".to_string(), throttled));
    } else {
        measured.push(("working".to_string(), time.working_ns.or_zero()));
        measured.push(("between calls".to_string(), time.between_calls_ns.or_zero()));
    }
    let sum = measured.iter().fold(0u64, |sum, (_, ns)| sum.saturating_add(*ns));
    if sum == 0 {
        return None;
    }
    measured.push((UNKNOWN.to_string(), time.wall_ns.or_zero().saturating_sub(sum)));
    measured.retain(|(_, ns)| *ns > 0);
    let sizes: Vec<u64> = measured.iter().map(|(_, ns)| *ns).collect();
    let permilles = apportion(&sizes, 1000);
    let parts = measured.into_iter().zip(permilles).map(|((label, _), permille)| Part { label, permille });
    Some(parts.filter(|part| part.permille > 0).collect())
}

/// `units` shared out in proportion to `sizes` so that they sum to `units` (largest remainder method); all
/// zero where the sizes are.
pub(crate) fn apportion(sizes: &[u64], units: u64) -> Vec<u64> {
    let whole: u128 = sizes.iter().map(|&size| size as u128).sum();
    if whole == 0 {
        return vec![0; sizes.len()];
    }
    let exact = |size: u64| size as u128 * units as u128;
    let mut shares: Vec<u64> = sizes.iter().map(|&size| (exact(size) / whole) as u64).collect();
    let mut by_remainder: Vec<(u128, usize)> =
        sizes.iter().map(|&size| exact(size) % whole).zip(0..).collect();
    by_remainder.sort_by_key(|&(remainder, i)| (std::cmp::Reverse(remainder), i));
    let left = units.saturating_sub(shares.iter().sum());
    for (_, i) in by_remainder.into_iter().take(left as usize) {
        if let Some(share) = shares.get_mut(i) {
            *share += 1;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whyslow_model::{Nanos, WaitShare};

    fn thread(wall: Nanos, blocked: u64, working: Nanos, waits: &[(&'static str, u64)]) -> ThreadTime {
        ThreadTime {
            pid: None,
            tid: 1,
            comm: None,
            wall_ns: wall,
            on_cpu_ns: Nanos::UNKNOWN,
            runnable_ns: Nanos::UNKNOWN,
            throttled_ns: Nanos::UNKNOWN,
            blocked_ns: Nanos::new(blocked),
            working_ns: working,
            between_calls_ns: Nanos::UNKNOWN,
            waits: waits.iter().map(|&(kind, ns)| WaitShare { kind, ns: Nanos::new(ns) }).collect(),
        }
    }

    #[test]
    fn what_is_not_measured_is_unknown() {
        let texts =
            |time: &ThreadTime| parts(time).map(|parts| parts.iter().map(Part::text).collect::<Vec<_>>());
        let time = thread(Nanos::new(900), 600, Nanos::UNKNOWN, &[("lock", 100), ("network", 500)]);
        assert_eq!(texts(&time).unwrap(), ["network wait 55.6 %", "lock wait 11.1 %", "unknown 33.3 %"]);
        assert_eq!(texts(&thread(Nanos::new(900), 0, Nanos::UNKNOWN, &[])), None);
        let known = |ns: u64| Nanos::new(ns);
        let stopped = ThreadTime {
            on_cpu_ns: known(500),
            runnable_ns: known(400),
            throttled_ns: known(300),
            ..thread(known(900), 0, known(0), &[])
        };
        assert_eq!(texts(&stopped).unwrap(), ["on CPU 55.6 %", "runnable 11.1 %", "throttled 33.3 %"]);
    }

    proptest! {
        #[test]
        fn parts_sum_to_the_whole(wall in any::<u64>(), blocked in 0u64..u64::MAX, working in any::<u64>(), a in any::<u64>(), b in 0u64..1000) {
            let time = thread(Nanos::new(wall), blocked, Nanos::new(working), &[("lock", a), ("disk", b)]);
            if let Some(parts) = parts(&time) {
                prop_assert_eq!(parts.iter().map(|part| part.permille).sum::<u64>(), 1000);
            }
        }

        #[test]
        fn nothing_is_lost_in_rounding(sizes in prop::collection::vec(any::<u64>(), 1..9), units in 0u64..2000) {
            let sum: u64 = apportion(&sizes, units).iter().sum();
            prop_assert_eq!(sum, if sizes.iter().all(|&size| size == 0) { 0 } else { units });
        }
    }
}
