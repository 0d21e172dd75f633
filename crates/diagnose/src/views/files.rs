//! The view `files`: what was done with each path.

use super::rows::{finish, nothing_because};
use super::{Ask, AskError, View};
use crate::facts::{Facts, FileFacts};
use crate::words;
use hashbrown::HashMap;
use whyslow_model::{Cell, Column, Nanos, Table};

/// The view.
pub(super) static VIEW: View = View {
    name: "files",
    summary: "files by path or pattern: opens, stats, reads, writes, bytes, time, life",
    by: &["path", "pattern"],
    table,
};

fn table(facts: &Facts, ask: &Ask) -> Result<Table, AskError> {
    let by = VIEW.grouping(ask)?;
    let files = &facts.world.files;
    let all = files.iter().map(|(_, file)| file).chain(files.merged.values()).filter(|file| file.calls() > 0);
    let wanted =
        |file: &&FileFacts| ask.fds.file.as_deref().is_none_or(|asked| path_matches(&file.path, asked));
    let mut rows: Vec<Row> = Vec::new();
    if by == "path" {
        rows.extend(all.filter(wanted).map(|file| Row::of(file.path.to_string(), file)));
    } else {
        let mut groups: HashMap<String, Row> = HashMap::new();
        for file in all.filter(wanted) {
            let pattern = file.pattern();
            let row = Row::of(pattern.clone(), file);
            groups.entry(pattern).and_modify(|known| known.add(&row)).or_insert(row);
        }
        rows.extend(groups.into_values());
    }
    rows.sort_by(|a, b| a.path.cmp(&b.path));
    let timed = facts.capture.has_durations();
    let mut notes: Vec<String> = nothing_because(facts, "files").into_iter().collect();
    if files.merged_paths > 0 && by == "path" {
        let merged = words::plural(files.merged_paths, "path");
        notes.push(format!("{merged} with few calls stand under their patterns."));
    }
    if timed {
        notes.push("time: in all calls on the file, opening it included.".to_string());
    }
    let table = Table {
        name: VIEW.name,
        question: format!("What was done with each {}?", if by == "path" { "file" } else { "kind of file" }),
        columns: COLUMNS.to_vec(),
        rows: rows.iter().map(|row| row.cells(timed)).collect(),
        total: total(&rows, timed),
        notes,
    };
    finish(table, ask, if timed { "total" } else { "calls" })
}

const COLUMNS: [Column; 13] = [
    Column::new("total", "time"),
    Column::new("calls", "calls"),
    Column::optional("files", "files", 5),
    Column::optional("stats", "stats", 4),
    Column::optional("missing", "missing", 4),
    Column::optional("opens", "opens", 3),
    Column::optional("reads", "reads", 3),
    Column::new("bytes_read", "read"),
    Column::optional("writes", "writes", 3),
    Column::new("bytes_written", "written"),
    Column::optional("size", "size", 2),
    Column::optional("life", "life", 1),
    Column::new("path", "path"),
];

/// What was done with one file, or with all of a pattern.
struct Row {
    path: String,
    files: u64,
    calls: u64,
    stats: u64,
    /// Stats and opens that found nothing.
    failed: u64,
    opens: u64,
    reads: u64,
    read: u64,
    writes: u64,
    written: u64,
    creates: u64,
    unlinks: u64,
    renames: u64,
    appends: u64,
    size: Option<u64>,
    ns: u64,
}

impl Row {
    fn of(path: String, file: &FileFacts) -> Row {
        let calls = |io: &Option<Box<crate::facts::IoStats>>| io.as_ref().map_or(0, |io| io.calls.count);
        Row {
            path,
            files: 1,
            calls: file.calls(),
            stats: file.stats,
            failed: file.stats_missing + file.open_failures,
            opens: file.opens,
            reads: calls(&file.reads),
            read: file.bytes_read(),
            writes: calls(&file.writes),
            written: file.bytes_written(),
            creates: file.creates,
            unlinks: file.unlinks,
            renames: file.renames_to,
            appends: file.append_opens,
            size: file.size,
            ns: file.time_ns(),
        }
    }

    fn add(&mut self, other: &Row) {
        self.files += other.files;
        self.calls += other.calls;
        self.stats += other.stats;
        self.failed += other.failed;
        self.opens += other.opens;
        self.reads += other.reads;
        self.read += other.read;
        self.writes += other.writes;
        self.written += other.written;
        self.creates += other.creates;
        self.unlinks += other.unlinks;
        self.renames += other.renames;
        self.appends += other.appends;
        self.size = self.size.max(other.size);
        self.ns += other.ns;
    }

    /// What became of it, in a word or two.
    fn life(&self) -> Option<&'static str> {
        Some(match self {
            _ if self.creates > 0 && self.unlinks > 0 && self.read > 0 && self.written > 0 => {
                "temporary, read back"
            }
            _ if self.creates > 0 && self.unlinks > 0 => "temporary",
            _ if self.unlinks > 0 => "removed",
            _ if self.renames > 0 => "renamed into place",
            _ if self.appends > 0 && self.written > 0 => "appended to",
            _ if self.creates > 0 && self.written > 0 => "written anew",
            _ if self.written > 0 => "changed",
            _ if self.opens == 0 && self.failed > 0 && self.failed >= self.stats => "never found",
            _ if self.read > 0 => "read",
            _ if self.opens == 0 && self.stats > 0 => "asked about",
            _ => return None,
        })
    }

    fn cells(&self, timed: bool) -> Vec<Cell> {
        vec![
            if timed { Cell::Duration(Nanos::new(self.ns)) } else { Cell::Unknown },
            Cell::Count(self.calls),
            Cell::Count(self.files),
            Cell::Count(self.stats),
            Cell::Count(self.failed),
            Cell::Count(self.opens),
            Cell::Count(self.reads),
            Cell::Bytes(self.read),
            Cell::Count(self.writes),
            Cell::Bytes(self.written),
            self.size.map_or(Cell::Unknown, Cell::Bytes),
            Cell::text(self.life()),
            Cell::Text(self.path.clone()),
        ]
    }
}

fn total(rows: &[Row], timed: bool) -> Option<Vec<Cell>> {
    let (first, rest) = rows.split_first()?;
    let zero = Row { path: String::new(), size: None, ..*first };
    let sum = rest.iter().fold(zero, |mut sum, row| {
        sum.add(row);
        sum
    });
    let mut cells = sum.cells(timed);
    let end = cells.len() - 3;
    cells.truncate(end);
    cells.extend([Cell::Unknown, Cell::Unknown, Cell::Text("total".to_string())]);
    Some(cells)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_match_as_people_ask() {
        for (path, asked, matches) in [
            ("/var/log/app.log", "/var/log/app.log", true),
            ("/var/log/app.log", "/var/log", true),
            ("/var/log/app.log", "/var/log/", true),
            ("/var/log/app.log", "app.log", true),
            ("/var/log/app.log", "log/app.log", true),
            ("/var/log/app.log", "/", true),
            ("/var/log/app.log", "/var/lo", false),
            ("/var/log/app.log", "pp.log", false),
            ("pipe:[7]", "/", false),
        ] {
            assert_eq!(path_matches(path, asked), matches, "{path} {asked}");
        }
    }
}
