//! `whyslow serve [FILE|DIR]…`: pages of recordings for a browser of this machine.

use crate::confined::{self, Needs};
use anyhow::{Context, anyhow};
use clap::Args;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::Mutex;
use whyslow_query_engine::{Database, DatabaseOptions, QueryAnswer, QueryLimits};
use whyslow_query_serve::{AnswerFuture, QuestionLimits, Questions, ServeOptions, Server, usual_cache};

/// Serve pages of recordings to your browser: any size, with zoom, tables, SQL, and recording from the page
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  whyslow serve slow.whyslow --open           the page of a recording, in your browser
  whyslow serve recordings/                   all recordings of a directory
  whyslow serve recordings/ --allow-record    and new ones, begun from the page
  ssh -L 8000:127.0.0.1:8000 HOST whyslow serve --port 8000 /var/tmp/recordings

It listens on 127.0.0.1 alone. The address has a token: whoever has it reads what is served.")]
pub(crate) struct Serve {
    /// Recordings, captures, and directories of them; the current directory where none is given
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    /// The port; a free one where it is not given
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Listen at this address; other than loopback needs --tls or --insecure
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// A further name that the server may be asked by; may be given more than once
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Speak TLS, with a certificate made now; its fingerprint is printed
    #[arg(long)]
    tls: bool,
    /// Let others listen in on what goes over the network
    #[arg(long, conflicts_with = "tls")]
    insecure: bool,
    /// Let the page begin recordings, in the first directory that is served
    #[arg(long)]
    allow_record: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Do not replace passwords, tokens and cookies by `[redacted]`
    #[arg(long)]
    show_secrets: bool,
    /// As all commands take them; there is nothing here that they change
    #[arg(long, hide = true)]
    json: bool,
    #[arg(long, hide = true)]
    threads: Option<u8>,
}

/// Serves until it is told to end.
pub(crate) fn run(args: Serve) -> anyhow::Result<ExitCode> {
    let _ = (args.json, args.threads);
    let paths = if args.paths.is_empty() { vec![PathBuf::from(".")] } else { args.paths };
    let options = ServeOptions {
        paths,
        bind: SocketAddr::new(args.bind, args.port),
        hosts: args.host,
        tls: args.tls,
        insecure: args.insecure,
        allow_record: args.allow_record,
        show_secrets: args.show_secrets,
        whyslow: whyslow()?,
        cache: None,
    };
    let opener = if args.open { Opener::start() } else { None };
    // A recorder needs rights that Landlock takes from all children.
    let _temporary = match args.allow_record {
        true => None,
        false => Some(confined::confine(&Needs {
            reads: &options.paths,
            writes: &[usual_cache()],
            runs: Some(&options.whyslow),
            listens: true,
            connects: false,
        })?),
    };
    let engine = questions(args.show_secrets);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.context("no threads can be started")?;
    runtime.block_on(async {
        let server = Server::open(options, engine).await.map_err(|why| anyhow!(why))?;
        println!("{}", server.url);
        if let Some(fingerprint) = &server.fingerprint {
            eprintln!("whyslow: the certificate's SHA-256 is {fingerprint}");
        }
        eprintln!("whyslow: serving; Ctrl-C ends it");
        if let Some(opener) = opener {
            opener.open(&server.url);
        } else if args.open {
            eprintln!("whyslow: no browser could be opened: open the address yourself");
        }
        server.run(ends()).await.map_err(|why| anyhow!(why))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What answers questions in SQL about recordings.
pub(crate) fn questions(show_secrets: bool) -> Arc<dyn Questions> {
    Arc::new(Asked(Arc::new(Engine { show_secrets, open: Mutex::default() })))
}

/// Ctrl-C, or a signal to end.
pub(crate) async fn ends() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut term) = signal(SignalKind::terminate()) else { return };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = term.recv() => {}
    }
}

/// The program that diagnoses and records: the one that started this one, else the one beside it, else on the path.
pub(crate) fn whyslow() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("WHYSLOW_PROGRAM").map(PathBuf::from).filter(|path| path.is_file()) {
        return Ok(path);
    }
    let own = std::env::current_exe().context("where this program is")?;
    let beside = own.with_file_name("whyslow");
    // Of a build: target/query/release/whyslow-query and target/release/whyslow.
    let built = own
        .parent()
        .and_then(|profile| Some(profile.parent()?.parent()?.join(profile.file_name()?).join("whyslow")));
    let on_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|paths| std::env::split_paths(&paths).map(|path| path.join("whyslow")).collect::<Vec<_>>());
    let mut candidates = [beside].into_iter().chain(built).chain(on_path);
    candidates
        .find(|path| path.is_file())
        .ok_or_else(|| anyhow!("the program `whyslow` is neither beside this one nor on the path"))
}

/// Waits for the address to open: it is started before the server gives up to start programs.
struct Opener(Child);

impl Opener {
    fn start() -> Option<Opener> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "IFS= read -r address && exec xdg-open \"$address\""]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().ok().map(Opener)
    }

    fn open(mut self, url: &str) {
        // A browser goes on by itself.
        if let Some(mut input) = self.0.stdin.take() {
            let _ = writeln!(input, "{url}");
        }
    }
}

/// The engine behind questions: a database for each recording that was asked about, as long as its files are the same.
struct Engine {
    show_secrets: bool,
    open: Mutex<HashMap<PathBuf, (SystemTime, Arc<Database>)>>,
}

/// Databases that are kept open.
const MOST_OPEN: usize = 4;
/// Bytes that sorts and groups of all questions to one recording may hold.
const MEMORY: usize = 512 << 20;

impl Engine {
    async fn database(&self, path: &Path) -> Result<Arc<Database>, String> {
        let changed = changed(path);
        let mut open = self.open.lock().await;
        if let Some((_, database)) = open.get(path).filter(|(when, _)| *when == changed) {
            return Ok(database.clone());
        }
        let options =
            DatabaseOptions { memory: MEMORY, show_secrets: self.show_secrets, ..DatabaseOptions::default() };
        let database =
            Database::open(&[path.to_path_buf()], options).await.map_err(|error| error.to_string())?;
        let database = Arc::new(database);
        if open.len() >= MOST_OPEN {
            open.clear();
        }
        open.insert(path.to_path_buf(), (changed, database.clone()));
        Ok(database)
    }
}

/// When the recording or one of its tables was last written to.
fn changed(path: &Path) -> SystemTime {
    let of =
        |path: &Path| path.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let inner = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| of(&entry.path()));
    inner.chain([of(path)]).max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The engine as the server knows it.
struct Asked(Arc<Engine>);

impl Questions for Asked {
    fn ask(&self, recording: PathBuf, sql: String, limits: QuestionLimits) -> AnswerFuture {
        let engine = self.0.clone();
        Box::pin(async move {
            let database = engine.database(&recording).await?;
            let limits = QueryLimits { rows: limits.rows, bytes: limits.bytes, time: limits.time };
            answer(&database.query(&sql, limits).await.map_err(|error| error.to_string())?)
        })
    }

    fn tables(&self, recording: PathBuf) -> AnswerFuture {
        let engine = self.0.clone();
        Box::pin(async move {
            let database = engine.database(&recording).await?;
            let tables: Vec<Value> = database
                .tables()
                .iter()
                .map(|table| {
                    let columns: Vec<&str> =
                        table.columns.iter().map(|column| column.name.as_str()).collect();
                    json!({ "name": table.name, "about": table.about, "columns": columns })
                })
                .collect();
            let macros: Vec<Value> = database
                .macros()
                .iter()
                .map(|each| json!({ "name": each.name, "about": each.about }))
                .collect();
            Ok(json!({ "tables": tables, "macros": macros }))
        })
    }
}

fn answer(answer: &QueryAnswer) -> Result<Value, String> {
    let fields = answer.schema.fields();
    let columns: Vec<Value> = fields
        .iter()
        .map(|field| json!({ "name": field.name(), "type": field.data_type().to_string() }))
        .collect();
    let mut rows = Vec::new();
    for batch in &answer.batches {
        add_rows(batch, &mut rows).map_err(|error| error.to_string())?;
    }
    Ok(json!({
        "columns": columns,
        "rows": rows,
        "truncated": answer.truncated,
        "seconds": answer.elapsed.as_secs_f64(),
    }))
}

/// Numbers that a browser holds exactly, as numbers; all else as text.
fn add_rows(batch: &RecordBatch, rows: &mut Vec<Value>) -> anyhow::Result<()> {
    const EXACT: i64 = 1 << 53;
    let options = FormatOptions::default();
    let formatters: Result<Vec<ArrayFormatter<'_>>, _> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options)).collect();
    let formatters = formatters?;
    for row in 0..batch.num_rows() {
        let cells = batch.columns().iter().zip(&formatters).map(|(column, formatter)| {
            if column.is_null(row) {
                return Value::Null;
            }
            let text = formatter.value(row).to_string();
            match column.data_type() {
                DataType::Int64 if column.as_primitive::<Int64Type>().value(row).abs() < EXACT => {
                    column.as_primitive::<Int64Type>().value(row).into()
                }
                DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into(),
                kind if kind.is_integer() => match text.parse::<i64>() {
                    Ok(number) if number.abs() < EXACT => number.into(),
                    _ => text.into(),
                },
                DataType::Boolean => (text == "true").into(),
                _ => text.into(),
            }
        });
        rows.push(Value::Array(cells.collect()));
    }
    Ok(())
}
