//! # cpu-bound
//!
//! ## What it is
//! A thread is on a CPU for four fifths of the time and more, in its own code: no wait and no system call is slow. It is
//! hardly ever idle. On a machine where others take turns with it, it wants a CPU all of that time and computes whenever it has one. Or
//! requests, or a command, spend most of their time computing, most of it in one function: that is a notice.
//!
//! ## Why it is slow
//! One thread cannot get more than one CPU. Whatever it serves waits until it is done with what it computes, and a
//! faster disk, network or database changes nothing.
//!
//! ## Example
//! ```text
//! thread 7 app: on CPU 9.71 s of 9.86 s; 812 of 975 samples in hash_lookup < find_rule < handle_request
//! ```
//!
//! ## What to do instead
//! Look at the hot path: do less of it (a better algorithm, a cache, an index), do it once instead of each time, or do
//! it on more threads.
//!
//! ## When it is wrong
//! Where half of the CPU time is of a kind that has a rule of its own (garbage collection, regular expressions), that rule
//! says more: then this is a notice. Where several kinds together are most of it, they come first. Computing may be all that the program is for: a compiler, a compressor, a simulation. Then this is no fault, and
//! the profile says where faster code would help. A profile without one hot function, and a recording without samples,
//! are a notice only. Threads seen for less than a second, besides waits for a CPU, are not judged. Time in system calls is not counted here:
//! storms of calls have rules of their own. A profile file tells threads apart where perf or whyslow took it; of any other it is
//! only known how many CPUs the program kept busy, which several threads may have done by turns: that is a notice.

use super::computing::{
    BUSY, FRAMES, MIN_SAMPLES, OWN_CODE, SHORTEST, check_file, less_of, of_samples, samples_seen,
};
use super::hot::{self, Hot, is_told};
use crate::content::Content;
use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards::Share;
use crate::words;
use whyslow_facts::samples::FunctionTime;
use whyslow_facts::{Facts, ProcessId, ProfileOrigin, SchedTime, ThreadFacts, ThreadId};
use whyslow_model::{Measurement, Nanos, SampleKind, SaturatingSum, Severity, ShareOf, Subject};
use whyslow_profile::kinds::{CostKind, short};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "cpu-bound",
    group: "cpu",
    summary: "a thread computes nearly all of the time: it is never idle",
    source: include_str!("cpu_bound.rs"),
    needs: &[Need::Either(&[Need::Scheduling, Need::Profile])],
    check,
};

/// It must have had a CPU for this part of its life: with less, its waits for one are what is slow (run-queue-delay, cpu-throttled).
const HAD: f64 = 0.25;
/// Of its life, what the stretches seen must cover.
const SEEN: f64 = 0.90;

struct Computing<'a> {
    thread: &'a ThreadFacts,
    time: &'a SchedTime,
    /// Of its life: on a CPU in its own code.
    own: f64,
    /// What made it so.
    figures: [Measurement; 4],
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let mut computing: Vec<Computing<'_>> =
        facts.world.threads.iter().filter_map(|(id, thread)| computes(facts, id, thread)).collect();
    computing.sort_by(|a, b| b.own.total_cmp(&a.own).then(a.thread.tid.cmp(&b.thread.tid)));
    let mut told: Vec<ProcessId> = Vec::new();
    computing.retain(|one| !is_in_kernel(facts, one.thread.process));
    for one in &computing {
        let process = one.thread.process;
        if !told.contains(&process) {
            told.push(process);
            let others = computing.iter().filter(|other| other.thread.process == process).count() - 1;
            report(facts, out, one, others as u64);
        }
    }
    let files = facts.profiles.of_cpu().filter(|profile| matches!(profile.origin, ProfileOrigin::File(_)));
    for profile in files {
        check_file(facts, out, profile);
    }
}

/// A thread that wanted a CPU nearly all of the time, and was on one in its own code for most of it.
#[gated]
fn computes<'a>(facts: &Facts, id: ThreadId, thread: &'a ThreadFacts) -> Option<Computing<'a>> {
    let time = thread.sched.as_deref()?;
    let (life, wall) = (time.covered().get()?, time.wall().get()?);
    let part = |ns: u64| ns as f64 / life.max(1) as f64;
    let on_cpu = part(time.on_cpu_ns);
    // What others took from it makes no burst a long one.
    let had = life.saturating_sub(time.runnable_ns);
    if had < SHORTEST.or_zero()
        || on_cpu < HAD
        || on_cpu + part(time.runnable_ns) < BUSY
        || (life as f64) < SEEN * wall as f64
    {
        return None;
    }
    // Working calls are taken to run on the CPU all the while: the part of its own code is rather more. Calls that end long before the
    // thread does are no measure of it: its account is.
    let in_calls = thread.wall().get().map_or(0.0, |wall| thread.working_ns as f64 / wall.max(1) as f64);
    let by_account = own_ns(facts, id, thread).map_or(0.0, part).min(on_cpu);
    let own = (on_cpu - in_calls).max(by_account);
    // While others had the CPU it was in no code at all.
    let figures = [
        Measurement::share("share_of_time", own),
        Measurement::share("share_wanting_cpu", on_cpu + part(time.runnable_ns)).at_least(BUSY),
        Measurement::share("share_on_cpu", on_cpu).at_least(HAD),
        Measurement::share("share_in_own_code", own / part(had)).at_least(OWN_CODE),
    ];
    (own >= OWN_CODE * part(had)).then_some(Computing { thread, time, own, figures })
}

/// True where samples tell that most of what looks like a process's own code is system calls, which were only counted for a while.
#[gated]
fn is_in_kernel(facts: &Facts, process: ProcessId) -> bool {
    let mut profiles =
        facts.profiles.of_cpu().filter(|profile| profile.origin == ProfileOrigin::Samples(process));
    profiles.any(|profile| profile.step.account.share(CostKind::SystemCall) > 1.0 - OWN_CODE)
}

/// How long it was on a CPU outside of calls. Of calls that were only counted, all of their time is taken from it: it is rather more.
fn own_ns(facts: &Facts, id: ThreadId, thread: &ThreadFacts) -> Option<u64> {
    let account = facts.accounts.of(id)?;
    let counted = thread.counted.iter().flat_map(|table| table.iter());
    let counted = counted.map(|(_, stats)| stats.total().or_zero()).saturating_sum();
    Some(account.outside.on_cpu_ns.saturating_sub(counted))
}

#[gated]
fn report(facts: &Facts, out: &mut Findings<'_>, computing: &Computing<'_>, others: u64) {
    let Computing { thread, time, own, ref figures } = *computing;
    let (process, tid) = (thread.process, Some(thread.tid));
    let subject = Subjects::thread(facts, thread.tid);
    let who = Subjects::words(&subject);
    let kind = SampleKind::OnCpu;
    let samples = facts.samples.total(kind, process, tid);
    let functions = facts.samples.functions(kind, process, tid);
    let sampled = |ns: Nanos| ns.or_zero() as f64 / samples.ns.max(1) as f64;
    let enough = samples.count >= MIN_SAMPLES;
    let hottest = functions.first().filter(|_| enough);
    let hot = Hot::of(facts, process, &functions, samples).filter(|_| enough);
    let hot_part = hot.as_ref().map(|hot| of_samples(hot.part));
    let around = hot::around(facts, process, &functions, samples).filter(|_| enough && hot.is_none());
    let computes = Measurement::share("share_of_time", own);
    let content = Content::of_thread(facts, thread.tid);
    let on = content.as_ref().map_or_else(String::new, Content::clause);
    let title = match hot.as_ref().zip(hot_part.as_ref()) {
        Some((hot, part)) => {
            let kind = hot.kind.map_or(String::new(), |kind| format!(", most of it for {}", kind.words()));
            format!("{who} computes {computes} of the time: {} takes {part} of that{kind}{on}", hot.what)
        }
        None => {
            let below = around.map_or(String::new(), |name| format!(", most of it below {}", short(name)));
            format!("{who} computes {computes} of the time{below}{on}")
        }
    };
    let (on_cpu, life) = (
        Measurement::time("time_on_cpu", Nanos::new(time.on_cpu_ns)),
        Measurement::time("time", time.covered()),
    );
    let alike = (others > 0).then(|| Measurement::count("threads", others.saturating_add(1)));
    let profile = match (hottest, &hot) {
        (None, _) => "Which code it runs is not in the recording.".to_string(),
        (Some(_), Some(_)) => format!("By its samples: {}.", listed(&functions, sampled)),
        (Some(_), None) => format!("No function stands out: {}.", listed(&functions, sampled)),
    };
    let others = match others {
        0 => String::new(),
        others => format!(" {} of the process do so too.", words::plural(others, "more thread")),
    };
    let reads = content.as_ref().map_or_else(String::new, Content::sentence);
    let share = Share::of_time(own, ShareOf::life_of(thread.tid));
    let pid = subject.pid.map_or("PID".to_string(), |pid| pid.to_string());
    let subject = Subject {
        function: hot.as_ref().and_then(|hot| hot.function.clone()).or(around.map(str::to_string)),
        ..subject
    };
    // A runtime's compiler has a thread of its own: the program runs meanwhile, and nobody waits for it.
    let compiles = hot.as_ref().is_some_and(|hot| hot.compiles);
    let mut found = out
        .report(share, title)
        .at_most(if hot.is_some() && !is_told(facts, process) && !compiles { Severity::Warning } else { Severity::Notice })
        .subject(match &content {
            Some(content) => content.subject(subject),
            None => subject,
        })
        .cause(format!(
            "It was on a CPU {on_cpu} of {life}, and in its own code for nearly all of that: one thread has no more than one CPU. {profile}{reads}{others}"
        ))
        .measured_all(figures.clone())
        .measured_all(hot_part)
        .measured_all(enough.then(|| samples_seen(samples.count)))
        .measured_all([on_cpu, life])
        .measured_all(alike)
        .measured_all(content.iter().flat_map(Content::figures))
        .evidence_all(content.iter().flat_map(Content::exemplars).take(1))
        .fix(match hot.as_ref().and_then(|hot| hot.function.as_deref()) {
            Some(function) => less_of(&short(function)),
            None => format!("find the hot path: perf record -F 99 -g -p {pid} -- sleep 10; Python: py-spy dump, Java: async-profiler, Go: pprof"),
        })
        .fix("share the work among threads or processes, if it can be divided; take what no answer waits for out of its way")
        .fix("if computing is what the program is for: compile with optimisation, then faster CPUs")
        .verify(format!("pidstat -u -t -p {pid} 1   (%usr of the thread falls, or it gets more done)"))
        .saving_text(format!("up to {} of CPU time", Nanos::new(time.on_cpu_ns)))
        .evidence_line(
            facts.recording_at(time.first()),
            format!("thread {}: {}", thread.tid, facts.account(time)),
        );
    if let Some((frames, weight)) = facts.samples.heaviest(kind, process, tid, |_| true).filter(|_| enough) {
        let shown = frames.iter().take(FRAMES).copied().collect::<Vec<_>>().join(" < ");
        found = found.evidence_line(
            facts.recording_at(time.first()),
            format!("thread {}: {} of {} samples in {shown}", thread.tid, weight.count, samples.count),
        );
    }
    found.file();
}

/// The first few functions with their parts.
#[gated]
fn listed(functions: &[FunctionTime<'_>], part: impl Fn(Nanos) -> f64) -> String {
    let shown = functions.iter().filter(|function| function.flat.or_zero() > 0).take(4);
    let shown =
        shown.map(|function| format!("{} {}", short(function.name), words::percent(part(function.flat))));
    shown.collect::<Vec<_>>().join(", ")
}
