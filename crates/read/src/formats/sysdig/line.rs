//! One line of sysdig, taken apart: number, time, CPU, program, thread, direction, name and parameters.

use std::borrow::Cow;
use whyslow_model::event::Tid;
use whyslow_model::{ClockKind, Syscall, Timestamp};

/// Whether a line is the entry or the exit of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// `>`.
    In,
    /// `<`.
    Out,
    /// The line does not tell (`-p '%evt.type %evt.args'`).
    Untold,
}

/// When a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    /// Nanoseconds since midnight.
    Day(u64),
    /// Seconds and nanoseconds of `-t a` (since the epoch) or `-t r` (since the beginning), in nanoseconds.
    Plain(u64),
}

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Entry<'l> {
    when: Option<When>,
    pub(super) cpu: Option<u16>,
    pub(super) comm: &'l str,
    pub(super) pid: Option<Tid>,
    pub(super) tid: Option<Tid>,
    pub(super) way: Way,
    pub(super) name: &'l str,
    pub(super) params: &'l str,
}

/// Events that are no calls.
pub(super) const NO_CALLS: &[&str] = &[
    "switch",
    "signaldeliver",
    "procinfo",
    "container",
    "cpu_hotplug",
    "page_fault",
    "tracer",
    "notification",
    "infra",
    "k8s",
    "mesos",
    "user_added",
    "user_deleted",
    "group_added",
    "group_deleted",
    "pluginevent",
    "scapevent",
    "sysdigevent",
    "asyncevent",
];

impl<'l> Entry<'l> {
    /// `None` for what is no event.
    pub(super) fn parse(text: &'l str) -> Option<Entry<'l>> {
        let text = text.trim();
        if begins_as_event(text) {
            return Entry::of_default(text);
        }
        let (name, params) = text.split_once(' ').unwrap_or((text, ""));
        let params = params.trim_start();
        let named = Syscall::lookup(name.as_bytes()).is_some()
            || NO_CALLS.contains(&name)
            || matches!(name, "procexit" | "drop");
        let plain = params.is_empty() || params.split_once('=').is_some_and(|(key, _)| is_key(key));
        (named && plain).then_some(Entry {
            when: None,
            cpu: None,
            comm: "",
            pid: None,
            tid: None,
            way: Way::Untold,
            name,
            params,
        })
    }

    /// `34378 12:02:36.269753803 2 echo (7896) > close fd=3(<f>/x)`, with `(pid.tid)`, `(tid:vtid)` and a container
    /// `host (host)` before the program in some forms.
    fn of_default(text: &'l str) -> Option<Entry<'l>> {
        let (_, rest) = word(text)?;
        let (time, rest) = word(rest)?;
        let (cpu, rest) = word(rest)?;
        let (at, way) = ways(rest).next()?;
        let who = rest.get(..at)?.trim_end().strip_suffix(')')?;
        let (before, ids) = who.rsplit_once('(')?;
        // Behind the container's name and number.
        let comm = before.rsplit_once(") ").map_or(before, |(_, comm)| comm).trim();
        let number = |text: &str| text.parse::<Tid>().ok();
        let (pid, tid) = match ids.split_once(['.', ':']) {
            Some((pid, tid)) if ids.contains('.') => (number(pid), number(tid)?),
            Some((tid, _)) => (None, number(tid)?),
            None => (None, number(ids)?),
        };
        let (name, params) = word(rest.get(at + 2..)?.trim_start())?;
        Some(Entry {
            when: Some(when(time)?),
            cpu: Some(cpu.parse().ok()?),
            comm,
            pid,
            tid: Some(tid),
            way,
            name,
            params,
        })
    }
}

/// A line of `sysdig -j` in the default form; other lines as they are. Its fields may be chosen (`-p`): without those of the
/// default form it is none of ours.
pub(super) fn of_json(text: &str) -> Cow<'_, str> {
    let is_object = text.starts_with('{') && text.contains("\"evt.type\"");
    let parsed = is_object.then(|| serde_json::from_str::<serde_json::Value>(text.trim()).ok()).flatten();
    let Some(event) = parsed else { return Cow::Borrowed(text) };
    let word = |name: &str| event.get(name).and_then(serde_json::Value::as_str);
    let number = |name: &str| event.get(name).and_then(serde_json::Value::as_u64);
    let plain = || {
        let time = match (number("evt.outputtime").or_else(|| number("evt.rawtime")), word("evt.time")) {
            (Some(ns), _) => format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000),
            (None, time) => time?.to_string(),
        };
        Some(format!(
            "{} {time} {} {} ({}) {} {} {}",
            number("evt.num")?,
            number("evt.cpu")?,
            word("proc.name").unwrap_or(""),
            number("thread.tid")?,
            word("evt.dir")?,
            word("evt.type")?,
            word("evt.info").or_else(|| word("evt.args")).unwrap_or("")
        ))
    };
    plain().map_or(Cow::Borrowed(text), Cow::Owned)
}

/// True where a line begins with number, time and CPU.
pub(super) fn begins_as_event(text: &str) -> bool {
    let number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let mut words = text.split_ascii_whitespace();
    words.next().is_some_and(number)
        && words.next().is_some_and(|time| when(time).is_some())
        && words.next().is_some_and(number)
}

/// The first word, and what stands behind it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if text.is_empty() {
        return None;
    }
    let end = text.find(' ').unwrap_or(text.len());
    Some((text.get(..end)?, text.get(end..)?.trim_start()))
}

/// Where `>` or `<` stands alone behind a thread.
fn ways(text: &str) -> impl Iterator<Item = (usize, Way)> {
    let at = |mark: &'static str, way: Way| text.find(mark).map(|at| (at + 2, way));
    let found = [at(") > ", Way::In), at(") < ", Way::Out)];
    found.into_iter().flatten().min_by_key(|(at, _)| *at).into_iter()
}

/// `12:02:36.269753803`, `1404830612.269753803`, `0.000000361`.
fn when(word: &str) -> Option<When> {
    let (whole, fraction) = word.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() != 9 || !digits(fraction) {
        return None;
    }
    let nanos: u64 = fraction.parse().ok()?;
    let mut parts = whole.split(':');
    let mut part = |below: u64| {
        let part = parts.next().filter(|part| digits(part))?;
        part.parse::<u64>().ok().filter(|value| *value < below)
    };
    if whole.contains(':') {
        let seconds = part(24)? * 3600 + part(60)? * 60 + part(61)?;
        return parts.next().is_none().then_some(When::Day(seconds * 1_000_000_000 + nanos));
    }
    // u64 nanoseconds end in the year 2554.
    let seconds = part(18_000_000_000)?;
    Some(When::Plain(seconds * 1_000_000_000 + nanos))
}

/// `size`, `fd_in`: the name of a parameter.
pub(super) fn is_key(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The clock of a capture, carried over midnight.
#[derive(Default)]
pub(super) struct Clock {
    last: u64,
    days: u64,
    kind: Option<ClockKind>,
}

impl Clock {
    pub(super) fn kind(&self) -> Option<ClockKind> {
        self.kind
    }

    pub(super) fn at(&mut self, entry: &Entry<'_>) -> Timestamp {
        const DAY: u64 = 86_400_000_000_000;
        /// 2001, as seconds since the epoch: nothing runs so long, and nothing was traced before.
        const LONG: u64 = 1_000_000_000 * 1_000_000_000;
        match entry.when {
            None => Timestamp::UNKNOWN,
            Some(When::Plain(ns)) => {
                self.kind = Some(if ns >= LONG { ClockKind::Epoch } else { ClockKind::Relative });
                Timestamp::new(ns)
            }
            Some(When::Day(ns)) => {
                self.kind = Some(ClockKind::TimeOfDay);
                if ns + DAY / 2 < self.last {
                    self.days += 1;
                }
                self.last = ns;
                Timestamp::new(ns.saturating_add(self.days.saturating_mul(DAY)))
            }
        }
    }
}
