//! `whyslow disks FILE…` or `-a`: what is asked of each block device and how long it takes, of files or of the live kernel.

use super::view::{self, Rows};
use super::{Command, rights};
use crate::global::Global;
use crate::input;
use crate::live::{self, LiveArgs};
use crate::status::Status;
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::PathBuf;
use whyslow_facts::Facts;
use whyslow_report::Style;
use whyslow_views::{Ask, DiskAsk, DiskTable};

/// The command.
pub(super) static COMMAND: Command = Command { name: "disks", clap, rights: rights::reader_of_files, run };

/// Show what is asked of each disk, by whom, and how long requests take: as biolatency, biosnoop and iostat, and over time
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow disks -a -d 5s                           the live host for five seconds: by device and operation
  whyslow disks -a -d 5s --by device,process       who asks
  whyslow disks --histogram slow.whyslow           how the latency is spread, as biolatency -D -F
  whyslow disks --heat --device vda slow.whyslow   the same over time
  whyslow disks biosnoop.txt iostat.txt            what other tools printed

Live, the requests of all processes are seen, whoever is named: what the kernel writes back for a program is asked by a thread of the kernel.")]
struct Disks {
    /// Recordings (NAME.whyslow), tables of biosnoop, biolatency, iostat, or - for standard input
    #[arg(value_name = "FILE", conflicts_with_all = LiveArgs::WHOM)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArgs,
    #[arg(long, value_name = "KEY", help = view::by_help("disks"))]
    by: Option<String>,
    /// Only this device: vda, 253:0, a volume
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// How the latency is spread, a row a power of two
    #[arg(long, conflicts_with = "heat")]
    histogram: bool,
    /// The same over time: a heat-map, as wide as the terminal
    #[arg(long)]
    heat: bool,
    /// Digits instead of shades, and no colour
    #[arg(long)]
    ascii: bool,
    #[command(flatten)]
    rows: Rows,
}

/// Columns of the terminal that a heat-map leaves to the names beside it.
const NAMES: usize = 44;
/// A heat-map is never narrower.
const NARROWEST: usize = 20;
/// Columns for programs: as many as there are.
const ALL: usize = 240;

fn clap() -> clap::Command {
    // `--by` is the key here.
    Disks::augment_args(clap::Command::new(COMMAND.name)).mut_arg("means", |means| means.long("means"))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let mut args = Disks::from_arg_matches(matches)?;
    let mut style = global.style(Style::MAX_WIDTH);
    style.color &= !args.ascii;
    let table = match (args.histogram, args.heat) {
        (true, _) => DiskTable::Histogram,
        (_, true) => DiskTable::Heat,
        _ => DiskTable::Figures,
    };
    let room = if global.json { ALL } else { style.width.saturating_sub(NAMES).max(NARROWEST) };
    let disks = DiskAsk { device: args.device, table, columns: Some(room) };
    let mut ask = Ask { by: args.by, disks, ..args.rows.ask(global) };
    if table != DiskTable::Figures {
        // A picture that is cut tells something else.
        ask.top = None;
    }
    let view = whyslow_views::find(COMMAND.name).context("the view of this command")?;
    // A wrong question is told before a long input is read, or anything recorded.
    (view.table)(&Facts::default(), &ask)?;
    if !args.live.is_asked() {
        if args.files.is_empty() {
            bail!(
                "nothing to show\nnext: name files, or look at the live host (-a -d 5s); `whyslow disks --help` has examples"
            );
        }
        return view::print_styled(view, &input::facts_of(&args.files, global)?, &ask, global, &style);
    }
    args.live.for_disks();
    let recording = live::record(&args.live, None, None, global)?;
    let mut facts = Facts::default();
    recording.replay(&mut facts)?;
    facts.finish();
    view::print_styled(view, &facts, &ask, global, &style)?;
    Ok(recording.status())
}
