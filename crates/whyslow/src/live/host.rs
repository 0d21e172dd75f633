//! The host beside a recording: a thread of its own takes a sample a second; recording by sampling alone, where nothing
//! else can be had.

use super::args::{LiveArgs, Means};
use super::refusal::refusal;
use super::signals::{Arrival, Arrivals};
use super::target::{self, Target};
use super::{Ended, Recording};
use crate::output::plain;
use crate::output::say;
use anyhow::Context;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whyslow_host::{Gap, Sample, Sampler, SamplerOptions};
use whyslow_model::{CaptureNote, Event, NoteKind, Sink, SourceId};
use whyslow_record::{Clock, Command};

/// Between two samples.
const EVERY: Duration = Duration::from_secs(1);
/// A stretch shorter than that has no rates that mean anything: ticks of the kernel are 10 ms.
const SHORTEST: Duration = Duration::from_millis(100);
/// Samples kept where nobody takes them meanwhile; then they are taken half as often, and so on.
const KEPT: u32 = 128;

/// The sampler, in a thread of its own.
pub(super) struct Beside {
    stop: Option<Sender<()>>,
    samples: Receiver<Sample>,
    thread: Option<JoinHandle<()>>,
    told: Told,
}

/// Gaps that were told already.
#[derive(Default)]
struct Told {
    gaps: Vec<Gap>,
    samples: u64,
    /// CPU time of all samples, ns.
    cpu: u64,
}

impl Beside {
    /// Starts it. With `followed` samples are taken as they come; else they are all kept, so that a long recording has fewer.
    ///
    /// # Errors
    /// Where there is no /proc, or no further thread.
    pub(super) fn start(followed: bool) -> anyhow::Result<Beside> {
        let (stop, stopped) = channel::<()>();
        let (begun, has_begun) = channel();
        let (told, samples) = channel();
        let work = move || {
            // First of all: it starts threads of its own.
            super::rights::of_sampler();
            let mut sampler = match Sampler::new(SamplerOptions::default()) {
                Ok(sampler) => sampler,
                Err(error) => return drop(begun.send(Err(error))),
            };
            let _ = begun.send(Ok(()));
            let (mut every, mut count) = (EVERY, 0);
            let mut next = Instant::now();
            loop {
                let began = Instant::now();
                if told.send(sampler.sample()).is_err() {
                    return;
                }
                count += 1;
                if !followed && count % KEPT == 0 {
                    every *= 2;
                }
                next = (next + every).max(Instant::now());
                if stopped.recv_timeout(next - Instant::now()) != Err(RecvTimeoutError::Timeout) {
                    // The rest, up to the end.
                    if began.elapsed() >= SHORTEST {
                        let _ = told.send(sampler.sample());
                    }
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("whyslow-host".to_string()).spawn(work);
        let thread = thread.context("a thread that samples the host")?;
        has_begun.recv().context("a thread that samples the host")??;
        Ok(Beside { stop: Some(stop), samples, thread: Some(thread), told: Told::default() })
    }

    /// Tells what came since the last time.
    pub(super) fn pour(&mut self, sink: &mut dyn Sink) {
        while let Ok(sample) = self.samples.try_recv() {
            self.told.tell(sample, sink);
        }
    }

    /// Ends it with a last sample.
    pub(super) fn end(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It panicked: what it told is there.
            let _ = thread.join();
        }
    }

    /// The samples that nobody took.
    pub(super) fn rest(mut self) -> Vec<Sample> {
        self.end();
        self.samples.try_iter().collect()
    }
}

impl Told {
    fn tell(&mut self, sample: Sample, sink: &mut dyn Sink) {
        self.samples += 1;
        self.cpu += sample.cost.cpu.or_zero();
        for table in sample.tables {
            sink.push(Event::Figures(Box::new(table)));
        }
        for gap in sample.gaps {
            // What a gap counts may differ from sample to sample.
            if self.gaps.iter().any(|known| known.source == gap.source && known.remedy == gap.remedy) {
                continue;
            }
            sink.push(Event::Note(note(&gap)));
            self.gaps.push(gap);
        }
    }
}

/// Tells kept samples.
pub(super) fn tell(samples: &[Sample], sink: &mut dyn Sink) {
    let mut told = Told::default();
    for sample in samples {
        told.tell(sample.clone(), sink);
    }
}

/// How notes begin of what the sampler of the host cannot tell.
pub(crate) const NOT_SAMPLED: &str = "not sampled: ";

fn note(gap: &Gap) -> CaptureNote {
    let next = if gap.remedy.is_empty() { String::new() } else { format!("; next: {}", gap.remedy) };
    CaptureNote {
        kind: NoteKind::Skipped,
        source: SourceId::default(),
        line: None,
        text: format!("{NOT_SAMPLED}{} ({}){next}", gap.missing, gap.why),
        tid: None,
    }
}

/// Why nothing but the host is to be sampled: asked for, or all processes are meant and BPF is not to be had (ptrace stops
/// every process of the host at each of its calls).
pub(super) fn is_all(args: &LiveArgs) -> Option<String> {
    match args.by {
        _ if !args.wants_host() => None,
        Means::Sampling => Some("only sampling was asked for".to_string()),
        Means::Auto if args.all => refusal().map(|why| format!("no recording by BPF here: {why}")),
        _ => None,
    }
}

/// Between two looks at whether to end.
const TICK: Duration = Duration::from_millis(40);

/// Samples alone.
pub(super) fn record(
    args: &LiveArgs,
    why: String,
    mut follow: Option<&mut dyn Sink>,
) -> anyhow::Result<Ended> {
    let mut arrivals = Arrivals::listen().context("listening for signals")?;
    let clock = Clock::now();
    let (began, began_at) = (Instant::now(), clock.now_epoch());
    let mut command = None;
    let words = if args.command.is_empty() {
        let (_, resolved) = Target::find(args)?;
        target::in_words(&resolved, args.all)
    } else {
        command = Some(Command::start(&args.command)?);
        args.command[0].to_string_lossy().into_owned()
    };
    say!("whyslow: {}: the host is sampled, and no call is recorded", plain(&why));
    let mut beside = Beside::start(follow.is_some())?;
    if let Some(command) = &mut command {
        command.release()?;
    }
    let mut status = None;
    let mut end = false;
    while !end {
        std::thread::sleep(TICK);
        if let Some(sink) = follow.as_deref_mut() {
            beside.pour(sink);
        }
        end = args.length().is_some_and(|length| began.elapsed() >= length);
        for arrival in arrivals.take(command.is_some()) {
            match (arrival, &command) {
                (Arrival::PassOn(signal), Some(command)) => command.signal(signal),
                _ => end = true,
            }
        }
        if let Some(command) = &mut command {
            status = command.poll()?;
            end |= status.is_some();
        }
    }
    beside.end();
    let window = (began_at, clock.now_epoch());
    let recorded = match follow {
        Some(sink) => {
            beside.pour(sink);
            Recording::Told
        }
        None => Recording::Sampled { why },
    };
    let samples = beside.rest();
    say!("whyslow: sampled the host for {:.1} s", began.elapsed().as_secs_f64());
    let command = match (command, status) {
        (Some(command), None) => Some(command.wait(Vec::new)?),
        (_, status) => status,
    };
    let clock_offset = clock.offset;
    Ok(Ended {
        recorded,
        target: words,
        window,
        clock_offset,
        command,
        last: Default::default(),
        samples,
        _spool: None,
    })
}
