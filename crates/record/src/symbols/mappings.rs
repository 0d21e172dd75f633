//! The executable mappings of a process, and the files behind them, held open.

use super::separate::{RootId, Roots};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use whyslow_model::Tid;
use whyslow_unwind::inside;

/// Bytes read of `/proc/PID/maps`.
const MAPS: u64 = 16 << 20;
/// As long as most are: room from the beginning saves the short reads by which unknown lengths are found.
const MAPS_USUAL: usize = 32 << 10;
/// Files held open. Past this a file is found as long as its process lives.
const MAX_OPEN: usize = 512;
/// Files known at all; more are not symbolised.
const MAX_FILES: usize = 1 << 16;

/// Number of a file in [`Files`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct FileId(u32);

/// The files that processes have mapped, by device and inode.
#[derive(Debug, Default)]
pub(super) struct Files {
    numbers: HashMap<(Vec<u8>, u64, Vec<u8>), FileId>,
    /// Never closed and never taken out: the symbolizer knows a file by its path below `/proc/self/fd`.
    files: Vec<Held>,
    open: usize,
    roots: Roots,
}

#[derive(Debug)]
struct Held {
    path: PathBuf,
    _open: Option<File>,
    /// Of the process that had it first, and its path there.
    root: Option<RootId>,
    own: PathBuf,
}

impl Files {
    /// Where the file can be read now.
    pub(super) fn path(&self, id: FileId) -> &Path {
        self.files.get(id.0 as usize).map_or(Path::new(""), |held| &held.path)
    }

    /// The root of a process that has the file mapped, and the file's path there.
    pub(super) fn origin(&self, id: FileId) -> (Option<RootId>, &Path) {
        self.files.get(id.0 as usize).map_or((None, Path::new("")), |held| (held.root, &held.own))
    }

    pub(super) fn roots(&self) -> &Roots {
        &self.roots
    }

    /// The file of a line of `maps`.
    fn file(&mut self, pid: Tid, range: &[u8], device: &[u8], inode: u64, path: &[u8]) -> Option<FileId> {
        let key = (device.to_vec(), inode, path.to_vec());
        if let Some(known) = self.numbers.get(&key) {
            return Some(*known);
        }
        if self.files.len() >= MAX_FILES {
            return None;
        }
        let own = path.strip_suffix(b" (deleted)").unwrap_or(path);
        let own = Path::new(std::ffi::OsStr::from_bytes(own));
        // `maps` writes eight digits at least, `map_files` no zeros (fs/proc/base.c, `proc_map_files_readdir`).
        let range = String::from_utf8_lossy(range);
        let ends: Vec<&str> = range.split('-').map(|end| end.trim_start_matches('0')).collect();
        let range = ends.join("-");
        // The very file, whatever has its name by now; it takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
        let exact = PathBuf::from(format!("/proc/{pid}/map_files")).join(range);
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        let is_regular = std::fs::metadata(&exact).is_ok_and(|about| about.is_file());
        let open_exact = || is_regular.then(|| File::open(&exact).ok()).flatten();
        let open =
            (self.open < MAX_OPEN).then(|| open_exact().or_else(|| inside::open(&root, own).ok())).flatten();
        // Never the path alone: in the recorder's root it may be another file, or none that can be read to its end.
        let path = match &open {
            Some(file) => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
            None if is_regular => exact,
            None => PathBuf::new(),
        };
        self.open += usize::from(open.is_some());
        let id = FileId(self.files.len() as u32);
        self.files.push(Held { path, _open: open, root: self.roots.of(pid), own: own.to_path_buf() });
        self.numbers.insert(key, id);
        Some(id)
    }
}

/// One executable mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    file: Option<(FileId, u64)>,
    /// A path, `[vdso]`, or nothing.
    name: String,
}

/// Where an address is.
#[derive(Debug)]
pub(super) struct Mapped<'a> {
    /// The file and the offset in it; `None` for memory without one.
    pub(super) file: Option<(FileId, u64)>,
    /// The path in the process's own mount namespace, `[vdso]`, or nothing.
    pub(super) name: &'a str,
}

impl Mapped<'_> {
    /// False for memory that only code of the program's own making can be in.
    pub(super) fn is_named(&self) -> bool {
        !self.name.is_empty()
    }
}

/// The executable mappings of a process, in order.
#[derive(Debug, Default)]
pub(super) struct Mappings(Vec<Mapping>);

impl Mappings {
    /// Reads them; `None` where the process has ended or may not be looked at.
    pub(super) fn read(pid: Tid, files: &mut Files) -> Option<Mappings> {
        let mut text = Vec::with_capacity(MAPS_USUAL);
        File::open(format!("/proc/{pid}/maps")).ok()?.take(MAPS).read_to_end(&mut text).ok()?;
        let found =
            Mappings::parse(&text, |range, device, inode, path| files.file(pid, range, device, inode, path));
        // A kernel thread, and a process that is ending, have none.
        (!found.0.is_empty()).then_some(found)
    }

    /// `7f0c5a400000-7f0c5a428000 r-xp 00028000 fe:00 326269    /usr/lib/libc.so.6` (proc_pid_maps(5)).
    fn parse(text: &[u8], mut file: impl FnMut(&[u8], &[u8], u64, &[u8]) -> Option<FileId>) -> Mappings {
        let hex = |text: &[u8]| u64::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok();
        let mut line = |line: &[u8]| {
            let mut words = line.splitn(6, |byte| *byte == b' ');
            let range = words.next()?;
            let dash = memchr::memchr(b'-', range)?;
            let (start, end) = (hex(&range[..dash])?, hex(&range[dash + 1..])?);
            if words.next()?.get(2) != Some(&b'x') {
                return None;
            }
            let offset = hex(words.next()?)?;
            let device = words.next()?;
            let inode = std::str::from_utf8(words.next()?).ok()?.parse().ok()?;
            let path = words.next().unwrap_or(b"").trim_ascii_start();
            let is_file = inode != 0 && path.first() == Some(&b'/');
            let file = is_file.then(|| file(range, device, inode, path)).flatten().map(|id| (id, offset));
            // A JIT may write its code to a file without a name (`/memfd:…`, `/dev/zero`), which is none to look into.
            let path = if path.starts_with(b"//anon") || path.starts_with(b"[anon") { b"" } else { path };
            let name = path.strip_suffix(b" (deleted)").unwrap_or(path);
            let jit = path.starts_with(b"/memfd:") || name == b"/dev/zero" && path != name;
            let file = file.filter(|_| !jit);
            let name = if jit { String::new() } else { String::from_utf8_lossy(name).into_owned() };
            (start < end).then_some(Mapping { start, end, file, name })
        };
        let mut found: Vec<Mapping> = text.split(|byte| *byte == b'\n').filter_map(&mut line).collect();
        found.sort_by_key(|mapping| mapping.start);
        Mappings(found)
    }

    pub(super) fn find(&self, address: u64) -> Option<Mapped<'_>> {
        let behind = self.0.partition_point(|mapping| mapping.start <= address);
        let mapping = self.0.get(behind.checked_sub(1)?).filter(|mapping| address < mapping.end)?;
        let file = mapping.file.map(|(file, offset)| (file, offset.wrapping_add(address - mapping.start)));
        Some(Mapped { file, name: &mapping.name })
    }

    /// True where these may be those of the same program as `before`, later: its first file is where it was.
    pub(super) fn extends(&self, before: &Mappings) -> bool {
        let Some(first) = before.0.iter().find(|mapping| mapping.file.is_some()) else { return true };
        self.0.iter().any(|mapping| mapping.start == first.start && mapping.file == first.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAPS: &[u8] = b"\
55d0e0a00000-55d0e0a01000 r--p 00000000 fe:00 100                        /srv/a b
55d0e0a01000-55d0e0a05000 r-xp 00001000 fe:00 100                        /srv/a b
7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \n7f0000020000-7f0000030000 rwxp 00000000 00:01 99                          /memfd:jit (deleted)
7ffd7f5f0000-7ffd7f5f2000 r-xp 00000000 00:00 0                          [vdso]
rubbish
";

    #[test]
    fn addresses_are_found() {
        let maps = Mappings::parse(MAPS, |_, _, inode, _| Some(FileId(inode as u32)));
        let found = maps.find(0x55d0_e0a0_1010).expect("mapped");
        assert_eq!((found.file, found.name), (Some((FileId(100), 0x1010)), "/srv/a b"));
        // Not executable; between mappings; behind all.
        for address in [0x55d0_e0a0_0010, 0x7eff_0000_0000, 0x55d0_e0a0_5000, u64::MAX, 0] {
            assert!(maps.find(address).is_none(), "{address:x}");
        }
        for jit in [0x7f00_0000_0001, 0x7f00_0002_0001] {
            assert!(maps.find(jit).is_some_and(|found| found.file.is_none() && !found.is_named()));
        }
        assert_eq!(maps.find(0x7ffd_7f5f_0000).map(|found| found.name), Some("[vdso]"));
        assert!(maps.extends(&maps) && !Mappings::default().extends(&maps));
    }

    proptest! {
        #[test]
        fn any_damage_is_survived(at in 0usize..500, bytes in prop::collection::vec(any::<u8>(), 0..40), removed in 0usize..40, address in any::<u64>()) {
            let mut data = MAPS.to_vec();
            let from = at.min(data.len());
            data.splice(from..(from + removed).min(data.len()), bytes);
            let _ = Mappings::parse(&data, |_, _, _, _| Some(FileId(1))).find(address);
        }
    }
}
