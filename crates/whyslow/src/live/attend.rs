//! Who attends a recording by BPF: told of each tick while it goes on, as the flight recorder is.

use super::args::{LiveArgs, Means};
use super::refusal::refusal;
use super::{Ended, by_bpf, host};
use crate::global::Global;
use anyhow::bail;
use std::path::Path;
use whyslow_model::Event;
use whyslow_record::{Options, Session};

/// Attends a recording.
pub(crate) trait Attend {
    /// Changes how is recorded.
    fn adjust(&self, options: &mut Options);
    /// The recording has begun, of what is told in words.
    ///
    /// # Errors
    /// Where it cannot attend.
    fn begin(&mut self, session: &Session, words: &str) -> anyhow::Result<()>;
    /// The sampler of the host tells.
    fn figure(&mut self, event: Event<'_>);
    /// A tick. Returns what is to be said.
    ///
    /// # Errors
    /// Where the recording cannot go on.
    fn tick(&mut self, session: &mut Session) -> anyhow::Result<Vec<String>>;
    /// Somebody sent SIGUSR1.
    fn asked(&mut self);
    /// The recording ends. Returns what is to be said.
    fn end(&mut self, session: &mut Session) -> Vec<String>;
    /// Where it writes to.
    fn folder(&self) -> &Path;
}

/// Records what `args` ask for by BPF, and nothing else; the spool is in `spool`.
///
/// # Errors
/// Where that is not to be had.
pub(crate) fn attended(
    args: &LiveArgs,
    spool: &Path,
    attend: &mut dyn Attend,
    global: &Global,
) -> anyhow::Result<Ended> {
    if !matches!(args.by, Means::Auto | Means::Bpf) {
        bail!("a ring is recorded by BPF alone\nnext: leave --by away");
    }
    if args.has_probes() || args.keeps_payload() {
        bail!("a ring takes neither --probe nor --keep-payload\nnext: leave them away");
    }
    if let Some(why) = refusal() {
        bail!("{why}\nnext: whyslow doctor tells what is missing; a ring is recorded by BPF alone");
    }
    let mut beside = if args.wants_host() { Some(host::Beside::start(true)?) } else { None };
    by_bpf::record_attended(args, spool, None, global, beside.as_mut(), Some(attend))
}
