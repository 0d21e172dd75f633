//! Perf maps: where a JIT says what it compiled (`/tmp/perf-PID.map`, written by `node --perf-basic-prof`, perf-map
//! agents of Java, .NET, PyPy and Python 3.12). Format: tools/perf/Documentation/jit-interface.txt of the kernel.
//!
//! Anybody may write a file of that name in `/tmp`. A map counts only if it belongs to the process's user or to root.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use whyslow_model::{StackFrame, Tid, visible};
use whyslow_unwind::inside;

/// Memory that the symbols of all processes together may take.
pub(super) const MOST_MEMORY: usize = 64 << 20;
/// Bytes read of one map; what a JIT adds later is read from where the reading ended.
const MOST_READ: u64 = 64 << 20;
/// Bytes read at once.
const CHUNK: u64 = 1 << 20;
/// What a symbol takes beside its name: its share of a tree's node, and of the allocator.
const PER_SYMBOL: usize = 96;
/// A line longer than any name is no line.
const LONGEST_LINE: usize = 1 << 16;

/// The symbols that a process's JIT wrote down so far.
#[derive(Debug, Default)]
pub(super) struct PerfMap {
    file: Option<File>,
    read: u64,
    /// What was read behind the last line end.
    rest: Vec<u8>,
    /// By start.
    symbols: BTreeMap<u64, Symbol>,
    memory: usize,
    /// Why not all of it is used, where it is not.
    remark: Option<String>,
}

#[derive(Debug)]
struct Symbol {
    size: u64,
    name: Box<str>,
}

impl Symbol {
    fn memory(&self) -> usize {
        PER_SYMBOL + self.name.len()
    }
}

impl PerfMap {
    /// Opens and reads the map of `pid`, if there is one. Its symbols take at most `memory` bytes.
    pub(super) fn read(pid: Tid, memory: usize) -> PerfMap {
        let mut map = PerfMap::default();
        map.read_more(pid, memory);
        map
    }

    /// Of a text; its symbols take at most `memory` bytes.
    pub(super) fn of_text(text: &[u8], memory: usize) -> PerfMap {
        let mut map = PerfMap::default();
        map.add(text, memory);
        map
    }

    /// Bytes that its symbols take.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Why the map, or a part of it, is not used.
    pub(super) fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// Reads what came since. All its symbols may take `memory` bytes.
    pub(super) fn read_more(&mut self, pid: Tid, memory: usize) {
        if self.file.is_none() {
            match open(pid) {
                Ok(file) => (self.file, self.remark) = (file, None),
                Err(why) => self.remark = Some(format!("{why}; the functions of its JIT are unknown")),
            }
        }
        let Some(mut file) = self.file.take() else { return };
        let name = format!("the perf map of process {pid}");
        loop {
            if self.read >= MOST_READ {
                let most = MOST_READ >> 20;
                self.remark = Some(format!("{name}: what lies behind its first {most} MiB is not used"));
                break;
            }
            let mut more = std::mem::take(&mut self.rest);
            let start = more.len();
            let read = file
                .seek(SeekFrom::Start(self.read))
                .and_then(|_| (&mut file).take(CHUNK.min(MOST_READ - self.read)).read_to_end(&mut more));
            if read.is_err() {
                more.truncate(start);
            }
            let came = more.len() - start;
            self.read += came as u64;
            let lines = memchr::memrchr(b'\n', &more).map_or(0, |at| at + 1);
            self.rest = more.split_off(lines);
            self.rest.truncate(LONGEST_LINE);
            if !self.add(&more, memory) {
                let most = MOST_MEMORY >> 20;
                let remark = "the symbols of all perf maps would take more than";
                self.remark = Some(format!("{name}: {remark} {most} MiB: what came last is not used"));
                break;
            }
            if came == 0 {
                break;
            }
        }
        self.file = Some(file);
    }

    /// Takes lines; false where `memory` is used up.
    fn add(&mut self, text: &[u8], memory: usize) -> bool {
        for (start, symbol) in text.split(|byte| *byte == b'\n').filter_map(parse) {
            // Code is moved and replaced: what the new symbol covers is gone.
            let end = start.saturating_add(symbol.size.max(1));
            let covered = |(at, old): (&u64, &Symbol)| (at.saturating_add(old.size) <= end).then_some(*at);
            while let Some(at) = self.symbols.range(start..end).find_map(covered) {
                self.memory -= self.symbols.remove(&at).map_or(0, |old| old.memory());
            }
            if let Some(old) = self.symbols.remove(&start) {
                self.memory -= old.memory();
            }
            if self.memory + symbol.memory() > memory {
                return false;
            }
            self.memory += symbol.memory();
            self.symbols.insert(start, symbol);
        }
        true
    }

    /// The frame at `address`, without it.
    pub(super) fn find(&self, address: u64) -> Option<StackFrame> {
        let (start, symbol) = self.symbols.range(..=address).next_back()?;
        if address - start >= symbol.size {
            return None;
        }
        let (function, place) = split_place(without_tier(&symbol.name));
        Some(StackFrame {
            address: 0,
            function: Some(function.to_string()),
            module: Some("[jit]".to_string()),
            place: place.map(str::to_string),
        })
    }
}

/// The map in the process's own `/tmp`, under its number in its own pid namespace. `None` where there is none; else why it
/// is not to be used.
fn open(pid: Tid) -> Result<Option<File>, String> {
    let Ok(status) = std::fs::read(format!("/proc/{pid}/status")) else { return Ok(None) };
    let words = |name: &[u8]| {
        let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name));
        let line = line.and_then(|line| std::str::from_utf8(line).ok()).unwrap_or_default();
        line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<u32>>()
    };
    let inner = words(b"NSpid:").last().copied().unwrap_or(pid);
    let path = PathBuf::from(format!("/tmp/perf-{inner}.map"));
    let refused = |why: &dyn std::fmt::Display| {
        format!("process {pid}: its {} is not used: {why}", visible::path(&path))
    };
    let file = match inside::open(&PathBuf::from(format!("/proc/{pid}/root")), &path) {
        Ok(file) => file,
        Err(error) => {
            let absent = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
            return if absent { Ok(None) } else { Err(refused(&error)) };
        }
    };
    let owner = file.metadata().map_err(|error| refused(&error))?.uid();
    // Its effective user: the real one of a set-user-ID program is whoever started it.
    match words(b"Uid:").get(1) {
        Some(user) if owner == 0 || owner == *user => Ok(Some(file)),
        Some(user) => {
            Err(refused(&format!("it belongs to user {owner}, and the process runs as user {user}")))
        }
        None => Ok(None),
    }
}

/// `3ef414c0 398 LazyCompile:*work /app/x.js:12:3`: start and size in hexadecimal, the name to the end of the line.
fn parse(line: &[u8]) -> Option<(u64, Symbol)> {
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
    (!name.is_empty()).then(|| (start, Symbol { size, name: name.into() }))
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
        map.add(
            b"1000 20 LazyCompile:*work /app/x.js:12:3\n2000 10 Lcom/x/Y;::run\nrubbish\n 1 2\n",
            MOST_MEMORY,
        );
        let text = |text: &str| text.to_string();
        assert_eq!(found(&map, 0x1010), Some((text("work"), Some(text("/app/x.js:12:3")))));
        assert_eq!(found(&map, 0x2000), Some((text("Lcom/x/Y;::run"), None)));
        assert_eq!((found(&map, 0x1020), found(&map, 0xfff)), (None, None));
        map.add(b"1000 10 py::main:/app/m.py\n", MOST_MEMORY);
        assert_eq!(found(&map, 0x1000), Some((text("py::main:/app/m.py"), None)));
    }

    #[test]
    fn what_is_covered_is_dropped_and_memory_is_bounded() {
        let mut map = PerfMap::default();
        // Nothing is covered by a part, and what is covered whole is gone.
        map.add(b"1000 10 a\n1010 10 b\n1000 20 c\n1018 8 d\n", MOST_MEMORY);
        assert_eq!(map.symbols.keys().copied().collect::<Vec<_>>(), [0x1000, 0x1018]);
        assert_eq!(found(&map, 0x1012).map(|found| found.0).as_deref(), Some("c"));
        for _ in 0..1000 {
            assert!(map.add(&b"0 1 a\n".repeat(1000), 1 << 10));
        }
        assert!(map.memory() <= 1 << 10 && map.symbols.len() == 3, "{}", map.memory());
        let many: String = (0..10_000).map(|at| format!("{:x} 1 name{at}\n", 0x2000 + at)).collect();
        assert!(!map.add(many.as_bytes(), 64 << 10));
        assert!(map.memory() <= 64 << 10);
        assert_eq!(map.memory(), map.symbols.values().map(Symbol::memory).sum::<usize>());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(bytes in prop::collection::vec(any::<u8>(), 0..200), address in any::<u64>()) {
            let mut map = PerfMap::default();
            map.add(&bytes, MOST_MEMORY);
            let _ = map.find(address);
        }
    }
}
