//! Heap profiles as text: `heap profile: 3: 120 [9: 360] @ heap/1048576`, then a line a stack with objects and bytes in use, and allocated in brackets.
//! Go writes them for `/debug/pprof/heap?debug=1`, gperftools and tcmalloc as files.

use super::*;

pub(in crate::formats) static HEAP: ProfileFormat = ProfileFormat {
    name: "heap profile as text",
    made_by: "/debug/pprof/heap?debug=1, HEAPPROFILE=FILE with tcmalloc",
    sniff: |head| head_lines(head).next().is_some_and(|line| Head::parse(line).is_some()),
    read,
};

struct Head {
    has_allocated: bool,
    /// Bytes between two samples; 0 where all were taken or it is not told.
    rate: i64,
    period: i64,
}

/// Objects and bytes in use, then the same allocated.
type Figures = [i64; 4];

impl Head {
    fn parse(line: &str) -> Option<Head> {
        let mut scan = Scan(&line[line.find("heap profile:")?..]);
        scan.literal("heap profile:")?;
        let [objects, bytes, all_objects, all_bytes] = figures(&mut scan)?;
        let kind = scan.word();
        let rate = match scan.literal("/") {
            Some(()) => scan.number().unwrap_or(0),
            None => 0,
        };
        let (rate, period) = match kind {
            "heapz_v2" | "heap_v2" => (rate, rate),
            // Go tells twice its rate.
            "heap" => (rate / 2, rate / 2),
            "heapprofile" | "growth" | "growthz" | "fragmentation" | "fragmentationz" => (0, 1),
            _ => return None,
        };
        let has_allocated = kind.starts_with("heap")
            && ((all_objects != objects && all_objects != 0) || (all_bytes != bytes && all_bytes != 0));
        Some(Head { has_allocated, rate, period })
    }
}

/// `3: 120 [9: 360] @`.
fn figures(scan: &mut Scan<'_>) -> Option<Figures> {
    let mut figures = [0; 4];
    for (index, end) in [":", "[", ":", "]"].into_iter().enumerate() {
        figures[index] = scan.number()?;
        scan.literal(end)?;
    }
    scan.literal("@")?;
    Some(figures)
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut line = String::new();
    bytes.line(&mut line)?;
    let head = Head::parse(&line).ok_or_else(|| ReadError::malformed("no head of a heap profile"))?;
    // Allocated first: pprof shows the last type if nobody asks.
    let types: &[(&str, &str)] = match head.has_allocated {
        true => &[
            ("alloc_objects", "count"),
            ("alloc_space", "bytes"),
            ("inuse_objects", "count"),
            ("inuse_space", "bytes"),
        ],
        false => &[("objects", "count"), ("space", "bytes")],
    };
    let mut legacy = Legacy::counting(types)?;
    legacy.period("space", "bytes", head.period)?;
    legacy.drop_frames(drop_frames::ALLOCATION, drop_frames::ALLOCATION_KEEP)?;
    while bytes.line(&mut line)? {
        if maps::begins(&line) {
            break;
        }
        if line.starts_with('#') {
            legacy.symbol(&line)?;
        } else if !is_space_or_comment(&line) {
            legacy.end_block();
            if sample(&line, &head, &mut legacy)?.is_none() {
                legacy.notes.damaged(bytes, &line, "objects: bytes [objects: bytes] @ addresses");
            }
        }
    }
    legacy.rest(bytes, &mut line)?;
    legacy.finish(HEAP.name, bytes)
}

fn sample(line: &str, head: &Head, legacy: &mut Legacy) -> Result<Option<()>, TooLarge> {
    let mut scan = Scan(line);
    let Some([objects, bytes, all_objects, all_bytes]) = figures(&mut scan) else { return Ok(None) };
    let scaled = |count: i64, size: i64| match (count, size) {
        (0, 0) => Some((0, 0)),
        // Bytes of nothing.
        (0, _) => None,
        (count, size) if head.rate > 0 => Some(scan::unsample(count, size, head.rate)),
        (count, size) => Some((count, size)),
    };
    let (Some(in_use), Some(allocated)) = (scaled(objects, bytes), scaled(all_objects, all_bytes)) else {
        return Ok(None);
    };
    if !legacy.push_calls(scan.0) {
        return Ok(None);
    }
    let size = match (objects, all_objects) {
        (0, 0) => 0,
        (0, all) if head.has_allocated => all_bytes / all,
        (0, _) => 0,
        (objects, _) => bytes / objects,
    };
    let labels = legacy.size_label(size)?;
    match head.has_allocated {
        true => legacy.sample(&[allocated.0, allocated.1, in_use.0, in_use.1], labels)?,
        false => legacy.sample(&[in_use.0, in_use.1], labels)?,
    }
    Ok(Some(()))
}
