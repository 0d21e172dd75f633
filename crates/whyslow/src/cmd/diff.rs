//! `whyslow diff BEFORE AFTER`: did the change work? Of profiles also a series: `whyslow diff A B C D`.

mod profiles;

use super::report::page_name;
use super::{Command, rights};
use crate::global::Global;
use crate::status::{FailOn, FailOnArg, Status};
use crate::{input, output};
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::{Path, PathBuf};
use whyslow_diff::DiffSide;
use whyslow_model::{Diagnosis, visible};
use whyslow_page::{PageReader, PageSide};
use whyslow_report::{JSON, TERMINAL};

/// The command.
pub(super) static COMMAND: Command = Command { name: "diff", clap, rights: rights::reader, run };

/// Show whether a change worked: findings gone and new, work done, figures
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow diff before.st after.st       two traces; before.lsof and after.lsof are read too if they lie beside them
  whyslow diff before/ after/           two directories of captures
  whyslow diff old-c.txt new-c.txt      two tables of strace -c
  whyslow diff 1.pprof 2.pprof 3.pprof  profiles: what each step did to each kind of cost
  whyslow diff --per requests=1000,1200 old.pprof new.pprof   the cost of a request
  whyslow diff old.pprof new.pprof --flame diff.html          and a flame graph of what became more and less
  whyslow diff before.whyslow after.whyslow -o diff.html      both runs on one page, to look at and to send
  whyslow diff old.log new.log          two access logs
  whyslow diff percentiles.tsv          a table of percentiles with a column `when`

Rates and times are compared only where both captures show how long they lasted. What two equal runs may differ by
is called `no change beyond noise`: less than three standard deviations or 5 % of a count, 10 % of a time, 5 points
of a share; of profiles also less than two standard deviations of their samples. With --fail-on, the status is 1 if a new finding of that severity appeared.")]
struct DiffArgs {
    /// The capture before the change: a file, with the snapshots of the same name beside it, or a directory
    before: PathBuf,
    /// The capture after it; none where a table of percentiles holds both
    after: Option<PathBuf>,
    /// Further profiles of a series
    #[arg(value_name = "MORE")]
    more: Vec<PathBuf>,
    /// Work done in each profile, and what is counted: requests=1000,1200
    #[arg(long, value_name = "[UNIT=]N,N,...")]
    per: Option<profiles::Work>,
    /// Of profiles: write a flame graph of what became more (red) and less (blue) from the first to the last, one HTML file
    #[arg(long, value_name = "FILE")]
    flame: Option<PathBuf>,
    /// Of captures: write one page with both side by side, NAME.html
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["flame", "per", "more"])]
    output: Option<PathBuf>,
    #[command(flatten)]
    fail_on: FailOnArg,
}

fn clap() -> clap::Command {
    DiffArgs::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = DiffArgs::from_arg_matches(matches)?;
    let after = args.after.as_deref();
    if args.before == Path::new("-") && after == Some(Path::new("-")) {
        bail!("standard input cannot be both sides; name a file for one of them");
    }
    let all: Vec<&Path> = [args.before.as_path()]
        .into_iter()
        .chain(after)
        .chain(args.more.iter().map(PathBuf::as_path))
        .collect();
    if all.len() > 1
        && let Some(loaded) = profiles::load(&all)?
    {
        if args.output.is_some() {
            bail!(
                "-o writes a page of two captures; these are profiles\nnext: --flame writes what became more and less of them"
            );
        }
        return profiles::run(&loaded, args.per.as_ref(), args.flame.as_deref(), global);
    }
    if let Some(path) = &args.output {
        let after = after.with_context(|| "a page of both needs a second capture")?;
        return page(&args, path, after, global);
    }
    if !args.more.is_empty() || args.per.is_some() || args.flame.is_some() {
        bail!(
            "a series, --per and --flame are for profiles; {} is none\nnext: give two captures, or only profiles",
            visible::path(&args.before)
        );
    }
    let before = input::facts_of_target(&input::with_companions(&args.before)?, &[], global)?;
    let (before, after) = match after {
        Some(after) => (before, input::facts_of_target(&input::with_companions(after)?, &[], global)?),
        None => whyslow_diff::two_runs(&before).with_context(|| {
            format!(
                "{} is one capture: name a second one (only a table of percentiles with a column `when` of two values \
                 is compared by itself)",
                visible::path(&args.before)
            )
        })?,
    };
    let (old, new) = (whyslow_diagnose::diagnose(&before), whyslow_diagnose::diagnose(&after));
    let diff = whyslow_diff::diff(
        DiffSide { facts: &before, diagnosis: &old },
        DiffSide { facts: &after, diagnosis: &new },
    );
    let format = if global.json { &JSON } else { &TERMINAL };
    output::to_stdout(|out| format.diff(&diff, &global.style(super::PIPE_WIDTH), out))?;
    Ok(FailOn::status(args.fail_on.fail_on, diff.new.iter().filter_map(|change| change.after)))
}

/// Writes the page of both runs.
fn page(args: &DiffArgs, path: &Path, after: &Path, global: &Global) -> anyhow::Result<Status> {
    if path.extension().is_none_or(|ending| ending != "html") {
        bail!(
            "{}: -o writes a page\nnext: name the file NAME.html; the text goes to standard output without -o",
            visible::path(path)
        );
    }
    output::check_target(path, &[&args.before, after])?;
    let side = |files: &Path| -> anyhow::Result<(PageReader, Diagnosis)> {
        let reader: PageReader = input::read_target(&input::with_companions(files)?, &[], global)?;
        let diagnosis = whyslow_diagnose::diagnose(reader.facts());
        Ok((reader, diagnosis))
    };
    let ((before, old), (after_reader, new)) = (side(&args.before)?, side(after)?);
    let diff = whyslow_diff::diff(
        DiffSide { facts: before.facts(), diagnosis: &old },
        DiffSide { facts: after_reader.facts(), diagnosis: &new },
    );
    let secrets = global.show_secrets;
    let sides = [
        PageSide::new(&page_name(std::slice::from_ref(&args.before)), before, &old, secrets)?,
        PageSide::new(&page_name(&[after.to_path_buf()]), after_reader, &new, secrets)?,
    ];
    output::to(Some(path), |out| whyslow_page::write_page(&sides, Some(&diff), secrets, out))?;
    Ok(FailOn::status(args.fail_on.fail_on, diff.new.iter().filter_map(|change| change.after)))
}
