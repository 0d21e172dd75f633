//! `whyslow agent run` in a whyslow that was built without BPF (`--no-default-features`): refused, with what to do.

use super::settings::RunArgs;
use crate::status::Status;
use anyhow::bail;
use std::path::Path;

pub(super) fn run(args: &RunArgs) -> anyhow::Result<Status> {
    let _ = (args.settings(), args.once);
    bail!(
        "this whyslow was built without BPF, by which the agent records\nnext: use one built with the feature `bpf` (the default)"
    )
}

pub(super) fn window(_: &Path, _: &Path) -> anyhow::Result<Status> {
    bail!("this whyslow was built without BPF, by which the agent records")
}
