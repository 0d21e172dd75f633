//! Large answers that a server gives: most of the time of its requests goes until the last byte is taken. The other side of
//! oversized-payload, which judges who asks.

use super::asked;
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::folds::peers::Role;
use whyslow_facts::folds::requests::{EndpointFacts, RequestRecord, Side};
use whyslow_model::{FdKind, Measurement, Nanos, SaturatingSum, Severity, Subject};

/// An answer that counts, bytes in the mean: more than a socket's first window and buffer take at once (`tcp_wmem`, tcp(7): a
/// buffer begins with 16 kB and grows), and more than a page shows.
const LARGE: u64 = 256 << 10;
/// The part of a request's time from which on sending its answer is what it waits for.
const MOSTLY_SENDING: f64 = 0.5;
/// What no page shows, as of oversized-payload: to make so much and to send it is what a server does then, however quick each is.
const VERY_LARGE: u64 = 1 << 20;
/// The part of a request's time that sending takes of a very large answer at the least: the rest goes into making it.
const MUCH_SENDING: f64 = 0.2;
/// Sending that nobody feels, in the mean.
const FELT: Nanos = Nanos::from_millis(50);
/// Of very large answers that take no time to speak of each: fewer are a page or two.
const MANY_ANSWERS: u64 = 20;
/// Fewer answers are a download or two.
const MIN_ANSWERS: u64 = 3;
/// The part of the bytes sent that came from files or others, from which on a server only passes on what it has.
const PASSED_ON: f64 = 0.5;

/// Files a finding for each endpoint whose answers are large and take most of its time to be sent.
#[gated]
pub(super) fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.mostly_counted() {
        return counted(facts, out);
    }
    let served = || facts.requests.endpoints().iter().filter(|row| row.side == Side::Server);
    let all_ns = served().map(|row| row.stats.total_ns).saturating_sum();
    let sent = served().map(|row| row.stats.bytes).saturating_sum();
    if (brought(facts) as f64) >= PASSED_ON * sent as f64 {
        return;
    }
    for row in served().filter(|row| is_large(row)) {
        let Some(sending) = sending(row) else { continue };
        report(facts, out, row, &sending, all_ns);
    }
}

/// Of services whose calls were only counted: what goes out for each read of something asked.
#[gated]
fn counted(facts: &Facts, out: &mut Findings<'_>) {
    let files = facts.world.files.iter().filter(|(_, file)| file.path.starts_with('/'));
    let brought = files.map(|(_, file)| file.counted.sum().reads.bytes).saturating_sum();
    let of = |role| facts.peers.counted.iter().filter(move |peer| peer.role == role);
    let brought = brought.saturating_add(of(Role::Server).map(|peer| peer.used.reads.bytes).saturating_sum());
    for peer in of(Role::Client) {
        let (asked, sent) = (peer.used.reads.succeeded(), peer.used.writes.bytes);
        let each = sent / asked.max(1);
        if asked < MIN_ANSWERS || each < VERY_LARGE || (brought as f64) >= PASSED_ON * sent as f64 {
            continue;
        }
        let spent = peer.used.writes.total_ns;
        let share = asked::share(facts, peer.only_thread(), spent, asked);
        let each = Measurement::bytes("bytes_per_answer", each).at_least(VERY_LARGE as f64);
        let bytes = Measurement::bytes("bytes", sent);
        out.report(share, format!("clients of {} get {each} for each message that they send", peer.name))
            .at_most(Severity::Notice)
            .measured(each)
            .measured(Measurement::count("reads", asked).at_least(MIN_ANSWERS as f64))
            .measured(Measurement::time("time", Nanos::new(spent)))
            .subject(Subject { peer: Some(peer.name.to_string()), ..Subjects::thread(facts, peer.tid) })
            .cause(format!(
                "{bytes} were sent, and {} were read from clients; most of it came from no file and from nobody else. Calls were only counted, so what is asked is not seen.",
                words::plural(asked, "message"),
            ))
            .measured(bytes)
            .fix("send what the client shows or uses: pages (LIMIT, a cursor), a list of fields, only what changed since (ETag, If-Modified-Since)")
            .fix("compress it (gzip, zstd): text and JSON become five to ten times smaller")
            .verify("whyslow requests -p PID -d 10s   (column out)")
            .file();
    }
}

#[gated]
fn is_large(row: &EndpointFacts) -> bool {
    row.stats.count >= MIN_ANSWERS && row.stats.bytes / row.stats.count.max(1) >= LARGE
}

/// Bytes that the program read from files and from others whom it asked.
#[gated]
fn brought(facts: &Facts) -> u64 {
    let streams = &facts.streams;
    let sources = streams.iter().filter(|stream| match stream.kind {
        FdKind::File => true,
        kind => kind.is_socket() && stream.peer.is_some(),
    });
    sources.map(|stream| stream.reads.calls.bytes).saturating_sum()
}

/// What sending takes of the requests that are kept.
struct Sending<'a> {
    /// Of their time.
    part: f64,
    /// In the mean.
    each: Nanos,
    is_very_large: bool,
    longest: &'a RequestRecord,
}

/// `None` where something else takes more time, and where nobody feels it.
#[gated]
fn sending(row: &EndpointFacts) -> Option<Sending<'_>> {
    let (mut sending, mut all, mut count) = (0u64, 0u64, 0u64);
    let mut longest: Option<(u64, &RequestRecord)> = None;
    for record in row.kept().filter(|record| !record.failed() && record.first_byte.is_known()) {
        let ns = record.end.since(record.first_byte).or_zero();
        let asked: u64 = record.downstream.iter().map(|part| part.ns).saturating_sum();
        // What it asks of others while it sends is a stream from there.
        let own = ns.saturating_sub(asked);
        sending = sending.saturating_add(own);
        all = all.saturating_add(record.dur.or_zero());
        count += 1;
        if longest.is_none_or(|(most, _)| own > most) {
            longest = Some((own, record));
        }
    }
    let (_, longest) = longest?;
    let part = sending as f64 / all.max(1) as f64;
    let each = Nanos::new(sending / count.max(1));
    // Its own computing between two writes is no wait for the client.
    let split = &row.split;
    let computes = split.between_ns > split.total_ns() / 2;
    let is_very_large =
        row.stats.bytes / row.stats.count.max(1) >= VERY_LARGE && row.stats.count >= MANY_ANSWERS;
    let is_told = match is_very_large {
        true => part >= MUCH_SENDING,
        false => part >= MOSTLY_SENDING && each >= FELT && !computes,
    };
    is_told.then_some(Sending { part, each, is_very_large, longest })
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &EndpointFacts, sending: &Sending<'_>, all_ns: u64) {
    let time = row.stats.total_ns as f64 * sending.part;
    let share =
        Share::of_time((all_ns > 0).then(|| (time / all_ns as f64).min(1.0)), "time of all requests served");
    if share.value.is_none_or(|value| value < WARNING_SHARE) {
        return;
    }
    let each =
        Measurement::bytes("bytes_per_answer", row.stats.bytes / row.stats.count).at_least(LARGE as f64);
    let taking = Measurement::time("time_per_answer", sending.each);
    let taking = if sending.is_very_large { taking } else { taking.at_least(FELT.or_zero() as f64) };
    let least = if sending.is_very_large { MUCH_SENDING } else { MOSTLY_SENDING };
    let part = Measurement::share("share_of_endpoint", sending.part).at_least(least);
    let record = sending.longest;
    let what = asked::server_words(facts, row);
    let title =
        format!("each answer to {what} has {each}: sending it takes {part} of its time, {taking} each");
    let of_time = share.figure().at_least(WARNING_SHARE);
    let rate = (record.answer_bytes as f64) / record.dur.or_zero().max(1) as f64 * 1e9;
    let found = out
        .report(share, title)
        .measured(each)
        .measured(Measurement::count("answers", row.stats.count).at_least(MIN_ANSWERS as f64))
        .measured(of_time)
        .measured(part)
        .measured(taking)
        .measured(Measurement::bytes("bytes", row.stats.bytes))
        .subject(Subject {
            endpoint: Some(what.clone()),
            fd: Some(record.fd).filter(|fd| *fd >= 0),
            protocol: asked::mark(row),
            ..Subjects::thread(facts, record.tid)
        })
        .cause(format!(
            "{} in {}. The answer is ready, and goes as fast as the client and the network between take it: {:.1} MB a second in the slowest. \
             Nothing in this program makes that quicker but fewer bytes.",
            Measurement::bytes("bytes", row.stats.bytes),
            words::plural(row.stats.count, "answer"),
            rate / 1e6,
        ))
        .fix("send what the client shows or uses: pages (LIMIT, a cursor), a list of fields, only what changed since (ETag, If-Modified-Since)")
        .fix("compress it (gzip, zstd): text and JSON become five to ten times smaller")
        .fix("where all of it is needed: send the first part at once (streaming), or let the client fetch it from a file store near to it")
        .evidence(Some(&record.first_line))
        .evidence(record.last_line.as_ref())
        .verify("whyslow requests FILE   (column out);  ss -tin sport = :PORT   (delivery_rate, rwnd_limited, notsent)")
        .saving(Nanos::new(time as u64));
    // Nobody who waits for a page feels it. Whether the client needs all of it is not seen.
    let felt = row.stats.percentile(0.5) >= asked::LATE;
    found.at_most(if felt { Severity::Warning } else { Severity::Notice }).file();
}
