//! # thundering-herd
//!
//! ## What it is
//! A connection comes in, several threads or processes that poll the same listening socket wake up for it, one accepts it and
//! the others get EAGAIN. So it is with workers that poll one pipe, FIFO, unix or UDP socket for jobs.
//!
//! ## Why it is slow
//! Each wake-up for nothing costs two switches and two calls, and they come where the load is: with N workers a connection
//! costs N wake-ups. The CPUs that should serve it look for work that is gone. So it is where each job in a queue wakes all workers of a
//! pool (notify_all, pthread_cond_broadcast).
//!
//! ## Example
//! ```text
//! 11018 epoll_wait(4, [{events=EPOLLIN, data=3}], 1, 500) = 1 <0.210113>
//! 11018 accept4(3, 0x7ffc8a32d080, [16], SOCK_CLOEXEC) = -1 EAGAIN (Resource temporarily unavailable) <0.000192>
//! ```
//!
//! ## What to do instead
//! EPOLLEXCLUSIVE when the socket is added to each epoll (Linux 4.5), or SO_REUSEPORT with a listening socket a worker, or one
//! thread that accepts and hands connections on. uWSGI: thunder-lock; nginx: reuseport; a blocking accept wakes only one.
//!
//! ## When it is wrong
//! A loop that accepts until EAGAIN ends each batch with one: only an accept that finds nobody at the first try behind a
//! poll counts. At a few connections a second the herd costs nothing worth a change. Threads that are woken together at a barrier or for a
//! parallel loop have work, each of them: who wakes them must be another thread, sixteen at once must wake, and sleep most of the time
//! or be about to (a wait that ends at once, as its value has changed).

use super::woken_at_once;
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::{guards, words};
use whyslow_facts::Facts;
use whyslow_facts::folds::herds::Herd;
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "thundering-herd",
    group: "waits",
    summary: "one connection or job wakes many workers, and all but one find it gone",
    source: include_str!("thundering_herd.rs"),
    needs: &[Need::Calls, Need::AnyOf(&["accept", "accept4", "futex", "read", "recvfrom", "recvmsg"])],
    check,
};

/// Fewer wake-ups for nothing are chance.
const MIN_IN_VAIN: u64 = 100;
/// Wake-ups for nothing for each connection or job: two workers that race now and then stay below.
const VAIN_EACH: f64 = 1.0;
/// Fewer workers are a race, no herd.
const MIN_WORKERS: usize = 3;
/// The calls of one wake-up: the poll and the accept or read.
const CALLS_EACH: u64 = 2;

/// What a herd waits for, in words.
struct Words {
    what: &'static str,
    taken_by: &'static str,
    polled: &'static str,
    call: &'static str,
    figure: &'static str,
}

const CONNECTIONS: Words = Words {
    what: "connection",
    taken_by: "accepts",
    polled: "the same listening socket",
    call: "accept",
    figure: "connections",
};
const JOBS: Words =
    Words { what: "job", taken_by: "reads", polled: "the same pipe or socket", call: "read", figure: "jobs" };

/// The socket or pipe.
fn subject(herd: &Herd, call: &str) -> Subject {
    let (path, peer) = match herd.name.starts_with('/') && !herd.listens {
        true => (Some(herd.name.to_string()), None),
        false => (None, Some(herd.name.to_string())),
    };
    Subject { path, peer, syscall: Some(call.to_string()), ..Subject::default() }
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    woken_at_once::report(facts, out);
    for herd in &facts.herds.rows {
        let each = herd.in_vain as f64 / herd.taken.max(1) as f64;
        if herd.in_vain < MIN_IN_VAIN || each < VAIN_EACH || herd.woken.len() < MIN_WORKERS {
            continue;
        }
        let share = guards::share_of_storm(facts, None, herd.vain_time(), CALLS_EACH * herd.in_vain);
        let Words { what, taken_by, polled, call, figure } = if herd.listens { CONNECTIONS } else { JOBS };
        let each = Measurement::number("vain_wake_ups_each", each).at_least(VAIN_EACH);
        let in_vain = Measurement::count("vain_wake_ups", herd.in_vain).at_least(MIN_IN_VAIN as f64);
        let rate = facts.window.per_second(herd.in_vain);
        let rate = rate.map(|rate| Measurement::per_second("vain_wake_ups_per_second", rate));
        let rate_words = rate.as_ref().map_or(String::new(), |rate| format!(", {rate} per second"));
        out.report(
            share,
            format!(
                "{}: {} wake {in_vain} times for {what}s that others took{rate_words}, {each} for each {what}",
                herd.name,
                words::plural(herd.woken.len() as u64, "thread"),
            ),
        )
        .at_most(Severity::Warning)
        .subject(subject(herd, call))
        .cause(format!(
            "All of them poll {polled}, and a {what} makes it ready for all: {} were taken, {in_vain} {taken_by} behind a poll found nothing.",
            words::plural(herd.taken, what),
        ))
        .measured(Measurement::count("threads", herd.woken.len() as u64).at_least(MIN_WORKERS as f64))
        .measured(in_vain)
        .measured_all(rate)
        .measured(each)
        .measured(Measurement::count(figure, herd.taken))
        .measured(Measurement::time("time", herd.vain_time()))
        .fix("code: EPOLLEXCLUSIVE in EPOLL_CTL_ADD of it (Linux 4.5 and later): about one worker wakes")
        .fix(match herd.listens {
            true => "settings: SO_REUSEPORT, a listening socket a worker (nginx listen … reuseport, HAProxy by default, gunicorn --reuse-port); uWSGI thunder-lock = true",
            false => "code: a pipe or socket for each worker, and one who deals out the jobs",
        })
        .fix(format!("code: one thread that takes and hands on; or a blocking {call} in each worker without a poll: the kernel wakes one"))
        .verify(format!("strace -f -c -e trace={call} -p PID,PID…: errors per call, before and after"))
        .saving(herd.vain_time())
        .evidence(herd.took.as_ref())
        .evidence_all(herd.exemplars.iter())
        .file();
    }
}
