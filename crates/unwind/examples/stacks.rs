//! Prints the stacks of all blocked threads of a process: `cargo run -p whyslow-unwind --example stacks -- PID`.

use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::HashMap;
use std::io::Read;
use std::time::{Duration, Instant};
use whyslow_unwind::{Image, Process, StackEntry, StackOutcome, UnwindLimits, Unwinder};

/// Long enough for large files and for runtimes.
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> std::io::Result<()> {
    let pid = std::env::args().nth(1).and_then(|pid| pid.parse().ok());
    let Some(pid) = pid else { return Err(std::io::Error::other("usage: stacks PID")) };
    let process = Process::open(pid)?;
    let mut unwinder = Unwinder::new(UnwindLimits::default());
    unwinder.began(pid);
    let begin = Instant::now();
    while !unwinder.ready(pid) && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
        unwinder.look();
    }
    // A runtime is looked for after the code was read, and again after a while.
    let known = begin.elapsed();
    let mut notes = Vec::new();
    while notes.is_empty() && begin.elapsed() < known + Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(5));
        unwinder.look();
        notes = unwinder.notes();
    }
    for note in notes {
        println!("{}{}", note.runtime, note.unreadable.map_or_else(String::new, |why| format!(": {why}")));
    }
    let mut symbols = Symbols { process: &process, files: HashMap::new() };
    for tid in process.threads() {
        let name = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
        let mut stack = Vec::new();
        let mut took = Duration::ZERO;
        let mut outcome = StackOutcome::Moved;
        for _ in 0..20 {
            let begin = Instant::now();
            outcome = unwinder.blocked(pid, tid, &mut stack);
            took = begin.elapsed();
            if outcome != StackOutcome::Moved {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        println!("thread {tid} {}: {outcome:?}, {} µs", name.trim(), took.as_micros());
        for (at, entry) in stack.iter().enumerate() {
            match entry {
                StackEntry::Native(address) => println!("    {}", symbols.name(*address - u64::from(at > 0))),
                StackEntry::Language(id) => {
                    let Some(frame) = unwinder.frames().get(*id) else { continue };
                    println!("  * {} ({}:{})", frame.function, frame.file, frame.line);
                }
            }
        }
    }
    Ok(())
}

/// Functions of a file, by address: first address, bytes, name.
type Functions = Vec<(u64, u64, String)>;

struct Symbols<'a> {
    process: &'a Process,
    files: HashMap<Box<str>, Functions>,
}

impl Symbols<'_> {
    fn name(&mut self, address: u64) -> String {
        let Some(mapping) = self.process.mapping(address) else { return format!("{address:#x}") };
        let named = mapping.name();
        let Ok(image) = Image::open(self.process, mapping) else { return format!("{address:#x} [{named}]") };
        let functions = self.files.entry(mapping.path.clone()).or_insert_with(|| {
            let mut bytes = Vec::new();
            let read = self.process.open_file(mapping).and_then(|mut file| file.read_to_end(&mut bytes));
            match (read, object::File::parse(&*bytes)) {
                (Ok(_), Ok(file)) => functions(&file),
                _ => Vec::new(),
            }
        });
        let at = address.wrapping_sub(image.bias());
        let behind = functions.partition_point(|(start, ..)| *start <= at);
        match behind.checked_sub(1).map(|before| &functions[before]) {
            Some((start, size, name)) if at - start < *size => format!("{name} [{named}]"),
            _ => format!("{at:#x} [{named}]"),
        }
    }
}

fn functions(file: &object::File<'_>) -> Functions {
    let mut found: Functions = file
        .symbols()
        .chain(file.dynamic_symbols())
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .map(|symbol| (symbol.address(), symbol.size(), symbol.name().unwrap_or_default().to_owned()))
        .collect();
    found.sort_unstable();
    found
}
