//! # goroutines-queue
//!
//! ## What it is
//! In a Go program several goroutines wait all the time at one place for one that takes what they send on a channel.
//!
//! ## Why it is slow
//! Where on average two and more wait, the receiver is never done: all of them together go at the speed of the one
//! that receives. They are on no thread, so that the program's threads sleep idle and no system call tells of it.
//!
//! ## Example
//! ```text
//! 15.4 goroutines wait in chan send at main.send (orders.go:12)
//! ```
//!
//! ## What to do instead
//! Let several goroutines receive, let the receiver do less for each, or take several at once.
//!
//! ## When it is wrong
//! Goroutines are counted some times a second: these are samples, and no times. A producer that is to be held back waits to send, too:
//! while the program computes all the while, that is no more than a notice. Goroutines that wait for a lock are `lock-contention`.

use super::goroutines::{self, Queue};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards::Share;
use whyslow_facts::Facts;
use whyslow_model::{Measurement, ParkedFor, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "goroutines-queue",
    group: "waits",
    summary: "goroutines queue for a receiver of their channel, all the while",
    source: include_str!("goroutines_queue.rs"),
    needs: &[Need::Table("parked")],
    check,
};

/// Goroutines that wait on average from which on the receiver is never done: one that waits may be the next one each time.
const MIN_QUEUE: f64 = 2.0;
/// CPUs that a program keeps busy from which on its receivers may be slow because they compute.
const BUSY: f64 = 0.5;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    for queue in goroutines::queues(facts, ParkedFor::Send).filter(|queue| queue.at.mean >= MIN_QUEUE) {
        tell(facts, out, &queue);
    }
}

#[gated]
fn tell(facts: &Facts, out: &mut Findings<'_>, queue: &Queue) {
    let part = queue.part();
    let mean = queue.mean().at_least(MIN_QUEUE);
    let cpus = goroutines::busy(facts, queue.pid);
    let is_busy = cpus.is_none_or(|cpus| cpus >= BUSY);
    let meanwhile = match queue.others_counted().as_str() {
        "" => "Who is to receive is on a thread meanwhile: it computes, or is in a system call.".to_string(),
        others => format!("Who is to receive may be one of the others. Meanwhile {others}."),
    };
    out.report(
        Share::of_time(part.value, "the waits of its goroutines, by counts"),
        format!("{mean} goroutines wait all the time in {}: {part} of those that wait", queue.at.words()),
    )
    // That they are to be held back may be what was meant.
    .at_most(if is_busy { Severity::Notice } else { Severity::Warning })
    .measured(mean)
    .measured(part)
    .measured(queue.waiting())
    .measured_all(cpus.map(|cpus| {
        let cpus = Measurement::seconds_per_second("cpus", cpus);
        if is_busy { cpus } else { cpus.at_most(BUSY) }
    }))
    .subject(Subject { pid: Some(queue.pid), function: Some(queue.at.function.clone()), ..Subject::default() })
    .cause(format!(
        "They have something to hand on, and nobody takes it: all go at the speed of the receiver. {meanwhile} {}",
        goroutines::COUNTED
    ))
    .fix("code: let several goroutines receive from that channel, or let the receiver take several at once")
    .fix("code: take what waits (a request, a sync, a sleep) out of the loop that receives; a buffer alone only moves the wait")
    .verify(format!("whyslow diagnose -p {}   (after: fewer goroutines that wait there)", queue.pid))
    .file();
}
