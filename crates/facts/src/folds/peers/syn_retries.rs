//! Connects whose time is that of a SYN that got no answer and was sent again.

use crate::exemplar::{Exemplar, Exemplars};
use whyslow_model::{Call, Nanos};

/// Such connects to one peer.
#[derive(Clone, Debug, Default)]
pub struct SynRetries {
    /// Connects that were made in the end, and took what the kernel waits before it sends a SYN again.
    pub made: u64,
    /// Connects that the program gave up, or the kernel, after a second and more without an answer.
    pub in_vain: u64,
    /// Connects that took as long, and end at no such time: a far host, a busy program.
    pub otherwise: u64,
    /// Connects to this host that were under way when the capture began and were made later than a network without loss answers. Where nothing
    /// is between the ends, only a SYN that was sent again takes so long.
    pub found: u64,
    /// Time in these, as far as it was seen, ns.
    pub found_ns: u64,
    /// Time in `made` and `in_vain`, ns.
    pub ns: u64,
    /// The longest of them, ns.
    pub longest_ns: u64,
    /// Their lines: the call that began or ended each.
    pub lines: Exemplars,
}

/// The kernel waits this long for the answer to the first SYN (TCP_TIMEOUT_INIT, RFC 6298), ns. Later ones follow after 1, 2, 4 s, or after 1 s
/// each (net.ipv4.tcp_syn_linear_timeouts): each at a whole second after the first.
const FIRST_NS: u64 = 1_000_000_000;
/// An answer comes within this time after a SYN that was sent again: the way there and back, the kernel's timer, and the program's
/// wait for a CPU; ns.
const ANSWER_NS: u64 = 250_000_000;

impl SynRetries {
    /// A connect that was made after `took`.
    pub(super) fn made(&mut self, took: Nanos, call: &Call<'_>) {
        let ns = took.or_zero();
        if ns < FIRST_NS {
            return;
        }
        if ns % FIRST_NS > ANSWER_NS {
            self.otherwise += 1;
            return;
        }
        self.made += 1;
        self.add(took, call);
    }

    /// A connect that came to nothing after `took`.
    pub(super) fn in_vain(&mut self, took: Nanos, call: &Call<'_>) {
        if took.or_zero() >= FIRST_NS {
            self.in_vain += 1;
            self.add(took, call);
        }
    }

    /// A connect that had begun before the capture and was made `seen` after its start.
    pub(super) fn found(&mut self, seen: Nanos, line: Exemplar) {
        if seen.or_zero() > ANSWER_NS {
            self.found += 1;
            self.found_ns = self.found_ns.saturating_add(seen.or_zero());
            self.longest_ns = self.longest_ns.max(seen.or_zero());
            self.lines.add(line, seen.or_zero());
        }
    }

    fn add(&mut self, took: Nanos, call: &Call<'_>) {
        self.ns = self.ns.saturating_add(took.or_zero());
        self.longest_ns = self.longest_ns.max(took.or_zero());
        self.lines.see(call);
    }

    pub(super) fn merge(&mut self, other: &SynRetries) {
        self.made = self.made.saturating_add(other.made);
        self.in_vain = self.in_vain.saturating_add(other.in_vain);
        self.otherwise = self.otherwise.saturating_add(other.otherwise);
        self.found = self.found.saturating_add(other.found);
        self.found_ns = self.found_ns.saturating_add(other.found_ns);
        self.ns = self.ns.saturating_add(other.ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.lines.merge(&other.lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_seconds_are_those_of_a_syn_that_was_sent_again() {
        let mut retries = SynRetries::default();
        let call = Call::new("connect", "3, 0x1, 16");
        for ms in [20, 999, 1_008, 1_600, 3_100, 7_020] {
            retries.made(Nanos::from_millis(ms), &call);
        }
        retries.in_vain(Nanos::from_millis(500), &call);
        retries.in_vain(Nanos::from_millis(2_500), &call);
        assert_eq!((retries.made, retries.in_vain, retries.otherwise), (3, 1, 1));
        assert_eq!(retries.ns, (1_008 + 3_100 + 7_020 + 2_500) * 1_000_000);
        assert_eq!(retries.longest_ns, 7_020_000_000);
    }

    #[test]
    fn a_connect_found_under_way_is_late_where_it_lasts_longer_than_an_answer_takes() {
        let mut retries = SynRetries::default();
        let line = || Exemplar::of(&Call::new("getsockopt", "3, SOL_SOCKET, SO_ERROR, [0], [4]"));
        for ms in [3, 250, 251, 900] {
            retries.found(Nanos::from_millis(ms), line());
        }
        assert_eq!((retries.found, retries.found_ns, retries.made), (2, 1_151_000_000, 0));
        assert_eq!(retries.lines.iter().count(), 2);
    }
}
