//! What rules about the order of reads share: a thread that waits for each small piece that it reads from a device.

use super::devices;
use crate::callers;
use crate::engine::Subjects;
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::block_io::{DeviceFacts, ThreadReads};
use whyslow_facts::samples::{Site, SiteTime};
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, Nanos, SampleKind, Subject};

/// Half of the reads take this long and more: what is in memory takes microseconds, under a tracer some tens of them.
pub(super) const FROM_DEVICE: Nanos = Nanos::new(200_000);
/// Reads ahead, beside those that are waited for, of a file system that reads ahead now and then.
const FEW_AHEAD: f64 = 0.10;

/// From this part of the reads on, as many major faults make them.
const BY_FAULTS: f64 = 0.5;

/// A thread that reads small pieces of a device.
pub(super) struct SmallReads<'f> {
    pub(super) device: &'f str,
    pub(super) tid: Tid,
    pub(super) of: &'f ThreadReads,
    pub(super) share: Share,
    /// Where in the program's own code it waits for them.
    site: Option<Site<'f>>,
}

/// The thread with the most such reads of each device that takes part of its time, none of which is read ahead.
#[gated]
pub(super) fn most<'f>(
    facts: &'f Facts,
    (device, requests): (&'f str, &'f DeviceFacts),
    (least, largest): (u64, f64),
    wanted: impl Fn(&ThreadReads) -> bool,
) -> Option<SmallReads<'f>> {
    let is_small = |of: &ThreadReads| {
        of.reads.count >= least
            && of.mean_size().is_some_and(|size| size as f64 <= largest)
            && of.ahead as f64 <= FEW_AHEAD * of.reads.count as f64
            && of.reads.percentile(0.5).is_known()
            && of.reads.percentile(0.5) >= FROM_DEVICE
    };
    let threads = requests.reads_by_thread().into_iter();
    let small = threads.filter(|(tid, of)| is_small(of) && wanted(of) && is_recorded(facts, *tid));
    let (tid, of) = small.max_by_key(|(tid, of)| (of.reads.total_ns, *tid))?;
    let share = guards::share_of_ns(facts, Some(tid), of.reads.total(), of.reads.count);
    devices::is_felt(&share).then(|| SmallReads { device, tid, of, share, site: site(facts, tid) })
}

/// True for a thread of a recorded program.
fn is_recorded(facts: &Facts, tid: Tid) -> bool {
    facts.world.threads.thread_of(tid).is_some_and(|thread| thread.is_active())
}

/// Where it waits: for a page of a mapped file outside of any call, else in one.
fn site(facts: &Facts, tid: Tid) -> Option<Site<'_>> {
    let process = facts.process_of_thread(tid)?;
    let outside = |time: &SiteTime<'_>| time.call.is_none();
    let of = |wanted: &dyn Fn(&SiteTime<'_>) -> bool| {
        facts.samples.own_site(SampleKind::OffCpu, process, Some(tid), wanted).map(|(site, _)| site)
    };
    of(&outside).or_else(|| of(&|_| true))
}

impl SmallReads<'_> {
    /// `thread 2867 surveys, in main.read (surveys.go:41)`.
    pub(super) fn who(&self, facts: &Facts) -> String {
        format!(
            "{}{}",
            Subjects::words(&Subjects::thread(facts, self.tid)),
            callers::words(self.site.as_ref())
        )
    }

    /// True where page faults make them, of a mapped file or of swapped memory.
    #[gated]
    pub(super) fn is_by_faults(&self, facts: &Facts) -> bool {
        let totals = facts.world.threads.thread_of(self.tid).and_then(|thread| thread.totals.as_deref());
        let faults = totals.and_then(|totals| totals.major_faults).unwrap_or(0);
        faults as f64 >= BY_FAULTS * self.of.reads.count as f64
    }

    pub(super) fn subject(&self, facts: &Facts) -> Subject {
        Subject {
            device: Some(self.device.to_string()),
            function: callers::function(self.site.as_ref()),
            ..Subjects::thread(facts, self.tid)
        }
    }

    /// How long half of them took and more.
    pub(super) fn half(&self) -> Measurement {
        Measurement::time("p50", self.of.reads.percentile(0.5))
    }

    pub(super) fn size(&self) -> Measurement {
        Measurement::bytes("bytes_per_read", self.of.mean_size().unwrap_or(0))
    }

    /// The part that begins where the one before ended.
    pub(super) fn in_order(&self) -> f64 {
        self.of.part_in_order().unwrap_or(f64::NAN)
    }

    /// The requests in a line of evidence.
    pub(super) fn line(&self, facts: &Facts) -> String {
        let reads = &self.of.reads;
        format!(
            "{}: {} of thread {}, {} in all; half take {} and more; {} begin where the one before ended",
            facts.host.device_name(self.device),
            words::plural(reads.count, "read"),
            self.tid,
            reads.total(),
            reads.percentile(0.5),
            words::percent(self.in_order()),
        )
    }
}
