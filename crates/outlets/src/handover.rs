//! From the process that tells a window to the agent: a file a window in a folder of the state. The agent makes the folder where an
//! outlet is on; without it nothing is handed over. A file that was not sent before the agent ended is sent by the next one.

use crate::told::{ToldRows, ToldWindow};
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use whyslow_model::visible;
use whyslow_privacy::files;

/// The folder in that of the state.
const FOLDER: &str = "outlets";
/// What the outlets want to be told, in the folder.
const WANTS: &str = "wants";
/// How names of windows end.
const ENDING: &str = "json";
/// Windows that wait at most: what is older goes.
const MOST_WAITING: usize = 60;
/// Bytes of a window at most: what is longer is none of ours.
const LONGEST: u64 = 32 << 20;

/// What the outlets want to be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wants {
    /// Stacks, for profiles.
    pub(crate) stacks: bool,
}

/// Why a window could not be handed over.
#[derive(thiserror::Error, Debug)]
#[error(
    "{}: what outlets send of a window cannot be kept: {source}\nnext: make room on that disk, or turn the outlets off",
    visible::path(path)
)]
pub struct HandoverError {
    /// The file.
    path: PathBuf,
    /// Why.
    source: io::Error,
}

/// Hands a window over, if the agent whose state is there has an outlet that is on. Done again it changes nothing.
///
/// # Errors
/// Where it cannot be written.
pub fn hand_over(state: &Path, id: &str, rows: &ToldRows<'_>) -> Result<(), HandoverError> {
    let folder = Handover::at(state);
    let Some(wants) = folder.wants() else { return Ok(()) };
    let path = folder.0.join(format!("{:020}-{id}.{ENDING}", rows.start.max(0)));
    let written = serde_json::to_vec(&ToldWindow::of(rows, wants.stacks)).map_err(io::Error::other);
    written
        .and_then(|bytes| {
            let beside = path.with_extension("new");
            files::write(&beside, &bytes)?;
            std::fs::rename(&beside, &path)
        })
        .map_err(|source| HandoverError { path, source })
}

/// The folder.
pub(crate) struct Handover(PathBuf);

impl Handover {
    pub(crate) fn at(state: &Path) -> Handover {
        Handover(state.join(FOLDER))
    }

    /// `None` where no outlet is on.
    fn wants(&self) -> Option<Wants> {
        serde_json::from_slice(&std::fs::read(self.0.join(WANTS)).ok()?).ok()
    }

    /// Windows are handed over from now on.
    pub(crate) fn open(&self, wants: Wants) -> io::Result<()> {
        files::create_folder_if_missing(&self.0)?;
        files::write(&self.0.join(WANTS), &serde_json::to_vec(&wants).map_err(io::Error::other)?)
    }

    /// None are any more; what waits goes.
    pub(crate) fn close(&self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }

    /// Those that wait, the oldest first, and how many had to go.
    pub(crate) fn waiting(&self) -> (Vec<PathBuf>, u64) {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut waiting: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|end| end == ENDING)).collect();
        waiting.sort();
        let over = waiting.len().saturating_sub(MOST_WAITING);
        waiting.drain(..over).for_each(|path| drop(std::fs::remove_file(path)));
        (waiting, over as u64)
    }

    /// Takes one from the folder.
    pub(crate) fn take(path: &Path) -> io::Result<ToldWindow> {
        let read = std::fs::metadata(path).and_then(|about| match about.len() {
            0..=LONGEST => serde_json::from_slice(&std::fs::read(path)?).map_err(io::Error::other),
            length => Err(io::Error::other(format!("it has {length} bytes, and is no window"))),
        });
        // One that is damaged would be damaged again.
        std::fs::remove_file(path)?;
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_parts::AgentRow;

    fn hand(state: &Path, start: i64) {
        let rows = ToldRows {
            host: "h",
            start,
            seconds: 60.0,
            accounts: &[],
            calls: &[],
            requests: &[],
            stacks: &[],
            hosts: &[],
            findings: &[],
            open: &[],
            agent: &AgentRow::default(),
        };
        hand_over(state, "abcd", &rows).expect("handed over");
    }

    #[test]
    fn windows_wait_in_order_and_no_longer_than_they_may() {
        let state = tempfile::tempdir().expect("a folder");
        hand(state.path(), 1);
        assert!(!state.path().join(FOLDER).exists());
        let folder = Handover::at(state.path());
        folder.open(Wants { stacks: true }).expect("opened");
        assert_eq!(folder.wants(), Some(Wants { stacks: true }));
        [300, 7, 300].into_iter().for_each(|start| hand(state.path(), start));
        let (waiting, gone) = folder.waiting();
        assert_eq!((waiting.len(), gone), (2, 0));
        assert_eq!(Handover::take(&waiting[0]).expect("taken").start, 7);
        (1_000..1_100).for_each(|start| hand(state.path(), start));
        let (waiting, gone) = folder.waiting();
        assert_eq!((waiting.len(), gone), (MOST_WAITING, 41));
        std::fs::write(&waiting[0], "{").expect("damaged");
        assert!(Handover::take(&waiting[0]).is_err() && !waiting[0].exists());
        folder.close();
        assert!(folder.wants().is_none() && folder.waiting().0.is_empty());
    }
}
