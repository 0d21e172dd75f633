//! The memory map behind a legacy profile: lines of `/proc/PID/maps`, or `start-end: file (@offset) build-id`.

use whyslow_model::ProfileBuilder;
use whyslow_model::profile::{Mapping, MappingId, TooLarge};

/// A file in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Entry {
    start: u64,
    limit: u64,
    offset: u64,
    file: String,
    build_id: String,
}

/// The map of a process.
#[derive(Default)]
pub(super) struct Maps {
    entries: Vec<Entry>,
    /// `$name` and what it stands for.
    variables: Vec<(String, String)>,
    /// The place of addresses that no entry has.
    fake: Option<usize>,
    has_none: bool,
}

/// Whether a line begins a map.
pub(super) fn begins(line: &str) -> bool {
    line.contains("--- Memory map: ---") || line.contains("MAPPED_LIBRARIES:")
}

impl Maps {
    const MOST_VARIABLES: usize = 16;
    /// vm.max_map_count is 65,530 by default, and can be raised.
    const MOST_ENTRIES: usize = 1 << 20;

    /// Without any: addresses stay in no mapping.
    pub(super) fn none() -> Maps {
        Maps { has_none: true, ..Maps::default() }
    }

    /// Takes one line; what is no entry is passed over.
    pub(super) fn line(&mut self, line: &str) {
        let mut line = without_log_prefix(line).to_string();
        for (name, value) in &self.variables {
            if line.contains(name) {
                line = line.replace(name, value);
            }
        }
        match entry(&line) {
            Some(Some(entry)) if self.entries.len() < Maps::MOST_ENTRIES => self.entries.push(entry),
            Some(_) => {}
            None => {
                if let Some((name, value)) = line.split_once('=')
                    && self.variables.len() < Maps::MOST_VARIABLES
                    && value.len() < 4096
                {
                    self.variables.push((format!("${}", name.trim()), value.trim().to_string()));
                }
            }
        }
    }

    /// Joins the halves of split mappings, and puts the program first.
    pub(super) fn tidy(&mut self) {
        let mut joined: Vec<Entry> = Vec::new();
        for entry in self.entries.drain(..) {
            match joined.last_mut() {
                Some(last) if are_adjacent(last, &entry) => {
                    last.limit = entry.limit;
                    if !entry.file.is_empty() {
                        last.file = entry.file;
                    }
                    if !entry.build_id.is_empty() {
                        last.build_id = entry.build_id;
                    }
                }
                _ => joined.push(entry),
            }
        }
        if let Some(program) = joined.iter().position(|entry| is_program(&entry.file)) {
            joined.swap(0, program);
        }
        // Huge pages that a loader put over the program's text.
        if let [first, second, ..] = joined.as_slice()
            && first.file.starts_with("/anon_hugepage")
            && first.limit == second.start
        {
            joined.remove(0);
        }
        // Where Linux puts a program that is not position independent.
        const USUAL_START: u64 = 0x40_0000;
        if let Some(first) = joined.first_mut()
            && first.start.wrapping_sub(first.offset) == USUAL_START
        {
            (first.start, first.offset) = (USUAL_START, 0);
        }
        self.entries = joined;
    }

    /// The entry of an address: one without a name where the map has none.
    pub(super) fn owner(&mut self, address: u64) -> Option<usize> {
        if address == 0 || self.has_none {
            return None;
        }
        let has = |entry: &Entry| entry.start <= address && address < entry.limit;
        if let Some(index) = self.entries.iter().position(has) {
            return Some(index);
        }
        // Some handlers leave out the first part of a mapping that was split.
        let before = |entry: &Entry| {
            entry.offset != 0 && entry.start.wrapping_sub(entry.offset) <= address && address < entry.start
        };
        if let Some(index) = self.entries.iter().position(before) {
            let entry = &mut self.entries[index];
            (entry.start, entry.offset) = (entry.start.wrapping_sub(entry.offset), 0);
            return Some(index);
        }
        Some(*self.fake.get_or_insert_with(|| {
            self.entries.push(Entry { limit: u64::MAX, ..Entry::default() });
            self.entries.len() - 1
        }))
    }

    /// Makes them mappings of a profile.
    pub(super) fn add_to(&self, builder: &mut ProfileBuilder) -> Result<Vec<MappingId>, TooLarge> {
        self.entries
            .iter()
            .map(|entry| {
                let file = builder.string(&entry.file)?;
                let build_id = builder.string(&entry.build_id)?;
                let Entry { start, limit, offset, .. } = *entry;
                builder.mapping(Mapping { start, limit, offset, file, build_id, ..Mapping::default() })
            })
            .collect()
    }
}

fn are_adjacent(one: &Entry, next: &Entry) -> bool {
    let may_be_same = |one: &str, next: &str| one.is_empty() || next.is_empty() || one == next;
    let offsets_fit = one.offset == 0
        || next.offset == 0
        || one.offset.wrapping_add(one.limit.wrapping_sub(one.start)) == next.offset;
    may_be_same(&one.file, &next.file)
        && may_be_same(&one.build_id, &next.build_id)
        && one.limit == next.start
        && offsets_fit
}

/// Neither a library (`.so`, `.so.6`, `.so_1`) nor something of the kernel's (`[vdso]`).
fn is_program(file: &str) -> bool {
    let file = file.replace("(deleted)", "");
    let file = file.trim();
    let is_numbered = |mark: &str| {
        file.match_indices(mark)
            .any(|(at, _)| file[at + mark.len()..].starts_with(|next: char| next.is_ascii_digit()))
    };
    !file.is_empty()
        && !file.starts_with('[')
        && !file.ends_with(".so")
        && !is_numbered(".so.")
        && !is_numbered(".so_")
}

/// glog writes `file.cc:123] ` before each line.
fn without_log_prefix(line: &str) -> &str {
    let Some((before, after)) = line.split_once(']') else { return line };
    let is_place = before.rsplit_once(':').is_some_and(|(file, number)| {
        !file.is_empty()
            && !file.contains('[')
            && !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_place && after.starts_with(char::is_whitespace) { &after[1..] } else { line }
}

/// `Some(None)` for an entry that is not code.
fn entry(line: &str) -> Option<Option<Entry>> {
    let mut rest = line.trim_start();
    let start = take_hex(&mut rest)?;
    rest = rest.strip_prefix('-').unwrap_or(rest).trim_start();
    let limit = take_hex(&mut rest)?;
    rest = rest.strip_prefix(':').unwrap_or(rest);
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let mut words = rest.split_whitespace().peekable();
    let is_access = |word: &&str| word.bytes().all(|byte| b"-rwxp".contains(&byte));
    if words.next_if(is_access).is_some_and(|access| !access.contains('x')) {
        return Some(None);
    }
    let mut entry = Entry { start, limit, ..Entry::default() };
    // `offset device inode` stand in /proc/PID/maps, and nowhere else.
    let mut long = words.clone();
    let offset = long.next().and_then(|word| u64::from_str_radix(word, 16).ok());
    let is_device = long.next().is_some_and(|word| word.contains(':'));
    let is_inode = long.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    if let (Some(offset), true, true) = (offset, is_device, is_inode) {
        entry.offset = offset;
        entry.file = long.next().unwrap_or("").to_string();
        return Some(Some(entry));
    }
    entry.file = words.next_if(|word| !word.starts_with("(@")).unwrap_or("").to_string();
    if let Some(offset) = words.next_if(|word| word.starts_with("(@")) {
        entry.offset = u64::from_str_radix(offset.trim_matches(['(', ')', '@']), 16).ok()?;
    }
    if let Some(build_id) = words.next_if(|word| word.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        entry.build_id = build_id.to_string();
    }
    Some(Some(entry))
}

fn take_hex(rest: &mut &str) -> Option<u64> {
    let text = rest.strip_prefix("0x").unwrap_or(rest);
    let length = text.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(text.len());
    let (digits, behind) = text.split_at(length);
    *rest = behind;
    u64::from_str_radix(digits, 16).ok()
}
