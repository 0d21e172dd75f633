//! What the agent says of itself, in a file that `whyslow agent status` reads.

use crate::outcome::WindowOutcome;
use crate::shed::AgentDetail;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use whyslow_privacy::files;

/// The file in the folder of state.
const FILE: &str = "status.json";
/// Lines of what went wrong that are kept.
const MOST_TROUBLES: usize = 20;
/// Recordings that are named.
const MOST_KEPT: usize = 20;

/// A recording that the ring kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentKept {
    /// The recording.
    pub path: PathBuf,
    /// The trigger as it is typed; `dump`, `http` where somebody asked, `asked` of a recording in detail.
    pub trigger: String,
    /// When it fired, us since 1970.
    pub at: i64,
    /// Why, a sentence.
    pub why: String,
    /// The ids of findings that were open in its window.
    pub findings: Vec<String>,
}

/// How the ring stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentRing {
    /// Seconds that it holds.
    pub holds: f64,
    /// Bytes that it takes.
    pub bytes: u64,
    /// How often its oldest records were forgotten before their time, since its memory was full.
    pub shortened: u64,
    /// How often triggers fired within their cool down.
    pub passed_over: u64,
}

/// How uploading stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentUpload {
    /// The store.
    pub url: String,
    /// Parts of hours that are over, and their bytes, that wait for the store.
    pub waiting: (u64, u64),
    /// Parts that were removed before the store had them, and their bytes, since the folder was made.
    pub lost: (u64, u64),
    /// Parts that were uploaded since the start, and their bytes.
    pub uploaded: (u64, u64),
    /// Tries that failed.
    pub failures: u64,
    /// What keeps it from uploading now.
    pub problem: Option<String>,
    /// How far our clock is ahead of the store's, ns.
    pub clock_skew_ns: Option<i64>,
}

/// What the agent says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentStatus {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// This host.
    pub host: String,
    /// The run: of the names of parts.
    pub run: String,
    /// When it was started, us since 1970.
    pub since: i64,
    /// When this was written, us since 1970.
    pub at: i64,
    /// Length of a window, seconds.
    pub window: u32,
    /// Whom it records, in words.
    pub targets: String,
    /// Processes that are recorded.
    pub processes: usize,
    /// Windows that were told.
    pub windows: u64,
    /// Windows that could not be told.
    pub windows_lost: u64,
    /// Of the last window: calls, events, events lost.
    pub calls: u64,
    /// Events of the last window.
    pub events: u64,
    /// Events lost, of all windows.
    pub lost: u64,
    /// Of one CPU, 0 to 1, with the telling of windows: of the last window.
    pub cpu_share: f64,
    /// The same over all windows.
    pub cpu_share_mean: f64,
    /// Memory of the agent, bytes.
    pub memory: u64,
    /// The most memory that the telling of a window took for a few moments, bytes.
    pub memory_of_windows: u64,
    /// What is recorded.
    pub detail: AgentDetail,
    /// What is given up for the budget, in words.
    pub shed: Option<String>,
    /// How often that was changed.
    pub shed_changes: u64,
    /// Parts that were removed for want of room.
    pub parts_removed: u64,
    /// The last window that was told.
    pub last: WindowOutcome,
    /// The recording in detail that is under way, since somebody asked for it.
    pub recording: Option<AgentKept>,
    /// Recordings that the ring kept, the last of them; those that were asked for, too.
    pub kept: VecDeque<AgentKept>,
    /// How the ring stands; `None` where there is none.
    pub ring: Option<AgentRing>,
    /// How uploading stands; `None` where nothing is uploaded.
    pub upload: Option<AgentUpload>,
    /// What went wrong, the last of it.
    pub troubles: VecDeque<String>,
}

impl AgentStatus {
    /// That of the agent whose state is in this folder.
    ///
    /// # Errors
    /// Where there is none, or none that can be read.
    pub fn read(state: &Path) -> std::io::Result<AgentStatus> {
        serde_json::from_slice(&std::fs::read(state.join(FILE))?).map_err(std::io::Error::other)
    }

    /// Whether the agent that wrote it is there.
    pub fn is_running(&self) -> bool {
        let read = |file: &str| std::fs::read(format!("/proc/{}/{file}", self.pid)).unwrap_or_default();
        // One that was killed has no memory, and with it no command line, while the kernel still takes its programs away.
        read("comm").starts_with(b"whyslow") && !read("cmdline").is_empty()
    }

    pub(crate) fn write(&self, state: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        let beside = state.join("status.new");
        files::write(&beside, &text)?;
        std::fs::rename(&beside, state.join(FILE))
    }

    pub(crate) fn keep(&mut self, kept: AgentKept) {
        if self.kept.len() >= MOST_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(kept);
    }

    pub(crate) fn trouble(&mut self, text: String) {
        if self.troubles.len() >= MOST_TROUBLES {
            self.troubles.pop_front();
        }
        self.troubles.push_back(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_back_and_says_the_last_troubles() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(AgentStatus::read(folder.path()).is_err());
        let mut status = AgentStatus { pid: std::process::id(), ..AgentStatus::default() };
        (0..50).for_each(|number| status.trouble(number.to_string()));
        status.write(folder.path()).expect("written");
        assert_eq!(AgentStatus::read(folder.path()).expect("read"), status);
        assert_eq!((status.troubles.len(), status.troubles[19].as_str()), (20, "49"));
        assert!(!AgentStatus { pid: u32::MAX, ..status }.is_running());
    }
}
