//! # path-search-miss
//!
//! ## What it is
//! Files are looked for in one directory after the other, and most of the directories do not have them: shared
//! libraries along RPATH or LD_LIBRARY_PATH, modules along sys.path, @INC or node_modules, headers along `-I`.
//!
//! ## Why it is slow
//! Each file costs as many calls as there are directories before the right one. With 50 directories and 200
//! modules that is 10,000 calls before the program does anything; on a network file system, where a miss may be a
//! round trip, it is seconds. One package manager made 12,151 opens at each start, of which 10,992 failed.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/opt/a/lib/libz.so.1", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
//! openat(AT_FDCWD, "/opt/b/lib/libz.so.1", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)
//! openat(AT_FDCWD, "/usr/lib/libz.so.1", O_RDONLY|O_CLOEXEC) = 3
//! ```
//!
//! ## What to do instead
//! Put the directory that has most of the files first and take out those that have none. Shared libraries: drop
//! LD_LIBRARY_PATH, link with absolute paths or run ldconfig. Python: one zip or one virtual environment. Do it
//! once and keep the process alive, instead of at each start.
//!
//! ## When it is wrong
//! Every start looks for some files in vain; what takes less than 100 ms once is left out. A table of counts
//! shows failed calls but not why they failed; nor do calls that a recorder only counted, of which most fail and one in two hundred finds something. Where a tracer had to wait for a CPU it makes cheap calls long: below 15 % of the time that is
//! a notice.

use super::counted_searches::{self, MISSING};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_facts::world::is_stat_family;
use whyslow_model::syscall::Class;
use whyslow_model::{Measurement, Nanos, Severity, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "path-search-miss",
    group: "files",
    summary: "files are looked for in many directories that do not have them",
    source: include_str!("path_search_miss.rs"),
    needs: &[Need::Counts],
    check,
};

/// Failed lookups per name from which on the order of the directories is wrong: with fewer, most files stand in
/// the first or second.
const MISSES_PER_NAME: f64 = 2.0;
/// A start that loses less than this to its searches is a normal one.
const START_UP: Nanos = Nanos::from_millis(100);
/// Misses of unknown duration from which on they are no normal start: at 10 us each, as under strace, they take
/// those 100 ms.
const UNTIMED_MISSES: u64 = 10_000;
/// How many times the part has to be of what is a warning elsewhere, where a tracer lacked a CPU: a healthy `make` beside other work had
/// 7 % of its time in the searches of its compiler.
const STARVED_TIMES: f64 = 3.0;
/// Misses in a table from which on they are no normal start: a bare `python3 -c pass` has about a hundred.
const TABLE_MISSES: u64 = 500;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.world.calls == 0 {
        if !counted_searches::report(facts, out) {
            check_table(facts, out);
        }
        return;
    }
    if facts.hides_class(Class::File) {
        return out.not_judged("calls on paths", facts.capture.retake());
    }
    let searches = &facts.searches;
    let misses = searches.misses.count;
    let names = searches.found + searches.given_up;
    if misses < guards::few_calls(facts)
        || (misses as f64) < MISSES_PER_NAME * names as f64
        || is_start_up(facts)
    {
        // Of calls that were counted alone, single ones are no search.
        counted_searches::report(facts, out);
        return;
    }
    let time = searches.misses.total();
    let share = guards::share_of_ns(facts, Some(searches.tid).filter(|_| !searches.shared), time, misses);
    let worst = searches.worst_directories();
    let list: Vec<String> =
        worst.iter().take(3).map(|(path, stats)| format!("{path} ({})", words::count(stats.count))).collect();
    let longest = searches.longest.as_ref().map_or(String::new(), |(path, tries)| {
        format!(" The longest: {path} after {}.", words::plural(*tries as u64, "failed lookup"))
    });
    let failed = Measurement::count("failed_lookups", misses).at_least(guards::few_calls(facts) as f64);
    let each = Measurement::number("failed_lookups_per_name", misses as f64 / names.max(1) as f64)
        .at_least(MISSES_PER_NAME);
    let found = Measurement::count("names_found", searches.found);
    let given_up = Measurement::count("names_not_found", searches.given_up);
    let tries = searches.longest.as_ref();
    let tries = tries.map(|(_, tries)| Measurement::count("most_failed_lookups_of_a_name", *tries as u64));
    let lost = time.get().map_or(String::new(), |_| format!(", {time} lost"));
    let mut finding = out
        .report(
            share.clone(),
            format!(
                "{failed} lookups of files where they are not{}: {each} for each of {} searched{lost}",
                worst.first().map_or(String::new(), |(path, _)| format!(", as in {path}")),
                words::plural(names, "name"),
            ),
        )
        .subject(Subject {
            path: worst.first().map(|(path, _)| path.to_string()),
            ..Subjects::thread(facts, if searches.shared { 0 } else { searches.tid })
        })
        .cause(format!(
            "Names are tried in one directory after the other; in vain most often in {}. {found} were found in the end, {given_up} nowhere.{longest}",
            list.join(", "),
        ))
        .measured(failed)
        .measured(each)
        .measured(Measurement::count("names", names))
        .measured(Measurement::time("time", time))
        .measured(found)
        .measured(given_up)
        .measured_all(tries);
    for step in fixes(searches.longest.as_ref().map_or("", |(path, _)| path)) {
        finding = finding.fix(step);
    }
    finding = finding
        .fix("a start repeated for each task: keep one process alive and give it the tasks")
        .verify(
            "strace -f -c -e trace=open,openat,stat,newfstatat,access COMMAND   (the errors column falls)",
        )
        .saving(time)
        .evidence_all(searches.exemplars.iter());
    // Searches that stop are those of a start: what is found then is kept.
    let stopped = is_start(facts) && share.value.is_none_or(|share| share < guards::CRITICAL_SHARE);
    // A tracer that has to wait for a CPU makes cheap calls long.
    let of_tracer =
        facts.pace.starved && share.value.is_some_and(|share| share < STARVED_TIMES * guards::WARNING_SHARE);
    if stopped || of_tracer || !time.is_known() && misses < UNTIMED_MISSES {
        finding = finding.at_most(Severity::Notice);
    }
    finding.file();
}

/// True where a program was started within the capture, and searched in the first half of it only.
#[gated]
fn is_start(facts: &Facts) -> bool {
    let searches = &facts.searches;
    let starter = facts.world.threads.thread_of(searches.tid);
    let started = starter.is_some_and(|thread| facts.world.threads.process(thread.process).started);
    let since = searches.last.since(facts.window.start);
    let half = facts.window.length().or_zero() / 2;
    started && since.get().is_some_and(|since| since <= half.min(guards::STARTUP.or_zero()))
}

/// True where all searches lie in the first moments and cost little: every program starts once.
#[gated]
fn is_start_up(facts: &Facts) -> bool {
    let lost = facts.searches.misses.total();
    let since = facts.searches.last.since(facts.window.start);
    let early = since.get().is_none_or(|since| since <= guards::STARTUP.or_zero());
    early && lost.is_known() && lost < START_UP
}

/// What to change, by the kind of file that was searched.
fn fixes(name: &str) -> Vec<&'static str> {
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    if file.contains(".so") {
        return vec![
            "unset LD_LIBRARY_PATH, or put the directory that has most libraries first; see the search with LD_DEBUG=libs COMMAND",
            "link with one RPATH ($ORIGIN/../lib), or list the directories in /etc/ld.so.conf.d and run ldconfig; patchelf --shrink-rpath FILE drops those that have nothing",
        ];
    }
    match ending {
        "py" | "pyc" | "pyd" => vec![
            "python: shorten sys.path (python -X importtime shows what each import costs); drop .pth and PYTHONPATH entries that have nothing",
            "python: install into one environment, or a zip (zipapp, shiv): one file is searched instead of many directories",
        ],
        "pm" | "pmc" | "pl" => vec![
            "perl: put the directory with most modules first in PERL5LIB; drop `use lib` entries that have nothing",
        ],
        "h" | "hpp" | "hh" => vec![
            "compiler: order the -I options by use, drop those that have nothing (cc -v prints them); use precompiled headers or modules",
        ],
        "js" | "cjs" | "mjs" | "json" | "node" => vec![
            "node: bundle (esbuild --bundle), or import with the full file name and from the nearest node_modules",
        ],
        "rb" => vec![
            "ruby: bootsnap keeps the results of searches ($LOAD_PATH) between starts; bundle clean drops unused gems",
        ],
        _ => vec![
            "put the directory that has most of the files first in the search path, and take out those that have none",
        ],
    }
}

#[gated]
fn check_table(facts: &Facts, out: &mut Findings<'_>) {
    let rows = facts
        .tables
        .iter()
        .filter(|table| !table.library)
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let opens_or_asks = |name: &str| {
        matches!(name, "open" | "openat") || Syscall::lookup(name.as_bytes()).is_some_and(is_stat_family)
    };
    let Some((table, row)) =
        rows.filter(|(_, row)| opens_or_asks(&row.name)).max_by_key(|(_, row)| row.errors.unwrap_or(0))
    else {
        return;
    };
    let (calls, errors) = (row.calls.unwrap_or(0), row.errors.unwrap_or(0));
    if errors < TABLE_MISSES || (errors as f64) < MISSING * calls as f64 {
        return;
    }
    let part = errors as f64 / calls.max(1) as f64;
    let share = guards::share_of_calls(facts, errors);
    let source = facts.capture.source_name(table.source);
    let calls = Measurement::count("calls", calls);
    let errors = Measurement::count("errors", errors).at_least(TABLE_MISSES as f64);
    let part = Measurement::share("share_of_calls_failed", part).at_least(MISSING);
    out.report(share, format!("{errors} of {calls} {} calls failed ({part})", row.name))
    .measured(errors)
    .measured(calls)
    .measured(part)
    .subject(Subject { syscall: Some(row.name.clone()), ..Subject::default() })
    .cause(format!(
        "So many failures mean that files are looked for in directories that do not have them. The table shows \
         neither the paths nor the errors: `strace -f -e trace={} -Z` does.",
        row.name
    ))
    .fix(format!("first see the paths: strace -f -ttT -e trace=%file -o search.st COMMAND; then whyslow diagnose search.st   (strace -Z -e trace={} prints only those that fail)", row.name))
    .fix("then put the directory that has most of the files first in the search path, and take out those that have none")
    .verify(format!("perf trace -s -e {} -- COMMAND   (its errors column)", row.name))
    .evidence_line(format!("{source}:{}", row.line), row.raw.trim())
    .at_most(Severity::Warning)
    .file();
}
