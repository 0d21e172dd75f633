//! The profile formats, one file each: how to recognise it and how to read it.

mod bytes;
mod error;
mod folded;
mod goroutines;
mod jstack;
mod legacy;
mod notes;
mod perf_script;
mod pprof;
mod stacks;
#[cfg(test)]
mod testing;
mod top_text;
mod traced_stacks;

pub use bytes::Limits;
pub use error::{FilePlace, ReadError};
pub use notes::{DamagedLine, Notes};

use bytes::{Bytes, HEAD};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use whyslow_model::Profile;
use whyslow_model::profile::{ProfileDamage, TopReport};

/// One format.
pub struct ProfileFormat {
    /// The name in messages: `pprof`, `folded stacks`.
    pub name: &'static str,
    /// The command that makes such a profile.
    pub made_by: &'static str,
    /// True where the first bytes (up to 64 KiB, decompressed, cut anywhere) are of this format.
    pub sniff: fn(&[u8]) -> bool,
    /// Reads one profile to its end.
    read: fn(&mut Bytes<'_>) -> Result<Loaded, ReadError>,
}

/// All formats, the most specific first: the first that recognises a file reads it.
pub static PROFILE_FORMATS: &[&ProfileFormat] = &[
    &top_text::TOP_TEXT,
    &legacy::HEAP,
    &legacy::JAVA,
    &legacy::CONTENTION,
    &legacy::GO_COUNT,
    &legacy::THREADS,
    &legacy::CPU,
    &jstack::JSTACK,
    &goroutines::GOROUTINES,
    &perf_script::PERF_SCRIPT,
    &pprof::PPROF,
    &traced_stacks::TRACED_STACKS,
    // Any line that ends in a number might be one.
    &folded::FOLDED,
];

/// A profile as it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The name of its format.
    pub format: &'static str,
    /// What it holds.
    pub data: ProfileData,
    /// What is wrong with it though it could be read: it has no samples.
    pub damage: Option<ProfileDamage>,
    /// What could not be used of it.
    pub notes: Notes,
}

/// What a file holds.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one a file")]
pub enum ProfileData {
    /// Stacks with values.
    Stacks(Profile),
    /// A printed table.
    Table(TopReport),
}

impl Loaded {
    fn stacks(format: &'static str, profile: Profile) -> Loaded {
        let damage = (profile.sample_count() == 0).then_some(ProfileDamage::NoSamples);
        Loaded { format, data: ProfileData::Stacks(profile), damage, notes: Notes::default() }
    }

    fn with_notes(self, notes: Notes) -> Loaded {
        Loaded { notes, ..self }
    }
}

/// The whole lines of a head (the last one too, where it is the only one), as far as they are text.
fn head_lines(head: &[u8]) -> impl Iterator<Item = &str> {
    let whole =
        head.iter().rposition(|byte| *byte == b'\n').filter(|_| head.len() == HEAD).unwrap_or(head.len());
    head[..whole].split(|byte| *byte == b'\n').map_while(|line| {
        let line = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).ok()?;
        (!line.contains('\0')).then_some(line)
    })
}

/// Reads a profile of any known format, compressed (gzip, zstd) or not. `name` is what errors call it.
pub fn read(reader: impl Read, name: &str, limits: Limits) -> Result<Loaded, ReadError> {
    let mut bytes = Bytes::open(reader, limits).map_err(|error| named(error, name))?;
    sniff_and_read(&mut bytes).map_err(|error| named(error, name))
}

/// Reads a profile as one of that format, whatever it looks like.
pub fn read_as(
    format: &ProfileFormat,
    reader: impl Read,
    name: &str,
    limits: Limits,
) -> Result<Loaded, ReadError> {
    let mut bytes = Bytes::open(reader, limits).map_err(|error| named(error, name))?;
    let loaded = bytes.want(HEAD as u64).and_then(|_| (format.read)(&mut bytes));
    loaded.map_err(|error| named(error, name))
}

/// Reads a file; see [`read`].
pub fn read_file(path: &Path, limits: Limits) -> Result<Loaded, ReadError> {
    let name = whyslow_model::visible::path(path);
    let file = File::open(path)
        .map_err(|error| named(ReadError::new(ProfileDamage::Unreadable, error.to_string()), &name))?;
    read(file, &name, limits)
}

/// The format of a file that begins so (up to 64 KiB, decompressed, cut anywhere).
pub fn recognise(head: &[u8]) -> Option<&'static ProfileFormat> {
    PROFILE_FORMATS.iter().find(|format| (format.sniff)(head)).copied()
}

fn named(mut error: ReadError, name: &str) -> ReadError {
    error.name = name.to_string();
    error
}

fn sniff_and_read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    if bytes.want(HEAD as u64)? == 0 {
        return Err(ReadError::new(ProfileDamage::Empty, "0 bytes after decompression"));
    }
    let head = bytes.ahead();
    let head = &head[..head.len().min(HEAD)];
    let Some(format) = recognise(head) else {
        let known: Vec<&str> = PROFILE_FORMATS.iter().map(|format| format.name).collect();
        return Err(ReadError::new(ProfileDamage::Unrecognized, "this is no profile of a known format")
            .expected(known.join(", ")));
    };
    (format.read)(bytes)
}
