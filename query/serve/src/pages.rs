//! The pages of recordings for another server, which judges by itself who may ask.

use crate::api::{self, Site};
use crate::cache::Cache;
use crate::found::Served;
use crate::live::Live;
use crate::questions::Questions;
use crate::runs::Runs;
use axum::Router;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is served.
#[derive(Clone, Debug)]
pub struct PagesOptions {
    /// Recordings, captures, and directories of them.
    pub paths: Vec<PathBuf>,
    /// Do not replace secrets in what the diagnosis shows.
    pub show_secrets: bool,
    /// The program that diagnoses.
    pub whyslow: PathBuf,
    /// Where diagnoses are kept; the user's cache where it is not given.
    pub cache: Option<PathBuf>,
}

/// A recording or capture that is served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServedRecording {
    /// Its number: its page is `/r/NUMBER/`.
    pub id: u32,
    /// Its name, within the directory that was named; secrets in it are replaced.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// When it was last written to, s since 1970.
    pub modified: u64,
    /// What was found, in a sentence; `None` where nobody looked yet.
    pub verdict: Option<String>,
}

/// The pages.
#[derive(Clone)]
pub struct RecordingPages {
    site: Arc<Site>,
}

impl RecordingPages {
    /// Of these files and directories, which are looked at when they are asked for.
    ///
    /// # Errors
    /// If there is no place to keep diagnoses.
    pub fn open(options: PagesOptions, questions: Arc<dyn Questions>) -> Result<RecordingPages, String> {
        let cache = Cache::open(options.cache)?;
        let runs = Runs::new(options.whyslow.clone(), cache, options.show_secrets);
        let live = Live::new(options.whyslow, Err("recordings are begun by agents here".to_string()));
        let site = Site::new(Served::new(options.paths), runs, live, questions);
        Ok(RecordingPages { site: Arc::new(site) })
    }

    /// Their addresses: `/r/NUMBER/` and `/api/r/NUMBER/…`. Nothing is checked there of who asks.
    pub fn router(&self) -> Router {
        api::pages(self.site.clone())
    }

    /// All that is there, the newest first; and whether there was more. It blocks for as long as it takes to list the directories.
    pub fn list(&self) -> (Vec<ServedRecording>, bool) {
        let (found, left_out) = self.site.served.list();
        let shown = found.into_iter().map(|found| ServedRecording {
            verdict: self.site.runs.verdict(found.id),
            name: whyslow_privacy::redact(&found.name).into_owned(),
            id: found.id,
            bytes: found.bytes,
            modified: found.modified,
        });
        (shown.collect(), left_out)
    }

    /// The number of the recording whose folder or file has the last name of `place`, which a host wrote: nothing is opened by it. It blocks
    /// as [`RecordingPages::list`] does.
    pub fn named_like(&self, place: &str) -> Option<u32> {
        let name = Path::new(place.trim_end_matches('/')).file_name()?;
        self.site
            .served
            .list()
            .0
            .into_iter()
            .find(|found| found.path.file_name() == Some(name))
            .map(|found| found.id)
    }

    /// Gives up what is diagnosed.
    pub fn end(&self) {
        self.site.runs.end();
    }
}
