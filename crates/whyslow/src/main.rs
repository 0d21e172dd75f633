//! The binary: command line in, reports out. Parsing of captures, judging and rendering live in other crates.

mod cli;
mod cmd;
mod input;
mod live;
mod output;
mod progress;
mod top;

use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = cli::command().get_matches_from(cmd::with_two_dashes(std::env::args_os()));
    let result = cli::Global::of(&matches).and_then(|global| cmd::run(&matches, &global));
    match result {
        Ok(status) => status.code(),
        // Who reads us has seen enough (`whyslow summary x | head`): that is no failure.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            cli::Status::Unusable.code()
        }
    }
}
