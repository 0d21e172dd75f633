//! Who had the CPUs that threads of a process waited for, as the scheduler's record tells: shared by the rules on queues for them.

use crate::callers;
use crate::gate::gated;
use crate::words;
use whyslow_facts::samples::Site;
use whyslow_facts::{Facts, ProcessId, RanMeanwhile, ThreadFacts};
use whyslow_model::event::Tid;
use whyslow_model::{Measurement, Nanos, SampleKind, SaturatingSum};

/// From this part of the wait on somebody is to blame for it.
const MOSTLY: f64 = 0.5;
/// From this part of the wait on own threads fill the CPUs: it is no queue behind others, they compute.
const FILL: f64 = 0.8;
/// The record has to tell of this part of the wait: else nothing is said by it.
const TOLD: f64 = 0.5;
/// Less of the wait is not worth a word.
const SOME: f64 = 0.02;
/// Programs named in a sentence.
const NAMED: usize = 3;

/// Who had the CPUs, with parts of the wait for them.
pub(super) struct Holders {
    ran: RanMeanwhile,
    /// Of the process's own threads, and those of others of its program that were recorded with it: workers of one server.
    own: f64,
    /// Other programs: part, name, number of a process. The most first.
    others: Vec<(f64, String, Tid)>,
}

impl Holders {
    /// Of the threads of a process that waited so long together, without what their quota took; `None` where it was not recorded,
    /// or too little of it. Parts are of what [`Holders::queued`] leaves.
    #[gated]
    pub(super) fn of<'a>(
        facts: &Facts,
        process: ProcessId,
        threads: impl IntoIterator<Item = &'a ThreadFacts>,
        waited_ns: u64,
    ) -> Option<Holders> {
        let known = facts.world.threads.known_process(process)?;
        let whole = threads.into_iter().map(|thread| (thread, 1.0));
        let ran = RanMeanwhile::of(facts, &known.pid.map_or(Vec::new(), |pid| vec![pid]), whole)?;
        let told = ran.ran_ns().saturating_sub(ran.untold_ns).saturating_add(ran.idle_ns);
        if waited_ns == 0 || (told as f64) < TOLD * waited_ns as f64 {
            return None;
        }
        let queued = waited_ns.saturating_sub(no_queue(&ran)).max(1);
        let part = |ns: u64| (ns as f64 / queued as f64).min(1.0);
        let is_sibling = |pid: Tid| {
            let of = facts.world.threads.last_process(pid);
            let of = of.and_then(|id| facts.world.threads.known_process(id)?.name());
            of.is_some() && of == known.name()
        };
        let (own, others): (Vec<_>, Vec<_>) =
            ran.others.iter().partition(|one| one.is_recorded && is_sibling(one.pid));
        let siblings = own.iter().map(|one| one.ns).saturating_sum();
        let own = part(ran.own_ns().saturating_add(siblings));
        let others = others.into_iter().map(|one| (one.ns, one.name.as_str(), one.pid));
        let others = by_program(others).into_iter().map(|(ns, who, pid)| (part(ns), who, pid)).collect();
        Some(Holders { own, others, ran })
    }

    /// What of a wait of `ns` was for somebody who had the CPU: without the recorder, which is not there on other days, and without
    /// the time in which nobody had it, as an idle CPU was to wake up or its hypervisor did not run it.
    #[gated]
    pub(super) fn queued(&self, ns: u64) -> u64 {
        ns.saturating_sub(no_queue(&self.ran))
    }

    /// True where threads of the process itself had the CPUs for most of the wait.
    #[gated]
    pub(super) fn are_own(&self) -> bool {
        self.own >= MOSTLY
    }

    /// True where they had them for nearly all of it.
    #[gated]
    pub(super) fn fill(&self) -> bool {
        self.own >= FILL
    }

    /// True where others had them for most of it.
    #[gated]
    pub(super) fn are_others(&self) -> bool {
        self.others.iter().map(|(part, ..)| part).sum::<f64>() >= MOSTLY
    }

    /// The other process that had them most, where others are to blame.
    #[gated]
    pub(super) fn first(&self) -> Option<(&str, Tid)> {
        self.others.first().filter(|_| !self.are_own()).map(|(_, name, pid)| (&**name, *pid))
    }

    /// Where the program that had them most computes most, where it was recorded.
    fn code<'f>(&self, facts: &'f Facts) -> Option<Site<'f>> {
        let (_, pid) = self.first()?;
        let process = facts.world.threads.last_process(pid)?;
        let site = facts.samples.own_site(SampleKind::OnCpu, process, None, |_| true);
        site.map(|(site, _)| site)
    }

    /// Who had them most, as the end of a title, with its figure: ` beside ffmpeg (71), in encode (x264.c:90), which had the CPU
    /// 71.0 % of that time`.
    #[gated]
    pub(super) fn title(&self, facts: &Facts) -> Option<(String, Measurement)> {
        let figure = |name, part: f64| Measurement::share(name, part.min(1.0));
        if self.are_own() {
            let part = figure("share_of_wait_for_own", self.own);
            return Some((format!(": own threads had the CPU {part} of that time"), part));
        }
        let (part, who, _) = self.others.first().filter(|(part, ..)| *part >= SOME)?;
        let part = figure("share_of_wait_for_other", *part);
        let place = callers::words(self.code(facts).as_ref());
        Some((format!(" beside {who}{place}, which had the CPU {part} of that time"), part))
    }

    /// Who had them, as a sentence: the most first.
    #[gated]
    pub(super) fn sentence(&self) -> String {
        let mut told: Vec<(f64, String)> =
            self.others.iter().take(NAMED).map(|(part, who, _)| (*part, who.clone())).collect();
        let rest = self.others.iter().skip(NAMED);
        let count = rest.clone().count() as u64;
        told.push((
            rest.map(|(part, ..)| part).sum(),
            format!("{} further programs together", words::count(count)),
        ));
        let own: Vec<String> = self.ran.own.iter().filter_map(|(name, _)| name.clone()).take(NAMED).collect();
        let own = match own.is_empty() {
            true => "own threads".to_string(),
            false => format!("own threads ({})", words::list(&own, own.len())),
        };
        told.push((self.own, own));
        told.retain(|(part, _)| *part >= SOME);
        told.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let told: Vec<String> =
            told.into_iter().map(|(part, who)| format!("{who} {}", words::percent(part))).collect();
        let besides = match no_queue(&self.ran) {
            0 => String::new(),
            ns => format!(
                " {} more of waiting are not in this: the recorder or nobody had that CPU.",
                Nanos::new(ns)
            ),
        };
        match told.is_empty() {
            true => format!("Who ran there meanwhile is not told.{besides}"),
            false => {
                format!("Meanwhile ran, of the time waited: {}.{besides}", words::list(&told, told.len()))
            }
        }
    }
}

/// Processes of one name as one, the most first: `prerender (20291)`, or `6 processes of prerender`, with the number of the first.
fn by_program<'a>(others: impl Iterator<Item = (u64, &'a str, Tid)>) -> Vec<(u64, String, Tid)> {
    let mut programs: Vec<(u64, &str, &str, Tid, u64)> = Vec::new();
    for (ns, who, pid) in others {
        let name = who.rsplit_once(" (").map_or(who, |(name, _)| name);
        match programs.iter_mut().find(|(_, known, ..)| *known == name) {
            Some((sum, .., count)) => {
                *sum = sum.saturating_add(ns);
                *count += 1;
            }
            None => programs.push((ns, name, who, pid, 1)),
        }
    }
    programs.sort_by_key(|(ns, name, ..)| (std::cmp::Reverse(*ns), *name));
    let told = programs.into_iter().map(|(ns, name, who, pid, count)| match count {
        1 => (ns, who.to_string(), pid),
        count => (ns, format!("{} processes of {name}", words::count(count)), pid),
    });
    told.collect()
}

/// Time in which the recorder had the CPU, or nobody, ns.
fn no_queue(ran: &RanMeanwhile) -> u64 {
    ran.recorder_ns.saturating_add(ran.idle_ns)
}

/// Of all threads of a process, with what they waited for a CPU in all; `None` also where most of that was no queue.
#[gated]
pub(super) fn of_process(facts: &Facts, pid: Tid) -> Option<Holders> {
    let process = facts.world.threads.last_process(pid)?;
    let threads =
        || facts.world.threads.iter().map(|(_, thread)| thread).filter(|one| one.process == process);
    let queued = threads().filter_map(|thread| {
        let time = thread.sched.as_deref()?;
        Some(time.runnable_ns.saturating_sub(time.throttled_ns))
    });
    let waited_ns = queued.saturating_sum();
    // Of what the recorder took nothing follows.
    Holders::of(facts, process, threads(), waited_ns)
        .filter(|holders| holders.queued(waited_ns) as f64 >= MOSTLY * waited_ns as f64)
}

/// What of the wait for a CPU of these processes' threads began with the quota of their group used up; `None` where it was not recorded.
#[gated]
pub(super) fn of_quota(facts: &Facts, pids: &[Tid]) -> Option<Measurement> {
    let processes: Vec<ProcessId> =
        pids.iter().filter_map(|pid| facts.world.threads.last_process(*pid)).collect();
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let mut told = threads.filter(|thread| processes.contains(&thread.process)).filter_map(|thread| {
        Some((thread.meanwhile.as_deref()?.quota_ns(), thread.sched.as_deref()?.runnable_ns))
    });
    let first = told.next()?;
    let (quota, all) =
        told.fold(first, |sum, one| (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1)));
    (all > 0).then(|| Measurement::share("share_of_wait_for_quota", (quota as f64 / all as f64).min(1.0)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn processes_of_one_program_are_told_as_one() {
        let others = [(40, "sshd (7)", 7), (30, "draw (8)", 8), (30, "draw (9)", 9)];
        let told = super::by_program(others.into_iter());
        assert_eq!(told, [(60, "2 processes of draw".to_string(), 8), (40, "sshd (7)".to_string(), 7)]);
    }
}
