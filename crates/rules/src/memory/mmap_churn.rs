//! # mmap-churn
//!
//! ## What it is
//! Memory of the same size is taken from the kernel (`mmap`) and given back (`munmap`) again and again, or the same file is
//! mapped anew for each use; or the heap's end (`brk`) goes up and down.
//!
//! ## Why it is slow
//! Each new mapping begins empty: every page of it costs a page fault and is zeroed when it is first touched, a
//! thousand times the cost of the call itself for a large block. Giving it back interrupts the other CPUs
//! that run threads of the process (TLB shootdown) and takes the lock of its memory map, on which their faults wait.
//!
//! ## Example
//! ```text
//! mmap(NULL, 1052672, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f2c4e0ff000
//! munmap(0x7f2c4e0ff000, 1052672) = 0
//! ```
//!
//! ## What to do instead
//! Keep the buffer and use it again; map a file once and keep the mapping, or read the piece by `pread`. Or let the allocator keep it: raise glibc's threshold for mapping
//! (`M_MMAP_THRESHOLD`) and trimming (`M_TRIM_THRESHOLD`), or use jemalloc or mimalloc.
//!
//! ## When it is wrong
//! Stacks of threads and reservations are not counted, nor what happens a few times at start-up; of files only mappings
//! whose calls take a twentieth of the time and more. Memory
//! kept is memory not free: a program that needs much once an hour should give it back.

use super::mapping_fixes::{fixes, fixes_of_file};
use super::{heap_churn, mapped_files};
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::passed;
use crate::{guards, sums, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::memory::MapPairs;
use whyslow_model::{Measurement, Nanos, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "mmap-churn",
    group: "memory",
    summary: "memory of one size is mapped and unmapped again and again",
    source: include_str!("mmap_churn.rs"),
    needs: &[Need::Counts],
    check,
};

/// Pairs a second from which on it is churn: with the faults behind each, 1,000 small blocks a second are some per
/// cent of a CPU.
const CHURN_PER_S: f64 = 1_000.0;
/// Bytes a second from which on it is churn too: the kernel zeroes about 10 GB/s, so this is a tenth of a CPU.
const CHURN_BYTES_PER_S: f64 = 1e9;
/// Pairs a second from which on it is churn where the calls themselves take a good part of the time.
const DEAR_PER_S: f64 = 100.0;
/// Fewer pairs than this are start-up (python: some 30).
const MIN_PAIRS: u64 = 100;
/// Of the more frequent of both kinds, what the other has at least where calls were only counted: what is mapped is unmapped again.
const EVEN: f64 = 0.8;
/// Calls that map.
const MAPS: &[&str] = &["mmap", "mmap2"];
/// The call that unmaps.
const UNMAPS: &[&str] = &["munmap"];
/// Calls that a table must show of both kinds.
const MANY_CALLS: u64 = 10_000;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if check_sums(facts, out) {
        return;
    }
    if facts.world.calls == 0 {
        return check_table(facts, out);
    }
    let mut maps: Vec<&MapPairs> = facts
        .memory
        .maps
        .iter()
        .filter(|row| is_churn(facts, row.pairs, row.size, row.calls.total()))
        // What a mapped file costs is its calls: its pages are there already.
        .filter(|row| row.file.is_none() || is_dear(facts, row.calls.total(), 2 * row.pairs))
        .collect();
    maps.sort_by_key(|row| std::cmp::Reverse((row.pairs.saturating_mul(row.size), row.pairs)));
    for row in maps {
        report_maps(facts, out, row);
    }
    for heap in facts.memory.heaps.iter() {
        let mean = heap.lowered / heap.regrown.max(1);
        if is_churn(facts, heap.regrown, mean, heap.calls.total()) {
            heap_churn::report(facts, out, heap, figures(facts, heap.regrown, mean, heap.calls.total()));
        }
    }
}

#[gated]
fn is_dear(facts: &Facts, took: Nanos, calls: u64) -> bool {
    guards::share_of_ns(facts, None, took, calls).value.is_some_and(|share| share >= guards::WARNING_SHARE)
}

#[gated]
fn is_churn(facts: &Facts, times: u64, size: u64, took: Nanos) -> bool {
    if times < MIN_PAIRS {
        return false;
    }
    match facts.pace.untraced(facts.window.per_second(times)) {
        Some(rate) => {
            let dear = is_dear(facts, took, 2 * times);
            rate >= CHURN_PER_S || rate * size as f64 >= CHURN_BYTES_PER_S || (dear && rate >= DEAR_PER_S)
        }
        None => guards::share_of_calls(facts, 2 * times)
            .value
            .is_some_and(|share| share >= guards::STORM_CALL_SHARE),
    }
}

/// How often, and what made it churn of all that [`is_churn`] looks at.
#[gated]
fn figures(facts: &Facts, times: u64, size: u64, took: Nanos) -> (String, Vec<Measurement>) {
    let rate = facts.window.per_second(times);
    let often = rate.map_or(String::new(), |rate| format!(", {} per second", words::quantity(rate)));
    let mut figures = vec![Measurement::count("pairs", times).at_least(MIN_PAIRS as f64)];
    match facts.pace.untraced(rate) {
        Some(untraced) => {
            // Where the calls are dear, fewer of them are enough.
            let least = if is_dear(facts, took, 2 * times) && untraced < CHURN_PER_S {
                DEAR_PER_S
            } else {
                CHURN_PER_S
            };
            let seen = rate.map(|rate| passed(Measurement::per_second("pairs_per_second", rate), least));
            if seen.as_ref().is_some_and(|seen| seen.threshold.is_none()) {
                let untraced = Measurement::per_second("pairs_per_second_untraced", untraced);
                figures.push(passed(untraced, least));
            }
            figures.extend(seen);
            let bytes = Measurement::bytes_per_second("bytes_per_second", untraced * size as f64);
            figures.push(passed(bytes, CHURN_BYTES_PER_S));
            figures.push(passed(
                guards::share_of_ns(facts, None, took, 2 * times).figure(),
                guards::WARNING_SHARE,
            ));
        }
        None => {
            figures.push(guards::share_of_calls(facts, 2 * times).figure().at_least(guards::STORM_CALL_SHARE))
        }
    }
    (often, figures)
}

fn report_maps(facts: &Facts, out: &mut Findings<'_>, row: &MapPairs) {
    let (often, figures) = figures(facts, row.pairs, row.size, row.calls.total());
    let size = Measurement::bytes("bytes_per_pair", row.size);
    let bytes = Measurement::bytes("bytes", row.bytes);
    let time = Measurement::time("time", row.calls.total());
    let path = row.file.map(|file| mapped_files::name(facts, file));
    let title = match &path {
        Some(path) => format!("{path} mapped and unmapped {} times{often}", words::count(row.pairs)),
        None => format!("{size} mapped and unmapped {} times{often}", words::count(row.pairs)),
    };
    let cause = match &path {
        Some(_) => format!(
            "The file is mapped for each use, {size} of it, and unmapped again. The calls took {time}; the page faults behind them are not in a trace of system calls and cost more."
        ),
        None => format!(
            "A block of {size} is taken from the kernel and given back each time: {bytes} in all, of which every page touched costs a page fault and zeroing. The calls took {time}; the faults are not in a trace of system calls and cost more."
        ),
    };
    let tid = Some(row.tid).filter(|_| !row.shared);
    let share = guards::share_of_storm(facts, tid, row.calls.total(), row.calls.count);
    let report = out
        .report(share, title)
        .at_most(Severity::Warning)
        .subject(Subject {
            syscall: Some("mmap, munmap".to_string()),
            path: path.clone(),
            ..Subjects::thread(facts, row.tid)
        })
        .cause(cause)
        .measured_all(figures)
        .measured_all([size, bytes, time])
        .saving(row.calls.total())
        .evidence_all(row.maps.iter())
        .evidence_all(row.unmaps.iter().take(1));
    match path {
        Some(_) => fixes_of_file(report).file(),
        None => fixes(report, row.size).file(),
    }
}

/// Sums of calls: a thread that maps about as often as it unmaps.
#[gated]
fn check_sums(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let storms = sums::storms(facts, &[MAPS, UNMAPS].concat(), 2.0 * DEAR_PER_S);
    let pairs = |storm: &sums::Storm<'_>| (storm.others(MAPS), storm.others(UNMAPS));
    let is_even = |storm: &&sums::Storm<'_>| {
        let (maps, unmaps) = pairs(storm);
        maps.min(unmaps) >= MIN_PAIRS && maps.min(unmaps) as f64 >= EVEN * maps.max(unmaps) as f64
    };
    let even: Vec<_> = storms.iter().filter(is_even).collect();
    for storm in even.iter() {
        let (maps, unmaps) = pairs(storm);
        let maps = Measurement::count("mmap_calls", maps).at_least(MIN_PAIRS as f64);
        let unmaps = Measurement::count("munmap_calls", unmaps).at_least(MIN_PAIRS as f64);
        let subject = Subject { syscall: Some("mmap, munmap".to_string()), ..storm.subject(facts) };
        let rate = Measurement::per_second("calls_per_second", storm.per_second);
        let title = format!(
            "{}: {maps} calls of mmap and {unmaps} of munmap, {rate} per second together",
            Subjects::words(&subject)
        );
        let (place, line) = storm.line(facts);
        let report = out
            .report(storm.share.clone(), title)
            .at_most(Severity::Warning)
            .subject(subject)
            .measured_all([maps, unmaps])
            .measured_all(storm.figures())
            .cause(format!("Memory or files are mapped and unmapped about as often, and the calls took {}; the page faults behind them cost more. Calls were only counted: the sizes are not recorded.", storm.calls.total()))
            .saving(storm.calls.total())
            .evidence_line(place, line);
        fixes(report, 1 << 20).file();
    }
    !even.is_empty()
}

#[gated]
fn check_table(facts: &Facts, out: &mut Findings<'_>) {
    let (maps, unmaps) = (facts.calls_of(&["mmap", "mmap2"]), facts.calls_of(&["munmap"]));
    let share = guards::share_of_calls(facts, maps + unmaps);
    if maps.min(unmaps) < MANY_CALLS || share.value.is_none_or(|share| share < guards::STORM_CALL_SHARE) {
        return;
    }
    let of_calls = share.figure().at_least(guards::STORM_CALL_SHARE);
    let report = out
        .report(share, format!("{} of mmap and {} of munmap", words::plural(maps, "call"), words::count(unmaps)))
        .at_most(Severity::Warning)
        .confidence(0.5)
        .subject(Subject { syscall: Some("mmap, munmap".to_string()), ..Subject::default() })
        .measured(Measurement::count("mmap_calls", maps).at_least(MANY_CALLS as f64))
        .measured(Measurement::count("munmap_calls", unmaps).at_least(MANY_CALLS as f64))
        .measured(of_calls)
        .cause("Memory or files are mapped and unmapped about as often: the table does not show which, nor their size. strace -f -ttT -e trace=mmap,munmap -p PID does.");
    fixes(report, 1 << 20).file();
}
