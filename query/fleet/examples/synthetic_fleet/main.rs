//! Writes a synthetic fleet: `synthetic_fleet ROOT --hosts 1000 --hours 24`. What is known of it is in `ROOT/truth.json`.

mod generate;

use clap::Parser;
use generate::{FleetPlan, HOUR, generate};
use std::path::PathBuf;
use std::time::Instant;

/// Writes a fleet of hosts that do not exist, with faults that are known
#[derive(Parser)]
struct Arguments {
    /// Where to
    root: PathBuf,
    /// How many hosts
    #[arg(long, default_value_t = 100)]
    hosts: usize,
    /// How many hours
    #[arg(long, default_value_t = 24)]
    hours: i64,
    /// The end: hours since 1970
    #[arg(long, default_value_t = 498_816)]
    until: i64,
    /// Hours at the end that are left as agents write them, a part a minute
    #[arg(long, default_value_t = 0)]
    loose: i64,
    /// Another number gives another fleet
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> std::io::Result<()> {
    let given = Arguments::parse();
    let begun = Instant::now();
    let plan = FleetPlan {
        hosts: given.hosts.max(1),
        hours: given.hours.max(1),
        until: given.until * HOUR,
        loose: given.loose,
        seed: given.seed,
    };
    let bytes = generate(&plan, &given.root)?;
    println!(
        "{} hosts, {} hours, {:.1} MB in {:.0} s",
        plan.hosts,
        plan.hours,
        bytes as f64 / 1e6,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
