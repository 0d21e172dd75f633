//! Recording live: from the arguments to a recording that can be explained, stored or printed.

mod args;
#[cfg(feature = "bpf")]
mod attend;
#[cfg_attr(not(feature = "bpf"), path = "no_bpf.rs")]
mod by_bpf;
mod by_ptrace;
mod capture_args;
mod expression;
pub(crate) mod host;
#[cfg(feature = "bpf")]
mod line;
mod profile;
mod refusal;
mod rights;
mod runtime;
mod signals;
mod target;

pub(crate) use args::{LiveArgs, ModeArg};
#[cfg(feature = "bpf")]
pub(crate) use attend::Attend;
pub(crate) use capture_args::CaptureArgs;
pub(crate) use profile::sample;
#[cfg(feature = "bpf")]
pub(crate) use rights::keep_rights_of_reader;
pub(crate) use whyslow_model::typed::time as duration;

pub(crate) use expression::calls_of;

use crate::global::Global;
use crate::status::Status;
use crate::temporary::LiveFolder;
use std::path::{Path, PathBuf};
use whyslow_host::Sample;
use whyslow_model::{
    CaptureKind, CaptureNote, Coverage, Event, NoteKind, RecordedSpan, Sink, SourceId, SourceInfo, Timestamp,
};
use whyslow_store::HostInfo;

/// Where the events are.
enum Recording {
    /// In the spool.
    #[cfg(feature = "bpf")]
    Spooled(Box<whyslow_record::Recorded>),
    /// In a recording of its own, in the temporary folder.
    Stored(PathBuf),
    /// With whom followed them.
    Told,
    /// There are none: the host alone was sampled.
    Sampled {
        /// Why.
        why: String,
    },
}

/// A recording that ended.
pub(crate) struct Ended {
    recorded: Recording,
    /// What was recorded, for people: `pid 4711 (java)`.
    pub(crate) target: String,
    /// From when to when.
    pub(crate) window: (Timestamp, Timestamp),
    /// `CLOCK_REALTIME` less `CLOCK_MONOTONIC` at its start, ns.
    pub(crate) clock_offset: u64,
    /// How a command of ours ended, as a shell tells it: its status, or 128 and the signal.
    command: Option<u8>,
    /// Names as they were at the end, and runtimes of the processes: for a profile.
    last: profile::Look,
    /// Samples of the host that were not told yet.
    samples: Vec<Sample>,
    /// Holds the spool until it was read.
    _spool: Option<LiveFolder>,
}

impl Ended {
    /// Tells everything that was recorded.
    pub(crate) fn replay(&self, sink: &mut dyn Sink) -> anyhow::Result<()> {
        match &self.recorded {
            #[cfg(feature = "bpf")]
            Recording::Spooled(recorded) => recorded.replay(&self.target, SourceId::default(), sink)?,
            Recording::Stored(folder) => {
                // The folder is ours and temporary: its name says nothing.
                let mut named = |event: Event<'_>| match event {
                    Event::Source(info) => {
                        sink.push(Event::Source(SourceInfo { name: self.target.clone(), ..info }))
                    }
                    event => sink.push(event),
                };
                whyslow_store::read(folder, SourceId::default(), &mut named, &mut |_, _| {})?;
            }
            Recording::Told => {}
            Recording::Sampled { why } => {
                let source = SourceId::default();
                let text = format!("{why}: nothing but the host was sampled");
                let (from, to) = self.window;
                sink.push(Event::Span(RecordedSpan { from, to, calls: Coverage::None }));
                let kind = NoteKind::Assumed;
                sink.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
                sink.push(Event::Source(SourceInfo::new(
                    source,
                    self.target.as_str(),
                    CaptureKind::Recording,
                )));
            }
        }
        host::tell(&self.samples, sink);
        Ok(())
    }

    /// How we end: as the command did.
    pub(crate) fn status(&self) -> Status {
        match self.command {
            None | Some(0) => Status::Done,
            Some(status) => Status::Command(status),
        }
    }
}

/// Records what `args` ask for. The spool is kept in `spool`, else in a temporary folder. With `follow` events are told as
/// they come, and are not there again at the end.
///
/// # Errors
/// Where the target is not there, or nothing can be recorded; with what to do next.
pub(crate) fn record(
    args: &LiveArgs,
    spool: Option<&Path>,
    follow: Option<&mut dyn Sink>,
    global: &Global,
) -> anyhow::Result<Ended> {
    anyhow::ensure!(
        !args.keeps_payload() || global.show_secrets,
        "--keep-payload keeps passwords and tokens that are sent and received, so it needs --show-secrets\nnext: add --show-secrets to keep them; or leave --keep-payload away"
    );
    let temporary = match spool {
        Some(_) => None,
        None => Some(LiveFolder::make(global.show_secrets)?),
    };
    let folder = spool.or(temporary.as_ref().map(LiveFolder::path)).expect("one of both");
    let refused = "--probe needs BPF, which is not to be had here, or not asked for\nnext: whyslow doctor tells what is missing; without --probe the recording works";
    if let Some(why) = host::is_all(args) {
        anyhow::ensure!(!args.has_probes(), "{why}: {refused}");
        return host::record(args, why, follow);
    }
    let by_ptrace = by_ptrace::is_chosen(args)?;
    anyhow::ensure!(!(by_ptrace && args.has_probes()), "{refused}");
    // A profile and a printed trace are of one program.
    let mut beside = if args.wants_host() { Some(host::Beside::start(follow.is_some())?) } else { None };
    let mut ended = if by_ptrace {
        by_ptrace::record(args, folder, follow, global, beside.as_mut())?
    } else {
        by_bpf::record(args, folder, follow, global, beside.as_mut())?
    };
    ended.samples = beside.map(host::Beside::rest).unwrap_or_default();
    ended._spool = temporary;
    Ok(ended)
}

/// Records what `args` ask for by BPF, and nothing else; the spool is in `spool`.
///
/// # Errors
/// Where that is not to be had.
#[cfg(feature = "bpf")]
pub(crate) fn attended(
    args: &LiveArgs,
    spool: &Path,
    attend: &mut dyn Attend,
    global: &Global,
) -> anyhow::Result<Ended> {
    if !matches!(args.by, args::Means::Auto | args::Means::Bpf) {
        anyhow::bail!("a ring is recorded by BPF alone\nnext: leave --by away");
    }
    if args.has_probes() || args.keeps_payload() {
        anyhow::bail!("a ring takes neither --probe nor --keep-payload\nnext: leave them away");
    }
    if let Some(why) = refusal::refusal() {
        anyhow::bail!("{why}\nnext: whyslow doctor tells what is missing; a ring is recorded by BPF alone");
    }
    let mut beside = if args.wants_host() { Some(host::Beside::start(true)?) } else { None };
    by_bpf::record_attended(args, spool, None, global, beside.as_mut(), Some(attend))
}

/// The machine, for the head of a recording.
pub(crate) fn host() -> HostInfo {
    let read = |path: &str| Some(std::fs::read_to_string(path).ok()?.trim().to_string());
    HostInfo {
        name: read("/proc/sys/kernel/hostname"),
        kernel: read("/proc/sys/kernel/osrelease"),
        cpus: std::thread::available_parallelism().ok().map(|cpus| cpus.get() as u32),
        boot_id: read("/proc/sys/kernel/random/boot_id"),
    }
}
