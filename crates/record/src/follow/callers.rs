//! Who waits for the target on this host: the processes at the other end of the connections that it accepted, those that write into its
//! pipes, and those that wait for its locks. Each is looked at as the target is: by what its blocked threads are in. Who waits for an
//! answer, for room or for a lock is counted; who waits for what the target may send is idle.

use super::ends::{Ends, Found};
use super::locks::{self, bounded_file};
use super::tally::{FEWEST_HITS, LEAST_SHARE, MOST_ALIKE};
use super::waits::{ProcessMemory, Wait};
use super::{Chosen, Group, MOST_EPOLL, watched};
use crate::clock::thread_cpu_ns;
use std::collections::BTreeMap;

/// What looks at callers may cost in the long run, of one CPU.
const SHARE: f64 = 0.000_5;
/// Between two looks, ns.
const EVERY_NS: u64 = 76_000_000;
const AT_MOST_NS: u64 = 2_000_000_000;
/// Looks at callers that come as often as they can, whatever they cost: 10 ms of CPU time together.
const EAGER: u32 = 24;
/// Callers are sought again after that long, ns.
const SOUGHT_EVERY_NS: u64 = 500_000_000;
/// Processes of the target and descriptors of each that are looked through for callers.
const MOST_TARGETS: usize = 8;
const MOST_DESCRIPTORS: usize = 1_024;
/// Connections and pipes of one search whose other end is sought.
const MOST_ENDS: usize = 32;
/// Callers that are known, and those of one look with their threads.
const MOST_CALLERS: usize = 64;
const CALLERS_A_LOOK: usize = 16;
const MOST_THREADS: usize = 32;

/// A process that may wait for the target.
#[derive(Debug, Default)]
struct Caller {
    looks: u32,
    hits: u32,
    /// It writes into a pipe of the target: what it reads from another one is the answer.
    asks_by_pipe: bool,
    /// The process of the target that it waited for last, and at what.
    last: Option<(u32, String)>,
    taken: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Callers {
    known: BTreeMap<u32, Caller>,
    sought: u64,
    /// Looks at which somebody was known.
    looks: u32,
    due: u64,
    turn: usize,
}

impl Callers {
    /// Looks, if it is time: tells who is seen to wait for these processes often enough, the one that waits most first. Those of `others`
    /// are watched already.
    pub(super) fn look(
        &mut self,
        ends: &mut Ends,
        targets: &[u32],
        is_other: impl Fn(u32) -> bool,
        now: u64,
    ) -> Vec<Chosen> {
        if now < self.due || targets.is_empty() {
            return Vec::new();
        }
        let (began, listed) = (thread_cpu_ns(), ends.listing_ns());
        if self.sought == 0 || now >= self.sought + SOUGHT_EVERY_NS {
            self.sought = now.max(1);
            self.seek(ends, targets, now);
        }
        self.known.retain(|pid, _| !targets.contains(pid) && !is_other(*pid));
        self.see(ends, targets, now);
        let listed = ends.listing_ns() - listed;
        let spent = (thread_cpu_ns() - began).saturating_sub(listed) as f64;
        self.looks = self.looks.saturating_add(u32::from(!self.known.is_empty()));
        let pause = if self.looks < EAGER && !self.known.is_empty() { 0.0 } else { spent / SHARE };
        self.due = now + (pause as u64).clamp(EVERY_NS, AT_MOST_NS);
        self.chosen()
    }

    /// Counts one as taken in: it is not told again.
    pub(super) fn take_in(&mut self, pid: u32) {
        if let Some(caller) = self.known.get_mut(&pid) {
            caller.taken = true;
        }
    }

    fn seek(&mut self, ends: &mut Ends, targets: &[u32], now: u64) {
        let first = self.turn % targets.len();
        self.turn = self.turn.wrapping_add(MOST_TARGETS);
        let mut left = MOST_ENDS;
        for pid in targets.iter().cycle().skip(first).take(targets.len().min(MOST_TARGETS)) {
            let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { continue };
            let numbers =
                entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
            for fd in numbers.take(MOST_DESCRIPTORS) {
                if left == 0 {
                    break;
                }
                let hints: Vec<u32> = self.known.keys().copied().collect();
                let Some((callers, is_pipe)) = ends.callers(*pid, fd, &hints, now) else { continue };
                left -= 1;
                callers.into_iter().for_each(|caller| self.may_call(caller, is_pipe));
            }
        }
        for waiter in locks::waiters(&bounded_file("/proc/locks"), targets) {
            self.may_call(waiter, false);
        }
    }

    fn may_call(&mut self, pid: u32, by_pipe: bool) {
        if self.known.len() >= MOST_CALLERS && !self.known.contains_key(&pid) {
            // Who was seen to wait stays.
            self.known.retain(|_, caller| caller.hits > 0 || caller.taken);
        }
        if self.known.len() < MOST_CALLERS || self.known.contains_key(&pid) {
            let caller = self.known.entry(pid).or_default();
            caller.asks_by_pipe |= by_pipe;
        }
    }

    fn see(&mut self, ends: &mut Ends, targets: &[u32], now: u64) {
        let open: Vec<u32> = self.known.iter().filter(|(_, one)| !one.taken).map(|(pid, _)| *pid).collect();
        // Those that were looked at least often come first.
        let mut open: Vec<(u32, u32)> = open.iter().map(|pid| (self.known[pid].looks, *pid)).collect();
        open.sort_unstable();
        for (_, pid) in open.into_iter().take(CALLERS_A_LOOK) {
            let asks_by_pipe = self.known[&pid].asks_by_pipe;
            let Some(seen) =
                waits(pid, |tid, wait| leads(ends, (pid, tid), wait, asks_by_pipe, targets, now))
            else {
                self.known.remove(&pid);
                continue;
            };
            let Some(caller) = self.known.get_mut(&pid) else { continue };
            caller.looks = caller.looks.saturating_add(1);
            if seen.is_some() {
                caller.hits = caller.hits.saturating_add(1);
                caller.last = seen;
            }
        }
    }

    fn chosen(&self) -> Vec<Chosen> {
        let enough = self.known.iter().filter(|(_, one)| !one.taken && one.hits >= FEWEST_HITS);
        let mut chosen: Vec<Chosen> = enough
            .filter_map(|(pid, one)| {
                let (target, via) = one.last.clone()?;
                let share = f64::from(one.hits) / f64::from(one.looks.max(1));
                let new = Chosen {
                    pid: *pid,
                    waiter: target,
                    via,
                    share,
                    hop: 0,
                    of: Group::Caller,
                    is_passing: false,
                };
                (share >= LEAST_SHARE).then_some(new)
            })
            .collect();
        chosen.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.pid.cmp(&b.pid)));
        // Clients of one address are alike.
        let taken = |via: &str| {
            let is_it = |one: &&Caller| one.taken && one.last.as_ref().is_some_and(|last| last.1 == via);
            self.known.values().filter(is_it).count()
        };
        let mut alike: BTreeMap<String, usize> = BTreeMap::new();
        chosen.retain(|one| {
            let count = alike.entry(one.via.clone()).or_insert_with(|| taken(&one.via));
            *count += 1;
            *count <= MOST_ALIKE
        });
        chosen
    }
}

/// Asks about the wait of each blocked thread of a process until one is answered; `None` for a process that is gone, or that we may not look
/// at.
fn waits<T>(pid: u32, mut ask: impl FnMut(u32, &Wait) -> Option<T>) -> Option<Option<T>> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let tids = tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse::<u32>().ok());
    let mut was_seen = false;
    for tid in tids.take(MOST_THREADS) {
        let Ok(text) = std::fs::read(format!("/proc/{pid}/task/{tid}/syscall")) else { continue };
        was_seen = true;
        let answer = ask(tid, &Wait::of(&text, &ProcessMemory(pid)));
        if answer.is_some() {
            return Some(answer);
        }
    }
    was_seen.then_some(None)
}

/// Where the wait of a thread is for one of these processes: which, and at what.
fn leads(
    ends: &mut Ends,
    (pid, tid): (u32, u32),
    wait: &Wait,
    asks_by_pipe: bool,
    targets: &[u32],
    now: u64,
) -> Option<(u32, String)> {
    let held = |held: Option<locks::Held>| held.filter(|(holder, _)| targets.contains(holder));
    let mut at = |fd: i32, writes: bool| {
        let found =
            if writes { ends.of(pid, fd, true, now) } else { ends.answer(pid, fd, asks_by_pipe, now)? };
        let Found::Processes(pids, via) = found else { return None };
        Some((pids.into_iter().find(|other| targets.contains(other))?, via))
    };
    match wait {
        Wait::Nothing | Wait::Work | Wait::Other => None,
        Wait::Reads(fd) => at(*fd, false),
        Wait::Writes(fd) => at(*fd, true),
        Wait::Several(fds) => fds.iter().take(MOST_EPOLL).find_map(|(fd, writes)| at(*fd, *writes)),
        Wait::Epoll(fd) => watched(pid, *fd).into_iter().find_map(|fd| at(fd, false)),
        Wait::FileLock => {
            let (holder, inode) = locks::file_lock(&bounded_file("/proc/locks"), pid, tid)?;
            let path = locks::path_of(pid, inode).unwrap_or_else(|| "a file".to_string());
            held(Some((holder, format!("the lock of {path}"))))
        }
        Wait::Futex(address) => held(locks::shared_lock(pid, *address, &ProcessMemory(pid))),
        Wait::Message { queue, room } => {
            held(locks::queue(&bounded_file("/proc/sysvipc/msg"), *queue, *room))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::process::{Child, Command, Stdio};

    /// A process that ends with the test.
    struct Ending(Child);

    impl Drop for Ending {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Looks for up to ten seconds, until somebody is told.
    fn told(targets: &[u32], most: u64) -> Vec<Chosen> {
        let (mut callers, mut ends) = (Callers::default(), Ends::new(0));
        for at in 1..=most {
            let chosen = callers.look(&mut ends, targets, |_| false, at * AT_MOST_NS);
            if !chosen.is_empty() {
                return chosen;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Vec::new()
    }

    /// `cat`, which waits to read from our connection, of which we have the accepted end.
    fn client(asks: bool) -> (Ending, TcpStream, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = listener.local_addr().expect("an address");
        let mut near = TcpStream::connect(address).expect("connected");
        let (far, _) = listener.accept().expect("accepted");
        if asks {
            near.write_all(b"?").expect("sent");
        }
        let stdin = Stdio::from(OwnedFd::from(near));
        let cat = Command::new("cat").stdin(stdin).stdout(Stdio::null()).spawn().expect("cat");
        // The listener stays: it tells which end was accepted.
        std::mem::forget(listener);
        (Ending(cat), far, address.port())
    }

    #[test]
    fn a_client_that_asked_and_waits_is_told_and_one_that_did_not_ask_is_not() {
        let (cat, _far, port) = client(true);
        let chosen = told(&[std::process::id()], 500);
        let one = chosen.iter().find(|one| one.pid == cat.0.id()).expect("told");
        assert_eq!((one.hop, one.waiter), (0, std::process::id()));
        assert_eq!((one.via.clone(), one.share), (format!("127.0.0.1:{port}"), 1.0));
        drop(cat);
        let (cat, _far, _) = client(false);
        assert!(told(&[std::process::id()], 12).iter().all(|one| one.pid != cat.0.id()));
    }

    #[test]
    fn who_waits_for_room_in_a_pipe_is_told_and_who_waits_for_data_is_not() {
        let mut reader = Command::new("sleep").arg("60").stdin(Stdio::piped()).spawn().expect("sleep");
        let pipe = reader.stdin.take().expect("a pipe");
        let reader = Ending(reader);
        let zero = File::open("/dev/zero").expect("opened");
        let writer = Ending(Command::new("cat").stdin(zero).stdout(pipe).spawn().expect("cat"));
        let chosen = told(&[reader.0.id()], 500);
        let told_of: Vec<(u32, &str)> = chosen.iter().map(|one| (one.pid, one.via.as_str())).collect();
        assert_eq!(told_of, [(writer.0.id(), "a pipe")]);
        // The reader sleeps: whom the writer asks waits for nothing of it.
        assert!(told(&[writer.0.id()], 12).is_empty());
    }
}
