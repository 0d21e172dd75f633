//! Who had the CPUs that threads of one process waited for, of several threads together.

use crate::world::runners::without_number;
use crate::{Facts, ThreadFacts};
use whyslow_model::event::Tid;
use whyslow_model::{Entity, SaturatingSum};

/// Who had the CPUs that threads of one process waited for.
#[derive(Clone, Debug, Default)]
pub struct RanMeanwhile {
    /// Threads of the process itself by name, the most first, ns; without a name where they have the process's.
    pub own: Vec<(Option<String>, u64)>,
    /// Other processes, the most first.
    pub others: Vec<OtherRunner>,
    /// Threads of whom only the sum is known, ns.
    pub more_ns: u64,
    /// Nobody: the CPU was to wake up, ns.
    pub idle_ns: u64,
    /// The quota of their control group, ns.
    pub quota_ns: u64,
    /// Somebody, nobody tells who, ns.
    pub untold_ns: u64,
    /// The recorder, ns.
    pub recorder_ns: u64,
}

/// Another process that had a CPU which was waited for.
#[derive(Clone, Debug)]
pub struct OtherRunner {
    /// Its number.
    pub pid: Tid,
    /// Its program, and its number: `ffmpeg (71)`.
    pub name: String,
    /// True for one that was recorded, too.
    pub is_recorded: bool,
    /// How much of the waits it had the CPU, ns.
    pub ns: u64,
}

impl RanMeanwhile {
    /// Of threads of the processes `own_pids`, each with the part of its waits that is meant, 0 to 1; `None` where nothing was
    /// recorded of them.
    pub fn of<'a>(
        facts: &Facts,
        own_pids: &[Tid],
        threads: impl IntoIterator<Item = (&'a ThreadFacts, f64)>,
    ) -> Option<RanMeanwhile> {
        let mut all = RanMeanwhile::default();
        let mut others: Vec<(Tid, Vec<(&str, u64)>)> = Vec::new();
        let mut own: Vec<(&str, u64)> = Vec::new();
        let mut is_known = false;
        for (thread, part) in threads {
            let Some(runners) = thread.meanwhile.as_deref() else { continue };
            is_known = true;
            let part = |ns: u64| (ns as f64 * part.clamp(0.0, 1.0)) as u64;
            for (of, name, ns) in &runners.runners {
                match others.iter_mut().find(|(known, _)| known == of) {
                    _ if own_pids.contains(of) => put(&mut own, name, part(*ns)),
                    Some((_, names)) => put(names, name, part(*ns)),
                    None => others.push((*of, vec![(&**name, part(*ns))])),
                }
            }
            for (sum, ns) in [
                (&mut all.more_ns, runners.more_ns),
                (&mut all.idle_ns, runners.idle_ns),
                (&mut all.quota_ns, runners.quota_ns),
                (&mut all.untold_ns, runners.untold_ns),
                (&mut all.recorder_ns, runners.recorder_ns),
            ] {
                *sum = sum.saturating_add(part(ns));
            }
        }
        let threads = &facts.world.threads;
        let names = own_pids.iter().filter_map(|pid| threads.known_process(threads.last_process(*pid)?));
        let names: Vec<&str> =
            names.filter_map(|process| process.comm.as_deref()).map(without_number).collect();
        all.own =
            own.into_iter().map(|(own, ns)| ((!names.contains(&own)).then(|| own.to_string()), ns)).collect();
        all.own.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let others = others.into_iter().map(|(pid, names)| OtherRunner {
            pid,
            name: process_words(facts, pid, &names),
            is_recorded: threads.last_process(pid).is_some(),
            ns: names.iter().map(|(_, ns)| *ns).saturating_sum(),
        });
        all.others = others.collect();
        all.others.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.pid.cmp(&b.pid)));
        is_known.then_some(all)
    }

    /// Threads of its own, ns.
    pub fn own_ns(&self) -> u64 {
        self.own.iter().map(|(_, ns)| *ns).saturating_sum()
    }

    /// Other processes, ns.
    pub fn others_ns(&self) -> u64 {
        self.others.iter().map(|one| one.ns).saturating_sum()
    }

    /// All threads that ran, ns: without those that had no CPU to wait for.
    pub fn ran_ns(&self) -> u64 {
        [self.own_ns(), self.others_ns(), self.more_ns, self.untold_ns, self.recorder_ns]
            .into_iter()
            .saturating_sum()
    }
}

fn put<'a>(names: &mut Vec<(&'a str, u64)>, name: &'a str, ns: u64) {
    match names.iter_mut().find(|(known, _)| *known == name) {
        Some((_, sum)) => *sum = sum.saturating_add(ns),
        None => names.push((name, ns)),
    }
}

/// `hog.py (71)`: the program as the host's figures or the recording know it, else by the name that was recorded of it most.
fn process_words(facts: &Facts, pid: Tid, names: &[(&str, u64)]) -> String {
    let of = Entity::Process(pid);
    if facts.host.thing(&of).is_some_and(|thing| thing.name().is_some()) {
        return facts.host.name_of(&of);
    }
    let threads = &facts.world.threads;
    let known = threads.last_process(pid).and_then(|id| threads.known_process(id)?.name());
    let most = names.iter().max_by_key(|(name, ns)| (*ns, std::cmp::Reverse(*name))).map(|(name, _)| *name);
    match known.or(most).filter(|name| !name.is_empty()) {
        Some(name) => format!("{name} ({pid})"),
        None => format!("process {pid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use whyslow_model::{Event, HadCpu, Meanwhile, Nanos, ProcessInfo, Sink};

    fn one(tid: Tid, had: HadCpu, runner: Option<Tid>, comm: &str, ns: u64) -> Event<'static> {
        Event::Meanwhile(Box::new(Meanwhile {
            pid: 7,
            tid,
            had,
            runner,
            comm: Some(comm.to_string()),
            turns: 1,
            total: Nanos::new(ns),
        }))
    }

    fn facts(events: Vec<Event<'static>>) -> Facts {
        let mut facts = Facts::default();
        for tid in [7, 8] {
            let comm = Some("orders".to_string());
            facts.push(Event::Process(ProcessInfo {
                pid: 7,
                tid: Some(tid),
                comm,
                ..ProcessInfo::default()
            }));
        }
        events.into_iter().for_each(|event| facts.push(event));
        facts.finish();
        facts
    }

    fn of_all(facts: &Facts) -> Option<RanMeanwhile> {
        let threads = facts.world.threads.iter().map(|(_, thread)| (thread, 1.0));
        RanMeanwhile::of(facts, &[7], threads)
    }

    #[test]
    fn processes_are_told_apart_and_own_threads_by_name() {
        use HadCpu::{Idle, Quota, Recorder, Thread, Untold};
        let facts = facts(vec![
            one(7, Thread, Some(71), "dec0:0", 200),
            one(8, Thread, Some(71), "ffmpeg", 300),
            one(8, Thread, Some(7), "order-worker-1", 40),
            one(8, Thread, Some(7), "order-worker-2", 50),
            one(8, Thread, Some(7), "orders", 5),
            one(7, Idle, None, "", 3),
            one(7, Quota, None, "", 30),
            one(7, Untold, None, "", 4),
            one(7, Recorder, Some(90), "whyslow", 6),
        ]);
        let all = of_all(&facts).unwrap();
        let own: Vec<_> = all.own.iter().map(|(name, ns)| (name.as_deref(), *ns)).collect();
        assert_eq!(own, [(Some("order-worker"), 90), (None, 5)]);
        let others: Vec<_> =
            all.others.iter().map(|one| (one.name.as_str(), one.ns, one.is_recorded)).collect();
        assert_eq!(others, [("ffmpeg (71)", 500, false)]);
        assert_eq!((all.idle_ns, all.quota_ns, all.untold_ns, all.ran_ns()), (3, 30, 4, 605));
        assert_eq!(all.recorder_ns, 6);
    }

    #[test]
    fn what_was_not_recorded_is_unknown() {
        assert!(of_all(&facts(Vec::new())).is_none());
    }

    proptest! {
        #[test]
        fn nothing_is_lost_past_the_bound(runners in prop::collection::vec((1u32..300, 1u64..1_000), 1..400)) {
            let events = runners.iter().map(|(pid, ns)| one(8, HadCpu::Thread, Some(*pid), "x", *ns)).collect();
            let facts = facts(events);
            let all = of_all(&facts).unwrap();
            prop_assert_eq!(all.ran_ns(), runners.iter().map(|(_, ns)| ns).sum::<u64>());
            let (_, thread) = facts.world.threads.iter().find(|(_, thread)| thread.tid == 8).unwrap();
            prop_assert_eq!(thread.meanwhile.as_deref().unwrap().total_ns(), all.ran_ns());
        }
    }
}
