//! Commands that another program carries out: `whyslow-query`, which is built apart, for what it takes to build (query/Cargo.toml).

use crate::global::Global;
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{Arg, ArgAction, ArgMatches};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

/// The program.
const PROGRAM: &str = "whyslow-query";

/// A command of it: its words are its own, `--help` too.
pub(super) fn clap(name: &'static str, about: &'static str, help: &'static str) -> clap::Command {
    clap::Command::new(name).about(about).after_help(help).disable_help_flag(true).arg(
        Arg::new("words")
            .value_name("ARG")
            .help(format!("What {PROGRAM} {name} takes; --help tells"))
            .action(ArgAction::Append)
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true)
            .value_parser(clap::value_parser!(OsString)),
    )
}

/// Becomes that program.
pub(super) fn run(name: &str, matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let Some(program) = find() else {
        bail!(
            "{PROGRAM} is not there: `whyslow {name}` is a program of its own\n\
             next: build it (cd query && cargo build --release) and put target/query/release/{PROGRAM} beside whyslow or on the PATH"
        );
    };
    let words = matches.get_many::<OsString>("words").into_iter().flatten();
    // Those that all commands take were taken out on the way here.
    let mut taken: Vec<OsString> = Vec::new();
    if global.json {
        taken.push("--json".into());
    }
    if global.show_secrets {
        taken.push("--show-secrets".into());
    }
    if let Some(threads) = global.threads {
        taken.extend(["--threads".into(), threads.to_string().into()]);
    }
    let error = std::process::Command::new(&program).arg(name).args(taken).args(words).exec();
    Err(error).with_context(|| format!("{}: cannot be run", whyslow_model::visible::path(&program)))
}

/// Beside this program, in the folder that its own workspace builds to, then on the PATH.
fn find() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().map(places).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    // An empty or relative entry would be the folder that one happens to be in.
    let on_path =
        std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(PROGRAM));
    beside.into_iter().chain(on_path).find(|program| is_program(program))
}

/// Where it lies for a program that lies at `own`.
fn places(own: &Path) -> Vec<PathBuf> {
    let Some(folder) = own.parent() else { return Vec::new() };
    let mut places = vec![folder.join(PROGRAM)];
    // target/release/whyslow, and target/query/release/whyslow-query.
    if let (Some(target), Some(profile)) = (folder.parent(), folder.file_name()) {
        places.push(target.join("query").join(profile).join(PROGRAM));
    }
    places
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lies_beside_or_where_its_workspace_builds() {
        let found = places(Path::new("/src/target/release/whyslow"));
        let wanted = ["/src/target/release/whyslow-query", "/src/target/query/release/whyslow-query"];
        assert_eq!(found, wanted.map(PathBuf::from));
    }
}
