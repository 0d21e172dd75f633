//! Whom the watched processes wait for on this host: sampled some times a second by what their blocked threads are in. Who is waited
//! for in a good part of the target's waiting is taken into the recording, and followed in turn. After those come some that wait for the
//! target: they show how much it is wanted.

mod callers;
mod ends;
mod locks;
mod owners;
mod sessions;
mod tally;
mod waits;

use crate::bpf::layout::{Fields, Header, kind};
use crate::bpf::spool::{FOLLOWED, SpoolRecord, SpoolWriter};
use crate::clock::{Clock, thread_cpu_ns};
use callers::Callers;
use ends::{Ends, Found};
use locks::bounded_file;
use sessions::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use tally::{Chosen, Group, Service, Tally};
use waits::{ProcessMemory, Wait};
use whyslow_model::{Event, Followed, text};

/// Between two looks at least: a tick of the recorder, 25 a second.
const EVERY_NS: u64 = 38_000_000;
/// And at most, however dear.
const AT_MOST_NS: u64 = 1_000_000_000;
/// What looks may cost in the long run, of one CPU. With the lists of `owners` it is 0.2 %.
const SHARE: f64 = 0.001_5;
/// Looks that come as often as they can, whatever they cost: the first ones, and those after somebody was taken in. One more hop is found by
/// them in a third of a second of waiting; with all that `--follow` allows they take some 50 ms of CPU time. A look that does not find the
/// group waiting that was taken in last tells nothing of the next hop: it counts as this part of one. A server that has little to do, or
/// that has a thread for each request, is seen at work in them, too.
const EAGER: f64 = 24.0;
const IDLE_LOOK: f64 = 0.125;
/// Callers are looked for from here on, ns after the begin: whom the target waits for comes first.
const CALLERS_AFTER_NS: u64 = 1_000_000_000;
/// Weight of the newest cost in the mean.
const WEIGHT: f64 = 0.16;
/// Threads of one look; of more each looks at the next ones.
const THREADS_A_LOOK: usize = 64;
/// Threads and processes that are looked at.
const MOST_THREADS: usize = 4_096;
const MOST_PROCESSES: usize = 256;
/// Threads are listed again after that long, ns; those of processes whose threads come and go, at each look.
const THREADS_EVERY_NS: u64 = 250_000_000;
/// That a session of a database waited for another is remembered so long, ns.
const SESSIONS_NS: u64 = 1_000_000_000;
/// Descriptors of one epoll instance that are looked at.
const MOST_EPOLL: usize = 16;
/// `PF_KTHREAD` (include/linux/sched.h).
const KERNEL_THREAD: u64 = 0x20_0000;

/// A watched thread.
struct Thread {
    tid: u32,
    pid: u32,
    group: Group,
    /// Its file of the present call, kept open: to open it costs more than to read it.
    call: File,
}

/// The watched processes, and whom they were seen to wait for.
pub(crate) struct Follower {
    /// Processes that may be taken in.
    limit: usize,
    own: u32,
    /// The group of each watched process.
    groups: BTreeMap<u32, Group>,
    threads: Vec<Thread>,
    /// Processes whose threads were listed before.
    listed: BTreeSet<u32>,
    list_due: u64,
    turn: usize,
    ends: Ends,
    /// When a session of a database was seen to wait for another one.
    sessions_wait: u64,
    tally: Tally,
    callers: Callers,
    /// Of `taken` how many wait for the target.
    callers_taken: usize,
    since: u64,
    taken: Vec<Chosen>,
    /// The group of the last one taken in, else the target: whose waits lead on.
    newest: Group,
    /// Processes that would have been taken in, if more had been allowed.
    left_out: BTreeMap<u32, String>,
    due: u64,
    /// Looks that are still to come at once.
    eager: f64,
    /// What a look costs, ns of CPU time: the mean.
    cost: f64,
    spent_ns: u64,
    spool: SpoolWriter,
}

impl Follower {
    /// Of these processes, which are the target, from `now` on: `limit` others at most.
    pub(crate) fn new(spool: &Path, pids: &[u32], limit: usize, now: u64) -> Follower {
        let own = std::process::id();
        let mut ends = Ends::new(own);
        if let Some(first) = pids.first() {
            ends.prepare(*first);
        }
        Follower {
            limit,
            own,
            groups: pids.iter().map(|pid| (*pid, Group::Target)).collect(),
            threads: Vec::new(),
            listed: BTreeSet::new(),
            list_due: now,
            turn: 0,
            ends,
            sessions_wait: 0,
            tally: Tally::new(),
            callers: Callers::default(),
            callers_taken: 0,
            since: now,
            taken: Vec::new(),
            newest: Group::Target,
            left_out: BTreeMap::new(),
            due: now,
            eager: EAGER,
            cost: 0.0,
            spent_ns: 0,
            spool: SpoolWriter::new(spool),
        }
    }

    /// A process is watched from now on: it belongs to its parent's group, as far as that is watched, else to the target.
    pub(crate) fn began(&mut self, pid: u32) {
        if self.groups.len() < MOST_PROCESSES && !self.groups.contains_key(&pid) {
            let parent = status(pid).and_then(|status| status.parent);
            let group = parent.and_then(|parent| self.groups.get(&parent)).copied();
            self.groups.insert(pid, group.unwrap_or(Group::Target));
        }
        self.list_due = 0;
    }

    /// CPU time of all looks so far, ns.
    pub(crate) fn cost_ns(&self) -> u64 {
        self.spent_ns
    }

    /// Looks, if it is time. Tells who is to be watched from now on. To be called often.
    pub(crate) fn look(&mut self, now: u64) -> Vec<u32> {
        if now < self.due {
            return Vec::new();
        }
        let began = thread_cpu_ns();
        let listed = self.ends.listing_ns();
        if now >= self.list_due {
            self.list_due = if self.list() { now } else { now + THREADS_EVERY_NS };
        }
        self.see(now);
        // Lists of all processes are paced by themselves.
        let listed = self.ends.listing_ns() - listed;
        let spent = (thread_cpu_ns() - began).saturating_sub(listed) as f64;
        let used = if self.tally.has_waited(self.newest) { 1.0 } else { IDLE_LOOK };
        let mut chosen = self.choose();
        self.cost += if self.cost > 0.0 { WEIGHT } else { 1.0 } * (spent - self.cost);
        self.eager = if chosen.is_empty() { (self.eager - used).max(0.0) } else { EAGER };
        let pause = if self.eager > 0.0 { EVERY_NS } else { (self.cost / SHARE) as u64 };
        self.due = now + pause.clamp(EVERY_NS, AT_MOST_NS);
        chosen.extend(self.choose_callers(now));
        for (one, _) in &chosen {
            self.tell(one, now);
        }
        self.spent_ns += thread_cpu_ns() - began;
        chosen.into_iter().filter(|(_, is_new)| *is_new).map(|(one, _)| one.pid).collect()
    }

    /// Those taken in, for people, without the first `known` ones.
    pub(crate) fn taken(&self, known: usize) -> impl Iterator<Item = String> + '_ {
        self.taken.iter().skip(known).map(|one| {
            let name = owners::name_of(one.pid).unwrap_or_default();
            let (pid, via, percent) = (one.pid, &one.via, one.share * 100.0);
            match one.hop {
                0 => format!("{name} ({pid}), which waits for it at {via} in {percent:.0} % of the looks"),
                _ => format!("{name} ({pid}), waited for at {via} in {percent:.0} % of the waiting"),
            }
        })
    }

    /// What is not known, for the notes of the recording.
    pub(crate) fn notes(&self) -> Vec<String> {
        if self.left_out.is_empty() {
            return Vec::new();
        }
        let names: Vec<String> =
            self.left_out.iter().take(3).map(|(pid, name)| format!("{name} ({pid})")).collect();
        vec![format!(
            "{} more processes that it waits for were not taken in, as --follow allows {}: {}",
            self.left_out.len(),
            self.limit,
            names.join(", ")
        )]
    }

    /// Lists the threads of the watched processes. True where some have begun since the last time that may be gone soon: of a thread a
    /// connection each is seen once or never, and its process all the while.
    fn list(&mut self) -> bool {
        let mut old: BTreeMap<u32, Thread> =
            std::mem::take(&mut self.threads).into_iter().map(|thread| (thread.tid, thread)).collect();
        let (mut began, known_before) = (false, &mut self.listed);
        self.groups.retain(|pid, group| {
            // Whom callers wait for is known.
            if *group == Group::Caller {
                return true;
            }
            let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
                known_before.remove(pid);
                return false;
            };
            let is_new_process = known_before.insert(*pid);
            for task in tasks.flatten() {
                let Some(tid) = task.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
                    continue;
                };
                if self.threads.len() >= MOST_THREADS {
                    break;
                }
                let known = old.remove(&tid).filter(|thread| thread.pid == *pid);
                began |= known.is_none() && !is_new_process;
                let opened = || {
                    let call = File::open(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
                    Some(Thread { tid, pid: *pid, group: *group, call })
                };
                self.threads.extend(known.or_else(opened));
            }
            true
        });
        began
    }

    /// One look at the next threads.
    fn see(&mut self, now: u64) {
        let count = self.threads.len();
        let mut text = [0; 256];
        let seen = count.min(THREADS_A_LOOK);
        let mut waits = Vec::new();
        for at in 0..seen {
            let thread = &self.threads[(self.turn + at) % count];
            // One that ended, or that we may not look at.
            let Ok(length) = thread.call.read_at(&mut text, 0) else { continue };
            let wait = Wait::of(&text[..length], &ProcessMemory(thread.pid));
            if wait != Wait::Nothing && wait != Wait::Work {
                waits.push((thread.pid, thread.tid, thread.group, wait));
            }
        }
        self.turn = if count > THREADS_A_LOOK { (self.turn + seen) % count } else { 0 };
        for (pid, tid, group, wait) in waits {
            self.judge((pid, tid), group, &wait, now);
        }
    }

    /// Counts one wait.
    fn judge(&mut self, (pid, tid): (u32, u32), group: Group, wait: &Wait, now: u64) {
        match wait {
            Wait::Nothing | Wait::Work => {}
            Wait::Other => self.tally.waits(group),
            Wait::Reads(fd) => self.count(pid, group, |ends| ends.of(pid, *fd, false, now)),
            Wait::Writes(fd) => self.count(pid, group, |ends| ends.of(pid, *fd, true, now)),
            Wait::Several(fds) => match fds.as_slice() {
                [(fd, writes)] => self.count(pid, group, |ends| ends.of(pid, *fd, *writes, now)),
                several => several.iter().take(MOST_EPOLL).for_each(|(fd, _)| {
                    self.count(pid, group, |ends| ends.outstanding(pid, *fd, now).unwrap_or(Found::Work));
                }),
            },
            Wait::Epoll(fd) => match sessions::session(pid) {
                Some(Session::Waits) => {
                    self.sessions_wait = now;
                    let held =
                        sessions::holder(pid).map(|holder| (holder, "a lock of the database".to_string()));
                    self.count_held(pid, group, held);
                }
                // It keeps others waiting until its client goes on.
                Some(Session::Holds) if now < self.sessions_wait + SESSIONS_NS => {
                    let clients =
                        watched(pid, *fd).into_iter().filter_map(|fd| self.ends.client(pid, fd, now));
                    let clients: Vec<Found> = clients.collect();
                    clients.into_iter().for_each(|client| self.count(pid, group, |_| client));
                }
                _ => {
                    for fd in watched(pid, *fd) {
                        self.count(pid, group, |ends| ends.outstanding(pid, fd, now).unwrap_or(Found::Work));
                    }
                }
            },
            Wait::FileLock => {
                let holder = locks::file_lock(&bounded_file("/proc/locks"), pid, tid);
                let held = holder.map(|(holder, inode)| {
                    let path = locks::path_of(pid, inode).unwrap_or_else(|| "a file".to_string());
                    (holder, format!("the lock of {path}"))
                });
                self.count_held(pid, group, held);
            }
            Wait::Futex(address) => {
                // The end of a thread, or a lock of its own threads: nobody else's.
                if let Some(held) = locks::shared_lock(pid, *address, &ProcessMemory(pid)) {
                    self.count_held(pid, group, Some(held));
                }
            }
            Wait::Message { queue, room } => {
                let held = locks::queue(&bounded_file("/proc/sysvipc/msg"), *queue, *room);
                self.count_held(pid, group, held);
            }
        }
    }

    fn count_held(&mut self, pid: u32, group: Group, held: Option<locks::Held>) {
        self.count(pid, group, |_| {
            held.map_or(Found::Nobody, |(holder, via)| Found::Processes(vec![holder], via))
        });
    }

    fn count(&mut self, pid: u32, group: Group, find: impl FnOnce(&mut Ends) -> Found) {
        match find(&mut self.ends) {
            Found::Work => {}
            Found::Nobody => self.tally.waits(group),
            Found::Service(via) => self.tally.waits_for_service(group, &Service::of(&via, 0), None),
            Found::Processes(pids, via) => {
                for other in pids.into_iter().filter(|other| *other != self.own) {
                    // Of its own processes, one waits for the other.
                    if self.groups.get(&other) == Some(&group) {
                        self.tally.waits(group);
                    } else {
                        self.tally.waits_for(group, pid, other, &via);
                    }
                }
            }
        }
    }

    /// Who is taken in, and whether it was not watched before.
    fn choose(&mut self) -> Vec<(Chosen, bool)> {
        // A caller may be waited for as well.
        let is_followed = |groups: &BTreeMap<u32, Group>, pid| {
            groups.get(&pid).is_some_and(|group| *group != Group::Caller)
        };
        let groups = &self.groups;
        let chosen = self.tally.end(|pid| is_followed(groups, pid));
        let mut taken = Vec::new();
        for mut one in chosen {
            let about = status(one.pid);
            if one.is_passing {
                let Some(parent) = about.and_then(|about| started_by(one.pid, about.parent?)) else {
                    continue;
                };
                one.pid = parent;
            }
            let is_program = status(one.pid).is_some_and(|status| status.flags & KERNEL_THREAD == 0);
            if !is_program || one.pid == self.own || is_followed(&self.groups, one.pid) {
                continue;
            }
            if self.taken.len() >= self.limit && !self.groups.contains_key(&one.pid) {
                let name = owners::name_of(one.pid).unwrap_or_default();
                self.left_out.entry(one.pid).or_insert(name);
                continue;
            }
            let group = self.tally.take_in(&one);
            self.newest = group;
            let is_new = self.groups.insert(one.pid, group).is_none();
            self.taken.push(one.clone());
            self.list_due = 0;
            taken.push((one, is_new));
        }
        taken
    }

    /// Who is taken in of those that wait for the target: half of the places are kept for those that it waits for.
    fn choose_callers(&mut self, now: u64) -> Vec<(Chosen, bool)> {
        if now < self.since + CALLERS_AFTER_NS || self.callers_taken >= self.limit / 2 {
            return Vec::new();
        }
        let of = |group: Group| self.groups.iter().filter(move |(_, one)| **one == group);
        let targets: Vec<u32> = of(Group::Target).map(|(pid, _)| *pid).collect();
        let (own, groups) = (self.own, &self.groups);
        let is_other = |pid: u32| pid == own || groups.contains_key(&pid);
        let mut chosen = self.callers.look(&mut self.ends, &targets, is_other, now);
        let room = self.limit.saturating_sub(self.taken.len()).min(self.limit / 2 - self.callers_taken);
        chosen.truncate(room);
        for one in &chosen {
            self.callers.take_in(one.pid);
            self.callers_taken += 1;
            self.groups.insert(one.pid, Group::Caller);
            self.taken.push(one.clone());
        }
        chosen.into_iter().map(|one| (one, true)).collect()
    }

    /// Writes down who was taken in.
    fn tell(&mut self, one: &Chosen, now: u64) {
        let mut body: Vec<u8> = one.share.to_bits().to_ne_bytes().to_vec();
        body.extend(one.waiter.to_ne_bytes());
        body.extend(one.hop.to_ne_bytes());
        let name = owners::name_of(one.pid).unwrap_or_default();
        body.extend((name.len() as u32).to_ne_bytes());
        body.extend(name.bytes());
        body.extend(one.via.bytes());
        // A disk that is full ends the recording by the drain, which tells.
        let _ = self.spool.write(FOLLOWED, &Header::with(kind::FOLLOWED, one.pid, now, &body));
    }
}

/// One record of the stream as the event; `None` where it is none or not whole.
pub(crate) fn followed(record: &SpoolRecord<'_>, clock: Clock) -> Option<Event<'static>> {
    let mut fields = Fields(record.body());
    let share = f64::from_bits(fields.u64()?);
    let (waiter, hop, length) = (fields.u32()?, fields.u32()?, fields.u32()?);
    let name = text::bounded(fields.bytes(length as usize)?);
    let via = whyslow_model::Via::of_words(&text::bounded(fields.0));
    let ts = clock.epoch(record.header.ts);
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { return None };
    Some(Event::Followed(Box::new(Followed {
        ts,
        pid: record.header.tid,
        comm: name,
        waiter,
        via,
        share,
        hop,
    })))
}

/// Descriptors that an epoll instance watches, the first ones (proc_pid_fdinfo(5)).
fn watched(pid: u32, fd: i32) -> Vec<i32> {
    let text = bounded_file(&format!("/proc/{pid}/fdinfo/{fd}"));
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"tfd:"));
    let first = |line: &[u8]| std::str::from_utf8(line).ok()?.split_ascii_whitespace().next()?.parse().ok();
    lines.filter_map(first).take(MOST_EPOLL).collect()
}

/// What proc_pid_stat(5) tells of a process.
struct Status {
    parent: Option<u32>,
    flags: u64,
}

fn status(pid: u32) -> Option<Status> {
    let text = bounded_file(&format!("/proc/{pid}/stat"));
    let text = std::str::from_utf8(&text).ok()?;
    // The name may hold blanks and brackets.
    let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
    let parent = fields.nth(1).and_then(|word| word.parse().ok());
    let flags = fields.nth(4)?.parse().ok()?;
    Some(Status { parent, flags })
}

/// The parent of a process, where that runs the same program: it made the process for a request.
fn started_by(pid: u32, parent: u32) -> Option<u32> {
    (parent > 1 && owners::name_of(parent) == owners::name_of(pid)).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Child, Command, Stdio};

    /// Processes that end with the test.
    struct Pair(Child, Child);

    impl Drop for Pair {
        fn drop(&mut self) {
            for child in [&mut self.0, &mut self.1] {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }

    /// A reader of a pipe that a program holds open which writes nothing.
    fn reader_and_writer() -> Pair {
        let mut reader =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
        let pipe = reader.stdin.take().expect("a pipe");
        let writer = Command::new("sleep").arg("60").stdout(pipe).spawn().expect("sleep");
        Pair(reader, writer)
    }

    /// Looks that come one after another, whatever each cost: `round` counts the calls, since time does not go back.
    fn looks(follower: &mut Follower, count: u64, round: u64) -> Vec<u32> {
        let taken = (1..=count).map(|at| follower.look((round * count + at) * AT_MOST_NS));
        taken.flatten().collect()
    }

    /// Who is taken in first; nobody within 20 s is empty.
    fn first_taken(follower: &mut Follower) -> Vec<u32> {
        let began = std::time::Instant::now();
        let mut taken = Vec::new();
        for round in 0.. {
            if !taken.is_empty() || began.elapsed().as_secs() >= 20 {
                break;
            }
            taken = looks(follower, 12, round);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        taken
    }

    #[test]
    fn the_writer_of_an_empty_pipe_is_taken_in_and_told() {
        let pair = reader_and_writer();
        let folder = tempfile::tempdir().expect("a folder");
        let mut follower = Follower::new(folder.path(), &[pair.0.id()], 8, 0);
        assert_eq!(first_taken(&mut follower), [pair.1.id()]);
        let told: Vec<String> = follower.taken(0).collect();
        assert_eq!(told, [format!("sleep ({}), waited for at a pipe in 100 % of the waiting", pair.1.id())]);
        let mut events = Vec::new();
        let mut reader = crate::bpf::spool::SpoolReader::new(folder.path(), false);
        let clock = Clock { offset: 5 };
        reader.read(u64::MAX, |record| events.extend(followed(&record, clock))).expect("read");
        let [Event::Followed(one)] = &events[..] else { panic!("{events:?}") };
        assert_eq!((one.pid, one.waiter, one.hop), (pair.1.id(), pair.0.id(), 1));
        assert_eq!((one.comm.as_str(), &one.via, one.share), ("sleep", &whyslow_model::Via::Pipe, 1.0));
    }

    #[test]
    fn nobody_is_taken_in_beyond_the_limit_and_that_is_noted() {
        let pair = reader_and_writer();
        let folder = tempfile::tempdir().expect("a folder");
        let mut follower = Follower::new(folder.path(), &[pair.0.id()], 0, 0);
        let began = std::time::Instant::now();
        for round in 0.. {
            if !follower.notes().is_empty() || began.elapsed().as_secs() >= 20 {
                break;
            }
            assert!(looks(&mut follower, 12, round).is_empty());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(follower.notes()[0].contains(&format!("sleep ({})", pair.1.id())), "{:?}", follower.notes());
    }

    #[test]
    fn who_waits_for_the_target_is_not_taken_in() {
        // The reader waits for the writer, and not the other way round.
        let pair = reader_and_writer();
        let folder = tempfile::tempdir().expect("a folder");
        let mut follower = Follower::new(folder.path(), &[pair.1.id()], 8, 0);
        assert!(looks(&mut follower, 30, 0).is_empty());
        assert!(follower.notes().is_empty());
    }

    #[test]
    fn who_waits_for_room_in_the_targets_pipe_is_taken_in_as_its_caller() {
        let mut reader = Command::new("sleep").arg("60").stdin(Stdio::piped()).spawn().expect("sleep");
        let pipe = reader.stdin.take().expect("a pipe");
        let zero = File::open("/dev/zero").expect("opened");
        let writer = Command::new("cat").stdin(zero).stdout(pipe).spawn().expect("cat");
        let pair = Pair(reader, writer);
        let folder = tempfile::tempdir().expect("a folder");
        let mut follower = Follower::new(folder.path(), &[pair.0.id()], 8, 0);
        assert_eq!(first_taken(&mut follower), [pair.1.id()]);
        let told: Vec<String> = follower.taken(0).collect();
        let expected = format!("cat ({}), which waits for it at a pipe in 100 % of the looks", pair.1.id());
        assert_eq!(told, [expected]);
        // With room for one alone nobody is taken in who waits for the target.
        let mut follower = Follower::new(folder.path(), &[pair.0.id()], 1, 0);
        assert!((1..4).all(|round| looks(&mut follower, 12, round).is_empty()));
    }

    #[test]
    fn a_record_that_is_cut_is_no_event() {
        let folder = tempfile::tempdir().expect("a folder");
        let record = Header::with(kind::FOLLOWED, 7, 1, &[0; 12]);
        let mut file = File::create(folder.path().join(FOLLOWED)).expect("made");
        file.write_all(&record).expect("written");
        let mut reader = crate::bpf::spool::SpoolReader::new(folder.path(), false);
        let mut events = Vec::new();
        reader
            .read(u64::MAX, |record| events.push(followed(&record, Clock { offset: 0 }).is_some()))
            .expect("read");
        assert_eq!(events, [false]);
    }
}
