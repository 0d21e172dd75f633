//! Profiles of running programs: our own samples of whom the arguments name, as a profile.

mod missing;

use super::args::{LiveArgs, duration};
use super::record;
use super::runtime::Runtime;
use crate::cli::{Global, Status};
use crate::output::say;
use std::ffi::OsString;
use std::time::{Duration, Instant};
use whyslow_model::{Event, Profile, SampleKind, Sink};
use whyslow_profile::Sampled;
use whyslow_record::target::{self, ProcRoot, Selection};

/// Whom to profile, and how.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Profile a running program")]
pub(crate) struct CaptureArgs {
    /// Processes, with all their threads and children
    #[arg(short, long = "pid", value_name = "PID", value_delimiter = ',')]
    pub(super) pids: Vec<u32>,
    /// Processes of this name
    #[arg(long = "name", value_name = "NAME")]
    pub(super) names: Vec<String>,
    /// A container, by the first digits of its id
    #[arg(long = "container", value_name = "ID")]
    pub(super) containers: Vec<String>,
    /// All processes
    #[arg(short, long)]
    pub(super) all: bool,
    /// How long: 30, 500ms, 2m; ends earlier by Ctrl-C [default: 30 s; a command: until it ends]
    #[arg(long, short = 'd', alias = "duration", value_name = "TIME", value_parser = duration)]
    pub(crate) seconds: Option<Duration>,
    /// Samples a second of each CPU
    #[arg(long, value_name = "N", default_value_t = 99, value_parser = clap::value_parser!(u32).range(1..=999))]
    pub(super) hz: u32,
    /// What it waits for, instead of what it computes: waits of a millisecond or more with their stacks
    #[arg(long)]
    pub(crate) off_cpu: bool,
    /// Ask a JVM for the names of its compiled code (jcmd PID Compiler.perfmap, JDK 17 and later)
    #[arg(long)]
    pub(super) jvm_names: bool,
    /// A command to start and profile
    #[arg(last = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

const DEFAULT_LENGTH: Duration = Duration::from_secs(30);
/// Samples of longer profiles are taken out of the spool while it grows.
const FOLLOW_FROM: Duration = Duration::from_secs(60);

impl CaptureArgs {
    /// True where a profile of something that runs was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.all
            || !(self.pids.is_empty()
                && self.names.is_empty()
                && self.containers.is_empty()
                && self.command.is_empty())
    }

    /// What is sampled.
    pub(crate) fn kind(&self) -> SampleKind {
        if self.off_cpu { SampleKind::OffCpu } else { SampleKind::OnCpu }
    }

    /// When to end by ourselves: a command is waited for.
    pub(super) fn length(&self) -> Option<Duration> {
        self.seconds.or(self.command.is_empty().then_some(DEFAULT_LENGTH))
    }

    /// What the recorder is to record.
    pub(super) fn options(&self) -> whyslow_record::Options {
        // The user's part of a wait's stack is read when its call returns: then somebody has to look at calls.
        let (mode, calls) = match self.off_cpu {
            true => (whyslow_record::Mode::Counts, Some(Vec::new())),
            false => (whyslow_record::Mode::None, None),
        };
        whyslow_record::Options {
            all: self.all,
            name: self.names.first().cloned(),
            mode,
            calls,
            payload: 0,
            sched: self.off_cpu,
            wait_stacks: self.off_cpu,
            sample_hz: if self.off_cpu { 0 } else { self.hz },
            block: false,
            net: false,
            signals: false,
            totals: false,
            // A call that takes long is told in full even here.
            ring_bytes: 4 << 20,
            ..whyslow_record::Options::default()
        }
    }
}

/// Samples what `args` ask for, and says what is missing in the names of its code and how to get it.
///
/// # Errors
/// Where the target is not there, nothing can be recorded, or there was nothing to see.
pub(crate) fn sample(args: &CaptureArgs, global: &Global) -> anyhow::Result<(Profile, Status)> {
    let live = LiveArgs::for_profile(args.clone());
    let mut sampled = Sampled::new(args.kind());
    let follows = args.length().is_none_or(|length| length > FOLLOW_FROM);
    let ended = record(&live, None, if follows { Some(&mut sampled) } else { None }, global)?;
    if !follows {
        ended.replay(&mut sampled)?;
    }
    ended.last.tell(&mut sampled);
    if sampled.samples() == 0 {
        anyhow::bail!(
            "{}: {}",
            ended.target,
            if args.off_cpu {
                "it waited for nothing\nnext: without --off-cpu it shows what it computes"
            } else {
                "nothing of it was on a CPU\nnext: --off-cpu shows what it waits for"
            }
        );
    }
    let profile = sampled.finish()?;
    for remark in missing::in_names(&profile, &ended.last.runtimes, args) {
        say!("whyslow: {}", crate::output::plain(&remark));
    }
    Ok((profile, ended.status()))
}

/// What a profile wants to know of its processes, as they were when they were looked at last: a thread is named after it
/// began, and a runtime shows when it is loaded.
#[derive(Default)]
pub(super) struct Look {
    names: Vec<Event<'static>>,
    runtimes: Vec<Runtime>,
    at: Option<Instant>,
}

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// When to look first: a command is not there at once.
const FIRST_LOOK: Duration = Duration::from_millis(200);
/// Processes that are looked at, and of which it is asked what runtime they have.
const MAX_PROCESSES: usize = 1024;
const MAX_RUNTIMES: usize = 64;

impl Look {
    /// Looks now and then, so that it is known of a process that ends.
    pub(super) fn now_and_then(&mut self, pids: &[u32]) {
        let at = *self.at.get_or_insert_with(|| Instant::now() + FIRST_LOOK - LOOK_EVERY);
        if at.elapsed() >= LOOK_EVERY {
            self.look(pids);
        }
    }

    /// Looks, with the names of a JVM's code where `args` ask for them.
    pub(super) fn at_end(&mut self, pids: &[u32], args: &CaptureArgs) {
        self.look(pids);
        for runtime in self.runtimes.iter_mut().filter(|_| args.jvm_names) {
            runtime.ask_for_names();
        }
    }

    fn look(&mut self, pids: &[u32]) {
        let root = ProcRoot::live();
        let selection = Selection { pids: pids.to_vec(), children: true, ..Selection::default() };
        self.at = Some(Instant::now());
        // Where they have ended, what was seen before stays.
        let Ok(found) = selection.resolve(&root) else { return };
        let mut pids = found.pids();
        pids.truncate(MAX_PROCESSES);
        let mut names = Vec::new();
        target::processes(&pids, &root, &mut |event: Event<'_>| {
            if let Event::Process(info) = event {
                names.push(Event::Process(info));
            }
        });
        if !names.is_empty() {
            self.names = names;
            self.runtimes = pids.iter().take(MAX_RUNTIMES).filter_map(|pid| Runtime::of(*pid)).collect();
        }
    }

    /// Tells the names.
    fn tell(&self, sink: &mut dyn Sink) {
        for event in &self.names {
            sink.push(event.clone());
        }
    }
}
