//! The text of `perf trace`: a line a call, with its time since the beginning, its length and its arguments by name.
//!
//! ```text
//!      0.176 ( 0.009 ms): ls/47874 openat(dfd: CWD, filename: 0x6e6100b1, flags: RDONLY) = 3
//!   2850.656 ( 1.915 ms): futex(uaddr: 0x653ae9c4, op: WAIT|PRIVATE_FLAG, val: 1)         = 0
//! ```

use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use whyslow_model::event::{CallFlags, Tid};
use whyslow_model::{Call, ClockKind, Errno, Event, Nanos, Ret, Syscall, Timestamp};

pub(super) static PERF_TRACE: Tool =
    Tool { begins: |line| Entry::parse(line.text).is_some(), row: |_| false, open: || Box::new(PerfTrace) };

struct PerfTrace;

/// One line, taken apart.
#[derive(Debug, PartialEq)]
struct Entry<'l> {
    /// Nanoseconds since the trace began; unknown (`?`) where the call began before.
    at: Option<u64>,
    took: Option<u64>,
    tid: Tid,
    name: &'l str,
    args: &'l str,
    /// What stands behind `=`; `None` for a call whose end is on a line of its own.
    result: Option<&'l str>,
    /// The end of a call whose beginning stands above.
    continued: bool,
}

impl<'l> Entry<'l> {
    fn parse(text: &'l str) -> Option<Entry<'l>> {
        let (at, rest) = text.trim_start().split_once(char::is_whitespace)?;
        let rest = rest.trim_start().strip_prefix('(')?;
        let (took, rest) = rest.split_once("):")?;
        let nanos = |ms: &str| number(ms).map(|ms| (ms.max(0.0) * 1e6) as u64);
        let took = match took.trim() {
            "" => None,
            took => Some(nanos(took.strip_suffix("ms")?.trim())?),
        };
        let at = if at == "?" { None } else { Some(nanos(at)?) };
        let (before, behind) = rest.split_once('(')?;
        let (who, name) = match before.trim().rsplit_once(char::is_whitespace) {
            Some((who, name)) => (who, name),
            None => ("", before.trim()),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return None;
        }
        let task = who.split(" ...").next().unwrap_or(who).trim();
        let tid = task.rsplit(['/', ' ']).next().and_then(|tid| tid.parse().ok()).unwrap_or(0);
        let (args, result) = match behind.rsplit_once(" = ") {
            Some((args, result)) => (args.trim_end(), Some(result.trim())),
            None => (behind, None),
        };
        let args = args.trim_end_matches([')', '.', ' ']);
        Some(Entry { at, took, tid, name, args, result, continued: who.contains("[continued]") })
    }

    /// The arguments without their names: `3, 0x6e610c99, 4096`.
    fn plain_args(&self) -> String {
        let of = |arg: &'l str| match arg.split_once(": ") {
            Some((name, value)) if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
                value
            }
            _ => arg,
        };
        let args: Vec<&str> = self.args.split(", ").map(of).collect();
        args.join(", ")
    }
}

/// `3`, `0x7f8e6e5e6000`, `-1 ENOENT (No such file or directory)`, `?`.
fn result(text: &str) -> (Ret, Errno) {
    let mut words = text.split_ascii_whitespace();
    let value = words.next().unwrap_or("?");
    let parsed = match value.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok().map(|value| value as i64),
        None => value.parse().ok(),
    };
    let errno = words.next().filter(|_| parsed == Some(-1)).map(|name| Errno::lookup(name.as_bytes()));
    (parsed.map_or(Ret::Unknown, Ret::Value), errno.unwrap_or(Errno::NONE))
}

impl Block for PerfTrace {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some(entry) = Entry::parse(line.text) else { return Step::Other };
        // Its end has the result.
        let Some(shown) = entry.result else { return Step::Used };
        out.clock(ClockKind::Relative);
        let args = entry.plain_args();
        let (ret, errno) = result(shown);
        let flags = if entry.continued { CallFlags::START_NOT_SEEN } else { CallFlags::default() };
        let call = Call {
            source: out.info.id,
            line: line.number,
            end_line: line.number,
            tid: entry.tid,
            ts: entry.at.map_or(Timestamp::UNKNOWN, Timestamp::new),
            dur: entry.took.map_or(Nanos::UNKNOWN, Nanos::new),
            syscall: Syscall::lookup(entry.name.as_bytes()).unwrap_or(Syscall::UNLISTED),
            name: entry.name.as_bytes(),
            args: args.as_bytes(),
            ret,
            errno,
            flags,
            raw: line.text.as_bytes(),
            ..Call::new("", "")
        };
        out.give(Event::Call(&call));
        Step::Used
    }

    fn end(&mut self, _: &mut Out<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_and_without_a_task() {
        let entry = Entry::parse(
            "    0.159 ( 0.009 ms): JS Helper/47874 access(filename: 0x6e611290, mode: R)     = -1 ENOENT",
        );
        let entry = entry.expect("a call");
        assert_eq!(
            (entry.at, entry.took, entry.tid, entry.name),
            (Some(159_000), Some(9_000), 47_874, "access")
        );
        assert_eq!(entry.plain_args(), "0x6e611290, R");
        assert_eq!(result(entry.result.unwrap_or("")).0, Ret::Value(-1));
        assert!(result(entry.result.unwrap_or("")).1.is_error());

        let entry =
            Entry::parse(" 2852.690 ( 0.040 ms): write(fd: 159, buf: 0xd7a30020, count: 65536)   = 65536");
        let entry = entry.expect("a call");
        assert_eq!((entry.tid, entry.plain_args().as_str()), (0, "159, 0xd7a30020, 65536"));

        let entry = Entry::parse("        ? (         ): ls/47874  ... [continued]: execve())        = 0");
        let entry = entry.expect("an end");
        assert_eq!(
            (entry.at, entry.tid, entry.name, entry.args, entry.continued),
            (None, 47_874, "execve", "", true)
        );
        for other in ["", "x", "10:00:01 (x): y(z) = 0", "1.0 ( 2 s): a() = 0", "0.1 (0.1 ms): = 0"] {
            assert_eq!(Entry::parse(other), None, "{other}");
        }
    }
}
