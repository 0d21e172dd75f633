//! The sampler: asks all sources, one after the other, and tells what that cost.

use crate::context::Context;
use crate::files::Reader;
use crate::options::SamplerOptions;
use crate::out::{Gap, Out};
use crate::sources::{Look, SOURCES};
use rustix::time::{ClockId, clock_gettime};
use whyslow_counters::Span;
use whyslow_counters::text;
use whyslow_model::{FigureTable, Nanos, Timestamp};

/// Why nothing can be sampled at all.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// /proc is not there or forbidden.
    #[error("cannot read {path}: {why}\nnext: mount it (mount -t proc proc /proc)")]
    NoProc {
        /// Where it was looked for.
        path: String,
        /// What the kernel said.
        why: std::io::Error,
    },
}

/// What a sample cost us.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SampleCost {
    /// CPU time of the sampler's threads.
    pub cpu: Nanos,
    /// How long it took.
    pub took: Nanos,
}

/// One look at the host.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When it was taken.
    pub at: Timestamp,
    /// Since the one before; unknown for the first.
    pub over: Nanos,
    /// What was seen.
    pub tables: Vec<FigureTable>,
    /// What could not be seen. Each stands in each sample in which it is missing.
    pub gaps: Vec<Gap>,
    /// What it cost.
    pub cost: SampleCost,
}

/// Samples the host.
pub struct Sampler {
    options: SamplerOptions,
    reader: Reader,
    looks: Vec<Box<dyn Look>>,
    /// When the last sample was taken, on the clock since boot.
    last: Option<f64>,
}

impl Sampler {
    /// Opens what is read again and again.
    ///
    /// # Errors
    /// Where there is no /proc.
    pub fn new(options: SamplerOptions) -> Result<Sampler, HostError> {
        let reader = Reader::new(&options.root).map_err(|why| HostError::NoProc {
            path: options.root.path("/proc").display().to_string(),
            why: why.into(),
        })?;
        let looks = SOURCES.iter().map(|source| (source.open)(&options)).collect();
        Ok(Sampler { options, reader, looks, last: None })
    }

    /// Takes a sample. The first has levels, and rates since boot.
    pub fn sample(&mut self) -> Sample {
        let cpu = nanoseconds(ClockId::ThreadCPUTime);
        let began = seconds(ClockId::Boottime);
        let at = Timestamp::new(nanoseconds(ClockId::Realtime));
        let uptime = self.uptime(began);
        let over = self.last.map(|last| Nanos::new(((began - last).max(0.0) * 1e9) as u64));
        let mut out = Out::new(at, over);
        let mut context = Context {
            options: &self.options,
            reader: &mut self.reader,
            span: self.last.map_or(Span::since_boot(uptime), |last| Span::since_last(began - last)),
            uptime,
            ticks: rustix::param::clock_ticks_per_second().max(1) as f64,
            page: rustix::param::page_size() as u64,
            aside: 0,
        };
        for look in &mut self.looks {
            look.look(&mut context, &mut out);
        }
        let aside = context.aside;
        self.last = Some(began);
        let (tables, gaps) = out.finish();
        let cpu = nanoseconds(ClockId::ThreadCPUTime).saturating_sub(cpu).saturating_add(aside);
        let took = Nanos::new(((seconds(ClockId::Boottime) - began).max(0.0) * 1e9) as u64);
        Sample {
            at,
            over: over.unwrap_or(Nanos::UNKNOWN),
            tables,
            gaps,
            cost: SampleCost { cpu: Nanos::new(cpu), took },
        }
    }

    /// Seconds since boot: a made-up tree has its own, and so has a container with an uptime of its own.
    fn uptime(&mut self, live: f64) -> f64 {
        if self.options.root.is_live() {
            return live;
        }
        let text = self.reader.proc("uptime").unwrap_or_default();
        text::words(text).next().and_then(text::decimal).filter(|uptime| *uptime > 0.0).unwrap_or(live)
    }
}

/// CPU time that this whole process has used so far.
pub fn own_cpu() -> Nanos {
    Nanos::new(nanoseconds(ClockId::ProcessCPUTime))
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    (time.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64)
}

fn seconds(clock: ClockId) -> f64 {
    nanoseconds(clock) as f64 / 1e9
}
