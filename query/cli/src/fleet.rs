//! `whyslow fleet …`: questions about many hosts, whose agents stored parts in a directory or a bucket.

use crate::cluster::{self, ClusterArguments, ClusterCommand};
use crate::confined::{self, Needs};
use crate::fleet_serve::FleetServeArguments;
use crate::print::{self, Form};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use datafusion::prelude::SessionContext;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use whyslow_query_engine::{QueryError, QueryLimits};
use whyslow_query_fleet::{
    Fleet, FleetAnswer, FleetCompare, FleetError, FleetFindings, FleetHosts, FleetOptions, FleetSpan,
    FleetSpread, FleetWhy, GroupColumn, given_usage_line, parse_time, usage_line, why_span,
};

/// The place of the parts, where `--root` does not say it.
const ROOT: &str = "WHYSLOW_FLEET";
/// A cluster is told of what was given up; it has so long to hear it.
const CLOSING: Duration = Duration::from_secs(2);

/// Ask about many hosts: what was found, where, why it was slow then, what a version costs
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow fleet findings --since 24h --by rule,service,version   what was found, on how many hosts, since when
  whyslow fleet why checkout --at 03:12                          what it did more of than usual then, and on which hosts
  whyslow fleet compare v1.8 v1.9 --since 6h                     what a version costs beside another one
  whyslow fleet where fsync-per-write                            on which hosts, services and versions
  whyslow fleet hosts                                            the agents, what they lost, who is silent
  whyslow fleet serve                                            the same in a browser
  whyslow fleet ask \"SELECT host, sum(ns) FROM accounts WHERE state = 'run-queue' GROUP BY host ORDER BY 2 DESC LIMIT 5\"

The parts are in --root (or $WHYSLOW_FLEET): a directory, or s3://BUCKET/PREFIX, gs://, az:// with credentials in the environment.
Times are UTC. Only questions are answered: nothing is written. docs/FLEET.md has the tables.")]
pub(crate) struct FleetArguments {
    /// Where the agents' parts are: a directory, s3://BUCKET/PREFIX, gs://…, az://… (default: $WHYSLOW_FLEET)
    #[arg(long, global = true, value_name = "ROOT")]
    root: Option<String>,
    /// From when: a span before the end (24h, 30m, 7d) or a time (03:12, 2026-11-27T03:12, UTC)
    #[arg(long, global = true, value_name = "TIME", default_value = "24h")]
    since: String,
    /// Until when (default: now)
    #[arg(long, global = true, value_name = "TIME")]
    until: Option<String>,
    /// This host alone; may be given several times
    #[arg(long, global = true, value_name = "HOST")]
    host: Vec<String>,
    /// This service alone
    #[arg(long, global = true, value_name = "SERVICE")]
    service: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Tell on standard error how long it took
    #[arg(long, global = true)]
    timing: bool,
    /// A question that takes longer is given up, seconds
    #[arg(long, global = true, value_name = "S", default_value = "600", value_parser = clap::value_parser!(u64).range(1..))]
    time: u64,
    /// Memory that sorts, groups and joins may hold, MiB
    #[arg(long, global = true, value_name = "MIB", default_value = "2048", value_parser = clap::value_parser!(u64).range(16..=1 << 20))]
    memory: u64,
    /// Threads that work on a question (default: one a CPU)
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=128))]
    threads: Option<u8>,
    /// Of no effect: parts hold no secrets that are recognised
    #[arg(long, global = true, hide = true)]
    show_secrets: bool,
    #[command(flatten)]
    cluster: ClusterArguments,
    #[command(subcommand)]
    question: FleetQuestion,
}

/// The questions.
#[derive(Subcommand)]
enum FleetQuestion {
    /// What was found: on how many hosts, since when, and whether it continues
    Findings {
        /// What findings are put together by: rule, service, version, host, severity, process, culprit, line
        #[arg(long, value_name = "COLUMNS", value_delimiter = ',', default_value = "rule,service,version")]
        by: Vec<GroupColumn>,
        /// Those alone that continue
        #[arg(long)]
        open: bool,
    },
    /// What a service did more of than usual around a time, and on which hosts
    Why {
        /// The service
        #[arg(value_name = "SERVICE")]
        name: String,
        /// When: 03:12, 2026-11-27T03:12 (UTC), or a span before now
        #[arg(long, value_name = "TIME")]
        at: String,
    },
    /// What a version costs beside another one, per request or per second
    Compare {
        /// The version that is held against
        #[arg(value_name = "OLD")]
        old: String,
        /// The version that is asked about
        #[arg(value_name = "NEW")]
        new: String,
    },
    /// On which hosts, services and versions a rule found something
    Where {
        /// The rule
        #[arg(value_name = "RULE")]
        rule: String,
    },
    /// The agents: versions, losses, lag, who is silent
    Hosts,
    /// Serve findings, services, hosts and kept recordings to browsers
    Serve(FleetServeArguments),
    /// One question in SQL: tables accounts, calls, requests, stacks, hosts, findings, agents
    Ask {
        /// The question
        #[arg(value_name = "SQL")]
        sql: String,
        /// Print CSV
        #[arg(long, conflicts_with_all = ["json", "ndjson"])]
        csv: bool,
        /// Print a JSON object a row
        #[arg(long, conflicts_with = "json")]
        ndjson: bool,
        /// Rows at most; 0 for all
        #[arg(long, value_name = "N", default_value = "1000")]
        rows: usize,
    },
    #[command(flatten)]
    Cluster(ClusterCommand),
}

pub(crate) fn run(args: FleetArguments) -> anyhow::Result<ExitCode> {
    let root = args.root.clone().or_else(|| std::env::var(ROOT).ok()).filter(|root| !root.is_empty());
    if let FleetQuestion::Cluster(command) = &args.question {
        let memory = usize::try_from(args.memory << 20)?;
        return cluster::run(command, &args.cluster, root.as_deref(), args.threads, memory);
    }
    let Some(root) = root else {
        bail!(
            "no place of parts is named\nnext: name it with --root DIRECTORY (or s3://BUCKET/PREFIX), or in ${ROOT}"
        );
    };
    if let FleetQuestion::Serve(serve) = &args.question {
        if args.cluster.cluster.is_some() {
            bail!("the server of pages reads the parts itself\nnext: leave --cluster out");
        }
        return crate::fleet_serve::run(serve, &root, args.threads.map(usize::from), args.show_secrets);
    }
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros())?;
    let at = match &args.question {
        FleetQuestion::Why { at, .. } => {
            let end = args.until.as_deref().map_or(Ok(now), |until| parse_time(until, now))?;
            Some(parse_time(at, end)?)
        }
        _ => None,
    };
    let span = match at {
        Some(at) => why_span(at),
        None => FleetSpan::parse(&args.since, args.until.as_deref(), now)?,
    };
    let hosts: BTreeSet<String> = args.host.iter().cloned().collect();
    let options = FleetOptions {
        span,
        hosts: (!hosts.is_empty()).then_some(hosts),
        memory: usize::try_from(args.memory << 20)?,
        threads: args.threads.map(usize::from),
        time: Duration::from_secs(args.time),
    };
    let asked = cluster::asked(&args.cluster, args.threads)?;
    let _temporary = confine(&root, asked.is_some())?;
    let runtime = Runtime::new()?;
    let begun = Instant::now();
    let result = runtime.block_on(async {
        let cluster = match asked {
            Some(options) => Some(cluster::Cluster::connect(options).await?),
            None => None,
        };
        let engine = cluster.as_ref().map(cluster::Cluster::engine);
        let answer = tokio::select! {
            answer = ask(&args, &root, options, at, engine) => answer,
            _ = tokio::signal::ctrl_c() => Err(FleetError::from(QueryError::Interrupted).into()),
        };
        if let Some(cluster) = cluster {
            cluster.close(CLOSING).await;
        }
        answer
    });
    // A question that was given up may still be at a step that takes long.
    runtime.shutdown_background();
    if args.timing {
        eprintln!("{:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    }
    result
}

/// What reads a directory opens nothing else. What reads over the network cannot be confined so: it connects.
fn confine(root: &str, asks_others: bool) -> anyhow::Result<Option<TempDir>> {
    if root.contains("://") {
        return Ok(None);
    }
    if asks_others {
        return cluster::confine(Path::new(root)).map(Some);
    }
    let needs =
        Needs { reads: &[PathBuf::from(root)], writes: &[], runs: None, listens: false, connects: false };
    confined::confine(&needs).map(Some)
}

async fn ask(
    args: &FleetArguments,
    root: &str,
    options: FleetOptions,
    at: Option<i64>,
    engine: Option<SessionContext>,
) -> anyhow::Result<ExitCode> {
    let time = options.time;
    let fleet = match engine {
        Some(engine) => Fleet::open_on(engine, root, options)?,
        None => Fleet::open(root, options)?,
    };
    let service = args.service.as_deref();
    let result = match &args.question {
        FleetQuestion::Findings { by, open } => {
            tell(args, &FleetFindings::ask(&fleet, by, service, *open).await)
        }
        FleetQuestion::Why { name, .. } => {
            let at = at.context("a time")?;
            tell(args, &FleetWhy::ask(&fleet, name, at).await)
        }
        FleetQuestion::Compare { old, new } => {
            tell(args, &FleetCompare::ask(&fleet, old, new, service).await)
        }
        FleetQuestion::Where { rule } => tell(args, &FleetSpread::ask(&fleet, rule, service).await),
        FleetQuestion::Hosts => tell(args, &FleetHosts::ask(&fleet).await),
        FleetQuestion::Serve(_) => bail!("a server asks by itself"),
        FleetQuestion::Ask { sql, csv, ndjson, rows } => {
            let form = match (args.json, *csv, *ndjson) {
                (true, ..) => Form::Json,
                (_, true, _) => Form::Csv,
                (_, _, true) => Form::Ndjson,
                _ => Form::Table,
            };
            in_sql(&fleet, sql, form, *rows, time).await
        }
        FleetQuestion::Cluster(_) => bail!("this is no question"),
    };
    for remark in fleet.remarks() {
        crate::complain(&remark);
    }
    if result.is_ok() {
        let line = if fleet.is_given() { given_usage_line } else { usage_line };
        eprintln!("{}", line(fleet.usage()));
    }
    result.map(|()| ExitCode::SUCCESS)
}

async fn in_sql(fleet: &Fleet, sql: &str, form: Form, rows: usize, time: Duration) -> anyhow::Result<()> {
    let limits =
        QueryLimits { rows: if rows == 0 { usize::MAX } else { rows }, time, ..QueryLimits::default() };
    for statement in print::statements(sql) {
        let answer = fleet.ask(&statement, limits).await?;
        print::answer(&answer, form, &mut std::io::stdout().lock())?;
        if answer.truncated {
            eprintln!("whyslow: more rows are not shown (--rows 0 shows all)");
        }
    }
    Ok(())
}

/// Prints an answer: as people read it, or as JSON.
fn tell<T: FleetAnswer>(args: &FleetArguments, answer: &Result<T, FleetError>) -> anyhow::Result<()> {
    use std::io::Write;
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => bail!("{error}"),
    };
    let text = match args.json {
        true => serde_json::to_string_pretty(answer)? + "\n",
        false => answer.text(),
    };
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}
