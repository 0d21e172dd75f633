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
        let id = self.fds.add(life);
        self.install(process, fd, id, false, Timestamp::UNKNOWN);
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
