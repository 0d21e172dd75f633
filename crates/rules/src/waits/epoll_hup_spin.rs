//! # epoll-hup-spin
//!
//! ## What it is
//! A poll (`epoll_wait`, `poll`, `select`) returns at once with the same descriptor, again and again, and between
//! two polls nobody reads it, closes it or takes it out of the set; or it is read each time, and each read returns 0: the end, which stays.
//!
//! ## Why it is slow
//! The kernel reports a descriptor for as long as it is ready. A connection that hung up, an error that is not
//! fetched, or data that is not read stays ready for ever, so the loop never sleeps: it burns a CPU, and the
//! other descriptors of the loop are served late.
//!
//! ## Example
//! ```text
//! epoll_wait(4, [{events=EPOLLIN|EPOLLHUP, data={u32=20, u64=20}}], 32, 998) = 1 <0.000006>
//! epoll_wait(4, [{events=EPOLLIN|EPOLLHUP, data={u32=20, u64=20}}], 32, 998) = 1 <0.000005>
//! ```
//!
//! ## What to do instead
//! On EPOLLHUP, EPOLLERR or EPOLLRDHUP: read what is left, then close the descriptor (or `EPOLL_CTL_DEL`). A read
//! that returns 0 is the end: close. When accept fails with EMFILE, stop watching the listening socket for a
//! while instead of trying again at once.
//!
//! ## When it is wrong
//! Where the capture hides the calls that read (`-e`), or the reading goes by io_uring or through another process,
//! the descriptor only looks untouched. A busy descriptor that is really read is never counted.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::{callers, guards};
use whyslow_facts::Facts;
use whyslow_facts::folds::readiness::ReadySpin;
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "epoll-hup-spin",
    group: "waits",
    summary: "a poll returns at once with a descriptor that nobody reads or closes",
    source: include_str!("epoll_hup_spin.rs"),
    needs: &[Need::Calls, Need::AnyOf(&["epoll_wait", "epoll_pwait", "poll", "ppoll", "select", "pselect6"])],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut spins: Vec<&ReadySpin> = facts
        .readiness
        .spins
        .iter()
        .filter(|spin| !spin.only_writable())
        .filter(|spin| {
            guards::is_spin(facts, &spin.laps, &guards::share_of_laps(facts, spin.tid, &spin.laps))
        })
        .collect();
    // A capture of nothing but polls cannot show whether the descriptor was read in between.
    if facts.seems_filtered() && spins.iter().any(|spin| !spin.hung_up()) {
        out.not_judged(
            "calls that read or close the descriptors",
            "strace -f -ttT -y -s 256 -o trace.st -p PID   (without -e)",
        );
        spins.retain(|spin| spin.hung_up());
    }
    spins.sort_by_key(|spin| std::cmp::Reverse((spin.laps.time_ns, spin.laps.turns)));
    for spin in spins {
        report(facts, out, spin);
    }
}

fn report(facts: &Facts, out: &mut Findings<'_>, spin: &ReadySpin) {
    let poll = facts.name_of(spin.syscall);
    let (named, events) = (spin.named(), spin.events());
    let share = guards::share_of_laps(facts, spin.tid, &spin.laps);
    let site = callers::of_calls(facts, spin.tid, &[poll]);
    let at = callers::words(site.as_ref());
    let nobody = if spin.reads_the_end() {
        "its end is read each time, and nobody closes it"
    } else {
        "and nobody touches it"
    };
    let title = format!("{poll} returns {named} ({events}) {}, {nobody}{at}", spin.laps.often());
    let ended = spin.ready.iter().any(|ready| ready.end_seen);
    let state = match (spin.hung_up(), ended) {
        _ if spin.reads_the_end() => {
            "Its peer had closed: a read returns 0 each time, and it is not closed here"
        }
        (true, _) => "It has hung up or failed, which only closing or removing it clears",
        (false, true) => "Its peer had closed before (a read returned 0), and it was not closed here",
        (false, false) => "What is ready in it is never read, accepted or removed",
    };
    let figures = guards::spin_figures(facts, &spin.laps, &share);
    let per_turn =
        Measurement::number("calls_per_turn", spin.laps.calls as f64 / spin.laps.turns.max(1) as f64);
    let on_it = if spin.reads_the_end() { "" } else { ", none of them on it" };
    let cause = format!(
        "{state}, so the poll cannot sleep and the thread goes round ({per_turn} calls a turn{on_it}).{}",
        if spin.laps.time().is_known() {
            format!(" That took {} of its time.", spin.laps.time())
        } else {
            String::new()
        },
    );
    let fd = spin.ready.first().and_then(|ready| ready.fd);
    let subject = Subject {
        fd,
        peer: spin.ready.first().and_then(|ready| ready.target.clone()),
        syscall: Some(poll.to_string()),
        function: callers::function(site.as_ref()),
        ..Subjects::thread(facts, spin.tid)
    };
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    // Without a clock how fast it goes round is not known.
    let most = if spin.laps.time().is_known() { Severity::Critical } else { Severity::Warning };
    let confidence = if fd.is_some() && spin.laps.time().is_known() { 0.9 } else { 0.6 };
    let look = fd.map_or("all its descriptors: ".to_string(), |fd| format!("what fd {fd} is: "));
    out.report(share, title)
        .measured_all(figures)
        .measured(per_turn)
        .at_most(most)
        .subject(subject)
        .cause(cause)
        .confidence(confidence)
        .fix(format!("{look}lsof -nP -p {pid}{}", fd.map_or(String::new(), |fd| format!(" -a -d {fd}"))))
        .fix("code: on EPOLLHUP, EPOLLERR or EPOLLRDHUP read what is left, then epoll_ctl(EPOLL_CTL_DEL) and close; a read that returns 0 is the end")
        .fix("code: a descriptor that is not to be read for now (full queue, EMFILE in accept) leaves the set until it is, or is registered with EPOLLONESHOT")
        .fix("at once: restart the process; it spins until the descriptor is closed")
        .verify(format!("perf trace -s -p {pid} -- sleep 5   (before and after: calls of {poll} fall to one an event), or top -H -p {pid}"))
        .saving(spin.laps.time())
        .evidence_all(spin.laps.exemplars.iter())
        .file();
}
