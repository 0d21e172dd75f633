//! Chains in words: who waits for what, and where that is seen.

use super::{Explainer, Missing, Path, PathKind, Segment};
use whyslow_facts::folds::graph::{End, Ended, Line, LongCall, Resource};
use whyslow_facts::{Exemplar, Facts};
use whyslow_model::event::Tid;
use whyslow_model::{ChainLink, Nanos, Timestamp};

impl<'a> Explainer<'a> {
    /// `thread 512 worker`, as far as known.
    pub fn who(&self, tid: Tid) -> String {
        self.name(tid).map_or(format!("thread {tid}"), |name| format!("thread {tid} {name}"))
    }

    /// A thread's name, else that of its process, as far as known.
    pub fn name(&self, tid: Tid) -> Option<&'a str> {
        let life = self.lives.get(&tid).and_then(|lives| lives.last())?;
        let thread = self.facts.world.threads.thread(life.thread);
        thread.comm.as_deref().or_else(|| self.facts.world.threads.process(thread.process).name())
    }

    /// What a long call waits for, named: `futex 0x7f004c01e354`, `10.0.0.1:6379 (HMGET relation:{n})`.
    pub fn names(&self, call: &LongCall) -> String {
        let named = self.resource(call);
        let asked = self.facts.graph.name(call.asked).map_or(String::new(), |asked| format!(" ({asked})"));
        let ended = match call.ended {
            Ended::Done | Ended::Interrupted => "",
            Ended::TimedOut if call.what == Resource::Timer => "",
            Ended::TimedOut => ", until its time limit",
            Ended::NotYet => ", to the end of the capture",
        };
        format!("{named}{asked}{ended}")
    }

    /// As [`Explainer::names`], without what was asked and how it ended.
    pub fn resource(&self, call: &LongCall) -> String {
        let graph = &self.facts.graph;
        let at = |what: &str, end: End| match (graph.name(end.name), end.fd) {
            (Some(name), _) => name.to_string(),
            (None, -1) => what.to_string(),
            (None, fd) => format!("{what} (fd {fd})"),
        };
        let name = self.facts.name_of(call.syscall);
        match call.what {
            Resource::Lock { address } => format!("futex {address:#x}"),
            Resource::Thread { tid } => format!("the end of thread {tid}"),
            Resource::Child { pid: Some(pid) } => format!("the end of process {pid}"),
            Resource::Child { pid: None } => "the end of a child".to_string(),
            Resource::Pipe(end) => at("a pipe", end),
            Resource::Event(end) => at("an eventfd", end),
            Resource::Peer(end) => self.facts.peer_words(&at("a socket", end)).into_owned(),
            Resource::Several => format!("several descriptors ({name})"),
            Resource::Accept(end) => format!("a client at {}", at("a socket", end)),
            Resource::Timer => format!("a time ({name})"),
            Resource::Signal => "a signal".to_string(),
            Resource::FileLock(end) => format!("the lock of {}", at("a file", end)),
            Resource::Semaphore(end) => at("semaphores", end),
            Resource::File(end) => format!("{name} of {}", at("a file", end)),
            Resource::Call => name.to_string(),
            Resource::Unknown => format!("{name} of something that the capture does not name"),
        }
    }

    /// Where a long call is seen: `trace.st:1042,1050`.
    pub fn place(&self, call: &LongCall) -> String {
        place(self.facts, call.line, call.tid, call.from, call.dur())
    }

    /// The links from the thread to what the largest part of its time goes back to.
    pub fn chain(&self, path: &Path<'a>) -> Vec<ChainLink> {
        let mut links = Vec::new();
        let mut stay = 0;
        while let Some(here) = path.stays.get(stay) {
            let next = path.from_stay(stay).max_by_key(|(_, next)| next.to - next.from);
            let own = largest(path, stay);
            match (next, own) {
                (Some((at, next)), own) if own.as_ref().is_none_or(|(_, ns)| *ns <= next.to - next.from) => {
                    links.push(self.link_to(
                        here.tid,
                        next.tid,
                        next.came_from.and_then(|(_, call)| call),
                        next.to - next.from,
                    ));
                    stay = at;
                }
                (_, Some((segment, ns))) => {
                    links.push(self.last_link(here.tid, segment, ns));
                    break;
                }
                (_, None) => break,
            }
        }
        links
    }

    /// The links from the thread to one segment.
    pub fn chain_to(&self, path: &Path<'a>, segment: &Segment<'a>) -> Vec<ChainLink> {
        let mut links = vec![self.last_link(path.stays[segment.stay].tid, segment, segment.ns)];
        let mut stay = path.stays[segment.stay];
        while let Some((before, wait)) = stay.came_from {
            let earlier = path.stays[before];
            links.push(self.link_to(earlier.tid, stay.tid, wait, stay.to - stay.from));
            stay = earlier;
        }
        links.reverse();
        links
    }

    fn link_to(&self, tid: Tid, next: Tid, wait: Option<&LongCall>, ns: u64) -> ChainLink {
        let (waits_for, ns, evidence) = match wait {
            Some(call) => {
                let how = call.waker.map_or(String::new(), |waker| format!(" ({})", waker.how.words()));
                (
                    format!("{}, woken by {}{how}", self.names(call), self.who(next)),
                    call.dur(),
                    self.place(call),
                )
            }
            None => (format!("its start by {}", self.who(next)), Nanos::new(ns), String::new()),
        };
        ChainLink { who: self.who(tid), waits_for, ns, evidence }
    }

    fn last_link(&self, tid: Tid, segment: &Segment<'a>, ns: u64) -> ChainLink {
        let what = match (segment.call, segment.kind) {
            (Some(call), kind) if call.waits.is_none() || !is_for_a_cpu(kind) => self.names(call),
            (_, kind) => object(kind).to_string(),
        };
        let missing = segment.missing.map_or(String::new(), |missing| format!("; {}", self.missing(missing)));
        ChainLink {
            who: self.who(tid),
            waits_for: format!("{what}{missing}"),
            ns: Nanos::new(ns),
            evidence: segment.call.map_or(String::new(), |call| self.place(call)),
        }
    }

    /// What a capture would have to show for the chain to go on.
    pub fn missing(&self, missing: Missing) -> String {
        match missing {
            Missing::Thread(tid) => format!("the chain ends here: the capture lacks thread {tid}"),
            Missing::Before(tid) => format!("the capture shows nothing of thread {tid} before"),
            Missing::After(tid) => format!("the capture shows nothing of thread {tid} after that"),
            Missing::Waker => "the chain ends here: the capture does not show who ended it".to_string(),
            Missing::TooDeep => "the chain is not followed further".to_string(),
        }
    }
}

/// What the largest part of a stay's own time is: the segments of one call, or of one kind without a call, together.
fn largest<'p, 'a>(path: &'p Path<'a>, stay: usize) -> Option<(&'p Segment<'a>, u64)> {
    let mut sums: Vec<(&Segment<'_>, u64)> = Vec::new();
    for segment in path.segments.iter().filter(|segment| segment.stay == stay) {
        let same = |known: &&Segment<'_>| {
            known.kind == segment.kind
                && known.missing == segment.missing
                && known.call.map(|call| call.from) == segment.call.map(|call| call.from)
        };
        match sums.iter_mut().find(|(known, _)| same(known)) {
            Some((_, ns)) => *ns += segment.ns,
            None => sums.push((segment, segment.ns)),
        }
    }
    sums.into_iter().max_by_key(|(_, ns)| *ns)
}

/// A kind of time that belongs to no single call, in words.
pub(crate) fn phrase(kind: PathKind) -> &'static str {
    match kind {
        PathKind::User => "runs on a CPU",
        PathKind::System => "short calls that work",
        PathKind::Between => "runs, or waits for a CPU",
        PathKind::RunQueue => "waits for a CPU",
        PathKind::Throttled => "is stopped by its CPU quota",
        PathKind::Lock => "short waits at locks",
        PathKind::Disk => "short waits for files",
        PathKind::PageFault => "waits for pages (page faults)",
        PathKind::Pipe => "short waits at pipes",
        PathKind::Peer => "short waits for peers",
        PathKind::Poll => "short waits for several descriptors",
        PathKind::Timer => "short sleeps",
        PathKind::Child => "short waits for children",
        PathKind::Idle => "waits for clients",
        PathKind::Unknown => "unknown",
    }
}

/// The same behind "waits for".
fn object(kind: PathKind) -> &'static str {
    match kind {
        PathKind::User => "nothing: it runs on a CPU",
        PathKind::System => "nothing: it works in short calls",
        PathKind::Between => "nothing, as it runs, or for a CPU",
        PathKind::RunQueue => "a CPU",
        PathKind::Throttled => "CPU time, of which its quota allows no more",
        PathKind::Lock => "locks, each time shortly",
        PathKind::Disk => "files, each time shortly",
        PathKind::PageFault => "pages (page faults)",
        PathKind::Pipe => "pipes, each time shortly",
        PathKind::Peer => "peers, each time shortly",
        PathKind::Poll => "several descriptors, each time shortly",
        PathKind::Timer => "short sleeps",
        PathKind::Child => "children, each time shortly",
        PathKind::Idle => "clients",
        PathKind::Unknown => "what the capture does not show",
    }
}

/// Time at the end of a wait that is no more for what was waited for.
fn is_for_a_cpu(kind: PathKind) -> bool {
    matches!(kind, PathKind::Between | PathKind::RunQueue | PathKind::Throttled)
}

fn place(facts: &Facts, line: Line, tid: Tid, ts: Timestamp, dur: Nanos) -> String {
    let Line { source, line, end_line } = line;
    facts.evidence(&Exemplar { source, line, end_line, tid, ts, dur, text: "".into() }).source
}
