//! How far the clocks of two hosts are apart, by the exchanges of which both ends were recorded.
//!
//! A message comes no earlier than it left. Of an exchange that one host asked (sent at `s`, answered at `e`) and the other one answered
//! (came at `c`, sent at `a`, by its own clock), the shift `d` from the other clock to ours lies between `s - c` and `e - a`. Which exchange of
//! one end is which of the other is not known where recordings began at different times: all pairs of one connection are tried, and the
//! shift that most of them allow is the answer. Its range is half of what the quickest exchange spent on the way, at most.

use std::collections::{HashMap, VecDeque};
use whyslow_facts::Facts;
use whyslow_facts::folds::turns::{ConnectionTurns, Turn};
use whyslow_model::ids::host_of_tid;

/// Clocks that are further apart are none that anybody set, ns: an hour.
const MAX_SHIFT_NS: i64 = 3_600_000_000_000;
/// Fewer exchanges that agree may do so by chance.
const MIN_EXCHANGES: u64 = 3;
/// A shift that nearly as many pairs allow as the best one is as good: exchanges at a steady pace fit a shift by one of them too, less one.
const NEARLY_AS_GOOD: f64 = 0.9;
/// Pairs of exchanges that are tried for two hosts.
const MAX_PAIRS: usize = 2_000_000;

/// How far a host's clock is from the first host's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Skew {
    /// To be added to its times, ns, to tell them by the first host's clock.
    pub shift_ns: i64,
    /// It may be so much more or less, ns.
    pub within_ns: u64,
    /// By so many exchanges.
    pub exchanges: u64,
    /// Other shifts fit nearly as many.
    pub is_ambiguous: bool,
}

/// The clocks of hosts 1 to `hosts - 1`, compared with that of host 0, where exchanges tell, directly or by way of another host. The facts are of
/// all of them, read with [`Facts::keep_turns`].
pub fn skews(facts: &Facts, hosts: usize) -> Vec<Option<Skew>> {
    let by_address = by_address(facts, hosts);
    let mut known: Vec<Option<Skew>> = vec![None; hosts];
    let Some(first) = known.first_mut() else { return known };
    *first = Some(Skew { shift_ns: 0, within_ns: 0, exchanges: 0, is_ambiguous: false });
    let mut next = VecDeque::from([0]);
    while let Some(from) = next.pop_front() {
        let Some(base) = known[from] else { continue };
        for (to, unknown) in known.iter_mut().enumerate().filter(|(_, skew)| skew.is_none()) {
            if let Some(between) = between(&by_address, from, to) {
                *unknown = Some(Skew {
                    shift_ns: base.shift_ns.saturating_add(between.shift_ns),
                    within_ns: base.within_ns.saturating_add(between.within_ns),
                    exchanges: if from == 0 {
                        between.exchanges
                    } else {
                        base.exchanges.min(between.exchanges)
                    },
                    is_ambiguous: base.is_ambiguous || between.is_ambiguous,
                });
                next.push_back(to);
            }
        }
    }
    known
}

/// The ends of connections by host and by own address.
type ByAddress<'a> = Vec<HashMap<&'a str, Vec<&'a ConnectionTurns>>>;

fn by_address(facts: &Facts, hosts: usize) -> ByAddress<'_> {
    let mut all: ByAddress<'_> = vec![HashMap::new(); hosts];
    for end in facts.turns.connections() {
        let of_host = all.get_mut(usize::from(host_of_tid(end.tid)));
        if let (Some(local), Some(of_host)) = (end.local.as_deref(), of_host) {
            of_host.entry(local).or_default().push(end);
        }
    }
    all
}

/// The shift from the clock of host `to` to that of `from`.
fn between(ends: &ByAddress<'_>, from: usize, to: usize) -> Option<Skew> {
    let mut ranges = Vec::new();
    for own in ends[from].values().flatten() {
        let Some(peer) = own.peer.as_deref() else { continue };
        let others = ends[to].get(peer).into_iter().flatten();
        for other in others.filter(|other| other.peer == own.local) {
            pairs(&own.asked, &other.answered, false, &mut ranges);
            pairs(&other.asked, &own.answered, true, &mut ranges);
        }
    }
    most_allowed(ranges)
}

/// What each pair of an exchange that was asked and one that was answered allows. `is_other` where it is the other host that asked.
fn pairs(asked: &[Turn], answered: &[Turn], is_other: bool, ranges: &mut Vec<(i64, i64)>) {
    let minus = |a: u64, b: u64| i64::try_from(i128::from(a) - i128::from(b)).ok();
    for ask in asked {
        for answer in answered {
            if ranges.len() >= MAX_PAIRS {
                return;
            }
            let range = match is_other {
                false => minus(ask.sent, answer.came).zip(minus(ask.came, answer.sent)),
                true => minus(answer.sent, ask.came).zip(minus(answer.came, ask.sent)),
            };
            let possible =
                range.filter(|(low, high)| low <= high && *high >= -MAX_SHIFT_NS && *low <= MAX_SHIFT_NS);
            ranges.extend(possible);
        }
    }
}

/// The shift that lies in most of the ranges; of several that lie in nearly as many, that which is least.
fn most_allowed(ranges: Vec<(i64, i64)>) -> Option<Skew> {
    let mut ends: Vec<(i64, bool)> =
        ranges.iter().flat_map(|(low, high)| [(*low, false), (*high, true)]).collect();
    // A range begins before another one ends at the same shift.
    ends.sort_unstable();
    let (mut depth, mut peaks) = (0u64, Vec::new());
    for (at, pair) in ends.windows(2).enumerate() {
        let (here, next) = (pair[0], pair[1]);
        depth = if here.1 { depth.saturating_sub(1) } else { depth + 1 };
        let is_peak = !here.1 && next.1;
        if is_peak {
            peaks.push((depth, ends[at].0, next.0));
        }
    }
    // Between two exchanges there is one the other way round: the answer, and the next question.
    let exchanges = |pairs: u64| pairs.div_ceil(2);
    let most =
        peaks.iter().map(|(depth, ..)| *depth).max().filter(|most| exchanges(*most) >= MIN_EXCHANGES)?;
    let good = peaks.iter().filter(|(depth, ..)| *depth as f64 >= NEARLY_AS_GOOD * most as f64);
    let good: Vec<(u64, i64, i64)> = good.copied().collect();
    let middle = |(_, low, high): &(u64, i64, i64)| low.midpoint(*high);
    let best = good.iter().min_by_key(|peak| (middle(peak).unsigned_abs(), peak.0))?;
    // Ranges that differ by what one exchange was quicker than another are one answer.
    let is_far = |peak: &(u64, i64, i64)| {
        middle(peak).abs_diff(middle(best)) > 10 * (best.2.abs_diff(best.1)).max(1_000_000)
    };
    Some(Skew {
        shift_ns: middle(best),
        within_ns: best.2.abs_diff(best.1).div_ceil(2),
        exchanges: exchanges(best.0),
        is_ambiguous: good.iter().any(is_far),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OfHost;
    use proptest::prelude::*;
    use whyslow_model::{Call, Event, Nanos, Ret, Sink, Timestamp};

    const MS: u64 = 1_000_000;
    const BEGIN: u64 = 7_200_000 * MS;

    fn call(sink: &mut dyn Sink, name: &str, args: &str, (from, to): (u64, u64)) {
        let mut call = Call::new(name, args);
        (call.tid, call.pid, call.ret) = (7, Some(7), Ret::Value(64));
        (call.ts, call.dur) = (Timestamp::new(from), Nanos::new(to - from));
        sink.push(Event::Call(&call));
    }

    /// Exchanges at those times, each 20 ms long, of which 1 ms is on the way in each direction; the second host's clock is `ahead` of the first one's.
    fn recorded(times: &[u64], seen_from: usize, ahead: i64) -> Facts {
        let mut facts = Facts::default();
        facts.keep_turns();
        for at in times {
            let ask = "3<TCP:[10.0.0.1:41000->10.0.0.2:80]>, \"x\", 64";
            call(&mut facts, "write", ask, (*at, at + MS / 10));
            call(&mut facts, "read", ask, (at + MS / 5, at + 20 * MS));
        }
        let mut there = OfHost::new(1, 0, &mut facts);
        for at in &times[seen_from..] {
            let at = at.saturating_add_signed(ahead);
            let answer = "5<TCP:[10.0.0.2:80->10.0.0.1:41000]>, \"x\", 64";
            call(&mut there, "read", answer, (at, at + MS));
            call(&mut there, "write", answer, (at + 19 * MS, at + 19 * MS + MS / 10));
        }
        facts
    }

    #[test]
    fn nothing_is_told_of_hosts_that_never_spoke() {
        let facts = Facts::default();
        assert_eq!(skews(&facts, 2)[1], None);
        assert_eq!(
            skews(&recorded(&[BEGIN, BEGIN + 50 * MS], 0, 0), 2)[1],
            None,
            "two exchanges are too few"
        );
    }

    #[test]
    fn a_steady_pace_leaves_it_open_by_which_exchange_it_is() {
        let times: Vec<u64> = (0..64).map(|at| BEGIN + at * 100 * MS).collect();
        let skew = skews(&recorded(&times, 0, 3 * MS as i64), 2)[1].expect("64 exchanges");
        assert!(skew.is_ambiguous, "{skew:?}");
        assert!(skew.shift_ns.abs_diff(-3 * MS as i64) <= skew.within_ns, "of those the least: {skew:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn the_true_shift_lies_within_what_is_told(
            gaps in prop::collection::vec(25u64..400, 12..40),
            seen_from in 0usize..6,
            ahead in -2_000_000_000i64..2_000_000_000,
        ) {
            let times: Vec<u64> = gaps.iter().scan(BEGIN, |at, gap| { *at += gap * MS; Some(*at) }).collect();
            let skew = skews(&recorded(&times, seen_from, ahead), 2)[1].expect("enough exchanges");
            prop_assert!(skew.shift_ns.abs_diff(-ahead) <= skew.within_ns, "{skew:?} of {ahead}");
            prop_assert!(skew.within_ns <= MS, "a message was 1 ms on the way: {skew:?}");
        }
    }
}
