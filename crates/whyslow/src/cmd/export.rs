//! `whyslow export FILE… --to FORMAT`: recordings and captures in the formats of other tools.

mod send;

use super::Command;
use super::rights::{self, Rights};
use crate::global::Global;
use crate::output::say;
use crate::status::Status;
use crate::{input, output};
use anyhow::{Context, bail};
use clap::{ArgMatches, Args, FromArgMatches};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use whyslow_export::{
    EXPORT_FORMATS, ExportFormat, ExportHow, NotExported, ProfileOf, SpanCounts, SpanFormat, TimelineCounts,
    TimelineExport, TimelineWriter,
};
use whyslow_facts::Facts;
use whyslow_model::figures::{count, plural};
use whyslow_model::profile::ProfileContent;
use whyslow_model::{Cell, Column, Event, Profile, SampleKind, Sink, Table, visible};
use whyslow_profile::{PreparedProfile, Sampled, SelectError, StackSelection, ViewError, select};
use whyslow_report::{JSON, Style, TERMINAL};
use whyslow_views::Ask;

/// The command.
pub(super) static COMMAND: Command = Command { name: "export", clap, rights, run };

/// Write recordings and captures in the formats of other tools: timelines, profiles, tables
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow export slow.whyslow --to perfetto -o slow.pftrace   a timeline for ui.perfetto.dev
  whyslow export trace.st --to chrome -o trace.json           the same as JSON
  whyslow export slow.whyslow --to pprof --of off-cpu -o off.pb.gz   what it waits for, for go tool pprof
  whyslow export trace.st --to folded | flamegraph.pl         where the time went, as a flame graph
  whyslow export trace.st --to csv --table files              a table for a spreadsheet
  whyslow export slow.whyslow --to otlp --endpoint http://localhost:4318   requests and their waits, for a tracing backend
  whyslow export --list                                       all formats

Passwords, tokens and keys that are recognised are replaced by [redacted]. What else stands in arguments of calls is in a timeline:
look before you share one.")]
struct Export {
    /// Recordings (NAME.whyslow), captures, profiles, directories of them, or - for standard input
    #[arg(value_name = "FILE", required_unless_present = "list")]
    files: Vec<PathBuf>,
    /// The format
    #[arg(long, value_name = "FORMAT", required_unless_present = "list", value_parser = clap::builder::PossibleValuesParser::new(EXPORT_FORMATS.iter().map(|format| format.name)))]
    to: Option<String>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Of spans of requests (zipkin, otlp): send them to this receiver by HTTP: http://HOST:PORT
    #[arg(long, value_name = "URL", conflicts_with = "output")]
    endpoint: Option<String>,
    /// Of profiles: what they are of (default: samples on a CPU, else the account of time, else the calls)
    #[arg(long, value_name = "WHAT", value_parser = clap::builder::PossibleValuesParser::new(ProfileOf::ALL.map(|(_, word)| word)))]
    of: Option<String>,
    /// Of profiles in formats that have one value: which one, by its name (default: the time)
    #[arg(long, value_name = "NAME")]
    value: Option<String>,
    /// Of tables: which one
    #[arg(long, value_name = "VIEW", default_value = "summary", value_parser = clap::builder::PossibleValuesParser::new(whyslow_views::VIEWS.iter().map(|view| view.name)))]
    table: String,
    /// Of tables: by what the rows are grouped
    #[arg(long, value_name = "KEY")]
    by: Option<String>,
    /// List the formats
    #[arg(long)]
    list: bool,
}

fn clap() -> clap::Command {
    Export::augment_args(clap::Command::new(COMMAND.name))
}

/// Who sends what was read asks the network; all others are confined.
fn rights(matches: &ArgMatches) -> Rights {
    match matches.try_get_one::<String>("endpoint") {
        Ok(Some(_)) => Rights::All,
        _ => rights::reader_of_files(matches),
    }
}

fn run(matches: &ArgMatches, global: &Global) -> anyhow::Result<Status> {
    let args = Export::from_arg_matches(matches)?;
    if args.list {
        let format = if global.json { &JSON } else { &TERMINAL };
        output::to_stdout(|out| format.table(&list(), &global.style(Style::MAX_WIDTH), out))?;
        return Ok(Status::Done);
    }
    if global.show_secrets {
        bail!(
            "an export is for other tools: secrets in it are always replaced\nnext: leave out --show-secrets"
        );
    }
    let name = args.to.as_deref().unwrap_or_default();
    let format = whyslow_export::find(name).context("the format")?;
    let to_terminal =
        args.output.as_deref().is_none_or(|path| path == Path::new("-")) && io::stdout().is_terminal();
    if args.endpoint.is_some() && !matches!(format.how, ExportHow::Spans(_)) {
        bail!(
            "--endpoint takes spans of requests, and {name} has none\nnext: --to zipkin, otlp or otlp-json"
        );
    }
    if format.is_binary && to_terminal && args.endpoint.is_none() {
        bail!("{name} writes bytes that are not for a terminal\nnext: name a file with -o");
    }
    if let Some(path) = &args.output {
        let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
        output::check_target(path, &inputs)?;
    }
    match format.how {
        ExportHow::Timeline(writer) => timeline(&args, writer, global)?,
        ExportHow::Stacks(view) => stacks(&args, view, global)?,
        ExportHow::Diagnosis(write) => {
            let facts = input::facts_of_target(&args.files, &[], global)?;
            let diagnosis = whyslow_diagnose::diagnose(&facts);
            put(&args, format, to_terminal, |out| write(&facts, &diagnosis, out))?;
        }
        ExportHow::Spans(spans) => of_requests(&args, format, spans, to_terminal, global)?,
        ExportHow::Table(write) => {
            let view = whyslow_views::find(&args.table).context("the table")?;
            let ask = Ask { by: args.by.clone(), verbose: true, ..Ask::default() };
            // A wrong question is told before a long input is read.
            (view.table)(&Facts::default(), &ask)?;
            let table = view.of(&input::facts_of(&args.files, global)?, &ask)?;
            put(&args, format, to_terminal, |out| write(&table, out))?;
            for note in &table.notes {
                say!("whyslow: {}", output::plain(note));
            }
        }
    }
    if let Some(path) = args.output.as_deref().filter(|path| *path != Path::new("-")) {
        say!("whyslow: {} is for {}", visible::path(path), format.opened_by);
    }
    Ok(Status::Done)
}

/// Writes or sends requests and their waits.
fn of_requests(
    args: &Export,
    format: &ExportFormat,
    spans: &SpanFormat,
    to_terminal: bool,
    global: &Global,
) -> anyhow::Result<()> {
    // A wrong URL is told before a long input is read.
    let receiver = args.endpoint.as_deref().map(|url| send::Receiver::of(url, spans)).transpose()?;
    let facts = input::facts_of(&args.files, global)?;
    if facts.requests.count() == 0 {
        bail!(
            "the input has no requests\nnext: record payloads (whyslow record does), or strace with -s 256 -e trace=network,read,write,desc"
        );
    }
    let counts = match &receiver {
        Some(receiver) => receiver.take(&facts, spans)?,
        None => {
            let mut counts = SpanCounts::default();
            put(args, format, to_terminal, |out| {
                counts = whyslow_export::write_spans(&facts, spans, out)?;
                Ok(())
            })?;
            counts
        }
    };
    if let Some(receiver) = &receiver {
        let (requests, waits) = (plural(counts.requests, "request"), plural(counts.waits, "wait"));
        say!("whyslow: {requests} with {waits} are at {}", visible::line(receiver.uri()));
    }
    if counts.left_out > 0 {
        say!(
            "whyslow: {} of {} are in it: of each endpoint the slowest and the failed are kept one by one",
            count(counts.requests),
            plural(facts.requests.count(), "request")
        );
    }
    if counts.without_time > 0 {
        say!("whyslow: {} without a time are not in it", plural(counts.without_time, "request"));
    }
    if counts.waits_left_out > 0 {
        say!(
            "whyslow: {} are only counted at their requests, which have longer ones",
            plural(counts.waits_left_out, "wait")
        );
    }
    Ok(())
}

/// Writes to where it is to go. What acts upon a terminal reaches none.
fn put(
    args: &Export,
    format: &ExportFormat,
    to_terminal: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    output::to(args.output.as_deref(), |out| {
        if !to_terminal || format.escapes {
            return write(out);
        }
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        out.write_all(output::plain(&String::from_utf8_lossy(&bytes)).as_bytes())
    })
}

/// Writes a timeline while the input is read.
fn timeline(
    args: &Export,
    writer: for<'w> fn(&'w mut (dyn Write + Send)) -> Box<dyn TimelineWriter + 'w>,
    global: &Global,
) -> anyhow::Result<()> {
    let mut result = Ok(None);
    let written = output::to(args.output.as_deref(), |out| {
        let mut timeline = TimelineExport::new(Facts::of_target(), writer(out));
        if let Err(error) = input::read_into(&args.files, &mut timeline, global) {
            result = Err(error);
            return Err(io::Error::other("the input could not be read"));
        }
        timeline.facts.finish();
        let (facts, counts, _) = timeline.finish()?;
        result = Ok(Some((facts, counts)));
        Ok(())
    });
    let done = result?;
    written?;
    let Some((facts, counts)) = done else { return Ok(()) };
    input::remark(&facts, global);
    for left_out in left_out(&facts, &counts) {
        say!("whyslow: {left_out}");
    }
    Ok(())
}

/// What a timeline does not have, in sentences.
fn left_out(facts: &Facts, counts: &TimelineCounts) -> Vec<String> {
    let mut told = Vec::new();
    if counts.calls_without_time > 0 {
        told.push(format!(
            "{} without a time are not in it: strace -ttT writes times",
            plural(counts.calls_without_time, "call")
        ));
    }
    if counts.untimed_calls > 0 {
        told.push(format!(
            "{} without a duration are points in it: their end is not in the capture",
            plural(counts.untimed_calls, "call")
        ));
    }
    if counts.requests_left_out > 0 {
        told.push(format!(
            "{} of {} are in it: of each endpoint the slowest and the failed are kept one by one",
            count(counts.requests),
            plural(facts.requests.count(), "request")
        ));
    }
    if let Some(share) = facts.missing_calls().filter(|_| facts.capture.is_recording()) {
        told.push(format!(
            "{} of the calls are missing in the recording",
            whyslow_model::figures::percent(share)
        ));
    }
    told
}

/// Takes what profiles are made of.
struct StackSources {
    facts: Facts,
    on_cpu: Sampled,
    off_cpu: Sampled,
    captured: Vec<Profile>,
}

impl Sink for StackSources {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Profile(mut captured) => match captured.content.take() {
                Some(ProfileContent::Stacks(profile)) => self.captured.push(profile),
                content => {
                    captured.content = content;
                    self.facts.push(Event::Profile(captured));
                }
            },
            Event::Sample(_)
            | Event::Stretch(_)
            | Event::Stack(_)
            | Event::Process(_)
            | Event::Span(_)
            | Event::Loss(_) => {
                self.on_cpu.push(event.clone());
                self.off_cpu.push(event.clone());
                self.facts.push(event);
            }
            other => self.facts.push(other),
        }
    }
}

impl StackSources {
    /// The profile that is asked for, with the word for what it is of; else the first that there is.
    fn profile(mut self, asked: Option<ProfileOf>) -> anyhow::Result<(Profile, &'static str)> {
        if !self.captured.is_empty() {
            if asked.is_some() {
                bail!("the input is a profile: it is of what it is of\nnext: leave out --of");
            }
            let profiles = self.captured.drain(..).map(Ok::<_, SelectError>);
            return Ok((select::combine(profiles, [], false, false)?, "the profile given"));
        }
        let tried: &[ProfileOf] = match &asked {
            Some(of) => std::slice::from_ref(of),
            None => &[ProfileOf::Cpu, ProfileOf::Time, ProfileOf::Calls],
        };
        for of in tried {
            if let Some(kind) = of.samples() {
                let sampled = if kind == SampleKind::OnCpu { &mut self.on_cpu } else { &mut self.off_cpu };
                if sampled.samples() > 0 {
                    let sampled = std::mem::replace(sampled, Sampled::new(kind));
                    return Ok((sampled.finish()?, of.word()));
                }
                continue;
            }
            match whyslow_export::profile_of(&self.facts, *of) {
                Ok(profile) => return Ok((profile, of.word())),
                Err(NotExported::TooLarge(error)) => return Err(error.into()),
                Err(NotExported::Nothing | NotExported::Samples) => {}
            }
        }
        match asked {
            Some(of) => bail!(
                "the input has nothing for a profile of {}\nnext: leave out --of, which takes what there is",
                of.word()
            ),
            None => bail!("the input has neither samples nor calls nor times"),
        }
    }
}

/// Writes a profile in the form of a view.
fn stacks(args: &Export, view: &str, global: &Global) -> anyhow::Result<()> {
    let view = whyslow_profile::views::find(view).context("the view")?;
    let mut sources = StackSources {
        facts: Facts::of_target(),
        on_cpu: Sampled::new(SampleKind::OnCpu),
        off_cpu: Sampled::new(SampleKind::OffCpu),
        captured: Vec::new(),
    };
    input::read_into(&args.files, &mut sources, global)?;
    sources.facts.finish();
    input::remark(&sources.facts, global);
    let (profile, of) = sources.profile(args.of.as_deref().and_then(ProfileOf::of_word))?;
    let profile = whyslow_export::without_secrets(profile);
    let selection =
        StackSelection { sample_index: args.value.clone().unwrap_or_default(), ..StackSelection::default() };
    let prepared = PreparedProfile::new(&profile, &selection, view, None)?;
    for remark in &prepared.remarks {
        say!("whyslow: {}", output::plain(remark));
    }
    for comment in &profile.comments {
        say!("whyslow: {}", output::plain(profile.str(*comment)));
    }
    if args.of.is_none() {
        say!("whyslow: it is of {of}{}", if of == "the profile given" { "" } else { " (--of has others)" });
    }
    let mut result = Ok(());
    let written = output::to(args.output.as_deref(), |out| match (view.write)(&prepared, out) {
        Err(ViewError::Write(error)) => Err(error),
        Err(other) => {
            result = Err(other);
            Err(io::Error::other("the view stopped"))
        }
        Ok(()) => Ok(()),
    });
    result?;
    written
}

/// The formats as a table.
fn list() -> Table {
    let text = |text: &str| Cell::Text(text.to_string());
    Table {
        name: "formats",
        question: "Which formats are there, what is in them, and what opens them?".to_string(),
        columns: vec![
            Column::new("format", "format"),
            Column::new("about", "what is in it"),
            Column::optional("opened_by", "opened by", 1),
        ],
        rows: EXPORT_FORMATS
            .iter()
            .map(|format| vec![text(format.name), text(format.about), text(format.opened_by)])
            .collect(),
        total: None,
        notes: Vec::new(),
    }
}
