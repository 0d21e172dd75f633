//! What a watched process has open that work can wait in: pipes that it reads, and sockets.
//!
//! A pipe is asked by a descriptor of ours for the same open pipe (pidfd_getfd(2)), which is closed at once. To open it by
//! /proc/PID/fd instead would add a reader: the writer would get no EPIPE. Ours is no further reader, it is the target's. For some
//! microseconds it keeps the pipe open: if the target closes it just then, the writer's EPIPE and the end of file come that much later.

use crate::target::ports::socket_inode;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use whyslow_model::text::bounded;

/// A pipe or FIFO that a process reads.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) inode: u64,
    fd: i32,
    /// The name of the link, and what it shows.
    link: CString,
    shows: Vec<u8>,
}

impl Pipe {
    /// What people call it: pipes that are neither the standard input nor have a path are one row.
    pub(super) fn name(&self) -> String {
        match self.fd {
            _ if self.shows.first() == Some(&b'/') => bounded(&self.shows),
            0 => "the standard input".to_string(),
            _ => "its pipes".to_string(),
        }
    }
}

/// What one process has open, as far as work can wait in it.
#[derive(Debug, Default)]
pub(super) struct Opened {
    pub(super) pipes: Vec<Pipe>,
    pub(super) sockets: Vec<u64>,
    /// Descriptors that were looked at, and that were not.
    pub(super) looked: usize,
    pub(super) left_out: u64,
}

/// A process by handles that stay its own: another one that gets its number is not taken for it.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    handle: OwnedFd,
    links: OwnedFd,
}

impl Process {
    /// # Errors
    /// It ended, or may not be looked at.
    pub(super) fn open(pid: u32) -> rustix::io::Result<Process> {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let handle = rustix::process::pidfd_open(number, PidfdFlags::empty())?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let links = rustix::fs::open(format!("/proc/{pid}/fd"), flags, Mode::empty())?;
        Ok(Process { pid, handle, links })
    }

    /// Lists it, and looks at `most` descriptors.
    ///
    /// # Errors
    /// It ended, or may not be looked at.
    pub(super) fn list(&self, most: usize) -> rustix::io::Result<Opened> {
        let mut opened = Opened::default();
        // Pipes that the process writes too: it gives itself work, or they are a lock or a box of tokens.
        let mut own = HashSet::new();
        let mut buffer = Vec::new();
        // Of a process that ended there is not even the entry for the directory itself.
        let mut is_there = false;
        for entry in Dir::read_from(&self.links)? {
            let entry = entry?;
            is_there = true;
            let Ok(fd) = entry.file_name().to_str().unwrap_or_default().parse::<i32>() else { continue };
            if opened.looked >= most {
                opened.left_out += 1;
                continue;
            }
            opened.looked += 1;
            let Ok(target) = rustix::fs::readlinkat(&self.links, entry.file_name(), buffer) else {
                buffer = Vec::new();
                continue;
            };
            let shows = target.as_bytes();
            if let Some(inode) = socket_inode(shows) {
                opened.sockets.push(inode);
            } else if let Some(inode) = self.pipe_inode(entry.file_name(), shows) {
                // The owner's bits of the link tell how it is open.
                let link = rustix::fs::statat(&self.links, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                let mode = link.map_or(0, |link| link.st_mode);
                if mode & 0o200 != 0 {
                    own.insert(inode);
                } else if mode & 0o400 != 0 {
                    let link = entry.file_name().to_owned();
                    opened.pipes.push(Pipe { inode, fd, link, shows: shows.to_vec() });
                }
            }
            buffer = target.into_bytes();
        }
        if !is_there {
            return Err(Errno::SRCH);
        }
        opened.pipes.retain(|pipe| !own.contains(&pipe.inode));
        Ok(opened)
    }

    /// The inode number of a pipe, or of a FIFO, which has a path.
    fn pipe_inode(&self, link: &CStr, shows: &[u8]) -> Option<u64> {
        if let Some(number) = shows.strip_prefix(b"pipe:[").and_then(|rest| rest.strip_suffix(b"]")) {
            return std::str::from_utf8(number).ok()?.parse().ok();
        }
        let is_path = shows.first() == Some(&b'/')
            && !["/dev/", "/proc/", "/sys/"].iter().any(|below| shows.starts_with(below.as_bytes()));
        if !is_path {
            return None;
        }
        // What the kernel has in its memory: never waits for a server that does not answer.
        let wanted = StatxFlags::TYPE | StatxFlags::INO;
        let stat = rustix::fs::statx(&self.links, link, AtFlags::STATX_DONT_SYNC, wanted).ok()?;
        let is_fifo = FileType::from_raw_mode(u32::from(stat.stx_mode)) == FileType::Fifo;
        is_fifo.then_some(stat.stx_ino)
    }

    /// The bytes in a pipe. `None` where the number is another thing's by now.
    ///
    /// # Errors
    /// It ended, or its descriptors may not be had.
    pub(super) fn bytes_in(&self, pipe: &Pipe) -> rustix::io::Result<Option<u64>> {
        // Looked at first: to close another file's descriptor may write it out (NFS, FUSE).
        let mut shows = [0; 256];
        let length = rustix::fs::readlinkat_raw(&self.links, pipe.link.as_c_str(), &mut shows)?;
        if shows.get(..length) != pipe.shows.get(..pipe.shows.len().min(shows.len())) {
            return Ok(None);
        }
        let ours = rustix::process::pidfd_getfd(&self.handle, pipe.fd, PidfdGetfdFlags::empty())?;
        let stat = rustix::fs::fstat(&ours)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Fifo || stat.st_ino != pipe.inode {
            return Ok(None);
        }
        rustix::io::ioctl_fionread(&ours).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Child, Command, Stdio};

    /// A program that reads nothing from its standard input; its own pipe is both read and written.
    fn reader() -> (Child, Process) {
        let child = Command::new("sleep").arg("60").stdin(Stdio::piped()).spawn().expect("sleep");
        let process = Process::open(child.id()).expect("our child");
        (child, process)
    }

    #[test]
    fn bytes_are_told_and_the_writer_still_gets_its_error() {
        let (mut child, process) = reader();
        let mut stdin = child.stdin.take().expect("a pipe");
        let opened = process.list(64).expect("listed");
        let pipe = opened.pipes.iter().find(|pipe| pipe.name() == "the standard input");
        let pipe = pipe.expect("a pipe that is only read");
        assert_eq!(process.bytes_in(pipe), Ok(Some(0)));
        stdin.write_all(b"one row\n").expect("written");
        assert_eq!(process.bytes_in(pipe), Ok(Some(8)));
        child.kill().expect("killed");
        child.wait().expect("ended");
        // No reader is left: ours was none.
        let error = stdin.write_all(b"x").expect_err("nobody reads");
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        assert!(process.bytes_in(pipe).is_err() && process.list(64).is_err());
    }

    #[test]
    fn a_pipe_that_a_process_writes_itself_and_a_number_that_was_given_away_are_not_asked() {
        let (near, far) = rustix::pipe::pipe().expect("a pipe");
        let (other, _far) = rustix::pipe::pipe().expect("a pipe");
        let own = Process::open(std::process::id()).expect("ourselves");
        let inode = |fd: &OwnedFd| rustix::fs::fstat(fd).expect("open").st_ino;
        let has =
            |inode: u64| own.list(4096).expect("listed").pipes.into_iter().find(|pipe| pipe.inode == inode);
        assert!(has(inode(&near)).is_none());
        drop(far);
        let pipe = has(inode(&near)).expect("only read");
        assert_eq!(own.bytes_in(&pipe), Ok(Some(0)));
        let mut near = near;
        rustix::io::dup2(&other, &mut near).expect("replaced");
        assert_eq!(own.bytes_in(&pipe), Ok(None));
    }

    #[test]
    fn what_is_beyond_the_bound_is_counted() {
        let own = Process::open(std::process::id()).expect("ourselves");
        let opened = own.list(1).expect("listed");
        assert!(opened.left_out > 0 && opened.pipes.len() + opened.sockets.len() <= 1);
    }
}
