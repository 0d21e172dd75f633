//! A recording in detail that somebody asked for: a process of its own records what the ring watches now, beside the ring, and puts the recording
//! on the same shelf. Nobody waits for it: it is looked at as the ring goes on. It ends with the recorder.

mod folder;

pub use folder::DetailFolder;
pub(crate) use folder::remove_abandoned;

use crate::ask::Asked;
use crate::error::FlightError;
use crate::fired::Fired;
use crate::keep::{FlightNews, KeptWindow, Shelf};
use folder::DetailHead;
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use whyslow_model::Timestamp;
use whyslow_record::target::WatchedNow;
use whyslow_store::{KeptMeta, Meta};

/// The trigger's word, for names of files and in heads.
const KIND: &str = "asked";
/// Beyond its length a recording may take so long to begin and to be written.
const WRITTEN_WITHIN: Duration = Duration::from_mins(5);
/// As the recorder ends, the process may take so long to write what it has.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// Between two looks at the process.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Between two looks while it is waited for.
const PAUSE: Duration = Duration::from_millis(20);
/// Bytes of what it said last that are looked at, and characters that are told.
const MOST_SAID: u64 = 8 << 10;
const MOST_TOLD: usize = 500;
/// Numbers of processes in one word of a command: the kernel takes words of 128 KiB.
const PIDS_A_WORD: usize = 10_000;

/// What a recording in detail is made of.
pub(crate) struct DetailOrder<'o> {
    /// The command that records, without whom, for how long and whereto.
    pub(crate) command: &'o [OsString],
    pub(crate) whom: WatchedNow,
    pub(crate) shelf: &'o Shelf,
    /// The head, as that of windows.
    pub(crate) meta: &'o Meta,
    /// Now.
    pub(crate) at: Timestamp,
    pub(crate) length: Duration,
}

/// A process that records.
struct UnderWay {
    child: Child,
    /// What it says on standard error, in memory.
    said: File,
    folder: PathBuf,
    window: KeptWindow,
    /// `None` once it is answered.
    asked: Option<Asked>,
    /// It is ended then, whatever it does.
    until: Instant,
    /// CPU time that it had taken at the last look.
    cpu: Duration,
}

impl UnderWay {
    fn answer(&mut self, with: Result<PathBuf, String>) {
        if let Some(asked) = self.asked.take() {
            asked.answer(with);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // Where it was answered, it has ended.
        if self.asked.is_some() {
            let _ = self.child.kill();
            let _ = self.child.wait();
            let _ = std::fs::remove_dir_all(&self.folder);
            self.answer(Err("the ring began anew, and gave the recording up".to_string()));
        }
    }
}

/// The one recording in detail that there may be at a time.
pub(crate) struct Detail {
    under_way: Option<UnderWay>,
    looked: Instant,
    /// CPU time of those that have ended, since it was asked for.
    cpu: Duration,
    kept: u64,
}

impl Default for Detail {
    fn default() -> Detail {
        Detail { under_way: None, looked: Instant::now(), cpu: Duration::ZERO, kept: 0 }
    }
}

impl Detail {
    /// The one that is under way.
    pub(crate) fn under_way(&self) -> Option<&KeptWindow> {
        self.under_way.as_ref().map(|one| &one.window)
    }

    /// Recordings that were made.
    pub(crate) fn kept(&self) -> u64 {
        self.kept
    }

    /// CPU time of the processes that have ended since this was asked last.
    pub(crate) fn take_cpu(&mut self) -> Duration {
        std::mem::take(&mut self.cpu)
    }

    /// Begins one.
    pub(crate) fn begin(&mut self, asked: Asked, order: &DetailOrder<'_>, news: &mut Vec<FlightNews>) {
        if self.under_way.is_some() {
            return asked.answer(Err("another recording that was asked for is under way".to_string()));
        }
        if order.whom.is_empty() {
            let why = "no process that the ring records is there now: nothing was recorded";
            return asked.answer(Err(why.to_string()));
        }
        let removed = order.shelf.make_place();
        if !removed.is_empty() {
            news.push(FlightNews::Removed(removed));
        }
        let fired = Fired { trigger: KIND.to_string(), kind: KIND, reason: asked.reason(), at: order.at };
        let path = order.shelf.path_for(&fired);
        let why = fired.sentence();
        match start(order, &fired, &path) {
            Ok((child, said, folder)) => {
                let window = KeptWindow { path, why, trigger: fired.trigger, at: fired.at };
                news.push(FlightNews::Begun(window.clone()));
                let until = Instant::now() + order.length + WRITTEN_WITHIN;
                let (asked, cpu) = (Some(asked), Duration::ZERO);
                self.under_way = Some(UnderWay { child, said, folder, window, asked, until, cpu });
            }
            Err(error) => {
                news.push(FlightNews::Failed(format!("{why} It did not begin: {error}")));
                asked.answer(Err(error.to_string()));
            }
        }
    }

    /// Looks how it goes. Never waits.
    pub(crate) fn look(&mut self, news: &mut Vec<FlightNews>) {
        if self.under_way.is_some() && self.looked.elapsed() >= LOOK_EVERY {
            self.looked = Instant::now();
            self.reap(news);
        }
    }

    /// Tells what became of it, once it has ended.
    fn reap(&mut self, news: &mut Vec<FlightNews>) {
        let Some(one) = &mut self.under_way else { return };
        one.cpu = cpu_of(one.child.id()).unwrap_or(one.cpu);
        let is_late = Instant::now() >= one.until;
        let failed = match one.child.try_wait() {
            Ok(None) => {
                if is_late {
                    // It ends a moment later.
                    let _ = one.child.kill();
                }
                return;
            }
            Ok(Some(status)) if status.success() => match one.window.path.exists() {
                true => None,
                // It may not have had the right to rename it.
                false => folder::finish(&one.folder, &one.window.path).err().map(|error| error.to_string()),
            },
            Ok(Some(_)) if is_late => Some("it did not end in time, and was killed".to_string()),
            Ok(Some(status)) => Some(last_words(&mut one.said, status)),
            Err(error) => Some(error.to_string()),
        };
        let Some(mut one) = self.under_way.take() else { return };
        self.cpu += one.cpu;
        match failed {
            None => {
                self.kept += 1;
                one.answer(Ok(one.window.path.clone()));
                news.push(FlightNews::Kept(one.window.clone()));
            }
            Some(why) => {
                let _ = std::fs::remove_dir_all(&one.folder);
                news.push(FlightNews::Failed(format!("{} It failed: {why}", one.window.why)));
                one.answer(Err(why));
            }
        }
    }

    /// The recorder ends: what is under way is written as far as it came, within some seconds.
    pub(crate) fn end(&mut self, news: &mut Vec<FlightNews>) {
        if let Some(one) = &mut self.under_way {
            let _ = kill_process(Pid::from_child(&one.child), Signal::TERM);
            one.until = one.until.min(Instant::now() + ENDS_WITHIN);
        }
        while self.under_way.is_some() {
            self.reap(news);
            std::thread::sleep(PAUSE);
        }
    }
}

fn start(
    order: &DetailOrder<'_>,
    fired: &Fired,
    target: &Path,
) -> Result<(Child, File, PathBuf), FlightError> {
    let kept = KeptMeta {
        trigger: fired.trigger.clone(),
        reason: fired.reason.clone(),
        at: fired.at.get().unwrap_or_default(),
        ..KeptMeta::default()
    };
    let head = DetailHead {
        meta: Meta { kept: Some(kept), ..order.meta.clone() },
        sentence: fired.sentence(),
        recorder: std::process::id(),
    };
    let Some((program, words)) = order.command.split_first() else {
        return Err(FlightError::NotAsked(target.into()));
    };
    let said = memfd_create("whyslow-asked", MemfdFlags::CLOEXEC).map(File::from);
    let said = said.map_err(|error| FlightError::file(target)(error.into()))?;
    let to = said.try_clone().map_err(FlightError::file(target))?;
    let folder = folder::create(target, &head)?;
    let mut command = Command::new(program);
    command.args(words).args(whom(&order.whom)).args(["-d", &format!("{}s", order.length.as_secs())]);
    if let Some(most) = order.shelf.most_bytes() {
        command.args(["--max-size", &most.to_string()]);
    }
    command.arg("--asked").arg(&folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(to));
    // Ctrl-C ends the recorder, which ends this one.
    command.process_group(0);
    match command.spawn() {
        Ok(child) => Ok((child, said, folder)),
        Err(error) => {
            let _ = std::fs::remove_dir_all(&folder);
            Err(FlightError::file(target)(error))
        }
    }
}

/// Whom to record, as words of the command.
fn whom(watched: &WatchedNow) -> Vec<String> {
    if watched.all {
        return vec!["-a".to_string()];
    }
    let mut words = Vec::new();
    for (name, numbers) in [("-p", &watched.pids), ("--tid", &watched.tids)] {
        for some in numbers.chunks(PIDS_A_WORD) {
            let some: Vec<String> = some.iter().map(u32::to_string).collect();
            words.extend([name.to_string(), some.join(",")]);
        }
    }
    if !watched.children {
        words.push("--no-children".to_string());
    }
    words
}

/// What a process said last, on one line: its last line, and where that only says what to do next the one before, too. How it ended where it
/// said nothing.
fn last_words(said: &mut File, status: ExitStatus) -> String {
    let mut text = Vec::new();
    let length = said.metadata().map_or(0, |about| about.len());
    let read = said
        .seek(SeekFrom::Start(length.saturating_sub(MOST_SAID)))
        .and_then(|_| said.take(MOST_SAID).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let told = match (read, lines.next()) {
        (Ok(_), Some(last)) if last.starts_with("next: ") => {
            lines.next().map_or(last.to_string(), |before| format!("{before}; {last}"))
        }
        (Ok(_), Some(last)) => last.to_string(),
        _ => format!("the process that records ended with {status}"),
    };
    told.chars().filter(|c| !c.is_control()).take(MOST_TOLD).collect()
}

/// CPU time that a child took, until it is waited for: /proc/PID/stat, fields 14 to 17, in ticks.
fn cpu_of(pid: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind) = text.rsplit_once(')')?;
    let fields = behind.split_ascii_whitespace().skip(11).take(4);
    let ticks: u64 = fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Some(Duration::from_nanos(ticks * (1_000_000_000 / rustix::param::clock_ticks_per_second())))
}

#[cfg(test)]
mod tests;
