//! Searches for files where calls were only counted: most look-ups of a thread find nothing, and some do.

use super::new_names::{self, LOOKING_UP};
use crate::engine::{Findings, Subjects};
use crate::gate::gated;
use crate::{callers, sums};
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Severity, Subject};

/// Look-ups a second that find nothing from which on they are no start-up.
const MISSES_PER_S: f64 = 1_000.0;
/// The part of the look-ups that fails: two of three, with some files of known places among them.
pub(super) const MISSING: f64 = 0.6;
/// Of so many look-ups one finds something: where none does, nothing is searched for.
const A_HIT_IN: u64 = 200;

/// Reports each thread that searches so; false where none does.
#[gated]
pub(super) fn report(facts: &Facts, out: &mut Findings<'_>) -> bool {
    let storms = sums::storms(facts, LOOKING_UP, MISSES_PER_S);
    let searches = |storm: &&sums::Storm<'_>| {
        let (calls, misses) = (storm.calls.count, storm.calls.errors);
        let hits = calls.saturating_sub(misses);
        misses as f64 >= MISSING * calls as f64
            && hits.saturating_mul(A_HIT_IN) >= calls
            && !new_names::are_new(facts, storm.sums.thread.process)
    };
    let found: Vec<_> = storms.iter().filter(searches).collect();
    found.iter().for_each(|storm| tell(facts, out, storm));
    !found.is_empty()
}

fn tell(facts: &Facts, out: &mut Findings<'_>, storm: &sums::Storm<'_>) {
    let subject = storm.subject(facts);
    let (calls, misses) = (storm.calls.count, storm.calls.errors);
    let failed = Measurement::count("failed_lookups", misses);
    let part = Measurement::share("share_not_there", misses as f64 / calls.max(1) as f64).at_least(MISSING);
    let each = Measurement::number("failed_lookups_per_hit", misses as f64 / (calls - misses).max(1) as f64);
    let site = callers::of_calls(facts, storm.sums.thread.tid, LOOKING_UP);
    let title = format!(
        "{} looks for files where they are not: {failed} look-ups in vain, {each} for each that finds one{}",
        Subjects::words(&subject),
        callers::words(site.as_ref())
    );
    let (place, line) = storm.line(facts);
    out.report(storm.share.clone(), title)
        .at_most(Severity::Warning)
        .confidence(0.5)
        .subject(Subject { function: callers::function(site.as_ref()), ..subject })
        .cause(format!(
            "{part} of these calls fail, and some find what they ask for: names are tried in one directory after the other. Calls were only counted: the names are not recorded."
        ))
        .measured_all(storm.figures())
        .measured_all([failed, part, each])
        .fix("first see the names: whyslow record --mode full -p PID")
        .fix("put the directory that has most of them first, or keep where each was found (and that it was not)")
        .fix("list the directories once and look names up in memory")
        .verify("strace -f -c -e trace=open,openat,stat,newfstatat,access -p PID   (the errors column falls)")
        .saving(storm.calls.total())
        .evidence_line(place, line)
        .file();
}
