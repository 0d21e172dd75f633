//! Heap and contention of old Java agents: `--- heapz 1 ---`, attributes, samples (`bytes objects @ addresses`), then the functions of the addresses.

use super::*;

pub(in crate::formats) static JAVA: ProfileFormat = ProfileFormat {
    name: "Java heapz and contentionz",
    made_by: "an agent that writes /heapz, /contentionz",
    sniff,
    read,
};

fn sniff(head: &[u8]) -> bool {
    let mut lines = head_lines(head);
    let is_ours = lines.next().is_some_and(|line| is_head(line.trim()));
    is_ours && lines.take(8).any(|line| line.replace(' ', "").starts_with("format=java"))
}

fn is_head(line: &str) -> bool {
    matches!(line, "--- heapz 1 ---" | "--- contentionz 1 ---")
}

/// Bytes between two samples of a Java heap.
const HEAP_RATE: i64 = 512 << 10;

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut line = String::new();
    bytes.line(&mut line)?;
    let is_heap = line.contains("heapz");
    let mut legacy = Legacy::counting(match is_heap {
        true => &[("inuse_objects", "count"), ("inuse_space", "bytes")],
        false => &[("contentions", "count"), ("delay", "microseconds")],
    })?;
    match is_heap {
        true => legacy.drop_frames(drop_frames::ALLOCATION, drop_frames::ALLOCATION_KEEP)?,
        false => legacy.drop_frames(drop_frames::LOCK, "")?,
    }
    let mut period = 0;
    let mut more = bytes.line(&mut line)?;
    while more {
        let text = line.trim();
        if let Some((key, value)) = text.split_once('=') {
            attribute(key.trim(), value.trim(), &mut period, &mut legacy)?;
        } else if !text.is_empty() {
            break;
        }
        more = bytes.line(&mut line)?;
    }
    while more {
        let text = line.trim();
        let mut scan = Scan(text);
        match (scan.number(), scan.number(), scan.literal("@")) {
            _ if text.is_empty() => {}
            (Some(second), Some(first), Some(())) if is_heap && first == 0 && second != 0 => {
                legacy.notes.damaged(bytes, text, "objects that have these bytes");
            }
            (Some(second), Some(first), Some(())) => {
                for word in scan.0.split_whitespace() {
                    legacy.addresses.extend(scan::hex(word));
                }
                sample(first, second, is_heap, period, &mut legacy)?;
            }
            _ => break,
        }
        more = bytes.line(&mut line)?;
    }
    if more {
        location(&line, &mut legacy)?;
        locations(bytes, &mut line, &mut legacy)?;
    }
    legacy.finish(JAVA.name, bytes)
}

fn attribute(key: &str, value: &str, period: &mut i64, legacy: &mut Legacy) -> Result<(), TooLarge> {
    match (key, value.parse::<i64>()) {
        ("resolution", _) => {
            let unit = legacy.stacks.builder.string(value)?;
            legacy.stacks.builder.profile().sample_types[1].unit = unit;
        }
        ("sampling period", Ok(value)) => {
            *period = value;
            legacy.period("contentions", "count", value)?;
        }
        ("ms since reset", Ok(value)) => {
            legacy.stacks.builder.profile().duration_ns = Some(value.saturating_mul(1_000_000));
        }
        _ => {}
    }
    Ok(())
}

fn sample(first: i64, second: i64, is_heap: bool, period: i64, legacy: &mut Legacy) -> Result<(), TooLarge> {
    if is_heap {
        let labels = legacy.size_label(second.checked_div(first).unwrap_or(0))?;
        let (objects, bytes) = scan::unsample(first, second, HEAP_RATE);
        legacy.sample(&[objects, bytes], labels)
    } else {
        let factor = if period == 0 { 1 } else { period };
        legacy.sample(&[first.saturating_mul(factor), second.saturating_mul(factor)], LabelSetId(0))
    }
}

/// Reads the functions of the addresses to the end of the file. Addresses are only numbers here: pprof takes them out.
pub(super) fn locations(
    bytes: &mut Bytes<'_>,
    line: &mut String,
    legacy: &mut Legacy,
) -> Result<(), ReadError> {
    while bytes.line(line)? {
        location(line, legacy)?;
    }
    legacy.maps = Maps::none();
    Ok(())
}

/// `0x00007f21  java.util.HashMap.get (HashMap.java:303)`; a library's path stands in the place of file and line; or a state of the VM, `GC`.
fn location(line: &str, legacy: &mut Legacy) -> Result<(), TooLarge> {
    let Some((address, what)) = line.trim().split_once(char::is_whitespace) else { return Ok(()) };
    let Some(address) = scan::hex(address) else { return Ok(()) };
    let what = what.trim();
    let in_brackets = what.strip_suffix(')').and_then(|what| what.rsplit_once(" ("));
    let (function, file, line) = match in_brackets {
        Some((function, place)) => {
            match place.rsplit_once(':').map(|(file, line)| (file, line.parse::<i64>())) {
                Some((file, Ok(line))) => (function.trim(), file, line.max(0)),
                _ => (function.trim(), place.rsplit('/').next().unwrap_or(place), 0),
            }
        }
        None if what.contains("generated stub/JIT") => ("STUB", "", 0),
        None => (what, "", 0),
    };
    let line = legacy.stacks.line(function, file, line)?;
    legacy.stacks.builder.spend(SYMBOL)?;
    legacy.symbols.insert(address, vec![line]);
    Ok(())
}
