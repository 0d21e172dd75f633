//! `whyslow report FILE…`: the diagnosis in a chosen format, to a file.

use super::{Command, rights};
use crate::global::Global;
use crate::status::{FailOn, FailOnArg, Status};
use crate::{input, output};
use anyhow::bail;
use clap::builder::PossibleValuesParser;
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::{Path, PathBuf};
use whyslow_model::visible;
use whyslow_page::{PageReader, PageSide};
use whyslow_report::{EXPORTERS, Exporter, HTML, JSON, MARKDOWN, TERMINAL};

/// The command.
pub(super) static COMMAND: Command = Command { name: "report", clap, rights: rights::reader, run };

/// Write the diagnosis as a page, a ticket or JSON
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow report slow.whyslow -o report.html     one page to look at and to send: findings, timeline, stacks, tables
  whyslow report trace.st --html > report.html   the findings alone, without scripts
  whyslow report trace.st --markdown | pbcopy    for a ticket or a chat
  whyslow report trace.st --format json          the same as diagnose --json")]
struct Report {
    #[command(flatten)]
    input: input::Files,
    #[command(flatten)]
    fail_on: FailOnArg,
    /// The format; where it is not given, the output file's ending tells
    #[arg(long, short, value_name = "FORMAT", value_parser = PossibleValuesParser::new(EXPORTERS.iter().map(|exporter| exporter.name)))]
    format: Option<String>,
    /// The same as --format html
    #[arg(long, conflicts_with = "format")]
    html: bool,
    /// The same as --format markdown
    #[arg(long, conflicts_with_all = ["format", "html"])]
    markdown: bool,
    /// What a server of pages reads: the report's markup and the data of the page, packed
    #[arg(long, hide = true, requires = "output", conflicts_with_all = ["format", "html", "markdown"])]
    page_data: bool,
    /// Where to write; standard output where it is not given
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn clap() -> clap::Command {
    Report::augment_args(clap::Command::new(COMMAND.name))
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Report::from_arg_matches(matches)?;
    let format = if args.page_data { &HTML } else { format_of(&args, global)? };
    if let Some(path) = &args.output {
        let inputs: Vec<_> = args.input.files.iter().map(PathBuf::as_path).collect();
        output::check_target(path, &inputs)?;
    }
    let to_file = args.output.as_deref().filter(|path| *path != Path::new("-"));
    if let Some(path) = to_file.filter(|_| format.name == HTML.name) {
        return page(&args, path, global);
    }
    let facts = input::facts_of_target(&args.input.files, &[], global)?;
    let diagnosis = whyslow_diagnose::diagnose(&facts);
    let mut style = global.style(super::PIPE_WIDTH);
    style.color &= args.output.is_none();
    output::to(args.output.as_deref(), |out| format.diagnosis(&diagnosis, &style, out))?;
    Ok(FailOn::status(args.fail_on.fail_on, diagnosis.findings.iter().map(|finding| finding.severity)))
}

/// Writes the page that has all to look at.
fn page(args: &Report, path: &Path, global: &Global) -> anyhow::Result<Status> {
    let reader: PageReader = input::read_target(&args.input.files, &[], global)?;
    let diagnosis = whyslow_diagnose::diagnose(reader.facts());
    let name = page_name(&args.input.files);
    let side = PageSide::new(&name, reader, &diagnosis, global.show_secrets)?;
    output::to(Some(path), |out| match args.page_data {
        true => whyslow_page::write_served(&side, out),
        false => whyslow_page::write_page(&[side], None, global.show_secrets, out),
    })?;
    Ok(FailOn::status(args.fail_on.fail_on, diagnosis.findings.iter().map(|finding| finding.severity)))
}

/// What a page calls its inputs: the first one's name, without its folder, and how many more there are.
pub(super) fn page_name(files: &[PathBuf]) -> String {
    let first = files.first().map(|file| file.file_name().unwrap_or(file.as_os_str()).to_string_lossy());
    let first = first.unwrap_or_default();
    match files.len() {
        0 | 1 => first.into_owned(),
        all => format!("{first} and {} more", all - 1),
    }
}

fn format_of(args: &Report, global: &Global) -> anyhow::Result<&'static Exporter> {
    if let Some(name) = &args.format {
        return match whyslow_report::exporter(name) {
            Some(exporter) => Ok(exporter),
            None => bail!("there is no format `{name}`"),
        };
    }
    if global.json || args.html || args.markdown {
        return Ok(match (global.json, args.html) {
            (true, _) => &JSON,
            (_, true) => &HTML,
            _ => &MARKDOWN,
        });
    }
    let Some(path) = &args.output else { return Ok(&TERMINAL) };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match EXPORTERS.iter().find(|exporter| exporter.extension == ending) {
        Some(exporter) => Ok(exporter),
        None => {
            let known: Vec<String> =
                EXPORTERS.iter().map(|exporter| format!(".{}", exporter.extension)).collect();
            bail!(
                "{}: its ending does not tell the format; name the file with {}, or give --format",
                visible::path(path),
                known.join(", ")
            )
        }
    }
}
