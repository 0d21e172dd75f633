//! Access logs of nginx, Apache and servers that write alike: a line a request.
//!
//! ```text
//! 10.0.0.9 - - [06/Sep/2015:05:58:05 +0900] "GET /feed?n=1 HTTP/1.1" 200 12 "-" "curl/7.54.0" "-" 0.057
//! 10.0.0.9 - - [06/Sep/2015:05:58:05 +0900] "GET /feed HTTP/1.1" 200 12 "-" "-" rt=0.057 ua="10.0.0.2:80" ut="0.055"
//! {"time_local":"06/Sep/2015:05:58:05 +0900","request":"GET /feed HTTP/1.1","status":200,"request_time":0.057}
//! time:06/Sep/2015:05:58:05 +0900  host:10.0.0.9  req:GET /feed HTTP/1.1  status:200  size:12  reqtime:0.057
//! ```
//!
//! The shape is told from each line by itself: NCSA's (common, combined, with a virtual host before them or with more
//! fields behind them), or fields by name (JSON, LTSV, `name=value`). What a duration is measured in is never guessed:
//! see [`times`].

mod fields;
mod ncsa;
#[cfg(test)]
mod tests;
pub(super) mod times;
mod tokens;

use crate::formats::{Format, SniffInput};
use crate::source::{MAX_QUOTED, Source};
use fields::Fields;
use std::borrow::Cow;
use std::io;
use times::Doubts;
use whyslow_model::{
    CaptureKind, CaptureNote, ClockKind, Event, Logged, Nanos, NoteKind, Sink, SourceInfo, Tid, Timestamp,
    Upstream,
};

/// The format.
pub(crate) static ACCESS_LOG: Format = Format {
    kind: CaptureKind::AccessLog,
    name: "access log",
    made_by: "access_log of nginx, CustomLog of Apache",
    sniff,
    read,
};

/// Lines looked at to recognise the format.
const SNIFF_LINES: usize = 60;
/// Of these, one in so many must be a request: a log may stand between prose.
const SNIFF_PART: usize = 3;

fn sniff(sample: &SniffInput<'_>) -> bool {
    let lines = sample.lines(SNIFF_LINES).filter(|line| !line.trim_ascii().is_empty());
    let (mut lines, mut requests) = (lines.peekable(), 0);
    let mut seen = 0;
    while let Some(line) = lines.next() {
        // The last one may be cut.
        if lines.peek().is_none() && seen > 0 {
            break;
        }
        seen += 1;
        let entry = Entry::parse(line, &mut Doubts::default());
        requests += usize::from(entry.is_ok_and(|entry| !entry.method.is_empty()));
    }
    requests > 0 && requests * SNIFF_PART >= seen
}

fn read(source: &mut Source, sink: &mut dyn Sink) -> io::Result<()> {
    let mut doubts = Doubts::default();
    let mut line = Vec::new();
    while let Some(next) = source.next_line()? {
        if next.trim_ascii().is_empty() {
            continue;
        }
        line.clear();
        line.extend_from_slice(next);
        match Entry::parse(&line, &mut doubts) {
            Ok(entry) => {
                source.info.events += 1;
                if entry.at.is_known() {
                    source.info.clock = ClockKind::Epoch;
                }
                entry.push(&source.info, &line, sink);
            }
            Err(Not::Damaged(expected)) => source.reject(sink, &line, expected),
            Err(Not::Request) => source.info.foreign += 1,
        }
    }
    for text in doubts.remarks().into_iter().take(MAX_QUOTED) {
        let note =
            CaptureNote { kind: NoteKind::Assumed, source: source.info.id, line: None, text, tid: None };
        sink.push(Event::Note(note));
    }
    Ok(())
}

/// Why a line is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Not {
    /// It looks like one, but this was expected.
    Damaged(&'static str),
    /// It is something else.
    Request,
}

/// A line, read.
#[derive(Debug, Default, PartialEq)]
struct Entry<'a> {
    at: Timestamp,
    whole_second: bool,
    dur: Nanos,
    method: Cow<'a, [u8]>,
    target: Cow<'a, [u8]>,
    status: Option<u16>,
    client: Option<Cow<'a, [u8]>>,
    host: Option<Cow<'a, [u8]>>,
    trace_id: Option<Cow<'a, [u8]>>,
    pid: Option<Tid>,
    request_bytes: Option<u64>,
    answer_bytes: Option<u64>,
    upstream: Behind<'a>,
}

/// Lists of what is known of the servers behind, as nginx writes them: `10.0.0.1:80, 10.0.0.2:80 : 10.0.0.3:80`.
#[derive(Debug, Default, PartialEq)]
struct Behind<'a> {
    addresses: Cow<'a, [u8]>,
    times: Cow<'a, [u8]>,
    statuses: Cow<'a, [u8]>,
    /// A time that is one figure in a unit of its own, where `times` is empty.
    dur: Nanos,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a [u8], doubts: &mut Doubts) -> Result<Entry<'a>, Not> {
        let line = line.trim_ascii();
        if line.starts_with(b"{") {
            return Fields::json(line, doubts);
        }
        if let Some(entry) = Fields::ltsv(line, doubts) {
            return entry;
        }
        match ncsa::parse(line, doubts) {
            Err(Not::Request) => Fields::pairs(line, doubts),
            done => done,
        }
    }

    /// Takes `GET /feed HTTP/1.1` apart. What is no such line (a scan, another protocol) leaves the method empty.
    fn set_request(&mut self, request: Cow<'a, [u8]>) {
        let parts = |text: &[u8]| {
            let mut words = text.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
            let (method, target) = (words.next()?, words.next()?);
            is_method(method).then_some((method.len(), target.len()))
        };
        let Some((method, target)) = parts(&request) else { return };
        match request {
            Cow::Borrowed(text) => {
                let text = text.trim_ascii_start();
                let behind = text.get(method..).unwrap_or_default().trim_ascii_start();
                self.method = Cow::Borrowed(text.get(..method).unwrap_or_default());
                self.target = Cow::Borrowed(behind.get(..target).unwrap_or_default());
            }
            Cow::Owned(text) => {
                let text = text.trim_ascii_start();
                let behind = text.get(method..).unwrap_or_default().trim_ascii_start();
                self.method = Cow::Owned(text.get(..method).unwrap_or_default().to_vec());
                self.target = Cow::Owned(behind.get(..target).unwrap_or_default().to_vec());
            }
        }
    }

    fn push(&self, info: &SourceInfo, raw: &[u8], sink: &mut dyn Sink) {
        let upstreams = self.upstream.list();
        sink.push(Event::Logged(&Logged {
            source: info.id,
            line: info.lines,
            at: self.at,
            whole_second: self.whole_second,
            dur: self.dur,
            method: &self.method,
            target: &self.target,
            status: self.status,
            client: self.client.as_deref(),
            host: self.host.as_deref(),
            trace_id: self.trace_id.as_deref(),
            pid: self.pid,
            request_bytes: self.request_bytes,
            answer_bytes: self.answer_bytes,
            upstreams: &upstreams,
            raw,
        }));
    }
}

impl Behind<'_> {
    /// Servers told apart in one line; nginx asks each of a group at most once.
    const MOST: usize = 16;

    /// The servers, where lists are of one length; else the sum of their times without an address.
    fn list(&self) -> Vec<Upstream<'_>> {
        let addresses = parts(&self.addresses);
        let times: Vec<Nanos> = parts(&self.times).iter().map(|text| times::nginx_seconds(text)).collect();
        let statuses: Vec<Option<u16>> = parts(&self.statuses).iter().map(|text| status(text)).collect();
        if times.is_empty() && self.dur.is_known() {
            let address = addresses.first().copied().filter(|_| addresses.len() == 1);
            return vec![Upstream { address, dur: self.dur, status: statuses.first().copied().flatten() }];
        }
        if addresses.len() == times.len() {
            let one = |at: usize| Upstream {
                address: addresses.get(at).copied(),
                dur: times.get(at).copied().unwrap_or_default(),
                status: statuses.get(at).copied().flatten().filter(|_| statuses.len() == times.len()),
            };
            return (0..times.len()).map(one).filter(|one| one.dur.is_known()).take(Self::MOST).collect();
        }
        // A JSON writer's way to say that nobody was asked.
        if addresses.is_empty() && times.iter().all(|dur| dur.or_zero() == 0) {
            return Vec::new();
        }
        let known = times.iter().filter_map(|dur| dur.get());
        let sum = known.fold(None, |sum: Option<u64>, ns| Some(sum.unwrap_or(0).saturating_add(ns)));
        sum.map_or(Vec::new(), |ns| vec![Upstream { address: None, dur: Nanos::new(ns), status: None }])
    }
}

/// The parts of a list of nginx's; `-` is one of which nothing is known.
fn parts(list: &[u8]) -> Vec<&[u8]> {
    if list.is_empty() || list == b"-" {
        return Vec::new();
    }
    let words =
        list.split(|byte| matches!(byte, b',' | b' ')).filter(|word| !word.is_empty() && *word != b":");
    words.take(4 * Behind::MOST).collect()
}

/// A status: three digits.
fn status(text: &[u8]) -> Option<u16> {
    match text {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            Some(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'))
        }
        _ => None,
    }
}

/// A method: a word of capitals (RFC 9110 lets it be any token; servers log no other).
fn is_method(word: &[u8]) -> bool {
    (2..=24).contains(&word.len())
        && word.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'))
}

/// What a field says, if it says anything: `-` and nothing are no value.
fn value(text: &[u8]) -> Option<&[u8]> {
    (!text.is_empty() && text != b"-").then_some(text)
}
