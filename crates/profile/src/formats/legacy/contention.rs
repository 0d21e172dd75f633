//! Lock contention as text: `--- mutex:` and `--- contention:` of Go (`?debug=1`), `--- contentionz` of C++. A line a stack: time, how often, addresses.

use super::*;

pub(in crate::formats) static CONTENTION: ProfileFormat = ProfileFormat {
    name: "contention profile as text",
    made_by: "/debug/pprof/mutex?debug=1, /debug/pprof/block?debug=1, /contentionz",
    sniff,
    read,
};

fn sniff(head: &[u8]) -> bool {
    let mut lines = head_lines(head);
    let is_ours = lines.next().is_some_and(|line| {
        ["--- contentionz ", "--- mutex:", "--- contention:"].iter().any(|start| line.starts_with(start))
    });
    // Java's begins alike and says so.
    is_ours && !lines.take(8).any(|line| line.trim_start().starts_with("format"))
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let mut legacy = Legacy::counting(&[("contentions", "count"), ("delay", "nanoseconds")])?;
    legacy.drop_frames(drop_frames::LOCK, "")?;
    let (mut period, mut cycles_per_second) = (1_i64, 0_i64);
    let mut line = String::new();
    bytes.line(&mut line)?;
    while bytes.line(&mut line)? {
        if line.starts_with("---") {
            break;
        }
        if line.starts_with('#') {
            legacy.symbol(&line)?;
            continue;
        }
        if is_space_or_comment(&line) {
            continue;
        }
        if let Some((key, value)) = line.split_once('=') {
            let value = value.trim().parse::<i64>();
            match (key.trim(), value) {
                ("cycles/second", Ok(value)) => cycles_per_second = value,
                ("sampling period", Ok(value)) => period = value,
                ("ms since reset", Ok(value)) => {
                    legacy.stacks.builder.profile().duration_ns = Some(value.saturating_mul(1_000_000));
                }
                ("discarded samples", _) => {}
                _ => legacy.notes.damaged(bytes, &line, "a known attribute of a contention profile"),
            }
            continue;
        }
        legacy.end_block();
        let mut scan = Scan(&line);
        let figures = (scan.number(), scan.number(), scan.literal("@"));
        let (Some(mut delay), Some(mut count), Some(())) = figures else {
            legacy.notes.damaged(bytes, &line, "cycles count @ addresses");
            continue;
        };
        if !legacy.push_calls(scan.0) {
            legacy.notes.damaged(bytes, &line, "cycles count @ addresses");
            continue;
        }
        // Cycles become ns, and what was not sampled is added.
        if period > 0 {
            if cycles_per_second > 0 {
                delay = (delay as f64 * period as f64 / (cycles_per_second as f64 / 1e9)) as i64;
            }
            count = count.saturating_mul(period);
        }
        legacy.sample(&[count, delay], LabelSetId(0))?;
    }
    legacy.period("contentions", "count", period)?;
    legacy.rest(bytes, &mut line)?;
    legacy.finish(CONTENTION.name, bytes)
}
