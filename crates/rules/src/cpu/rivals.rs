//! Who else takes the CPUs that a thread waits for, by the host's figures: shared by the rules on queues for them.

use super::queue::host_cpus;
use crate::engine::Report;
use crate::figures;
use crate::gate::gated;
use crate::words;
use hashbrown::HashSet;
use whyslow_facts::Facts;
use whyslow_facts::host::Thing;
use whyslow_model::{Entity, Measurement, Metric};

/// Less is nothing: CPUs.
const SOME: f64 = 0.05;
/// Programs named in a sentence.
const NAMED: usize = 3;
/// Processes whose figures are shown.
const SHOWN: usize = 2;
/// What is shown of them.
pub(super) const TAKES: &[Metric] = &[Metric::TaskUser, Metric::TaskSystem, Metric::TaskCpu];
/// Others are blamed where they took this part of the time that a thread waited, and more: the CPU that it waited for was busy meanwhile.
const BLAMED: f64 = 0.5;

/// What took the CPUs beside the processes in question, in CPUs over the time that was looked at.
pub(super) struct Rivals<'a> {
    /// Processes, the one that took most first.
    processes: Vec<(f64, &'a Entity)>,
    /// What no process that is told of has taken: those that ended between two samples, or that no source lists.
    ended: f64,
    /// The recorder itself.
    recorder: f64,
    /// Interrupts.
    interrupts: f64,
    /// What the hypervisor gave to other machines.
    stolen: f64,
}

impl<'a> Rivals<'a> {
    /// All outside of the recorded processes; where these are all there are, outside of the process `waiting`.
    #[gated]
    pub(super) fn outside(facts: &'a Facts, waiting: Option<u32>) -> Option<Rivals<'a>> {
        let recorded = recorded(facts);
        let window = facts.window.whole().or_zero().max(1) as f64;
        let own_cpus = facts.sched.on_cpu().or_zero() as f64 / window;
        let outside =
            Rivals::of(facts, |of| of.pid().is_some_and(|pid| recorded.contains(&pid)), Some(own_cpus))?;
        match outside.taken() < SOME {
            true => Rivals::of(facts, |of| of.pid().is_some() && of.pid() == waiting, None),
            false => Some(outside),
        }
    }

    /// All but the processes that `is_own` says; these took `own_cpus`, if it is known. `None` where no source tells what processes
    /// took in a time that was looked at.
    #[gated]
    pub(super) fn of(
        facts: &'a Facts,
        is_own: impl Fn(&Entity) -> bool,
        own_cpus: Option<f64>,
    ) -> Option<Rivals<'a>> {
        let tasks = facts.host.processes();
        if !tasks.iter().any(|(_, task)| figures::cpu(task).is_some()) {
            return None;
        }
        let took = tasks.into_iter().filter_map(|(of, task)| Some((cpus(facts, task)?, of)));
        let (own, mut processes): (Vec<_>, Vec<_>) = took.partition(|(_, of)| is_own(of));
        processes.retain(|(cpus, _)| cpus.is_finite() && *cpus > 0.0);
        processes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let of_host = |metrics: &[Metric]| {
            let sum = facts.host.host().and_then(|host| host.sum_current(metrics));
            sum.map(|share| share * host_cpus(facts))
        };
        let recorder = facts.recording.cost.and_then(|cost| {
            Some(
                cost.recorder_cpu.as_secs_f64()?
                    / facts.window.whole().as_secs_f64().filter(|all| *all > 0.0)?,
            )
        });
        let recorder = recorder.unwrap_or(0.0);
        let interrupts = of_host(&[Metric::CpuIrq, Metric::CpuSoftirq]).unwrap_or(0.0);
        let stolen = of_host(&[Metric::CpuSteal]).unwrap_or(0.0);
        // A process of the target may have ended before its last sample, so that figures tell less of it.
        let own = own.iter().map(|(cpus, _)| cpus).sum::<f64>().max(own_cpus.unwrap_or(0.0));
        let known =
            own + processes.iter().map(|(cpus, _)| cpus).sum::<f64>() + recorder + interrupts + stolen;
        let idle = of_host(&[Metric::CpuIdle, Metric::CpuIowait]);
        let ended = idle.map_or(0.0, |idle| (host_cpus(facts) - idle - known).max(0.0));
        Some(Rivals { processes, ended, recorder, interrupts, stolen })
    }

    /// All that was taken from a thread that waited this part of the time: true where that accounts for it.
    #[gated]
    pub(super) fn account_for(&self, waited: f64) -> bool {
        self.taken() + self.ended + self.recorder + self.interrupts + self.stolen >= BLAMED * waited
    }

    /// CPUs that processes took.
    fn taken(&self) -> f64 {
        self.processes.iter().map(|(cpus, _)| cpus).sum()
    }

    /// The process that took most.
    #[gated]
    pub(super) fn first(&self) -> Option<&'a Entity> {
        self.processes.first().filter(|(cpus, _)| *cpus >= SOME).map(|(_, of)| *of)
    }

    /// What took most, for a title: `beside rustc (27096), which takes 92.0 % of a CPU`, and how much it took.
    pub(super) fn title(&self, facts: &Facts) -> Option<(String, Measurement)> {
        let (cpus, who) = match self.first() {
            Some(_) => self.processes.first().map(|(cpus, of)| (*cpus, facts.host.name_of(of)))?,
            None => self.others().into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?,
        };
        let title = format!("beside {who}, which takes {}", cpus_words(cpus));
        Some((title, Measurement::seconds_per_second("cpus_of_rival", cpus)))
    }

    /// What is no process that has a name.
    fn others(&self) -> [(f64, String); 4] {
        [
            (self.ended, "work that ended between two samples, or that no source lists".to_string()),
            (self.recorder, "this recorder".to_string()),
            (self.interrupts, "the work of interrupts".to_string()),
            (self.stolen, "another machine of the hypervisor (steal)".to_string()),
        ]
    }

    /// Adds the figures of those that took most.
    #[gated]
    pub(super) fn evidence<'o, 'f>(&self, mut found: Report<'o, 'f>) -> Report<'o, 'f> {
        for (_, of) in self.processes.iter().take(SHOWN).filter(|(cpus, _)| *cpus >= SOME) {
            found = found.evidence_of(of, TAKES);
        }
        found
    }

    /// Programs with what all their processes took, the most first, and in words which: `rustc (27096) and 4 more of that name`.
    fn programs(&self, facts: &Facts) -> Vec<(f64, String)> {
        let mut programs: Vec<(Option<String>, f64, &Entity, u64)> = Vec::new();
        for (cpus, of) in &self.processes {
            let name = facts.host.thing(of).and_then(Thing::name);
            match programs.iter_mut().find(|(known, ..)| known.is_some() && *known == name) {
                Some((_, sum, _, more)) => (*sum, *more) = (*sum + cpus, *more + 1),
                None => programs.push((name, *cpus, of, 0)),
            }
        }
        programs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.2.cmp(b.2)));
        let words = |of: &Entity, more: u64| match more {
            0 => facts.host.name_of(of),
            _ => format!("{} and {} more of that name", facts.host.name_of(of), words::count(more)),
        };
        programs.into_iter().map(|(_, cpus, of, more)| (cpus, words(of, more))).collect()
    }

    /// Who took the CPUs, as a sentence: the most first.
    #[gated]
    pub(super) fn sentence(&self, facts: &Facts) -> String {
        let mut told = self.programs(facts);
        let rest = told.split_off(told.len().min(NAMED));
        let sum = rest.iter().map(|(cpus, _)| cpus).sum();
        told.push((sum, format!("{} further programs together", words::count(rest.len() as u64))));
        told.extend(self.others());
        told.retain(|(cpus, _)| *cpus >= SOME);
        let told: Vec<String> =
            told.into_iter().map(|(cpus, who)| format!("{who} {}", cpus_words(cpus))).collect();
        match told.is_empty() {
            true => "No other process takes CPU worth telling.".to_string(),
            false => format!("The CPUs are taken by others: {}.", words::list(&told, told.len())),
        }
    }
}

/// The processes of a recording or trace.
#[gated]
pub(super) fn recorded(facts: &Facts) -> HashSet<u32> {
    facts.world.threads.processes().filter_map(|(_, process)| process.pid).collect()
}

/// CPUs that a task took over the whole time that its source looked, also where the task was not there all of it.
#[gated]
fn cpus(facts: &Facts, task: &Thing) -> Option<f64> {
    let of = |metric: Metric| {
        let reading = task.current_reading(metric)?;
        let told =
            facts.host.told.iter().find(|told| told.tool == reading.tool && told.source == reading.source);
        let looked = told.map(|told| told.seconds).filter(|seconds| *seconds > 0.0);
        Some(match (reading.total(), looked) {
            (Some(total), Some(looked)) => total / looked.max(reading.seconds),
            _ => reading.mean(),
        })
    };
    let parts = [Metric::TaskUser, Metric::TaskSystem].into_iter().filter_map(of);
    parts.reduce(|sum, part| sum + part).or_else(|| of(Metric::TaskCpu))
}

/// `92.0 % of a CPU`, `1.41 CPUs`.
#[gated]
fn cpus_words(cpus: f64) -> String {
    match cpus < 1.0 {
        true => format!("{} of one CPU", words::percent(cpus)),
        false => format!("{} CPUs", words::quantity(cpus)),
    }
}
