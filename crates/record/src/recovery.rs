//! What a killed recorder leaves: the spool, and beside it the head that tells how to read it.

use crate::bpf::spool::SpoolReader;
use crate::clock::Clock;
use crate::error::RecordError;
use crate::options::Options;
use crate::replay::Recorded;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use whyslow_model::{Coverage, Event, FdEntry, ProcessInfo, Span, Timestamp};
use whyslow_privacy::files;

/// The file beside the streams.
const FILE: &str = "head.json";
/// A longer one is none of ours.
const MOST_BYTES: u64 = 256 << 20;

/// All that is known at the start and needed for reading the spool.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    clock_offset: u64,
    began: u64,
    options: Options,
    processes: Vec<ProcessInfo>,
    descriptors: Vec<FdEntry>,
}

impl Head {
    pub(crate) fn new(clock: Clock, began: u64, options: &Options, state: &[Event<'static>]) -> Head {
        let processes = state.iter().filter_map(|event| match event {
            Event::Process(info) => Some(info.clone()),
            _ => None,
        });
        let descriptors = state.iter().filter_map(|event| match event {
            Event::Fd(entry) => Some((**entry).clone()),
            _ => None,
        });
        Head {
            clock_offset: clock.offset,
            began,
            options: options.clone(),
            processes: processes.collect(),
            descriptors: descriptors.collect(),
        }
    }

    pub(crate) fn write(&self, spool: &Path) -> Result<(), RecordError> {
        let path = spool.join(FILE);
        let text = serde_json::to_vec(self).map_err(|error| RecordError::Internal(error.to_string()))?;
        files::write(&path, &text).map_err(|source| RecordError::Spool { path, source })
    }

    pub(crate) fn remove(spool: &Path) {
        // Where it stays, the recording is found twice at worst.
        let _ = std::fs::remove_file(spool.join(FILE));
    }
}

/// True where `spool` is what a killed recorder left.
pub fn can_recover(spool: &Path) -> bool {
    spool.join(FILE).is_file()
}

impl Recorded {
    /// What a killed recorder left in `spool`. When it was killed is when its last record was written.
    ///
    /// # Errors
    /// Where the head cannot be read.
    pub fn recover(spool: &Path) -> Result<Recorded, RecordError> {
        let path = spool.join(FILE);
        let failed = |path: PathBuf| move |source| RecordError::Spool { path, source };
        let length = std::fs::metadata(&path).map_err(failed(path.clone()))?.len();
        if length > MOST_BYTES {
            return Err(failed(path)(io::Error::other("too long for the head of a recording")));
        }
        let text = std::fs::read(&path).map_err(failed(path.clone()))?;
        let head: Head = serde_json::from_slice(&text).map_err(|error| failed(path)(error.into()))?;
        let clock = Clock { offset: head.clock_offset };
        let options = Options { spool: spool.into(), ..head.options };
        let processes = head.processes.into_iter().map(Event::Process);
        let descriptors = head.descriptors.into_iter().map(|entry| Event::Fd(Box::new(entry)));
        let state: Vec<Event<'static>> = processes.chain(descriptors).collect();
        let began = clock.epoch(head.began);
        let ended = last_time(&options, clock)?.unwrap_or(began);
        Ok(Recorded {
            clock,
            options,
            counted: Default::default(),
            files: Vec::new(),
            probed: Vec::new(),
            state,
            following: None,
            began,
            ended,
            spans: vec![Span { from: began, to: ended, calls: Coverage::Full }],
            losses: Vec::new(),
            cost: None,
            notes: vec![
                "the recorder was killed: this is what it had written by then; what was lost, and what it cost, is unknown"
                    .to_string(),
            ],
            trouble: None,
            // What ran may still run: then its code can be looked at.
            symbols: Default::default(),
        })
    }
}

/// When the last record was written.
fn last_time(options: &Options, clock: Clock) -> Result<Option<Timestamp>, RecordError> {
    let mut last = None;
    SpoolReader::new(&options.spool, false).read(u64::MAX, |record| last = Some(record.header.ts))?;
    Ok(last.map(|ts| clock.epoch(ts)))
}
