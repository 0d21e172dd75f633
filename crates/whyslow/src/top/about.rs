//! What is found out about one process besides the samples: its calls, files and peers by a recording of a second, its
//! descriptors from /proc. A child process does it, so that nothing it prints lands on the screen.

use anyhow::{Context, bail};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;
use whyslow_diagnose::Facts;
use whyslow_diagnose::views::{self, Ask};
use whyslow_model::{SourceId, Table, Tid};
use whyslow_record::target::{ProcRoot, snapshot};

/// What came of a question.
pub(crate) enum Answer {
    /// A table about a process, or why there is none.
    Table(Tid, &'static str, Result<Table, String>),
    /// A remark.
    Remark(String),
}

/// How long calls are recorded for a page.
const LOOK: &str = "1s";
/// How long `r` records.
const RECORD: &str = "10s";
/// Rows of a page.
const ROWS: usize = 500;

/// Finds the table `view` about `pid` out, on a thread of its own.
pub(crate) fn ask(pid: Tid, view: &'static str, tell: Sender<Answer>) {
    std::thread::spawn(move || {
        let table = table(pid, view).map_err(|error| format!("{error:#}"));
        // Nobody listens any more when the screen is closed.
        let _ = tell.send(Answer::Table(pid, view, table));
    });
}

fn table(pid: Tid, view: &'static str) -> anyhow::Result<Table> {
    let facts = match view {
        "fds" => descriptors(pid),
        _ => {
            let folder = tempfile::Builder::new().prefix("whyslow-top-").tempdir()?;
            let recording = folder.path().join("look.whyslow");
            record(pid, LOOK, &recording)?;
            let mut facts = Facts::default();
            whyslow_store::read(&recording, SourceId(0), &mut facts, &mut |_, _| {})?;
            facts.finish();
            facts
        }
    };
    let view = views::find(view).with_context(|| format!("there is no view `{view}`"))?;
    let mut table = (view.table)(&facts, &Ask { top: Some(ROWS), ..Ask::default() })?;
    table.drop_unknown_columns();
    Ok(table)
}

fn descriptors(pid: Tid) -> Facts {
    let mut facts = Facts::default();
    snapshot(&[pid], &ProcRoot::live(), SourceId(0), &mut facts);
    facts.finish();
    facts
}

/// Records `pid` for that long to that place.
fn record(pid: Tid, length: &str, to: &Path) -> anyhow::Result<()> {
    let mut child = start(pid, length, to)?;
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        // It says little; what a damaged one says is bounded.
        let _ = stderr.by_ref().take(64 * 1024).read_to_string(&mut said);
    }
    if !child.wait()?.success() {
        bail!("{}", said.trim());
    }
    Ok(())
}

fn start(pid: Tid, length: &str, to: &Path) -> anyhow::Result<Child> {
    Command::new(std::env::current_exe().context("this program's own file")?)
        .args(["record", "-p", &pid.to_string(), "--duration", length, "-o"])
        .arg(to)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("the recorder cannot be started")
}

/// Records `pid` into the working directory, on a thread of its own; tells the name when it is done.
pub(crate) fn keep(pid: Tid, name: &str, tell: Sender<Answer>) -> String {
    let letters: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let when = whyslow_model::Timestamp::new(now.as_nanos() as u64).date_and_time();
    let to = PathBuf::from(format!("{letters}-{pid}-{when}.whyslow"));
    let remark = format!("recording {letters} ({pid}) for {RECORD} to {}", to.display());
    std::thread::spawn(move || {
        let remark = match record(pid, RECORD, &to) {
            Ok(()) => format!("recorded; next: whyslow report {}", to.display()),
            Err(error) => format!("not recorded: {error:#}"),
        };
        let _ = tell.send(Answer::Remark(remark));
    });
    remark
}
