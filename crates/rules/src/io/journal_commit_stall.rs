//! # journal-commit-stall
//!
//! ## What it is
//! Many threads stand still at once in the journal of a file system: a commit is under way, and whoever wants to change
//! anything (a rename, a small write, a new file) waits for it to end.
//!
//! ## Why it is slow
//! ext4, XFS and others write changes of all programs in one transaction. One program's fsync makes the kernel write all
//! that belongs to it, large amounts of others' data too; until then nobody begins the next one.
//!
//! ## Example
//! ```text
//! nginx (812): in 45.0 % of the looks in wait_transaction_locked; backup (900) in jbd2_log_wait_commit
//! ```
//!
//! ## What to do instead
//! Separate volumes for what syncs often and what must not wait; smaller dirty limits, so that a commit has less to write;
//! fewer fsync.
//!
//! ## When it is wrong
//! A thread that waits for its own fsync is what fsync means: only others that wait to *begin* a change count, and only two
//! and more of them. A trace tells no kernel function: there calls of 5 ms and more that change files (open, write, rename) count that stand still while
//! another thread syncs, and go on at one moment, where most such calls do.

use super::devices;
use super::journal_calls::{self, Committer, Held};
use crate::engine::{Findings, Rule, Subjects};
use crate::figures;
use crate::gate::gated;
use crate::guards::{Share, WARNING_SHARE};
use crate::words;
use whyslow_chain::Explainer;
use whyslow_facts::Facts;
use whyslow_model::{Entity, Measurement, SampleKind, ShareOf, Subject, Trait};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "journal-commit-stall",
    group: "io",
    summary: "threads stand still in a file system's journal until a commit ends",
    source: include_str!("journal_commit_stall.rs"),
    needs: &[],
    check,
};

/// Functions in which one waits to begin a change (fs/jbd2/transaction.c, fs/xfs/xfs_log.c, fs/btrfs/transaction.c).
const TO_BEGIN: [&str; 8] = [
    "wait_transaction_locked",
    "start_this_handle",
    "jbd2__journal_start",
    "add_transaction_credits",
    "do_get_write_access",
    "xlog_grant_head_wait",
    "wait_current_trans",
    "jbd2_log_wait_for_space",
];
/// Functions in which one waits for a commit that it asked for.
const FOR_COMMIT: [&str; 4] =
    ["jbd2_log_wait_commit", "jbd2_complete_transaction", "xlog_wait_on_iclog", "btrfs_commit_transaction"];
/// Who waits to begin: one may be unlucky.
const MIN_VICTIMS: usize = 2;

/// How sure it is by the times of calls alone.
const OF_CALLS: f64 = 0.7;

/// One that waits in the journal.
struct Waiter {
    name: String,
    subject: Subject,
    share: Share,
    shown: Option<Entity>,
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let tasks = facts.host.things_that(|of| matches!(of, Entity::Process(_) | Entity::Thread { .. }));
    let looked = tasks.iter().any(|(_, thing)| !thing.wchans.is_empty());
    let recorded = !facts.samples.is_empty(SampleKind::OffCpu);
    let committer = || journal_calls::committer(facts);
    if !looked && !recorded {
        let committer = committer();
        let held = committer.as_ref().and_then(|by| Some((by, journal_calls::held(facts, by)?)));
        let held =
            held.filter(|(_, held)| held.threads.len() >= MIN_VICTIMS && devices::is_felt(&held.share));
        return match held {
            Some((by, held)) => of_calls(facts, out, by, &held),
            None => out.not_judged("in which kernel functions threads wait", "whyslow diagnose -a"),
        };
    }
    let mut victims = by_looks(facts, &TO_BEGIN);
    let mut callers = by_looks(facts, &FOR_COMMIT);
    if victims.is_empty() && recorded {
        victims = by_stacks(facts, &TO_BEGIN);
        callers = by_stacks(facts, &FOR_COMMIT);
    }
    let Some(worst) = victims.first().filter(|_| victims.len() >= MIN_VICTIMS) else { return };
    // A sync that holds nobody up is not what they wait for.
    let waits = |by: &Committer<'_>| {
        let pid = Subjects::thread(facts, by.tid).pid;
        callers.iter().any(|one| one.subject.pid == pid) || journal_calls::held(facts, by).is_some()
    };
    let committer = committer().filter(waits);
    let names = |of: &[Waiter]| words::list(&of.iter().map(|one| one.name.clone()).collect::<Vec<_>>(), 3);
    let by = match callers.is_empty() {
        true => String::new(),
        false => format!(" Who asked for a commit and waits for it: {}.", names(&callers)),
    };
    let mut report = out
        .report(worst.share.clone(), format!("{} stand still in the file system's journal{}: {}", words::plural(victims.len() as u64, "task"), during(facts, committer.as_ref()), names(&victims)))
        .measured(Measurement::count("tasks", victims.len() as u64).at_least(MIN_VICTIMS as f64))
        .subject(worst.subject.clone())
        .cause(format!("A commit of the journal is under way, and no change of a file can begin before it has written what belongs to it, that of other programs too.{by}"))
        .fix("fewer fsync of the one who asks: batches, fdatasync, one at the end (see fsync-per-write, global-sync)")
        .fix("what must not wait on a volume of its own; logs without fsync")
        .fix("less to write at a commit: sysctl -w vm.dirty_background_bytes=67108864; ext4: mount -o commit=, data=writeback only where stale data after a crash is no harm")
        .verify("for i in $(seq 50); do grep -l -E 'transaction|jbd2|xlog' /proc/[0-9]*/wchan; sleep .1; done | sort | uniq -c; bcc: ext4slower 10, syncsnoop; perf trace -e jbd2:*");
    for one in victims.iter().take(2).chain(callers.first()) {
        report = match &one.shown {
            Some(of) => report.evidence_line(
                seen_in(facts, of),
                format!(
                    "{}: waits in {}, {} of {}",
                    one.name,
                    functions(facts, of),
                    words::percent(one.share.value.unwrap_or(0.0)),
                    one.share.of
                ),
            ),
            None => report.evidence_line(
                facts.recording_at(facts.window.start),
                format!(
                    "{}: {} of {} in the journal",
                    one.name,
                    words::percent(one.share.value.unwrap_or(0.0)),
                    one.share.of
                ),
            ),
        };
    }
    report.file();
}

/// ` during fsync of /srv/picture.db`: the longest sync of the thread that syncs longest; nothing where none does.
fn during(facts: &Facts, committer: Option<&Committer<'_>>) -> String {
    committer.map_or(String::new(), |by| {
        let path = by.path(facts).map_or(String::new(), |path| format!(" of {path}"));
        format!(" during {}{path}", facts.name_of(by.call.syscall))
    })
}

/// Calls of a trace that change files, stand still while another thread syncs, and go on together.
fn of_calls(facts: &Facts, out: &mut Findings<'_>, by: &Committer<'_>, held: &Held<'_>) {
    let threads = Measurement::count("threads", held.threads.len() as u64).at_least(MIN_VICTIMS as f64);
    let calls = Measurement::count("calls", held.calls);
    let time = Measurement::time("time", held.time);
    let syncs = Measurement::count("syncs", by.syncs);
    let of_time = held.share.figure().at_least(WARNING_SHARE);
    let syncing = Subjects::words(&Subjects::thread(facts, by.tid));
    let first = held.longest.tid;
    out.report(
        held.share.clone(),
        format!(
            "{} stand still in changes of files{} ({syncing}): {calls} calls, {time} in all",
            words::plural(held.threads.len() as u64, "thread"),
            during(facts, Some(by)),
        ),
    )
    .confidence(OF_CALLS)
    .subject(Subject { path: by.path(facts).map(str::to_string), tid: None, ..Subjects::thread(facts, first) })
    .measured_all([threads, calls, time, syncs])
    .measured(of_time)
    .cause("They begin to change a file (open, write, rename) while another thread syncs one, and go on all at once: a commit of the file system's journal is under way, and no change can begin before it has written what belongs to it. The trace tells no kernel function: it follows from the times.")
    .fix("fewer fsync of the one who asks: batches, fdatasync, one at the end (see fsync-per-write, global-sync)")
    .fix("what must not wait on a volume of its own; logs without fsync")
    .verify("bcc: ext4slower 10, syncsnoop; perf trace -e jbd2:*; whyslow record shows the kernel's functions")
    .evidence_line(
        Explainer::new(facts).place(held.longest),
        format!("thread {first}: {} took {}, while {} of thread {} was under way", facts.name_of(held.longest.syscall), held.longest.dur(), facts.name_of(by.call.syscall), by.tid),
    )
    .file();
}

/// Who was seen there in a good part of the looks, most first; a thread where its process shows it is not told twice.
#[gated]
fn by_looks(facts: &Facts, wanted: &[&str]) -> Vec<Waiter> {
    let tasks = facts.host.things_that(|of| matches!(of, Entity::Process(_) | Entity::Thread { .. }));
    let mut found: Vec<(f64, &Entity)> = tasks
        .into_iter()
        .filter_map(|(of, thing)| Some((devices::share_in(thing, wanted)?, of)))
        .filter(|(share, of)| *share >= WARNING_SHARE && !is_journal(facts, of))
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let threads: Vec<Option<u32>> = found
        .iter()
        .filter(|(_, of)| matches!(of, Entity::Thread { pid, tid } if pid != tid))
        .map(|(_, of)| of.pid())
        .collect();
    let told_by_thread = |of: &Entity| matches!(of, Entity::Process(_)) && threads.contains(&of.pid());
    let waiters = found.into_iter().filter(|(_, of)| !told_by_thread(of)).map(|(share, of)| Waiter {
        name: facts.host.name_of(of),
        subject: figures::subject(facts, of),
        share: Share::of_time(share, format!("the looks at {}", facts.host.name_of(of))),
        shown: Some(of.clone()),
    });
    waiters.collect()
}

/// The journal's own threads wait there by trade.
fn is_journal(facts: &Facts, of: &Entity) -> bool {
    let name = facts.host.thing(of).and_then(|thing| thing.told(Trait::Name));
    name.is_some_and(|name| {
        name.starts_with("jbd2/") || name.starts_with("xfsaild") || name.starts_with("btrfs-")
    })
}

/// Who waited there for a good part of its life, by the stacks of waits.
#[gated]
fn by_stacks(facts: &Facts, wanted: &[&str]) -> Vec<Waiter> {
    let mut found: Vec<Waiter> = Vec::new();
    for (_, thread) in facts.world.threads.iter() {
        let life = thread.sched.as_deref().map_or(0, |time| time.covered().or_zero());
        let functions = facts.samples.functions(SampleKind::OffCpu, thread.process, Some(thread.tid));
        let here = functions.iter().filter(|function| wanted.iter().any(|of| function.name.starts_with(of)));
        let waited = here.map(|function| function.cum.or_zero()).max().unwrap_or(0);
        let value = waited as f64 / life.max(1) as f64;
        if life > 0 && value >= WARNING_SHARE {
            let subject = Subjects::thread(facts, thread.tid);
            let share = Share::of_time(value.min(1.0), ShareOf::life_of(thread.tid));
            found.push(Waiter { name: Subjects::words(&subject), subject, share, shown: None });
        }
    }
    found.sort_by(|a, b| b.share.value.unwrap_or(0.0).total_cmp(&a.share.value.unwrap_or(0.0)));
    found
}

/// The functions in which it was seen.
fn functions(facts: &Facts, of: &Entity) -> String {
    let wchans = facts.host.thing(of).map_or(&[][..], |thing| &thing.wchans);
    words::list(&wchans.iter().map(|(name, times)| format!("{name} ({times})")).collect::<Vec<_>>(), 3)
}

/// Where the looks stand.
fn seen_in(facts: &Facts, of: &Entity) -> String {
    let reading = facts.host.thing(of).and_then(|thing| thing.readings.first());
    reading.map_or_else(|| "/proc".to_string(), |reading| facts.host_evidence(of, reading).source)
}
