//! `whyslow schema [NAME]`: the JSON Schemas of what `--json` prints.

use super::{Command, rights};
use crate::global::Global;
use crate::output;
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use serde_json::json;
use whyslow_schema::JSON_FORMATS;

/// The command.
pub(super) static COMMAND: Command = Command { name: "schema", clap, rights: rights::reader, run };

/// Print the JSON Schema of what a command prints with --json
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow schema --list       the formats, and which command writes which
  whyslow schema diagnosis    the schema of `whyslow diagnose --json`

They are of JSON Schema, draft 2020-12. An object has no field that its schema does not list. `x-unit` is the unit of a figure.
The same files lie in docs/schema.")]
struct SchemaArgs {
    /// The format
    #[arg(required_unless_present = "list")]
    name: Option<String>,
    /// List the formats
    #[arg(long, conflicts_with = "name")]
    list: bool,
}

fn clap() -> clap::Command {
    SchemaArgs::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = SchemaArgs::from_arg_matches(matches)?;
    if args.list {
        list(global.json)?;
        return Ok(Status::Done);
    }
    let name = args.name.context("a name or --list")?;
    let Some(format) = whyslow_schema::find(&name) else {
        let known: Vec<&str> = JSON_FORMATS.iter().map(|format| format.name).collect();
        bail!("there is no format `{name}`\nnext: name one of {}", known.join(", "));
    };
    output::to_stdout(|out| out.write_all(format.text.as_bytes()))?;
    Ok(Status::Done)
}

fn list(as_json: bool) -> anyhow::Result<()> {
    if as_json {
        let of = |format: &whyslow_schema::JsonFormat| {
            json!({
                "name": format.name, "id": format.id(), "version": format.version, "title": format.title,
                "commands": format.commands,
            })
        };
        let all: Vec<_> = JSON_FORMATS.iter().map(of).collect();
        return output::to_stdout(|out| {
            serde_json::to_writer_pretty(&mut *out, &all)?;
            writeln!(out)
        });
    }
    let width = JSON_FORMATS.iter().map(|format| format.name.len()).max().unwrap_or(0);
    output::to_stdout(|out| {
        for format in JSON_FORMATS {
            writeln!(out, "{:width$}  {} ({})", format.name, format.title, format.commands.join(", "))?;
        }
        writeln!(out, "\n`whyslow schema NAME` prints one.")
    })
}
