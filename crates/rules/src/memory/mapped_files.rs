//! Files that are mapped over and over, by name.

use whyslow_facts::{Facts, FileId};

/// The file's path; of several of one kind their pattern: they are one habit.
pub(super) fn name(facts: &Facts, file: FileId) -> String {
    let pattern = |file: FileId| facts.world.files.get(file).pattern();
    let files = facts.memory.maps.iter().filter_map(|other| other.file);
    match files.filter(|other| pattern(*other) == pattern(file)).count() {
        0 | 1 => facts.world.files.get(file).path.to_string(),
        _ => pattern(file),
    }
}
