//! Demand: the work that waited for the target, as far as it was sampled.

use crate::figures::plural;
use serde::Serialize;

/// Where work waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DemandKind {
    /// Connections in the accept queue of a listener.
    AcceptQueue,
    /// Bytes that clients sent on accepted TCP connections, not read yet.
    UnreadBytes,
    /// Bytes of datagrams in a UDP socket, not read yet.
    UnreadDatagrams,
}

/// One queue of the target, over the samples.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DemandQueue {
    /// What waits in it.
    pub kind: DemandKind,
    /// Its address: `127.0.0.1:7491`.
    pub of: String,
    /// The process that has it open, where known.
    pub pid: Option<u32>,
    /// The most in one sample: connections, or bytes.
    pub most: u64,
    /// Samples in which something waited.
    pub waited: u64,
    /// Samples in all.
    pub samples: u64,
}

/// What is known of demand. Without queues nothing was sampled: it is unknown whether work waited.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Demand {
    /// The target's queues, those in which work waited most often first; at most [`Demand::MOST`].
    pub queues: Vec<DemandQueue>,
}

impl Demand {
    /// Queues that are kept.
    pub const MOST: usize = 16;
    /// Fewer samples say nothing of the time between them.
    pub const ENOUGH: u64 = 4;
    /// From this part of the samples on, work waits for the target, and does not only arrive by chance: with random arrivals
    /// and equal work (M/D/1) something waits as often only where the target is busy for more than nine tenths of the time.
    pub const MOST_TIMES: f64 = 0.75;

    /// True where nothing was sampled.
    pub fn is_unknown(&self) -> bool {
        self.queues.is_empty()
    }

    /// The queues of these processes.
    pub fn of(&self, pids: &[u32]) -> Demand {
        let is_theirs = |queue: &&DemandQueue| queue.pid.is_some_and(|pid| pids.contains(&pid));
        Demand { queues: self.queues.iter().filter(is_theirs).cloned().collect() }
    }

    /// The queue in which work waited in nearly all samples; `None` where there is none, or too few samples.
    pub fn lasting(&self) -> Option<&DemandQueue> {
        self.queues.iter().find(|queue| queue.lasts())
    }

    /// The queue that [`words`](Self::words) tells of.
    pub fn told(&self) -> Option<&DemandQueue> {
        self.lasting().or_else(|| self.queues.first())
    }

    /// Whether work waited, in a clause; `None` where it is unknown.
    pub fn words(&self) -> Option<String> {
        let queue = self.told()?;
        Some(match queue.waited {
            0 => format!("no work waited in its queues: sampled {}", plural(queue.samples, "time")),
            _ => queue.words(),
        })
    }
}

impl DemandQueue {
    /// True where work waited in it in nearly all of enough samples.
    pub fn lasts(&self) -> bool {
        let part = self.waited as f64 / self.samples.max(1) as f64;
        self.samples >= Demand::ENOUGH && part >= Demand::MOST_TIMES
    }

    /// `up to 340 connections waited in the accept queue of 127.0.0.1:7491 (10 of 10 samples)`.
    pub fn words(&self) -> String {
        let DemandQueue { kind, of, most, waited, samples, .. } = self;
        let what = match kind {
            DemandKind::AcceptQueue => {
                format!("up to {} waited in the accept queue of {of}", plural(*most, "connection"))
            }
            DemandKind::UnreadBytes => {
                format!("up to {} waited unread on connections of {of}", plural(*most, "byte"))
            }
            DemandKind::UnreadDatagrams => format!("up to {} waited unread in {of}", plural(*most, "byte")),
        };
        format!("{what} ({waited} of {})", plural(*samples, "sample"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(waited: u64, samples: u64) -> Demand {
        let of = "127.0.0.1:7491".to_string();
        let kind = DemandKind::AcceptQueue;
        Demand { queues: vec![DemandQueue { kind, of, pid: Some(7), most: waited * 34, waited, samples }] }
    }

    #[test]
    fn three_answers() {
        assert_eq!(Demand::default().words(), None);
        assert_eq!(queue(0, 10).words().as_deref(), Some("no work waited in its queues: sampled 10 times"));
        let told = queue(10, 10).words();
        let expected =
            "up to 340 connections waited in the accept queue of 127.0.0.1:7491 (10 of 10 samples)";
        assert_eq!(told.as_deref(), Some(expected));
    }

    #[test]
    fn queues_of_others_are_not_told() {
        assert_eq!(queue(10, 10).of(&[7, 8]), queue(10, 10));
        assert!(queue(10, 10).of(&[8]).is_unknown());
    }

    #[test]
    fn chance_arrivals_and_few_samples_are_no_lasting_demand() {
        assert!(queue(10, 10).lasting().is_some() && queue(3, 4).lasting().is_some());
        assert!(queue(7, 10).lasting().is_none() && queue(3, 3).lasting().is_none());
    }
}
