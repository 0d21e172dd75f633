//! # gil-contention
//!
//! ## What it is
//! Several threads of a Python program compute, and all but one wait for the global interpreter lock.
//!
//! ## Why it is slow
//! CPython runs the byte code of one thread at a time. Who wants the lock waits for it in steps of 5 ms and then asks the
//! holder to let go: threads that compute take turns, and together they are no faster than one. A thread that only wants to
//! answer a request waits 5 ms each time it comes back from a read.
//!
//! ## Example
//! ```text
//! 10924 futex(0x7f28f754e6f0, FUTEX_WAIT_BITSET_PRIVATE, 0, {tv_sec=15859, tv_nsec=639547431}, FUTEX_BITSET_MATCH_ANY) = -1 ETIMEDOUT (Connection timed out) <0.005106>
//! ```
//!
//! ## What to do instead
//! Processes for what computes (multiprocessing, gunicorn workers); libraries that release the lock (numpy, hashlib, zlib for large data); a
//! free-threaded Python. Threads only for waiting.
//!
//! ## When it is wrong
//! Threads that wait for peers and files give the lock away and hardly ever wait 5 ms for it. Any program may wait for
//! something in steps of 5 ms; only what is known to be Python is judged.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::{self, Share};
use crate::{callers, words};
use whyslow_facts::folds::gil::{SteppedLock, SteppedLocks};
use whyslow_facts::{Facts, ProcessId};
use whyslow_model::{Measurement, Nanos, SampleKind, SaturatingSum, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "gil-contention",
    group: "waits",
    summary: "threads of a Python program wait for the interpreter lock",
    source: include_str!("gil_contention.rs"),
    needs: &[Need::Durations, Need::AnyOf(&["futex", "futex_time64"])],
    check,
};

/// Fewer steps are a start.
const MIN_STEPS: u64 = 20;
/// One thread has nobody to wait for.
const MIN_THREADS: usize = 2;
/// Waits that another thread ended before the step was over, where nothing else tells that the program is Python: threads that look
/// for work every 5 ms find none mostly.
const MIN_WOKEN: u64 = 10;
/// Of what the threads compute: with less no function holds the lock most.
const MOST: f64 = 0.25;
/// Names of programs that are Python, or run it.
const PYTHON: &[&str] = &["python", "gunicorn", "uwsgi", "celery", "pypy", "uvicorn"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    for lock in &facts.gil.rows {
        if lock.steps < MIN_STEPS || lock.waiters.len() < MIN_THREADS {
            continue;
        }
        let woken = Measurement::count("waits_ended_by_others", lock.waits - lock.steps);
        let (sure, woken) = match is_python(facts, lock.process) {
            true => (0.85, woken),
            // A capture from the middle of a life may show no name and no file.
            false if is_unnamed(facts, lock.process) && lock.waits - lock.steps >= MIN_WOKEN => {
                (0.6, woken.at_least(MIN_WOKEN as f64))
            }
            false => continue,
        };
        let share = share(facts, lock);
        let time = Measurement::time("time", Nanos::new(lock.wait_ns));
        let step = Measurement::time("switch_interval", SteppedLocks::SWITCH_INTERVAL);
        let saving =
            format!("up to {time} of waiting; all threads together get one CPU's worth of byte code");
        let (first, _) = lock
            .waiters
            .iter()
            .max_by_key(|(tid, ns)| (*ns, std::cmp::Reverse(*tid)))
            .copied()
            .unwrap_or_default();
        let subject = Subject {
            lock: Some(format!("{:#x} (GIL)", lock.address)),
            syscall: Some("futex".to_string()),
            ..Subjects::thread(facts, first)
        };
        let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
        // What the threads compute while the others wait.
        let site = facts.samples.own_site(SampleKind::OnCpu, lock.process, None, |_| true);
        let site = site.filter(|(_, part)| *part >= MOST).map(|(site, _)| site);
        let holds =
            site.as_ref().map_or(String::new(), |site| format!("; {} holds it most", callers::short(site)));
        let subject = Subject { function: callers::function(site.as_ref()), ..subject };
        out.report(
            share,
            format!(
                "{} of Python wait {time} for the interpreter lock, {} in steps of {step}{holds}",
                words::plural(lock.waiters.len() as u64, "thread"),
                words::plural(lock.steps, "time")
            ),
        )
        .measured(Measurement::count("threads", lock.waiters.len() as u64).at_least(MIN_THREADS as f64))
        .measured(time)
        .measured(Measurement::count("steps", lock.steps).at_least(MIN_STEPS as f64))
        .measured(step)
        .measured(woken)
        .at_most(Severity::Critical)
        .confidence(sure)
        .subject(subject)
        .cause("The waits are on one condition variable and end after 5 ms, CPython's switch interval: the waiter then asks the holder to let go. So another thread was computing byte code all that time.".to_string())
        .fix("processes instead of threads for what computes: multiprocessing, concurrent.futures.ProcessPoolExecutor, gunicorn --workers N --threads 1")
        .fix("code: move the heavy part into what releases the lock (numpy, hashlib and zlib on large data, Cython nogil, a Rust or C extension)")
        .fix("Python 3.13 and later: the free-threaded build (python3.13t), if all extensions support it")
        .fix("at once, for latency: sys.setswitchinterval(0.0005); it costs throughput")
        .verify(format!("py-spy top --gil --pid {pid}, py-spy dump --pid {pid}   (who holds it)"))
        .saving_text(saving)
        .evidence_all(lock.exemplars.iter())
        .file();
    }
}

/// Its name says so, or it has files of Python open or has looked for them.
#[gated]
fn is_python(facts: &Facts, process: ProcessId) -> bool {
    let name = facts.world.threads.process(process).program();
    if let Some(name) = name {
        return PYTHON.iter().any(|python| name.starts_with(python));
    }
    let is_of_python =
        |path: &str| path.ends_with(".py") || path.ends_with(".pyc") || path.contains("/libpython");
    facts.world.files.iter().any(|(_, file)| is_of_python(&file.path))
}

/// True where nothing tells which program it is.
fn is_unnamed(facts: &Facts, process: ProcessId) -> bool {
    facts.world.threads.process(process).program().is_none()
}

/// The waits' part of the time of the threads that wait.
fn share(facts: &Facts, lock: &SteppedLock) -> Share {
    let waited = lock.waiters.iter().map(|(_, ns)| *ns).saturating_sum();
    guards::share_of_waiters(facts, None, lock.waiters.iter().map(|(tid, _)| *tid), waited)
}
