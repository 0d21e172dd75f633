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

use std::ffi::OsString;
use std::process::ExitCode;
use whyslow_model::visible;

fn main() -> ExitCode {
    let given = cmd::with_two_dashes(std::env::args_os());
    let matches = match cmd::command_line().try_get_matches_from(&given) {
        Ok(matches) => matches,
        Err(error) => wrong(error, &given).exit(),
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

/// What is wrong with the words `given`, fit for a terminal: it quotes them.
fn wrong(error: clap::Error, given: &[OsString]) -> clap::Error {
    let words: Vec<_> = given.iter().map(|word| word.to_string_lossy()).collect();
    if !words.iter().any(|word| word.chars().any(visible::acts)) {
        return error;
    }
    let shown = words.iter().map(|word| visible::line(word).into_owned());
    match cmd::command_line().try_get_matches_from(shown) {
        Err(error) => error,
        // The escapes made sense of it.
        Ok(_) => clap::Error::raw(error.kind(), format!("{}\n", output::plain(&error.to_string()))),
    }
}
