//! Who has a socket open: the descriptors of all processes, looked through so seldom that it costs a small share of a CPU.

use crate::context::Context;
use crate::files::open_dir;
use crate::out::Row;
use crate::pace::{Pace, cpu_time};
use hashbrown::{HashMap, HashSet};
use rustix::fs::RawDir;
use std::mem::MaybeUninit;
use whyslow_counters::text;
use whyslow_model::Trait;
use whyslow_model::text::bounded;

/// Share of a CPU that it may cost in the long run.
const SHARE: f64 = 0.0005;
/// Descriptors looked at in one go: a fifth of a second.
const MOST_LINKS: usize = 100_000;
/// Sockets whose owners are kept, those that are gone among them.
const MOST: usize = 65_536;
/// Seconds after which owners are sought anew: a worker may have taken a socket over.
const STALE: f64 = 60.0;

/// A process that has a socket open.
#[derive(Clone, Debug)]
struct Owner {
    pid: u32,
    name: Box<str>,
}

/// Owners of sockets, by inode number.
pub(super) struct Owners {
    known: HashMap<u32, Owner>,
    /// Sought and not found: of another pid namespace, of a process that may not be looked at, or the kernel's own.
    nobodys: HashSet<u32>,
    pace: Pace,
    /// Seconds since boot at the last search.
    searched: f64,
    links: Vec<MaybeUninit<u8>>,
}

impl Default for Owners {
    fn default() -> Owners {
        Owners {
            known: HashMap::new(),
            nobodys: HashSet::new(),
            pace: Pace::new(SHARE),
            searched: 0.0,
            links: vec![MaybeUninit::uninit(); 32 << 10],
        }
    }
}

impl Owners {
    /// Says of each row whose socket it is, as far as known.
    pub(super) fn tell(&mut self, rows: &mut [(u32, Row)], context: &mut Context<'_>) {
        let is_stale = context.uptime - self.searched > STALE;
        let unknown = |inode: &u32| !self.known.contains_key(inode) && !self.nobodys.contains(inode);
        let is_new = rows.iter().any(|(inode, _)| unknown(inode));
        if (is_new || is_stale && !rows.is_empty()) && self.pace.is_due(context.uptime) {
            let began = cpu_time();
            self.search(rows.iter().map(|(inode, _)| *inode).collect(), context);
            self.searched = context.uptime;
            self.pace.took(context.uptime, cpu_time() - began);
        }
        for (inode, row) in rows {
            if let Some(owner) = self.known.get(inode) {
                row.say(Trait::Name, owner.name.clone());
                row.say(Trait::Owner, owner.pid.to_string());
            }
        }
    }

    fn search(&mut self, mut wanted: HashSet<u32>, context: &mut Context<'_>) {
        if self.known.len() + self.nobodys.len() > MOST {
            self.known.clear();
            self.nobodys.clear();
        }
        for inode in &wanted {
            self.known.remove(inode);
            self.nobodys.remove(inode);
        }
        let mut pids = Vec::new();
        let listed = rustix::io::fcntl_dupfd_cloexec(context.reader.proc_dir(), 0)
            .and_then(|proc| context.reader.numbers(&proc, &mut pids));
        if listed.is_err() {
            return;
        }
        // The least number is that of the parent, nearly always.
        pids.sort_unstable();
        let mut links = 0;
        for pid in pids {
            if wanted.is_empty() || links >= MOST_LINKS {
                break;
            }
            let Ok(folder) = open_dir(context.reader.proc_dir(), format!("{pid}/fd")) else { continue };
            let mut found = Vec::new();
            let mut entries = RawDir::new(&folder, &mut self.links);
            while let Some(Ok(entry)) = entries.next() {
                links += 1;
                // A process with a million descriptors does not hide those behind it.
                if links >= MOST_LINKS {
                    break;
                }
                // Both are short: `7`, `socket:[4711]`.
                let mut target = [0u8; 64];
                let read = rustix::fs::readlinkat_raw(&folder, entry.file_name(), &mut target[..]);
                let inode = read.ok().and_then(|length| socket_inode(target.get(..length)?));
                found.extend(inode.filter(|inode| wanted.remove(inode)));
            }
            if found.is_empty() {
                continue;
            }
            let name = context.reader.proc(&format!("{pid}/comm")).map(|name| bounded(name.trim_ascii_end()));
            let name: Box<str> = name.unwrap_or_default().into();
            self.known.extend(found.into_iter().map(|inode| (inode, Owner { pid, name: name.clone() })));
        }
        self.nobodys.extend(wanted);
    }
}

/// `socket:[12]`.
fn socket_inode(target: &[u8]) -> Option<u32> {
    let number = target.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    text::number(number).and_then(|inode| u32::try_from(inode).ok())
}

#[cfg(test)]
mod tests {
    use super::socket_inode;

    #[test]
    fn links_of_sockets() {
        assert_eq!(socket_inode(b"socket:[4711]"), Some(4711));
        for other in
            [&b"pipe:[1]"[..], b"socket:[]", b"socket:[x]", b"socket:[1", b"", b"socket:[99999999999]"]
        {
            assert_eq!(socket_inode(other), None);
        }
    }
}
