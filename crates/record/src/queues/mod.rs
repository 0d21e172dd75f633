//! Which work waits for the watched processes: bytes in the pipes that they read, connections to be accepted and bytes that wait in
//! TCP, UDP and unix sockets. Sampled some times a second; the sums of each second are a stream of the spool.

mod groups;
mod open;
mod pace;
mod sockets;

use crate::bpf::layout::{Fields, Header, kind};
use crate::bpf::spool::{QUEUES, SpoolRecord, SpoolWriter};
use crate::clock::thread_cpu_ns;
use crate::target::{ProcRoot, diag::Diag, sockets::namespace};
use groups::{Asked, GroupId, Groups, Memory};
use open::{Opened, Pipe, Process};
use pace::{Paces, Question};
use sockets::Space;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use whyslow_model::{DemandKind, Entity, Event, FigureRow, FigureTable, Metric, Nanos, Over};

/// What looks at what is open may cost in the long run, of one CPU: with the samples (`Paces::SHARE`) 0.2 %.
const LIST_SHARE: f64 = 0.000_5;
/// Between two looks at what is open at least, and at most.
const LIST_EVERY_NS: u64 = 1_000_000_000;
const LIST_AT_MOST_NS: u64 = 60_000_000_000;
/// The sums are told that often.
const TELL_EVERY_NS: u64 = 1_000_000_000;
/// Processes that are sampled.
const MAX_PROCESSES: usize = 64;
/// Descriptors that one look at what is open takes in.
const MAX_DESCRIPTORS: usize = 8_192;
/// Pipes asked in one sample; of more each sample asks the next ones.
const PIPES_A_SAMPLE: usize = 256;
/// Network namespaces.
const MAX_SPACES: usize = 8;

struct Watched {
    process: Process,
    /// Its place among the namespaces.
    space: Option<usize>,
    pipes: Vec<(Pipe, GroupId)>,
}

/// What is not known, for the notes of the recording.
#[derive(Default)]
struct LeftOut {
    processes: u64,
    descriptors: u64,
    pipes: u64,
    refused: Option<(u32, rustix::io::Errno)>,
    namespaces: u64,
}

/// The queues, and what was asked of them.
pub(crate) struct Queues {
    processes: Vec<Watched>,
    spaces: Vec<Space>,
    groups: Groups,
    memory: Memory,
    left_out: LeftOut,
    /// Where the next sample goes on among the pipes.
    turn: usize,
    paces: Paces,
    /// When the next look at what is open is due, and since when sums are not told, ns of the kernel's clock.
    list_due: u64,
    told: u64,
    /// CPU time, ns.
    spent_ns: u64,
    spool: SpoolWriter,
}

impl Queues {
    /// Of these processes, from `now` on.
    pub(crate) fn new(spool: &Path, pids: &[u32], now: u64) -> Queues {
        let mut queues = Queues {
            processes: Vec::new(),
            spaces: Vec::new(),
            groups: Groups::default(),
            memory: Memory::default(),
            left_out: LeftOut::default(),
            turn: 0,
            paces: Paces::default(),
            list_due: now,
            told: now,
            spent_ns: 0,
            spool: SpoolWriter::new(spool),
        };
        pids.iter().for_each(|pid| queues.began(*pid));
        queues
    }

    /// A process is watched from now on.
    pub(crate) fn began(&mut self, pid: u32) {
        if self.processes.iter().any(|watched| watched.process.pid == pid) {
            // It may run another program.
            self.list_due = 0;
            return;
        }
        if self.processes.len() >= MAX_PROCESSES {
            self.left_out.processes += 1;
            return;
        }
        match Process::open(pid) {
            Ok(process) => {
                let space = self.space_of(pid);
                self.processes.push(Watched { process, space, pipes: Vec::new() });
                self.list_due = 0;
            }
            Err(error) => self.refused(pid, error),
        }
    }

    fn refused(&mut self, pid: u32, error: rustix::io::Errno) {
        use rustix::io::Errno;
        // It ended, or closed the pipe.
        if !matches!(error, Errno::SRCH | Errno::NOENT | Errno::BADF) {
            self.left_out.refused.get_or_insert((pid, error));
        }
    }

    fn space_of(&mut self, pid: u32) -> Option<usize> {
        let root = ProcRoot::live();
        let id = namespace(&root, pid)?;
        if let Some(at) = self.spaces.iter().position(|space| space.id == id) {
            return Some(at);
        }
        if self.spaces.len() >= MAX_SPACES {
            self.left_out.namespaces += 1;
            return None;
        }
        let space = Space::new(id, Diag::of_namespace(&root, pid));
        self.left_out.namespaces += u64::from(!space.is_told());
        self.spaces.push(space);
        Some(self.spaces.len() - 1)
    }

    /// Asks what it is time for. To be called often.
    pub(crate) fn look(&mut self, now: u64) {
        if now < self.paces.next() {
            return;
        }
        let began = thread_cpu_ns();
        if now >= self.list_due {
            self.list();
            let pause = ((thread_cpu_ns() - began) as f64 / LIST_SHARE) as u64;
            self.list_due = now + pause.clamp(LIST_EVERY_NS, LIST_AT_MOST_NS);
        }
        let mut refused = None;
        let mut asked = self.memory.sample(&mut self.groups);
        for question in Question::ALL {
            if !self.paces.is_due(question, now) {
                continue;
            }
            let began = thread_cpu_ns();
            match question {
                Question::Pipes => refused = sample_pipes(&self.processes, &mut self.turn, &mut asked),
                _ => {
                    for space in self.spaces.iter_mut().filter(|space| space.has(question)) {
                        space.sample(question, &mut asked);
                    }
                }
            }
            self.paces.asked(question, now, thread_cpu_ns() - began);
        }
        asked.end();
        if let Some((pid, error)) = refused {
            self.refused(pid, error);
        }
        if now >= self.told + TELL_EVERY_NS {
            self.tell(now);
        }
        self.spent_ns += thread_cpu_ns() - began;
    }

    /// CPU time of all samples so far, ns.
    pub(crate) fn cost_ns(&self) -> u64 {
        self.spent_ns
    }

    /// Looks at what the processes have open.
    fn list(&mut self) {
        let mut sockets: Vec<HashMap<u64, u32>> = vec![HashMap::new(); self.spaces.len()];
        let mut left = MAX_DESCRIPTORS;
        let (mut left_out, mut refusals) = (0, Vec::new());
        self.processes.retain_mut(|watched| match watched.process.list(left) {
            Ok(Opened { pipes, sockets: own, looked, left_out: more }) => {
                left = left.saturating_sub(looked);
                left_out += more;
                let pid = watched.process.pid;
                let named = pipes.into_iter().map(|pipe| {
                    let group = self.groups.id(pid, DemandKind::PipeBytes, &pipe.name());
                    (pipe, group)
                });
                watched.pipes = named.collect();
                if let Some(sockets) = watched.space.and_then(|space| sockets.get_mut(space)) {
                    // What several hold is the first one's.
                    for inode in own {
                        sockets.entry(inode).or_insert(pid);
                    }
                }
                true
            }
            Err(error) => {
                refusals.push((watched.process.pid, error));
                false
            }
        });
        refusals.into_iter().for_each(|(pid, error)| self.refused(pid, error));
        // A pipe that several processes inherited is one.
        let mut seen = HashSet::new();
        for watched in &mut self.processes {
            watched.pipes.retain(|(pipe, _)| seen.insert(pipe.inode));
        }
        self.left_out.descriptors = self.left_out.descriptors.max(left_out);
        self.left_out.pipes = self.left_out.pipes.max(seen.len() as u64);
        for (space, sockets) in self.spaces.iter_mut().zip(&sockets) {
            space.learn(sockets, &mut self.groups);
        }
        self.memory.forget();
    }

    /// Tells the sums since the last time.
    pub(crate) fn tell(&mut self, now: u64) {
        let over = now.saturating_sub(self.told);
        self.told = now;
        let mut records = Vec::new();
        self.groups.take(|group| {
            let mut body: Vec<u8> = over.to_ne_bytes().to_vec();
            body.extend(group.samples.to_ne_bytes());
            body.extend(group.waited.to_ne_bytes());
            body.extend(group.most.to_ne_bytes());
            body.extend(group.kind.word().bytes());
            body.push(b' ');
            body.extend(group.name.bytes());
            records.extend(Header::with(kind::QUEUE, group.pid, now, &body));
        });
        // A disk that is full ends the recording by the drain, which tells.
        let _ = self.spool.write(QUEUES, &records);
    }

    /// What is not known, for the notes of the recording.
    pub(crate) fn notes(&self) -> Vec<String> {
        let LeftOut { processes, descriptors, pipes, refused, namespaces } = &self.left_out;
        let mut notes = Vec::new();
        if *processes > 0 {
            notes.push(format!(
                "what waits for {processes} more processes is not known: {MAX_PROCESSES} at once are sampled"
            ));
        }
        if *descriptors > 0 {
            notes.push(format!(
                "what waits in {descriptors} more descriptors is not known: {MAX_DESCRIPTORS} are looked at"
            ));
        }
        if *pipes > PIPES_A_SAMPLE as u64 {
            notes.push(format!("of {pipes} pipes each sample asked {PIPES_A_SAMPLE}, in turn"));
        }
        if let Some((pid, error)) = refused {
            notes.push(format!(
                "what waits in the pipes of {pid} is not known ({error}); it takes CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH"
            ));
        }
        if *namespaces > 0 {
            notes.push(format!(
                "what waits in the sockets of {namespaces} network namespaces is not known: it takes CAP_SYS_ADMIN to ask about another than ours"
            ));
        }
        notes
    }
}

/// Asks the next pipes. Returns the process that refused it last.
fn sample_pipes(
    processes: &[Watched],
    turn: &mut usize,
    asked: &mut Asked<'_>,
) -> Option<(u32, rustix::io::Errno)> {
    let all: Vec<(&Process, &Pipe, GroupId)> = processes
        .iter()
        .flat_map(|watched| watched.pipes.iter().map(|(pipe, group)| (&watched.process, pipe, *group)))
        .collect();
    let count = all.len();
    let mut refusal = None;
    for (process, pipe, group) in all.iter().cycle().skip(*turn).take(count.min(PIPES_A_SAMPLE)) {
        match process.bytes_in(pipe) {
            Ok(Some(bytes)) => asked.queue(*group, pipe.inode, bytes),
            Ok(None) => {}
            Err(error) => refusal = Some((process.pid, error)),
        }
    }
    *turn = if count > PIPES_A_SAMPLE { (*turn + PIPES_A_SAMPLE) % count } else { 0 };
    refusal
}

/// One record of the stream as figures; `None` where it is none or not whole. `figures` is an empty table of that time.
pub(crate) fn figures(record: &SpoolRecord<'_>, mut figures: FigureTable) -> Option<Event<'static>> {
    let mut fields = Fields(record.body());
    let over = fields.u64().filter(|over| *over > 0)?;
    let (samples, waited, most) = (fields.u32()?, fields.u32()?, fields.u64()?);
    let name = std::str::from_utf8(fields.0).ok()?;
    let of = Entity::Queue { pid: record.header.tid, name: name.into() };
    let mut row = FigureRow::new(of);
    row.set(Metric::QueueSamples, f64::from(samples));
    row.set(Metric::QueueWaited, f64::from(waited.min(samples)));
    row.set(Metric::QueueMost, most as f64);
    figures.over = Over::Interval(Nanos::new(over));
    figures.rows.push(row);
    Some(Event::Figures(Box::new(figures)))
}
