//! # log-flood
//!
//! ## What it is
//! One log gets more than a megabyte a second, or takes a third of all writes at thousands a second; often
//! because the level is DEBUG or TRACE.
//!
//! ## Why it is slow
//! Each line is formatted, mostly under a lock that all threads share, and written by the thread that should
//! answer a request. The disk, the log shipper and the index behind it get the same flood.
//!
//! ## Example
//! ```text
//! write(7, "2018-11-29 07:43:23.009 DEBUG o.a.http.wire : >> 0x2e ...\n", 58) = 58
//! ```
//!
//! ## What to do instead
//! Raise the level (most loggers can while they run). Sample or limit what is logged in a loop. Log through an
//! asynchronous appender with a bounded queue. Not each write flushed.
//!
//! ## When it is wrong
//! An access log under load writes a line a request: as long as it costs little it is no finding. Where each write waits for
//! the device (`sync-open`), it is not how much is logged that takes the time: a notice at most.

use super::counted_flood::{
    ASYNCHRONOUS, FLOOD_BYTES_PER_S, FLOOD_LINES_PER_S, FLOOD_PART, MIN_WRITES, check_sums, rates,
};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::io::synced::waits_for_device;
use crate::{guards, words};
use whyslow_facts::folds::log_levels::LevelCounts;
use whyslow_facts::{Facts, Stream};
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "log-flood",
    group: "logs",
    summary: "one log takes more writes or bytes than anybody reads",
    source: include_str!("log_flood.rs"),
    needs: &[
        Need::Either(&[Need::Calls, Need::Table("files")]),
        Need::Either(&[Need::Clock, Need::Table("files")]),
        Need::Either(&[Need::AnyOf(&["write", "writev"]), Need::Table("files")]),
    ],
    check,
};

/// Lines a request that an access log and an application log write.
const LINES_PER_REQUEST: f64 = 2.0;
/// The part of the lines that are DEBUG or TRACE from which on the level is to blame.
const DEBUG_PART: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.world.calls == 0 || facts.mostly_counted() && facts.has_table("files") {
        return check_sums(facts, out);
    }
    let all = facts.calls_of(&["write", "writev"]);
    let untraced = |rate| facts.pace.untraced(Some(rate));
    let mut floods: Vec<(&Stream, LevelCounts, f64)> = Vec::new();
    for stream in &facts.streams {
        let calls = &stream.writes.calls;
        let levels = facts.log_levels.of(stream.place);
        if calls.count < MIN_WRITES || !facts.log_levels.is_log(stream) {
            continue;
        }
        let (Some(rate), Some(bytes_rate)) =
            (facts.window.per_second(calls.count), facts.window.per_second(calls.bytes))
        else {
            continue;
        };
        let main = calls.count as f64 >= FLOOD_PART * all as f64 && untraced(rate) >= Some(FLOOD_LINES_PER_S);
        if untraced(bytes_rate) >= Some(FLOOD_BYTES_PER_S) || main {
            floods.push((stream, levels, bytes_rate));
        }
    }
    floods.sort_by(|a, b| b.2.total_cmp(&a.2));
    for (stream, levels, bytes_rate) in floods {
        let writes = &stream.writes;
        let calls = &writes.calls;
        let debug = levels.debug_share().unwrap_or(0.0);
        let requests = facts.work.requests as f64;
        let a_line_a_request = requests > 0.0 && calls.count as f64 <= LINES_PER_REQUEST * requests;
        let time = writes.time_of_work(stream.kind);
        let share = guards::share_of_storm(facts, writes.only_thread(), time, calls.count);
        let of_time = guards::share_of_ns(facts, writes.only_thread(), time, calls.count);
        let cheap = of_time.value.is_none_or(|share| share < guards::WARNING_SHARE);
        if a_line_a_request && debug < DEBUG_PART && cheap {
            continue;
        }
        let rate = facts.window.per_second(calls.count).unwrap_or(0.0);
        let of_debug = Measurement::share("share_of_debug", levels.debug_share().unwrap_or(f64::NAN));
        let what = if debug >= DEBUG_PART {
            format!("{of_debug} of it DEBUG or TRACE")
        } else {
            words::plural(calls.count, "write")
        };
        let per_request =
            (requests > 0.0).then(|| Measurement::number("calls_per_request", calls.count as f64 / requests));
        let part = Measurement::share("share_of_writes", calls.count as f64 / all.max(1) as f64);
        let ([lines, per_second], untraced) = rates(facts, rate, bytes_rate);
        let mut title = format!("{}: {per_second} of log in {lines} writes a second, {what}", stream.name,);
        if let Some(each) = &per_request {
            title.push_str(&format!(", {each} per request"));
        }
        let mut subject = Subjects::thread(facts, writes.tid);
        if writes.shared {
            subject.tid = None;
        }
        let level = match levels.debug_share() {
            Some(share) => format!(
                " Of {} sampled lines with a level {} are DEBUG or TRACE.",
                words::count(levels.levelled()),
                words::percent(share)
            ),
            None => " Log level not recognised in the sampled lines.".to_string(),
        };
        let first_fix = if debug >= DEBUG_PART {
            "raise the level to INFO; while it runs: Spring Boot POST /actuator/loggers/ROOT {\"configuredLevel\":\"INFO\"}, logback scan=\"true\", Python logging.getLogger().setLevel(logging.INFO)"
        } else {
            "log less: find the line that repeats (cut -c40-80 LOG | sort | uniq -c | sort -rn | head), sample or limit it, or raise its level"
        };
        out.report(share, title)
            .at_most(match a_line_a_request || waits_for_device(facts, stream) {
                true => Severity::Notice,
                false => Severity::Critical,
            })
            .subject(Subject { path: stream.path.clone(), fd: stream.fd, syscall: Some("write".to_string()), ..subject })
            .cause(format!(
                "{} went to it, {} of all writes of the capture, each made by the thread that logs.{level}",
                words::bytes(calls.bytes),
                part
            ))
            .measured_all([lines, per_second])
            .measured_all(untraced)
            .measured(Measurement::count("calls", calls.count).at_least(MIN_WRITES as f64))
            .measured(Measurement::bytes("bytes", calls.bytes))
            .measured(guards::passed(part, FLOOD_PART))
            .measured_all(per_request)
            .measured(Measurement::count("lines_with_level", levels.levelled()))
            .measured(guards::passed(of_debug, DEBUG_PART))
            .fix(first_fix)
            .fix(ASYNCHRONOUS)
            .fix("expensive arguments: build them only where the level is on (logger.debug(\"{}\", () -> …), isDebugEnabled)")
            .verify("strace -f -y -c -e trace=write -p PID; ls -l --time-style=full-iso LOG twice, ten seconds apart")
            .saving(time)
            .evidence_all(writes.exemplars.iter())
            .file();
    }
}
