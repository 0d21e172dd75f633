//! # madvise-churn
//!
//! ## What it is
//! An allocator gives pages back to the kernel (`madvise` with MADV_DONTNEED or MADV_FREE) thousands of times a second, and
//! uses the same pages again soon after.
//!
//! ## Why it is slow
//! A page that was given back costs a fault and is zeroed when it is next touched. Each call also takes the lock of
//! the process's memory map and makes all CPUs that run its threads drop their translations, so that many
//! threads giving memory back stop each other.
//!
//! ## Example
//! ```text
//! madvise(0x7f91d8021000, 65536, MADV_DONTNEED) = 0
//! madvise(0x7f91d8021000, 65536, MADV_DONTNEED) = 0
//! ```
//!
//! ## What to do instead
//! Let the allocator keep freed pages for longer: jemalloc `dirty_decay_ms`, tcmalloc `TCMALLOC_RELEASE_RATE`, glibc trim
//! threshold, Go's GOMEMLIMIT or GOGC. Or allocate less: keep buffers and use them again.
//!
//! ## When it is wrong
//! A process that has become idle gives its memory back once; that is what one wants. In a container near its memory limit
//! keeping pages may end in an OOM kill: raise the limit first.

use crate::engine::{Findings, Need, Report, Rule, Subjects};
use crate::gate::gated;
use crate::guards::passed;
use crate::often::{self, Often};
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::memory::Releases;
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "madvise-churn",
    group: "memory",
    summary: "memory is given back to the kernel in small pieces and used again at once",
    source: include_str!("madvise_churn.rs"),
    needs: &[Need::Counts],
    check,
};

/// Releases a second from which on it is churn, with the faults and interrupts behind each.
const CHURN_PER_S: f64 = 1_000.0;
/// Fewer calls than this are a heap being tidied once.
const MIN_CALLS: u64 = guards::FEW_CALLS;
/// Fewer are no habit, however dear each is.
const FEW_BUT_DEAR: u64 = 50;
/// What releases take of the time in which their threads do not wait, from which on they are dear: a server has little to do in most of its
/// life, and each of its requests pays.
const DEAR: f64 = 0.1;
/// The part of the releases that must be of a range given back shortly before, where the rate alone does not tell.
const AGAIN_SHARE: f64 = 0.3;
/// Calls that a table must show.
const MANY_CALLS: u64 = 10_000;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.world.calls == 0 {
        return check_table(facts, out);
    }
    for row in &facts.memory.releases {
        let count = row.calls.count;
        let again = row.again as f64 / count.max(1) as f64;
        let fast = match facts.pace.untraced(facts.window.per_second(count)) {
            Some(rate) => rate >= CHURN_PER_S,
            None => guards::share_of_calls(facts, count)
                .value
                .is_some_and(|share| share >= guards::STORM_CALL_SHARE),
        };
        let work = guards::part_of_work(facts, row.process, row.calls.total());
        let is_dear = again >= AGAIN_SHARE && count >= FEW_BUT_DEAR && work.is_some_and(|part| part >= DEAR);
        if count >= MIN_CALLS && fast {
            report(facts, out, row, again, None);
        } else if is_dear {
            report(facts, out, row, again, work);
        }
    }
}

/// `work`: the part of the threads' work that the calls take, where that alone makes them dear.
#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, row: &Releases, again: f64, work: Option<f64>) {
    let count = row.calls.count;
    let rate = facts.window.per_second(count);
    let often = Often::of(&often::CALLS, count, rate, &facts.work);
    let often = if work.is_some() { often } else { often.per_second_from(facts, CHURN_PER_S) };
    let least = if work.is_some() { FEW_BUT_DEAR } else { MIN_CALLS };
    let calls = Measurement::count("calls", count).at_least(least as f64);
    let work = work.map(|part| Measurement::share("share_of_work", part).at_least(DEAR));
    // Without a clock the part of all calls decides.
    let of_calls = rate.is_none().then(|| guards::share_of_calls(facts, count).figure());
    let of_calls = of_calls.map(|share| share.at_least(guards::STORM_CALL_SHARE));
    let each = Measurement::bytes("bytes_per_call", row.calls.bytes / count.max(1));
    let bytes = Measurement::bytes("bytes", row.calls.bytes);
    let time = Measurement::time("time", row.calls.total());
    let part = passed(Measurement::share("share_given_back_before", again), AGAIN_SHARE);
    let tid = Some(row.tid).filter(|_| !row.shared);
    let share = guards::share_of_storm(facts, tid, row.calls.total(), count);
    let reused = if again >= AGAIN_SHARE {
        format!(
            "{part} of the calls are for a range that had been given back shortly before, so it was used in between"
        )
    } else {
        "the capture does not show how soon the pages are used again".to_string()
    };
    // Without the sign of reuse it may be a large heap being given up.
    let most = if again >= AGAIN_SHARE && work.is_none() { Severity::Warning } else { Severity::Notice };
    let report = out
        .report(share, format!("madvise({}) gives memory back {calls} times{}, {each} each time", row.advice, often.behind_comma()))
        .at_most(most)
        .confidence(if again >= AGAIN_SHARE { 0.8 } else { 0.5 })
        .subject(Subject { syscall: Some("madvise".to_string()), ..Subjects::thread(facts, row.tid) })
        .cause(format!(
            "The allocator returns {bytes} in all to the kernel piece by piece; {reused}. The calls took {time}; the page faults that follow are not in a trace of system calls."
        ))
        .measured(calls)
        .measured_all(often.figures())
        .measured_all(of_calls)
        .measured_all(work)
        .measured_all([each, bytes, time, part])
        .saving(row.calls.total())
        .evidence_all(row.exemplars.iter());
    fixes(report).file();
}

#[gated]
fn check_table(facts: &Facts, out: &mut Findings<'_>) {
    let count = facts.calls_of(&["madvise"]);
    let share = guards::share_of_calls(facts, count);
    if count < MANY_CALLS || share.value.is_none_or(|share| share < guards::STORM_CALL_SHARE) {
        return;
    }
    let report = out
        .report(share, format!("madvise is {} of {}", words::plural(count, "call"), words::count(facts.total_calls())))
        .at_most(Severity::Warning)
        .confidence(0.5)
        .subject(Subject { syscall: Some("madvise".to_string()), ..Subject::default() })
        .measured_all(guards::of_all_calls(facts, count, MANY_CALLS))
        .cause("Most likely an allocator gives memory back piece by piece. The table does not show the advice or the sizes: strace -f -ttT -e trace=madvise -p PID does.");
    fixes(report).file();
}

fn fixes<'f, 'a>(report: Report<'f, 'a>) -> Report<'f, 'a> {
    report
        .fix("jemalloc: MALLOC_CONF=dirty_decay_ms:30000,muzzy_decay_ms:30000,background_thread:true")
        .fix("gperftools: TCMALLOC_RELEASE_RATE=0.1; glibc: MALLOC_TRIM_THRESHOLD_=268435456; Go: GOGC=200 with GOMEMLIMIT below the container's limit")
        .fix("code: keep large buffers and use them again instead of freeing them after each item")
        .verify("perf stat -e page-faults,syscalls:sys_enter_madvise -p PID -- sleep 5   (before and after)")
}
