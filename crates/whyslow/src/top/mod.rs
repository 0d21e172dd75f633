//! `whyslow top`: the live host on a screen: what is full, who takes it, who waits for it, and on into one process.
//!
//! `look` is what is seen (`asleep` adds in what processes sleep), `history` the looks before, `app` what the screen is about,
//! `verdict` what it says above the list, `fit` how that is shortened, `draw` how it looks, `keys` what a key asks for; `watch` is
//! the loop, `terminal` the terminal; `about` finds more out about one process.

mod about;
mod action;
mod app;
mod asleep;
mod columns;
mod draw;
mod fit;
mod happening;
mod help;
mod history;
mod keys;
mod look;
mod once;
mod place;
#[cfg(test)]
#[path = "../../tests/live/pty.rs"]
mod pty;
#[cfg(test)]
mod screens;
mod terminal;
#[cfg(test)]
mod tests;
mod tree;
mod verdict;
mod watch;

use crate::global::Global;
use crate::status::Status;
use anyhow::{Context, bail};
use app::App;
use draw::Looks;
use look::Look;
use std::io::{IsTerminal, stdout};
use std::time::Duration;
use watch::{LONGEST, SHORTEST};
use whyslow_host::{Sampler, SamplerOptions, own_cpu};
use whyslow_model::{Nanos, Tid};

/// Watch the live host: which resource is full, who takes it, who waits for it
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  whyslow top                        the host, each second; ? lists the keys
  whyslow top -p 811                 process 811 first, whatever others do
  whyslow top -i 5s --sort cpu       each five seconds, who takes most CPU time first
  whyslow top --once                 one look, as text
  whyslow top --once --json          one look, for scripts")]
pub(crate) struct Top {
    /// How often to look: 500ms, 1s, 10s
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = crate::live::duration)]
    interval: Duration,
    /// Show these processes first
    #[arg(short, long = "pid", value_name = "PID", value_delimiter = ',')]
    pids: Vec<Tid>,
    /// Sort by this column (without it: by waits, and those that wait for nothing by CPU time): pid, name, state, cpu, trend, system,
    /// waits, read, write, rss, faults, switches, threads, command
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
    let proc = |pid: &&Tid| !std::path::Path::new("/proc").join(pid.to_string()).exists();
    if let Some(missing) = args.pids.iter().find(proc) {
        bail!("--pid {missing}: there is no such process\nnext: whyslow top, and / to find it by name");
    }
    let sampler = Sampler::new(SamplerOptions::default())?;
    let app = App::new(sort, &args.pids);
    if args.once || global.json {
        return once(sampler, interval, app, global);
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
    watch::watch(sampler, interval, app, looks)
}

fn once(mut sampler: Sampler, interval: Duration, app: App, global: &Global) -> anyhow::Result<Status> {
    sampler.sample();
    let before = own_cpu();
    std::thread::sleep(interval);
    let sample = sampler.sample();
    let mut look = Look::of(sample, since(before));
    asleep::Sleepers::default().tell(&mut look);
    if global.json {
        once::json(&look, global.show_secrets)?
    } else {
        once::text(look, app, global.show_secrets)?
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
