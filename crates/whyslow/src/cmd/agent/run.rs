//! `whyslow agent run`, and the process that tells one window.

use super::settings::RunArgs;
use crate::output::{plain, say, to_stdout};
use crate::status::Status;
use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::path::Path;
use whyslow_agent::AgentOrder;

pub(super) fn run(args: &RunArgs) -> anyhow::Result<Status> {
    let settings = args.settings().map_err(anyhow::Error::msg)?;
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context("listening for signals")?;
    let mut orders = || {
        let order = |signal| if signal == SIGHUP { AgentOrder::Reload } else { AgentOrder::End };
        signals.pending().map(order).collect()
    };
    let mut tell = |text: &str| say!("whyslow: {}", plain(text));
    whyslow_agent::run(settings, args.once, &mut orders, &mut || args.settings(), &mut tell)?;
    Ok(Status::Done)
}

/// Tells one window, and prints what became of it.
pub(super) fn window(state: &Path, folder: &Path) -> anyhow::Result<Status> {
    // Whoever is recorded goes first. Where it is refused, all goes on as before.
    let _ = rustix::process::nice(10);
    let outcome = whyslow_agent::tell_window(state, folder)?;
    to_stdout(|out| {
        serde_json::to_writer(&mut *out, &outcome)?;
        writeln!(out)
    })?;
    Ok(Status::Done)
}
