//! Why a profile could not be read: what, where, what was expected, and what to do next.

use std::fmt;
use whyslow_model::profile::{ProfileDamage, TooLarge};

/// A place in a file, decompressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilePlace {
    /// Offset of a byte.
    Byte(u64),
    /// Number of a line, from 1.
    Line(u64),
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilePlace::Byte(at) => write!(f, "byte {at}"),
            FilePlace::Line(at) => write!(f, "line {at}"),
        }
    }
}

/// Why a profile could not be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct ReadError {
    /// The file or address, as the user named it.
    pub name: String,
    /// What is wrong with the profile.
    pub damage: ProfileDamage,
    /// What happened, in words.
    pub what: String,
    /// Where.
    pub place: Option<FilePlace>,
    /// What should have stood there.
    pub expected: Option<String>,
    /// What to do about it.
    pub next: Option<&'static str>,
}

impl ReadError {
    pub(crate) fn new(damage: ProfileDamage, what: impl Into<String>) -> ReadError {
        let next = match damage {
            ProfileDamage::Empty => Some(NEVER_WRITTEN),
            ProfileDamage::CutCompressed { .. } | ProfileDamage::Cut { .. } => Some(NEVER_ENDED),
            ProfileDamage::TooLarge => Some("profile for a shorter time, or at a lower rate"),
            _ => None,
        };
        ReadError { name: String::new(), damage, what: what.into(), place: None, expected: None, next }
    }

    pub(crate) fn malformed(what: impl Into<String>) -> ReadError {
        ReadError::new(ProfileDamage::Malformed, what)
    }

    pub(crate) fn at(mut self, place: FilePlace) -> ReadError {
        self.place.get_or_insert(place);
        self
    }

    pub(crate) fn expected(mut self, what: impl Into<String>) -> ReadError {
        self.expected = Some(what.into());
        self
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if !self.name.is_empty() {
            text += &format!("{}: ", self.name);
        }
        text += &self.what;
        if let Some(place) = self.place {
            text += &format!(" (at {place})");
        }
        if let Some(expected) = &self.expected {
            text += &format!("; expected {expected}");
        }
        if let Some(next) = self.next {
            text += &format!("; {next}");
        }
        text
    }
}

impl From<TooLarge> for ReadError {
    fn from(error: TooLarge) -> ReadError {
        ReadError::new(ProfileDamage::TooLarge, error.to_string())
    }
}

/// Go writes a CPU profile when `StopCPUProfile` runs (runtime/pprof), so a program that is killed leaves an empty file.
const NEVER_WRITTEN: &str = "StopCPUProfile never ran: was the program killed, or did it leave by os.Exit? \
     Stop the profile on a signal, or fetch it with a time limit";

/// The texts of a pprof file stand at its end.
const NEVER_ENDED: &str = "StopCPUProfile never ran to its end: was the program killed, or the download cut? \
     Take the profile again, with a time limit";
