//! Debug files that lie beside a program: by its build-id and by its link (gdb, "Debugging Information in Separate Files").
//! What is found is a file of a stranger: it is used where it says to be of this very program.

use super::elf::Outline;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use whyslow_model::Tid;
use whyslow_unwind::inside;

/// Where distributions install debug files.
pub(super) const SYSTEM: &str = "/usr/lib/debug";
/// Bytes of a debug file whose checksum is taken.
const MAX_SUMMED: u64 = 4 << 30;
/// Roots of processes held open; further ones have only the recorder's own folders.
const MAX_ROOTS: usize = 64;

/// The root of some processes.
#[derive(Debug)]
struct Root {
    /// Mount namespace, device and inode.
    key: (u64, u64, u64),
    folder: OwnedFd,
    is_ours: bool,
}

/// The roots of processes, held open: their debug files are sought when they have ended.
#[derive(Debug, Default)]
pub(super) struct Roots(Vec<Root>);

/// Number of a root in [`Roots`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RootId(usize);

impl Roots {
    pub(super) fn of(&mut self, pid: Tid) -> Option<RootId> {
        let key = root_of(&pid.to_string())?;
        if let Some(known) = self.0.iter().position(|root| root.key == key) {
            return Some(RootId(known));
        }
        if self.0.len() >= MAX_ROOTS {
            return None;
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(format!("/proc/{pid}/root"), flags, Mode::empty()).ok()?;
        let is_ours = root_of("self") == Some(key);
        self.0.push(Root { key, folder, is_ours });
        Some(RootId(self.0.len() - 1))
    }

    fn get(&self, id: RootId) -> Option<(PathBuf, bool)> {
        let root = self.0.get(id.0)?;
        Some((PathBuf::from(format!("/proc/self/fd/{}", root.folder.as_raw_fd())), root.is_ours))
    }
}

/// Of a process, by the name of its folder in `/proc`.
fn root_of(process: &str) -> Option<(u64, u64, u64)> {
    let root = std::fs::metadata(format!("/proc/{process}/root")).ok()?;
    let namespace = std::fs::metadata(format!("/proc/{process}/ns/mnt")).ok()?;
    Some((namespace.ino(), root.dev(), root.ino()))
}

/// A debug file.
#[derive(Debug)]
pub(super) struct Separate {
    pub(super) file: File,
    pub(super) outline: Outline,
    /// It is not cut short while it is mapped: only root, ourselves, or the owner of a folder that the user named may write to it.
    pub(super) is_lasting: bool,
    /// It may name a further file with what it shares with others (dwz).
    pub(super) may_link: bool,
}

/// Looks for debug files.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// Folders that the user named.
    folders: Vec<PathBuf>,
}

/// The program whose debug file is sought.
pub(super) struct Program<'a> {
    pub(super) file: &'a File,
    pub(super) outline: &'a Outline,
    /// Its path in its process's root.
    pub(super) path: &'a Path,
    pub(super) root: Option<RootId>,
}

/// A place where a debug file may be.
struct Candidate {
    root: PathBuf,
    path: PathBuf,
    /// In the recorder's own root.
    is_ours: bool,
    /// Below [`SYSTEM`].
    is_system: bool,
    /// In a folder that the user named.
    is_given: bool,
    /// Checksum that the link says.
    sum: Option<u32>,
}

impl Finder {
    pub(super) fn new(folders: &[PathBuf]) -> Finder {
        let folders = folders.iter().filter_map(|folder| std::path::absolute(folder).ok()).collect();
        Finder { folders }
    }

    /// The debug file of a program: in the folders that the user named, in its process's root, in the recorder's.
    pub(super) fn find(&self, program: &Program<'_>, roots: &Roots) -> Option<Separate> {
        self.places(program, roots).iter().find_map(|place| open(place, program))
    }

    fn places(&self, program: &Program<'_>, roots: &Roots) -> Vec<Candidate> {
        let own = program.root.and_then(|root| roots.get(root));
        let host = (PathBuf::from("/"), true);
        // Where the process has our root, each place is there once.
        let system: Vec<_> = match own {
            Some((_, true)) | None => vec![host.clone()],
            Some(own) => vec![own, host.clone()],
        };
        let system_folder = Path::new(SYSTEM);
        let mut places = Vec::new();
        let mut add = |root: &(PathBuf, bool), path: PathBuf, sum| {
            let is_system = path.starts_with(system_folder);
            let is_given = self.folders.iter().any(|folder| path.starts_with(folder)) && root.1;
            places.push(Candidate { root: root.0.clone(), path, is_ours: root.1, is_system, is_given, sum });
        };
        if let Some(id) = &program.outline.build_id {
            let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            let path = format!(".build-id/{}/{}.debug", &hex[..2], &hex[2..]);
            self.folders.iter().for_each(|folder| add(&host, folder.join(&path), None));
            system.iter().for_each(|root| add(root, system_folder.join(&path), None));
        }
        if let Some((name, sum)) = program.outline.debug_link(program.file) {
            let folder = program.path.parent().unwrap_or(Path::new("/"));
            let below = |top: &Path| top.join(folder.strip_prefix("/").unwrap_or(folder)).join(&name);
            for given in &self.folders {
                add(&host, below(given), Some(sum));
                add(&host, given.join(&name), Some(sum));
            }
            if let Some(own) = system.first().filter(|_| program.root.is_some()) {
                add(own, folder.join(&name), Some(sum));
                add(own, folder.join(".debug").join(&name), Some(sum));
            }
            system.iter().for_each(|root| add(root, below(system_folder), Some(sum)));
        }
        places
    }
}

/// The debug file at a place; `None` where there is none, or where it is of another program.
fn open(place: &Candidate, program: &Program<'_>) -> Option<Separate> {
    let file = inside::follow(&place.root, &place.path).ok()?;
    let (about, own) = (file.metadata().ok()?, program.file.metadata().ok()?);
    if (about.dev(), about.ino()) == (own.dev(), own.ino()) {
        return None;
    }
    let outline = Outline::read(&file)?;
    let is_same = match (&outline.build_id, &program.outline.build_id) {
        (Some(its), Some(own)) => its == own,
        // By a link alone: its checksum says.
        _ => place.sum.is_some(),
    };
    let has_symbols = outline.section(".symtab").is_some() || outline.section(".debug_info").is_some();
    if !is_same || !has_symbols || place.sum.is_some_and(|sum| checksum(&file) != Some(sum)) {
        return None;
    }
    // Who names a folder answers for those that it belongs to.
    let owners = [0, rustix::process::geteuid().as_raw()];
    let is_lasting =
        place.is_ours && about.mode() & 0o022 == 0 && (place.is_given || owners.contains(&about.uid()));
    Some(Separate { file, outline, is_lasting, may_link: is_lasting && place.is_system })
}

/// CRC32 of all of a file.
fn checksum(file: &File) -> Option<u32> {
    if file.metadata().ok()?.len() > MAX_SUMMED {
        return None;
    }
    let mut hasher = crc32fast::Hasher::new();
    let mut chunk = vec![0; 1 << 18];
    let mut whole = file.try_clone().ok()?;
    // Its outline was read before.
    whole.rewind().ok()?;
    let mut rest = whole.take(MAX_SUMMED);
    loop {
        match rest.read(&mut chunk).ok()? {
            0 => return Some(hasher.finalize()),
            read => hasher.update(&chunk[..read]),
        }
    }
}
