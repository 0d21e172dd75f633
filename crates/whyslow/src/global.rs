//! The options that all commands take.

use clap::{Args, ValueEnum};
use std::io::IsTerminal;
use whyslow_report::Style;

/// What all commands take.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colour; `auto` heeds NO_COLOR and uses none in a pipe
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorWhen,
    /// Everything in full: notices, all threads, all notes, uncut evidence
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// Do not replace passwords, tokens and cookies by `[redacted]`; in a recording, keep those in arguments of programs
    #[arg(long, global = true)]
    pub(crate) show_secrets: bool,
    /// Threads that read a trace; two where the machine has them
    #[arg(long, global = true, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub(crate) threads: Option<u8>,
}

/// When to use colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

impl Global {
    /// A narrower line holds no table, columns.
    const NARROWEST: usize = 20;

    /// How a report is to look on standard output; `pipe_width` columns where that is no terminal.
    pub(crate) fn style(&self, pipe_width: usize) -> Style {
        let terminal = std::io::stdout().is_terminal();
        let width = terminal_size::terminal_size().filter(|_| terminal).map(|(width, _)| width.0.into());
        // What is piped into a pager is read on a terminal too: whoever exports COLUMNS says how wide it is.
        let width = width.or_else(|| {
            std::env::var("COLUMNS")
                .ok()
                .filter(|_| !terminal)?
                .parse()
                .ok()
                .filter(|width| *width >= Self::NARROWEST)
        });
        Style {
            color: self.colored(terminal),
            width: width.unwrap_or(pipe_width),
            explain: self.verbose,
            show_secrets: self.show_secrets,
        }
    }

    /// Whether to colour what goes to a stream (<https://no-color.org>: NO_COLOR counts where it is not empty).
    pub(crate) fn colored(&self, terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match self.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                terminal && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
}
