//! Names that are looked up and not there, where calls were counted: nearly all of them fail, and the kernel's stacks tell that the names
//! are new. With the advice of [`negative_dentry_bloat`](super::negative_dentry_bloat).

use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::{callers, kernel_waits, sums};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, SampleKind, Severity, Subject};

/// Names a second from which on the kernel's memory of them grows by a gigabyte in half a day (192 bytes each and their share of a slab).
pub(super) const NAMES_PER_S: f64 = 100.0;
/// Of the names asked for in the directory, those that are not there.
pub(super) const MISSING: f64 = 0.9;
/// Calls that look up a name, where calls were counted.
pub(super) const LOOKING_UP: &[&str] = &[
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "open",
    "openat",
    "openat2",
];
/// The kernel's look-up of any name (fs/namei.c).
const LOOK_UP: &[&str] = &["filename_lookup", "path_lookupat", "path_openat"];
/// The same of a name that it does not remember, found or not: it asks the file system and makes an entry.
const OF_NEW_NAME: &[&str] = &["__lookup_slow", "lookup_slow", "d_alloc_parallel", "lookup_open"];
/// Of the samples in look-ups, those of names that the kernel does not remember: a name asked for again costs none.
const NEW_SHARE: f64 = 0.3;
/// Samples in look-ups from which on their part is known: a part of 0.3 within 0.2 (binomial, two deviations).
const MIN_SAMPLES: u64 = 20;

/// Samples of a process in look-ups of names, and how many of these are for names that the kernel does not remember.
fn lookups(facts: &Facts, process: ProcessId) -> (u64, u64) {
    let of = |functions| kernel_waits::in_functions(facts, functions, true)(process, None).count;
    (of(LOOK_UP), of(OF_NEW_NAME))
}

/// True where a good part of a process' look-ups is for names that the kernel does not remember.
#[gated]
pub(super) fn are_new(facts: &Facts, process: ProcessId) -> bool {
    let (samples, of_new) = lookups(facts, process);
    samples >= MIN_SAMPLES && of_new as f64 >= NEW_SHARE * samples as f64
}

/// Reports each thread whose look-ups fail so.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) {
    let storms = sums::storms(facts, LOOKING_UP, NAMES_PER_S);
    let in_vain = |storm: &&sums::Storm<'_>| storm.calls.errors as f64 >= MISSING * storm.calls.count as f64;
    for storm in storms.iter().filter(in_vain) {
        let process = storm.sums.thread.process;
        if are_new(facts, process) {
            let (samples, of_new) = lookups(facts, process);
            report_samples(facts, out, storm, samples, of_new as f64 / samples as f64);
        }
    }
}

fn report_samples(facts: &Facts, out: &mut Findings<'_>, storm: &sums::Storm<'_>, samples: u64, part: f64) {
    let subject = storm.subject(facts);
    let failed = storm.calls.errors as f64 / storm.calls.count.max(1) as f64;
    let failed = Measurement::share("share_not_there", failed).at_least(MISSING);
    let new = Measurement::share("share_of_samples_of_new_names", part.min(1.0)).at_least(NEW_SHARE);
    let samples = Measurement::count("samples_in_lookups", samples).at_least(MIN_SAMPLES as f64);
    let is_asking = |time: &whyslow_facts::samples::SiteTime<'_>| {
        time.call.is_some_and(|call| LOOKING_UP.contains(&call))
    };
    let (process, tid) = (storm.sums.thread.process, storm.sums.thread.tid);
    let site = facts.samples.own_site(SampleKind::OnCpu, process, Some(tid), is_asking).map(|(site, _)| site);
    let title = format!(
        "{} asks for files that are not there, each by a new name, {}: {}{}",
        Subjects::words(&subject),
        storm.often(),
        storm.name,
        callers::words(site.as_ref())
    );
    let (place, line) = storm.line(facts);
    out.report(storm.share.clone(), title)
        .at_most(Severity::Warning)
        .confidence(0.5)
        .subject(Subject { function: callers::function(site.as_ref()), ..subject })
        .cause(format!(
            "{failed} of these calls fail, and in {new} of the samples in look-ups the kernel asks the file system for a name that it does not remember, and makes an entry for it. \
             Calls were only counted: the names are not recorded."
        ))
        .measured_all(storm.figures())
        .measured_all([failed, new, samples])
        .fix("first see the names: whyslow record --mode full -p PID")
        .fix(FIX_SET)
        .fix(FIX_CREATE)
        .fix(FIX_PILE)
        .verify(VERIFY)
        .saving(storm.calls.total())
        .evidence_line(place, line)
        .file();
}

pub(super) const FIX_SET: &str = "code: do not ask the file system for what is not there: keep the set of names in memory (list the directory once, inotify tells of new ones), or a Bloom filter";
pub(super) const FIX_CREATE: &str = "code: open(O_CREAT|O_EXCL) where the file is made next anyway; names that say the same for the same thing (a hash of the content, no random part)";
pub(super) const FIX_PILE: &str =
    "what has piled up: echo 2 > /proc/sys/vm/drop_caches once; a memory limit of the group bounds it";
pub(super) const VERIFY: &str = "cat /proc/sys/fs/dentry-state twice (the fifth number, negative ones, stands still); slabtop -o | grep dentry; bcc: dcsnoop";
