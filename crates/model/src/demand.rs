//! Demand: the work that waited for the target, as far as it was sampled.

use crate::Nanos;
use crate::figures::plural;
use serde::{Serialize, Serializer};

/// Where work waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DemandKind {
    /// Connections in the accept queue of a listener.
    AcceptQueue,
    /// Bytes that clients sent on connections, not read yet.
    UnreadBytes,
    /// Bytes of datagrams in a socket, not read yet.
    UnreadDatagrams,
    /// Bytes in a pipe, not read yet.
    PipeBytes,
    /// Requests that had come and were not answered yet.
    OpenRequests,
    /// Recorded threads of others that waited for an answer, or for room in a pipe or socket.
    Callers,
}

impl Serialize for DemandKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}

impl DemandKind {
    /// All of them.
    pub const ALL: [DemandKind; 6] = [
        DemandKind::AcceptQueue,
        DemandKind::UnreadBytes,
        DemandKind::UnreadDatagrams,
        DemandKind::PipeBytes,
        DemandKind::OpenRequests,
        DemandKind::Callers,
    ];

    /// Its name in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            DemandKind::AcceptQueue => "accept_queue",
            DemandKind::UnreadBytes => "unread_bytes",
            DemandKind::UnreadDatagrams => "unread_datagrams",
            DemandKind::PipeBytes => "pipe_bytes",
            DemandKind::OpenRequests => "open_requests",
            DemandKind::Callers => "callers",
        }
    }

    /// The kind of that name.
    pub fn of_word(word: &str) -> Option<DemandKind> {
        DemandKind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// True where it is a queue that was sampled: these alone can say that no work waited.
    pub fn is_sampled(self) -> bool {
        !matches!(self, DemandKind::OpenRequests | DemandKind::Callers)
    }

    /// True where work that lasts in it is a backlog. Clients that each wait for their last answer keep a healthy server's
    /// connections full of requests, and requests open, under full load; they send no more while it lasts. Who connects anew, sends
    /// datagrams or writes into a pipe does not wait for an answer.
    pub fn is_backlog(self) -> bool {
        matches!(self, DemandKind::AcceptQueue | DemandKind::UnreadDatagrams | DemandKind::PipeBytes)
    }
}

/// One queue of the target, over the samples.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DemandQueue {
    /// What waits in it.
    pub kind: DemandKind,
    /// Its address or name: `127.0.0.1:7491`, `the standard input`; of requests and callers, whom they wait for.
    pub of: String,
    /// The process that has it open, where known.
    pub pid: Option<u32>,
    /// The most in one sample: connections, bytes, requests or callers.
    pub most: u64,
    /// Samples in which something waited.
    pub waited: u64,
    /// Samples in all. What calls tell of requests and callers is looked at for four moments a second.
    pub samples: u64,
}

/// What is known of demand. Without queues nothing was sampled: it is unknown whether work waited.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Demand {
    /// The target's queues, those in which work waited most often first; at most [`Demand::MOST`].
    pub queues: Vec<DemandQueue>,
    /// The processes that were taken into the recording because they wait for the target, those that waited longest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<DemandCaller>,
}

/// A recorded process that waits for the target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DemandCaller {
    /// The process.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// The process of the target that it waits for.
    pub of: u32,
    /// At what: `127.0.0.1:7491`, `a pipe`, `the lock of /srv/orders.lock`.
    pub at: String,
    /// Waits of a millisecond and more.
    pub waits: u64,
    /// Time in which at least one of its threads was in one of these.
    pub waited_ns: Nanos,
    /// The time in which it was recorded.
    pub seen_ns: Nanos,
    /// The longest of these waits.
    pub longest_ns: Nanos,
}

impl DemandCaller {
    /// `client (4242) waited 3.90 s of 4.10 s for it at 127.0.0.1:7491 (40 waits, longest 102 ms)`.
    pub fn words(&self) -> String {
        let DemandCaller { pid, name, of: _, at, waits, waited_ns, seen_ns, longest_ns } = self;
        let waits = plural(*waits, "wait");
        format!(
            "{name} ({pid}) waited {waited_ns} of {seen_ns} for it at {at} ({waits}, longest {longest_ns})"
        )
    }
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
        let callers = self.callers.iter().filter(|caller| pids.contains(&caller.of));
        Demand {
            queues: self.queues.iter().filter(is_theirs).cloned().collect(),
            callers: callers.cloned().collect(),
        }
    }

    /// The queue in which work waited in nearly all samples; `None` where there is none, or too few samples.
    pub fn lasting(&self) -> Option<&DemandQueue> {
        self.queues.iter().find(|queue| queue.lasts())
    }

    /// The queue that [`words`](Self::words) tells of.
    pub fn told(&self) -> Option<&DemandQueue> {
        let waited = || self.queues.first().filter(|queue| queue.waited > 0);
        let sampled = self.queues.iter().filter(|queue| queue.kind.is_sampled());
        self.lasting().or_else(waited).or_else(|| sampled.max_by_key(|queue| queue.samples))
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
            DemandKind::UnreadDatagrams | DemandKind::PipeBytes => {
                format!("up to {} waited unread in {of}", plural(*most, "byte"))
            }
            DemandKind::OpenRequests => {
                format!("up to {} of {of} waited for an answer", plural(*most, "request"))
            }
            DemandKind::Callers => format!("up to {} waited for {of}", plural(*most, "recorded thread")),
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
        let queue = DemandQueue { kind, of, pid: Some(7), most: waited * 34, waited, samples };
        Demand { queues: vec![queue], ..Demand::default() }
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
    fn requests_and_callers_alone_do_not_say_that_nothing_waited() {
        let mut demand = queue(0, 10);
        demand.queues[0].kind = DemandKind::OpenRequests;
        assert_eq!(demand.words(), None);
        demand.queues.extend(queue(0, 40).queues);
        assert_eq!(demand.words().as_deref(), Some("no work waited in its queues: sampled 40 times"));
        demand.queues[0].waited = 3;
        demand.queues[0].of = "app (7)".to_string();
        assert_eq!(
            demand.words().as_deref(),
            Some("up to 0 requests of app (7) waited for an answer (3 of 10 samples)")
        );
    }

    #[test]
    fn callers_are_named_with_how_long_they_waited() {
        let caller = DemandCaller {
            pid: 42,
            name: "client".into(),
            of: 7,
            at: "127.0.0.1:7491".into(),
            waits: 40,
            waited_ns: Nanos::from_millis(3_900),
            seen_ns: Nanos::from_millis(4_100),
            longest_ns: Nanos::from_millis(102),
        };
        let expected =
            "client (42) waited 3.90 s of 4.10 s for it at 127.0.0.1:7491 (40 waits, longest 102 ms)";
        assert_eq!(caller.words(), expected);
        let demand = Demand { callers: vec![caller], ..Demand::default() };
        assert_eq!(demand.of(&[7]), demand);
        assert!(demand.of(&[42]).callers.is_empty());
    }

    #[test]
    fn kinds_have_their_names() {
        for kind in DemandKind::ALL {
            assert_eq!(DemandKind::of_word(kind.word()), Some(kind));
        }
        assert_eq!(DemandKind::of_word("no such"), None);
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
