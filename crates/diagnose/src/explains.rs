//! Causes and consequences: where both are found, mending the one takes away the other, and the one is told before the other.

use crate::asker::Asker;
use whyslow_model::{Finding, FollowsFrom, Severity, ShareWhole};

/// One cause with what goes with it.
struct Explains {
    /// What is to be mended.
    cause: &'static str,
    /// Rules whose findings then go, too.
    consequences: &'static [&'static str],
    /// Why the consequences' time is spent because of the cause.
    reason: &'static str,
    /// The cause takes little time itself: what it starts does.
    starts: bool,
}

/// The relation. A chain of causes (a re-read file, its archive's decoder, the CPU that it takes) needs each step once.
static EXPLAINS: &[Explains] = &[
    Explains {
        cause: "sync-open",
        consequences: &[
            "small-writes",
            "slow-file-io",
            "log-flood",
            "fsync-per-write",
            "disk-saturated",
            "duplicate-write",
        ],
        reason: "a file opened with O_SYNC waits for the device at each write",
        starts: false,
    },
    Explains {
        cause: "fsync-per-write",
        consequences: &["slow-file-io", "small-writes", "journal-commit-stall", "disk-saturated"],
        reason: "each fsync waits for the device, and for the journal of its file system",
        starts: false,
    },
    Explains {
        cause: "global-sync",
        consequences: &["slow-file-io", "disk-saturated", "fsync-per-write", "fork-per-task"],
        reason: "sync writes back whatever anybody has written",
        starts: false,
    },
    Explains {
        cause: "file-reread",
        consequences: READ_AND_DECODED,
        reason: "the file is opened, read and decoded each time",
        starts: false,
    },
    Explains {
        cause: "archive-reread",
        consequences: READ_AND_DECODED,
        reason: "the archive is opened, read and unpacked each time",
        starts: false,
    },
    Explains {
        cause: "config-reread",
        consequences: READ_AND_DECODED,
        reason: "the configuration is opened, read and parsed each time",
        starts: false,
    },
    Explains {
        cause: "open-close-churn",
        consequences: &["text-parsing", "serialization-heavy", "crypto-compress-heavy", "cpu-bound"],
        reason: "the file is opened, read and decoded each time",
        starts: false,
    },
    Explains {
        cause: "proc-net-tcp-parse",
        consequences: READ_AND_DECODED,
        reason: "the kernel writes the table of all sockets as text, and the program parses it",
        starts: false,
    },
    Explains {
        cause: "overwrite-same-bytes",
        consequences: &["syscall-heavy", "cpu-bound", "slow-file-io", "disk-saturated"],
        reason: "each pass copies the whole file, and writes it back",
        starts: false,
    },
    Explains {
        cause: "mount-table-scan",
        consequences: READ_AND_DECODED,
        reason: "the kernel writes the table of all mounts as text, and the program parses it",
        starts: false,
    },
    Explains {
        cause: "unbuffered-1-byte",
        consequences: &["small-reads", "small-writes", "syscall-heavy", "cpu-bound"],
        reason: "each byte is a call of its own",
        starts: false,
    },
    Explains {
        cause: "seek-per-read",
        consequences: &["small-reads", "syscall-heavy", "cpu-bound"],
        reason: "a read after each seek brings little",
        starts: false,
    },
    Explains {
        cause: "small-reads",
        consequences: &["syscall-heavy", "cpu-bound"],
        reason: CALLS,
        starts: false,
    },
    Explains {
        cause: "small-writes",
        consequences: &["syscall-heavy", "cpu-bound"],
        reason: CALLS,
        starts: false,
    },
    Explains { cause: "poll-many-fds", consequences: POLLED, reason: CALLS, starts: false },
    Explains { cause: "epoll-ctl-churn", consequences: POLLED, reason: CALLS, starts: false },
    Explains {
        cause: "blocking-log-pipe",
        consequences: &["slow-file-io", "wait-chain", "log-flood", "duplicate-write"],
        reason: "who prints waits for the pipe's reader",
        starts: false,
    },
    Explains {
        cause: "tracer-attached",
        consequences: &["run-queue-delay", "syscall-heavy", "lock-contention"],
        reason: "the tracer stops the program at each call",
        starts: true,
    },
    Explains { cause: "clock-syscall", consequences: MANY_CALLS, reason: CALLS, starts: false },
    Explains { cause: "write-to-dev-null", consequences: MANY_CALLS, reason: CALLS, starts: false },
    Explains {
        cause: "signal-storm",
        consequences: MANY_CALLS,
        reason: "the kernel delivers each signal, and returns from its handler by a call",
        starts: false,
    },
    Explains { cause: "sched-yield-spin", consequences: MANY_CALLS, reason: CALLS, starts: false },
    Explains { cause: "zero-timeout-poll", consequences: MANY_CALLS, reason: CALLS, starts: false },
    Explains { cause: "eagain-spin", consequences: MANY_CALLS, reason: CALLS, starts: false },
    Explains { cause: "epoll-hup-spin", consequences: MANY_CALLS, reason: CALLS, starts: false },
    Explains { cause: "repeated-stat", consequences: MANY_CALLS, reason: CALLS, starts: false },
    Explains {
        cause: "stat-per-entry",
        consequences: &["syscall-heavy", "cpu-bound", "small-writes", "repeated-stat"],
        reason: "each entry is asked for by a call of its own each time",
        starts: false,
    },
    Explains { cause: "path-search-miss", consequences: MANY_CALLS, reason: CALLS, starts: false },
    Explains {
        cause: "mmap-churn",
        consequences: &["syscall-heavy", "minor-fault-storm", "allocation-heavy"],
        reason: "memory that is mapped anew is faulted in anew",
        starts: false,
    },
    Explains {
        cause: "madvise-churn",
        consequences: FAULTS,
        reason: "memory that was given back is faulted in anew",
        starts: false,
    },
    Explains {
        cause: "minor-fault-storm",
        consequences: &["cpu-bound"],
        reason: "its CPU time is the kernel's, which maps and clears pages",
        starts: false,
    },
    Explains {
        cause: "gc-pressure",
        consequences: &[
            "cpu-bound",
            "lock-contention",
            "minor-fault-storm",
            "madvise-churn",
            "event-loop-blocked",
        ],
        reason: "the collector computes, stops the other threads, and gives memory back",
        starts: false,
    },
    Explains {
        cause: "regex-backtracking",
        consequences: &["cpu-bound", "gil-contention"],
        reason: COMPUTES,
        starts: false,
    },
    Explains { cause: "serialization-heavy", consequences: &["cpu-bound"], reason: COMPUTES, starts: false },
    Explains {
        cause: "crypto-compress-heavy",
        consequences: &["cpu-bound"],
        reason: COMPUTES,
        starts: false,
    },
    Explains { cause: "text-parsing", consequences: &["cpu-bound"], reason: COMPUTES, starts: false },
    Explains { cause: "lock-heavy", consequences: &["cpu-bound"], reason: COMPUTES, starts: false },
    Explains { cause: "allocation-heavy", consequences: &["cpu-bound"], reason: COMPUTES, starts: false },
    Explains {
        cause: "close-range-loop",
        consequences: &["fork-per-task", "syscall-heavy"],
        reason: "each child closes thousands of descriptors before it does its work",
        starts: false,
    },
    Explains {
        cause: "fork-per-task",
        consequences: &[
            "small-reads",
            "mmap-churn",
            "minor-fault-storm",
            "path-search-miss",
            "open-close-churn",
        ],
        reason: "each child opens, reads and maps what a program does at its start",
        starts: false,
    },
    Explains {
        cause: "zombie-buildup",
        consequences: &["fork-per-task"],
        reason: "what is not waited for are the children",
        starts: true,
    },
    Explains {
        cause: "too-many-threads",
        consequences: &["run-queue-delay", "lock-contention"],
        reason: "more threads than CPUs queue for them",
        starts: true,
    },
    Explains {
        cause: "affinity-pinned",
        consequences: &["run-queue-delay"],
        reason: "threads that are bound to one CPU queue for it while others are free",
        starts: true,
    },
    Explains {
        cause: "cpu-throttled",
        consequences: &["run-queue-delay"],
        reason: "threads that a quota stopped queue when they may run again",
        starts: true,
    },
    Explains {
        cause: "lock-held-across-io",
        consequences: &["lock-contention", "wait-chain", "slow-downstream"],
        reason: "who waits for the lock waits for what its holder waits for",
        starts: false,
    },
    Explains {
        cause: "n-plus-one-queries",
        consequences: &["slow-downstream", "chatty-exchange", "run-queue-delay", "syscall-heavy"],
        reason: "many questions where one would do take as long as a slow answer",
        starts: false,
    },
    Explains {
        cause: "pool-exhausted",
        consequences: &["slow-downstream", "wait-chain", "lock-contention"],
        reason: "requests wait for one of too few connections",
        starts: false,
    },
    Explains {
        cause: "serial-independent-calls",
        consequences: &["slow-downstream", "wait-chain"],
        reason: "the request waits for each answer before it asks for the next",
        starts: false,
    },
    Explains {
        cause: "slow-redis-command",
        consequences: &["slow-downstream"],
        reason: "the slow answer is that of the command",
        starts: false,
    },
    Explains {
        cause: "connect-failing",
        consequences: &["sleep-polling", "retry-storm"],
        reason: "what is tried again is the connection",
        starts: true,
    },
    Explains {
        cause: "downstream-timeout",
        consequences: &["retry-storm", "slow-downstream"],
        reason: "what is tried again is the request that got no answer",
        starts: true,
    },
    Explains {
        cause: "missing-timeout",
        consequences: &["slow-downstream", "wait-chain"],
        reason: "who waits without end for an answer is held up, and who waits for it",
        starts: false,
    },
    Explains {
        cause: "expect-100-continue",
        consequences: &["slow-downstream", "wait-chain"],
        reason: "what takes long is the client's own wait before it sends the body",
        starts: false,
    },
    Explains {
        cause: "dns-timeout",
        consequences: &["retry-storm", "slow-downstream"],
        reason: "the name server does not answer",
        starts: true,
    },
    Explains {
        cause: "page-cache-thrash",
        consequences: &["slow-file-io", "page-fault-major", "direct-reclaim", "file-reread"],
        reason: "pages that were dropped are read again",
        starts: false,
    },
    Explains {
        cause: "swapping",
        consequences: &["page-fault-major", "slow-file-io"],
        reason: "the pages that are not in memory were put out to swap",
        starts: false,
    },
    Explains {
        cause: "direct-reclaim",
        consequences: &["slow-file-io", "minor-fault-storm"],
        reason: "a write or a new page waits until memory was freed",
        starts: false,
    },
    Explains {
        cause: "volume-throttled",
        consequences: &["slow-file-io", "disk-saturated"],
        reason: "the volume holds its requests back",
        starts: false,
    },
    Explains {
        cause: "journal-commit-stall",
        consequences: &["slow-file-io", "wait-chain"],
        reason: "calls wait until the file system's journal has committed",
        starts: false,
    },
    Explains {
        cause: "writeback-throttle",
        consequences: &["slow-file-io", "disk-saturated"],
        reason: "writers are held back while dirty pages are written",
        starts: false,
    },
    Explains {
        cause: "readahead-off",
        consequences: &["slow-file-io", "page-fault-major", "small-reads"],
        reason: "each page is asked of the device by itself",
        starts: false,
    },
    Explains {
        cause: "random-io",
        consequences: &["slow-file-io", "disk-saturated", "page-fault-major"],
        reason: "the device is asked for pages all over the file",
        starts: false,
    },
    Explains {
        cause: "disk-saturated",
        consequences: &["slow-file-io"],
        reason: "a call on a file waits until the device has served those before it",
        starts: false,
    },
    Explains {
        cause: "huge-directory",
        consequences: &["directory-rescan"],
        reason: "listing it again costs what it does because it has so many entries",
        starts: false,
    },
    Explains {
        cause: "network-fs-latency",
        consequences: &["slow-file-io"],
        reason: "the files lie on a server",
        starts: false,
    },
    Explains {
        cause: "oom-restart-loop",
        consequences: &["fork-per-task"],
        reason: "what is started again is what ran out of memory",
        starts: true,
    },
    Explains {
        cause: "gil-contention",
        consequences: &["allocation-heavy", "too-many-threads", "lock-contention"],
        reason: "one thread at a time runs Python's code, and the others wait for it",
        starts: false,
    },
    Explains {
        cause: "thundering-herd",
        consequences: &["eagain-spin", "small-reads", "small-writes", "run-queue-delay", "syscall-heavy"],
        reason: "each job wakes all of them, and all but one find nothing",
        starts: false,
    },
    Explains {
        cause: "lock-convoy",
        consequences: &["lock-contention", "lock-heavy"],
        reason: "what threads wait for is that the lock is handed on",
        starts: false,
    },
    Explains {
        cause: "connection-per-request",
        consequences: &["chatty-exchange"],
        reason: "each connection begins with a few turns of its own",
        starts: false,
    },
    Explains {
        cause: "tcp-retransmit",
        consequences: &["chatty-exchange", "slow-downstream"],
        reason: "a turn whose segment is lost waits until it is sent again",
        starts: false,
    },
    Explains {
        cause: "chatty-exchange",
        consequences: &["run-queue-delay", "slow-downstream"],
        reason: "each turn gives the CPU up and waits for it again",
        starts: false,
    },
    Explains {
        cause: "oversized-payload",
        consequences: &[
            "serialization-heavy",
            "text-parsing",
            "crypto-compress-heavy",
            "allocation-heavy",
            "gc-pressure",
            "gil-contention",
            "event-loop-blocked",
            "cpu-bound",
        ],
        reason: "what is decoded are these large answers",
        starts: false,
    },
    Explains {
        cause: "slow-downstream",
        consequences: &["wait-chain"],
        reason: "the chain ends at that server",
        starts: false,
    },
    Explains {
        cause: "exec-path-search",
        consequences: &["fork-per-task"],
        reason: "the failed starts are those of these children",
        starts: false,
    },
];

/// What opening, reading and decoding the same bytes again looks like.
const READ_AND_DECODED: &[&str] = &[
    "open-close-churn",
    "small-reads",
    "seek-per-read",
    "slow-file-io",
    "syscall-heavy",
    "text-parsing",
    "serialization-heavy",
    "crypto-compress-heavy",
    "allocation-heavy",
    "gc-pressure",
    "gil-contention",
    "cpu-bound",
];
const MANY_CALLS: &[&str] = &["syscall-heavy", "cpu-bound", "small-writes"];
const POLLED: &[&str] = &["syscall-heavy", "cpu-bound", "event-loop-blocked", "run-queue-delay"];
const FAULTS: &[&str] = &["syscall-heavy", "minor-fault-storm"];
const CALLS: &str = "the kernel's CPU time is that of these calls";
const COMPUTES: &str = "it is what the program computes";

/// From this part of the hot function's time on a kind of work is what the function does.
const MOST_OF_FUNCTION: f64 = 0.5;

/// A cause that takes a smaller part of its consequence's time explains little of it: ending it would leave most of the other as it
/// is. Not a half: of one cause a part shows in calls (reading), and the rest in what they lead to (decoding).
const MIN_PART: f64 = 0.15;

/// From this part of what a program computes on, kinds of work that are named are what it does: collectors, compilers at run time and its start
/// take their part of the rest.
const KINDS_PART: f64 = 0.3;

/// Marks the findings that follow from another one.
pub(crate) fn mark(findings: &mut [Finding], asker: Asker<'_>) {
    let nearest: Vec<Option<usize>> = (0..findings.len())
        .map(|at| {
            let is_cause = |cause: &&Finding| is_cause_of(cause, &findings[at], asker);
            let kinds_are_most = are_most_of(findings, &findings[at], asker);
            let causes = findings.iter().enumerate().filter(|(_, cause)| {
                is_cause(cause) && (kinds_are_most || !is_kind_of_work(cause.id, findings[at].id))
            });
            let heaviest =
                causes.max_by(|a, b| asker.weight(a.1).total_cmp(&asker.weight(b.1)).then(b.0.cmp(&a.0)));
            heaviest.map(|(cause, _)| cause)
        })
        .collect();
    for at in 0..findings.len() {
        let Some(cause) = nearest[at] else { continue };
        let reason = pair(findings[cause].id, findings[at].id).map_or("", |pair| pair.reason);
        // The first of a chain of causes; the relation has no circle.
        let first = std::iter::successors(Some(cause), |cause| nearest[*cause]).last().unwrap_or(cause);
        findings[at].follows_from = Some(FollowsFrom { id: findings[first].id, reason });
        // What takes a time that is not known weighs as much as what it explains.
        if findings[first].share.is_none() || findings[first].share_whole == ShareWhole::Calls {
            findings[first].severity = findings[first].severity.max(findings[at].severity);
        }
    }
}

/// What is known of two rules.
fn pair(cause: &str, consequence: &str) -> Option<&'static Explains> {
    EXPLAINS.iter().find(|pair| pair.cause == cause && pair.consequences.contains(&consequence))
}

/// True where the one is the kind of work that the other's computing is.
fn is_kind_of_work(cause: &str, consequence: &str) -> bool {
    consequence == "cpu-bound" && pair(cause, consequence).is_some_and(|pair| pair.reason == COMPUTES)
}

/// True where the kinds of work that rules name are a good part of what a program computes: else its own code is, and the hot function comes first.
fn are_most_of(findings: &[Finding], consequence: &Finding, asker: Asker<'_>) -> bool {
    let of_it = |one: &&Finding| {
        is_kind_of_work(one.id, consequence.id) && asker.may_be_one(&one.subject, &consequence.subject)
    };
    let named: f64 = findings.iter().filter(of_it).map(|one| asker.share(one)).sum();
    // A kind that most of the hot function is says more than its name.
    let function = consequence.subject.function.as_deref();
    let part = consequence.measurements.iter().find(|one| one.name == "share_of_samples");
    let of_function = part.and_then(|part| part.value).map(|part| part * asker.share(consequence));
    let is_of_function = |one: &&Finding| function.is_some() && one.subject.function.as_deref() == function;
    let largest = findings.iter().filter(of_it).filter(is_of_function).map(|one| asker.share(one));
    named >= KINDS_PART * asker.share(consequence)
        || of_function.is_some_and(|whole| largest.fold(0.0, f64::max) >= MOST_OF_FUNCTION * whole)
}

fn is_cause_of(cause: &Finding, consequence: &Finding, asker: Asker<'_>) -> bool {
    let Some(pair) = pair(cause.id, consequence.id) else { return false };
    let no_time = |finding: &Finding| finding.share.is_none() || finding.share_whole == ShareWhole::Calls;
    // Where calls are missing, what is known of their time is the least of it.
    let at_least = asker.facts.missing_calls().is_some();
    let is_large = match pair.starts || at_least || no_time(cause) || no_time(consequence) {
        // What takes no time itself, or none that is known, is not compared.
        true => cause.severity >= Severity::Warning,
        false => asker.weight(cause) >= MIN_PART * asker.weight(consequence),
    };
    // A notice that stands before a warning would hide it.
    let weighs = cause.severity >= consequence.severity.min(Severity::Warning);
    is_large
        && weighs
        && cause.severity > Severity::Capture
        && asker.may_be_one(&cause.subject, &consequence.subject)
}

#[cfg(test)]
mod tests;
