//! Captures of several processes that were traced by themselves: who waits for whom, whose time is to be told, and which of the others are
//! behind its waits.
//!
//! A *party* is a process with those that it started, as far as the captures tell. What is told is of one party, the target: the one that was
//! asked for, else one that waits for others and that no other one waits for. What the others did is kept apart, as a recorder keeps
//! apart whom it follows.

mod hosts;
mod served;

pub use hosts::OfHosts;

use super::{Explainer, Path};
use hashbrown::{HashMap, HashSet};
use served::{Served, overlap};
use whyslow_facts::folds::account::ObjectKind;
use whyslow_facts::folds::graph::{LongCall, Resource};
use whyslow_facts::{Facts, FdLife, IoStats, LifeId, Origin, ProcessId, SetApart};
use whyslow_model::event::Tid;
use whyslow_model::ids::tid_there;
use whyslow_model::syscall::Moves;
use whyslow_model::{CaptureKind, CaptureNote, FdKind, Followed, NoteKind, SourceId, Timestamp, Via};

/// Waits of the target that are followed, the longest.
const MAX_WAITS: usize = 2_000;
/// Steps from a process up to the first that is known.
const MAX_STEPS: usize = 64;
/// Who is less of the target's waiting is not told.
const MIN_SHARE: f64 = 0.02;
/// Parties whose clocks and times are held against each other.
const MAX_COMPARED: usize = 256;
/// Notes of one kind.
const MAX_NOTES: usize = 8;

/// A process with those that it started.
#[derive(Debug, Default)]
struct Party {
    /// The first process.
    root: Option<ProcessId>,
    pid: Tid,
    name: Option<String>,
    tids: Vec<Tid>,
    pids: Vec<Tid>,
    /// The name of its host, where that is another one than the target's.
    host: Option<String>,
    /// The traces in which its threads are.
    sources: Vec<SourceId>,
    first: Option<u64>,
    last: Option<u64>,
}

impl Party {
    fn words(&self) -> String {
        let on = self.host.as_ref().map_or(String::new(), |host| format!(" on {host}"));
        match &self.name {
            Some(name) => format!("{name} ({}){on}", tid_there(self.pid)),
            None => format!("process {}{on}", tid_there(self.pid)),
        }
    }
}

/// Whose time captures of several processes tell.
#[derive(Debug)]
pub struct Parties {
    /// Whom to keep apart from the target; nobody where all of it is one target.
    pub apart: SetApart,
    /// What is to be said of the captures: whose time is told and why, and what could not be joined.
    pub notes: Vec<CaptureNote>,
}

/// That there is no trace of who was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchParty {
    /// Who there is: `front (812)`.
    pub known: Vec<String>,
}

impl Parties {
    /// Looks who is who in facts of all together. `asked` is a process that the user named. Nothing where there is one party alone.
    ///
    /// # Errors
    /// If none of the traces is of the process that was asked for.
    pub fn of(facts: &Facts, asked: Option<Tid>) -> Result<Option<Parties>, NoSuchParty> {
        // Who captured a whole machine asked for all of it.
        if asked.is_none() && facts.capture.has(CaptureKind::Sysdig) {
            return Ok(None);
        }
        let look = Look::of(facts);
        let is_asked =
            |party: &Party| asked.is_some_and(|pid| party.pids.contains(&pid) || party.tids.contains(&pid));
        let chosen = look.parties.iter().position(is_asked);
        if asked.is_some() && chosen.is_none() {
            return Err(NoSuchParty { known: look.parties.iter().map(Party::words).collect() });
        }
        if look.parties.len() < 2 {
            return Ok(None);
        }
        // Who traced several programs by one strace asked for all of them.
        let sources: HashSet<SourceId> =
            look.parties.iter().flat_map(|party| party.sources.iter().copied()).collect();
        if asked.is_none() && sources.len() == 1 {
            return Ok(None);
        }
        let edges = look.waits();
        let notes = look.unjoined(&edges);
        let Some(target) = chosen.map(|one| vec![one]).or_else(|| look.front(&edges)) else {
            return Ok(Some(Parties { apart: SetApart::default(), notes }));
        };
        Ok(Some(look.set_apart(&target, asked.is_some(), notes)))
    }
}

/// Who waits for whom. No waits where only the connection is known.
type Edges = HashMap<(usize, usize), Waits>;

/// Waits of one party for another.
#[derive(Clone, Copy, Default, Debug)]
struct Waits {
    count: u64,
    ns: u64,
    longest_ns: u64,
}

impl Waits {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.ns = self.ns.saturating_add(ns);
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// What they weigh, ns: without the longest of several, which may have been for the work to begin.
    fn weight(self) -> u64 {
        if self.count > 2 { self.ns - self.longest_ns } else { self.ns }
    }
}

struct Look<'a> {
    facts: &'a Facts,
    parties: Vec<Party>,
    by_process: HashMap<ProcessId, usize>,
    /// Sockets by process and number.
    sockets: HashMap<(ProcessId, i32), Vec<LifeId>>,
}

impl<'a> Look<'a> {
    fn of(facts: &'a Facts) -> Look<'a> {
        let threads = &facts.world.threads;
        let mut roots: HashMap<ProcessId, usize> = HashMap::new();
        let mut sockets: HashMap<(ProcessId, i32), Vec<LifeId>> = HashMap::new();
        for (id, life) in facts.world.fds.iter().filter(|(_, life)| life.kind.is_socket()) {
            sockets.entry((life.process, life.fd)).or_default().push(id);
        }
        let opened = |id: &LifeId| facts.world.fds.get(*id).map_or(0, |life| life.opened.or_zero());
        sockets.values_mut().for_each(|lives| lives.sort_by_key(opened));
        let mut look = Look { facts, parties: Vec::new(), by_process: HashMap::new(), sockets };
        for (_, thread) in threads.iter().filter(|(_, thread)| thread.is_active() && thread.merged == 1) {
            let up = std::iter::successors(Some(thread.process), |id| threads.known_process(*id)?.parent);
            let Some(root) = up.take(MAX_STEPS).last() else { continue };
            let at = *roots.entry(root).or_insert_with(|| {
                look.parties.push(Party::default());
                look.parties.len() - 1
            });
            look.by_process.insert(thread.process, at);
            let party = &mut look.parties[at];
            party.root = Some(root);
            party.tids.push(thread.tid);
            if !party.sources.contains(&thread.source) {
                party.sources.push(thread.source);
            }
            party.first = party.first.into_iter().chain(thread.first.get()).min();
            party.last = party.last.max(thread.last.get());
        }
        for party in &mut look.parties {
            let root = party.root.and_then(|root| threads.known_process(root));
            party.name = root.and_then(|process| process.name()).map(str::to_string);
            let lowest = party.tids.iter().min().copied().unwrap_or(0);
            party.pid = root.and_then(|process| process.pid).unwrap_or(lowest);
        }
        for (process, at) in &look.by_process {
            let pid = threads.known_process(*process).and_then(|process| process.pid);
            look.parties[*at].pids.extend(pid);
        }
        look.one_program_in_one_trace();
        look
    }

    /// Processes of one name in one trace are one program's, with its workers: nobody tells them apart who traces them together.
    fn one_program_in_one_trace(&mut self) {
        let mut first: HashMap<(String, SourceId), usize> = HashMap::new();
        let mut into: Vec<usize> = (0..self.parties.len()).collect();
        for (at, party) in self.parties.iter().enumerate() {
            if let (Some(name), [source]) = (&party.name, &party.sources[..])
                && !is_interpreter(name)
                && !party.root.is_some_and(|root| self.facts.world.is_named_by_trace(root))
            {
                into[at] = *first.entry((name.clone(), *source)).or_insert(at);
            }
        }
        if into.iter().enumerate().all(|(at, into)| at == *into) {
            return;
        }
        let mut kept: HashMap<usize, usize> = HashMap::new();
        let mut parties: Vec<Party> = Vec::new();
        for (at, party) in std::mem::take(&mut self.parties).into_iter().enumerate() {
            match kept.get(&into[at]).copied() {
                Some(known) => {
                    let one = &mut parties[known];
                    one.tids.extend(party.tids);
                    one.pids.extend(party.pids);
                    one.first = one.first.into_iter().chain(party.first).min();
                    one.last = one.last.max(party.last);
                    kept.insert(at, known);
                }
                None => {
                    kept.insert(at, parties.len());
                    parties.push(party);
                }
            }
        }
        self.parties = parties;
        for at in self.by_process.values_mut() {
            *at = kept[at];
        }
    }

    fn party(&self, process: ProcessId) -> Option<usize> {
        self.by_process.get(&process).copied()
    }

    fn party_of_thread(&self, tid: Tid) -> Option<usize> {
        self.party(self.facts.world.threads.thread_of(tid)?.process)
    }

    /// True for a wait that somebody makes who has work in hand: not for a client, a connection, an event.
    fn is_for_another(&self, call: &LongCall) -> bool {
        let reads = call.syscall.info().moves != Moves::Write;
        let object = self.facts.accounts.objects.get(call.object).kind;
        let for_work = match object {
            ObjectKind::Clients => reads,
            ObjectKind::Listener => true,
            ObjectKind::Peer | ObjectKind::Descriptor if reads && self.is_asked(call) => true,
            _ => matches!(call.what, Resource::Accept(_)),
        };
        call.waits.is_some() && !for_work
    }

    /// True for a wait at an end of a connection that requests come in at, where neither a call nor a port tells which end it is: what went over
    /// it first came in.
    fn is_asked(&self, call: &LongCall) -> bool {
        let Resource::Peer(end) = call.what else { return false };
        let Some(life) = self.socket_of(call, end.fd) else { return false };
        let first = |io: &Option<Box<IoStats>>| Some(io.as_ref()?.exemplars.first.as_ref()?.ts.or_zero());
        let has_ports =
            life.ends.as_ref().is_some_and(|ends| ends.local.is_some()) && life.kind == FdKind::Tcp;
        match life.origin {
            Origin::Accept => true,
            Origin::Socket => false,
            _ if has_ports => false,
            _ => match (first(&life.reads), first(&life.writes)) {
                (Some(read), Some(written)) => read < written,
                (Some(_), None) => true,
                _ => false,
            },
        }
    }

    /// The socket that a call was about.
    fn socket_of(&self, call: &LongCall, fd: i32) -> Option<&'a FdLife> {
        let lives = self.sockets.get(&(call.process, fd))?;
        let life = |id: &LifeId| self.facts.world.fds.get(*id);
        let before = |id: &LifeId| life(id).is_none_or(|life| life.opened.or_zero() <= call.to.or_zero());
        let began = lives.partition_point(before);
        let is_open = |life: &&FdLife| life.closed.get().is_none_or(|at| at >= call.from.or_zero());
        lives[..began].iter().rev().filter_map(life).take(2).find(is_open)
    }

    /// Who waits for whom: by waits that another party ended, else by connections of which both ends are known.
    fn waits(&self) -> Edges {
        let mut edges = Edges::new();
        for call in self.facts.graph.calls().filter(|call| self.is_for_another(call)) {
            let Some(waker) = call.waker else { continue };
            if let (Some(from), Some(to)) = (self.party(call.process), self.party_of_thread(waker.tid))
                && from != to
            {
                edges.entry((from, to)).or_default().add(call.dur().or_zero());
            }
        }
        for pair in self.connections() {
            edges.entry(pair).or_default();
        }
        edges
    }

    /// Parties of which one has the client's end of a connection, and the other the server's.
    fn connections(&self) -> HashSet<(usize, usize)> {
        let world = &self.facts.world;
        let mut served: HashMap<&str, Served<'_>> = HashMap::new();
        let mut asked = Vec::new();
        for (_, life) in world.fds.iter() {
            let is_stream = matches!(life.kind, FdKind::Tcp | FdKind::Unix | FdKind::Socket);
            let Some(party) = self.party(life.process).filter(|_| is_stream) else { continue };
            let span = (life.opened, life.closed);
            if let Some(local) = life.local() {
                served.entry(local).or_default().add(party, life.peer(), span);
            }
            if let Some(peer) = life.peer().filter(|peer| self.is_client(peer, life.local())) {
                asked.push((party, peer, life.local(), span));
            }
        }
        let mut pairs = HashSet::new();
        for (from, address, own, span) in asked {
            let Some(there) = served.get(address) else { continue };
            let exact = own.and_then(|own| there.by_peer.get(own)).into_iter().flatten();
            let any = if own.is_some() { &there.peerless } else { &there.all };
            for (to, their_span) in exact.copied().chain(any.iter().map(|(to, span)| (*to, *span))) {
                if from != to && overlap(span, their_span) {
                    pairs.insert((from, to));
                }
            }
        }
        pairs
    }

    /// Of two ends that know each other the one with the higher port is the client's: ports to connect from come from the upper part
    /// (net.ipv4.ip_local_port_range).
    fn is_client(&self, address: &str, own: Option<&str>) -> bool {
        let port = |address: &str| address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        match (port(address), own.and_then(port)) {
            (Some(there), Some(here)) => here > there,
            _ => true,
        }
    }

    /// The parties whose time is to be told: of those that nobody waits for the one that waits most, and those of its name.
    fn front(&self, edges: &Edges) -> Option<Vec<usize>> {
        if edges.is_empty() {
            return self.first_trace();
        }
        // Of two that wait for each other the one that waits longer is in front.
        let back = |(from, to): &(usize, usize)| edges.get(&(*to, *from)).map(|waits| waits.weight());
        let is_net = |((from, to), waits): &(&(usize, usize), &Waits)| match back(&(*from, *to)) {
            Some(other) => (waits.weight(), *to) > (other, *from),
            None => true,
        };
        let net: Vec<((usize, usize), u64)> =
            edges.iter().filter(is_net).map(|(pair, waits)| (*pair, waits.weight())).collect();
        let is_called = |party: usize| net.iter().any(|((_, to), _)| *to == party);
        let waits = |party: usize| net.iter().filter(move |((from, _), _)| *from == party);
        let calls = |party: &usize| waits(*party).next().is_some();
        let all = || (0..self.parties.len()).filter(calls);
        let mut fronts: Vec<usize> = all().filter(|party| !is_called(*party)).collect();
        if fronts.is_empty() {
            fronts = all().collect();
        }
        let waited = |party: usize| waits(party).map(|(_, ns)| *ns).fold(0, u64::saturating_add);
        let order = |party: &usize| (waited(*party), std::cmp::Reverse(self.parties[*party].sources.first()));
        let first = fronts.iter().copied().max_by_key(order)?;
        let name = without_number(&self.parties[first]);
        let callees = |party: usize| waits(party).map(|((_, to), _)| *to).collect::<HashSet<usize>>();
        let alike = fronts.into_iter().filter(|party| {
            *party == first
                || name.is_some_and(|name| !is_interpreter(name))
                    && without_number(&self.parties[*party]) == name
                    && callees(*party) == callees(first)
        });
        Some(alike.collect())
    }

    /// Where nothing ties several traces: those of the first one's program, if they are of several programs.
    fn first_trace(&self) -> Option<Vec<usize>> {
        let traces = &self.facts.capture.traces;
        let family = |source: SourceId| traces.iter().find(|one| one.source == source).map(|one| one.family);
        let first = (0..self.parties.len()).min_by_key(|party| self.parties[*party].sources.first())?;
        let of_first = &self.parties[first];
        let is_told = |party: &usize| {
            let other = &self.parties[*party];
            without_number(other) == without_number(of_first)
                && !other.name.as_deref().is_some_and(is_interpreter)
                || other.sources.iter().any(|source| {
                    of_first.sources.iter().any(|own| own == source || family(*own) == family(*source))
                })
        };
        Some((0..self.parties.len()).filter(is_told).collect())
    }

    /// What is kept apart from the target, and who of that is behind its waits.
    fn set_apart(&self, target: &[usize], is_asked: bool, mut notes: Vec<CaptureNote>) -> Parties {
        let others: Vec<usize> = (0..self.parties.len()).filter(|party| !target.contains(party)).collect();
        let mut apart = SetApart::default();
        if others.is_empty() {
            return Parties { apart, notes };
        }
        (apart.followed, apart.on_the_way) = self.followed(target);
        apart.unix_names = self.facts.world.unix_names().clone();
        let first = target.iter().filter_map(|one| self.parties[*one].first).min();
        let last = target.iter().filter_map(|one| self.parties[*one].last).max();
        apart.within = first.zip(last);
        for party in others.iter().map(|party| &self.parties[*party]) {
            apart.pids.extend(party.pids.iter().chain(&party.tids).copied());
            let of_target =
                |source: &SourceId| target.iter().any(|one| self.parties[*one].sources.contains(source));
            apart.sources.extend(party.sources.iter().copied().filter(|source| !of_target(source)));
        }
        apart.pids.retain(|pid| *pid != 0);
        let is_behind = |party: &usize| {
            let pids = &self.parties[*party].pids;
            apart.followed.iter().any(|one| pids.contains(&one.pid))
        };
        let words = |parties: &[usize]| {
            let words: Vec<String> = parties.iter().map(|party| self.parties[*party].words()).collect();
            whyslow_model::figures::list(&words, MAX_NOTES)
        };
        let (behind, left): (Vec<usize>, Vec<usize>) = others.iter().partition(|party| is_behind(party));
        let why = match (is_asked, behind.is_empty()) {
            (true, _) => "which was asked for",
            _ if self.has_hosts() => "whom the first host's recording is about",
            (false, false) => "which waits for others, while no other traced process waits for it",
            (false, true) => "the first that was given",
        };
        let mut text = format!("the time told is that of {}, {why}", words(target));
        if !left.is_empty() {
            text += &format!("; that of {}, which its waits do not lead to, is left out", words(&left));
        }
        if !is_asked {
            text += "; -p PID tells that of another one";
        }
        notes.insert(0, note(self.parties[target[0]].sources.first(), text));
        Parties { apart, notes }
    }

    /// True where the parties are of several hosts.
    fn has_hosts(&self) -> bool {
        self.parties.iter().any(|party| party.host.is_some())
    }

    /// Who is behind the target's waits, along the critical paths of the longest ones, party by party; and the threads on these paths.
    fn followed(&self, target: &[usize]) -> (Vec<Followed>, HashSet<Tid>) {
        let is_targets =
            |call: &&LongCall| self.party(call.process).is_some_and(|party| target.contains(&party));
        let calls = self.facts.graph.calls().filter(is_targets).filter(|call| self.is_for_another(call));
        let mut calls: Vec<&LongCall> = calls.collect();
        let total = calls.iter().fold(0u64, |sum, call| sum.saturating_add(call.dur().or_zero()));
        calls.sort_by_key(|call| (std::cmp::Reverse(call.dur()), call.tid, call.from));
        calls.truncate(MAX_WAITS);
        let explainer = Explainer::new(self.facts);
        let mut found: HashMap<(Tid, Tid, Via), (Followed, u64)> = HashMap::new();
        let mut on_the_way = HashSet::new();
        for call in calls {
            let path = explainer.path(call.tid, call.from, call.to);
            self.steps(&explainer, &path, &mut found);
            on_the_way.extend(path.stays.iter().map(|stay| stay.tid));
        }
        let mut rows: Vec<Followed> = found
            .into_values()
            .map(|(row, ns)| Followed { share: (ns as f64 / total.max(1) as f64).min(1.0), ..row })
            .filter(|row| row.share >= MIN_SHARE)
            .collect();
        rows.sort_by(|a, b| {
            b.share.total_cmp(&a.share).then_with(|| (a.hop, a.pid, &a.via).cmp(&(b.hop, b.pid, &b.via)))
        });
        let mut told = HashSet::new();
        rows.retain(|row| told.insert(row.pid));
        (rows, on_the_way)
    }

    /// The steps of one path from one party to another.
    fn steps(
        &self,
        explainer: &Explainer<'a>,
        path: &Path<'a>,
        found: &mut HashMap<(Tid, Tid, Via), (Followed, u64)>,
    ) {
        let mut hops = vec![0u32; path.stays.len()];
        for (at, stay) in path.stays.iter().enumerate() {
            let Some((before, call)) = stay.came_from else { continue };
            hops[at] = hops[before];
            let (Some(from), Some(to)) =
                (self.party_of_thread(path.stays[before].tid), self.party_of_thread(stay.tid))
            else {
                continue;
            };
            if from == to {
                continue;
            }
            hops[at] += 1;
            let (waiter, pid) = (self.pid_of(path.stays[before].tid), self.pid_of(stay.tid));
            let via = self.via(explainer, call);
            let ts = Timestamp::new(self.parties[to].first.unwrap_or(stay.from));
            let comm = self.parties[to].name.clone().unwrap_or_else(|| "process".to_string());
            let row = Followed { ts, pid, comm, waiter, via: via.clone(), share: 0.0, hop: hops[at] };
            let (row, ns) = found.entry((waiter, pid, via)).or_insert((row, 0));
            row.hop = row.hop.min(hops[at]);
            *ns = ns.saturating_add(stay.to.saturating_sub(stay.from));
        }
    }

    /// At what one party waits for another, as a recorder words it.
    fn via(&self, explainer: &Explainer<'_>, call: Option<&LongCall>) -> Via {
        let Some(call) = call else { return Via::Peer("its start".to_string()) };
        let name = |id| self.facts.graph.name(id).map(str::to_string);
        match call.what {
            Resource::Pipe(_) => Via::Pipe,
            Resource::FileLock(end) => Via::FileLock(name(end.name).unwrap_or_else(|| "a file".to_string())),
            Resource::Lock { .. } | Resource::Semaphore(_) => Via::SharedLock("shared memory".to_string()),
            Resource::Peer(end) => {
                let told = || Some(self.socket_of(call, end.fd)?.peer()?.to_string());
                Via::Peer(name(end.name).or_else(told).unwrap_or_else(|| "a socket".to_string()))
            }
            Resource::Signal => Via::Peer("a signal".to_string()),
            Resource::Child { .. } => Via::Peer("its end".to_string()),
            _ => Via::of_words(&explainer.resource(call)),
        }
    }

    fn pid_of(&self, tid: Tid) -> Tid {
        let threads = &self.facts.world.threads;
        let process = threads.thread_of(tid).and_then(|thread| threads.known_process(thread.process));
        process.and_then(|process| process.pid).unwrap_or(tid)
    }

    /// What could not be joined, and why.
    fn unjoined(&self, edges: &Edges) -> Vec<CaptureNote> {
        let mut notes = Vec::new();
        let capture = &self.facts.capture;
        let first = |party: &Party| party.sources.first().copied().unwrap_or_default();
        for (at, one) in self.parties.iter().take(MAX_COMPARED).enumerate() {
            for (more, other) in self.parties.iter().take(MAX_COMPARED).enumerate().skip(at + 1) {
                let (a, b) = (first(one), first(other));
                if a == b || notes.len() >= MAX_NOTES {
                    continue;
                }
                let named = |id| capture.source_name(id);
                if !capture.share_clock(a, b) {
                    let text = format!(
                        "{} and {}: their calls cannot be joined in time, as both do not tell the same absolute time; strace -ttt tells it",
                        named(a),
                        named(b)
                    );
                    notes.push(note(Some(&b), text));
                    continue;
                }
                let span = |party: &Party| {
                    (
                        party.first.map_or(Timestamp::UNKNOWN, Timestamp::new),
                        party.last.map_or(Timestamp::UNKNOWN, Timestamp::new),
                    )
                };
                let joined = edges.contains_key(&(at, more)) || edges.contains_key(&(more, at));
                if !joined && !overlap(span(one), span(other)) {
                    let text = format!(
                        "{} ({} to {}) and {} ({} to {}) are of different times: nothing in one can be what the other waits for",
                        named(a),
                        span(one).0.time_of_day(),
                        span(one).1.time_of_day(),
                        named(b),
                        span(other).0.time_of_day(),
                        span(other).1.time_of_day(),
                    );
                    notes.push(note(Some(&b), text));
                }
            }
        }
        notes
    }
}

/// True for what runs programs of any name: that two processes are called so does not make them one program's.
fn is_interpreter(name: &str) -> bool {
    const INTERPRETERS: [&str; 10] =
        ["python", "node", "java", "ruby", "perl", "php", "bash", "sh", "dash", "dotnet"];
    INTERPRETERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// The name of a party's program: workers and their logs are numbered.
fn without_number(party: &Party) -> Option<&str> {
    Some(party.name.as_deref()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '_'))
}

fn note(source: Option<&SourceId>, text: String) -> CaptureNote {
    let source = source.copied().unwrap_or_default();
    CaptureNote { kind: NoteKind::Assumed, source, line: None, text, tid: None }
}
