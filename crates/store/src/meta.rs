//! `meta.json`: what a recording is of, and how far it was written.

use crate::error::StoreError;
use crate::open_file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use whyslow_model::{CaptureKind, ClockKind, Cost, SourceInfo, Timestamp};
use whyslow_privacy::files;

/// The format: the major number changes when old readers would misread, `.N` is added when columns or tables are.
pub const SCHEMA: &str = "whyslow.recording/1";
/// What stands before the numbers.
const PREFIX: &str = "whyslow.recording/";
/// The numbers of [`SCHEMA`].
const KNOWN: (u32, u32) = (1, 0);
/// The file.
pub(crate) const FILE: &str = "meta.json";
/// A longer file is none of ours.
const MOST_BYTES: u64 = 8 << 20;

/// The head of a recording.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Meta {
    /// [`SCHEMA`] of the version that wrote it.
    pub schema: String,
    /// What wrote it: `whyslow 0.1.0`.
    pub tool: String,
    /// True once the recording was ended in an orderly way.
    pub complete: bool,
    /// What was recorded, for people: `pid 4711 (java)`.
    pub target: Option<String>,
    /// How: `full`, `counts`, `ptrace`, `converted`.
    pub mode: Option<String>,
    /// The command line, secrets replaced unless [`Meta::show_secrets`].
    pub command: Vec<String>,
    /// True where secrets in arguments of programs were kept, as `--show-secrets` asks for.
    pub show_secrets: bool,
    /// The machine.
    pub host: Option<HostInfo>,
    /// What the times mean.
    pub clock: ClockOffset,
    /// When recording began, ns since the epoch.
    pub start: Option<u64>,
    /// When it ended.
    pub end: Option<u64>,
    /// The tables that have rows.
    pub tables: BTreeMap<String, TableMeta>,
    /// Rows lost of each table, where the recorder told.
    pub losses: BTreeMap<String, LossMeta>,
    /// What the recording cost, where it was measured.
    pub cost: Option<CostMeta>,
    /// What was removed again to keep within the size.
    pub removed: Option<Removed>,
    /// Why a flight recorder kept it, where one did.
    pub kept: Option<KeptMeta>,
    /// What the events were read from.
    pub sources: Vec<SourceMeta>,
}

impl Default for Meta {
    fn default() -> Self {
        Meta {
            schema: SCHEMA.to_string(),
            tool: String::new(),
            complete: false,
            target: None,
            mode: None,
            command: Vec::new(),
            show_secrets: false,
            host: None,
            clock: ClockOffset::default(),
            start: None,
            end: None,
            tables: BTreeMap::new(),
            losses: BTreeMap::new(),
            cost: None,
            removed: None,
            kept: None,
            sources: Vec::new(),
        }
    }
}

/// The machine that was recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HostInfo {
    /// Its name.
    pub name: Option<String>,
    /// The kernel's release: `6.1.0-18-amd64`.
    pub kernel: Option<String>,
    /// CPUs online.
    pub cpus: Option<u32>,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: Option<String>,
}

/// How the kernel's clock was turned into time since the epoch: epoch = monotonic clock + offset.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ClockOffset {
    /// What the times of the tables mean; other than `epoch` only where a capture without dates was converted.
    pub kind: ClockKind,
    /// The offset at the start, ns.
    pub offset_start: Option<i64>,
    /// The offset at the end, ns: another one where the clock was set meanwhile.
    pub offset_end: Option<i64>,
}

impl Default for ClockOffset {
    fn default() -> Self {
        ClockOffset { kind: ClockKind::Epoch, offset_start: None, offset_end: None }
    }
}

/// How much of a table there is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableMeta {
    /// Rows.
    pub rows: u64,
    /// Files.
    pub parts: u64,
    /// Bytes of these files.
    pub bytes: u64,
}

/// What was lost of a table in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LossMeta {
    /// Rows lost.
    pub lost: u64,
    /// Rows that were there to be told.
    pub produced: u64,
}

/// As [`Cost`].
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostMeta {
    /// Share of its own CPU time that the target spent in our probes, 0 to 1.
    pub target_share: Option<f64>,
    /// Time that was spent in our probes, ns.
    #[serde(default)]
    pub added: Option<u64>,
    /// CPU time of the recorder, ns.
    pub recorder_cpu: Option<u64>,
    /// Added to one recorded call, ns.
    pub per_call: Option<u64>,
}

impl From<&Cost> for CostMeta {
    fn from(cost: &Cost) -> Self {
        CostMeta {
            target_share: cost.target_share,
            added: cost.added.get(),
            recorder_cpu: cost.recorder_cpu.get(),
            per_call: cost.per_call.get(),
        }
    }
}

/// Why a flight recorder kept a window of what it recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct KeptMeta {
    /// The trigger that fired, as it was asked for: `request>200ms`; or who asked: `signal`, `dump`, `http`, and `asked` of a recording that somebody had begun.
    pub trigger: String,
    /// What happened, in words that follow "because".
    pub reason: String,
    /// When, ns since the epoch.
    pub at: u64,
    /// What else fired until the window was written.
    pub also: Vec<String>,
    /// How often the trigger fired and was passed over since its last recording.
    pub passed_over: u64,
}

/// What was removed to keep a recording within its size.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Removed {
    /// Rows of each table.
    pub rows: BTreeMap<String, u64>,
    /// Events up to this number were removed, of each table.
    pub seq: BTreeMap<String, u64>,
    /// The time until which calls were removed; null where none were, or where they have no times.
    pub calls_until: Option<u64>,
}

/// A source of the events: the capture that was converted, or the live kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceMeta {
    /// Its name.
    pub name: String,
    /// What it held.
    pub kind: CaptureKind,
    /// What its times meant.
    pub clock: ClockKind,
    /// Damaged lines.
    pub rejects: u64,
    /// Lines of something else.
    pub foreign: u64,
    /// Calls whose start was not in it.
    pub starts_not_seen: u64,
    /// Calls whose end was not in it.
    pub ends_not_seen: u64,
}

impl From<&SourceInfo> for SourceMeta {
    fn from(info: &SourceInfo) -> Self {
        SourceMeta {
            name: info.name.clone(),
            kind: info.kind,
            clock: info.clock,
            rejects: info.rejects,
            foreign: info.foreign,
            starts_not_seen: info.starts_not_seen,
            ends_not_seen: info.ends_not_seen,
        }
    }
}

/// What a format's name says about whether it can be read.
pub(crate) enum Version {
    /// The same, or an older one.
    Known,
    /// A later one that adds to this one.
    Newer,
    /// A later one that this one would misread.
    TooNew,
    /// No format of ours.
    Foreign,
}

impl Version {
    pub(crate) fn of(schema: &str) -> Version {
        let numbers = schema.strip_prefix(PREFIX).and_then(|numbers| {
            let (major, minor) = numbers.split_once('.').unwrap_or((numbers, "0"));
            Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
        });
        match numbers {
            None => Version::Foreign,
            Some((major, _)) if major > KNOWN.0 => Version::TooNew,
            Some(found) if found > KNOWN => Version::Newer,
            Some(_) => Version::Known,
        }
    }
}

impl Meta {
    /// Of a recording by this version.
    pub fn new(tool: impl Into<String>) -> Meta {
        Meta { tool: tool.into(), ..Meta::default() }
    }

    /// Sets when recording began.
    pub fn started(mut self, at: Timestamp) -> Meta {
        self.start = at.get();
        self
    }

    /// Reads the head of the recording in `dir`.
    ///
    /// # Errors
    /// [`StoreError::NotARecording`] with what is wrong.
    pub(crate) fn read(dir: &Path) -> Result<Meta, StoreError> {
        let wrong = |reason: String| StoreError::NotARecording { path: dir.to_path_buf(), reason };
        let path = dir.join(FILE);
        let file = open_file::regular(&path).map_err(|error| wrong(format!("{FILE}: {error}")))?;
        let mut text = Vec::new();
        file.take(MOST_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(|error| wrong(format!("{FILE}: {error}")))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(wrong(format!("{FILE} is longer than {} MiB", MOST_BYTES >> 20)));
        }
        let meta: Meta =
            serde_json::from_slice(&text).map_err(|error| wrong(format!("{FILE} is damaged: {error}")))?;
        if matches!(Version::of(&meta.schema), Version::Foreign) {
            return Err(wrong(format!("{FILE} states no format of ours")));
        }
        Ok(meta)
    }

    /// Writes it in place of the one before, at once: whoever reads sees the old or the new one.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), StoreError> {
        let (path, temporary) = (dir.join(FILE), dir.join(".meta.json.tmp"));
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| StoreError::Encode { path: path.clone(), reason: error.to_string() })?;
        files::write(&temporary, &text).map_err(|error| StoreError::io(&temporary, error))?;
        fs::rename(&temporary, &path).map_err(|error| StoreError::io(&path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert!(matches!(Version::of(SCHEMA), Version::Known));
        assert!(matches!(Version::of("whyslow.recording/1.7"), Version::Newer));
        assert!(matches!(Version::of("whyslow.recording/2"), Version::TooNew));
        assert!(matches!(Version::of("whyslow.diagnosis/1"), Version::Foreign));
        assert!(matches!(Version::of(""), Version::Foreign));
    }
}
