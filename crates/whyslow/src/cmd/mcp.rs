//! `whyslow mcp DIR…`: an MCP server for programs that help people.

use super::Command;
use super::rights::Rights;
use crate::global::Global;
use crate::output::say;
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;
use whyslow_mcp::{McpOptions, RulePage};
use whyslow_rules::RULES;

/// The command.
pub(super) static COMMAND: Command = Command { name: "mcp", clap, rights, run };

/// Answer programs that help people (MCP, standard input and output): findings, account rows, evidence
///
/// The server reads recordings and captures below the given directories, and nothing else: no file of them is written, nothing
/// connects, no program runs but whyslow itself. It records only with --allow-record.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow mcp                             of what lies below the current directory
  whyslow mcp /srv/recordings             of what lies below another one
  whyslow mcp --allow-record recordings   and records running programs into it, where its rights allow that

docs/MCP.md says how usual clients are told of it, and lists the tools.")]
struct Mcp {
    /// The directories below which files may be read [default: the current one]
    #[arg(value_name = "DIR")]
    roots: Vec<PathBuf>,
    /// Have the tool that records running programs, into the first directory
    #[arg(long)]
    allow_record: bool,
    /// The longest answer, bytes of JSON; what is left out is said, and asked for by a cursor
    #[arg(long, value_name = "N", default_value_t = McpOptions::USUAL_BYTES as u64,
        value_parser = clap::value_parser!(u64).range(McpOptions::LEAST_BYTES as u64..=McpOptions::MOST_BYTES as u64))]
    max_bytes: u64,
    /// Refuse inputs that are larger, bytes
    #[arg(long, value_name = "N", default_value_t = McpOptions::USUAL_INPUT)]
    max_input: u64,
    /// Give up questions that take longer, seconds
    #[arg(long, value_name = "N", default_value_t = McpOptions::USUAL_TIME.as_secs(), value_parser = clap::value_parser!(u64).range(1..=3600))]
    time_limit: u64,
}

fn clap() -> clap::Command {
    Mcp::augment_args(clap::Command::new(COMMAND.name))
}

fn roots(args: &Mcp) -> Vec<PathBuf> {
    if args.roots.is_empty() { vec![PathBuf::from(".")] } else { args.roots.clone() }
}

/// What records needs its rights; the others read below their directories.
fn rights(matches: &ArgMatches) -> Rights {
    match Mcp::from_arg_matches(matches) {
        Ok(args) if !args.allow_record => Rights::ReaderBelow(roots(&args)),
        _ => Rights::All,
    }
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Mcp::from_arg_matches(matches)?;
    if global.show_secrets {
        bail!("secrets are not shown to programs\nnext: leave out --show-secrets");
    }
    if std::io::stdin().is_terminal() {
        say!(
            "whyslow: a client speaks to this by standard input; docs/MCP.md says how one is told of it (Ctrl-D ends it)"
        );
    }
    let pages = RULES.iter().map(|rule| RulePage {
        id: rule.id,
        group: rule.group,
        summary: rule.summary,
        essay: rule.essay().to_string(),
    });
    let options = McpOptions {
        program: std::env::current_exe().context("where this program is")?,
        version: env!("CARGO_PKG_VERSION"),
        roots: roots(&args),
        max_bytes: args.max_bytes as usize,
        max_input: args.max_input,
        time_limit: Duration::from_secs(args.time_limit),
        allow_record: args.allow_record,
        rules: pages.collect(),
    };
    whyslow_mcp::serve(options).context("the MCP server")?;
    Ok(Status::Done)
}
