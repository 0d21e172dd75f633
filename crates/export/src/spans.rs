//! Requests as spans: what a trace of requests is made of, whatever its format. A request is a span; what its thread waited for while
//! it served is below it, each wait with its own place in time. Time that is known in sums only (short calls, own code) has no place: the
//! sums by kind stand at the request, and add up to it.
//!
//! A request that was made while another one was served is below that one. Where both ends of a connection are in the capture, what is
//! served at the one end is below what was asked at the other.

use crate::text::{name_of_process, shown, shown_bytes};
use hashbrown::HashMap;
use std::io::{self, Write};
use whyslow_chain::{Explainer, PathKind};
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{Ending, ParentBy, RequestRecord, Side};
use whyslow_model::Tid;

/// Waits of one request that are spans, the longest.
const MOST_WAITS: usize = 128;
/// Requests above one, at most: a circle ends there.
const MOST_ABOVE: usize = 64;
/// Spans that are encoded at once.
const BATCH: usize = 1_000;

/// A format of spans.
pub struct SpanFormat {
    /// What it is to HTTP.
    pub media: &'static str,
    /// Where receivers take it.
    pub path: &'static str,
    /// What stands around the batches in a file.
    pub(crate) framing: SpanFraming,
    /// One batch.
    pub(crate) encode: fn(&[RequestSpans]) -> io::Result<Vec<u8>>,
}

/// What stands around batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SpanFraming {
    /// An array of JSON, of which a batch is some elements.
    Array,
    /// A batch is a line.
    Lines,
    /// Batches behind one another are one message.
    Joined,
}

/// What was written, and what was not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SpanCounts {
    /// Requests.
    pub requests: u64,
    /// Their time, ns.
    pub requests_ns: u64,
    /// Waits below them.
    pub waits: u64,
    /// Their time, ns.
    pub waits_ns: u64,
    /// Shorter waits of requests that have more than are told one by one.
    pub waits_left_out: u64,
    /// Requests without a time.
    pub without_time: u64,
    /// Requests that are not kept one by one.
    pub left_out: u64,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SpanValue {
    Text(String),
    Number(i64),
    Flag(bool),
}

/// What a span is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SpanKind {
    Wait,
    Served,
    Made,
}

/// A span.
pub(crate) struct SpanOut {
    pub(crate) trace: u128,
    pub(crate) id: u64,
    pub(crate) parent: Option<u64>,
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    /// When it began, ns.
    pub(crate) from: u64,
    /// How long, ns; `None` where that is unknown.
    pub(crate) took: Option<u64>,
    /// What went wrong.
    pub(crate) failed: Option<String>,
    /// The other end.
    pub(crate) peer: Option<String>,
    pub(crate) attributes: Vec<(String, SpanValue)>,
    /// Moments within it.
    pub(crate) events: Vec<(u64, &'static str)>,
}

impl SpanOut {
    fn text(&mut self, key: &str, value: &str) {
        self.attributes.push((key.to_string(), SpanValue::Text(value.to_string())));
    }

    fn number(&mut self, key: &str, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.attributes.push((key.to_string(), SpanValue::Number(value)));
    }
}

/// A request with its waits.
pub(crate) struct RequestSpans {
    /// Whose: the name of the process.
    pub(crate) service: String,
    /// Its number; 0 where it is unknown.
    pub(crate) pid: Tid,
    /// The request, then its waits.
    pub(crate) spans: Vec<SpanOut>,
}

/// Writes a file of spans.
///
/// # Errors
/// If it cannot be written.
pub fn write_spans(facts: &Facts, format: &SpanFormat, out: &mut dyn Write) -> io::Result<SpanCounts> {
    let mut is_first = true;
    if format.framing == SpanFraming::Array {
        out.write_all(b"[")?;
    }
    let counts = batches(facts, &mut |spans| {
        let batch = (format.encode)(spans)?;
        if format.framing == SpanFraming::Array && !is_first {
            out.write_all(b",\n")?;
        }
        is_first = false;
        out.write_all(&batch)?;
        if format.framing == SpanFraming::Lines {
            out.write_all(b"\n")?;
        }
        Ok(())
    })?;
    if format.framing == SpanFraming::Array {
        out.write_all(b"]\n")?;
    }
    Ok(counts)
}

/// Hands out spans as messages, each of them whole.
///
/// # Errors
/// If `send` fails.
pub fn send_spans(
    facts: &Facts,
    format: &SpanFormat,
    send: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<SpanCounts> {
    batches(facts, &mut |spans| {
        let batch = (format.encode)(spans)?;
        match format.framing {
            SpanFraming::Array => send(&[b"[", &batch[..], b"]"].concat()),
            SpanFraming::Lines | SpanFraming::Joined => send(&batch),
        }
    })
}

fn batches(facts: &Facts, take: &mut dyn FnMut(&[RequestSpans]) -> io::Result<()>) -> io::Result<SpanCounts> {
    let (mut batch, mut spans) = (Vec::new(), 0);
    let counts = each(facts, &mut |request| {
        spans += request.spans.len();
        batch.push(request);
        if spans >= BATCH {
            take(&batch)?;
            batch.clear();
            spans = 0;
        }
        Ok(())
    })?;
    if !batch.is_empty() {
        take(&batch)?;
    }
    Ok(counts)
}

/// Tells each request that is kept, process by process, in the order in which they began.
fn each(facts: &Facts, take: &mut dyn FnMut(RequestSpans) -> io::Result<()>) -> io::Result<SpanCounts> {
    let explainer = Explainer::new(facts);
    let tree = RequestTree::of(facts);
    let mut counts = SpanCounts::default();
    for record in &tree.records {
        let Some(from) = record.begin.get() else {
            counts.without_time += 1;
            continue;
        };
        let pid = pid_of(facts, record).unwrap_or(0);
        let service = if pid == 0 { "unknown".to_string() } else { name_of_process(facts, pid) };
        let mut spans = vec![tree.request(facts, record, from)];
        if let (Side::Server, Some(took)) = (record.side, record.dur.get()) {
            waits(&explainer, &tree, record, (from, took), &mut spans, &mut counts);
        }
        counts.requests += 1;
        counts.requests_ns = counts.requests_ns.saturating_add(record.dur.or_zero());
        take(RequestSpans { service, pid, spans })?;
    }
    let known = counts.requests + counts.without_time;
    counts.left_out = facts.requests.count().saturating_sub(known);
    Ok(counts)
}

fn pid_of(facts: &Facts, record: &RequestRecord) -> Option<Tid> {
    facts.world.threads.known_process(record.process).and_then(|process| process.pid)
}

/// Which request is below which.
struct RequestTree<'f> {
    /// In order of processes and of time.
    records: Vec<&'f RequestRecord>,
    by_number: HashMap<u64, &'f RequestRecord>,
    /// By the number of a request that is served: that which was asked at the other end of the connection.
    asked_by: HashMap<u64, u64>,
    /// Of each thread, when it served such a request: from, to, the request.
    serving: HashMap<Tid, Vec<(u64, u64, u64)>>,
    /// Differs from input to input.
    seed: u64,
}

impl<'f> RequestTree<'f> {
    fn of(facts: &'f Facts) -> RequestTree<'f> {
        let mut by_number = HashMap::new();
        for record in facts.requests.records() {
            // A request may be kept twice: as slow and as failed.
            by_number.insert(record.number, record);
        }
        let mut records: Vec<&RequestRecord> = by_number.values().copied().collect();
        records.sort_by_key(|record| (pid_of(facts, record), record.begin, record.number));
        let asked_by = asked_by(facts, &records);
        let seed = mix(facts.window.start.or_zero() ^ facts.requests.count().rotate_left(48));
        let mut serving: HashMap<Tid, Vec<(u64, u64, u64)>> = HashMap::new();
        for record in records.iter().filter(|record| asked_by.contains_key(&record.number)) {
            let (from, to) = (record.begin.or_zero(), record.begin.plus(record.dur).or_zero());
            serving.entry(answerer(record)).or_default().push((from, to, record.number));
        }
        RequestTree { records, by_number, asked_by, serving, seed }
    }

    /// True for time of a thread that served another request then, which is in the trace by itself.
    fn is_of_other(&self, record: &RequestRecord, tid: Tid, from: u64, to: u64) -> bool {
        let served = self.serving.get(&tid).map_or(&[][..], |served| served);
        served.iter().any(|(begin, end, number)| *number != record.number && *begin <= from && to <= *end)
    }

    /// The request above, where it is kept.
    fn above(&self, record: &RequestRecord) -> Option<&'f RequestRecord> {
        let number = match record.side {
            Side::Client => record.parent?.0,
            Side::Server => *self.asked_by.get(&record.number)?,
        };
        self.by_number.get(&number).copied().filter(|above| above.begin.is_known())
    }

    fn id(&self, number: u64, wait: u64) -> u64 {
        mix(mix(self.seed ^ number) ^ wait).max(1)
    }

    /// That of the program, as far as a request says it, the topmost first; else one of our own.
    fn trace(&self, record: &RequestRecord) -> u128 {
        let (mut at, mut told) = (record, record.trace_id.as_deref().and_then(trace_of));
        for _ in 0..MOST_ABOVE {
            let Some(above) = self.above(at) else { break };
            at = above;
            told = at.trace_id.as_deref().and_then(trace_of).or(told);
        }
        let (high, low) = (mix(self.seed ^ at.number), self.id(at.number, u64::MAX));
        told.unwrap_or((u128::from(high) << 64) | u128::from(low))
    }

    fn request(&self, facts: &Facts, record: &RequestRecord, from: u64) -> SpanOut {
        let endpoint = facts.requests.endpoint(record.endpoint);
        let mut span = SpanOut {
            trace: self.trace(record),
            id: self.id(record.number, 0),
            parent: self.above(record).map(|above| self.id(above.number, 0)),
            name: endpoint.map_or("unknown".to_string(), |row| shown(&row.name).into_owned()),
            kind: if record.side == Side::Server { SpanKind::Served } else { SpanKind::Made },
            from,
            took: record.dur.get(),
            failed: None,
            peer: record.peer.as_deref().map(|peer| shown(peer).into_owned()),
            attributes: Vec::new(),
            events: Vec::new(),
        };
        span.number("whyslow.request", record.number);
        span.number("thread.id", record.tid.into());
        if let Some(tid) = record.answered_by.filter(|tid| *tid != record.tid) {
            span.number("whyslow.answered_by", tid.into());
        }
        if let Some(protocol) = endpoint.and_then(|row| row.protocol_words()) {
            span.text("whyslow.protocol", protocol);
        }
        if !record.detail.is_empty() {
            span.text("whyslow.detail", &shown_bytes(record.detail.as_bytes()));
        }
        if let Some(host) = &record.host {
            span.text("server.address", &shown(host));
        }
        if let Some(status) = &record.status {
            span.text("whyslow.status", &shown(&status.text));
        }
        span.number("whyslow.request_bytes", record.request_bytes);
        span.number("whyslow.answer_bytes", record.answer_bytes);
        match (record.side, record.parent) {
            (Side::Client, Some((number, by))) => {
                span.number("whyslow.made_in", number);
                span.text("whyslow.made_in_by", words_of(by));
            }
            (Side::Server, _) if span.parent.is_some() => span.text("whyslow.made_in_by", "connection"),
            _ => {}
        }
        let ending = match record.ending {
            Ending::Answered => None,
            Ending::Aborted => Some("aborted"),
            Ending::Open => Some("open at the end of the capture"),
        };
        if let Some(ending) = ending {
            span.text("whyslow.ending", ending);
        }
        if record.failed() {
            let status = record.status.as_ref().map(|status| shown(&status.text).into_owned());
            span.failed = Some(status.or(ending.map(String::from)).unwrap_or_default());
        }
        let moments = [
            (record.received, "received"),
            (record.first_byte, "first byte of the answer"),
            (record.client_left, "the client left"),
        ];
        span.events = moments.into_iter().filter_map(|(at, name)| Some((at.get()?, name))).collect();
        span
    }
}

fn words_of(by: ParentBy) -> &'static str {
    match by {
        ParentBy::Thread => "thread",
        ParentBy::Turn => "turn",
        ParentBy::HandOver => "hand-over",
        ParentBy::Helper => "helper",
        ParentBy::Log => "log",
    }
}

/// Of requests whose connection has both ends in the capture: what is served was asked by the one request that was open at the other
/// end. Several that were open at once cannot be told apart.
fn asked_by(facts: &Facts, records: &[&RequestRecord]) -> HashMap<u64, u64> {
    let ends = |record: &RequestRecord| {
        let life = facts.world.fds.get(record.life)?;
        let (local, peer) = (life.local()?, life.peer()?);
        (!local.is_empty() && !peer.is_empty() && local != peer).then_some((local, peer))
    };
    let mut asked: HashMap<(&str, &str), Vec<&RequestRecord>> = HashMap::new();
    for record in records.iter().filter(|record| record.side == Side::Client) {
        if let Some((local, peer)) = ends(record) {
            asked.entry((peer, local)).or_default().push(record);
        }
    }
    let mut found = HashMap::new();
    for served in records.iter().filter(|record| record.side == Side::Server && record.begin.is_known()) {
        let Some(asked) = ends(served).and_then(|ends| asked.get(&ends)) else { continue };
        let is_open = |asked: &&&RequestRecord| {
            let end = asked.begin.plus(asked.dur);
            asked.begin.is_known() && asked.begin <= served.begin && (!end.is_known() || served.begin < end)
        };
        let mut open = asked.iter().filter(is_open);
        if let (Some(one), None) = (open.next(), open.next()) {
            found.insert(served.number, one.number);
        }
    }
    found
}

/// The thread whose time a request is.
fn answerer(record: &RequestRecord) -> Tid {
    record.answered_by.unwrap_or(record.tid)
}

/// What the thread waited for while it served: by kind in sums, and one by one where a wait has its place.
fn waits(
    explainer: &Explainer<'_>,
    tree: &RequestTree<'_>,
    record: &RequestRecord,
    (from, took): (u64, u64),
    spans: &mut Vec<SpanOut>,
    counts: &mut SpanCounts,
) {
    let tid = answerer(record);
    let path = explainer.path(tid, record.begin, record.begin.plus(record.dur));
    let [request] = &mut spans[..] else { return };
    for (kind, ns) in path.by_kind() {
        request.number(&format!("whyslow.time.{}_ns", kind.word()), ns);
    }
    let (trace, parent) = (request.trace, request.id);
    let is_wait = |kind| !matches!(kind, PathKind::User | PathKind::System | PathKind::Between);
    let mut waits: Vec<_> = (path.segments.iter())
        .filter(|segment| is_wait(segment.kind) && segment.ns == segment.to.saturating_sub(segment.from))
        .filter(|segment| segment.from >= from && segment.to <= from.saturating_add(took))
        .filter(|segment| {
            let thread = path.stays.get(segment.stay).map_or(tid, |stay| stay.tid);
            !tree.is_of_other(record, thread, segment.from, segment.to)
        })
        .collect();
    if waits.len() > MOST_WAITS {
        waits.sort_by_key(|segment| (std::cmp::Reverse(segment.ns), segment.from));
        let left_out = waits.split_off(MOST_WAITS);
        let ns = left_out.iter().fold(0_u64, |sum, segment| sum.saturating_add(segment.ns));
        request.number("whyslow.waits_left_out", left_out.len() as u64);
        request.number("whyslow.waits_left_out_ns", ns);
        counts.waits_left_out += left_out.len() as u64;
        waits.sort_by_key(|segment| segment.from);
    }
    for (number, segment) in (1..).zip(waits) {
        let thread = path.stays.get(segment.stay).map_or(tid, |stay| stay.tid);
        let mut span = SpanOut {
            trace,
            id: mix(parent ^ mix(number)).max(1),
            parent: Some(parent),
            name: shown(&explainer.cause(segment)).into_owned(),
            kind: SpanKind::Wait,
            from: segment.from,
            took: Some(segment.ns),
            failed: None,
            peer: None,
            attributes: Vec::new(),
            events: Vec::new(),
        };
        span.text("whyslow.kind", segment.kind.word());
        span.number("thread.id", thread.into());
        if let Some(name) = explainer.name(thread) {
            span.text("thread.name", &shown(name));
        }
        if let Some(missing) = segment.missing {
            span.text("whyslow.missing", &shown(&explainer.missing(missing)));
        }
        if !segment.exact {
            span.attributes.push(("whyslow.in_proportion".to_string(), SpanValue::Flag(true)));
        }
        counts.waits += 1;
        counts.waits_ns = counts.waits_ns.saturating_add(segment.ns);
        spans.push(span);
    }
}

/// The number of a trace as W3C and B3 write it: 32 or 16 hexadecimal digits, not all 0.
fn trace_of(text: &str) -> Option<u128> {
    let is_whole = matches!(text.len(), 16 | 32) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = if is_whole { u128::from_str_radix(text, 16).ok()? } else { 0 };
    (number != 0).then_some(number)
}

/// Spreads bits (the finalizer of SplitMix64, Steele, Lea and Flood 2014). The numbers of spans are kept elsewhere: it must stay as it is.
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_have_the_numbers_that_programs_gave_them() {
        assert_eq!(
            trace_of("4bf92f3577b34da6a3ce929d0e0e4736"),
            Some(0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736)
        );
        assert_eq!(trace_of("00f067aa0ba902b7"), Some(0x00f0_67aa_0ba9_02b7));
        for text in ["", "0000000000000000", "+bf92f3577b34da6", "4bf92f", "é4bf92f3577b34d"] {
            assert_eq!(trace_of(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_the_same_for_ever() {
        // The first outputs of SplitMix64 from 0 (https://prng.di.unimi.it/splitmix64.c).
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }
}
