//! What the commands that print one table share.

use crate::global::Global;
use crate::live::{self, LiveArgs};
use crate::status::Status;
use crate::{input, output};
use anyhow::{Context, bail};
use std::io::IsTerminal;
use std::path::PathBuf;
use whyslow_facts::Facts;
use whyslow_report::{JSON, Style, TERMINAL};
use whyslow_views::{Ask, View};

/// Rows shown on a terminal where `--top` is not given: a screen full. A pipe gets all.
const SCREEN: usize = 50;

/// Sorting and cutting, the same for all views.
#[derive(clap::Args, Debug)]
pub(super) struct Rows {
    /// Sort by this column, by strace's names too (time, calls, errors, name, min, max, avg); `none` for no sorting
    #[arg(long, short = 'S', value_name = "COLUMN")]
    sort: Option<String>,
    /// Smallest first
    #[arg(long)]
    reverse: bool,
    /// Show the first N rows; 0 for all (default: 50 on a terminal, else all)
    #[arg(long, value_name = "N")]
    top: Option<usize>,
}

/// What a table is of: files, or what is recorded for it alone.
#[derive(clap::Args, Debug)]
pub(super) struct Input {
    /// Recordings (NAME.whyslow), captures (strace, strace -c, ltrace, lsof, /proc dumps, access logs; also .gz, .zst), directories of them, or - for standard input
    #[arg(value_name = "FILE", conflicts_with_all = LiveArgs::WHOM)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArgs,
}

impl Input {
    /// Prints the view called `name` of it.
    pub(super) fn show(&self, name: &str, ask: &Ask, global: &Global) -> anyhow::Result<Status> {
        if self.live.is_asked() {
            return show_live(name, &self.live, ask, global);
        }
        if self.files.is_empty() {
            bail!(
                "nothing to show\nnext: name files, a process (-p PID) or the whole host (-a); `whyslow {name} --help` has examples"
            );
        }
        show(name, &self.files, ask, global)
    }
}

impl Rows {
    /// What these options ask of a view.
    pub(super) fn ask(&self, global: &Global) -> Ask {
        let default = if global.json || !std::io::stdout().is_terminal() { 0 } else { SCREEN };
        Ask {
            sort: self.sort.clone(),
            reverse: self.reverse,
            top: Some(self.top.unwrap_or(default)).filter(|top| *top > 0),
            verbose: global.verbose,
            ..Ask::default()
        }
    }
}

/// Prints the view called `name` of the files.
pub(super) fn show(name: &str, files: &[PathBuf], ask: &Ask, global: &Global) -> anyhow::Result<Status> {
    let Some(view) = whyslow_views::find(name) else { anyhow::bail!("there is no view `{name}`") };
    // A wrong question is told before a long input is read.
    (view.table)(&Facts::default(), ask)?;
    print(view, &input::facts_of(files, global)?, ask, global)
}

/// Records what `live` asks for, and prints the view called `name` of it.
pub(super) fn show_live(name: &str, live: &LiveArgs, ask: &Ask, global: &Global) -> anyhow::Result<Status> {
    let view = whyslow_views::find(name).context("the view of this command")?;
    // A wrong question is told before the recording.
    (view.table)(&Facts::default(), ask)?;
    let recording = live::record(live, None, None, global)?;
    let mut facts = Facts::of_target();
    recording.replay(&mut facts)?;
    facts.finish();
    print(view, &facts, ask, global)?;
    Ok(recording.status())
}

/// Prints a view of these facts.
fn print(view: &View, facts: &Facts, ask: &Ask, global: &Global) -> anyhow::Result<Status> {
    print_styled(view, facts, ask, global, &global.style(Style::MAX_WIDTH))
}

/// The same, looking like `style`.
pub(super) fn print_styled(
    view: &View,
    facts: &Facts,
    ask: &Ask,
    global: &Global,
    style: &Style,
) -> anyhow::Result<Status> {
    let mut table = view.of(facts, ask)?;
    // JSON keeps its keys whatever the capture shows.
    let format = if global.json { &JSON } else { &TERMINAL };
    if !global.json {
        table.drop_unknown_columns();
    }
    // In a pipe, whoever reads on wants whole paths.
    output::to_stdout(|out| format.table(&table, style, out))?;
    Ok(Status::Done)
}

/// The help of `--by`: what the view called `name` can be grouped by.
pub(super) fn by_help(name: &str) -> String {
    let by = whyslow_views::find(name).map_or(String::new(), |view| view.by.join(", "));
    format!("Group by one of {by}")
}
