//! Questions that a server leaves open to the end of the capture, though it answered others like them at once.

use super::asked;
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::requests::{EndpointFacts, EndpointId, RequestRecord, Side};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// Answers from which on a server is known to answer.
const ANSWERS: u64 = 3;
/// The slowest of them took at most this part of what the open question has waited: it is not merely a slow one.
const PART: f64 = 0.1;
/// A shorter wait may be a stall of the server, or a segment that was lost and is sent again (tcp(7): 200 ms, 400 ms).
const LEAST: Nanos = Nanos::from_secs(1);

/// A server with questions that it does not answer.
struct Hung<'a> {
    row: &'a EndpointFacts,
    /// The one that has waited longest.
    oldest: &'a RequestRecord,
    /// All that have waited that long.
    count: u64,
}

/// Reports servers that leave questions open; not those of `told`.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>, told: &[&str]) {
    let mut found: Vec<(EndpointId, Hung<'_>)> = Vec::new();
    for record in facts.requests.open().iter().filter(|record| record.side == Side::Client) {
        let Some(row) = facts.requests.endpoint(record.endpoint) else { continue };
        let is_told = record.peer.as_deref().is_none_or(|peer| told.contains(&peer));
        if is_told || !is_left_open(facts, row, record) {
            continue;
        }
        match found.iter_mut().find(|(endpoint, _)| *endpoint == record.endpoint) {
            Some((_, hung)) => {
                hung.count += 1;
                if record.dur > hung.oldest.dur {
                    hung.oldest = record;
                }
            }
            None => found.push((record.endpoint, Hung { row, oldest: record, count: 1 })),
        }
    }
    found.sort_by_key(|(endpoint, hung)| (std::cmp::Reverse((hung.count, hung.oldest.dur)), *endpoint));
    for (_, hung) in &found {
        report_one(facts, out, hung);
    }
}

/// True for a question that waits without a limit that shows, and that the server answers at once else.
#[gated]
fn is_left_open(facts: &Facts, row: &EndpointFacts, record: &RequestRecord) -> bool {
    let longest = row.stats.max().get();
    let is_quick = longest.is_some_and(|longest| longest as f64 <= PART * record.dur.or_zero() as f64);
    let answers = row.stats.count >= ANSWERS && is_quick;
    let waits_by_design = asked::lists(asked::WAITING, row.name.split(' ').next().unwrap_or_default());
    // Who gives up has a limit.
    let gives_up = row.aborted > 0 || facts.exchanges.is_limited(record.life);
    record.dur >= LEAST && record.dur.is_known() && answers && !waits_by_design && !gives_up
}

fn report_one(facts: &Facts, out: &mut Findings<'_>, hung: &Hung<'_>) {
    let Hung { row, oldest, count } = hung;
    let peer = oldest.peer.as_deref().unwrap_or("a server");
    let waited = Measurement::time("longest", oldest.dur).at_least(LEAST.or_zero() as f64);
    let answered = Measurement::count("answers", row.stats.count).at_least(ANSWERS as f64);
    let longest =
        Measurement::time("longest_answer", row.stats.max()).at_most(PART * oldest.dur.or_zero() as f64);
    let whom = asked::whom_for_what(row);
    let waits = if *count == 1 { "waits" } else { "wait" };
    out.report(
        guards::share_of_ns(facts, None, oldest.dur, 1),
        format!(
            "{} to {whom} {waits} up to {waited} for an answer, and still did when the capture ended: the others took {longest} at most",
            words::plural(*count, "request"),
        ),
    )
    .at_most(Severity::Warning)
    .confidence(0.7)
    .subject(Subject {
        peer: Some(peer.to_string()),
        fd: Some(oldest.fd).filter(|fd| *fd >= 0),
        endpoint: Some(row.name.to_string()),
        protocol: asked::mark(row),
        ..Subjects::thread(facts, oldest.tid)
    })
    .cause(format!(
        "{peer} answered {}, each within {longest}. To what is open now it says nothing, and the program neither gives up nor closes the connection: whoever asked waits, with its place in the pool. No limit of time ended any such wait in the capture; a longer one would not show.",
        words::plural(row.stats.count, "time"),
    ))
    .fix("code: a limit for each answer, a few times what the slowest usual one takes; then close the connection, count it, and go on without the answer or ask again elsewhere")
    .fix("Python asyncio.timeout or socket.settimeout, Node socket.setTimeout or AbortSignal.timeout, Go SetReadDeadline or context.WithTimeout, Java SO_TIMEOUT")
    .fix(format!("find out what {peer} does with these questions: its log, or whyslow diagnose on its host"))
    .verify(format!("whyslow requests --match '{}' FILE", asked::to_match(row)))
    .saving_text(format!("up to {waited} for each such request"))
    .measured(waited)
    .measured(Measurement::count("open_requests", *count))
    .measured(answered)
    .measured(longest)
    .evidence(Some(&oldest.first_line))
    .file();
}
