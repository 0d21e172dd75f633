//! Where in the program's own code a finding is: the function that makes its calls, by the stacks of those calls, and who calls that
//! function. Where a thread waits most may be another place.

use whyslow_facts::samples::{CodeTime, Site};
use whyslow_facts::world::ids::ObjectId;
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{AccountRow, Finding, FindingCode, SampleKind, Severity, Tid, TimeAccount};

/// Fewer stacks of a call tell not where it is made: one may be of the one time that another function made it.
const MIN_SAMPLES: u64 = 3;
/// A function with less of the stacks does not stand for the others.
const LEAST_PART: f64 = 0.25;

/// Tells each finding of the program where it is, as far as samples tell. Of what another process is behind the way to that one tells it.
pub(crate) fn place(facts: &Facts, account: Option<&TimeAccount>, findings: &mut [Finding]) {
    for finding in findings {
        if finding.severity > Severity::Capture && finding.culprit.is_none() {
            let code = of_waits(facts, finding).or_else(|| of_subject(facts, finding));
            let code = code.or_else(|| of_row(facts, account, finding));
            let code = code.or_else(|| of_questions(facts, finding));
            finding.code = code.or_else(|| of_computing(facts, finding));
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
        let code = threads().find_map(|tid| Some((tid, of_function(facts, process, tid, function)?)));
        return code.map(|(tid, code)| {
            let calls = subject.syscall.as_deref();
            let made =
                |_, call: Option<&str>| calls.zip(call).is_some_and(|(calls, call)| is_one_of(calls, call));
            let computes = |kind: SampleKind, call: Option<&str>| kind == SampleKind::OnCpu && call.is_none();
            let within = facts.samples.enclosing(process, tid, &code, made);
            with(told(&code, true), within.or_else(|| facts.samples.enclosing(process, tid, &code, computes)))
        });
    }
    of_calls(facts, process, subject.tid, subject.syscall.as_deref().or_else(|| calls_of(finding.id))?)
}

/// The function that waits for the lock, the server or the file that the finding is about: other waits in the same call may be elsewhere.
fn of_waits(facts: &Facts, finding: &Finding) -> Option<FindingCode> {
    let subject = &finding.subject;
    // A rule that names a function knows who is to blame.
    if subject.function.is_some() {
        return None;
    }
    let of_waits = whyslow_rules::find(finding.id)?.group == "waits";
    let path = subject.path.as_deref().filter(|_| of_waits);
    let named = subject.lock.as_deref().or(subject.peer.as_deref()).or(path)?;
    let process = facts.world.threads.last_process(subject.pid?)?;
    let objects: Vec<ObjectId> = facts.accounts.objects.of_name(named).collect();
    let is_for = |object: ObjectId| objects.contains(&object);
    let code = facts.samples.code_of_waits(process, None, is_for);
    let code = code.filter(|code| code.weight.count >= MIN_SAMPLES && code.part >= LEAST_PART)?;
    Some(with(told(&code, true), facts.samples.enclosing_waits(process, None, &code, is_for)))
}

/// The function that makes these calls.
fn of_calls(facts: &Facts, process: ProcessId, tid: Option<Tid>, calls: &str) -> Option<FindingCode> {
    let is_its = |call: &str| is_one_of(calls, call);
    let stands = |code: &CodeTime<'_>| code.weight.count >= MIN_SAMPLES && code.part >= LEAST_PART;
    tid.map(Some).into_iter().chain([None]).find_map(|tid| {
        let by_time =
            facts.samples.code_of(process, tid, |_, call, _| call.is_some_and(is_its)).filter(stands);
        if let Some(code) = by_time {
            let within = facts.samples.enclosing(process, tid, &code, |_, call| call.is_some_and(is_its));
            return Some(with(told(&code, true), within));
        }
        // Calls too short for samples and waits have stacks of their own.
        let code = facts.samples.code_of_calls(process, tid, is_its).filter(stands)?;
        Some(with(told(&code, true), facts.samples.enclosing_calls(process, tid, &code, is_its)))
    })
}

/// The function that asks the questions whose answers cost the time: an event loop waits for all answers where none of the program's own code stands.
fn of_questions(facts: &Facts, finding: &Finding) -> Option<FindingCode> {
    const ASKING: [&str; 6] = [
        "chatty-exchange",
        "n-plus-one-queries",
        "retry-storm",
        "serial-independent-calls",
        "slow-downstream",
        "slow-redis-command",
    ];
    let process = facts.world.threads.last_process(finding.subject.pid?)?;
    ASKING.contains(&finding.id).then(|| of_calls(facts, process, finding.subject.tid, ASKS))?
}

/// The function in which a process computes most that wants more of the CPUs than it has: that is to be done less often.
fn of_computing(facts: &Facts, finding: &Finding) -> Option<FindingCode> {
    const WANT_CPU: [&str; 3] = ["too-many-threads", "run-queue-delay", "cpu-throttled"];
    // Where others have the CPUs, its own code is not what is slow.
    let is_beside = finding.measurements.iter().any(|one| one.name == "share_of_wait_for_other");
    if !WANT_CPU.contains(&finding.id) || is_beside {
        return None;
    }
    let process = facts.world.threads.last_process(finding.subject.pid?)?;
    let (site, part) = facts.samples.own_site(SampleKind::OnCpu, process, None, |_| true)?;
    let code = (part >= LEAST_PART).then(|| of_function(facts, process, None, site.function))??;
    Some(told(&code, false))
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
    let within = code.zip(process).and_then(|(code, process)| {
        let is_alike = |_, call: Option<&str>| call.is_some() && call == row.call.as_deref();
        facts.samples.enclosing(process, None, &code, is_alike)
    });
    let told = FindingCode {
        function: row.function.clone()?,
        place: row.place.clone(),
        caller: caller.map(|caller| caller.function.to_string()),
        caller_place: caller.and_then(|caller| caller.line()).map(str::to_string),
        within: None,
        within_place: None,
        is_its_own: false,
    };
    Some(with(told, within))
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
        within: None,
        within_place: None,
        is_its_own,
    }
}

/// With the function further out.
fn with(code: FindingCode, within: Option<Site<'_>>) -> FindingCode {
    let within_place = within.and_then(|site| site.line()).map(str::to_string);
    FindingCode { within: within.map(|site| site.function.to_string()), within_place, ..code }
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
        "log-flood" | "duplicate-write" | "write-to-dev-null" | "small-writes" => "write/writev/pwrite64",
        "fsync-per-write" => "fsync/fdatasync/msync/sync_file_range",
        "connection-per-request" | "connect-failing" | "ephemeral-port-exhaustion" => "connect",
        _ => return None,
    })
}

/// Calls that send a question.
const ASKS: &str = "sendto/write/writev/sendmsg/sendmmsg";

/// Rules that look at calls by what they are for give several: `clone/clone3/fork`, `mmap, munmap`.
fn is_one_of(calls: &str, call: &str) -> bool {
    calls.split(['/', ',', ' ']).any(|one| one == call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::finding;
    use whyslow_model::{CallStack, Event, Nanos, Sink, Stack, StackFrame, StackId, Syscall, Timestamp};

    #[test]
    fn an_event_loop_asks_where_its_short_sends_are_made() {
        let mut facts = Facts::default();
        let frame = |function: &str| StackFrame {
            function: Some(function.to_string()),
            module: Some("/srv/app".to_string()),
            ..StackFrame::default()
        };
        let frames = ["put_line", "ask_stock", "serve"].map(frame).to_vec();
        facts.push(Event::Stack(Stack { id: StackId(1), frames, cut: false }));
        let call = Syscall::lookup(b"write").unwrap();
        for at in 0..MIN_SAMPLES {
            facts.push(Event::CallStack(CallStack {
                ts: Timestamp::new(1 + at),
                cpu: 0,
                pid: 7,
                tid: 7,
                call,
                took: Nanos::new(2_000),
                user: StackId(1),
            }));
        }
        facts.finish();
        let placed = |id| {
            let mut findings = [finding(id, Some(7), Some(0.5))];
            place(&facts, None, &mut findings);
            findings[0].code.as_ref().map(FindingCode::words)
        };
        assert_eq!(placed("chatty-exchange").as_deref(), Some("put_line, called by ask_stock"));
        // A rule that asks nobody.
        assert_eq!(placed("cpu-bound"), None);
    }
}
