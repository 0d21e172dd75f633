//! Recording by BPF, in a whyslow that was built without it (`--no-default-features`): refused, with what to do.

use super::Ended;
use super::args::LiveArgs;
use super::host::Beside;
use super::refusal::WITHOUT;
use crate::global::Global;
use anyhow::bail;
use std::path::Path;
use whyslow_model::Sink;

pub(super) fn record(
    _: &LiveArgs,
    _: &Path,
    _: Option<&mut dyn Sink>,
    _: &Global,
    _: Option<&mut Beside>,
) -> anyhow::Result<Ended> {
    bail!(
        "{WITHOUT}\nnext: use one built with the feature `bpf` (the default), or record by ptrace: --by ptrace"
    )
}
