//! # open-per-write
//!
//! ## What it is
//! A file is opened, appended to and closed again for each line or record.
//!
//! ## Why it is slow
//! The write itself is one call. The open before it walks the path, checks permissions at each folder and allocates a descriptor,
//! and the close gives all that back: three calls and more for one, and no buffer can collect what is written. At thousands of
//! records a second the opens take more time than the writes.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/var/log/app/audit.log", O_WRONLY|O_CREAT|O_APPEND, 0644) = 3 <0.000030>
//! write(3, "order 4711 accepted\n", 20) = 20 <0.000025>
//! close(3) = 0 <0.000012>
//! ```
//!
//! ## What to do instead
//! Open the file once and keep the descriptor, with a buffer where lines need not be on the disk at once. Where log rotation
//! renames the file, open it anew on SIGHUP or when its inode changed, not for each line.
//!
//! ## When it is wrong
//! A file that is opened a few times a second costs nothing. Programs that must not hold a file open (several hosts append to it
//! over NFS, which sees others' writes only after an open) pay for that on purpose. Files that are made, renamed or removed each
//! time are another matter (see `temp-file-churn`).

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use crate::often::{OPENS, Often};
use crate::sums;
use whyslow_facts::folds::work::Work;
use whyslow_facts::{Facts, FileFacts};
use whyslow_model::syscall::Moves;
use whyslow_model::{FdKind, Measurement, Nanos, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "open-per-write",
    group: "files",
    summary: "a file is opened anew for each line that is appended to it",
    source: include_str!("open_per_write.rs"),
    needs: &[Need::AnyOf(&["open", "openat", "openat2"]), Need::AnyOf(&["write", "pwrite64", "writev"])],
    check,
};

/// Opens a second from which on it is a habit that costs: as of files that are read (`open-close-churn`).
const OPENS_PER_S: f64 = 20.0;
/// Opens from which on it is no start-up.
const MIN_OPENS: u64 = 50;
/// Writes for each open, at most: a line may be written in two pieces.
const WRITES_PER_OPEN: f64 = 2.0;
/// The same at least: some opens write nothing.
const FEWEST_WRITES: f64 = 0.8;
/// Part of the opens that append: others begin the file anew.
const APPENDS: f64 = 0.9;
/// From this part of a process's opens on what it writes goes to that file.
const NEARLY_ALL: f64 = 0.9;

/// A file that is opened for each write.
struct Opened<'a> {
    file: &'a FileFacts,
    opens: u64,
    writes: u64,
    /// In its calls, as far as they are known to be of the file: opens and writes.
    time: Nanos,
    /// Calls of all rounds, with a close for each open.
    calls: u64,
    /// The writes were only counted: for the whole recording, and not for the time in which each call was kept.
    is_counted: bool,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut found: Vec<Opened<'_>> =
        facts.world.files.iter().filter_map(|(_, file)| opened(facts, file)).collect();
    found.sort_by_key(|one| std::cmp::Reverse((one.time.or_zero(), one.opens)));
    for one in found.iter() {
        report(facts, out, one);
    }
}

#[gated]
fn opened<'a>(facts: &Facts, file: &'a FileFacts) -> Option<Opened<'a>> {
    let counted = file.counted.sum();
    let seen = file.writes.as_ref().map_or(0, |io| io.calls.count).max(counted.writes.calls);
    let opens = file.opens.max(counted.opens.calls);
    let writes =
        if (seen as f64) < FEWEST_WRITES * opens as f64 { writes_of_all(facts, file, opens) } else { seen };
    let writes = writes.max(seen);
    // The kernel counts all opens; of those that were seen one by one it is known how.
    let time = if facts.capture.has_durations() || counted.opens.timed > 0 {
        Nanos::new(file.time_ns().max(counted.total_ns()))
    } else {
        Nanos::UNKNOWN
    };
    let appends = file.append_opens as f64 >= APPENDS * file.opens as f64 && file.append_opens > 0;
    let is_made_anew = file.unlinks + file.renames_to > 0;
    let is_plain = FdKind::of_path(file.path.as_bytes()) == FdKind::File && !file.fifo && file.merged == 0;
    let each = writes as f64 / opens.max(1) as f64;
    let is_habit = opens >= MIN_OPENS && (FEWEST_WRITES..=WRITES_PER_OPEN).contains(&each) && appends;
    let is_often = facts.pace.untraced(facts.window.per_second(opens)).is_none_or(|rate| rate >= OPENS_PER_S);
    let calls = file.calls().max(counted.calls()).saturating_add(opens);
    let is_it = is_plain && !is_made_anew && is_habit && is_often;
    is_it.then_some(Opened { file, opens, writes, time, calls, is_counted: writes > seen })
}

/// All writes of the process, where it opens hardly anything else: of writes that were only counted it is not known where they went.
#[gated]
fn writes_of_all(facts: &Facts, file: &FileFacts, opens: u64) -> u64 {
    let threads = &facts.world.threads;
    let Some(user) = threads.thread_of(file.tid) else { return 0 };
    let of_process = threads.iter().map(|(_, thread)| thread).filter(|thread| thread.process == user.process);
    let (mut all_opens, mut writes) = (0u64, 0u64);
    for (call, calls) in of_process.flat_map(|thread| thread.all_calls()) {
        let info = call.info();
        if matches!(info.name, "open" | "openat" | "openat2") {
            all_opens = all_opens.saturating_add(calls.count);
        } else if info.moves == Moves::Write {
            writes = writes.saturating_add(calls.count);
        }
    }
    if opens as f64 >= NEARLY_ALL * all_opens as f64 { writes } else { 0 }
}

fn report(facts: &Facts, out: &mut Findings<'_>, one: &Opened<'_>) {
    let file = one.file;
    let tid = Some(file.tid).filter(|_| !file.shared);
    let of_sums = || sums::share_of(facts, file.tid, one.time);
    let of_sums = one.is_counted.then(of_sums).flatten();
    let share = of_sums.unwrap_or_else(|| guards::share_of_storm(facts, tid, one.time, one.calls));
    let opens = Measurement::count("opens", one.opens).at_least(MIN_OPENS as f64);
    let writes = Measurement::count("writes", one.writes);
    let rate = facts.window.per_second(one.opens);
    // Most of the work is these writes: opens for each of them are in the title.
    let often = Often::of(&OPENS, one.opens, rate, &Work::default()).per_second_from(facts, OPENS_PER_S);
    let comm = Subjects::thread(facts, file.tid).comm.unwrap_or_else(|| "NAME".to_string());
    out.report(
        share,
        format!("{} opened {opens} times for {writes} writes to it{}", file.path, often.in_brackets()),
    )
    .subject(Subject { path: Some(file.path.to_string()), ..Subjects::thread(facts, file.tid) })
    .cause(
        "The program opens the file for each record that it appends, and closes it again. Each record pays a walk of the path and \
         a descriptor, and nothing can collect several records for one write.",
    )
    .measured(opens)
    .measured(writes)
    .measured_all(often.figures())
    .measured(Measurement::time("time", one.time))
    .fix("code: open it once, keep the descriptor, and write through a buffer (Python: one open(…, 'a') outside of the loop; PHP: fopen once, not file_put_contents(…, FILE_APPEND); shell: put the redirection behind the loop)")
    .fix("log rotation: open anew on SIGHUP, or use copytruncate, instead of opening for each line")
    .fix("loggers: a file handler that keeps its file (logback prudent=false, log4j2 File appender, WatchedFileHandler)")
    .verify(format!("opensnoop -p PID -n {comm}   (bcc; or: strace -f -c -e trace=openat,close -p PID)"))
    .saving(one.time)
    .evidence_all(file.exemplars.iter())
    .file();
}
