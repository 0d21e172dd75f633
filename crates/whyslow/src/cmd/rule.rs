//! `whyslow rule [ID]`: the rules, and the essay of one.

use super::{Command, rights};
use crate::global::Global;
use crate::output;
use crate::status::Status;
use anyhow::bail;
use clap::{ArgMatches, Args, FromArgMatches};
use serde_json::json;
use std::io::{self, Write};
use whyslow_rules::RULES;
use whyslow_rules::Rule;

/// The command.
pub(super) static COMMAND: Command = Command { name: "rule", clap, rights: rights::reader, run };

/// List the rules, or explain one: what it means, why it is slow, what to do
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow rule                  all rules
  whyslow rule tz-stat-storm    what it is, why it is slow, what to do instead, when it is wrong")]
struct RuleArgs {
    /// The rule, as a finding names it
    id: Option<String>,
}

/// Below this likeness (Jaro-Winkler, 0 to 1) a name is no slip of the finger.
const ALIKE: f64 = 0.75;

fn clap() -> clap::Command {
    RuleArgs::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = RuleArgs::from_arg_matches(matches)?;
    match args.id {
        None if global.json => {
            let list: Vec<_> = RULES.iter().map(|rule| entry(rule)).collect();
            output::to_stdout(|out| print_json(&list, out))?;
        }
        None => output::to_stdout(|out| list(out))?,
        Some(id) => {
            let Some(rule) = whyslow_rules::find(&id) else {
                bail!("there is no rule `{id}`; {}", advice(&id))
            };
            if global.json {
                let mut whole = entry(rule);
                whole["essay"] = json!(rule.essay());
                output::to_stdout(|out| print_json(&whole, out))?;
            } else {
                let color = global.style(super::PIPE_WIDTH).color;
                output::to_stdout(|out| essay(rule, color, out))?;
            }
        }
    }
    Ok(Status::Done)
}

fn entry(rule: &Rule) -> serde_json::Value {
    json!({ "id": rule.id, "group": rule.group, "summary": rule.summary })
}

fn print_json(value: &impl serde::Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

fn list(out: &mut dyn Write) -> io::Result<()> {
    let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut group = "";
    for rule in RULES {
        if rule.group != group {
            let gap = if group.is_empty() { "" } else { "\n" };
            group = rule.group;
            writeln!(out, "{gap}{group}")?;
        }
        writeln!(out, "  {:width$}  {}", rule.id, rule.summary)?;
    }
    writeln!(out, "\n`whyslow rule ID` explains one.")
}

fn essay(rule: &Rule, color: bool, out: &mut dyn Write) -> io::Result<()> {
    for line in rule.essay().lines() {
        if color && line.starts_with('#') {
            writeln!(out, "\x1b[1m{}\x1b[0m", line.trim_start_matches('#').trim_start())?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The rules that may be meant.
pub(super) fn advice(id: &str) -> String {
    let mut alike: Vec<(f64, &str)> = RULES
        .iter()
        .map(|rule| (if rule.id.contains(id) { 1.0 } else { strsim::jaro_winkler(rule.id, id) }, rule.id))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    alike.truncate(3);
    match alike.as_slice() {
        [] => "`whyslow rule` lists them all".to_string(),
        alike => {
            let names: Vec<&str> = alike.iter().map(|(_, id)| *id).collect();
            format!("did you mean {}?", names.join(" or "))
        }
    }
}
