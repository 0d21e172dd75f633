//! `whyslow dump`: has rings that are being recorded write out what they hold.

use super::{Command, rights};
use crate::global::Global;
use crate::status::Status;
use anyhow::bail;
use clap::{ArgMatches, Args, FromArgMatches};

/// The command.
pub(super) static COMMAND: Command = Command { name: "dump", clap, rights: rights::all, run };

/// Have a ring of yours (record --ring, or the agent's) write out what it holds
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow dump                                        of the one recorder that runs
  whyslow dump --pid 4711 --reason 'checkout hangs'   of that one; the report begins with the reason
  whyslow dump --pid all                              of all of them

It returns when the recording is there: the time before, and the --after of the recorder.")]
struct Dump {
    /// The recorder's process, or all
    #[arg(short, long, value_name = "PID|all", value_parser = whom)]
    pid: Option<Whom>,
    /// Why, for the report
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Whom {
    All,
    One(u32),
}

fn whom(text: &str) -> Result<Whom, String> {
    match text {
        "all" => Ok(Whom::All),
        _ => text.parse().map(Whom::One).map_err(|_| "expected the number of a process, or all".to_string()),
    }
}

fn clap() -> clap::Command {
    Dump::augment_args(clap::Command::new(COMMAND.name))
}

#[cfg(not(feature = "bpf"))]
fn run(matches: &ArgMatches, _: &Global) -> anyhow::Result<Status> {
    let Dump { .. } = Dump::from_arg_matches(matches)?;
    bail!(
        "this whyslow was built without BPF, and records no ring\nnext: use one built with the feature `bpf` (the default)"
    )
}

#[cfg(feature = "bpf")]
fn run(matches: &ArgMatches, _: &Global) -> anyhow::Result<Status> {
    use crate::output::{self, plain};
    use whyslow_flight::ask;
    use whyslow_model::visible;
    let args = Dump::from_arg_matches(matches)?;
    let recorders = ask::recorders();
    let pids: Vec<String> = recorders.iter().map(|one| one.pid.to_string()).collect();
    let asked = match (args.pid, recorders.as_slice()) {
        (_, []) => bail!(
            "no ring of yours is recorded\nnext: whyslow record --ring 30s --name NAME -o DIR, or [ring] seconds = 30 in the settings of the agent"
        ),
        (Some(Whom::All), all) => all,
        (Some(Whom::One(pid)), all) => match all.iter().position(|one| one.pid == pid) {
            Some(at) => &all[at..=at],
            None => bail!("process {pid} records no ring of yours\nnext: name one of {}", pids.join(", ")),
        },
        (None, one @ [_]) => one,
        (None, _) => bail!("several rings are recorded\nnext: --pid all, or one of {}", pids.join(", ")),
    };
    // Each takes its time after: all at once.
    let answers: Vec<Result<std::path::PathBuf, String>> = std::thread::scope(|scope| {
        let asking: Vec<_> = asked.iter().map(|one| scope.spawn(|| ask::dump(one, &args.reason))).collect();
        let answers = asking.into_iter().map(|one| one.join());
        answers.map(|one| one.unwrap_or_else(|_| Err("asking failed".to_string()))).collect()
    });
    let kept: Vec<&std::path::PathBuf> = answers.iter().flatten().collect();
    output::to_stdout(|out| {
        for path in &kept {
            writeln!(out, "{}", visible::path(path))?;
        }
        match kept.first() {
            Some(path) => writeln!(out, "next: whyslow report {}", visible::path(path)),
            None => Ok(()),
        }
    })?;
    let failed: Vec<String> = answers.into_iter().filter_map(Result::err).collect();
    if !failed.is_empty() {
        bail!("{}", plain(&failed.join("\n")));
    }
    Ok(Status::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_or_all() {
        assert_eq!((whom("all"), whom("7")), (Ok(Whom::All), Ok(Whom::One(7))));
        assert!(whom("").is_err() && whom("-1").is_err());
    }
}
