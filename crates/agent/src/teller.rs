//! The windows that wait to be told, and the process that tells the oldest of them.

use crate::outcome::WindowOutcome;
use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Windows that wait to be told at most; then the oldest are given up.
const MOST_WINDOWS: usize = 5;
/// A window is told for so many windows' length at most, and at least so long.
const LONGEST_TELLING: u32 = 3;
const SHORTEST_TELLING: Duration = Duration::from_secs(60);

/// What became of windows.
#[derive(Debug)]
pub(crate) enum TellerNews {
    /// One was told.
    Told(Box<WindowOutcome>),
    /// One is lost, and why.
    Lost(String),
    /// One is to be told later, and why.
    Later(String),
}

/// A window's folder that is being told.
struct Telling {
    child: Child,
    folder: PathBuf,
    began: Instant,
}

/// Who has windows told.
pub(crate) struct Teller {
    state: PathBuf,
    waiting: VecDeque<PathBuf>,
    telling: Option<Telling>,
}

impl Teller {
    /// Of the windows below that folder of state.
    pub(crate) fn new(state: &Path) -> Teller {
        Teller { state: state.into(), waiting: VecDeque::new(), telling: None }
    }

    /// Nothing waits, and nothing is being told.
    pub(crate) fn is_idle(&self) -> bool {
        self.telling.is_none() && self.waiting.is_empty()
    }

    /// One more window waits.
    pub(crate) fn add(&mut self, folder: PathBuf) -> Vec<TellerNews> {
        self.waiting.push_back(folder);
        let mut news = Vec::new();
        while self.waiting.len() > MOST_WINDOWS {
            if let Some(oldest) = self.waiting.pop_front() {
                let _ = std::fs::remove_dir_all(oldest);
                news.push(TellerNews::Lost(
                    "a window was given up: those before it are not told yet".to_string(),
                ));
            }
        }
        news
    }

    /// Takes what the process says that tells a window, once it has ended, and begins with the next one. Windows are so `long`.
    pub(crate) fn look(&mut self, long: Duration) -> Option<TellerNews> {
        let ended = self.reap((long * LONGEST_TELLING).max(SHORTEST_TELLING));
        if ended.is_some() {
            return ended;
        }
        self.begin()
    }

    fn begin(&mut self) -> Option<TellerNews> {
        if self.telling.is_some() {
            return None;
        }
        let folder = self.waiting.pop_front()?;
        // The program that runs, also where another one has taken its place.
        let child = Command::new("/proc/self/exe")
            .arg0("whyslow")
            .args(["agent", "window", "--state"])
            .arg(&self.state)
            .arg(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn();
        match child {
            Ok(child) => {
                self.telling = Some(Telling { child, folder, began: Instant::now() });
                None
            }
            Err(error) => {
                self.waiting.push_front(folder);
                Some(TellerNews::Later(format!("a window cannot be told now: {error}")))
            }
        }
    }

    fn reap(&mut self, longest: Duration) -> Option<TellerNews> {
        let telling = self.telling.as_mut()?;
        let ended = match telling.child.try_wait() {
            Ok(None) if telling.began.elapsed() < longest => return None,
            Ok(None) => {
                // Its folder goes with it: told again it would take as long.
                let _ = telling.child.kill();
                let _ = telling.child.wait();
                Err(format!("it took more than {} s", longest.as_secs()))
            }
            Ok(Some(status)) if status.success() => {
                let mut text = String::new();
                let read = telling.child.stdout.as_mut().map(|out| out.read_to_string(&mut text));
                match (read, serde_json::from_str::<WindowOutcome>(&text)) {
                    (_, Ok(outcome)) => Ok(outcome),
                    (_, Err(error)) => Err(format!("its answer is not understood: {error}")),
                }
            }
            Ok(Some(status)) => Err(format!("the process that told it ended with {status}")),
            Err(error) => Err(error.to_string()),
        };
        let folder = std::mem::take(&mut telling.folder);
        self.telling = None;
        Some(match ended {
            Ok(outcome) => TellerNews::Told(Box::new(outcome)),
            Err(why) => {
                let _ = std::fs::remove_dir_all(folder);
                TellerNews::Lost(format!("a window is lost: {why}"))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_windows_are_given_up_where_too_many_wait() {
        let place = tempfile::tempdir().expect("a folder");
        let mut teller = Teller::new(place.path());
        let folders: Vec<PathBuf> = (0..7).map(|number| place.path().join(number.to_string())).collect();
        let mut lost = 0;
        for folder in &folders {
            std::fs::create_dir(folder).expect("made");
            lost += teller.add(folder.clone()).len();
        }
        let there: Vec<bool> = folders.iter().map(|folder| folder.exists()).collect();
        assert_eq!((lost, there), (2, vec![false, false, true, true, true, true, true]));
        assert!(!teller.is_idle());
    }
}
