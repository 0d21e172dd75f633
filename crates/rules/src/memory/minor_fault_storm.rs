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
//! counts. Short-lived processes (compilers, shells) are not judged by these. Of a recorded program samples tell what the faults cost, and
//! its calls that it gave memory back.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{callers, figures, kernel_threads, words};
use whyslow_facts::host::Thing;
use whyslow_facts::{Facts, ProcessId, ThreadFacts};
use whyslow_model::{Measurement, Metric, Nanos, SampleKind, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "minor-fault-storm",
    group: "memory",
    summary: "memory is given back and faulted in again, tens of thousands of times per second",
    source: include_str!("minor_fault_storm.rs"),
    needs: &[Need::Either(&[
        figures::tasks(&[Metric::MinorFaults, Metric::TaskSystem, Metric::Rss]),
        Need::Table("process_stats"),
    ])],
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

const KEEP: &str = "glibc: GLIBC_TUNABLES=glibc.malloc.mmap_threshold=268435456:glibc.malloc.trim_threshold=536870912; or use large buffers again instead of freeing them";
const OTHERS: &str = "jemalloc: MALLOC_CONF=dirty_decay_ms:30000,muzzy_decay_ms:30000; tcmalloc: TCMALLOC_RELEASE_RATE=0; Go: GODEBUG=madvdontneed=0, a higher GOGC";
const STAYS: &str = "memory that stays: MAP_POPULATE once, or huge pages (madvise(MADV_HUGEPAGE))";
const VERIFY: &str = "pidstat -r -u -p PID 1 (minflt/s and %system fall); perf record -e page-faults -g -p PID shows who touches it; strace -e trace=munmap,madvise,brk";
/// Where the kernel handles a page fault, on x86-64 and arm64 (arch/x86/mm/fault.c, arch/arm64/mm/fault.c).
const FAULTS: [&str; 3] = ["exc_page_fault", "do_user_addr_fault", "do_page_fault"];
/// Part of what was faulted in that the program gave back in the recording: who grows gives nothing back.
const GIVEN_BACK: f64 = 0.3;
/// Fewer samples in page faults are chance.
const MIN_SAMPLES: u64 = 10;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let recorded: Vec<_> =
        facts.world.threads.processes().filter_map(|(id, _)| Recorded::of(facts, id)).collect();
    if recorded.is_empty() {
        return of_figures(facts, out);
    }
    for storm in recorded.iter() {
        storm.report(facts, out);
    }
}

/// A recorded process that takes page faults for memory that it gave back.
struct Recorded {
    tid: u32,
    samples: u64,
    on_cpu_ns: u64,
    part: f64,
    faulted: u64,
    given_back: u64,
}

impl Recorded {
    #[gated]
    fn of(facts: &Facts, process: ProcessId) -> Option<Recorded> {
        let kind = SampleKind::OnCpu;
        let all = facts.samples.total(kind, process, None);
        let is_fault = |name: &str| FAULTS.iter().any(|function| name.starts_with(function));
        let faults = facts.samples.in_kernel(kind, process, None, is_fault);
        let part = faults.ns as f64 / all.ns.max(1) as f64;
        if faults.count < MIN_SAMPLES || part < MIN_SYSTEM {
            return None;
        }
        let threads = || facts.world.threads.iter().filter(|(_, thread)| thread.process == process);
        let of = |thread: &ThreadFacts| thread.totals.as_ref().and_then(|totals| totals.page_faults);
        let faulted = threads().filter_map(|(_, thread)| of(thread)).saturating_sum();
        let faulted = faulted.saturating_mul(PAGE as u64);
        let mapped = facts.memory.maps.iter().filter(|row| row.process == process).map(|row| row.bytes);
        let released =
            facts.memory.releases.iter().filter(|row| row.process == process).map(|row| row.calls.bytes);
        let given_back = mapped.chain(released).saturating_sum();
        let tid = threads().max_by_key(|(_, thread)| of(thread))?.1.tid;
        let found = Recorded { tid, samples: faults.count, on_cpu_ns: faults.ns, part, faulted, given_back };
        (faulted > 0 && given_back as f64 >= GIVEN_BACK * faulted as f64).then_some(found)
    }

    fn report(&self, facts: &Facts, out: &mut Findings<'_>) {
        let site = callers::computing(facts, self.tid);
        let thread = Subjects::thread(facts, self.tid);
        let pid = thread.pid.unwrap_or(0);
        let name =
            thread.comm.as_ref().map_or(format!("process {pid}"), |name| format!("{name} (process {pid})"));
        let time = Measurement::time("time", Nanos::new(self.on_cpu_ns));
        let part = Measurement::share("share_in_page_faults", self.part).at_least(MIN_SYSTEM);
        let samples = Measurement::count("samples", self.samples).at_least(MIN_SAMPLES as f64);
        let faulted = Measurement::bytes("bytes_faulted_in", self.faulted);
        let given_back = Measurement::bytes("bytes_given_back", self.given_back);
        let given_back = guards::passed(given_back, GIVEN_BACK * self.faulted as f64);
        let share = Share::of_cpu_time(self.part, format!("the CPU time of {name}"));
        let title = format!(
            "{name} spends {part} of its CPU time on page faults for memory that it gave back{}",
            callers::words(site.as_ref())
        );
        out.report(share, title)
            .at_most(Severity::Warning)
            .subject(Subject { function: callers::function(site.as_ref()), tid: None, ..thread })
            .cause(format!("{faulted} were faulted in, and {given_back} given back to the kernel meanwhile by munmap and madvise: the same memory is taken again, and each page is cleared each time."))
            .fix(KEEP)
            .fix(OTHERS)
            .fix(STAYS)
            .verify(VERIFY)
            .measured_all([part, time, samples, faulted, given_back])
            .saving(Nanos::new(self.on_cpu_ns))
            .evidence_line(
                facts.recording_at(facts.window.start),
                format!("process {pid}: {} of its samples in page faults", words::count(self.samples)),
            )
            .file();
    }
}

/// What a look at the host tells.
#[gated]
fn of_figures(facts: &Facts, out: &mut Findings<'_>) {
    let storms = kernel_threads::programs_with(facts, Metric::MinorFaults);
    let storms = storms.into_iter().filter_map(|(faults, of, thing)| {
        let (system, cpu) = (thing.current(Metric::TaskSystem)?, figures::cpu(thing)?);
        let part = system / cpu;
        let (faulted, resident) = again(thing)?;
        let felt = system >= guards::WARNING_SHARE && part >= MIN_SYSTEM;
        (faults >= MIN_FAULTS && felt && faulted >= TIMES_RESIDENT * resident)
            .then_some((faults, system, part, faulted, resident, of))
    });
    for (faults, system, part, faulted, resident, of) in storms {
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
            .fix(KEEP)
            .fix(OTHERS)
            .fix(STAYS)
            .verify(VERIFY)
            .measured_all([faults, system, part, faulted, resident, times])
            .evidence_of(of, &[Metric::MinorFaults, Metric::TaskUser, Metric::TaskSystem, Metric::Rss])
            .file();
    }
}

/// Bytes faulted in, and bytes resident, of a process that is not young.
#[gated]
fn again(thing: &Thing) -> Option<(f64, f64)> {
    let young = thing.current(Metric::Age).is_some_and(|age| age < MIN_AGE_S * 1e9);
    let faulted = thing.times(Metric::MinorFaults)? * PAGE;
    let resident = thing.current(Metric::Rss)?;
    (!young && resident > 0.0).then_some((faulted, resident))
}
