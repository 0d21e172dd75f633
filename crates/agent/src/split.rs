//! One window's events given to the services that they are of: facts a service, and facts of the host alone.

use crate::service::{program_of, service_of};
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use whyslow_facts::Facts;
use whyslow_model::event::Tid;
use whyslow_model::{Event, ProcessInfo, Sink, Stack, StackId};

/// Services that have facts of their own; what further ones do is told of all of them together.
const MOST_SERVICES: usize = 256;
/// The service of what is of none, or of too many.
pub(crate) const OTHERS: &str = "others";
/// In the place of a service: the recorder's own processes, of which nothing is told.
const OURS: usize = usize::MAX;
/// Threads that are remembered: more cannot live at once (`PID_MAX_LIMIT`, include/linux/threads.h).
const MOST_THREADS: usize = 4 << 20;

/// What is known of one service.
pub(crate) struct ServiceFacts {
    pub(crate) name: String,
    pub(crate) facts: Facts,
    /// Its processes, with what they are called.
    pub(crate) processes: BTreeMap<Tid, String>,
    /// The stacks that its facts were told.
    stacks: HashSet<StackId>,
}

/// The sink that splits.
pub(crate) struct Splitter {
    services: Vec<ServiceFacts>,
    by_name: HashMap<String, usize>,
    by_pid: HashMap<Tid, usize>,
    by_tid: HashMap<Tid, usize>,
    /// What is told of the host and of no process.
    pub(crate) host: Facts,
    /// What all services are told, of before a service was known.
    common: Vec<Event<'static>>,
    stacks: HashMap<StackId, Stack>,
    recorder: Tid,
}

impl Splitter {
    /// The recorder's own process is left out.
    pub(crate) fn new(recorder: Tid) -> Splitter {
        Splitter {
            services: Vec::new(),
            by_name: HashMap::new(),
            by_pid: HashMap::new(),
            by_tid: HashMap::new(),
            host: Facts::default(),
            common: Vec::new(),
            stacks: HashMap::new(),
            recorder,
        }
    }

    /// All that came, ready to be asked.
    pub(crate) fn finish(mut self) -> (Vec<ServiceFacts>, Facts) {
        self.services.iter_mut().for_each(|service| service.facts.finish());
        self.host.finish();
        (self.services, self.host)
    }

    fn service(&mut self, name: String) -> usize {
        if let Some(known) = self.by_name.get(&name) {
            return *known;
        }
        let name = if self.services.len() >= MOST_SERVICES { OTHERS.to_string() } else { name };
        if let Some(known) = self.by_name.get(&name) {
            return *known;
        }
        let mut facts = Facts::default();
        self.common.iter().for_each(|event| facts.push(event.clone()));
        self.services.push(ServiceFacts {
            name: name.clone(),
            facts,
            processes: BTreeMap::new(),
            stacks: HashSet::new(),
        });
        self.by_name.insert(name, self.services.len() - 1);
        self.services.len() - 1
    }

    /// The service of a process as it is told; one that runs another program is of another one from then on.
    fn process(&mut self, info: &ProcessInfo) -> usize {
        if info.pid == self.recorder || info.parent == Some(self.recorder) {
            self.by_pid.insert(info.pid, OURS);
            self.by_tid.insert(info.tid.unwrap_or(info.pid), OURS);
            return OURS;
        }
        let known = self.by_pid.get(&info.pid).copied();
        // A record of a thread has its name alone.
        let tells = info.cmdline.is_some() || info.cgroup.is_some();
        let at = match known {
            Some(known) if !tells => known,
            _ if !tells => match info.parent.and_then(|parent| self.by_pid.get(&parent)) {
                Some(parents) => *parents,
                None => self.service(program_of(info)),
            },
            _ => self.service(service_of(info)),
        };
        self.by_pid.insert(info.pid, at);
        if self.by_tid.len() < MOST_THREADS {
            self.by_tid.insert(info.tid.unwrap_or(info.pid), at);
        }
        if at == OURS {
            return OURS;
        }
        let names = &mut self.services[at].processes;
        if tells || !names.contains_key(&info.pid) {
            names.insert(info.pid, program_of(info));
        }
        at
    }

    fn of_pid(&mut self, pid: Tid) -> usize {
        match self.by_pid.get(&pid) {
            Some(known) => *known,
            None => self.service(OTHERS.to_string()),
        }
    }

    /// The service of a process, which is told these stacks if it does not know them.
    fn with_stacks(&mut self, pid: Tid, stacks: [Option<StackId>; 2]) -> usize {
        let at = self.of_pid(pid);
        let Some(service) = self.services.get_mut(at) else { return at };
        for id in stacks.into_iter().flatten() {
            if let Some(stack) = self.stacks.get(&id).filter(|_| service.stacks.insert(id)) {
                service.facts.push(Event::Stack(stack.clone()));
            }
        }
        at
    }

    fn of_thread(&mut self, tid: Tid) -> usize {
        match self.by_tid.get(&tid).or_else(|| self.by_pid.get(&tid)) {
            Some(known) => *known,
            None => self.service(OTHERS.to_string()),
        }
    }

    fn take(&mut self, event: Event<'_>) {
        let at = match &event {
            Event::Process(info) => self.process(info),
            Event::Call(call) | Event::Enter(call) => match call.pid {
                Some(pid) => self.of_pid(pid),
                None => self.of_thread(call.tid),
            },
            Event::Signal(signal) => self.of_thread(signal.tid),
            Event::Exit(exit) => self.of_thread(exit.tid),
            Event::Frame { tid, .. } => self.of_thread(*tid),
            Event::Fd(entry) => match entry.pid {
                Some(pid) => self.of_pid(pid),
                None => return,
            },
            Event::Stretch(stretch) => self.of_pid(stretch.pid),
            Event::Wakeup(wakeup) => self.of_thread(wakeup.wakee),
            Event::Sample(sample) => self.with_stacks(sample.pid, [sample.kernel, sample.user]),
            Event::CallStack(made) => self.with_stacks(made.pid, [None, Some(made.user)]),
            Event::FileIo(io) => self.of_pid(io.pid),
            Event::Meanwhile(one) => self.of_pid(one.pid),
            Event::Parked(parked) => self.of_pid(parked.pid),
            Event::ThreadCounts(counts) => self.of_pid(counts.pid),
            Event::ThreadTotals(totals) => self.of_pid(totals.pid),
            Event::Net(net) => match net.pid {
                Some(pid) => self.of_pid(pid),
                None => return,
            },
            // The host's, the disks', and what the recording is.
            Event::Figures(_) | Event::BlockIo(_) => {
                self.host.push(event.clone());
                return self.push_to_all(event);
            }
            Event::Stack(stack) => {
                self.stacks.insert(stack.id, stack.clone());
                return;
            }
            Event::Span(_) | Event::Source(_) | Event::Loss(_) | Event::Cost(_) | Event::Note(_) => {
                self.host.push(event.clone());
                return self.push_to_all(event);
            }
            Event::Counts(_)
            | Event::Logged(_)
            | Event::Percentiles(_)
            | Event::Profile(_)
            | Event::Trace(_)
            | Event::Followed(_) => return,
        };
        if let Some(service) = self.services.get_mut(at) {
            service.facts.push(event);
        }
    }

    fn push_to_all(&mut self, event: Event<'_>) {
        self.services.iter_mut().for_each(|service| service.facts.push(event.clone()));
        let kept = match event {
            Event::Figures(table) => Event::Figures(table),
            Event::BlockIo(io) => Event::BlockIo(io),
            Event::Span(span) => Event::Span(span),
            Event::Source(info) => Event::Source(info),
            Event::Loss(loss) => Event::Loss(loss),
            Event::Cost(cost) => Event::Cost(cost),
            Event::Note(note) => Event::Note(note),
            _ => return,
        };
        self.common.push(kept);
    }
}

impl Sink for Splitter {
    fn push(&mut self, event: Event<'_>) {
        self.take(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, Nanos, Timestamp};

    fn process(pid: Tid, cmdline: &str) -> Event<'static> {
        let program =
            cmdline.split(' ').next().map(|path| path.rsplit('/').next().unwrap_or(path).to_string());
        let cmdline = Some(cmdline.to_string());
        Event::Process(ProcessInfo { pid, comm: program, cmdline, ..ProcessInfo::default() })
    }

    #[test]
    fn each_service_has_its_own_events_and_those_of_all() {
        let mut split = Splitter::new(9);
        split.push(process(1, "/srv/web -p 1"));
        split.push(process(2, "/srv/db"));
        split.push(process(9, "/usr/bin/whyslow agent"));
        split.push(Event::Process(ProcessInfo { pid: 10, parent: Some(9), ..ProcessInfo::default() }));
        // A child of which its name alone is told is of its parent's service.
        split.push(Event::Process(ProcessInfo { pid: 3, parent: Some(2), ..ProcessInfo::default() }));
        for (pid, ts) in [(1, 110), (2, 120), (3, 130), (2, 140), (77, 150), (9, 160), (10, 170)] {
            let mut call = Call::new("getpid", "");
            (call.tid, call.pid, call.ts, call.dur) = (pid, Some(pid), Timestamp::new(ts), Nanos::new(1));
            split.push(Event::Call(&call));
        }
        let (services, host) = split.finish();
        let calls: Vec<_> = services.iter().map(|one| (one.name.as_str(), one.facts.world.calls)).collect();
        assert_eq!(calls, [("web", 1), ("db", 3), (OTHERS, 1)]);
        assert_eq!(host.world.calls, 0);
    }
}
