//! Peers by calls that the kernel added up: how much went over all connections to a service, where calls are not recorded one by one.

use super::Role;
use crate::world::file_users::FileUse;
use crate::world::ids::ProcessId;
use hashbrown::HashMap;
use whyslow_model::event::Tid;
use whyslow_model::{FdKind, FileIo};

/// What one process did on all its connections to one service, or on all those that it accepted at one address.
#[derive(Clone, Debug)]
pub struct CountedPeer {
    /// The process.
    pub process: ProcessId,
    /// What the other end is to it.
    pub role: Role,
    /// The address of the service: of the other end, or of the own one that clients come to.
    pub name: Box<str>,
    /// The kind of the sockets.
    pub kind: FdKind,
    /// Reads and writes; those that are recorded one by one, too.
    pub used: FileUse,
    /// The first thread that used it.
    pub tid: Tid,
    /// Another thread did too.
    pub shared: bool,
}

impl CountedPeer {
    /// Messages and answers, where each write stands for one and each read for the other: as many as there are of the fewer. `None` where
    /// one side has far more calls: what is sent are parts of something large then, or messages that nobody answers.
    pub fn turns(&self) -> Option<u64> {
        /// A message may need two calls.
        const AT_MOST: u64 = 2;
        let (writes, reads) = (self.used.writes.succeeded(), self.used.reads.succeeded());
        let (fewer, more) = (writes.min(reads), writes.max(reads));
        (fewer > 0 && more <= fewer.saturating_mul(AT_MOST)).then_some(fewer)
    }

    /// The thread that used it, where it was a single one.
    pub fn only_thread(&self) -> Option<Tid> {
        Some(self.tid).filter(|_| !self.shared)
    }
}

/// All of them. Bounded: past the cap further ones are left out.
#[derive(Debug, Default)]
pub struct CountedPeers {
    rows: Vec<CountedPeer>,
    index: HashMap<(ProcessId, Role, Box<str>), usize>,
}

impl CountedPeers {
    /// Rows kept. A recorder tells a row for each service, not for each connection.
    const MOST: usize = 4096;

    /// Each of them, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &CountedPeer> {
        self.rows.iter()
    }

    /// What a process did on its connections to a server.
    pub fn of_server(&self, process: ProcessId, name: &str) -> Option<&CountedPeer> {
        let at = self.index.get(&(process, Role::Server, Box::from(name)))?;
        self.rows.get(*at)
    }

    /// Takes in calls that the kernel added up.
    pub(crate) fn see(&mut self, process: ProcessId, io: &FileIo) {
        let (role, name) = match (&io.ends.peer, &io.ends.local) {
            (Some(peer), _) => (Role::Server, peer),
            (None, Some(local)) => (Role::Client, local),
            (None, None) => return,
        };
        let key = (process, role, Box::from(&**name));
        let at = match self.index.get(&key) {
            Some(at) => *at,
            None if self.rows.len() >= Self::MOST => return,
            None => {
                let (used, name) = (FileUse::default(), key.2.clone());
                let new =
                    CountedPeer { process, role, name, kind: io.kind, used, tid: io.tid, shared: false };
                self.rows.push(new);
                self.index.insert(key, self.rows.len() - 1);
                self.rows.len() - 1
            }
        };
        let row = &mut self.rows[at];
        row.used.see_sum(io);
        row.shared |= row.tid != io.tid;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Event, FileOp, Nanos, Sink, SocketEnds, Timestamp};

    fn io(
        tid: Tid,
        op: FileOp,
        ends: (Option<&str>, Option<&str>),
        calls: u64,
        errors: u64,
    ) -> Event<'static> {
        Event::FileIo(Box::new(FileIo {
            pid: 7,
            tid,
            op,
            kind: FdKind::Tcp,
            path: None,
            ends: SocketEnds { local: ends.0.map(str::to_string), peer: ends.1.map(str::to_string) },
            size: None,
            in_order: None,
            file: None,
            first: Timestamp::new(1),
            last: Timestamp::new(9),
            calls,
            errors,
            timed: calls,
            bytes: 10 * calls,
            total: Nanos::new(5 * calls),
            longest: Nanos::new(5),
        }))
    }

    #[test]
    fn services_are_told_apart_by_what_they_are_to_the_process() {
        let mut facts = Facts::default();
        let redis = (None, Some("127.0.0.1:6379"));
        facts.push(io(7, FileOp::Write, redis, 100, 0));
        facts.push(io(8, FileOp::Read, redis, 130, 30));
        facts.push(io(7, FileOp::Write, (Some("127.0.0.1:6379"), None), 5, 0));
        facts.push(io(7, FileOp::Read, (None, None), 5, 0));
        facts.finish();
        let rows: Vec<_> = facts.peers.counted.iter().collect();
        let [asked, served] = rows[..] else { panic!("two: {rows:?}") };
        assert_eq!((asked.role, asked.turns(), asked.only_thread()), (Role::Server, Some(100), None));
        assert_eq!((asked.used.reads.bytes, asked.used.writes.total_ns), (1300, 500));
        assert_eq!((served.role, served.turns(), served.only_thread()), (Role::Client, None, Some(7)));
        assert_eq!(facts.peers.by_process().count(), 0);
    }

    #[test]
    fn a_stream_has_no_turns() {
        let mut facts = Facts::default();
        let store = (None, Some("10.0.0.1:9000"));
        facts.push(io(7, FileOp::Write, store, 1000, 0));
        facts.push(io(7, FileOp::Read, store, 400, 0));
        facts.finish();
        assert!(facts.peers.counted.iter().all(|row| row.turns().is_none()));
    }
}
