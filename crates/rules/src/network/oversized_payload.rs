//! # oversized-payload
//!
//! ## What it is
//! A program asks a server for something and gets very much: megabytes in each answer. It spends its time on taking them and on
//! what they bring: copying, decoding, throwing most of it away. Or it is the server, and most of the time of its requests goes
//! until the client has the last byte of an answer that was ready long before.
//!
//! ## Why it is slow
//! A megabyte takes 8 ms on a link of 1 Gbit/s, and about as long again to parse. The server answers at once, its log shows no slow
//! query, and the time goes on this side.
//!
//! ## Example
//! ```text
//! sendto(7, "*2\r\n$3\r\nGET\r\n$11\r\nsession:all\r\n", 33, 0, NULL, 0) = 33 <0.000031>
//! recvfrom(7, "$6291456\r\n{\"sessions\":[{\"id\":1,"..., 65536, 0, NULL, NULL) = 65536 <0.000040>
//! recvfrom(7, "..."..., 65536, 0, NULL, NULL) = 65536 <0.000112>
//! ```
//!
//! ## What to do instead
//! Ask for what is needed: a range, a page, some fields, one key of a hash instead of one value with everything, LIMIT in a query.
//! Keep the decoded answer for as long as it is good. Where all of it is needed: a format that is quick to decode, and
//! decoding while the rest still comes.
//!
//! ## When it is wrong
//! A feed or a replica that takes what comes up asks for nothing, and is quiet. A program that only passes on what it gets (a download, a backup, a proxy) is not judged: it needs all of it. One large answer
//! at the start, of which a program lives, is no cause either. Whether the program needs what it asks for is not seen. A server is not
//! judged where half of what it sends came from files or from others: it serves downloads. That a slow link or a slow client takes long
//! for little is told from 256 KiB on only.

use super::{asked, oversized_answers};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::answers::Answers;
use whyslow_model::{Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "oversized-payload",
    group: "network",
    summary: "each answer of a server brings megabytes, and taking them is the time",
    source: include_str!("oversized_payload.rs"),
    needs: &[
        Need::Either(&[Need::Durations, Need::Table("files")]),
        Need::Either(&[Need::Clock, Need::Table("files")]),
        Need::Either(&[Need::Descriptors, Need::Table("files")]),
    ],
    check,
};

/// A large answer, in the mean: it takes 8 ms at 1 Gbit/s, and no person reads as much at once.
const LARGE: u64 = 1 << 20;
/// The part of the bytes from which on a program only passes on what it gets.
const PASSED_ON: f64 = 0.5;
/// Fewer answers are a start, or one download.
const MIN_ANSWERS: u64 = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut large: Vec<(&Answers, u64)> = facts
        .answers
        .rows()
        .iter()
        // Of a server, what comes on a connection without a name may be what its client sends.
        .filter(|row| row.is_named || !asked::serves(facts))
        .filter(|row| is_large(row) && !asked::is_stream(facts, Some(row.process), &row.peer))
        .map(|row| (row, facts.time_for_answers(row).or_zero()))
        .collect();
    large.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    for (row, ns) in large {
        report(facts, out, row, ns);
    }
    oversized_answers::check(facts, out);
}

#[gated]
fn is_large(row: &Answers) -> bool {
    row.count >= MIN_ANSWERS
        && row.bytes / row.count >= LARGE
        && (row.passed_on as f64) < PASSED_ON * row.bytes as f64
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &Answers, ns: u64) {
    let share = asked::share(facts, row.tid, ns, row.count);
    if share.value.is_none_or(|value| value < guards::WARNING_SHARE) {
        return;
    }
    let each = Measurement::bytes("bytes_per_answer", row.bytes / row.count).at_least(LARGE as f64);
    let bytes = Measurement::bytes("bytes", row.bytes);
    let largest = Measurement::bytes("bytes_of_largest_answer", row.largest);
    let time = Nanos::new(ns / row.count);
    let passed_on = row.passed_on as f64 / row.bytes.max(1) as f64;
    let of_time = share.figure().at_least(guards::WARNING_SHARE);
    let who = asked::asker(facts, Some(row.process));
    let most = asked::endpoints(facts, &row.peer).max_by_key(|one| one.stats.count);
    let most = most.filter(|one| !one.is_hidden() && one.stats.count.saturating_mul(2) >= row.count);
    let asks = most.map_or(String::new(), |one| format!(" to {}", one.name));
    let part =
        share.value.map_or(String::new(), |value| format!("{} of {}", words::percent(value), share.of));
    let title = format!(
        "{who} gets {each} in each answer{asks} of {}: taking {} takes {part}",
        row.peer,
        words::plural(row.count, "answer"),
    );
    let protocol = asked::unknown_protocol(facts, &row.peer);
    out.report(share, title)
        .measured(each)
        .measured(Measurement::count("answers", row.count).at_least(MIN_ANSWERS as f64))
        .measured(of_time)
        .measured(Measurement::time("time_per_answer", time))
        .measured(Measurement::share("share_passed_on", passed_on).at_most(PASSED_ON))
        .subject(Subject { peer: Some(row.peer.to_string()), protocol: protocol.clone(), ..Subjects::thread(facts, row.tid.unwrap_or(0)) })
        .cause(format!(
            "{} in {}, the largest of {}. From the first bytes of an answer to the next thing that the thread does it takes {} in \
             the mean: reading the rest, and decoding what came.{}",
            bytes,
            words::plural(row.count, "answer"),
            largest,
            words::duration(time),
            asked::by_direction(&protocol),
        ))
        .measured(bytes)
        .measured(largest)
        .fix("ask for what is needed: a range, a page, some fields, one key instead of one value with everything, LIMIT")
        .fix("keep the decoded answer for as long as it is good")
        .fix("where all of it is needed: a format that is quick to decode, and decode while the rest still comes")
        .evidence(row.exemplar.as_deref())
        .verify(format!("whyslow peers FILE; ss -tnpi dst {}   (bytes_received by request)", row.peer))
        .file();
}
