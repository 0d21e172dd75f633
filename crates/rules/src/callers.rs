//! Where in the program's own code a thread is that computes, or that makes calls over and over: by its samples.

use crate::gate::gated;
use whyslow_facts::samples::{Site, SiteTime};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{SampleKind, Tid};

/// With less of the samples whose stack is known, no function stands for the thread.
const MOST: f64 = 0.25;
/// Fewer samples of a thread tell nothing.
const MIN_SAMPLES: u64 = 10;

/// Which of the program's own functions makes a thread's calls of these kinds, and the line: by samples of the calls, else by the stacks of
/// short ones, else by what the thread runs, which is the loop around them.
pub(crate) fn of_calls<'f>(facts: &'f Facts, tid: Tid, calls: &[&str]) -> Option<Site<'f>> {
    let in_call = |time: &SiteTime<'_>| time.call.is_some_and(|call| calls.contains(&call));
    let of = |kind| of(facts, tid, kind, in_call);
    let by_time = of(SampleKind::OnCpu).or_else(|| of(SampleKind::OffCpu));
    by_time.or_else(|| short_calls(facts, tid, calls)).or_else(|| computing(facts, tid))
}

/// The same, by the stacks of calls too short for samples.
#[gated]
fn short_calls<'f>(facts: &'f Facts, tid: Tid, calls: &[&str]) -> Option<Site<'f>> {
    let process = facts.process_of_thread(tid)?;
    let code = facts.samples.code_of_calls(process, Some(tid), |call| calls.contains(&call))?;
    (code.weight.count >= MIN_SAMPLES && code.part >= MOST).then_some(code.site)
}

/// In which of the program's own functions the kernel works longest on these calls of a process, and the line: who holds what they take.
#[gated]
pub(crate) fn running_calls<'f>(facts: &'f Facts, process: ProcessId, calls: &[&str]) -> Option<Site<'f>> {
    let code = facts.samples.code_of(process, None, |kind, call, _| {
        kind == SampleKind::OnCpu && call.is_some_and(|call| calls.contains(&call))
    })?;
    (code.weight.count >= MIN_SAMPLES && code.part >= MOST).then_some(code.site)
}

/// Which of the program's own functions a thread is in that makes this call, or that computes, and the line; `None` where it is of another
/// process than the thread that waits for it.
pub(crate) fn doing_in<'f>(facts: &'f Facts, waits: Tid, tid: Tid, call: Option<&str>) -> Option<Site<'f>> {
    let is_same = facts.process_of_thread(tid) == facts.process_of_thread(waits);
    let site = || call.map_or_else(|| computing(facts, tid), |call| of_calls(facts, tid, &[call]));
    is_same.then(site).flatten()
}

/// Which of the program's own functions a thread computes in, and the line.
pub(crate) fn computing(facts: &Facts, tid: Tid) -> Option<Site<'_>> {
    of(facts, tid, SampleKind::OnCpu, |_| true)
}

#[gated]
fn of<'f>(
    facts: &'f Facts,
    tid: Tid,
    kind: SampleKind,
    wanted: impl Fn(&SiteTime<'_>) -> bool,
) -> Option<Site<'f>> {
    let process = facts.process_of_thread(tid)?;
    let all = facts.samples.sites(kind, process, Some(tid));
    let count: u64 = all.iter().filter(|time| wanted(time)).map(|time| time.weight.count).sum();
    let (site, part) =
        facts.samples.own_site(kind, process, Some(tid), wanted).filter(|_| count >= MIN_SAMPLES)?;
    (part >= MOST).then_some(site)
}

/// `, in wait_for_slot (slots.c:30)`; nothing where the code is not known.
pub(crate) fn words(site: Option<&Site<'_>>) -> String {
    site.map_or(String::new(), |site| format!(", in {}", short(site)))
}

/// `slots.wait (slots.go:30)`: the function as people speak of it.
pub(crate) fn short(site: &Site<'_>) -> String {
    Site { function: &whyslow_profile::kinds::short(site.function), ..*site }.words()
}

/// The function's whole name, for the subject of a finding.
pub(crate) fn function(site: Option<&Site<'_>>) -> Option<String> {
    site.map(|site| site.function.to_string())
}
