//! The binary: command line in, reports out. Parsing of captures, judging and rendering live in other crates.

mod cli;
mod cmd;
mod global;
mod input;
// Without BPF nobody looks for what joins and what runs.
#[cfg_attr(not(feature = "bpf"), allow(dead_code))]
mod live;
mod output;
mod progress;
mod status;
mod temporary;
mod top;

use std::process::ExitCode;

fn main() -> ExitCode {
    let given = cmd::with_two_dashes(std::env::args_os());
    let matches = match cmd::command_line().try_get_matches_from(&given) {
        Ok(matches) => matches,
        Err(error) => cli::wrong(error, &given).exit(),
    };
    let result = cli::global(&matches).and_then(|global| cmd::run(&matches, &global));
    match result {
        Ok(status) => status.code(),
        // Who reads us has seen enough (`whyslow summary x | head`): that is no failure.
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::complain(&error);
            status::Status::Unusable.code()
        }
    }
}
