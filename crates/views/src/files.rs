//! The view `files`: what was done with each path, and by whom; of a trace, of what the kernel added up, and of other
//! tools' tables.

mod pasted;
mod row;
#[cfg(test)]
mod tests;

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, View};
use crate::words;
use hashbrown::HashMap;
use row::{COLUMNS, Row};
use whyslow_facts::pattern::pattern_of;
use whyslow_facts::who::Who;
use whyslow_facts::{Facts, FileFacts};
use whyslow_model::Table;

/// The view.
pub(super) static VIEW: View = View {
    name: "files",
    of_calls: true,
    summary: "files: opens, reads, writes, bytes, time, life, and who; by path, pattern, directory, process or thread",
    by: &["path", "pattern", "directory", "process", "thread"],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let by = VIEW.grouping(ask)?;
    let files = &facts.world.files;
    let counted = files.sums > 0;
    let timed = counted || facts.capture.has_durations();
    let is_wanted = |path: &str| ask.fds.file.as_deref().is_none_or(|asked| path_matches(path, asked));
    let mut groups: HashMap<Group, Row> = HashMap::new();
    let mut add = |group: Group, row: Row| {
        groups.entry(group).and_modify(|known| known.add(&row)).or_insert(row);
    };
    let by_user = matches!(by, "process" | "thread");
    let to_disk = to_disk(facts);
    let all = files.iter().map(|(_, file)| file).chain(files.merged.values());
    for file in all.filter(|file| is_wanted(&file.path)) {
        let users = if counted { &file.counted } else { &file.users };
        if by_user {
            for (user, used) in users.iter() {
                let who = Who::of(facts, user);
                let bytes = used.bytes();
                let mut row = Row::of_use(String::new(), used, timed);
                row.files = file.merged.max(1);
                row.patterns.insert(file.pattern(), bytes);
                row.used_by(who.clone(), bytes);
                add(Group::of_user(who, by), row);
            }
            continue;
        }
        let sum = users.sum();
        if file.calls() == 0 && sum.calls() == 0 {
            continue;
        }
        let key = key_of(&file.path, by, file);
        let mut row = Row::of(key.clone(), file, (counted && sum.calls() > 0).then_some(&sum), timed);
        for (user, used) in users.iter() {
            row.used_by(Who::of(facts, user), used.bytes());
        }
        if facts.world.calls == 0 {
            row = row.without_lookups();
        }
        row.to_disk = to_disk.get(&*file.path).copied();
        add(Group::Path(key), row);
    }
    for mut row in pasted::rows(facts, by_user).into_iter().filter(|row| is_wanted(&row.key)) {
        let group = match by {
            "path" => Group::Path(row.key.clone()),
            "pattern" => Group::Path(pattern_of(&row.key).into_owned()),
            "directory" => Group::Path(directory_of(&row.key).to_string()),
            _ => {
                let bytes = row.moved();
                row.patterns.insert(pattern_of(&row.key).into_owned(), bytes);
                let who = row.users.first().map(|(who, _)| who.clone()).unwrap_or_default();
                Group::of_user(who, by)
            }
        };
        row.key = if let Group::Path(key) = &group { key.clone() } else { String::new() };
        add(group, row);
    }
    let mut rows: Vec<_> = groups.into_iter().collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
    let table = Table {
        name: VIEW.name,
        question: match by {
            "path" => "What was done with each file?",
            "pattern" => "What was done with each kind of file?",
            "directory" => "What was done with the files of each directory?",
            "process" => "What did each process do with files?",
            _ => "What did each thread do with files?",
        }
        .to_string(),
        columns: COLUMNS.to_vec(),
        rows: rows.iter().map(|row| row.cells(false)).collect(),
        total: total(&rows),
        notes: notes(facts, by, counted, timed),
    };
    finish(table, ask, if timed { "total" } else { "calls" })
}

/// What a row is of.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Group {
    /// A path, a pattern, a directory.
    Path(String),
    /// A process, or one of its threads.
    User(Who),
}

impl Group {
    fn of_user(who: Who, by: &str) -> Group {
        Group::User(if by == "process" { Who { thread: None, ..who } } else { who })
    }
}

fn key_of(path: &str, by: &str, file: &FileFacts) -> String {
    match by {
        "pattern" => file.pattern(),
        "directory" => directory_of(path).to_string(),
        _ => path.to_string(),
    }
}

/// The directory that a path lies in; what has none stands by itself.
fn directory_of(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) => "/",
        Some(at) => &path[..at],
        None => path,
    }
}

/// Bytes that reached a disk, by path.
fn to_disk(facts: &Facts) -> HashMap<&str, u64> {
    let mut bytes: HashMap<&str, u64> = HashMap::new();
    for file in facts.devices.written_back() {
        if let Some(path) = file.path.as_deref() {
            let sum: &mut u64 = bytes.entry(path).or_default();
            *sum = sum.saturating_add(file.bytes);
        }
    }
    bytes
}

fn notes(facts: &Facts, by: &str, counted: bool, timed: bool) -> Vec<String> {
    let files = &facts.world.files;
    let mut notes: Vec<String> = nothing_because(facts, "files").into_iter().collect();
    if files.merged_paths > 0 && by == "path" {
        let merged = words::plural(files.merged_paths, "path");
        notes.push(format!("{merged} with few calls stand under their patterns."));
    }
    if counted {
        notes.push("Reads, writes, opens and syncs are added up in the kernel, all of them; a copy between two files counts for both. Not seen: memory-mapped files, io_uring.".to_string());
        if let Some((lost, produced)) = facts.recording.lost_of("files").filter(|(lost, _)| *lost > 0) {
            notes.push(format!(
                "{} of {} found no room and are missing.",
                words::count(lost),
                words::plural(produced, "call")
            ));
        }
        if facts.devices.other_files > 0 {
            let bytes = words::bytes(facts.devices.other_files);
            notes.push(format!("to disk: {bytes} of further files are missing."));
        }
    } else if timed {
        notes.push("time: in all calls on the file, opening it included.".to_string());
    }
    notes
}

fn total(rows: &[Row]) -> Option<Vec<whyslow_model::Cell>> {
    let (first, rest) = rows.split_first()?;
    let mut sum = first.clone();
    rest.iter().for_each(|row| sum.add(row));
    Some(sum.cells(true))
}

/// True where `path` is the asked file, lies in the asked directory, or ends in the asked name.
pub(super) fn path_matches(path: &str, asked: &str) -> bool {
    let asked = asked.strip_suffix('/').filter(|rest| !rest.is_empty()).unwrap_or(asked);
    if asked == "/" {
        return path.starts_with('/');
    }
    let in_directory = path.strip_prefix(asked).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let ends_so = !asked.starts_with('/')
        && path.strip_suffix(asked).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
    in_directory || ends_so
}
