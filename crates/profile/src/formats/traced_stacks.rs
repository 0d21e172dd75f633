//! Stacks as tracers print them, a frame a line and the value below: offcputime, stackcount, wakeuptime of bcc, and maps of
//! bpftrace by stack. The innermost frame comes first.
//!
//! ```text
//!     schedule                     @[
//!     futex_wait                       ip_output+1
//!     worker                           tcp_write_xmit+482
//!     -                orders (4711)   ]: 1708
//!         8812345
//! ```

use super::bytes::Bytes;
use super::error::ReadError;
use super::notes::Notes;
use super::stacks::Stacks;
use super::{Loaded, ProfileFormat, head_lines};
use whyslow_model::profile::{LabelSetId, LocationId};

pub(super) static TRACED_STACKS: ProfileFormat = ProfileFormat {
    name: "stacks of bcc or bpftrace",
    made_by: "offcputime-bpfcc 10, stackcount-bpfcc FUNCTION, bpftrace -e '… { @[kstack] = count(); }'",
    sniff,
    read,
};

/// Frames of one stack: more are cut, as tracers do at 127.
const MOST_FRAMES: usize = 1024;

/// What a line is.
#[derive(PartialEq, Debug)]
enum Said<'l> {
    /// A function, without its offset.
    Frame(&'l str),
    /// `@[` of bpftrace.
    Open,
    /// Below a stack: its value.
    Value(i64),
    /// `-   orders (4711)`: whose stack it is.
    Task(&'l str),
    /// `--` between kernel and user frames.
    Between,
    Blank,
    Other,
}

fn said(line: &str) -> Said<'_> {
    let text = line.trim();
    if text.is_empty() {
        return Said::Blank;
    }
    if text.starts_with('@') && text.ends_with('[') {
        return Said::Open;
    }
    let number = |text: &str| text.parse::<i64>().ok().filter(|value| *value >= 0);
    if let Some((key, value)) = text.split_once("]: ") {
        // Behind the stack may stand a name: `, orders]: 12`.
        let is_key = key.is_empty() || key.starts_with(',');
        return number(value).filter(|_| is_key).map_or(Said::Other, Said::Value);
    }
    if !line.starts_with([' ', '\t']) {
        return Said::Other;
    }
    if let Some(value) = number(text) {
        return Said::Value(value);
    }
    if matches!(text, "--" | "---") {
        return Said::Between;
    }
    if let Some(task) = text.strip_prefix("- ").or_else(|| text.strip_prefix("-\t")) {
        return Said::Task(task.trim());
    }
    // Old versions show the address before the name.
    let name = match text.split_once(' ') {
        Some((address, name)) if is_hexadecimal(address) => name.trim(),
        _ => text,
    };
    // bpftrace shows the file of a user's frame behind it.
    let name = name.split_once(" (").map_or(name, |(name, _)| name);
    let name = match name.rsplit_once('+') {
        Some((name, offset)) if is_offset(offset) => name,
        _ => name,
    };
    let plain = !name.is_empty()
        && name.len() <= 512
        && !name.contains(['\t', ';', '|', '"', '=', '{', '}'])
        && (!name.contains(' ') || name.contains(['(', '<']));
    let is_name =
        name.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '[' | '~' | '<'));
    if plain && (is_name || is_hexadecimal(name)) { Said::Frame(name) } else { Said::Other }
}

fn is_hexadecimal(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    digits.len() >= 8 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_offset(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// True where stacks end in values, and little stands beside them.
fn sniff(head: &[u8]) -> bool {
    let (mut frames, mut stacks, mut others, mut open) = (0usize, 0usize, 0usize, 0usize);
    for line in head_lines(head).take(512) {
        match said(line) {
            Said::Frame(_) => open += 1,
            Said::Value(_) if open > 0 => {
                stacks += 1;
                frames += std::mem::take(&mut open);
            }
            Said::Value(_) | Said::Other => {
                others += 1;
                open = 0;
            }
            Said::Open => open = 0,
            Said::Blank => open = 0,
            Said::Task(_) | Said::Between => {}
        }
    }
    // One line of frames over a number may be anything; the tools say two or three things above and below.
    stacks >= 1 && frames >= 2 * stacks && others <= 6 + stacks / 4
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let (kind, unit) = measured(bytes.ahead());
    let mut stacks = Stacks::counting(&[(kind, unit)])?;
    let mut notes = Notes::default();
    let mut frames: Vec<LocationId> = Vec::new();
    let mut task: Option<String> = None;
    let mut line = String::new();
    while bytes.line(&mut line)? {
        match said(&line) {
            Said::Frame(name) if frames.len() < MOST_FRAMES => frames.push(stacks.place(name, "", 0)?),
            Said::Frame(_) | Said::Between => {}
            Said::Task(name) => task = Some(name.split(" (").next().unwrap_or(name).trim_end().to_string()),
            Said::Value(value) if !frames.is_empty() => {
                if let Some(name) = task.take().filter(|name| !name.is_empty()) {
                    frames.push(stacks.place(&name, "", 0)?);
                }
                let stack = stacks.builder.stack(&frames)?;
                stacks.builder.sample(stack, LabelSetId(0), &[value])?;
                frames.clear();
            }
            Said::Value(_) => notes.damaged(bytes, line.trim_end(), "frames above their value"),
            Said::Open | Said::Blank | Said::Other => {
                frames.clear();
                task = None;
            }
        }
    }
    Ok(Loaded::stacks(TRACED_STACKS.name, stacks.builder.finish()).with_notes(notes.end(bytes)))
}

/// What the values are, as the tool's first line says it: `Tracing off-CPU time (us) of …`.
fn measured(head: &[u8]) -> (&'static str, &'static str) {
    let mut lines = head_lines(head).take(8);
    match lines.find(|line| line.starts_with("Tracing")) {
        Some(line) if line.contains("off-CPU time (us)") => ("off-cpu", "microseconds"),
        Some(line) if line.contains("blocked time (us)") => ("blocked", "microseconds"),
        _ => ("events", "count"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFF: &str = "Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.\n^C\n    schedule\n    futex_wait_queue_me\n    --\n    worker_loop\n    -                orders (4711)\n        8812345\n\n    schedule\n    ep_poll\n    -                orders (4711)\n        20123\n";
    const MAP: &str = "Attaching 1 probe...\n^C\n\n@[\n    ip_output+1\n    tcp_write_xmit+482\n]: 1708\n";

    #[test]
    fn both_shapes_are_known_and_others_are_not() {
        assert!(sniff(OFF.as_bytes()) && sniff(MAP.as_bytes()));
        assert_eq!(measured(OFF.as_bytes()), ("off-cpu", "microseconds"));
        assert_eq!(measured(MAP.as_bytes()), ("events", "count"));
        for other in [
            "main;run;read 17\n",
            " r  b   swpd   free\n 2  0      0 2794468\n",
            "    usecs : count distribution\n  0 -> 1 : 5 |**|\n",
            "#!/bin/sh\nif x; then\n  echo a\n  echo b\n  3\nfi\n",
            "  1)  0.042 us    |    rw_verify_area();\n",
            "",
        ] {
            assert!(!sniff(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn lines_are_frames_values_and_tasks() {
        assert_eq!(said("    tcp_write_xmit+482"), Said::Frame("tcp_write_xmit"));
        assert_eq!(said("    ffffffff81234567 schedule+0x1a"), Said::Frame("schedule"));
        assert_eq!(said("    main+0x1d (/usr/bin/orders)"), Said::Frame("main"));
        assert_eq!(said("    -                Web Content (7)"), Said::Task("Web Content (7)"));
        assert_eq!(said(", orders]: 12"), Said::Value(12));
        assert_eq!(said("]: -1"), Said::Other);
        assert_eq!(said("        20123"), Said::Value(20123));
        assert_eq!(said("20123"), Said::Other);
    }
}
