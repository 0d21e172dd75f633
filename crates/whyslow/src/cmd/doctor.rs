//! `whyslow doctor`: what this machine allows, what is missing, and the way out.

use super::{Command, rights};
use crate::global::Global;
use crate::output;
use crate::status::Status;
use clap::{ArgMatches, Args};
use std::io::{self, Write};
use whyslow_record::doctor::{
    Ability, Area, CheckResult, CheckState, Examination, Machine, NeededFor, examine,
};

/// The command.
pub(super) static COMMAND: Command = Command { name: "doctor", clap, rights: rights::all, run };

/// What this machine allows: live recording with BPF or by ptrace, what is missing, and how to get it
#[derive(Args)]
#[command(after_long_help = "\
It tries what it tells of: the BPF programs are loaded and attached for a moment, and a child is recorded by ptrace.
Nothing is changed.

Examples:
  whyslow doctor                what works, and what to do about the rest
  whyslow doctor --verbose      what each line means
  whyslow doctor --json         for a machine

Exit status: 0 live recording with BPF works; 1 it works only by ptrace; 2 neither works: captures of other tools can
be read.")]
struct DoctorArgs {}

fn clap() -> clap::Command {
    DoctorArgs::augment_args(clap::Command::new(COMMAND.name))
}

fn run(_: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let examination = examine(&Machine::live());
    output::to_stdout(|out| {
        if global.json {
            serde_json::to_writer_pretty(&mut *out, &examination)?;
            return writeln!(out);
        }
        print(&examination, global.style(super::PIPE_WIDTH).color, global.verbose, out)
    })?;
    Ok(match examination.ability {
        Ability::Bpf => Status::Done,
        Ability::Ptrace => Status::Found,
        Ability::CapturesOnly => Status::Unusable,
    })
}

fn print(examination: &Examination, color: bool, verbose: bool, out: &mut dyn Write) -> io::Result<()> {
    let (tone, verdict) = match examination.ability {
        Ability::Bpf => (GREEN, "Live recording with BPF works here."),
        Ability::Ptrace => (
            YELLOW,
            "Live recording works only by ptrace here: calls only, and each costs the program many times its own time.",
        ),
        Ability::CapturesOnly => {
            (RED, "Live recording does not work here; captures of other tools (strace, lsof) can be read.")
        }
    };
    writeln!(out, "{}", paint(verdict, tone, color))?;
    let mut told = "";
    let width = examination.checks.iter().map(|line| line.name.len()).max().unwrap_or(0);
    for (area, title) in [
        (Area::Kernel, "Kernel"),
        (Area::Rights, "Rights of this process"),
        (Area::Ptrace, "Tracing without BPF"),
        (Area::Host, "Host"),
    ] {
        writeln!(out, "\n{}", paint(title, BOLD, color))?;
        for line in examination.checks.iter().filter(|line| line.area == area) {
            check(line, width, color, verbose, out)?;
            if let Some(remedy) = &line.answer.remedy {
                let again = std::mem::replace(&mut told, remedy) == remedy;
                let remedy = if again { "as above" } else { remedy };
                writeln!(out, "{:indent$}do: {remedy}", "", indent = width + INDENT)?;
            }
        }
    }
    Ok(())
}

fn check(
    line: &CheckResult,
    width: usize,
    color: bool,
    verbose: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let needed = matches!(line.need, NeededFor::Bpf | NeededFor::Ptrace);
    let (word, tone) = match line.answer.state {
        CheckState::Ok => ("ok     ", GREEN),
        CheckState::Missing if needed => ("missing", RED),
        CheckState::Missing if line.need == NeededFor::Context && line.answer.remedy.is_none() => {
            ("missing", PLAIN)
        }
        CheckState::Missing => ("missing", YELLOW),
        CheckState::Unknown => ("unknown", YELLOW),
    };
    let found = output::plain(&line.answer.found);
    writeln!(out, "  {}  {:width$}  {found}", paint(word, tone, color), line.name)?;
    if verbose || line.answer.state != CheckState::Ok {
        writeln!(out, "{:indent$}{}", "", line.answer.means, indent = width + INDENT)?;
    }
    Ok(())
}

/// Columns before what a line says, besides the name.
const INDENT: usize = 13;

const PLAIN: &str = "0";
const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";

fn paint(text: &str, tone: &str, color: bool) -> String {
    if color { format!("\x1b[{tone}m{text}\x1b[0m") } else { text.to_string() }
}
