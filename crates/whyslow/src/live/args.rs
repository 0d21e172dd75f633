//! What to record live, as arguments: shared by `diagnose`, `record` and `trace`.

use super::capture_args::CaptureArgs;
use super::duration;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use whyslow_record::Mode;
use whyslow_record::target::Selection;
#[cfg(feature = "bpf")]
use whyslow_record::target::{ProcRoot, WatchedNow};

/// Whom and how to record.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct LiveArgs {
    /// Processes to record, with all their threads (several: -p 1,2 or -p 1 -p 2)
    #[arg(short, long = "pid", value_name = "PID", value_delimiter = ',', help_heading = "Whom to record")]
    pub(crate) pids: Vec<u32>,
    /// Single threads
    #[arg(
        long = "tid",
        value_name = "TID",
        value_delimiter = ',',
        help_heading = "Whom to record",
        hide_short_help = true
    )]
    tids: Vec<u32>,
    /// A program by its name, script (app.py), jar, class or application (shop:app)
    #[arg(long = "name", value_name = "NAME", help_heading = "Whom to record")]
    names: Vec<String>,
    /// Who has this local TCP or UDP port
    #[arg(long = "port", value_name = "PORT", help_heading = "Whom to record", hide_short_help = true)]
    ports: Vec<u16>,
    /// A control group: its directory, or its path as /proc/PID/cgroup shows it; with * and ?
    #[arg(long = "cgroup", value_name = "PATH", help_heading = "Whom to record", hide_short_help = true)]
    cgroups: Vec<String>,
    /// A container: its name, its pod's, or the first digits of its id
    #[arg(long = "container", value_name = "ID", help_heading = "Whom to record", hide_short_help = true)]
    containers: Vec<String>,
    /// A systemd unit; with * and ?
    #[arg(long = "unit", value_name = "UNIT", help_heading = "Whom to record", hide_short_help = true)]
    units: Vec<String>,
    /// All processes
    #[arg(short, long = "all", help_heading = "Whom to record")]
    pub(crate) all: bool,
    /// Do not record the processes that they start
    #[arg(long, help_heading = "Whom to record", hide_short_help = true)]
    no_children: bool,
    /// Record others of this host too while the target is seen to wait for them (a peer, a pipe, a lock), or they for it, at most so many; 0 for none.
    /// The report stays about the target, and names who is behind its waits
    #[arg(long = "follow", value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(0..=64), help_heading = "Whom to record")]
    follow_peers: u8,
    /// How long: 10, 500ms, 2m; ends earlier by Ctrl-C [default: 10 s; a command: until it ends]
    #[arg(long, short = 'd', value_name = "TIME", value_parser = duration, help_heading = "How to record")]
    pub(crate) duration: Option<Duration>,
    /// What of the calls: each one, counts, or each one while that costs little
    #[arg(long, value_name = "MODE", default_value = "adaptive", help_heading = "How to record")]
    pub(crate) mode: ModeArg,
    /// Highest cost, in percent of the target's CPU time, in the mode `adaptive`
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent, help_heading = "How to record")]
    max_overhead: f64,
    /// Bytes of each read and write to look at, for naming requests; 0 for none
    #[arg(long, value_name = "BYTES", default_value_t = 256, value_parser = clap::value_parser!(u32).range(0..=1000), help_heading = "How to record", hide_short_help = true)]
    payload: u32,
    /// Keep these bytes as they are (needs --show-secrets); else only what names a request is kept, without secrets
    #[arg(long, help_heading = "How to record", hide_short_help = true)]
    keep_payload: bool,
    /// Count and time functions of the kernel too, and show who calls them: a name, module:function, or a pattern (tcp_*)
    /// that means 16 at most. Each of their calls costs about as much as a recorded one
    #[arg(long = "probe", value_name = "FN", value_delimiter = ',', help_heading = "How to record")]
    probes: Vec<String>,
    /// A folder with debug files of stripped programs, looked into first: by build-id (DIR/.build-id) and by path (may repeat)
    #[arg(long = "debug-dir", value_name = "DIR", help_heading = "How to record", hide_short_help = true)]
    debug_dirs: Vec<PathBuf>,
    /// Mebibytes of the kernel's buffers for calls
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=4096), help_heading = "How to record", hide_short_help = true)]
    buffer: u64,
    /// By which means
    #[arg(
        id = "means",
        long = "by",
        value_name = "MEANS",
        default_value = "auto",
        help_heading = "How to record",
        hide_short_help = true
    )]
    pub(crate) by: Means,
    /// What `trace` prints, besides.
    #[arg(skip)]
    trace: Option<ForTrace>,
    /// It goes on until it is ended.
    #[arg(skip)]
    endless: bool,
    /// For one table: nothing but what it shows.
    #[arg(skip)]
    only: Option<Only>,
    /// For a profile: nothing but stacks.
    #[arg(skip)]
    pub(super) profile: Option<CaptureArgs>,
    /// A command to start and record
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

/// What is written down of the calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum ModeArg {
    /// Counts and times.
    Counts,
    /// Each call.
    Full,
    /// Each call while that costs little.
    Adaptive,
}

/// How to record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Means {
    /// BPF where the kernel allows it, else ptrace, with a warning.
    Auto,
    /// BPF or nothing.
    Bpf,
    /// ptrace: slows the target down as strace does.
    Ptrace,
    /// Nothing but figures of the host.
    Sampling,
}

/// What a command wants that shows one table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Only {
    /// Calls, added up by thread and syscall.
    Calls,
    /// Calls, added up by thread and file.
    Files,
    /// Requests to block devices.
    Blocks,
}

/// What `trace` asks for besides.
#[derive(Clone, Debug)]
struct ForTrace {
    calls: Option<Vec<u16>>,
    string: u32,
    fd_names: bool,
}

impl LiveArgs {
    /// The arguments that say whom to record, by clap's names: files beside them would not be read.
    pub(crate) const WHOM: [&str; 9] =
        ["pids", "tids", "names", "ports", "cgroups", "containers", "units", "all", "command"];

    /// The same without the process, which also says whose time captures of several are to tell.
    pub(crate) const WHOM_BUT_PIDS: [&str; 8] =
        ["tids", "names", "ports", "cgroups", "containers", "units", "all", "command"];

    /// For printing: each of these calls, nothing but calls, and bytes as they are.
    pub(crate) fn for_trace(&mut self, calls: Option<Vec<u16>>, string: u32, fd_names: bool) {
        self.trace = Some(ForTrace { calls, string, fd_names });
    }

    /// It goes on until it is ended, or for as long as was asked for.
    #[cfg(feature = "bpf")]
    pub(crate) fn until_ended(&mut self) {
        self.endless = true;
    }

    /// The words of a command that records in detail what a ring of these arguments keeps, but for whom and how long.
    #[cfg(feature = "bpf")]
    pub(crate) fn in_detail(&self) -> Vec<OsString> {
        let pairs = [
            // ptrace would slow the target down.
            ("--by", "bpf".to_string()),
            ("--mode", "adaptive".to_string()),
            ("--max-overhead", self.max_overhead.to_string()),
            ("--payload", self.payload.to_string()),
            ("--follow", self.follow_peers.to_string()),
        ];
        let folders = self.debug_dirs.iter().map(|folder| ("--debug-dir", folder.clone().into_os_string()));
        let pairs = pairs.into_iter().map(|(name, value)| (name, value.into())).chain(folders);
        pairs.flat_map(|(name, value): (&str, OsString)| [name.into(), value]).collect()
    }

    /// The same without processes and threads that have ended meanwhile, which are named by their numbers.
    #[cfg(feature = "bpf")]
    pub(crate) fn of_the_living(&mut self) {
        let named = WatchedNow {
            all: self.all,
            pids: std::mem::take(&mut self.pids),
            tids: std::mem::take(&mut self.tids),
            children: !self.no_children,
        };
        WatchedNow { pids: self.pids, tids: self.tids, .. } = named.of_the_living(&ProcRoot::live());
    }

    /// For a summary: calls added up in the kernel, and nothing else.
    pub(crate) fn for_summary(&mut self) {
        self.only = Some(Only::Calls);
        self.mode = ModeArg::Counts;
    }

    /// For the table of files: what is done with each added up in the kernel, requests to disks, and nothing else.
    pub(crate) fn for_files(&mut self) {
        self.only = Some(Only::Files);
        self.mode = ModeArg::Counts;
    }

    /// For a look at the disks: their requests, and the host's figures of them.
    pub(crate) fn for_disks(&mut self) {
        self.only = Some(Only::Blocks);
        // No calls, so there is nothing to adapt.
        self.mode = ModeArg::Counts;
        // ptrace sees no requests; where BPF is not to be had, figures tell what they know.
        if !self.all {
            self.by = Means::Bpf;
        }
    }

    /// For a profile.
    pub(super) fn for_profile(args: CaptureArgs) -> LiveArgs {
        LiveArgs {
            pids: args.pids.clone(),
            tids: Vec::new(),
            names: args.names.clone(),
            ports: Vec::new(),
            cgroups: Vec::new(),
            containers: args.containers.clone(),
            units: Vec::new(),
            all: args.all,
            no_children: false,
            follow_peers: 0,
            duration: args.length(),
            mode: ModeArg::Counts,
            max_overhead: 5.0,
            payload: 0,
            keep_payload: false,
            probes: Vec::new(),
            // The recorder has those of the profile.
            debug_dirs: Vec::new(),
            buffer: 4,
            // ptrace sees no stacks.
            by: Means::Bpf,
            trace: None,
            endless: false,
            only: None,
            command: args.command.clone(),
            profile: Some(args),
        }
    }

    /// True where something live was asked for.
    pub(crate) fn is_asked(&self) -> bool {
        !self.command.is_empty() || !self.selection().is_empty()
    }

    /// True where payload is to be kept as it is, with the secrets in it.
    pub(super) fn keeps_payload(&self) -> bool {
        self.keep_payload
    }

    /// True where functions of the kernel are to be counted.
    pub(crate) fn has_probes(&self) -> bool {
        !self.probes.is_empty()
    }

    /// True where the host is sampled beside the recording.
    pub(super) fn wants_host(&self) -> bool {
        self.trace.is_none()
            && self.profile.is_none()
            && !matches!(self.only, Some(Only::Calls | Only::Files))
    }

    /// Which processes.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            pids: self.pids.clone(),
            tids: self.tids.clone(),
            names: self.names.clone(),
            children: !self.no_children,
            cgroups: self.cgroups.clone(),
            containers: self.containers.clone(),
            units: self.units.clone(),
            ports: self.ports.clone(),
            all: self.all,
        }
    }

    /// The recorder's options, without the processes.
    pub(crate) fn options(&self) -> whyslow_record::Options {
        if let Some(profile) = &self.profile {
            return profile.options();
        }
        if let Some(trace) = &self.trace {
            return whyslow_record::Options {
                all: self.all,
                follow: !self.no_children,
                mode: Mode::Full,
                calls: trace.calls.clone(),
                // strace shows what was read from files too.
                payload: trace.string + 1,
                keep_payload: true,
                string_limit: Some(trace.string),
                fd_names: trace.fd_names,
                sched: false,
                wait_stacks: false,
                sample_hz: 0,
                block: false,
                net: false,
                totals: false,
                ring_bytes: self.buffer << 20,
                ..whyslow_record::Options::default()
            };
        }
        let more = self.only.is_none();
        let files = self.only == Some(Only::Files);
        let blocks = self.only == Some(Only::Blocks);
        let usual = whyslow_record::Options::default();
        whyslow_record::Options {
            sched: more && usual.sched,
            wait_stacks: more && usual.wait_stacks,
            sample_hz: if more { usual.sample_hz } else { 0 },
            block: (more || files) && usual.block || blocks,
            net: more && usual.net,
            signals: more && usual.signals,
            totals: more && usual.totals,
            // Of single programs each call is recorded, as long as that costs little: where calls are only counted, this tells of
            // which files.
            files: files || more && (self.all || self.mode == ModeArg::Counts),
            queues: self.wants_host(),
            follow_peers: if self.wants_host() { usize::from(self.follow_peers) } else { 0 },
            tids: Vec::new(),
            all: self.all,
            follow: !self.no_children,
            name: self.names.first().cloned(),
            mode: match self.mode {
                _ if files || blocks => Mode::None,
                ModeArg::Counts => Mode::Counts,
                ModeArg::Full => Mode::Full,
                ModeArg::Adaptive => Mode::Adaptive,
            },
            max_overhead: self.max_overhead / 100.0,
            planned: self.duration.unwrap_or(DEFAULT_DURATION),
            payload: self.payload,
            keep_payload: self.keep_payload,
            debug_dirs: self.debug_dirs.clone(),
            probes: self.probes.clone(),
            ring_bytes: self.buffer << 20,
            ..usual
        }
    }

    /// The highest cost, in percent.
    pub(crate) fn max_overhead(&self) -> f64 {
        self.max_overhead
    }

    /// When to end by ourselves: a command is waited for.
    pub(crate) fn length(&self) -> Option<Duration> {
        let ends_by_itself = self.command.is_empty() && self.trace.is_none() && !self.endless;
        if ends_by_itself { Some(self.duration.unwrap_or(DEFAULT_DURATION)) } else { self.duration }
    }
}

const DEFAULT_DURATION: Duration = Duration::from_secs(10);

fn percent(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').parse().map_err(|_| "expected a number, as in 5 or 0.5".to_string())?;
    if number > 0.0 && number <= 100.0 {
        Ok(number)
    } else {
        Err("expected more than 0 and at most 100".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_more_than_nothing() {
        assert_eq!(percent("5"), Ok(5.0));
        assert_eq!(percent("0.5%"), Ok(0.5));
        for wrong in ["0", "-1", "101", "many", "nan"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }
}
