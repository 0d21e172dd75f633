//! The program behind `whyslow sql`, `whyslow serve` and `whyslow fleet`: what takes DataFusion, which the program itself is built without.

mod ask;
mod cluster;
mod complete;
mod confined;
mod fleet;
mod fleet_serve;
mod print;
mod serve;
mod shell;
mod sql;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use whyslow_model::visible;

/// What the program takes.
#[derive(Parser)]
#[command(
    name = "whyslow",
    bin_name = "whyslow",
    version,
    about = "SQL over recordings, pages of them served, and questions about many hosts"
)]
struct CommandLine {
    #[command(subcommand)]
    command: QueryCommand,
}

/// The commands, one file each.
#[derive(Subcommand)]
enum QueryCommand {
    Sql(sql::Sql),
    Serve(serve::Serve),
    Fleet(fleet::FleetArguments),
}

fn main() -> ExitCode {
    let result = match CommandLine::parse().command {
        QueryCommand::Sql(args) => sql::run(args),
        QueryCommand::Serve(args) => serve::run(args),
        QueryCommand::Fleet(args) => fleet::run(args),
    };
    match result {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error:#}"));
            ExitCode::from(2)
        }
    }
}

/// Says on standard error what is wrong. It may quote what strangers wrote.
fn complain(text: &str) {
    let lines: Vec<String> = text.lines().map(|line| visible::line(line).into_owned()).collect();
    eprintln!("whyslow: {}", lines.join("\n"));
}

/// True where who reads us has seen enough.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(is))
}
