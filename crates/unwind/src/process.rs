//! A live process: its memory, its mappings and the files behind them.

use crate::{damage, inside};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why memory of a process could not be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MemoryError {
    /// The address is not mapped now, or the process has ended.
    #[error("memory at {0:#x} cannot be read")]
    Unreadable(u64),
    /// What is there cannot be what it should be: it is being changed, or it is of a layout that is not known.
    #[error("{0} is not as it should be")]
    Unlikely(&'static str),
}

/// One line of `/proc/PID/maps` (proc_pid_maps(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryMapping {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// Where it begins in its file.
    pub offset: u64,
    /// Code may be run there.
    pub executable: bool,
    /// It may be written.
    pub writable: bool,
    /// Device (as written) and inode; `None` for memory without a file.
    pub file: Option<(Box<str>, u64)>,
    /// The path in the process's own mount namespace, `[vdso]`, or nothing. ` (deleted)` is taken off.
    pub path: Box<str>,
}

impl MemoryMapping {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// A live process. Of one number may be another process later: who opens it drops it when the process ends or runs another program.
#[derive(Debug)]
pub struct Process {
    pid: u32,
    memory: File,
    mappings: Vec<MemoryMapping>,
}

impl Process {
    /// Bytes read of `/proc/PID/maps`.
    const MAPS: u64 = 16 << 20;

    /// Opens the memory of a process and reads its mappings.
    ///
    /// # Errors
    /// Where it has ended, or we may not read it (ptrace(2), "Ptrace access mode checking").
    pub fn open(pid: u32) -> io::Result<Process> {
        let memory = File::open(format!("/proc/{pid}/mem"))?;
        let mut process = Process { pid, memory, mappings: Vec::new() };
        process.read_mappings()?;
        Ok(process)
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Reads the mappings anew: libraries are loaded later, and runtimes map memory for their code.
    ///
    /// # Errors
    /// Where the process has ended.
    pub fn read_mappings(&mut self) -> io::Result<()> {
        let mut text = Vec::new();
        File::open(format!("/proc/{}/maps", self.pid))?.take(Process::MAPS).read_to_end(&mut text)?;
        self.mappings = mappings_of(&String::from_utf8_lossy(&text));
        Ok(())
    }

    /// Its mappings, by address.
    pub fn mappings(&self) -> &[MemoryMapping] {
        &self.mappings
    }

    /// The mapping of an address.
    pub fn mapping(&self, address: u64) -> Option<&MemoryMapping> {
        let behind = self.mappings.partition_point(|mapping| mapping.start <= address);
        self.mappings.get(behind.checked_sub(1)?).filter(|mapping| address < mapping.end)
    }

    /// The very file of a mapping, whatever has its name by now.
    ///
    /// # Errors
    /// Where it cannot be opened, or is no regular file.
    pub fn open_file(&self, mapping: &MemoryMapping) -> io::Result<File> {
        let range = format!("{:x}-{:x}", mapping.start, mapping.end);
        // It takes CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
        let exact = PathBuf::from(format!("/proc/{}/map_files", self.pid)).join(range);
        if std::fs::metadata(&exact).is_ok_and(|about| about.is_file())
            && let Ok(file) = File::open(&exact)
        {
            return Ok(file);
        }
        inside::open(&PathBuf::from(format!("/proc/{}/root", self.pid)), Path::new(&*mapping.path))
    }

    /// Its threads now.
    pub fn threads(&self) -> Vec<u32> {
        let Ok(folder) = std::fs::read_dir(format!("/proc/{}/task", self.pid)) else { return Vec::new() };
        folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Fills `into` with the memory at an address.
    ///
    /// # Errors
    /// Where not all of it can be read.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        // The offset of a file is signed: no address of a user has the highest bit set.
        if address > i64::MAX as u64 {
            return Err(MemoryError::Unreadable(address));
        }
        let is_read = self.memory.read_exact_at(into, address).is_ok() && damage::is_read(address, into);
        if is_read { Ok(()) } else { Err(MemoryError::Unreadable(address)) }
    }

    /// So many bytes at an address.
    ///
    /// # Errors
    /// Where not all of it can be read.
    pub fn array<const N: usize>(&self, address: u64) -> Result<[u8; N], MemoryError> {
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// A word of 8 bytes.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn u64(&self, address: u64) -> Result<u64, MemoryError> {
        self.array(address).map(u64::from_ne_bytes)
    }

    /// A word of 4 bytes.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn u32(&self, address: u64) -> Result<u32, MemoryError> {
        self.array(address).map(u32::from_ne_bytes)
    }

    /// A word of 2 bytes.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn u16(&self, address: u64) -> Result<u16, MemoryError> {
        self.array(address).map(u16::from_ne_bytes)
    }

    /// A byte.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn u8(&self, address: u64) -> Result<u8, MemoryError> {
        self.array(address).map(|[byte]| byte)
    }

    /// A text of a known length; what is no UTF-8 is replaced.
    ///
    /// # Errors
    /// Where it cannot be read, or is longer than `most` bytes.
    pub fn text(&self, address: u64, length: u64, most: usize) -> Result<String, MemoryError> {
        let length = usize::try_from(length).ok().filter(|length| *length <= most);
        let mut bytes = vec![0; length.ok_or(MemoryError::Unlikely("the length of a text"))?];
        self.read(address, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A text that ends in a zero byte, at most `most` bytes of it.
    ///
    /// # Errors
    /// Where its first byte cannot be read.
    pub fn c_text(&self, address: u64, most: usize) -> Result<String, MemoryError> {
        let mut text = Vec::new();
        let mut at = address;
        while text.len() < most {
            // Up to the end of its page: what is behind may not be mapped.
            let room = (0x100 - at % 0x100).min((most - text.len()) as u64) as usize;
            let mut piece = [0; 0x100];
            match self.read(at, &mut piece[..room]) {
                Ok(()) => {}
                Err(error) if text.is_empty() => return Err(error),
                Err(_) => break,
            }
            match piece[..room].iter().position(|byte| *byte == 0) {
                Some(end) => {
                    text.extend_from_slice(&piece[..end]);
                    break;
                }
                None => text.extend_from_slice(&piece[..room]),
            }
            at = at.wrapping_add(room as u64);
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

/// `7f0c5a400000-7f0c5a428000 r-xp 00028000 fe:00 326269    /usr/lib/libc.so.6`; lines that are none are passed over.
fn mappings_of(text: &str) -> Vec<MemoryMapping> {
    let one = |line: &str| {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let hex = |word: &str| u64::from_str_radix(word, 16).ok();
        let (start, end) = (hex(start)?, hex(end)?);
        let rights = words.next()?.as_bytes();
        let offset = hex(words.next()?)?;
        let device = words.next()?;
        let inode: u64 = words.next()?.parse().ok()?;
        let path = words.next().unwrap_or_default().trim_ascii_start();
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        let file = (inode != 0 && path.starts_with('/')).then(|| (device.into(), inode));
        let has = |at: usize, letter: u8| rights.get(at) == Some(&letter);
        (start < end).then(|| MemoryMapping {
            start,
            end,
            offset,
            executable: has(2, b'x'),
            writable: has(1, b'w'),
            file,
            path: path.into(),
        })
    };
    let mut found: Vec<MemoryMapping> = text.lines().filter_map(one).collect();
    found.sort_by_key(|mapping| mapping.start);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_memory_is_read() {
        let process = Process::open(std::process::id()).expect("our own");
        let text = *b"of our own\0";
        let address = text.as_ptr() as u64;
        assert_eq!(process.c_text(address, 64).as_deref(), Ok("of our own"));
        assert_eq!(process.text(address, 6, 64).as_deref(), Ok("of our"));
        assert_eq!(process.text(address, 65, 64), Err(MemoryError::Unlikely("the length of a text")));
        for nowhere in [0, 1, u64::MAX, u64::MAX - 7, 1 << 63] {
            assert_eq!(process.u64(nowhere), Err(MemoryError::Unreadable(nowhere)), "{nowhere:x}");
        }
        let stack = process.mapping(address).expect("mapped");
        assert!(stack.writable && !stack.executable);
        assert!(process.threads().contains(&std::process::id()));
    }

    #[test]
    fn mappings_are_read() {
        let text = "55d0e0a01000-55d0e0a05000 r-xp 00001000 fe:00 100                        /srv/a b\n\
                    7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \nrubbish\n\
                    7f0000020000-7f0000030000 rw-p 00000000 00:01 99                          /memfd:jit (deleted)\n";
        let found = mappings_of(text);
        assert_eq!(found.len(), 3);
        assert_eq!((&*found[0].path, found[0].name(), found[0].executable), ("/srv/a b", "a b", true));
        assert_eq!((found[1].file.as_ref(), found[1].writable), (None, true));
        assert_eq!(&*found[2].path, "/memfd:jit");
    }
}
