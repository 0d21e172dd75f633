//! Floods of logs whose writes were only counted, and what a log of single writes is judged by, too.

use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::folds::log_levels::is_log_path;
use whyslow_facts::who::Who;
use whyslow_facts::{Facts, FileFacts, FileUse, User};
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// Bytes a second from which on a log is a flood: 86 GB a day.
pub(super) const FLOOD_BYTES_PER_S: f64 = 1e6;
/// The part of all writes from which on a log is the main thing that a program writes, and the rate that it
/// must have besides: nobody reads a thousand lines a second.
pub(super) const FLOOD_PART: f64 = 0.3;
pub(super) const FLOOD_LINES_PER_S: f64 = 1_000.0;
/// Fewer are a burst.
pub(super) const MIN_WRITES: u64 = 1_000;
/// Findings at most.
pub(super) const MOST: usize = 3;
/// The remedy for a log that is wanted.
pub(super) const ASYNCHRONOUS: &str = "do not flush each line (immediateFlush=false), and log through an asynchronous appender with a bounded queue that drops DEBUG first (logback AsyncAppender, log4j2 AsyncLogger, Python QueueHandler)";

/// The rates of writes and bytes, and those without the tracer where they alone are a flood.
pub(super) fn rates(facts: &Facts, calls: f64, bytes: f64) -> ([Measurement; 2], Vec<Measurement>) {
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
#[gated]
pub(super) fn check_sums(facts: &Facts, out: &mut Findings<'_>) {
    let files = &facts.world.files;
    let all = || files.iter().map(|(_, file)| file).chain(files.merged.values());
    let writes = all().map(|file| file.counted.sum().writes.calls).fold(0, u64::saturating_add);
    let mut floods: Vec<(Rates, &FileFacts, FileUse)> = Vec::new();
    for file in all().filter(|file| is_log_path(&file.path)) {
        let used = file.counted.sum();
        // They are counted all the while, also where single calls were recorded for a part of it.
        let rate = |count| whyslow_facts::window::per_second(count, facts.window.start, facts.window.end);
        let rates = rate(used.writes.calls).zip(rate(used.writes.bytes));
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
    // Several threads may share a descriptor: then the process is all that is known.
    let (thread, process) = (Subjects::thread(facts, user.tid), facts.world.threads.process(user.process));
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
    .subject(Subject {
        pid: thread.pid.or(process.pid),
        comm: thread.comm.clone().or_else(|| process.name().map(str::to_string)),
        path: Some(file.path.to_string()),
        ..thread
    })
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
