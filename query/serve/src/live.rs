//! Recording from the page: one recorder at a time, which is the program itself and checks what it checks on the command line. It goes on
//! into the directory that is served, where the page follows it; the target is left alone when it ends.

use crate::runs::ended;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The longest recording that a page may begin, s.
const MOST_SECONDS: u64 = 3_600;
/// The oldest parts of a longer one make room.
const MOST_SIZE: &str = "2G";
/// A recorder that was told to end does so within this time, or is killed.
const PATIENCE: Duration = Duration::from_secs(60);
/// Processes that are offered.
const MOST_PROCESSES: usize = 500;

/// What the page asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    pid: u32,
    seconds: u64,
}

/// What the page is told.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct LiveStatus {
    /// Recordings may be begun here.
    pub(crate) allowed: bool,
    /// Why not.
    pub(crate) why: Option<String>,
    /// The number of the recording that goes on or was last made, once its folder is there.
    pub(crate) id: Option<u32>,
    pub(crate) running: bool,
    pub(crate) pid: Option<u32>,
    /// How long it has gone on, and is to, s.
    pub(crate) seconds: f64,
    pub(crate) of: u64,
    /// What the recorder said as it ended without success.
    pub(crate) said: Option<String>,
}

/// A process that may be recorded.
#[derive(Debug, Serialize)]
pub(crate) struct Process {
    pid: u32,
    name: String,
}

struct Recorder {
    path: PathBuf,
    pid: u32,
    of: u64,
    began: Instant,
    took: Option<Duration>,
    /// The recorder's own process.
    child: u32,
    said: Option<String>,
    told_to_end: Option<Instant>,
}

/// The recorder, if there is one.
pub(crate) struct Live {
    whyslow: PathBuf,
    folder: Result<PathBuf, String>,
    state: Arc<Mutex<Option<Recorder>>>,
}

impl Live {
    /// Recordings are made by that program in that folder; or not, for a reason.
    pub(crate) fn new(whyslow: PathBuf, folder: Result<PathBuf, String>) -> Live {
        Live { whyslow, folder, state: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Recorder>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins one. That it began does not say that it may: the recorder tells as it ends.
    ///
    /// # Errors
    /// Why it cannot be.
    pub(crate) fn start(&self, wish: &Wish) -> Result<(), String> {
        let folder = self.folder.as_ref().map_err(Clone::clone)?;
        if !(1..=MOST_SECONDS).contains(&wish.seconds) {
            return Err(format!("a recording lasts 1 to {MOST_SECONDS} s"));
        }
        if wish.pid == 0 || !Path::new(&format!("/proc/{}", wish.pid)).exists() {
            return Err(format!("there is no process {}", wish.pid));
        }
        let mut state = self.lock();
        if state.as_ref().is_some_and(|recorder| recorder.took.is_none()) {
            return Err("a recording goes on already".to_string());
        }
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let text = whyslow_model::Timestamp::new(now.as_nanos() as u64).date_and_time();
        let path = folder.join(format!("live-{}-{text}.whyslow", wish.pid));
        let mut command = Command::new(&self.whyslow);
        command.args(["record", "-p", &wish.pid.to_string(), "-d", &format!("{}s", wish.seconds)]);
        command.args(["--max-size", MOST_SIZE, "-o"]).arg(&path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("the recorder cannot be started: {error}"))?;
        *state = Some(Recorder {
            path,
            pid: wish.pid,
            of: wish.seconds,
            began: Instant::now(),
            took: None,
            child: child.id(),
            said: None,
            told_to_end: None,
        });
        drop(state);
        let state = self.state.clone();
        std::thread::spawn(move || {
            let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
            let gives_up = || {
                let told = lock().as_ref().and_then(|recorder| recorder.told_to_end);
                told.is_some_and(|told| told.elapsed() > PATIENCE)
            };
            let done = ended(child, Duration::from_secs(2 * MOST_SECONDS), &gives_up);
            if let Some(recorder) = lock().as_mut() {
                recorder.took = Some(recorder.began.elapsed());
                recorder.said = match done {
                    Ok((_, status)) if status.success() => None,
                    Ok((said, status)) if said.is_empty() => {
                        Some(format!("the recorder ended with {status}"))
                    }
                    Ok((said, _)) | Err(said) => Some(said),
                };
            }
        });
        Ok(())
    }

    /// Tells the recorder to end, as Ctrl-C does. What was recorded stays, and the target runs on.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        let Some(recorder) = state.as_mut().filter(|recorder| recorder.took.is_none()) else { return };
        recorder.told_to_end.get_or_insert_with(Instant::now);
        if let Some(pid) = rustix::process::Pid::from_raw(recorder.child as i32) {
            // It was not waited for yet: the number is still its own.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        }
    }

    /// Stops the recorder and waits for it.
    pub(crate) fn end(&self) {
        self.stop();
        let began = Instant::now();
        while began.elapsed() < PATIENCE
            && self.lock().as_ref().is_some_and(|recorder| recorder.took.is_none())
        {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// How it goes, and the folder of the recording.
    pub(crate) fn status(&self) -> (LiveStatus, Option<PathBuf>) {
        let state = self.lock();
        let mut status = LiveStatus {
            allowed: self.folder.is_ok(),
            why: self.folder.clone().err(),
            ..LiveStatus::default()
        };
        let Some(recorder) = state.as_ref() else { return (status, None) };
        status.running = recorder.took.is_none();
        status.pid = Some(recorder.pid);
        status.seconds = recorder.took.unwrap_or_else(|| recorder.began.elapsed()).as_secs_f64();
        status.of = recorder.of;
        status.said = recorder.said.clone();
        (status, Some(recorder.path.clone()))
    }
}

/// The processes of this user, or all for root: by number, without threads of the kernel.
pub(crate) fn processes() -> Vec<Process> {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut found: Vec<Process> = entries
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            if own != 0 && entry.metadata().ok()?.uid() != own {
                return None;
            }
            // A thread of the kernel has no program.
            if std::fs::read(entry.path().join("cmdline")).ok()?.is_empty() || pid == std::process::id() {
                return None;
            }
            let name = std::fs::read_to_string(entry.path().join("comm")).ok()?;
            Some(Process { pid, name: name.trim_end().to_string() })
        })
        .collect();
    found.sort_unstable_by_key(|process| std::cmp::Reverse(process.pid));
    found.truncate(MOST_PROCESSES);
    found
}
