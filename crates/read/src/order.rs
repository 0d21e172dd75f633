//! Which dump of several came first, by the names that people give them: `nstat.before`, `cpu.stat_2.txt`, `after/cpu.max`.

/// Endings that say nothing of what is in a file.
const ENDINGS: [&str; 5] = [".txt", ".log", ".out", ".gz", ".zst"];
/// Words of an order, each with its place in it.
const WORDS: [(&str, u32); 14] = [
    ("before", 0),
    ("after", 1),
    ("start", 0),
    ("end", 1),
    ("begin", 0),
    ("first", 0),
    ("second", 1),
    ("pre", 0),
    ("post", 1),
    ("old", 0),
    ("new", 1),
    ("t0", 0),
    ("t1", 1),
    ("t2", 2),
];
/// A number above is a process, a port, a date.
const MOST: u32 = 99;
const SEPARATORS: [char; 3] = ['.', '_', '-'];

/// The path without the words of an order, and the place that they tell.
pub(crate) fn split(path: &str) -> (String, Option<u32>) {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let (name, mut place) = split_name(name);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/') {
        // A folder is of an order where its name is nothing else.
        match word(part) {
            Some(of_folder) => place = place.or(Some(of_folder)),
            None => parts.push(part),
        }
    }
    let folder = parts.join("/");
    let whole = match path.contains('/') && (path.starts_with('/') || !folder.is_empty()) {
        true => format!("{folder}/{name}"),
        false => name.to_string(),
    };
    (whole, place)
}

fn split_name(name: &str) -> (&str, Option<u32>) {
    let mut bare = name;
    while let Some(rest) = ENDINGS.iter().find_map(|ending| bare.strip_suffix(ending)) {
        bare = rest;
    }
    let behind = bare.rsplit_once(SEPARATORS).and_then(|(rest, last)| Some((rest, place(last)?)));
    let before = || bare.split_once(SEPARATORS).and_then(|(first, rest)| Some((rest, word(first)?)));
    match behind.filter(|(rest, _)| !rest.is_empty()).or_else(before) {
        Some((rest, place)) => (rest, Some(place)),
        // What is no order may need its ending: the name stays as it is.
        None => (name, None),
    }
}

fn word(text: &str) -> Option<u32> {
    WORDS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word)).map(|(_, place)| *place)
}

fn place(text: &str) -> Option<u32> {
    let digits = text.strip_prefix(['t', 'T']).unwrap_or(text);
    let number = || digits.parse::<u32>().ok().filter(|number| *number <= MOST && digits.len() <= 2);
    word(text).or_else(number)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn names_tell_the_order_and_what_is_left_tells_the_file() {
        for (path, left, place) in [
            ("nstat.before", "nstat", Some(0)),
            ("d/cpu.stat.after", "d/cpu.stat", Some(1)),
            ("d/cpu.stat_2.txt", "d/cpu.stat", Some(2)),
            ("after/cpu.max", "cpu.max", Some(1)),
            ("x/before/sys/fs/cgroup/a/cpu.stat", "x/sys/fs/cgroup/a/cpu.stat", Some(0)),
            ("proc/77/schedstat-t1.txt", "proc/77/schedstat", Some(1)),
            ("before-nstat.txt", "nstat", Some(0)),
            ("/proc/7/io", "/proc/7/io", None),
            ("cpu.stat", "cpu.stat", None),
            ("nstat.txt", "nstat.txt", None),
            ("nstat-20261122", "nstat-20261122", None),
            ("schedstat.4711", "schedstat.4711", None),
            ("", "", None),
            ("1", "1", None),
        ] {
            assert_eq!(split(path), (left.to_string(), place), "{path}");
        }
    }
}
