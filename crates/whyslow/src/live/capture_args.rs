//! What to profile live, as arguments of `profile`.

use super::duration;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use whyslow_model::SampleKind;

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
    /// A folder with debug files of stripped programs, looked into first: by build-id (DIR/.build-id) and by path (may repeat)
    #[arg(long = "debug-dir", value_name = "DIR")]
    pub(super) debug_dirs: Vec<PathBuf>,
    /// A command to start and profile
    #[arg(last = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

const DEFAULT_LENGTH: Duration = Duration::from_secs(30);

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
            debug_dirs: self.debug_dirs.clone(),
            // A call that takes long is told in full even here.
            ring_bytes: 4 << 20,
            ..whyslow_record::Options::default()
        }
    }
}
