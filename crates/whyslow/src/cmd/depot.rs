//! `whyslow depot`: chores at the store that agents upload to.

use super::{Command, rights};
use crate::global::Global;
use crate::output::{self, plain};
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;
use whyslow_depot::{
    CompactOptions, Depot, DepotOptions, RetainOptions, Spool, check, compact, retain, upload_all, wait_for,
};
use whyslow_parts::{PART_TABLES, PartHost, PartHour};

/// The command.
pub(super) static COMMAND: Command = Command { name: "depot", clap, rights: rights::all, run };

/// Keep the store that agents upload to: list, check, join small parts, remove old ones
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow depot ls s3://telemetry/whyslow                      tables, hours, hosts, bytes of the last two days
  whyslow depot check --write s3://telemetry/whyslow           may we list, create once, read, remove? is the clock right?
  whyslow depot compact s3://telemetry/whyslow                 join what is over; from a timer, once an hour
  whyslow depot retain --days 30 --days-of stacks=7 /srv/fleet  remove what is older
  whyslow depot upload /var/lib/whyslow/spool gs://telemetry/x  send what an agent left

A store is a directory, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX. Credentials come from the environment
(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT; GOOGLE_SERVICE_ACCOUNT; AZURE_STORAGE_ACCOUNT_NAME,
AZURE_STORAGE_ACCOUNT_KEY and so on), from the machine's own role, or from a file (--credentials).
`compact` and `retain` may be stopped at any point, and run beside each other and beside agents.")]
struct DepotArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List what is stored, by table and day
    Ls {
        #[command(flatten)]
        store: Store,
        /// So many days back
        #[arg(long, value_name = "N", default_value_t = 2)]
        days: u32,
    },
    /// Tell whether the store can be used, and what is in it that should not be
    Check {
        #[command(flatten)]
        store: Store,
        /// So many days back
        #[arg(long, value_name = "N", default_value_t = 2)]
        days: u32,
        /// Create a small object twice, which must go once, and remove it
        #[arg(long)]
        write: bool,
        /// Read each part to its end
        #[arg(long)]
        read: bool,
    },
    /// Join the small parts of hours that are over
    Compact {
        #[command(flatten)]
        store: Store,
        /// So many days back: what an agent uploads later than that stays as it is until more are asked for
        #[arg(long, value_name = "N", default_value_t = 2)]
        days: u32,
        /// An hour is joined so many minutes after its end
        #[arg(long, value_name = "MINUTES", default_value_t = 10)]
        grace: u64,
        /// Parts that were joined stay for so many minutes more, for questions that have just been told of them
        #[arg(long, value_name = "MINUTES", default_value_t = 15)]
        linger: u64,
        /// Say what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove what is old
    Retain {
        #[command(flatten)]
        store: Store,
        /// Keep all tables for so many days
        #[arg(long, value_name = "N")]
        days: Option<u32>,
        /// Keep this table for so many days; may be given several times
        #[arg(long, value_name = "TABLE=N")]
        days_of: Vec<String>,
        /// Then remove the oldest hours until all has at most so many gigabytes
        #[arg(long, value_name = "GB")]
        max_size: Option<u64>,
        /// Say what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Send the parts that wait in an agent's directory
    Upload {
        /// The directory
        #[arg(value_name = "SPOOL")]
        spool: PathBuf,
        #[command(flatten)]
        store: Store,
    },
}

#[derive(Args)]
struct Store {
    /// The store
    #[arg(value_name = "STORE")]
    url: String,
    /// A file of settings, KEY=VALUE a line, that none but you may read
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Let the store be spoken to without encryption: for tests
    #[arg(long)]
    plain_http: bool,
}

impl Store {
    fn open(&self) -> anyhow::Result<Depot> {
        let credentials = self.credentials.clone();
        let options = DepotOptions { credentials, plain_http: self.plain_http, ..DepotOptions::default() };
        Ok(Depot::open(&self.url, &options)?)
    }
}

fn clap() -> clap::Command {
    DepotArgs::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    match DepotArgs::from_arg_matches(matches)?.what {
        What::Ls { store, days } => list(&store.open()?, &CompactOptions::last_days(days).hours, global),
        What::Check { store, days, write, read } => {
            let depot = store.open()?;
            let hours = CompactOptions::last_days(days).hours;
            checked(wait_for(check(&depot, &hours, write, read))??, global)
        }
        What::Compact { store, days, grace, linger, dry_run } => {
            let options = CompactOptions {
                grace: Duration::from_secs(grace.saturating_mul(60)),
                linger: Duration::from_secs(linger.saturating_mul(60)),
                dry: dry_run,
                ..CompactOptions::last_days(days)
            };
            compacted(&wait_for(compact(&store.open()?, &options))??, dry_run, global)
        }
        What::Retain { store, days, days_of, max_size, dry_run } => {
            let options = RetainOptions {
                days,
                days_of: days_of.iter().map(|text| days_of_table(text)).collect::<anyhow::Result<_>>()?,
                most_bytes: max_size.map(|gigabytes| gigabytes.saturating_mul(1_000_000_000)),
                dry: dry_run,
            };
            if options.days.is_none() && options.days_of.is_empty() && options.most_bytes.is_none() {
                bail!("nothing says what is to be kept\nnext: give --days, --days-of or --max-size");
            }
            let done = wait_for(retain(&store.open()?, &options))??;
            if global.json {
                return json(&done);
            }
            let verb = if dry_run { "would be removed" } else { "removed" };
            let oldest = done.oldest_left.as_deref().unwrap_or("no hour");
            lines(&[format!(
                "{} parts of {} {verb}; {} left, from {oldest} on",
                done.removed,
                output::bytes(done.removed_bytes),
                output::bytes(done.left_bytes)
            )])
        }
        What::Upload { spool, store } => {
            if !spool.is_dir() {
                bail!(
                    "{}: there is no such directory\nnext: name the agent's directory of parts that wait",
                    plain(&spool.display().to_string())
                );
            }
            let spool = Spool::open(&spool, u64::MAX)?;
            let done = wait_for(upload_all(&spool, &store.open()?))??;
            if global.json {
                return json(&done);
            }
            let there = if done.repeated > 0 {
                format!(", {} of them were there", done.repeated)
            } else {
                String::new()
            };
            lines(&[format!(
                "{} parts of {} uploaded{there}",
                done.uploaded,
                output::bytes(done.uploaded_bytes)
            )])
        }
    }
}

/// The table and the days of `TABLE=N`.
fn days_of_table(text: &str) -> anyhow::Result<(String, u32)> {
    let (table, days) = text.split_once('=').with_context(|| format!("`{}` is not TABLE=N", plain(text)))?;
    if whyslow_parts::part_table(table).is_none() {
        let known: Vec<&str> = PART_TABLES.iter().map(|table| table.name).collect();
        bail!("there is no table `{}`\nnext: name one of {}", plain(table), known.join(", "));
    }
    Ok((table.to_string(), days.parse().with_context(|| format!("`{}` is no number of days", plain(days)))?))
}

/// What a line of the list is of.
#[derive(Default)]
struct Day {
    parts: u64,
    bytes: u64,
    hours: u64,
    hosts: BTreeSet<String>,
    /// Whether parts of many hosts are among them, whose hosts their names do not tell.
    many: bool,
}

fn list(depot: &Depot, hours: &Range<PartHour>, global: &Global) -> anyhow::Result<Status> {
    let days = wait_for(days(depot, hours))??;
    if global.json {
        let rows: Vec<serde_json::Value> = days
            .iter()
            .map(|((table, date), day)| {
                serde_json::json!({
                    "table": table, "date": date, "hours": day.hours, "parts": day.parts, "bytes": day.bytes,
                    "hosts": (!day.many).then_some(day.hosts.len()),
                })
            })
            .collect();
        return json(&rows);
    }
    if days.is_empty() {
        let text = "nothing is stored of these days\nnext: --days N looks further back; `whyslow depot check` tells what is there that is no part";
        return lines(&[text.to_string()]);
    }
    let mut text =
        vec![format!("{:<10} {:<11} {:>5} {:>7} {:>10}  hosts", "table", "date", "hours", "parts", "bytes")];
    text.extend(days.iter().map(|((table, date), day)| {
        let hosts = match (day.many, day.hosts.len()) {
            (true, 0) => "joined".to_string(),
            (true, count) => format!("joined, and {count}"),
            (false, count) => count.to_string(),
        };
        let bytes = output::bytes(day.bytes);
        format!("{table:<10} {date:<11} {:>5} {:>7} {bytes:>10}  {hosts}", day.hours, day.parts)
    }));
    lines(&text)
}

async fn days(
    depot: &Depot,
    hours: &Range<PartHour>,
) -> Result<BTreeMap<(&'static str, String), Day>, whyslow_depot::DepotError> {
    depot.reach().await?;
    let mut days: BTreeMap<(&'static str, String), Day> = BTreeMap::new();
    for table in PART_TABLES {
        for hour in depot.hours(table, hours).await? {
            let folder = hour.folder();
            let date = folder.split('/').next().unwrap_or_default().trim_start_matches("date=").to_string();
            let listing = depot.list(table, hour).await?;
            if listing.parts.is_empty() {
                continue;
            }
            let day = days.entry((table.name, date)).or_default();
            day.hours += 1;
            for part in listing.parts.values() {
                day.parts += 1;
                day.bytes += part.bytes;
                match &part.name.host {
                    PartHost::One(host) => drop(day.hosts.insert(host.clone())),
                    PartHost::Many => day.many = true,
                }
            }
        }
    }
    Ok(days)
}

fn checked(report: whyslow_depot::CheckReport, global: &Global) -> anyhow::Result<Status> {
    let bad = report.damaged + report.overlapping > 0;
    if global.json {
        json(&report)?;
    } else {
        let mut text = vec![format!("{} parts of {} are read", report.parts, output::bytes(report.bytes))];
        if report.covered > 0 {
            text.push(format!("{} parts stand in joined ones: `compact` removes them", report.covered));
        }
        if report.hours_of_small_parts > 0 {
            text.push(format!(
                "{} hours have small parts: `compact` joins them",
                report.hours_of_small_parts
            ));
        }
        if report.strangers > 0 {
            text.push(format!("{} objects are no parts: they are left alone", report.strangers));
        }
        if report.damaged > 0 {
            text.push(format!("{} parts cannot be read", report.damaged));
        }
        if let Some(skew) = report.clock_skew_ns {
            let seconds = skew as f64 / 1e9;
            let word = if seconds < 0.0 { "behind" } else { "ahead of" };
            text.push(format!("this clock is {:.1} s {word} the server's", seconds.abs()));
        }
        text.extend(report.notes.iter().map(|note| format!("  {note}")));
        lines(&text)?;
    }
    Ok(if bad { Status::Found } else { Status::Done })
}

fn compacted(done: &whyslow_depot::CompactDone, dry: bool, global: &Global) -> anyhow::Result<Status> {
    if global.json {
        return json(done);
    }
    let would = if dry { "would be " } else { "" };
    let mut text = vec![format!(
        "{} hours of tables: {} parts {would}joined to {}, {} {would}removed, {} to be removed later",
        done.hours, done.joined, done.made, done.removed, done.lingering
    )];
    text.extend(done.notes.iter().map(|note| format!("  {note}")));
    lines(&text)
}

fn json(value: &impl serde::Serialize) -> anyhow::Result<Status> {
    let text = serde_json::to_string(value)?;
    output::to_stdout(|out| writeln!(out, "{text}"))?;
    Ok(Status::Done)
}

fn lines(lines: &[String]) -> anyhow::Result<Status> {
    output::to_stdout(|out| {
        lines.iter().try_for_each(|line| writeln!(out, "{}", plain(line).replace('\n', " ")))
    })?;
    Ok(Status::Done)
}
