//! Threads and processes that are woken for one connection and find that another one took it.

use crate::exemplar::{Exemplar, Exemplars};
use crate::world::{Seen, World};
use crate::{Fold, WaitKind};
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{Errno, Nanos, Syscall};

/// One listening socket.
#[derive(Debug)]
pub struct Herd {
    /// Its address, or the descriptor where that is not known.
    pub name: Box<str>,
    /// Connections taken.
    pub taken: u64,
    /// Wake-ups for nothing: the first accept behind a poll found nobody (EAGAIN).
    pub in_vain: u64,
    /// Time in those accepts, ns.
    pub vain_ns: u64,
    /// Who was woken for nothing; the first few threads.
    pub woken: Vec<Tid>,
    /// Lines of accepts that found nobody.
    pub exemplars: Exemplars,
    /// A line of one that did.
    pub took: Option<Exemplar>,
}

impl Herd {
    /// Time in accepts that found nobody.
    pub fn vain_time(&self) -> Nanos {
        Nanos::new(self.vain_ns)
    }
}

/// Herds by listening socket.
#[derive(Debug, Default)]
pub struct Herds {
    /// The rows.
    pub rows: Vec<Herd>,
    /// Threads that polled and did not accept since.
    polled: HashMap<Tid, (), foldhash::fast::RandomState>,
}

impl Herds {
    /// Sockets told apart.
    const MAX_ROWS: usize = 128;
    /// Threads told apart of each.
    const MAX_WOKEN: usize = 128;
    /// Threads that are watched.
    const MAX_THREADS: usize = 4_096;
}

impl Fold for Herds {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(
            syscall,
            Syscall::ACCEPT
                | Syscall::ACCEPT4
                | Syscall::EPOLL_WAIT
                | Syscall::EPOLL_PWAIT
                | Syscall::EPOLL_PWAIT2
                | Syscall::POLL
                | Syscall::PPOLL
                | Syscall::SELECT
                | Syscall::PSELECT6
        )
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        if seen.waits != Some(WaitKind::Accept) {
            if call.ok().is_some_and(|ready| ready > 0) && self.polled.len() < Self::MAX_THREADS {
                self.polled.insert(call.tid, ());
            }
            return;
        }
        let first = self.polled.remove(&call.tid).is_some();
        let in_vain = first && call.errno == Errno::EAGAIN;
        if !in_vain && call.ok().is_none() {
            return;
        }
        let Some((fd, _)) = call.first_fd() else { return };
        let life = world.life_of(seen.process, fd);
        let name = life.and_then(|life| life.target(world)).unwrap_or_else(|| format!("fd {fd}"));
        let at = match self.rows.iter().position(|row| *row.name == *name) {
            Some(at) => at,
            None if self.rows.len() < Self::MAX_ROWS => {
                self.rows.push(Herd {
                    name: name.into(),
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
