//! `whyslow check --budget F -- CMD` or `FILE…`: limits per unit of work, kept, broken or not judged.

use super::{Command, rights};
use crate::global::Global;
use crate::live::{self, LiveArgs, ModeArg};
use crate::output::say;
use crate::status::Status;
use crate::{input, output};
use anyhow::{Context, bail};
use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use whyslow_budget::{
    BUDGET_FORMATS, Baseline, Budget, BudgetFormat, BudgetReport, DefinedLimit, LimitOutcome, RunFigures,
    formats, judge,
};
use whyslow_facts::Facts;
use whyslow_model::visible;

/// The command.
pub(super) static COMMAND: Command = Command { name: "check", clap, rights, run };

/// Hold a program to a budget: limits per unit of work, for people and for CI
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow check --budget budget.toml -- ./import data.csv         run it and judge it
  whyslow check --budget budget.toml slow.whyslow                 judge a recording
  whyslow check --budget budget.toml --repeat 5 --save-baseline base.json -- ./import data.csv
  whyslow check --budget budget.toml --baseline base.json --repeat 3 -- ./import data.csv
  whyslow check --budget budget.toml -o check.xml -o check.sarif --format github -- ./import data.csv

A budget:
  limits = [
    \"stat <= 10/request\", \"fsync <= 1/request\", \"bytes_written <= 2 MB/run\", \"p99 <= 50 ms\",
    \"finding:n-plus-one-queries = none\",
  ]

Exit status: 0 all limits are kept; 1 one is broken; 3 none is broken, and one could not be judged; 2 wrong usage, or nothing
readable. A command that fails is not judged as kept: its own status is passed on, unless a limit is broken.
docs/BUDGETS.md has the limits, the formula of baselines, and jobs for GitHub Actions and GitLab.")]
struct Check {
    /// Recordings and captures, as diagnose takes them; with --each a run each
    #[arg(value_name = "FILE", conflicts_with_all = LiveArgs::WHOM_BUT_PIDS)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArgs,
    /// The budget
    #[arg(long, value_name = "FILE", help_heading = "What to judge")]
    budget: Option<PathBuf>,
    /// A baseline: what is measured in it is limited too, by its median and spread
    #[arg(long, value_name = "FILE", help_heading = "What to judge")]
    baseline: Option<PathBuf>,
    /// Write what was measured as a baseline for later runs
    #[arg(long, value_name = "FILE", help_heading = "What to judge")]
    save_baseline: Option<PathBuf>,
    /// Run the command so often; limits are judged by the median
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000), requires = "command", help_heading = "What to judge")]
    repeat: Option<u16>,
    /// Each FILE is a run of its own
    #[arg(long, requires = "files", help_heading = "What to judge")]
    each: bool,
    /// The form on standard output [default: text]
    #[arg(long, short, value_name = "FORMAT", value_parser = PossibleValuesParser::new(BUDGET_FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,
    /// Write the report to a file too: FILE, whose ending tells the form (.txt, .json, .xml, .sarif, .md), or FORMAT=FILE; may repeat
    #[arg(long = "output", short, value_name = "FILE")]
    outputs: Vec<String>,
}

/// Bytes of a baseline at most.
const LONGEST_BASELINE: u64 = 16 << 20;
/// Bytes of a budget at most that are read: one more than it may have.
const LONGEST_BUDGET: u64 = (1 << 20) + 1;

fn clap() -> clap::Command {
    Check::augment_args(clap::Command::new(COMMAND.name))
}

/// One that reads files is confined to its outputs.
fn rights(matches: &ArgMatches) -> rights::Rights {
    let Ok(args) = Check::from_arg_matches(matches) else { return rights::Rights::All };
    if args.files.is_empty() {
        return rights::Rights::All;
    }
    let outputs = args.outputs.iter().filter_map(|text| output_of(text).ok()).map(|(_, path)| path);
    rights::Rights::Reader(outputs.chain(args.save_baseline).collect())
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let mut args = Check::from_arg_matches(matches)?;
    // Limits are about counts: all calls are kept unless somebody asks for less.
    if matches.value_source("mode") == Some(ValueSource::DefaultValue) {
        args.live.mode = ModeArg::Full;
    }
    let outputs: Vec<(&BudgetFormat, PathBuf)> =
        args.outputs.iter().map(|text| output_of(text)).collect::<anyhow::Result<_>>()?;
    let named = [&args.budget, &args.baseline];
    let inputs: Vec<&Path> =
        args.files.iter().chain(named.into_iter().flatten()).map(PathBuf::as_path).collect();
    for path in outputs.iter().map(|(_, path)| path) {
        output::check_target(path, &inputs)?;
    }
    let (budget, limits) = limits(&args)?;
    let measured: Vec<DefinedLimit> = match &args.save_baseline {
        None => limits.clone(),
        // What is only measured comes behind what is judged.
        Some(_) => {
            let usual = whyslow_budget::usual(&budget).into_iter();
            let usual = usual.map(|limit| DefinedLimit { limit, why: None, line: None });
            limits.iter().cloned().chain(usual).collect()
        }
    };
    let asked = Asked { budget: &budget, measured: &measured };
    let (runs, ended) = all_runs(&args, &asked, global)?;
    let whole = judge(&budget, &measured, &runs);
    if let Some(path) = &args.save_baseline {
        save(path, &whole)?;
    }
    let report = BudgetReport { limits: whole.limits[..limits.len()].to_vec(), ..whole };
    for (format, path) in &outputs {
        output::to(Some(path), |out| out.write_all((format.write)(&report).as_bytes()))?;
    }
    let name = args.format.as_deref().unwrap_or(if global.json { "json" } else { "text" });
    if !report.limits.is_empty()
        && let Some(format) = formats::find(name)
    {
        output::to_stdout(|out| out.write_all((format.write)(&report).as_bytes()))?;
    }
    let status = match report.outcome() {
        _ if report.limits.is_empty() => Status::Done,
        LimitOutcome::Broken => Status::Found,
        LimitOutcome::NotJudged => Status::NotJudged,
        LimitOutcome::Kept => Status::Done,
    };
    Ok(match (status, ended) {
        (Status::Found, _) => Status::Found,
        // A command that failed did not do the work that the budget is about.
        (_, Some(failed @ Status::Command(_))) => failed,
        (status, _) => status,
    })
}

/// The budget, and the limits to judge: its own, then those of the baseline.
fn limits(args: &Check) -> anyhow::Result<(Budget, Vec<DefinedLimit>)> {
    if args.budget.is_none() && args.baseline.is_none() && args.save_baseline.is_none() {
        bail!(
            "nothing to judge by\nnext: name a budget (--budget FILE) or a baseline (--baseline FILE); `whyslow check --help` has examples"
        );
    }
    let budget = match &args.budget {
        Some(path) => Budget::parse(&visible::path(path), &text_of(path, LONGEST_BUDGET)?)?,
        None => {
            let file = args.baseline.as_deref().map_or("no budget".to_string(), visible::path);
            Budget { file, ..Budget::default() }
        }
    };
    let mut limits = budget.limits.clone();
    if let Some(path) = &args.baseline {
        let baseline = Baseline::parse(&visible::path(path), &text_of(path, LONGEST_BASELINE)?)?;
        limits.extend(baseline.limits());
    }
    Ok((budget, limits))
}

fn text_of(path: &Path, most: u64) -> anyhow::Result<String> {
    let shown = visible::path(path);
    let file = std::fs::File::open(path).with_context(|| format!("{shown}: cannot be read"))?;
    let mut text = String::new();
    file.take(most).read_to_string(&mut text).with_context(|| format!("{shown}: cannot be read"))?;
    Ok(text)
}

/// What is measured of each run.
struct Asked<'b> {
    budget: &'b Budget,
    measured: &'b [DefinedLimit],
}

impl Asked<'_> {
    fn figures(&self, facts: &Facts) -> RunFigures {
        let diagnosis = whyslow_diagnose::diagnose(facts);
        let limits: Vec<_> = self.measured.iter().map(|defined| &defined.limit).collect();
        RunFigures::of(facts, (&diagnosis.findings, &diagnosis.not_judged), &limits, self.budget)
    }
}

/// The figures of all runs, and how the first command ended that failed.
fn all_runs(
    args: &Check,
    asked: &Asked<'_>,
    global: &Global,
) -> anyhow::Result<(Vec<RunFigures>, Option<Status>)> {
    if !args.files.is_empty() {
        let sets: Vec<&[PathBuf]> = match args.each {
            true => args.files.chunks(1).collect(),
            false => vec![&args.files],
        };
        let figures = sets.into_iter().map(|files| {
            let facts = input::facts_of_target(files, &args.live.pids, global)?;
            Ok(asked.figures(&facts))
        });
        return Ok((figures.collect::<anyhow::Result<_>>()?, None));
    }
    if !args.live.is_asked() {
        bail!(
            "nothing to judge\nnext: name a command (-- CMD), a process (-p PID) or recordings; `whyslow check --help` has examples"
        );
    }
    let (mut runs, mut failed) = (Vec::new(), None);
    for _ in 0..args.repeat.unwrap_or(1) {
        let recording = live::record(&args.live, None, None, global)?;
        let mut facts = Facts::of_target();
        recording.replay(&mut facts)?;
        facts.finish();
        runs.push(asked.figures(&facts));
        if let status @ Status::Command(_) = recording.status() {
            failed = Some(status);
            break;
        }
    }
    Ok((runs, failed))
}

fn save(path: &Path, whole: &BudgetReport) -> anyhow::Result<()> {
    let baseline = Baseline::of(whole);
    output::to(Some(path), |out| out.write_all(baseline.to_text().as_bytes()))?;
    let unknown = whole
        .limits
        .iter()
        .filter(|judged| judged.defined.line.is_some() && judged.defined.limit.above.is_none());
    for judged in
        unknown.filter(|judged| !baseline.figures.contains_key(&judged.defined.limit.key.to_string()))
    {
        let why = judged.reason.as_deref().unwrap_or("it is not known in all runs");
        say!("whyslow: {} is not in the baseline: {}", judged.defined.limit.key, visible::line(why));
    }
    Ok(())
}

/// The form and the file of `-o`: `FILE`, or `FORMAT=FILE`.
fn output_of(text: &str) -> anyhow::Result<(&'static BudgetFormat, PathBuf)> {
    if let Some((format, path)) = text.split_once('=')
        && let Some(format) = formats::find(format)
    {
        return Ok((format, PathBuf::from(path)));
    }
    let path = PathBuf::from(text);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match formats::of_extension(ending) {
        Some(format) => Ok((format, path)),
        None => {
            let endings: Vec<String> =
                BUDGET_FORMATS.iter().map(|format| format!(".{}", format.extension)).collect();
            bail!(
                "{}: its ending does not tell the form\nnext: name the file with {}, or give FORMAT=FILE",
                visible::path(&path),
                endings.join(", ")
            )
        }
    }
}
