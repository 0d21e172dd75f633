//! Which node a place of a profile is: its texts numbered, its parts left out that are not asked for.

use super::{Granularity, Node, NodeInfo, Shape, base_name};
use crate::names;
use hashbrown::HashMap;
use std::borrow::Cow;
use whyslow_model::profile::{LocationId, Profile};

/// A node's identity, in numbers of [`Names`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    name: u32,
    file: u32,
    object: u32,
    address: u64,
    start_line: i64,
    line: i64,
    column: i64,
}

/// Texts of nodes, numbered: equal texts have equal numbers.
pub(super) struct Names<'p> {
    profile: &'p Profile,
    shape: &'p Shape,
    texts: Vec<Cow<'p, str>>,
    numbers: HashMap<Cow<'p, str>, u32>,
    /// Name and file of each function, when it was first asked for.
    functions: Vec<Option<(u32, u32)>>,
    objects: Vec<u32>,
}

impl<'p> Names<'p> {
    pub(super) fn new(profile: &'p Profile, shape: &'p Shape) -> Names<'p> {
        let mut names = Names {
            profile,
            shape,
            texts: vec![Cow::Borrowed("")],
            numbers: HashMap::from_iter([(Cow::Borrowed(""), 0)]),
            functions: vec![None; profile.functions.len()],
            objects: Vec::new(),
        };
        names.objects =
            profile.mappings.iter().map(|mapping| names.number(profile.str(mapping.file).into())).collect();
        names
    }

    fn number(&mut self, text: Cow<'p, str>) -> u32 {
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    fn function(&mut self, id: u32) -> (u32, u32) {
        if let Some(Some(known)) = self.functions.get(id as usize) {
            return *known;
        }
        let Some(function) = self.profile.functions.get(id as usize) else { return (0, 0) };
        let granularity = self.shape.granularity;
        let name = match granularity {
            Granularity::Files => 0,
            _ => self.number(names::shown(self.profile, function.name, function.system_name)),
        };
        let file = match granularity {
            Granularity::Functions => 0,
            _ => self.number(clean_path(trimmed(self.profile.str(function.file), self.shape))),
        };
        self.functions[id as usize] = Some((name, file));
        (name, file)
    }

    /// The nodes of a location: one a line, the innermost first; one if it has no lines.
    pub(super) fn keys_of(&mut self, id: LocationId) -> impl Iterator<Item = Key> {
        let profile = self.profile;
        let location = profile.locations[id.0 as usize];
        let lines = profile.lines_of(id);
        let lines = if self.shape.no_inlines { &lines[lines.len().saturating_sub(1)..] } else { lines };
        let granularity = self.shape.granularity;
        let address = if granularity == Granularity::Addresses { location.address } else { 0 };
        let object =
            location.mapping.and_then(|mapping| self.objects.get(mapping.0 as usize)).copied().unwrap_or(0);
        let with_lines = matches!(granularity, Granularity::Lines | Granularity::Addresses);
        // pprof aggregates nothing at all by address with inlined functions: columns stay.
        let with_columns =
            self.shape.columns || (granularity == Granularity::Addresses && !self.shape.no_inlines);
        let unknown = Key { name: 0, file: 0, object, address, start_line: 0, line: 0, column: 0 };
        let none = lines.is_empty().then_some(unknown);
        lines
            .iter()
            .map(move |line| {
                let Some(function) = line.function else { return unknown };
                let (name, file) = self.function(function.0);
                let told_apart = self.shape.objects || name == 0;
                Key {
                    name,
                    file,
                    object: if told_apart { object } else { 0 },
                    address,
                    start_line: if told_apart {
                        profile.functions[function.0 as usize].start_line
                    } else {
                        0
                    },
                    line: if with_lines { line.line } else { 0 },
                    column: if with_lines && with_columns { line.column } else { 0 },
                }
            })
            .chain(none)
    }

    pub(super) fn node(&self, key: &Key) -> Node {
        let text = |number: u32| self.texts[number as usize].to_string();
        let info = NodeInfo {
            name: text(key.name),
            address: key.address,
            file: text(key.file),
            start_line: key.start_line,
            line: key.line,
            column: key.column,
            object: text(key.object),
        };
        Node { info, flat: 0, cum: 0, flat_divisor: 0, cum_divisor: 0 }
    }
}

/// A source file without the prefixes that are not wanted (google/pprof, `trimPath`).
pub(crate) fn trimmed<'a>(path: &'a str, shape: &Shape) -> &'a str {
    if shape.trim_path.is_empty() {
        for directory in shape.source_path.split(':').filter(|directory| !directory.is_empty()) {
            let wanted = format!("/{}/", base_name(directory));
            if let Some(at) = path.find(&wanted) {
                return &path[at + wanted.len()..];
            }
        }
    }
    let given = shape.trim_path.split(':').filter(|prefix| !prefix.is_empty());
    for prefix in given.chain(["/proc/self/cwd/./", "/proc/self/cwd/"]) {
        let rest = path.strip_prefix(prefix.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
        if let Some(rest) = rest {
            return rest;
        }
    }
    path
}

/// A path without `.`, `..` and double slashes, as Go's `filepath.Clean` makes it; an empty one stays.
pub(crate) fn clean_path(path: &str) -> Cow<'_, str> {
    let is_clean = !path.contains("//") && !path.split('/').any(|part| part == "." || part == "..");
    if path.is_empty() || (is_clean && (path == "/" || !path.ends_with('/'))) {
        return Cow::Borrowed(path);
    }
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => Cow::Owned(format!("/{joined}")),
        (false, true) => Cow::Borrowed("."),
        (false, false) => Cow::Owned(joined),
    }
}
