//! Reading the kernel's small files: relative to directories that are kept open, into one buffer.

use crate::options::Root;
use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes read of one file: /proc/interrupts of 512 CPUs is below.
const MOST: usize = 8 << 20;

/// What is read with: one buffer, used again for each file.
pub(crate) struct Reader {
    /// /proc.
    proc: OwnedFd,
    root: Root,
    buffer: Vec<u8>,
    /// Of these, what the last file filled.
    filled: usize,
    entries: Vec<MaybeUninit<u8>>,
}

/// Opens a directory for reading below it.
pub(crate) fn open_dir(at: impl AsFd, path: impl AsRef<Path>) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(at, path.as_ref(), flags, Mode::empty())
}

/// Opens a file for reading.
pub(crate) fn open_file(at: impl AsFd, path: impl rustix::path::Arg) -> Result<File, Errno> {
    // A made-up tree may hold a FIFO: it must not be waited for.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    rustix::fs::openat(at, path, flags, Mode::empty()).map(File::from)
}

impl Reader {
    pub(crate) fn new(root: &Root) -> Result<Reader, Errno> {
        let proc = open_dir(CWD, root.path("/proc"))?;
        Ok(Reader {
            proc,
            root: root.clone(),
            buffer: vec![0; 64 << 10],
            filled: 0,
            entries: vec![MaybeUninit::uninit(); 32 << 10],
        })
    }

    /// /proc, kept open.
    pub(crate) fn proc_dir(&self) -> BorrowedFd<'_> {
        self.proc.as_fd()
    }

    /// A file below /proc.
    pub(crate) fn proc(&mut self, name: &str) -> Result<&[u8], Errno> {
        let file = open_file(&self.proc, name)?;
        self.kept(&file)
    }

    /// A file of /sys or /etc, by its absolute path.
    pub(crate) fn file(&mut self, path: impl AsRef<Path>) -> Result<&[u8], Errno> {
        let file = open_file(CWD, self.root.path(path).as_path())?;
        self.kept(&file)
    }

    /// A file below an open directory.
    pub(crate) fn at(&mut self, dir: impl AsFd, name: impl rustix::path::Arg) -> Result<&[u8], Errno> {
        let file = open_file(dir, name)?;
        self.kept(&file)
    }

    /// A file that is kept open, from its beginning.
    pub(crate) fn kept(&mut self, file: &File) -> Result<&[u8], Errno> {
        let mut filled = 0;
        self.filled = 0;
        loop {
            let read = match file.read_at(&mut self.buffer[filled..], filled as u64) {
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO)),
            };
            filled += read;
            // A short read is not the end of a file of /proc, unless there is much room left.
            if read == 0 || filled < self.buffer.len() / 2 && read > 0 && self.is_whole(filled) {
                break;
            }
            if filled == self.buffer.len() {
                if filled >= MOST {
                    break;
                }
                self.buffer.resize(filled * 2, 0);
            }
        }
        self.filled = filled;
        Ok(self.last())
    }

    /// What was read last.
    pub(crate) fn last(&self) -> &[u8] {
        &self.buffer[..self.filled]
    }

    /// The kernel gives a file of one page or less at once: no second read is needed to see its end.
    fn is_whole(&self, filled: usize) -> bool {
        filled < 4000 && self.buffer[filled - 1] == b'\n'
    }

    /// The names in a directory that are numbers, in the kernel's order.
    pub(crate) fn numbers(&mut self, dir: impl AsFd, into: &mut Vec<u32>) -> Result<(), Errno> {
        into.clear();
        rustix::fs::seek(dir.as_fd(), rustix::fs::SeekFrom::Start(0))?;
        let mut entries = RawDir::new(dir.as_fd(), &mut self.entries);
        while let Some(entry) = entries.next() {
            // A process that ends while its directory is read ends the list, and is no error.
            let Ok(entry) = entry else { break };
            let number = whyslow_counters::text::number(entry.file_name().to_bytes());
            into.extend(number.and_then(|number| u32::try_from(number).ok()));
        }
        Ok(())
    }

    /// How many entries a directory has, without `.` and `..`.
    pub(crate) fn count(&mut self, dir: impl AsFd) -> u64 {
        let mut entries = RawDir::new(dir.as_fd(), &mut self.entries);
        let mut count = 0;
        while let Some(Ok(entry)) = entries.next() {
            count += u64::from(!entry.file_name().to_bytes().starts_with(b"."));
        }
        count
    }

    /// The directories in one, in order of their names.
    pub(crate) fn folders(&mut self, dir: impl AsFd) -> Vec<OsString> {
        let mut names = Vec::new();
        let mut entries = RawDir::new(dir.as_fd(), &mut self.entries);
        while let Some(Ok(entry)) = entries.next() {
            let name = entry.file_name().to_bytes();
            let is_folder = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            if is_folder && !name.starts_with(b".") && names.len() < MOST_NAMES {
                names.push(OsStr::from_bytes(name).to_os_string());
            }
        }
        names.sort();
        names
    }

    /// The names in a directory of /sys; empty where it cannot be read.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.root.path(path)) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .map_while(Result::ok)
            .take(MOST_NAMES)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// Names taken of one directory of /sys.
const MOST_NAMES: usize = 65_536;
