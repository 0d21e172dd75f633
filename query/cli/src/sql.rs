//! `whyslow sql X… ["SELECT …"]`: one question, or a shell.

use crate::ask::{Asker, Told};
use crate::confined::{self, Needs};
use crate::print::{self, Form};
use crate::shell;
use anyhow::{Context, bail};
use clap::Args;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::Runtime;
use whyslow_model::visible;
use whyslow_query_engine::{Database, DatabaseOptions, QueryLimits};

/// Ask recordings and captures in SQL: one question, or a shell where none is given
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow sql slow.whyslow                                    a shell: \\help, \\d, \\macros
  whyslow sql slow.whyslow \"SELECT * FROM top_syscalls\"       one question
  whyslow sql trace.st \"SELECT path, p99(dur) FROM calls GROUP BY path ORDER BY 2 DESC LIMIT 5\"
  whyslow sql a.whyslow b.whyslow --csv \"SELECT recording, count(*) FROM calls GROUP BY 1\"
  whyslow sql slow.whyslow -f questions.sql --json            questions from a file, - for standard input

Only questions are answered: nothing is written, and no file is opened because a question names it. docs/SQL.md has the tables.")]
pub(crate) struct Sql {
    /// Recordings (NAME.whyslow), captures, directories of them; and, last, a question: what is no file and has a space in it
    #[arg(required = true, value_name = "FILE")]
    given: Vec<String>,
    /// Questions from a file, separated by semicolons; - for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with = "question")]
    file: Option<PathBuf>,
    /// The question, where it is not the last word
    #[arg(short = 'c', long = "question", value_name = "SQL")]
    question: Option<String>,
    /// Print JSON: an array of rows
    #[arg(long, conflicts_with_all = ["csv", "ndjson"])]
    json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "ndjson")]
    csv: bool,
    /// Print a JSON object a row
    #[arg(long)]
    ndjson: bool,
    /// Tell on standard error how long each answer took
    #[arg(long)]
    timing: bool,
    /// Rows of an answer at most; 0 for all (default: 1,000 on a terminal, else all)
    #[arg(long, value_name = "N")]
    rows: Option<usize>,
    /// A question that takes longer is given up, seconds
    #[arg(long, value_name = "S", default_value = "600", value_parser = clap::value_parser!(u64).range(1..))]
    time: u64,
    /// Memory that sorts, groups and joins may hold, MiB
    #[arg(long, value_name = "MIB", default_value = "2048", value_parser = clap::value_parser!(u64).range(16..=1 << 20))]
    memory: u64,
    /// Threads that work on a question (default: one a CPU)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=128))]
    threads: Option<u8>,
    /// Show passwords, tokens and cookies in captures and findings
    #[arg(long)]
    show_secrets: bool,
    /// Keep no computed tables in the cache (~/.cache/whyslow/sql)
    #[arg(long)]
    no_cache: bool,
}

/// Rows shown on a terminal where `--rows` is not given.
const SCREENS: usize = 1_000;
/// Bytes of a file of questions.
const MOST_QUESTION_BYTES: u64 = 1 << 20;

pub(crate) fn run(mut args: Sql) -> anyhow::Result<ExitCode> {
    let question = question(&mut args)?;
    let form = match (args.json, args.csv, args.ndjson) {
        (true, ..) => Form::Json,
        (_, true, _) => Form::Csv,
        (_, _, true) => Form::Ndjson,
        _ => Form::Table,
    };
    let to_terminal = std::io::stdout().is_terminal();
    let rows = args.rows.unwrap_or(if to_terminal && form == Form::Table { SCREENS } else { 0 });
    let limits = QueryLimits {
        rows: if rows == 0 { usize::MAX } else { rows },
        time: Duration::from_secs(args.time),
        ..QueryLimits::default()
    };
    let options = DatabaseOptions {
        memory: usize::try_from(args.memory << 20)?,
        threads: args.threads.map(usize::from),
        show_secrets: args.show_secrets,
        cache: if args.no_cache { None } else { DatabaseOptions::user_cache() },
    };
    bound_memory(args.memory);
    quiet_panics();
    let paths: Vec<PathBuf> = args.given.iter().map(PathBuf::from).collect();
    let history = if question.is_none() { shell::history_folder() } else { None };
    let _temporary = confined::confine(&Needs {
        reads: &paths,
        writes: &[options.cache.clone(), history],
        runs: None,
        listens: false,
        connects: false,
    })?;
    let runtime = Runtime::new()?;
    let result = ask_all(&args, &runtime, question, form, limits, options);
    // A question that was given up may still be at a step that takes long.
    runtime.shutdown_background();
    result
}

fn ask_all(
    args: &Sql,
    runtime: &Runtime,
    question: Option<String>,
    form: Form,
    limits: QueryLimits,
    options: DatabaseOptions,
) -> anyhow::Result<ExitCode> {
    let paths: Vec<PathBuf> = args.given.iter().map(PathBuf::from).collect();
    let database = runtime.block_on(Database::open(&paths, options))?;
    let mut told = Told::default();
    told.tell(&database);
    let asker = Asker { runtime, database: &database, limits };
    match question {
        Some(text) => {
            for sql in print::statements(&text) {
                let answer = asker.ask(&sql)?;
                told.tell(&database);
                print::answer(&answer, form, &mut std::io::stdout().lock())?;
                if args.timing {
                    eprintln!("{:.1} ms", answer.elapsed.as_secs_f64() * 1e3);
                }
                if answer.truncated {
                    eprintln!("whyslow: more rows are not shown (--rows 0 shows all)");
                }
            }
            Ok(ExitCode::SUCCESS)
        }
        None => shell::run(&asker, form, &mut told),
    }
}

/// The question, where one is given: by its option, from a file, or as the last word.
fn question(args: &mut Sql) -> anyhow::Result<Option<String>> {
    if let Some(path) = &args.file {
        return Ok(Some(read_questions(path)?));
    }
    if let Some(question) = args.question.take() {
        return Ok(Some(question));
    }
    let is_question = |word: &String| word.contains(char::is_whitespace) && !Path::new(word).exists();
    let last = args.given.last().filter(|word| is_question(word)).cloned();
    if last.is_some() {
        args.given.pop();
        if args.given.is_empty() {
            bail!("no file is named\nnext: whyslow sql slow.whyslow \"SELECT …\"");
        }
    }
    if let (None, false) = (&last, std::io::stdin().is_terminal()) {
        return Ok(Some(read_questions(Path::new("-"))?));
    }
    Ok(last)
}

fn read_questions(path: &Path) -> anyhow::Result<String> {
    let failed = || format!("{}: cannot be read", visible::path(path));
    let mut text = String::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin().take(MOST_QUESTION_BYTES + 1).read_to_string(&mut text),
        false => std::fs::File::open(path)
            .with_context(failed)?
            .take(MOST_QUESTION_BYTES + 1)
            .read_to_string(&mut text),
    };
    if read.with_context(failed)? as u64 > MOST_QUESTION_BYTES {
        bail!("{}: more than {MOST_QUESTION_BYTES} bytes of questions", visible::path(path));
    }
    Ok(text)
}

/// What the engine's pool does not see, such as texts that a question puts together, ends here and not in the memory of all.
fn bound_memory(mib: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// Beside the pool: the engine, the answer, facts of a large recording.
    const BESIDE: u64 = 8 << 30;
    let wanted = (mib << 20).saturating_mul(2).saturating_add(BESIDE);
    let known = getrlimit(Resource::Data);
    let lower = known.current.is_none_or(|current| wanted < current);
    if lower {
        let _ = setrlimit(Resource::Data, Rlimit { current: Some(wanted), maximum: known.maximum });
    }
}

/// A panic of a decoder is told as an error of the question; what it says quotes strangers.
fn quiet_panics() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some("main") {
            others(info);
        }
    }));
}
