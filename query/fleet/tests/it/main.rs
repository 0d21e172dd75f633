//! Questions about a synthetic fleet whose faults are known: each answer has the truth, and nothing false.

#[path = "../../examples/synthetic_fleet/generate.rs"]
mod generate;

mod answers;
mod given;
mod hostile;

use generate::{FleetPlan, FleetTruth, HOUR, generate};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use tempfile::TempDir;
use whyslow_query_fleet::{Fleet, FleetOptions, FleetSpan};

/// 2026-11-27 00:00 UTC.
pub(crate) const UNTIL: i64 = 498_816 * HOUR;

pub(crate) fn plan() -> FleetPlan {
    FleetPlan { hosts: 12, hours: 4, until: UNTIL, loose: 1, seed: 7 }
}

/// The fleet that tests read: 12 hosts over 4 hours, the last one as agents left it.
static FLEET: LazyLock<TempDir> = LazyLock::new(|| {
    let place = TempDir::new().unwrap();
    generate(&plan(), place.path()).unwrap();
    place
});

pub(crate) fn shared() -> (&'static Path, FleetTruth) {
    (FLEET.path(), plan().truth())
}

/// A copy of it, to be spoilt.
pub(crate) fn copied() -> (TempDir, FleetTruth) {
    let place = TempDir::new().unwrap();
    copy(FLEET.path(), place.path());
    (place, plan().truth())
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub(crate) fn options(span: FleetSpan) -> FleetOptions {
    FleetOptions { span, hosts: None, memory: 512 << 20, threads: Some(2), time: Duration::from_secs(300) }
}

pub(crate) fn whole(truth: &FleetTruth) -> FleetSpan {
    FleetSpan { from: truth.from, until: truth.until }
}

pub(crate) fn open(root: &Path, span: FleetSpan) -> Fleet {
    Fleet::open(root.to_str().unwrap(), options(span)).unwrap()
}

/// The first part of a table below a folder.
pub(crate) fn first_part(below: &Path) -> PathBuf {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(below).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    match &entries[0] {
        folder if folder.is_dir() => first_part(folder),
        file => file.clone(),
    }
}
