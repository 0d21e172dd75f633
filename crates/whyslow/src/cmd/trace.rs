//! `whyslow trace -p PID`: the calls as strace prints them, while they happen.

use super::{Command, rights};
use crate::global::Global;
use crate::live::{self, LiveArgs};
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use whyslow_model::line::{LineClock, LineFormat, LineThread};
use whyslow_model::visible;
use whyslow_model::{Event, Sink};
use whyslow_privacy::redact;

/// The command.
pub(super) static COMMAND: Command = Command { name: "trace", clap, rights: rights::all, run };

/// Print the calls of a running program, or a command, as strace does, at a small part of its cost
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow trace -p 4711                           the calls of a process and its threads
  whyslow trace -T -tt -o trace.st -- ls -l       a command, with times and durations, into a file
  whyslow trace -e openat,stat -p 4711            only these calls; also classes: -e %file, %network, %desc
  whyslow diagnose trace.st                       the text is strace's, so that it can be read as a capture

Passwords, tokens and keys that are recognised are replaced by [redacted], unless --show-secrets is given. Payload that
nothing marks as a secret is shown as it is: look before you share a trace.

strace's flags mean the same: -f (children too), -t -tt -ttt, -T, -y, -s, -e, -o.")]
struct Trace {
    #[command(flatten)]
    live: LiveArgs,
    /// Follow children; what always happens, unless --no-children is given
    #[arg(short, long = "follow-forks")]
    follow: bool,
    /// When each call was entered; twice with microseconds, three times as seconds since the epoch
    #[arg(short, action = clap::ArgAction::Count)]
    time: u8,
    /// How long each call took
    #[arg(short = 'T')]
    durations: bool,
    /// What each descriptor is
    #[arg(short = 'y', action = clap::ArgAction::Count)]
    fd_names: u8,
    /// Bytes shown of a string
    #[arg(short = 's', value_name = "BYTES", default_value_t = 32, value_parser = clap::value_parser!(u32).range(0..=1000))]
    string: u32,
    /// Only these calls: names or classes (%file, %desc, %network, %process, %memory, %signal), by commas
    #[arg(short = 'e', value_name = "CALLS")]
    expression: Vec<String>,
    /// Into this file instead of standard error
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn clap() -> clap::Command {
    Trace::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let mut args = Trace::from_arg_matches(matches)?;
    if !args.live.is_asked() {
        bail!("nothing to trace\nnext: name a process (-p PID) or a command (-- CMD)");
    }
    let calls = live::calls_of(&args.expression)?;
    if args.live.has_probes() {
        bail!("trace prints system calls only\nnext: whyslow summary --by function --probe FN -p PID");
    }
    args.live.for_trace(calls, args.string, args.fd_names > 0);
    let out: Box<dyn Write> = match &args.output {
        // Like strace: the program's own output and ours do not mix.
        None => Box::new(io::stderr()),
        Some(path) => {
            crate::output::check_target(path, &[])?;
            let file =
                File::create(path).with_context(|| format!("{}: cannot be written", visible::path(path)))?;
            Box::new(file)
        }
    };
    let many = args.live.command.is_empty() || args.follow;
    let format = LineFormat {
        who: match (many, &args.output) {
            (false, _) => LineThread::Nobody,
            (true, None) => LineThread::Bracketed,
            (true, Some(_)) => LineThread::Plain,
        },
        clock: match args.time {
            0 => LineClock::None,
            1 => LineClock::Seconds,
            2 => LineClock::Micros,
            _ => LineClock::Epoch,
        },
        durations: args.durations,
        ..LineFormat::STRACE
    };
    let mut printer = Printer {
        format,
        show_secrets: global.show_secrets,
        out: BufWriter::new(out),
        line: Vec::new(),
        error: None,
        lost: 0,
    };
    let ended = live::record(&args.live, None, Some(&mut printer), global)?;
    printer.flush();
    if let Some(error) = printer.error {
        return Err(error).context("the trace cannot be written");
    }
    Ok(ended.status())
}

/// Writes a line for each call.
struct Printer {
    format: LineFormat,
    show_secrets: bool,
    out: BufWriter<Box<dyn Write>>,
    line: Vec<u8>,
    error: Option<io::Error>,
    lost: u64,
}

impl Printer {
    fn write(&mut self) {
        // Secrets stand in strings: a line without any is told as it is.
        if !self.show_secrets && self.line.contains(&b'"') {
            let text = String::from_utf8_lossy(&self.line);
            if let Cow::Owned(hidden) = redact(&text) {
                self.line = hidden.into_bytes();
            }
        }
        self.line.push(b'\n');
        if self.error.is_none()
            && let Err(error) = self.out.write_all(&self.line)
        {
            self.error = Some(error);
        }
        self.line.clear();
    }

    fn flush(&mut self) {
        if let Err(error) = self.out.flush() {
            self.error.get_or_insert(error);
        }
    }
}

impl Sink for Printer {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Call(call) => {
                call.write_line(&self.format, &mut self.line);
                self.write();
            }
            Event::Signal(signal) => {
                signal.write_line(&self.format, &mut self.line);
                self.write();
            }
            Event::Exit(exit) => {
                exit.write_line(&self.format, &mut self.line);
                self.write();
            }
            Event::Loss(loss) if loss.table == "syscalls" && loss.lost > 0 => self.lost += loss.lost,
            _ => {}
        }
    }
}
