//! Logs by what the kernel added up, where no single writes were seen: bytes and writes by file and thread.

use super::log_flood::{FLOOD_BYTES_PER_S, FLOOD_LINES_PER_S, FLOOD_PART, MIN_WRITES};
use crate::engine::{Findings, Subjects};
use crate::facts::log_levels::is_log_path;
use crate::facts::{Facts, FileFacts, FileUse, User};
use crate::guards::{self, WARNING_SHARE};
use crate::who::Who;
use crate::words;
use whyslow_model::{Nanos, Severity, Subject};

/// Findings at most.
const MOST: usize = 3;

pub(super) fn check(facts: &Facts, out: &mut Findings<'_>) {
    let files = &facts.world.files;
    let all = || files.iter().map(|(_, file)| file).chain(files.merged.values());
    let writes = all().map(|file| file.counted.sum().writes.calls).fold(0, u64::saturating_add);
    let mut floods: Vec<(f64, f64, &FileFacts, FileUse)> = Vec::new();
    for file in all().filter(|file| is_log_path(&file.path)) {
        let used = file.counted.sum();
        let rates =
            facts.window.per_second(used.writes.calls).zip(facts.window.per_second(used.writes.bytes));
        let Some((lines, bytes)) = rates.filter(|_| used.writes.calls >= MIN_WRITES) else { continue };
        let main = used.writes.calls as f64 >= FLOOD_PART * writes as f64 && lines >= FLOOD_LINES_PER_S;
        if bytes >= FLOOD_BYTES_PER_S || main {
            floods.push((bytes, lines, file, used));
        }
    }
    floods.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.2.path.cmp(&b.2.path)));
    let mut told = 0;
    for (bytes, lines, file, used) in floods {
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
        if most.writes.timed > 0 && share.value.is_some_and(|share| share >= WARNING_SHARE) {
            told += 1;
            report(facts, out, (bytes, lines), file, &used, user, share);
        }
    }
}

fn report(
    facts: &Facts,
    out: &mut Findings<'_>,
    (bytes, lines): (f64, f64),
    file: &FileFacts,
    used: &FileUse,
    user: User,
    share: guards::Share,
) {
    let who = Who::of(facts, user);
    let writes = &used.writes;
    out.report(
        share,
        format!(
            "{}: {} a second of log in {} writes a second by {}",
            file.path,
            words::bytes(bytes as u64),
            words::quantity(lines),
            who.short()
        ),
    )
    .at_most(Severity::Warning)
    .confidence(0.7)
    .subject(Subject { path: Some(file.path.to_string()), ..Subjects::thread(facts, user.tid) })
    .cause(format!(
        "{} went to it in {}, and the thread that logs waits for each. What the lines say was not recorded.",
        words::bytes(writes.bytes),
        words::plural(writes.calls, "write")
    ))
    .fix("see what it says, and at which level: tail -n 1000 LOG | cut -c1-80 | sort | uniq -c | sort -rn | head")
    .fix("log less: raise the level to INFO, sample or limit the line that repeats")
    .fix("do not flush each line (immediateFlush=false), and log through an asynchronous appender with a bounded queue that drops DEBUG first (logback AsyncAppender, log4j2 AsyncLogger, Python QueueHandler)")
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
