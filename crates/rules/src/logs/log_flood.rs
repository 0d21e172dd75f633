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

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::io::synced::waits_for_device;
use crate::{guards, words};
use whyslow_facts::folds::log_levels::{LevelCounts, is_log_path};
use whyslow_facts::who::Who;
use whyslow_facts::{Facts, FileFacts, FileUse, Stream, User};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

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

/// Bytes a second from which on a log is a flood: 86 GB a day.
const FLOOD_BYTES_PER_S: f64 = 1e6;
/// The part of all writes from which on a log is the main thing that a program writes, and the rate that it
/// must have besides: nobody reads a thousand lines a second.
const FLOOD_PART: f64 = 0.3;
const FLOOD_LINES_PER_S: f64 = 1_000.0;
/// Fewer are a burst.
const MIN_WRITES: u64 = 1_000;
/// Lines a request that an access log and an application log write.
const LINES_PER_REQUEST: f64 = 2.0;
/// The part of the lines that are DEBUG or TRACE from which on the level is to blame.
const DEBUG_PART: f64 = 0.5;
/// Findings at most.
const MOST: usize = 3;
/// The remedy for a log that is wanted.
const ASYNCHRONOUS: &str = "do not flush each line (immediateFlush=false), and log through an asynchronous appender with a bounded queue that drops DEBUG first (logback AsyncAppender, log4j2 AsyncLogger, Python QueueHandler)";

fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.world.calls == 0 {
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
    for (stream, levels, bytes_rate) in floods.into_iter().take(MOST) {
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
            None => " No level words stand in the sampled lines (or the capture cuts them off).".to_string(),
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

/// The rates of writes and bytes, and those without the tracer where they alone are a flood.
fn rates(facts: &Facts, calls: f64, bytes: f64) -> ([Measurement; 2], Vec<Measurement>) {
    let rate = guards::passed(Measurement::per_second("calls_per_second", calls), FLOOD_LINES_PER_S);
    let bytes_rate =
        guards::passed(Measurement::bytes_per_second("bytes_per_second", bytes), FLOOD_BYTES_PER_S);
    let rates = [rate, bytes_rate];
    let mut others = Vec::new();
    if rates.iter().all(|rate| rate.threshold.is_none()) {
        let untraced = |rate| facts.pace.untraced(Some(rate)).unwrap_or(f64::NAN);
        let rate = Measurement::per_second("calls_per_second_untraced", untraced(calls));
        others.push(guards::passed(rate, FLOOD_LINES_PER_S));
        let rate = Measurement::bytes_per_second("bytes_per_second_untraced", untraced(bytes));
        others.push(guards::passed(rate, FLOOD_BYTES_PER_S));
    }
    (rates, others)
}

/// What a log gets a second, and its part of all writes.
struct Rates {
    bytes: f64,
    lines: f64,
    part: f64,
}

/// Of a recording with sums by file and thread, and no single writes.
fn check_sums(facts: &Facts, out: &mut Findings<'_>) {
    let files = &facts.world.files;
    let all = || files.iter().map(|(_, file)| file).chain(files.merged.values());
    let writes = all().map(|file| file.counted.sum().writes.calls).fold(0, u64::saturating_add);
    let mut floods: Vec<(Rates, &FileFacts, FileUse)> = Vec::new();
    for file in all().filter(|file| is_log_path(&file.path)) {
        let used = file.counted.sum();
        let rates =
            facts.window.per_second(used.writes.calls).zip(facts.window.per_second(used.writes.bytes));
        let Some((lines, bytes)) = rates.filter(|_| used.writes.calls >= MIN_WRITES) else { continue };
        let part = used.writes.calls as f64 / writes.max(1) as f64;
        let main = part >= FLOOD_PART && lines >= FLOOD_LINES_PER_S;
        if bytes >= FLOOD_BYTES_PER_S || main {
            floods.push((Rates { bytes, lines, part }, file, used));
        }
    }
    floods.sort_by(|a, b| b.0.bytes.total_cmp(&a.0.bytes).then_with(|| a.1.path.cmp(&b.1.path)));
    let mut told = 0;
    for (of, file, used) in floods {
        if told == MOST {
            break;
        }
        let Some((user, most)) = file.counted.iter().max_by_key(|(_, used)| used.writes.bytes) else {
            continue;
        };
        let tid = Some(user.tid).filter(|tid| *tid != 0);
        // Of several threads one alone waits for what it writes itself.
        let share = guards::share_of_ns(facts, tid, Nanos::new(most.writes.total_ns), most.writes.calls);
        // A log under load costs little; what it says is not known here.
        if most.writes.timed > 0 && share.value.is_some_and(|share| share >= guards::WARNING_SHARE) {
            told += 1;
            report_sums(facts, out, &of, file, &used, user, share);
        }
    }
}

fn report_sums(
    facts: &Facts,
    out: &mut Findings<'_>,
    of: &Rates,
    file: &FileFacts,
    used: &FileUse,
    user: User,
    share: guards::Share,
) {
    let who = Who::of(facts, user);
    let writes = &used.writes;
    let ([lines, per_second], untraced) = rates(facts, of.lines, of.bytes);
    let of_time = share.figure().at_least(guards::WARNING_SHARE);
    out.report(
        share,
        format!(
            "{}: {per_second} of log in {lines} writes a second by {}",
            file.path,
            who.short()
        ),
    )
    .at_most(Severity::Warning)
    .measured_all([lines, per_second])
    .measured_all(untraced)
    .measured(guards::passed(Measurement::share("share_of_writes", of.part), FLOOD_PART))
    .measured(Measurement::count("calls", writes.calls).at_least(MIN_WRITES as f64))
    .measured(Measurement::bytes("bytes", writes.bytes))
    .measured(Measurement::time("time", Nanos::new(writes.total_ns)))
    .measured(of_time)
    .confidence(0.7)
    .subject(Subject { path: Some(file.path.to_string()), ..Subjects::thread(facts, user.tid) })
    .cause(format!(
        "{} went to it in {}, and the thread that logs waits for each. What the lines say was not recorded.",
        words::bytes(writes.bytes),
        words::plural(writes.calls, "write")
    ))
    .fix("see what it says, and at which level: tail -n 1000 LOG | cut -c1-80 | sort | uniq -c | sort -rn | head")
    .fix("log less: raise the level to INFO, sample or limit the line that repeats")
    .fix(ASYNCHRONOUS)
    .verify("whyslow files -a --by path   (bytes and writes of the log, before and after)")
    .saving(Nanos::new(writes.total_ns))
    .evidence_line(
        facts.recording_at(file.first),
        format!(
            "{}: {}: {}, {}, {} in all",
            file.path,
            who.words(),
            words::plural(writes.calls, "write"),
            words::bytes(writes.bytes),
            Nanos::new(writes.total_ns)
        ),
    )
    .file();
}
