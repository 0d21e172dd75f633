//! Takes events, keeps facts, and of the time what a page shows.

use crate::grid::Grid;
use crate::host::HostSeries;
use crate::slices::KeptCalls;
use crate::wakes::KeptWakes;
use hashbrown::HashMap;
use std::io;
use whyslow_export::{TimelineCounts, TimelineExport, TimelineItem, TimelineTime, TimelineWriter, Track};
use whyslow_facts::Facts;
use whyslow_model::{Event, SampleKind, Sink, StackId, Tid};
use whyslow_profile::Sampled;

/// What is kept of the timeline. Memory is bounded, however long that is.
#[derive(Debug, Default)]
pub(crate) struct KeptTime {
    pub(crate) grid: Grid,
    pub(crate) calls: KeptCalls,
    pub(crate) wakes: KeptWakes,
    /// The process of each thread that made a call or ran.
    pub(crate) processes: HashMap<Tid, Tid, foldhash::fast::RandomState>,
}

impl KeptTime {
    /// Threads whose process is remembered.
    const MAX_THREADS: usize = 1 << 16;

    fn thread(&mut self, tid: Tid, pid: Tid) {
        if self.processes.len() < Self::MAX_THREADS && !self.processes.contains_key(&tid) {
            self.processes.insert(tid, pid);
        }
    }
}

impl TimelineWriter for KeptTime {
    fn item(&mut self, item: &TimelineItem<'_>) -> io::Result<()> {
        match (item.track, &item.call) {
            (Track::Calls(tid), Some(call)) => {
                self.thread(*tid, item.pid);
                self.calls.see(item.from, item.took, call);
            }
            (Track::States(tid), None) if item.kind == "state" => {
                self.thread(*tid, item.pid);
                if item.name.starts_with("blocked") {
                    self.wakes.slept(*tid, item.took.unwrap_or(0));
                }
            }
            (Track::States(waker), None) if item.wakes.is_some() => {
                if let [(_, whyslow_export::Detail::Number(wakee))] = item.details {
                    self.wakes.see(*waker, *wakee as Tid, item.from);
                }
            }
            _ => {}
        }
        Ok(())
    }

    // Figures of the host are taken with their units.
    fn counter(&mut self, _at: u64, _name: &str, _value: f64) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _facts: &Facts) -> io::Result<()> {
        Ok(())
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn time(&mut self, time: TimelineTime) {
        self.grid.add(time);
    }
}

/// A stack of a thread that left the CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SleepStack {
    pub(crate) tid: Tid,
    pub(crate) at: u64,
    pub(crate) stack: StackId,
}

/// Takes the events of one run.
pub struct PageReader {
    timeline: TimelineExport<KeptTime>,
    on_cpu: Sampled,
    off_cpu: Sampled,
    host: HostSeries,
    sleeps: Vec<SleepStack>,
}

/// What was read of one run.
pub(crate) struct Read {
    pub(crate) facts: Facts,
    pub(crate) time: KeptTime,
    pub(crate) counts: TimelineCounts,
    pub(crate) on_cpu: Sampled,
    pub(crate) off_cpu: Sampled,
    pub(crate) host: HostSeries,
    pub(crate) sleeps: Vec<SleepStack>,
}

impl PageReader {
    /// Stacks of sleeps, to name the line of a call by.
    const MAX_SLEEPS: usize = 1 << 16;

    /// With these facts, which are empty yet.
    pub fn new(facts: Facts) -> PageReader {
        PageReader {
            timeline: TimelineExport::new(facts, KeptTime::default()),
            on_cpu: Sampled::new(SampleKind::OnCpu),
            off_cpu: Sampled::new(SampleKind::OffCpu),
            host: HostSeries::default(),
            sleeps: Vec::new(),
        }
    }

    /// What is known so far.
    pub fn facts(&self) -> &Facts {
        &self.timeline.facts
    }

    /// The same, to finish or to add to.
    pub fn facts_mut(&mut self) -> &mut Facts {
        &mut self.timeline.facts
    }

    pub(crate) fn finish(self) -> io::Result<Read> {
        let PageReader { timeline, on_cpu, off_cpu, host, mut sleeps, .. } = self;
        let (facts, counts, time) = timeline.finish()?;
        sleeps.sort_unstable_by_key(|sleep| (sleep.tid, sleep.at));
        Ok(Read { facts, time, counts, on_cpu, off_cpu, host, sleeps })
    }
}

impl Sink for PageReader {
    fn push(&mut self, event: Event<'_>) {
        match &event {
            Event::Call(_) => return self.timeline.push(event),
            Event::Figures(table) => self.host.see(table),
            Event::Sample(sample) => {
                if let (SampleKind::OffCpu, Some(at), Some(stack)) =
                    (sample.kind, sample.ts.get(), sample.user)
                {
                    // Of further ones calls have no line.
                    if self.sleeps.len() < Self::MAX_SLEEPS {
                        self.sleeps.push(SleepStack { tid: sample.tid, at, stack });
                    }
                }
            }
            _ => {}
        }
        if matches!(
            event,
            Event::Sample(_)
                | Event::Stretch(_)
                | Event::Stack(_)
                | Event::Process(_)
                | Event::Span(_)
                | Event::Loss(_)
        ) {
            self.on_cpu.push(event.clone());
            self.off_cpu.push(event.clone());
        }
        self.timeline.push(event);
    }
}
