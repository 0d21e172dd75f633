//! The parts of a table that other readers of Parquet may be given: each was checked as one that is replayed, and rows that stand in two
//! parts are told once.

use crate::error::StoreError;
use crate::open_part::{Found, Opened, parts_in};
use crate::reader::{head, removed_up_to};
use crate::tables::TableSpec;
use std::path::{Path, PathBuf};

/// A part that can be decoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SoundPart {
    /// Its file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
    /// The lowest and the highest `seq` in it; `None` where it does not tell.
    pub seq: Option<(u64, u64)>,
}

/// The parts of one table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SoundParts {
    /// Those that can be decoded, in order.
    pub parts: Vec<SoundPart>,
    /// Why others were passed over.
    pub passed_over: Vec<String>,
}

/// The parts of `table` in the recording `dir`, each read once to check its bytes against its name, and what it states against what a
/// part may ask for.
///
/// # Errors
/// As [`crate::read`], for the head.
pub fn sound_parts(dir: &Path, table: &'static TableSpec) -> Result<SoundParts, StoreError> {
    let (meta, _) = head(dir)?;
    let mut sound = SoundParts::default();
    let found = match parts_in(&dir.join(table.name)) {
        Ok(found) => found,
        Err(reason) => {
            sound.passed_over.push(format!("{}: {reason}", table.name));
            return Ok(sound);
        }
    };
    for part in found {
        match checked(&part, table) {
            Ok(part) => sound.parts.push(part),
            Err(reason) => {
                let name = part.path.file_name().unwrap_or_default().to_string_lossy();
                sound.passed_over.push(format!("{}/{name}: {reason}", table.name));
            }
        }
    }
    // Parts are removed as a whole: one that is there yet has all its rows below.
    let floor = removed_up_to(&meta, table);
    sound.parts.retain(|part| part.rows > 0 && part.seq.is_none_or(|(_, last)| last > floor));
    without_joined(&mut sound.parts);
    Ok(sound)
}

fn checked(part: &Found, table: &'static TableSpec) -> Result<SoundPart, String> {
    let (rows, seq) = Opened::stated(part, table)?;
    Ok(SoundPart { path: part.path.clone(), bytes: part.bytes, rows, seq })
}

/// Leaves out parts whose rows stand in a longer one: a recorder that was killed while it joined parts leaves both.
fn without_joined(parts: &mut Vec<SoundPart>) {
    let all = parts.clone();
    parts.retain(|part| {
        let Some((first, last)) = part.seq else { return true };
        !all.iter().any(|other| {
            let Some((from, to)) = other.seq else { return false };
            other.rows > part.rows && from <= first && last <= to
        })
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, rows: u64, seq: (u64, u64)) -> SoundPart {
        SoundPart { path: name.into(), bytes: 1, rows, seq: Some(seq) }
    }

    #[test]
    fn what_was_joined_is_told_once() {
        let joined = part("joined", 30, (1, 90));
        let mut parts =
            vec![joined.clone(), part("a", 10, (1, 30)), part("b", 20, (31, 90)), part("c", 5, (91, 99))];
        without_joined(&mut parts);
        let names: Vec<_> = parts.iter().map(|part| part.path.display().to_string()).collect();
        assert_eq!(names, ["joined", "c"]);
        // A stranger's parts that state the same rows are both kept.
        let mut parts = vec![joined.clone(), joined];
        without_joined(&mut parts);
        assert_eq!(parts.len(), 2);
    }
}
