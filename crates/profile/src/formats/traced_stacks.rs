//! Stacks as tracers print them, a frame a line: offcputime, stackcount, wakeuptime, offwaketime, memleak and criticalstat of
//! bcc, and maps of bpftrace by stack. The innermost frame comes first; the value stands below, or in a line above.
//!
//! ```text
//!     schedule                     @[                       80 bytes in 5 allocations from stack
//!     futex_wait                       ip_output+1                  load_page+0x6d [orders]
//!     worker                           tcp_write_xmit+482           main+0x1f [orders]
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
    /// `]:`: below it stands a histogram.
    Opened,
    /// A row of that histogram: its count.
    Bucket(i64),
    /// `80 bytes in 5 allocations from stack`, above it.
    Held {
        bytes: i64,
        count: i64,
    },
    /// `TASK: orders (pid 7 tid 7) Total Time: 194.427 us`, above it: nanoseconds.
    Critical(i64),
    /// `Top 10 stacks with outstanding allocations:`: all of what is held, anew.
    Snapshot,
    /// `-   orders (4711)`, `orders [4711]`: whose stack it is.
    Task(&'l str),
    /// `target: orders`, `waker: nginx`: a thread at one end of the stack.
    End(&'l str),
    /// Nothing of the stack, in the midst of it: `--` between kernel and user frames, addresses of what is held.
    Between,
    Blank,
    Other,
}

fn said(line: &str) -> Said<'_> {
    let text = line.trim();
    let is_time = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    if text.is_empty() || is_time || text.starts_with("[...") || text.starts_with("====") {
        return Said::Blank;
    }
    if text.starts_with('@') && text.ends_with('[') {
        return Said::Open;
    }
    let number = |text: &str| text.parse::<i64>().ok().filter(|value| *value >= 0);
    if text == "]:" {
        return Said::Opened;
    }
    if let Some((key, value)) = text.split_once("]: ") {
        // Behind the stack may stand a name: `, orders]: 12`.
        let is_key = key.is_empty() || key.starts_with(',');
        return number(value).filter(|_| is_key).map_or(Said::Other, Said::Value);
    }
    if let Some((range, rest)) = text.strip_prefix('[').and_then(|text| text.split_once([')', ']']))
        && let [count, bar, ..] = rest.split_whitespace().collect::<Vec<_>>()[..]
        && bar.starts_with('|')
        && range.starts_with(|first: char| first.is_ascii_digit())
    {
        return number(count).map_or(Said::Other, Said::Bucket);
    }
    if let Some(said) = above(text) {
        return said;
    }
    if !line.starts_with([' ', '\t']) {
        return Said::Other;
    }
    if let Some(value) = number(text) {
        return Said::Value(value);
    }
    if matches!(text, "--" | "---") || (text.starts_with("addr = ") && text.contains(" size = ")) {
        return Said::Between;
    }
    if let Some(task) = text.strip_prefix("- ").or_else(|| text.strip_prefix("-\t")) {
        return if task.trim() == "-" { Said::Between } else { Said::Task(task.trim()) };
    }
    for end in ["target:", "waker:"] {
        if let Some(name) = text.strip_prefix(end) {
            return Said::End(name.trim());
        }
    }
    frame(text)
}

/// A line that stands above the stack that it is of.
fn above(text: &str) -> Option<Said<'_>> {
    let leading =
        |text: &str| -> Option<i64> { text.split(' ').next()?.parse().ok().filter(|value| *value >= 0) };
    if let Some(text) = text.strip_suffix(" allocations from stack") {
        let (bytes, count) = text.split_once(" bytes in ")?;
        return Some(Said::Held { bytes: leading(bytes)?, count: leading(count)? });
    }
    if text.ends_with(" stacks with outstanding allocations:") {
        return Some(Said::Snapshot);
    }
    if text.starts_with("Section start:") || text.starts_with("Section end:") {
        return Some(Said::Between);
    }
    let (_, time) = text.strip_prefix("TASK: ")?.split_once(") Total Time: ")?;
    let time: f64 = time.strip_suffix("us")?.trim().parse().ok()?;
    // The kernel's own limit: nobody keeps interrupts off for a day.
    (0.0..86_400e6).contains(&time).then_some(Said::Critical((time * 1e3) as i64))
}

fn frame(text: &str) -> Said<'_> {
    // Old versions show the address before the name, and newer ones of memleak a number too.
    let name = match text.split_once(' ') {
        Some((address, name)) if is_hexadecimal(address) => name.trim(),
        Some((at, rest)) if at.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with("[<") => {
            rest.split_once("] ").map_or(rest, |(_, name)| name.trim())
        }
        _ => text,
    };
    // A name in brackets behind it is of a process where it is a number, else of a file.
    let name = match name.strip_suffix(']').and_then(|name| name.rsplit_once(" [")) {
        Some((task, pid)) if !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit()) => {
            return Said::Task(task);
        }
        Some((name, _)) => name,
        None => name,
    };
    // bpftrace shows the file of a user's frame behind it.
    let name = name.split_once(" (").map_or(name, |(name, _)| name);
    let name = match name.rsplit_once('+') {
        Some((name, offset)) if is_offset(offset) => name,
        _ => name,
    };
    // A class of Java ends in a semicolon.
    let is_java = name.contains(";::");
    let plain = !name.is_empty()
        && name.len() <= 512
        && !name.contains(['\t', '|', '"', '=', '{', '}'])
        && (is_java || !name.contains(';'))
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

/// True where stacks have values, little stands beside them, and the frames are functions: a list of words over a sum is none.
fn sniff(head: &[u8]) -> bool {
    let (mut frames, mut stacks, mut others, mut open) = (0usize, 0usize, 0usize, 0usize);
    let (mut functions, mut marks) = (0usize, 0usize);
    let mut valued = false;
    for line in head_lines(head).take(512) {
        let said = said(line);
        let ends = !matches!(said, Said::Frame(_) | Said::Task(_) | Said::End(_) | Said::Between);
        if ends && valued && open > 0 {
            (stacks, frames, valued) = (stacks + 1, frames + std::mem::take(&mut open), false);
        }
        match said {
            Said::Frame(name) => {
                open += 1;
                functions += usize::from(name.contains(['_', ':', '(', '[']) || line.contains("+"));
            }
            Said::Value(_) | Said::Bucket(_) if open > 0 => {
                stacks += 1;
                frames += std::mem::take(&mut open);
            }
            Said::Held { .. } | Said::Critical(_) => (valued, marks) = (true, marks + 1),
            Said::Opened | Said::Snapshot | Said::End(_) => marks += 1,
            Said::Bucket(_) => {}
            Said::Value(_) | Said::Other => {
                marks += usize::from(line.starts_with("Tracing ") || line.starts_with("Sampling "));
                others += 1;
                open = 0;
            }
            Said::Open => (open, marks) = (0, marks + 1),
            Said::Blank => open = 0,
            Said::Task(_) => marks += usize::from(line.trim_end().ends_with([')', ']'])),
            Said::Between => {}
        }
    }
    if valued && open > 0 {
        (stacks, frames) = (stacks + 1, frames + open);
    }
    let are_functions = marks > 0 || functions * 2 >= frames;
    // One line of frames over a number may be anything; the tools say two or three things above and below.
    stacks >= 1 && (frames >= 2 * stacks || marks > stacks) && are_functions && others <= 6 + stacks / 4
}

/// A stack that is being read.
#[derive(Default)]
struct Reading {
    frames: Vec<LocationId>,
    task: Option<String>,
    /// Of a value that stands above the stack, or is the sum of a histogram below.
    values: Option<[i64; 2]>,
}

impl Reading {
    /// Keeps the stack with its values, if it has any.
    fn keep(&mut self, stacks: &mut Stacks, values: [i64; 2], types: usize) -> Result<(), ReadError> {
        if let Some(name) = self.task.take().filter(|name| !name.is_empty()) {
            self.frames.push(stacks.place(&name, "", 0)?);
        }
        let stack = stacks.builder.stack(&self.frames)?;
        stacks.builder.sample(stack, LabelSetId(0), values.get(..types).unwrap_or(&values))?;
        self.frames.clear();
        Ok(())
    }

    /// The stack has ended, and its value stood above or beside it.
    fn end(&mut self, stacks: &mut Stacks, types: usize) -> Result<(), ReadError> {
        match self.values.take() {
            Some(values) if !self.frames.is_empty() => self.keep(stacks, values, types)?,
            _ => self.frames.clear(),
        }
        self.task = None;
        Ok(())
    }
}

fn read(bytes: &mut Bytes<'_>) -> Result<Loaded, ReadError> {
    let types = measured(bytes.ahead());
    let mut stacks = Stacks::counting(types)?;
    let mut notes = Notes::default();
    let mut reading = Reading::default();
    let mut line = String::new();
    while bytes.line(&mut line)? {
        match said(&line) {
            Said::Frame(name) if reading.frames.len() < MOST_FRAMES => {
                reading.frames.push(stacks.place(name, "", 0)?)
            }
            Said::Frame(_) | Said::Between => {}
            Said::End(name) => reading.frames.push(stacks.place(name, "", 0)?),
            Said::Task(name) => {
                reading.task = Some(name.split(" (").next().unwrap_or(name).trim_end().to_string());
            }
            Said::Value(value) if !reading.frames.is_empty() => {
                reading.values = None;
                reading.keep(&mut stacks, [value, 0], types.len())?;
            }
            Said::Value(_) => notes.damaged(bytes, line.trim_end(), "frames above their value"),
            Said::Opened => reading.values = Some([0, 0]),
            Said::Bucket(count) => {
                if let Some([sum, _]) = &mut reading.values {
                    *sum = sum.saturating_add(count);
                }
            }
            Said::Held { bytes, count } => {
                reading.end(&mut stacks, 2)?;
                reading.values = Some([count, bytes]);
            }
            Said::Critical(ns) => {
                reading.end(&mut stacks, 1)?;
                reading.values = Some([ns, 0]);
            }
            // The one before is told again, as far as it is still held.
            Said::Snapshot => {
                stacks = Stacks::counting(HELD)?;
                reading = Reading::default();
            }
            // Blank lines stand between the head of a critical section and its stack.
            Said::Blank if reading.values.is_some() && reading.frames.is_empty() => {}
            Said::Open | Said::Blank | Said::Other => reading.end(&mut stacks, types.len())?,
        }
    }
    reading.end(&mut stacks, types.len())?;
    Ok(Loaded::stacks(TRACED_STACKS.name, stacks.builder.finish()).with_notes(notes.end(bytes)))
}

/// The sample types of what is held, as a heap profile of pprof names them.
const HELD: &[(&str, &str)] = &[("inuse_objects", "count"), ("inuse_space", "bytes")];

/// What the values are, as the tool's first line says it: `Tracing off-CPU time (us) of …`.
fn measured(head: &[u8]) -> &'static [(&'static str, &'static str)] {
    let says = head_lines(head).take(64).find_map(|line| match line {
        line if line.starts_with("Tracing") && line.contains("off-CPU time (us)") => {
            Some(&[("off-cpu", "microseconds")][..])
        }
        line if line.starts_with("Tracing") && line.contains("blocked time (us)") => {
            Some(&[("blocked", "microseconds")][..])
        }
        line if line.ends_with(" allocations from stack") => Some(HELD),
        line if line.starts_with("TASK: ") && line.contains(" Total Time: ") => {
            Some(&[("critical section", "nanoseconds")][..])
        }
        _ => None,
    });
    says.unwrap_or(&[("events", "count")])
}

#[cfg(test)]
mod tests {
    use super::super::testing::{stacks_of, text};
    use super::*;

    const OFF: &str = "Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.\n^C\n    schedule\n    futex_wait_queue_me\n    --\n    worker_loop\n    -                orders (4711)\n        8812345\n\n    schedule\n    ep_poll\n    -                orders (4711)\n        20123\n";
    const MAP: &str = "Attaching 1 probe...\n^C\n\n@[\n    ip_output+1\n    tcp_write_xmit+482\n]: 1708\n";

    #[test]
    fn both_shapes_are_known_and_others_are_not() {
        assert!(sniff(OFF.as_bytes()) && sniff(MAP.as_bytes()));
        assert_eq!(measured(OFF.as_bytes()), [("off-cpu", "microseconds")]);
        assert_eq!(measured(MAP.as_bytes()), [("events", "count")]);
        for other in [
            "main;run;read 17\n",
            " r  b   swpd   free\n 2  0      0 2794468\n",
            "    usecs : count distribution\n  0 -> 1 : 5 |**|\n",
            "#!/bin/sh\nif x; then\n  echo a\n  echo b\n  3\nfi\n",
            "  1)  0.042 us    |    rw_verify_area();\n",
            "Menu\n    soup\n    bread\n    cheese\n        12\n",
            "  80 bytes in 5 files from disk sda\n",
            "",
        ] {
            assert!(!sniff(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn of_what_is_held_the_last_look_counts() {
        let file = "Attaching to pid 7, Ctrl+C to quit.\n\
             [11:16:33] Top 2 stacks with outstanding allocations:\n\
             \taddr = 948cd0 size = 16\n\t80 bytes in 5 allocations from stack\n\t\t load+0x6d [orders]\n\t\t main+0xf0 [orders]\n\n\
             [11:16:34] Top 2 stacks with outstanding allocations:\n\
             \t160 bytes in 10 allocations from stack\n\t\t load+0x6d [orders]\n\t\t main+0xf0 [orders]\n\
             \t32 bytes in 1 allocations from stack\n\t\t 0 [<00007f12ab34cd56>] open_log+0x1\n\t\t main+0x11 [orders]\n";
        assert!(sniff(file.as_bytes()));
        let profile = stacks_of(file);
        assert_eq!(text(&profile), "main load = 10 160\nmain open_log = 1 32\n");
        assert_eq!(profile.str(profile.sample_types[1].unit), "bytes");
    }

    #[test]
    fn wakers_tasks_histograms_and_critical_sections() {
        let woken = "Tracing blocked time (us) by kernel stack... Hit Ctrl-C to end.\n^C\n    target:          orders\n    ffffffff81075eb8 child_wait_callback\n    ffffffff810b5462 __wake_up_common\n    waker:           ls\n        2015\n";
        assert!(sniff(woken.as_bytes()));
        assert_eq!(text(&stacks_of(woken)), "ls __wake_up_common child_wait_callback orders = 2015\n");
        let counted = "  __schedule\n  schedule\n  ret_from_fork\n    --\n    kworker/0:2 [25482]\n    1\n\n06:05:14\n  __schedule\n  schedule\n    java [7]\n    4\n";
        assert!(sniff(counted.as_bytes()));
        assert_eq!(
            text(&stacks_of(counted)),
            "kworker/0:2 ret_from_fork schedule __schedule = 1\njava schedule __schedule = 4\n"
        );
        let spread = "Attaching 5 probes...\n\n@usecs[\n    submit_bio+115\n    xfsaild+428\n]: \n[64K, 128K)   1 |@@ |\n[1M, 2M)   2 |@@@@|\n\n@usecs[\n    submit_bio+1\n    kthread+2\n]:\n[0, 1)   3 |@|\n";
        assert!(sniff(spread.as_bytes()));
        assert_eq!(text(&stacks_of(spread)), "xfsaild submit_bio = 3\nkthread submit_bio = 3\n");
        let critical = "Finding critical section with IRQ disabled for > 100us\n===================================\nTASK: orders (pid  5903 tid  5903) Total Time: 194.427  us\n\nSection start: __schedule -> schedule\nSection end:   a -> b\n  trace_hardirqs_on+0xdc\n  __schedule+0x8c8\n===================================\n";
        assert!(sniff(critical.as_bytes()));
        assert_eq!(text(&stacks_of(critical)), "__schedule trace_hardirqs_on = 194427\n");
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
