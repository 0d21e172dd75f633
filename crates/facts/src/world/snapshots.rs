//! Snapshots of open descriptors: what was open before the trace began.

use super::*;

impl World {
    pub(crate) fn snapshot(&mut self, entry: FdEntry) {
        self.snapshot_rows += 1;
        let Some(pid) = entry.pid else {
            if let Some(inode) =
                entry.inode.filter(|inode| *inode != 0 && self.net_rows.len() < Self::MAX_NET_ROWS)
            {
                self.net_rows.insert(inode, entry);
            }
            return;
        };
        let process = self.process_numbered(pid);
        if !self.snapshot_pids.contains(&process) && self.snapshot_pids.len() < 4096 {
            self.snapshot_pids.push(process);
        }
        let facts = self.threads.process_mut(process);
        if let Some(comm) = entry.comm {
            facts.comm.get_or_insert(comm.into());
        }
        if let Some(user) = entry.user {
            facts.user.get_or_insert(user.into());
        }
        if entry.role.as_deref() == Some("cwd") {
            facts.cwd = entry.name.map(Into::into);
            return;
        }
        let Some(fd) = entry.fd else { return };
        // The threads of a process share its descriptors: `lsof -K` lists them once a thread.
        if entry.tid.is_some() && self.life_of(process, fd).is_some() {
            self.snapshot_rows -= 1;
            return;
        }
        if self.snapshot_rows > Self::MAX_SNAPSHOT_FDS {
            return;
        }
        let socket = entry.inode.filter(|inode| *inode != 0 && entry.kind.is_socket());
        let socket = socket.map(|inode| format!("socket:[{inode}]"));
        if let Some(key) = &socket
            && self.share_socket(process, fd, key.as_bytes()).is_some()
        {
            return;
        }
        let mut life = FdLife::new(process, fd, entry.kind, Origin::Snapshot);
        life.refs = 1;
        life.name = entry.name.filter(|_| entry.ends.is_none()).map(Into::into);
        life.ends = entry.ends.map(Box::new);
        life.listening = entry.state.as_deref() == Some("LISTEN");
        life.state = entry.state.map(Into::into);
        life.inode = entry.inode;
        life.access = entry.readable.zip(entry.writable);
        life.size = entry.size;
        life.offset = entry.offset.unwrap_or(0);
        life.opened_by = (0, entry.line);
        life.epoll_token = self.epoll_tokens.get(&(process, fd)).copied();
        let watched = life.name.clone().filter(|name| life.kind == FdKind::Epoll && name.contains('='));
        let id = self.fds.add(life);
        self.install(process, fd, id, false, Timestamp::UNKNOWN);
        self.know_socket(process, id, socket.as_deref().map(str::as_bytes));
        if let Some(watched) = watched {
            self.tokens(process, &watched);
        }
    }

    /// What an epoll calls the descriptors that it watches, which a snapshot of it tells: `[eventpoll:3=0x55d0c1b2c2a0,4]`.
    fn tokens(&mut self, process: ProcessId, watched: &str) {
        let list = watched.strip_prefix("[eventpoll:").and_then(|list| list.strip_suffix(']'));
        for (fd, token) in
            list.into_iter().flat_map(|list| list.split(',')).filter_map(|one| one.split_once("=0x"))
        {
            let (Ok(fd), Ok(token)) = (fd.parse::<i32>(), u64::from_str_radix(token, 16)) else { continue };
            if self.epoll_tokens.len() < Self::MAX_SNAPSHOT_FDS as usize {
                self.epoll_tokens.insert((process, fd), token);
            }
            let known = self.open_at(process, fd).map(|(id, _)| id);
            if let Some(life) = known.and_then(|id| self.fds.get_mut(id)) {
                life.epoll_token.get_or_insert(token);
            }
        }
    }

    /// Gives sockets that only show an inode the ends that `/proc/net/*` shows for it.
    pub(super) fn join_inodes(&mut self) {
        if self.net_rows.is_empty() {
            return;
        }
        let open: Vec<LifeId> = self
            .fds
            .open()
            .filter(|(_, life)| life.ends.is_none() && life.inode.is_some())
            .map(|(id, _)| id)
            .collect();
        for id in open {
            let Some(life) = self.fds.get_mut(id) else {
                continue;
            };
            if let Some(row) = life.inode.and_then(|inode| self.net_rows.get(&inode)) {
                life.kind = row.kind;
                life.ends = row.ends.clone().map(Box::new);
                life.state = row.state.clone().map(Into::into);
                life.listening = row.state.as_deref() == Some("LISTEN");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Facts;
    use whyslow_model::fd::{FdEntry, FdKind};
    use whyslow_model::{Event, Sink};

    #[test]
    fn an_epoll_that_was_there_tells_what_it_calls_its_descriptors() {
        let mut facts = Facts::default();
        let mut push = |fd, kind, name: &str| {
            let name = Some(name.to_string());
            facts.push(Event::Fd(Box::new(FdEntry {
                pid: Some(7),
                fd: Some(fd),
                kind,
                name,
                ..FdEntry::default()
            })));
        };
        push(3, FdKind::Pipe, "pipe");
        push(4, FdKind::Epoll, "[eventpoll:3=0x55d0c1b2c2a0,5=0xffffffffffffffff,6,7=0xz]");
        push(5, FdKind::Pipe, "pipe");
        push(6, FdKind::Pipe, "pipe");
        let process = facts.world.threads.find_process(7).unwrap();
        let token = |fd| facts.world.life_of(process, fd).unwrap().epoll_token;
        assert_eq!([3, 5, 6].map(token), [Some(0x55d0_c1b2_c2a0), Some(u64::MAX), None]);
    }
}
