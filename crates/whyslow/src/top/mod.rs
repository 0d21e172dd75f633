//! `whyslow top`: the live host on a screen: what is full, who takes it, who waits for it, and on into one process.
//!
//! `look` is what is seen, `app` what the screen is about, `draw` how it looks, `keys` what a key asks for; `watch` is the
//! loop, `terminal` the terminal; `about` finds more out about one process.

mod about;
mod action;
mod app;
mod columns;
mod draw;
mod happening;
mod help;
mod keys;
mod look;
mod once;
mod place;
#[cfg(test)]
#[path = "../../tests/live/pty.rs"]
mod pty;
mod terminal;
#[cfg(test)]
mod tests;
mod watch;

use crate::global::Global;
use crate::status::Status;
use anyhow::{Context, bail};
use draw::Looks;
use look::Look;
use std::io::{IsTerminal, stdout};
use std::time::Duration;
use watch::{LONGEST, SHORTEST};
use whyslow_host::{Sampler, SamplerOptions, own_cpu};
use whyslow_model::Nanos;

/// Watch the live host: which resource is full, who takes it, who waits for it
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  whyslow top                        the host, each second; ? lists the keys
  whyslow top -i 5s --sort waits     each five seconds, who waits most first
  whyslow top --once                 one look, as text
  whyslow top --once --json          one look, for scripts")]
pub(crate) struct Top {
    /// How often to look: 500ms, 1s, 10s
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = crate::live::duration)]
    interval: Duration,
    /// Sort by this column: pid, name, state, cpu, system, waits, read, write, rss, faults, switches, threads, command
    #[arg(short = 'S', long, value_name = "COLUMN")]
    sort: Option<String>,
    /// Print one look, over one interval, and end
    #[arg(long)]
    once: bool,
}

/// Carries the command out.
pub(crate) fn run(args: &Top, global: &Global) -> anyhow::Result<Status> {
    let sort = match &args.sort {
        None => app::usual_order(),
        Some(name) => columns::named(name).with_context(|| {
            let names: Vec<&str> = columns::COLUMNS.iter().map(|column| column.name).collect();
            format!("--sort {name}: no such column\nnext: one of {}", names.join(", "))
        })?,
    };
    let interval = args.interval;
    if !(SHORTEST..=LONGEST).contains(&interval) {
        bail!("--interval: expected 100ms to 1h\nnext: whyslow top -i 1s");
    }
    let sampler = Sampler::new(SamplerOptions::default())?;
    if args.once || global.json {
        return once(sampler, interval, sort, global);
    }
    if !stdout().is_terminal() {
        bail!("standard output is no terminal\nnext: whyslow top --once, with --json for scripts");
    }
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        bail!(
            "TERM=dumb: this terminal cannot be drawn on\nnext: whyslow top --once, or set TERM to what it is"
        );
    }
    let looks = Looks { colour: global.colored(true), show_secrets: global.show_secrets };
    watch::watch(sampler, interval, sort, looks)
}

fn once(mut sampler: Sampler, interval: Duration, sort: usize, global: &Global) -> anyhow::Result<Status> {
    sampler.sample();
    let before = own_cpu();
    std::thread::sleep(interval);
    let sample = sampler.sample();
    let look = Look::of(sample, since(before));
    if global.json {
        once::json(&look, global.show_secrets)?
    } else {
        once::text(look, sort, global.show_secrets)?
    }
    Ok(Status::Done)
}

/// CPU time of ours since then.
fn since(before: Nanos) -> Nanos {
    match (own_cpu().get(), before.get()) {
        (Some(now), Some(before)) => Nanos::new(now.saturating_sub(before)),
        _ => Nanos::UNKNOWN,
    }
}
