//! Threads and processes that are woken for one connection or job and find that another one took it.

use crate::Fold;
use crate::exemplar::{Exemplar, Exemplars};
use crate::world::{Seen, World};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Errno, FdKind, Nanos, Syscall};

/// One descriptor for which several wait: a listening socket, or a pipe or socket that brings jobs.
#[derive(Debug)]
pub struct Herd {
    /// Its address or path, or the descriptor where that is not known.
    pub name: Box<str>,
    /// True for a listening socket.
    pub listens: bool,
    /// Connections or jobs taken.
    pub taken: u64,
    /// Wake-ups for nothing: the first accept or read behind a poll found nothing (EAGAIN).
    pub in_vain: u64,
    /// Time in those calls, ns.
    pub vain_ns: u64,
    /// Who was woken for nothing; the first few threads.
    pub woken: Vec<Tid>,
    /// Lines of calls that found nothing.
    pub exemplars: Exemplars,
    /// A line of one that did.
    pub took: Option<Exemplar>,
}

impl Herd {
    /// Time in calls that found nothing.
    pub fn vain_time(&self) -> Nanos {
        Nanos::new(self.vain_ns)
    }
}

/// Herds by descriptor.
#[derive(Debug, Default)]
pub struct Herds {
    /// The rows.
    pub rows: Vec<Herd>,
    /// Threads that polled and did not accept or read since.
    polled: HashMap<Tid, (), foldhash::fast::RandomState>,
}

impl Herds {
    /// Descriptors told apart.
    const MAX_ROWS: usize = 128;
    /// Threads told apart of each.
    const MAX_WOKEN: usize = 128;
    /// Threads that are watched.
    const MAX_THREADS: usize = 4_096;
}

impl Fold for Herds {
    fn wants(&self, syscall: Syscall) -> bool {
        is_accept(syscall) || is_read(syscall) || is_poll(syscall)
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        if is_poll(call.syscall) {
            if call.ok().is_some_and(|ready| ready > 0) && self.polled.len() < Self::MAX_THREADS {
                self.polled.insert(call.tid, ());
            }
            return;
        }
        let listens = is_accept(call.syscall);
        let first = self.polled.remove(&call.tid).is_some();
        let in_vain = first && call.errno == Errno::EAGAIN;
        // Any read is one of a job, but where nobody polls for it none is woken in vain.
        if !in_vain && (call.ok().is_none() || !listens && !first) {
            return;
        }
        let Some((fd, _)) = call.first_fd() else { return };
        let life = world.life_of(seen.process, fd);
        // A connection is read by one; without a name two of one number may be two.
        if !listens && !life.is_some_and(|life| is_shared(life.kind)) {
            return;
        }
        let name = life.and_then(|life| {
            let pipe = life.inode.filter(|_| life.kind == FdKind::Pipe).map(|inode| format!("pipe {inode}"));
            life.target(world).or(pipe).or(life.local().map(str::to_string))
        });
        let name = name.unwrap_or_else(|| format!("fd {fd}"));
        let at = match self.rows.iter().position(|row| *row.name == *name) {
            Some(at) => at,
            None if self.rows.len() < Self::MAX_ROWS => {
                self.rows.push(Herd {
                    name: name.into(),
                    listens,
                    taken: 0,
                    in_vain: 0,
                    vain_ns: 0,
                    woken: Vec::new(),
                    exemplars: Exemplars::default(),
                    took: None,
                });
                self.rows.len() - 1
            }
            None => return,
        };
        let row = &mut self.rows[at];
        if in_vain {
            row.in_vain += 1;
            row.vain_ns = row.vain_ns.saturating_add(call.dur.or_zero());
            row.exemplars.see(call);
            if row.woken.len() < Self::MAX_WOKEN && !row.woken.contains(&call.tid) {
                row.woken.push(call.tid);
            }
        } else {
            row.taken += 1;
            row.took.get_or_insert_with(|| Exemplar::of(call));
        }
    }
}

fn is_accept(syscall: Syscall) -> bool {
    matches!(syscall, Syscall::ACCEPT | Syscall::ACCEPT4)
}

fn is_read(syscall: Syscall) -> bool {
    matches!(
        syscall,
        Syscall::READ | Syscall::READV | Syscall::RECVFROM | Syscall::RECVMSG | Syscall::RECVMMSG
    )
}

/// What several may read from, each a message of its own.
fn is_shared(kind: FdKind) -> bool {
    matches!(kind, FdKind::Pipe | FdKind::Unix | FdKind::Udp)
}

fn is_poll(syscall: Syscall) -> bool {
    matches!(
        syscall,
        Syscall::EPOLL_WAIT
            | Syscall::EPOLL_PWAIT
            | Syscall::EPOLL_PWAIT2
            | Syscall::POLL
            | Syscall::PPOLL
            | Syscall::SELECT
            | Syscall::PSELECT6
    )
}
