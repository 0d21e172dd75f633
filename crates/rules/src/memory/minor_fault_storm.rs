//! # minor-fault-storm
//!
//! ## What it is
//! A program faults in memory tens of thousands of times a second, again and again the same amount: it gives memory back
//! to the kernel and takes it again.
//!
//! ## Why it is slow
//! Each first touch of a page is a trap into the kernel, which finds a page, clears its 4,096 bytes and maps it: half a
//! microsecond, and more where several threads change the same address space. It shows as system time without system calls.
//!
//! ## Example
//! ```text
//! worker (812): 182,000 minor faults/s, 61.0 % of its CPU time in the kernel; 7.1 GB faulted in, 210 MB resident
//! ```
//!
//! ## What to do instead
//! Keep what was freed: larger thresholds of malloc (M_MMAP_THRESHOLD, M_TRIM_THRESHOLD), jemalloc's or tcmalloc's decay,
//! buffers that are used again. Huge pages make one fault of 512.
//!
//! ## When it is wrong
//! A program that starts or fills its heap faults in as much as it then has: only what is many times its resident memory
//! counts. Short-lived processes (compilers, shells) are not judged.

use crate::engine::{Findings, Rule};
use crate::guards::{self, Share};
use crate::{figures, kernel_threads};
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::{Measurement, Metric, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "minor-fault-storm",
    group: "memory",
    summary: "memory is given back and faulted in again, tens of thousands of times per second",
    source: include_str!("minor_fault_storm.rs"),
    needs: &[figures::tasks(&[Metric::MinorFaults, Metric::TaskSystem, Metric::Rss])],
    check,
};

/// Faults a second: at half a microsecond each 2.5 % of a CPU, and twice that with what clearing evicts from the caches.
const MIN_FAULTS: f64 = 50_000.0;
/// Part of the program's CPU time that is the kernel's: with less the faults cost little.
const MIN_SYSTEM: f64 = 0.25;
/// What was faulted in, over the memory that it has: more than growing explains.
const TIMES_RESIDENT: f64 = 5.0;
/// A younger process is a compiler's or a shell's: it faults in its memory once, and ends.
const MIN_AGE_S: f64 = 30.0;
/// Bytes that a fault maps. Huge pages map more, so that this is the least.
const PAGE: f64 = 4_096.0;
/// Findings of this rule in one diagnosis.
const MOST: usize = 2;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let storms = kernel_threads::programs_with(facts, Metric::MinorFaults);
    let storms = storms.into_iter().filter_map(|(faults, of, thing)| {
        let (system, cpu) = (thing.current(Metric::TaskSystem)?, figures::cpu(thing)?);
        let part = system / cpu;
        let (faulted, resident) = again(thing)?;
        let felt = system >= guards::WARNING_SHARE && part >= MIN_SYSTEM;
        (faults >= MIN_FAULTS && felt && faulted >= TIMES_RESIDENT * resident)
            .then_some((faults, system, part, faulted, resident, of))
    });
    for (faults, system, part, faulted, resident, of) in storms.take(MOST) {
        let name = facts.host.name_of(of);
        let share = Share::of_cpu_time(part, format!("the CPU time of {name}, in the kernel"));
        let times = Measurement::number("times_resident", faulted / resident).at_least(TIMES_RESIDENT);
        let faults = Measurement::per_second("minor_faults_per_second", faults).at_least(MIN_FAULTS);
        let system = Measurement::seconds_per_second("kernel_cpus", system).at_least(guards::WARNING_SHARE);
        let part = Measurement::share("share_in_kernel", part).at_least(MIN_SYSTEM);
        let faulted = Measurement::bytes("bytes_faulted_in", faulted as u64);
        let resident = Measurement::bytes("bytes_resident", resident as u64);
        out.report(share, format!("{name} takes {faults} page faults a second for memory that it gave back"))
            .at_most(Severity::Warning)
            .subject(figures::subject(facts, of))
            .cause(format!("{faulted} were faulted in, and {resident} are resident: the same memory was given to the kernel and taken from it again, and each page is cleared each time."))
            .fix("glibc: GLIBC_TUNABLES=glibc.malloc.mmap_threshold=268435456:glibc.malloc.trim_threshold=536870912; or use large buffers again instead of freeing them")
            .fix("jemalloc: MALLOC_CONF=dirty_decay_ms:30000,muzzy_decay_ms:30000; tcmalloc: TCMALLOC_RELEASE_RATE=0; Go: GODEBUG=madvdontneed=0, a higher GOGC")
            .fix("memory that stays: MAP_POPULATE once, or huge pages (madvise(MADV_HUGEPAGE))")
            .verify("pidstat -r -u -p PID 1 (minflt/s and %system fall); perf record -e page-faults -g -p PID shows who touches it; strace -e trace=munmap,madvise,brk")
            .measured_all([faults, system, part, faulted, resident, times])
            .evidence_of(of, &[Metric::MinorFaults, Metric::TaskUser, Metric::TaskSystem, Metric::Rss])
            .file();
    }
}

/// Bytes faulted in, and bytes resident, of a process that is not young.
fn again(thing: &Thing) -> Option<(f64, f64)> {
    let young = thing.current(Metric::Age).is_some_and(|age| age < MIN_AGE_S * 1e9);
    let faulted = thing.times(Metric::MinorFaults)? * PAGE;
    let resident = thing.current(Metric::Rss)?;
    (!young && resident > 0.0).then_some((faulted, resident))
}
