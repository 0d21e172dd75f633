//! `whyslow explain FILE… --why-not RULE`: which need or guard of a rule failed, with the figures.

use super::{Command, rights, rule};
use crate::global::Global;
use crate::status::Status;
use crate::{input, output};
use anyhow::bail;
use clap::{ArgMatches, Args, FromArgMatches};
use serde_json::json;
use std::io::{self, Write};
use whyslow_diagnose::WhyNot;
use whyslow_model::figures;
use whyslow_model::visible;
use whyslow_rules::gate::{Compared, Stop};

/// The command.
pub(super) static COMMAND: Command = Command { name: "explain", clap, rights: rights::reader, run };

/// Say why a rule has no finding: the need that is missing, or the guard that failed, with the figures
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow explain slow.whyslow --why-not fsync-per-write    what the rule measured, beside its thresholds
  whyslow explain trace.st --why-not n-plus-one-queries --json

Conditions are shown as the rule writes them, with the place in its source (crates/rules/src). Of all candidates that failed
one comparison, the figure is that of the one that came nearest. `whyslow rule RULE` says what the rule is about.")]
struct Explain {
    #[command(flatten)]
    input: input::Files,
    /// The rule, as `whyslow rule` lists it
    #[arg(long, value_name = "RULE")]
    why_not: String,
    /// Tell all places where candidates were turned down, not only the nearest ones
    #[arg(long)]
    all: bool,
}

/// Places told unless all are asked for.
const PLACES: usize = 8;

fn clap() -> clap::Command {
    Explain::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Explain::from_arg_matches(matches)?;
    let Some(asked) = whyslow_rules::find(&args.why_not) else {
        bail!("there is no rule `{}`; {}", visible::line(&args.why_not), rule::advice(&args.why_not))
    };
    let facts = input::facts_of_target(&args.input.files, &[], global)?;
    let answer = WhyNot::of(&facts, asked);
    match global.json {
        true => output::to_stdout(|out| {
            serde_json::to_writer_pretty(&mut *out, &as_json(&answer))?;
            writeln!(out)
        })?,
        false => output::to_stdout(|out| print(&answer, args.all, out))?,
    }
    Ok(Status::Done)
}

/// What became of the rule, in a word.
fn word(answer: &WhyNot) -> &'static str {
    // Loops over nothing: no guard was asked.
    let no_candidate = answer.stops.iter().all(|stop| stop.how == "has nothing");
    match (answer.fired(), answer.found.is_empty(), answer.not_judged.is_empty(), no_candidate) {
        (true, ..) => "fired",
        (_, false, ..) => "told elsewhere",
        (_, _, false, _) => "not judged",
        (.., false) => "guards failed",
        _ => "no candidate",
    }
}

fn print(answer: &WhyNot, all: bool, out: &mut dyn Write) -> io::Result<()> {
    let id = answer.rule.id;
    match word(answer) {
        "fired" => writeln!(out, "{id} fired:")?,
        "told elsewhere" => writeln!(
            out,
            "{id} fired, but what it found is told in a finding of another rule, or is not about the target:"
        )?,
        "not judged" => writeln!(out, "{id} was not judged:")?,
        "guards failed" => writeln!(out, "{id} did not fire: {}", answer.rule.summary)?,
        _ => writeln!(
            out,
            "{id} did not fire: of what it looks for there is nothing (0 candidates), so that no guard was asked: {}",
            answer.rule.summary
        )?,
    }
    if answer.fired() {
        for finding in &answer.findings {
            writeln!(out, "  {}: {}", finding.severity.word(), visible::line(&finding.title))?;
        }
    } else {
        for title in &answer.found {
            writeln!(out, "  {}", visible::line(title))?;
        }
    }
    for one in &answer.not_judged {
        writeln!(out, "  missing: {}", visible::line(&one.missing))?;
        writeln!(out, "  supplied by: {}", visible::line(&one.supply))?;
    }
    if answer.stops.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nCandidates went no further at:")?;
    let stops = answer.by_nearness();
    let shown = if all { stops.len() } else { PLACES };
    for stop in stops.iter().take(shown) {
        print_stop(stop, out)?;
    }
    match stops.len().saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, "  and {} (--all tells them)", figures::plural(more as u64, "more place")),
    }
}

fn print_stop(stop: &Stop, out: &mut dyn Write) -> io::Result<()> {
    let times = figures::plural(stop.times, "time");
    writeln!(out, "  {}, {times}  [{}]", visible::line(&stop.sentence()), stop.place)?;
    for compared in &stop.compared {
        let reason = if compared.reason.is_empty() { "" } else { "\n      " };
        writeln!(out, "      {}{reason}{}", visible::line(&compared.sentence()), compared.reason)?;
    }
    Ok(())
}

fn as_json(answer: &WhyNot) -> serde_json::Value {
    let compared = |one: &Compared| {
        json!({
            "says": one.sentence(), "what": one.what, "value": one.value, "comparison": one.mark, "threshold": one.threshold,
            "threshold_value": one.threshold_value, "unit": one.unit.name(), "holds": one.holds, "times": one.times,
            "reason": one.reason, "place": one.place,
        })
    };
    let stop = |stop: &&Stop| {
        json!({
            "place": stop.place, "says": stop.sentence(), "condition": stop.condition, "how": stop.how, "times": stop.times,
            "compared": stop.compared.iter().map(compared).collect::<Vec<_>>(),
        })
    };
    json!({
        "rule": answer.rule.id,
        "answer": word(answer),
        "findings": answer.findings.iter().map(|finding| &finding.title).collect::<Vec<_>>(),
        "found": answer.found,
        "not_judged": answer.not_judged.iter().map(|one| json!({ "missing": one.missing, "supply": one.supply })).collect::<Vec<_>>(),
        "stops": answer.by_nearness().iter().map(stop).collect::<Vec<_>>(),
    })
}
