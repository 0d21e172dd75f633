//! Files that a process has mapped (roles `mem` and `DEL`), and its mounts that are on a server.

use super::owner::Owner;
use super::root::{ProcRoot, bounded, decimal, read_at_most};
use std::collections::{HashMap, HashSet};
use whyslow_model::{FdEntry, FdKind, Tid};

/// Bytes read of `maps`: some 100,000 mappings.
const MAPS: u64 = 16 << 20;
/// Mapped files told of one process. More are parts of one data set, and the tables hold descriptors first.
const MOST: usize = 4096;

/// Each mapped file once, but the program itself (`exe`: device and inode).
pub(super) fn each(
    root: &ProcRoot,
    owner: &Owner,
    exe: Option<(String, u64)>,
    mut take: impl FnMut(FdEntry),
) {
    let Ok(text) = read_at_most(&root.of(owner.pid, "maps"), MAPS) else { return };
    let mut seen: HashSet<(String, u64)> = exe.into_iter().collect();
    for line in text.split(|byte| *byte == b'\n') {
        let Some(mapping) = Mapping::parse(line) else { continue };
        if seen.len() > MOST || !seen.insert((mapping.device.clone(), mapping.inode)) {
            continue;
        }
        let mut entry = owner.entry(None);
        let name = mapping.path.strip_suffix(b" (deleted)");
        entry.deleted = name.is_some();
        entry.role = Some(if entry.deleted { "DEL" } else { "mem" }.to_string());
        entry.name = Some(bounded(name.unwrap_or(mapping.path)));
        entry.kind = match FdKind::of_path(mapping.path) {
            // Shared memory without a file (`/dev/zero (deleted)`) and what else is mapped is a file.
            FdKind::Device | FdKind::DevNull | FdKind::Terminal if entry.deleted => FdKind::File,
            kind => kind,
        };
        entry.device = Some(mapping.device);
        entry.inode = Some(mapping.inode);
        take(entry);
    }
}

/// A line of `/proc/PID/maps` that has a file (proc_pid_maps(5)). A newline in a name stands as `\012`.
struct Mapping<'a> {
    device: String,
    inode: u64,
    path: &'a [u8],
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a [u8]) -> Option<Mapping<'a>> {
        let path = line.get(memchr::memchr(b'/', line)?..)?;
        let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let device = std::str::from_utf8(words.nth(3)?).ok()?;
        let (major, minor) = device.split_once(':')?;
        let hex = |text| u32::from_str_radix(text, 16).ok();
        let inode = decimal(words.next()?).filter(|inode| *inode != 0)?;
        Some(Mapping { device: format!("{},{}", hex(major)?, hex(minor)?), inode, path })
    }
}

/// The mounts of a process whose files are on a server: mount id to `nas1:/export/home`.
pub(super) fn remote_mounts(root: &ProcRoot, pid: Tid) -> HashMap<u64, String> {
    let text = read_at_most(&root.of(pid, "mountinfo"), 4 << 20).unwrap_or_default();
    text.split(|byte| *byte == b'\n').filter_map(remote_mount).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - nfs4 nas1:/export rw` (proc_pid_mountinfo(5)).
fn remote_mount(line: &[u8]) -> Option<(u64, String)> {
    let id = decimal(line.split(|byte| *byte == b' ').next()?)?;
    let behind = line.get(memchr::memmem::find(line, b" - ")? + 3..)?;
    let mut words = behind.split(|byte| *byte == b' ');
    let is_remote = matches!(
        words.next()?,
        b"nfs"
            | b"nfs4"
            | b"cifs"
            | b"smb3"
            | b"ceph"
            | b"9p"
            | b"afs"
            | b"glusterfs"
            | b"lustre"
            | b"fuse.sshfs"
            | b"fuse.glusterfs"
            | b"fuse.s3fs"
    );
    is_remote.then_some((id, bounded(words.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let line = b"7f0c5a400000-7f0c5a428000 r--p 00000000 fe:00 326269                     /usr/lib/x y.so (deleted)";
        let mapping = Mapping::parse(line).expect("a mapping");
        assert_eq!((mapping.device.as_str(), mapping.inode), ("254,0", 326_269));
        assert_eq!(mapping.path, b"/usr/lib/x y.so (deleted)");
        for line in [
            &b"7ffd000-7ffe000 rw-p 00000000 00:00 0 [stack]"[..],
            b"7ffd000-7ffe000 rw-p 00000000 00:00 0 ",
            b"/",
            b"",
        ] {
            assert!(Mapping::parse(line).is_none());
        }
    }

    #[test]
    fn mounts_on_servers() {
        let nfs =
            remote_mount(b"36 35 0:44 / /home rw,noatime shared:1 - nfs4 nas1:/export/home rw,vers=4.2");
        assert_eq!(nfs, Some((36, "nas1:/export/home".to_string())));
        assert_eq!(remote_mount(b"22 1 254:0 / / rw - ext4 /dev/vda rw"), None);
        assert_eq!(remote_mount(b"x"), None);
    }
}
