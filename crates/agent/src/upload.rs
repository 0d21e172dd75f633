//! Uploading: the parts of hours that are over wait in a folder of their own, and go to the store however long it was away.

use crate::settings::{AgentSettings, StorageSettings};
use crate::status::AgentUpload;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use whyslow_depot::{DepotOptions, Spool, UploadOptions, Uploader};

/// Where parts wait for the store, in the folder of state.
pub(crate) const UPLOAD: &str = "upload";

/// The folder of parts that wait for the store; `most` bounds their bytes.
pub(crate) fn spool(state: &Path, most: u64) -> Result<Spool, whyslow_depot::SpoolError> {
    Spool::open(&state.join(UPLOAD), most)
}

/// Uploads beside the agent.
pub(crate) struct Upload {
    settings: StorageSettings,
    spool: Arc<Spool>,
    uploader: Uploader,
    said: Receiver<String>,
}

impl Upload {
    /// `None` where nothing is to be uploaded.
    ///
    /// # Errors
    /// Where the folder cannot be used, or there is no thread for it.
    pub(crate) fn start(settings: &AgentSettings) -> Result<Option<Upload>, String> {
        let storage = settings.storage.clone();
        if storage.url.is_empty() {
            return Ok(None);
        }
        let spool = spool(&settings.state, settings.disk << 20).map_err(|error| error.to_string())?;
        let spool = Arc::new(spool);
        let depot = DepotOptions {
            credentials: storage.credentials.clone(),
            plain_http: storage.plain_http,
            ..DepotOptions::default()
        };
        let (tell, said) = channel();
        let say = move |text: &str| drop(tell.send(text.to_string()));
        let uploader = Uploader::start(spool.clone(), &storage.url, &depot, UploadOptions::default(), say)
            .map_err(|error| format!("nothing is uploaded: {error}"))?;
        Ok(Some(Upload { settings: storage, spool, uploader, said }))
    }

    /// Whether it does what these settings say.
    pub(crate) fn is_of(&self, settings: &AgentSettings) -> bool {
        self.settings == settings.storage
    }

    /// Parts may have come, by the process that tells windows.
    pub(crate) fn parts_came(&self) -> Result<(), String> {
        self.spool.look_again().map_err(|error| error.to_string())?;
        self.uploader.nudge();
        Ok(())
    }

    /// What it has said since it was asked last.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.try_iter().collect()
    }

    /// How it stands.
    pub(crate) fn status(&self) -> AgentUpload {
        let (spool, sent) = (self.spool.state(), self.uploader.state());
        AgentUpload {
            url: self.settings.url.clone(),
            waiting: (spool.waiting, spool.waiting_bytes),
            lost: (spool.lost, spool.lost_bytes),
            uploaded: (sent.uploaded, sent.uploaded_bytes),
            failures: sent.failures,
            problem: sent.problem,
            clock_skew_ns: sent.clock_skew_ns,
        }
    }

    /// Ends it: what waits is sent for so long at most, and the rest stays for the next start.
    pub(crate) fn stop(self, patience: Duration) -> AgentUpload {
        let Upload { settings, spool, uploader, .. } = self;
        let sent = uploader.stop(patience);
        let left = spool.state();
        AgentUpload {
            url: settings.url,
            waiting: (left.waiting, left.waiting_bytes),
            lost: (left.lost, left.lost_bytes),
            uploaded: (sent.uploaded, sent.uploaded_bytes),
            failures: sent.failures,
            problem: sent.problem,
            clock_skew_ns: sent.clock_skew_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::join_hours;
    use crate::outbox::{Outbox, PARTS};
    use std::time::Instant;
    use whyslow_parts::{HostRow, MinuteRows, Observed, PartAbout, PartName, PartRow, UtcTime, encode};

    /// A part of a minute of 2026-11-27.
    fn put(state: &Path, minute: i64) {
        let start = UtcTime(1_795_748_400_000_000 + minute * 60_000_000);
        let mut rows = MinuteRows::<HostRow>::new();
        let row =
            HostRow { resource: "cpu".into(), metric: "cpu_user".into(), value: 1.0, unit: "share".into() };
        rows.push(&Observed { host: "h".into(), start, seconds: 60.0 }, &row);
        let table = HostRow::table();
        let bytes = encode(table, &[rows.finish().expect("rows")], &PartAbout::new("0")).expect("encoded");
        let name = PartName::of_minute(table, "h", start, "run0").expect("a name");
        Outbox::at(state.join(PARTS)).put(&name.path(), &bytes).expect("put");
    }

    #[test]
    fn parts_wait_while_the_store_is_away_and_go_when_it_is_there() {
        let place = tempfile::tempdir().expect("a folder");
        let (state, store) = (place.path().join("state"), place.path().join("store"));
        std::fs::create_dir(&state).expect("made");
        let mut settings = AgentSettings { state: state.clone(), ..AgentSettings::default() };
        assert!(Upload::start(&settings).expect("right").is_none());
        settings.storage.url = store.to_string_lossy().into_owned();
        let upload = Upload::start(&settings).expect("right").expect("one");
        (0..120).for_each(|minute| put(&state, minute));
        let other = spool(&state, 1 << 20).expect("opened");
        assert_eq!(join_hours(&Outbox::at(state.join(PARTS)), &other, None).expect("joined").made, 2);
        upload.parts_came().expect("looked");
        let wait = |what: &dyn Fn(&AgentUpload) -> bool| {
            let began = Instant::now();
            while !what(&upload.status()) {
                assert!(began.elapsed() < Duration::from_secs(30), "{:?}", upload.status());
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        wait(&|status| status.failures > 0);
        assert_eq!(upload.status().waiting.0, 2);
        std::fs::create_dir(&store).expect("made");
        wait(&|status| status.uploaded.0 == 2);
        assert_eq!(upload.said().len(), 2, "that it is away, and that it is there again");
        let status = upload.stop(Duration::from_secs(1));
        assert_eq!((status.waiting.0, status.lost.0, status.problem), (0, 0, None));
        assert_eq!(Outbox::at(store).names().len(), 2);
    }
}
