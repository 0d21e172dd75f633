//! Descriptors of one socket that were duplicated before the capture: a reader and a writer made of one connection (`dup`, Rust's
//! `try_clone`, Python's `makefile`, stdio's two streams). They share a life, as those do whose dup is seen: else each shows one direction only, and
//! what goes over the connection is no exchange of questions and answers.

use super::*;

impl World {
    /// Sockets told apart so; past these, each descriptor has a life of its own.
    const MAX_SOCKETS: usize = 16_384;

    /// Gives `fd` the life of another descriptor of the process that leads to the socket of this key; `None` where none is open.
    pub(super) fn share_socket(&mut self, process: ProcessId, fd: i32, key: &[u8]) -> Option<LifeId> {
        let key = socket_key(key)?;
        let id = *self.sockets.get(&(process, Box::from(key)))?;
        let life = self.fds.get_mut(id).filter(|life| life.is_open())?;
        life.refs += 1;
        let ts = life.opened;
        self.install(process, fd, id, false, ts);
        Some(id)
    }

    /// Keeps which life a socket has.
    pub(super) fn know_socket(&mut self, process: ProcessId, id: LifeId, key: Option<&[u8]>) {
        let Some(key) = key.and_then(socket_key).filter(|_| id != LifeId::NONE) else { return };
        if self.sockets.len() < Self::MAX_SOCKETS {
            self.sockets.insert((process, Box::from(key)), id);
        }
    }
}

/// What tells a socket from all others in the notes of strace -y and -yy: the inode, or both ends of a connection.
/// `socket:[3547029]`, `UNIX-STREAM:[812->813]`, `TCP:[10.0.0.1:80->10.0.0.7:4001]`.
fn socket_key(note: &[u8]) -> Option<&[u8]> {
    let by_inode = note.starts_with(b"socket:[") || note.starts_with(b"UNIX");
    let by_ends = note.starts_with(b"TCP") && memchr::memmem::find(note, b"->").is_some();
    (by_inode || by_ends).then_some(note)
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::{Call, Event, FdEntry, FdKind, Nanos, Ret, Sink, Timestamp};

    /// Writes to one descriptor and reads from another, and how many lives these have.
    fn lives(writer: &str, reader: &str) -> usize {
        let mut facts = Facts::default();
        let calls = [("recvfrom", reader), ("sendto", writer)];
        for (at, (syscall, descriptor)) in calls.into_iter().enumerate() {
            let args = format!("{descriptor}, \"x\", 1, 0, NULL, 0");
            let mut call = Call::new(syscall, &args);
            (call.tid, call.ts, call.dur, call.ret) =
                (7, Timestamp::new(1 + at as u64), Nanos::new(1), Ret::Value(1));
            facts.push(Event::Call(&call));
        }
        facts.finish();
        facts.world.fds.iter().count()
    }

    #[test]
    fn two_descriptors_of_one_socket_share_a_life() {
        assert_eq!(lives("5<socket:[3547029]>", "4<socket:[3547029]>"), 1);
        assert_eq!(lives("5<socket:[3547029]>", "4<socket:[3547030]>"), 2);
        assert_eq!(lives("5<TCP:[10.0.0.1:80->10.0.0.7:4001]>", "4<TCP:[10.0.0.1:80->10.0.0.7:4001]>"), 1);
        assert_eq!(lives("5<TCP:[0.0.0.0:80]>", "4<TCP:[0.0.0.0:80]>"), 2);
        assert_eq!(lives("5", "4"), 2);
    }

    #[test]
    fn a_snapshot_joins_them_by_their_inode() {
        let mut facts = Facts::default();
        for (fd, inode) in [(4, 812), (5, 812), (6, 813)] {
            let entry = FdEntry {
                pid: Some(7),
                fd: Some(fd),
                kind: FdKind::Socket,
                inode: Some(inode),
                ..FdEntry::default()
            };
            facts.push(Event::Fd(Box::new(entry)));
        }
        facts.finish();
        assert_eq!(facts.world.fds.iter().count(), 2);
    }
}
