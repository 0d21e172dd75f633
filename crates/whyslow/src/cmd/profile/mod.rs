//! `whyslow profile FILE|URL|-p PID [VIEW [REGEX]]`: a profile of CPU, heap, locks or threads, in pprof's words.

mod fetch;
mod flags;
mod load;
mod opening;

pub(crate) use flags::with_two_dashes;

use super::Command;
use super::rights::{self, Rights};
use crate::global::Global;
use crate::live::{self, CaptureArgs};
use crate::output;
use crate::output::say;
use crate::status::Status;
use anyhow::bail;
use clap::{ArgMatches, Args, FromArgMatches};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use whyslow_model::visible;
use whyslow_profile::{PROFILE_VIEWS, PreparedProfile, ProfileView, ViewError, views};

/// The command.
pub(super) static COMMAND: Command = Command { name: "profile", clap, rights, run };

/// Show a profile of CPU, memory, locks or threads: what costs how much, and who calls it
#[derive(Args)]
#[command(after_long_help = after_long_help())]
struct ProfileArgs {
    /// Profiles, recordings, URLs (several are added), then a view, then for some views a regular expression: which functions
    #[arg(required_unless_present_any = ["pids", "names", "containers", "all", "command"], value_name = "FILE|URL... [VIEW [REGEX]]")]
    words: Vec<String>,
    /// Write to this file; of a running program, where no view is named, the profile itself
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    flags: flags::Flags,
    #[command(flatten)]
    capture: CaptureArgs,
}

impl ProfileArgs {
    /// All that may name a profile.
    fn sources(&self) -> impl Iterator<Item = &str> {
        let bases = self.flags.base.iter().chain(&self.flags.diff_base).filter_map(|path| path.to_str());
        self.words.iter().map(String::as_str).chain(bases)
    }
}

fn after_long_help() -> String {
    let views: Vec<String> =
        PROFILE_VIEWS.iter().map(|view| format!("  {:<12} {}", view.name, view.about)).collect();
    format!(
        "Views:\n{}\n\n\
         Examples:\n  \
         whyslow profile cpu.pprof                           what costs most\n  \
         whyslow profile cpu.pprof top --cum --nodecount 20  the table of go tool pprof -top -cum -nodecount=20\n  \
         whyslow profile new.pprof top --diff_base old.pprof what became more, and less\n  \
         whyslow profile -p 4711                             what a process computes, in 30 s from now\n  \
         whyslow profile -p 4711 --off-cpu tree              what it waits for\n  \
         whyslow profile -o cpu.pprof -- make -j2            of a command, to keep\n  \
         whyslow profile http://localhost:6060               from a program that serves net/http/pprof\n\n\
         Options have pprof's names and meaning; one dash before them (-nodecount=20) will do.",
        views.join("\n")
    )
}

fn clap() -> clap::Command {
    ProfileArgs::augment_args(clap::Command::new(COMMAND.name))
}

/// Who asks a program or the network is not confined.
fn rights(matches: &ArgMatches) -> Rights {
    match ProfileArgs::from_arg_matches(matches) {
        Ok(args) if !args.capture.is_asked() && !args.sources().any(fetch::is_url) => rights::reader(matches),
        _ => Rights::All,
    }
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = ProfileArgs::from_arg_matches(matches)?;
    let captures = args.capture.is_asked();
    let (sources, view, pattern) = sort_out(&args.words, captures, args.output.is_some())?;
    let has_opening = opening::is_wanted(&args.words, captures) && args.output.is_none();
    let write = writer(view, global.json && !(captures && view.needs.binary))?;
    if has_opening
        && !captures
        && let Some(told) = opening::of_table(&sources, global.json)
    {
        let told = told?;
        output::to_stdout(|out| out.write_all(&told))?;
        return Ok(Status::Done);
    }
    if let Some(path) = &args.output {
        let inputs: Vec<_> = sources.iter().map(Path::new).collect();
        output::check_target(path, &inputs)?;
    }
    let selection = args.flags.selection();
    let (captured, status) = match captures {
        true => live::sample(&args.capture, global).map(|(profile, status)| (Some(profile), status))?,
        false => (None, Status::Done),
    };
    let profile = load::profile(captured, &sources, &args.flags, &args.capture)?;
    let on_terminal = args.output.is_none() && std::io::stdout().is_terminal();
    let report = PreparedProfile::new(&profile, &selection, view, pattern)?;
    for remark in &report.remarks {
        say!("whyslow: {}", output::plain(remark));
    }
    if view.needs.binary && on_terminal {
        bail!("{} writes bytes that are not for a terminal; name a file with -o", view.name);
    }
    let mut result = Ok(());
    let written = output::to(args.output.as_deref(), |out| {
        if has_opening && !global.json {
            out.write_all(output::plain(&opening::of_report(&report)).as_bytes())?;
        }
        result = match on_terminal && view.needs.escapes {
            true => without_controls(|text| write(&report, text), out),
            false => write(&report, out),
        };
        match std::mem::replace(&mut result, Ok(())) {
            Err(ViewError::Write(error)) => Err(error),
            Err(other) => {
                result = Err(other);
                Err(std::io::Error::other("the view stopped"))
            }
            Ok(()) => Ok(()),
        }
    });
    result?;
    written?;
    Ok(status)
}

/// Writes a profile in one form.
type Writer = fn(&PreparedProfile<'_>, &mut dyn Write) -> Result<(), ViewError>;

/// What writes a view: its own form, or the JSON of the figures.
fn writer(view: &'static ProfileView, json: bool) -> anyhow::Result<Writer> {
    /// JSON by themselves.
    const JSON: [&str; 2] = ["speedscope", "firefox"];
    match view.name {
        _ if !json => Ok(view.write),
        "top" => Ok(views::write_json),
        name if JSON.contains(&name) => Ok(view.write),
        name => bail!(
            "{name} has no JSON: --json with the view top has the figures of each function, speedscope has all stacks"
        ),
    }
}

/// Writes a format for programs to a terminal, without what that acts upon. Into files and pipes it goes as it is.
fn without_controls(
    write: impl FnOnce(&mut dyn Write) -> Result<(), ViewError>,
    out: &mut dyn Write,
) -> Result<(), ViewError> {
    let mut bytes = Vec::new();
    let result = write(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let is_acted_upon = |c: char| visible::acts(c) && c != '\n' && c != '\t';
    out.write_all(text.replace(is_acted_upon, "\u{fffd}").as_bytes())?;
    result
}

/// The words before the first view are profiles; what comes behind it is the view's. There is none before it where a program
/// is `captured`, which is kept whole where it goes to a file.
fn sort_out(
    words: &[String],
    captured: bool,
    to_file: bool,
) -> anyhow::Result<(Vec<&str>, &'static ProfileView, Option<&str>)> {
    let first = usize::from(!captured);
    let at = words.iter().skip(first).position(|word| views::find(word).is_some()).map(|at| at + first);
    let sources = words[..at.unwrap_or(words.len())].iter().map(String::as_str).collect();
    let view = match at {
        Some(at) => views::find(&words[at]),
        None if captured && to_file => views::find("proto"),
        None => PROFILE_VIEWS.first().copied(),
    };
    let Some(view) = view else { bail!("there is no view") };
    let rest = at.map_or(&[][..], |at| &words[at + 1..]);
    match rest {
        [] => Ok((sources, view, None)),
        [pattern] => Ok((sources, view, Some(pattern))),
        [_, surplus, ..] => bail!("{surplus:?} is one word too many behind the view {}", view.name),
    }
}
