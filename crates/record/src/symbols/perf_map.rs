//! Perf maps: where a JIT says what it compiled (`/tmp/perf-PID.map`, written by `node --perf-basic-prof`, perf-map
//! agents of Java, .NET, PyPy and Python 3.12). Format: tools/perf/Documentation/jit-interface.txt of the kernel.

use super::mappings::open_regular;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use whyslow_model::{Frame, Tid};

/// Bytes read of one map; what a JIT adds later is read from where the reading ended.
const MOST: u64 = 64 << 20;

/// The symbols that a process's JIT wrote down so far.
#[derive(Debug, Default)]
pub(super) struct PerfMap {
    file: Option<File>,
    read: u64,
    /// What was read behind the last line end.
    rest: Vec<u8>,
    /// Sorted by start; of equal starts the one written last counts.
    symbols: Vec<Symbol>,
}

#[derive(Debug)]
struct Symbol {
    start: u64,
    size: u64,
    name: Box<str>,
}

impl PerfMap {
    /// Opens and reads the map of `pid`, if there is one.
    pub(super) fn read(pid: Tid) -> PerfMap {
        let mut map = PerfMap::default();
        map.read_more(pid);
        map
    }

    /// Reads what came since.
    pub(super) fn read_more(&mut self, pid: Tid) {
        if self.file.is_none() {
            self.file = open(pid);
        }
        let Some(file) = &mut self.file else { return };
        let mut more = std::mem::take(&mut self.rest);
        let start = more.len();
        let left = MOST.saturating_sub(self.read);
        let read = file.seek(SeekFrom::Start(self.read)).and_then(|_| file.take(left).read_to_end(&mut more));
        if read.is_err() {
            more.truncate(start);
        }
        self.read += (more.len() - start) as u64;
        let lines = memchr::memrchr(b'\n', &more).map_or(0, |at| at + 1);
        self.rest = more.split_off(lines);
        // A line longer than any name is no line.
        self.rest.truncate(1 << 16);
        self.add(&more);
    }

    fn add(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.symbols.extend(text.split(|byte| *byte == b'\n').filter_map(parse));
        // Code is moved and replaced: the sort is stable, so that the last of those with one start is the newest.
        self.symbols.sort_by_key(|symbol| symbol.start);
    }

    /// The frame at `address`, without it.
    pub(super) fn find(&self, address: u64) -> Option<Frame> {
        let behind = self.symbols.partition_point(|symbol| symbol.start <= address);
        let symbol = self.symbols.get(behind.checked_sub(1)?)?;
        if address - symbol.start >= symbol.size {
            return None;
        }
        let (function, place) = split_place(without_tier(&symbol.name));
        Some(Frame {
            address: 0,
            function: Some(function.to_string()),
            module: Some("[jit]".to_string()),
            place: place.map(str::to_string),
        })
    }
}

/// The map in the process's own `/tmp`, under its number in its own pid namespace.
fn open(pid: Tid) -> Option<File> {
    let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"NSpid:"));
    let innermost = line.and_then(|line| line.split(u8::is_ascii_whitespace).rfind(|word| !word.is_empty()));
    let inner: Tid = innermost.and_then(|word| std::str::from_utf8(word).ok()?.parse().ok()).unwrap_or(pid);
    open_regular(&PathBuf::from(format!("/proc/{pid}/root/tmp/perf-{inner}.map")))
}

/// `3ef414c0 398 LazyCompile:*work /app/x.js:12:3`: start and size in hexadecimal, the name to the end of the line.
fn parse(line: &[u8]) -> Option<Symbol> {
    /// Names of generated code can be kilobytes long.
    const LONGEST: usize = 512;
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let mut hex = || {
        let text = std::str::from_utf8(words.next()?).ok()?;
        u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
    };
    let (start, size) = (hex()?, hex()?);
    let name = words.next()?.trim_ascii();
    let name = String::from_utf8_lossy(name.get(..LONGEST).unwrap_or(name));
    (!name.is_empty()).then(|| Symbol { start, size, name: name.into() })
}

/// V8 puts the kind of code and the tier of its compiler before the name.
fn without_tier(name: &str) -> &str {
    for kind in ["LazyCompile:", "JS:", "Function:", "Script:", "Eval:"] {
        if let Some(rest) = name.strip_prefix(kind) {
            return rest.trim_start_matches(['*', '~', '^', '+']);
        }
    }
    name
}

/// The source behind a name, where there is one: `work /app/x.js:12:3`.
fn split_place(name: &str) -> (&str, Option<&str>) {
    let split = name.rsplit_once(' ').filter(|(function, place)| {
        let line = place.rsplit_once(':').map(|(_, line)| line);
        !function.is_empty()
            && line.is_some_and(|line| !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit()))
    });
    split.map_or((name, None), |(function, place)| (function, Some(place)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(map: &PerfMap, address: u64) -> Option<(String, Option<String>)> {
        map.find(address).map(|frame| (frame.function.unwrap_or_default(), frame.place))
    }

    #[test]
    fn the_newest_counts() {
        let mut map = PerfMap::default();
        map.add(b"1000 20 LazyCompile:*work /app/x.js:12:3\n2000 10 Lcom/x/Y;::run\nrubbish\n 1 2\n");
        let text = |text: &str| text.to_string();
        assert_eq!(found(&map, 0x1010), Some((text("work"), Some(text("/app/x.js:12:3")))));
        assert_eq!(found(&map, 0x2000), Some((text("Lcom/x/Y;::run"), None)));
        assert_eq!((found(&map, 0x1020), found(&map, 0xfff)), (None, None));
        map.add(b"1000 10 py::main:/app/m.py\n");
        assert_eq!(found(&map, 0x1000), Some((text("py::main:/app/m.py"), None)));
    }

    proptest! {
        #[test]
        fn any_text_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), address in any::<u64>()) {
            let mut map = PerfMap::default();
            map.add(&bytes);
            let _ = map.find(address);
        }
    }
}
