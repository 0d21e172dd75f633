//! What is found out about one process besides the samples: its calls, files and peers by a recording of a second, its
//! descriptors from /proc. A child process records, so that nothing it prints lands on the screen.

use super::happening::{Answer, Happening};
use crate::temporary::LiveFolder;
use anyhow::{Context, bail};
use signal_hook::consts::{SIGINT, SIGKILL};
use std::fs::File;
use std::io::{Read, Seek};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whyslow_facts::Facts;
use whyslow_model::visible;
use whyslow_model::{SourceId, Table, Tid, Timestamp};
use whyslow_record::send_signal;
use whyslow_record::target::{ProcRoot, snapshot};
use whyslow_views::Ask;

/// How long calls are recorded for a page.
const LOOK: &str = "1s";
/// How long `r` records.
const RECORD: &str = "10s";
/// Rows of a page.
const ROWS: usize = 500;
/// Recordings under way at once, that `r` began.
const AT_ONCE: usize = 4;
/// How often it is looked whether a child ended.
const STEP: Duration = Duration::from_millis(20);
/// How long a recording may take to end once it is told to.
const GRACE: Duration = Duration::from_secs(5);
/// Of what a child complains so many bytes are kept.
const COMPLAINT: u64 = 64 * 1024;

/// Records processes in the background.
pub(super) struct Recorder {
    tell: SyncSender<Happening>,
    /// For the page: one at a time, the last that was asked for.
    look: Option<Running<()>>,
    /// For the user.
    kept: Vec<Running<Option<String>>>,
}

/// A recording under way.
struct Running<T> {
    pid: Tid,
    stop: Stop,
    thread: JoinHandle<T>,
}

/// The signal by which a recording is to end; 0 while it goes on.
type Stop = Arc<AtomicI32>;

impl Recorder {
    pub(super) fn new(tell: SyncSender<Happening>) -> Recorder {
        Recorder { tell, look: None, kept: Vec::new() }
    }

    /// Finds the table `view` about `pid` out. What was being found out before is given up.
    pub(super) fn ask(&mut self, pid: Tid, view: &'static str) {
        let before = self.look.take().inspect(|look| look.stop.store(SIGKILL, Ordering::Relaxed));
        let (stop, tell) = (Stop::default(), self.tell.clone());
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            // Two recordings of one process at once would be in each other's way.
            if let Some(before) = before {
                let _ = before.thread.join();
            }
            if told.load(Ordering::Relaxed) != 0 {
                return;
            }
            let table = catch_unwind(|| table(pid, view, &told))
                .unwrap_or_else(|_| bail!("a fault of whyslow: its words come when the screen ends"))
                .map_err(|error| format!("{error:#}"));
            // Nobody listens any more when the screen is closed.
            let _ = tell.send(Happening::Answer(Answer::Table { pid, view, table }));
        });
        self.look = Some(Running { pid, stop, thread });
    }

    /// Records `pid` into the working directory; what is to be said of it now. More is told when it is done.
    pub(super) fn keep(&mut self, pid: Tid, name: &str) -> String {
        let under_way = || self.kept.iter().filter(|kept| !kept.thread.is_finished());
        if under_way().any(|kept| kept.pid == pid) {
            return format!("{name} ({pid}) is being recorded already");
        }
        if under_way().count() >= AT_ONCE {
            return format!("{AT_ONCE} recordings are under way: wait until one ends");
        }
        let letters: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let when = Timestamp::new(now.as_nanos() as u64).date_and_time();
        let to = PathBuf::from(format!("{letters}-{pid}-{when}.whyslow"));
        let remark = format!("recording {name} ({pid}) for {RECORD} to {}", visible::path(&to));
        let (stop, tell) = (Stop::default(), self.tell.clone());
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let result = record(pid, RECORD, &to, &told);
            let (remark, made) = match result {
                Ok(()) => {
                    let remark = format!("recorded; next: whyslow report {}", visible::path(&to));
                    (remark.clone(), Some(remark))
                }
                Err(error) => (format!("not recorded: {error:#}"), None),
            };
            let _ = tell.send(Happening::Answer(Answer::Remark(remark)));
            made
        });
        self.kept.push(Running { pid, stop, thread });
        remark
    }

    /// Ends what is under way: a look is given up, a recording is closed in good order. What was recorded, to be told
    /// where it stays.
    pub(super) fn end(self) -> Vec<String> {
        // Nobody takes messages any more: no thread may wait for that.
        drop(self.tell);
        if let Some(look) = self.look {
            look.stop.store(SIGKILL, Ordering::Relaxed);
            let _ = look.thread.join();
        }
        self.kept.iter().for_each(|kept| kept.stop.store(SIGINT, Ordering::Relaxed));
        self.kept.into_iter().filter_map(|kept| kept.thread.join().ok().flatten()).collect()
    }
}

fn table(pid: Tid, view: &'static str, stop: &AtomicI32) -> anyhow::Result<Table> {
    let facts = match view {
        "fds" => descriptors(pid),
        _ => {
            let folder = LiveFolder::make(false)?;
            let recording = folder.path().join("look.whyslow");
            record(pid, LOOK, &recording, stop)?;
            let mut facts = Facts::default();
            whyslow_store::read(&recording, SourceId(0), &mut facts, &mut |_, _| {})?;
            facts.finish();
            facts
        }
    };
    let view = whyslow_views::find(view).with_context(|| format!("there is no view `{view}`"))?;
    let mut table = view.of(&facts, &Ask { top: Some(ROWS), ..Ask::default() })?;
    table.drop_unknown_columns();
    Ok(table)
}

fn descriptors(pid: Tid) -> Facts {
    let mut facts = Facts::default();
    snapshot(&[pid], &ProcRoot::live(), SourceId(0), &mut facts);
    facts.finish();
    facts
}

/// Records `pid` for that long to that place, or until `stop` says by which signal it is to end.
fn record(pid: Tid, length: &str, to: &Path, stop: &AtomicI32) -> anyhow::Result<()> {
    let mut said = tempfile::tempfile().context("what the recorder says cannot be kept")?;
    let mut child = start(pid, length, to, said.try_clone()?)?;
    let mut until = None;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let signal = stop.load(Ordering::Relaxed);
        match until {
            None if signal != 0 => {
                send_signal(child.id(), signal);
                until = Some(Instant::now() + GRACE);
            }
            Some(until) if Instant::now() > until => child.kill()?,
            _ => {}
        }
        std::thread::sleep(STEP);
    };
    if !status.success() {
        let mut text = Vec::new();
        said.rewind()?;
        said.take(COMPLAINT).read_to_end(&mut text)?;
        bail!("{}", String::from_utf8_lossy(&text).trim());
    }
    Ok(())
}

fn start(pid: Tid, length: &str, to: &Path, said: File) -> anyhow::Result<Child> {
    Command::new(std::env::current_exe().context("this program's own file")?)
        .args(["record", "-p", &pid.to_string(), "--duration", length, "-o"])
        .arg(to)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said)
        .spawn()
        .context("the recorder cannot be started")
}
