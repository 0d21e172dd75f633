//! Recording live: from the arguments to a recording that can be explained, stored or printed.

mod args;
mod by_bpf;
mod signals;
mod target;

pub(crate) use args::{LiveArgs, Means};

use crate::cli::Global;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;
use tempfile::TempDir;
use whyslow_model::{Event, Sink};
use whyslow_record::Recorded;

/// A recording that ended.
pub(crate) struct Ended {
    recorded: Recorded,
    /// What was recorded, for people: `pid 4711 (java)`.
    pub(crate) target: String,
    /// How a command of ours ended.
    pub(crate) command: Option<CommandEnd>,
    /// Holds the spool until it was read.
    _spool: Option<TempDir>,
}

/// How a command ended, as a shell tells it: its status, or 128 and the signal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CommandEnd(pub(crate) u8);

impl CommandEnd {
    /// As our own exit status.
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.0)
    }
}

impl Ended {
    /// Tells everything that was recorded.
    pub(crate) fn replay(&self, sink: &mut dyn Sink) -> anyhow::Result<()> {
        Ok(self.recorded.replay(&self.target, whyslow_model::SourceId(0), sink)?)
    }

    /// What was recorded.
    pub(crate) fn recorded(&self) -> &Recorded {
        &self.recorded
    }
}

/// Takes events while they come; called at least a few times a second, also when there are none.
pub(crate) trait Follow {
    /// Takes what there is now.
    fn events(&mut self, feed: &mut dyn FnMut(&mut dyn Sink) -> anyhow::Result<()>) -> anyhow::Result<()>;
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
    let temporary = match spool {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("whyslow-").tempdir().context("a folder for the recording")?),
    };
    let folder = spool.or(temporary.as_ref().map(TempDir::path)).expect("one of both");
    let mut ended = by_bpf::record(args, folder, follow, global)?;
    ended._spool = temporary;
    Ok(ended)
}

/// Events that nobody wants.
pub(crate) struct Nobody;

impl Sink for Nobody {
    fn push(&mut self, _event: Event<'_>) {}
}
