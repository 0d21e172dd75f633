//! What the checks look at: the files of the system below a root, and what trials told.

use super::trials::Trials;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// At most so much of a file is looked at; those that are read are short, or only their beginning counts.
const MOST: u64 = 64 << 10;

/// A machine, live or made up.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
    trials: Trials,
}

impl Machine {
    /// This one. Carries out the trials, which takes some tenths of a second.
    pub fn live() -> Machine {
        Machine { root: PathBuf::from("/"), trials: Trials::live() }
    }

    /// A made-up one: `proc` and `sys` below `root`, and what the trials are to have told.
    pub fn at(root: impl Into<PathBuf>, trials: Trials) -> Machine {
        Machine { root: root.into(), trials }
    }

    pub(super) fn trials(&self) -> &Trials {
        &self.trials
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// A file's text without the blanks around it; damaged bytes are replaced.
    pub(super) fn read(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::new();
        File::open(self.path(path))?.take(MOST).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_string())
    }

    /// A file that holds one number.
    pub(super) fn number(&self, path: &str) -> Option<i64> {
        self.read(path).ok()?.parse().ok()
    }

    /// A field of our own `/proc/self/status`.
    pub(super) fn status(&self, field: &str) -> Option<String> {
        let text = self.read("/proc/self/status").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
        Some(line.trim().to_string())
    }

    /// What a symbolic link leads to.
    pub(super) fn link(&self, path: &str) -> Option<String> {
        Some(std::fs::read_link(self.path(path)).ok()?.to_string_lossy().into_owned())
    }

    /// Whether this process has capability `number` in effect; `None` where that cannot be read.
    pub(super) fn has_capability(&self, number: u32) -> Option<bool> {
        self.in_set("CapEff", number)
    }

    /// Whether sudo or a file's capabilities could give it capability `number`.
    pub(super) fn may_gain_capability(&self, number: u32) -> Option<bool> {
        self.in_set("CapBnd", number)
    }

    fn in_set(&self, set: &str, number: u32) -> Option<bool> {
        let mask = u64::from_str_radix(&self.status(set)?, 16).ok()?;
        Some((mask >> number) & 1 == 1)
    }
}
