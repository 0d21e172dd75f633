//! The head line of a sample: `java 12688/12701 [002]  6544.038708:     250000 cpu-clock:pppH: `. All but the name, the thread and the event may be missing.

/// A parsed head line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Head<'a> {
    /// The thread's name; it may have spaces.
    pub(super) comm: &'a str,
    pub(super) pid: Option<i64>,
    pub(super) tid: i64,
    /// ns of perf's clock.
    pub(super) time: Option<i64>,
    pub(super) period: Option<i64>,
    /// The event without its modifiers: `cpu-clock`.
    pub(super) event: &'a str,
    /// What stands behind the event: the frame of a sample without a call chain, or a tracepoint's fields.
    pub(super) rest: &'a str,
}

impl<'a> Head<'a> {
    pub(super) fn parse(line: &'a str) -> Option<Head<'a>> {
        let line = line.trim();
        let (before, time, after) = match split_at_time(line) {
            Some((before, time, after)) => (before, Some(time), after),
            None => {
                let (before, after) = split_at_thread(line)?;
                (before, None, after)
            }
        };
        let (comm, pid, tid) = thread(before)?;
        let (word, rest) = split_word(after);
        let (period, (event, rest)) = match word.parse() {
            Ok(period) => (Some(period), split_word(rest)),
            Err(_) => (None, (word, rest)),
        };
        let event = without_modifiers(event.strip_suffix(':')?);
        (!event.is_empty()).then_some(Head { comm, pid, tid, time, period, event, rest })
    }
}

fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// The words with their offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace().map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// What stands before the time, the time, and what stands behind it.
fn split_at_time(line: &str) -> Option<(&str, i64, &str)> {
    words(line).skip(1).find_map(|(at, word)| {
        let time = time_ns(word.strip_suffix(':')?)?;
        Some((line[..at].trim_end(), time, &line[at + word.len()..]))
    })
}

/// `6544.038708`: perf prints six or nine decimals.
fn time_ns(text: &str) -> Option<i64> {
    let (seconds, decimals) = text.split_once('.')?;
    if !(1..=9).contains(&decimals.len()) || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nanos = decimals.parse::<i64>().ok()? * 10_i64.pow(9 - decimals.len() as u32);
    seconds.parse::<u32>().ok().map(|seconds| i64::from(seconds) * 1_000_000_000 + nanos)
}

/// Without a time the first word that is a thread ends the name, and the line ends with the event.
fn split_at_thread(line: &str) -> Option<(&str, &str)> {
    if !line.ends_with(':') {
        return None;
    }
    let (at, word) = words(line).skip(1).find(|(_, word)| ids(word).is_some())?;
    Some(line.split_at(at + word.len()))
}

/// `comm 12688/12701 [002] ..s.`: the name, the process, the thread.
fn thread(before: &str) -> Option<(&str, Option<i64>, i64)> {
    let mut rest = before;
    // The CPU and the flags of the interrupted context stand between the thread and the time.
    for _ in 0..3 {
        let (comm, word) = rest.rsplit_once(char::is_whitespace)?;
        if let Some((pid, tid)) = ids(word) {
            let comm = comm.trim();
            return (!comm.is_empty()).then_some((comm, pid, tid));
        }
        rest = comm.trim_end();
    }
    None
}

fn ids(word: &str) -> Option<(Option<i64>, i64)> {
    let number = |text: &str| text.parse::<i32>().ok().map(i64::from);
    match word.split_once('/') {
        Some((pid, tid)) => Some((Some(number(pid)?), number(tid)?)),
        None => Some((None, number(word)?)),
    }
}

/// `cycles:ppp` is `cycles` (perf-list(1): u k h H G p P S D I W e b); `sched:sched_switch` is a name.
fn without_modifiers(event: &str) -> &str {
    match event.rsplit_once(':') {
        Some((name, modifiers)) if modifiers.bytes().all(|byte| b"ukhHGpPSDIWeb".contains(&byte)) => name,
        _ => event,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_many_versions_are_understood() {
        let head = Head::parse("java 12688/12701 [002] 6544.038708:     250000 cpu-clock:pppH: ").unwrap();
        assert_eq!((head.comm, head.pid, head.tid), ("java", Some(12688), 12701));
        assert_eq!((head.period, head.event, head.rest), (Some(250_000), "cpu-clock", ""));
        assert_eq!(head.time, Some(6_544_038_708_000));
        let head = Head::parse("C2 CompilerThre 12 1.5: cycles: ").unwrap();
        assert_eq!((head.comm, head.tid, head.period, head.event), ("C2 CompilerThre", 12, None, "cycles"));
        let head = Head::parse("  perf  7 [001] d.s1. 5.000001: sched:sched_switch: prev=a").unwrap();
        assert_eq!((head.comm, head.event, head.rest), ("perf", "sched:sched_switch", "prev=a"));
        let head = Head::parse("emulator 321 cycles:").unwrap();
        assert_eq!((head.comm, head.tid, head.event, head.time), ("emulator", 321, "cycles", None));
        for other in ["", "a b c:", "bash-123 [001] 1.5: sched_switch: x", "12 1.5: cycles:", "read(3) = 4"] {
            assert_eq!(Head::parse(other), None, "{other:?}");
        }
    }
}
