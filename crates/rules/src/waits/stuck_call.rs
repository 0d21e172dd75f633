//! # stuck-call
//!
//! ## What it is
//! A thread is in one call for as long as the capture shows it, and makes no other: it waits for a lock on a file, for a
//! semaphore, for a connection, and nobody gives it.
//!
//! ## Why it is slow
//! It does not go on at all until somebody else does something: the process that holds the lock unlocks it, the server
//! accepts. A program that "hangs" is mostly this.
//!
//! ## Example
//! ```text
//! 23473 flock(3</srv/lockfile>, LOCK_EX <detached ...>
//! ```
//!
//! ## What to do instead
//! Find out what the holder does, and end that: it may have crashed with the lock handed on to a child, or wait for the
//! very process that waits for it. Ask for locks with a limit (LOCK_NB and a few tries, F_OFD_SETLK, sem_timedwait), and for
//! connections with a time limit, so that the program can say what it waits for.
//!
//! ## When it is wrong
//! A standby that waits for its leader's lock does so on purpose; then it has nothing else to do. A program of which other
//! threads do something is not judged, nor one that waits for clients, for input or for a time. What else a program of one
//! thread waits in all the while (a pipe, a child, another thread) is mentioned where no time is known that tells more.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use whyslow_chain::{Explainer, Hold, process_words};
use whyslow_facts::Facts;
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::folds::graph::{Ended, LongCall, Resource};
use whyslow_model::{ChainLink, Nanos, Severity, ShareOf, Subject, Syscall};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "stuck-call",
    group: "waits",
    summary: "a program is in one call all the while: a lock on a file, a semaphore, a connection",
    source: include_str!("stuck_call.rs"),
    needs: &[Need::Calls],
    check,
};

/// A shorter wait is none that anybody notices.
const SHORTEST: Nanos = Nanos::from_secs(1);

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let explainer = Explainer::new(facts);
    let mut stuck: Vec<&LongCall> = facts
        .graph
        .timelines()
        .filter_map(|(_, timeline)| timeline.calls.last())
        .filter(|call| call.ended == Ended::NotYet && !call.limited && is_all_the_while(facts, call))
        .filter(|call| is_grave(call) || is_for_somebody(facts, call))
        .collect();
    // Who waits for each other is told by deadlock.
    if stuck.is_empty() || explainer.deadlock().is_some() {
        return;
    }
    // Threads that may be processes: what a descriptor of that number leads to is known of the first that used it.
    if let Some(first) = stuck.iter().copied().find(|call| !is_alone(facts, call)) {
        let earliest = stuck.iter().filter(|call| call.process == first.process).map(|call| call.from).min();
        stuck.retain(|call| call.process != first.process || Some(call.from) == earliest);
    }
    stuck.sort_by_key(|call| (!is_grave(call), std::cmp::Reverse(call.dur()), call.tid));
    for call in stuck {
        report(&explainer, out, call);
    }
}

/// True where the program shows nothing but this call: no thread of it calls anything else. Threads of which nothing tells that they are processes
/// may be these: each is in a call of its own then, and what idle threads wait in is no sign.
#[gated]
fn is_all_the_while(facts: &Facts, call: &LongCall) -> bool {
    let since_the_start =
        |thread: &whyslow_facts::ThreadFacts| thread.first.is_known() && thread.first >= call.from;
    let in_nothing_else = |thread: &whyslow_facts::ThreadFacts| {
        thread.calls <= 1 || thread.tid == call.tid && since_the_start(thread)
    };
    (is_alone(facts, call) || is_grave(call)) && of_program(facts, call).all(in_nothing_else)
}

/// The threads of the program that do anything.
fn of_program<'a>(facts: &'a Facts, call: &LongCall) -> impl Iterator<Item = &'a whyslow_facts::ThreadFacts> {
    let process = call.process;
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    threads.filter(move |thread| thread.process == process && thread.is_active())
}

/// True where the program shows one thread.
fn is_alone(facts: &Facts, call: &LongCall) -> bool {
    of_program(facts, call).count() == 1
}

/// What nobody waits in for long on purpose.
fn is_grave(call: &LongCall) -> bool {
    matches!(call.what, Resource::FileLock(_) | Resource::Semaphore(_)) || call.syscall == Syscall::CONNECT
}

/// What may be as it should be, where no time is known and nothing else tells of it.
fn is_for_somebody(facts: &Facts, call: &LongCall) -> bool {
    let is_idle = matches!(
        facts.accounts.objects.get(call.object).kind,
        ObjectKind::Clients | ObjectKind::Listener | ObjectKind::Terminal | ObjectKind::Timer
    );
    let named = matches!(
        call.what,
        Resource::Lock { .. }
            | Resource::Pipe(_)
            | Resource::Child { .. }
            | Resource::Thread { .. }
            | Resource::Peer(_)
    );
    call.dur().or_zero() == 0 && named && !is_idle
}

#[gated]
fn report(explainer: &Explainer<'_>, out: &mut Findings<'_>, call: &LongCall) {
    let facts = explainer.facts();
    let name = facts.name_of(call.syscall).to_string();
    let who = match is_alone(facts, call) {
        true => process_words(facts, call.process, call.tid),
        false => format!("thread {}", call.tid),
    };
    let object = facts.accounts.objects.get(call.object).name().to_string();
    let object = if object.is_empty() || object.starts_with("fd ") {
        explainer.resource(call)
    } else {
        facts.peer_words(&object).into_owned()
    };
    let lasts = call.dur() >= SHORTEST;
    let time =
        if lasts { format!("for {} and more", call.dur()) } else { "to the end of the capture".to_string() };
    let holder = explainer.holder(call);
    let held = holder.as_ref().map_or(String::new(), |holder| format!(", {},", holder.clause()));
    // A futex has no name but its address.
    let of = if object.starts_with(&name) { object.clone() } else { format!("{name} of {object}") };
    let title = format!("{who} is in {of}{held} {time}, and in nothing else");
    let share = Share::of_time(1.0, ShareOf::Thread { tid: call.tid, time: "the time that is shown of" });
    let is_file = matches!(call.what, Resource::FileLock(_) | Resource::Pipe(_));
    let subject = Subject {
        syscall: Some(name.clone()),
        path: Some(object.clone()).filter(|object| is_file && object.starts_with('/')),
        peer: Some(facts.accounts.objects.get(call.object).name().to_string())
            .filter(|peer| !peer.is_empty() && matches!(call.what, Resource::Peer(_))),
        ..Subjects::thread(facts, call.tid)
    };
    let grave = is_grave(call);
    let mut found = out
        .report(share, title)
        .at_most(if grave { Severity::Warning } else { Severity::Notice })
        .subject(subject)
        .cause(match (&holder, grave) {
            (Some(holder), _) => format!("{} {}", holder.until(), explainer.doing(holder)),
            (None, true) => "It goes on when somebody else gives what it waits for. Who that is, the capture does not show.".to_string(),
            (None, false) => "It goes on when the other end does. Whether any work waits for it, the capture does not show.".to_string(),
        })
        .fix(match (&holder, call.syscall) {
            (Some(holder), _) if holder.one_of_several => format!("see which of them it is and what it does: whyslow diagnose -p {}", holder.pid),
            (Some(holder), _) => format!("see what the holder does: whyslow diagnose -p {}", holder.pid),
            (None, Syscall::CONNECT) => format!("see whether {object} is there and accepts: ss -lnt; its log; a firewall between"),
            (None, _) if is_file && grave => "find the holder: cat /proc/locks, lslocks -o COMMAND,PID,TYPE,BLOCKER,PATH; then whyslow diagnose -p PID".to_string(),
            (None, _) => "find who is at the other end (lsof -nP, ps --ppid), and look at that one: whyslow diagnose -p PID".to_string(),
        });
    if grave {
        found = found.fix("code: ask with a limit (LOCK_NB and a few tries, sem_timedwait, a time limit for connect), and say in the log what is waited for");
    }
    if let Some(holder) = &holder {
        found = found.link(ChainLink {
            who: who.clone(),
            waits_for: match holder.hold {
                Hold::Has if is_file => format!("the lock of {object}, {}", holder.clause()),
                _ => format!("{object}, {}", holder.clause()),
            },
            ns: if lasts { call.dur() } else { Nanos::UNKNOWN },
            evidence: explainer.place(call),
        });
        for link in explainer.beyond(holder) {
            found = found.link(link);
        }
    }
    found
        .evidence_line(explainer.place(call), format!("{of}: not ended"))
        .verify("cat /proc/PID/wchan /proc/PID/syscall; cat /proc/locks   (twice: the same call)")
        .file();
}
