//! Where in the program's own code a finding is: the function that makes its calls, by the stacks of those calls, and who calls that
//! function. Where a thread waits most may be another place.

use whyslow_facts::samples::CodeTime;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{AccountRow, Finding, FindingCode, Severity, Tid, TimeAccount};

/// Fewer stacks of a call tell not where it is made: one may be of the one time that another function made it.
const MIN_SAMPLES: u64 = 3;
/// A function with less of the stacks does not stand for the others.
const LEAST_PART: f64 = 0.25;

/// Tells each finding of the program where it is, as far as samples tell. Of what another process is behind the way to that one tells it.
pub(crate) fn place(facts: &Facts, account: Option<&TimeAccount>, findings: &mut [Finding]) {
    for finding in findings {
        if finding.severity > Severity::Capture && finding.culprit.is_none() {
            finding.code = of_subject(facts, finding).or_else(|| of_row(facts, account, finding));
        }
    }
}

/// The function that the rule names, or that makes the calls that it names.
fn of_subject(facts: &Facts, finding: &Finding) -> Option<FindingCode> {
    let subject = &finding.subject;
    let process = facts.world.threads.last_process(subject.pid?)?;
    // What one thread does seldom, others of its process may do alike.
    let threads = || subject.tid.map(Some).into_iter().chain([None]);
    if let Some(function) = &subject.function {
        let code = threads().find_map(|tid| of_function(facts, process, tid, function));
        return code.map(|code| told(&code, true));
    }
    let calls = subject.syscall.as_deref().or_else(|| calls_of(finding.id))?;
    let is_its = |call: Option<&str>| call.is_some_and(|call| is_one_of(calls, call));
    let code = threads().find_map(|tid| {
        let code = facts.samples.code_of(process, tid, |_, call, _| is_its(call))?;
        (code.weight.count >= MIN_SAMPLES && code.part >= LEAST_PART).then_some(code)
    })?;
    Some(told(&code, true))
}

/// The function that takes most of the largest part of the account that the finding explains.
fn of_row(facts: &Facts, account: Option<&TimeAccount>, finding: &Finding) -> Option<FindingCode> {
    let part =
        |row: &AccountRow| row.claimed_by.iter().find(|claim| claim.id == finding.id).map(|one| one.ns);
    let rows = account?.rows.iter().filter(|row| row.function.is_some());
    let row = rows.filter_map(|row| Some((part(row)?, row))).max_by_key(|(ns, _)| *ns)?.1;
    let process = row.tid.and_then(|tid| facts.process_of_thread(tid));
    let code = process.and_then(|process| of_function(facts, process, None, row.function.as_deref()?));
    let caller = code.and_then(|code| code.caller);
    Some(FindingCode {
        function: row.function.clone()?,
        place: row.place.clone(),
        caller: caller.map(|caller| caller.function.to_string()),
        caller_place: caller.and_then(|caller| caller.line()).map(str::to_string),
        is_its_own: false,
    })
}

fn of_function<'f>(
    facts: &'f Facts,
    process: ProcessId,
    tid: Option<Tid>,
    function: &str,
) -> Option<CodeTime<'f>> {
    facts.samples.code_of(process, tid, |_, _, site| site.function == function)
}

fn told(code: &CodeTime<'_>, is_its_own: bool) -> FindingCode {
    FindingCode {
        function: code.site.function.to_string(),
        place: code.site.line().map(str::to_string),
        caller: code.caller.map(|caller| caller.function.to_string()),
        caller_place: code.caller.and_then(|caller| caller.line()).map(str::to_string),
        is_its_own,
    }
}

/// The calls of rules whose subject is what the calls bring about, or are about: a parent makes children by these, a file is read by those.
fn calls_of(rule: &str) -> Option<&'static str> {
    Some(match rule {
        "fork-per-task" | "interpreter-start-per-item" | "zombie-buildup" => "clone/clone3/fork/vfork",
        "stat-per-entry" | "repeated-stat" => "newfstatat/stat/lstat/statx",
        "directory-rescan" | "huge-directory" => "getdents64/getdents",
        "file-reread" | "archive-reread" => "read/pread64/readv/preadv",
        "open-close-churn" | "config-reread" | "ca-bundle-reload" | "proc-scan" => "openat/open/openat2",
        "temp-file-churn" => "unlink/unlinkat/openat/open/write/pwrite64",
        _ => return None,
    })
}

/// Rules that look at calls by what they are for give several: `clone/clone3/fork`, `mmap, munmap`.
fn is_one_of(calls: &str, call: &str) -> bool {
    calls.split(['/', ',', ' ']).any(|one| one == call)
}
