//! `lsof -F`: one field a line (with `-F0`, fields separated by NUL and a line for each set), led by a letter.

use super::row::Row;
use super::table::size_or_offset;
use crate::formats::fd_text::{MAX_TEXT, decimal, pid};
use whyslow_model::event::Tid;
use whyslow_model::{FdEntry, SourceId};

/// What is known of the process whose files follow.
#[derive(Debug, Default)]
struct Process {
    pid: Option<Tid>,
    tid: Option<Tid>,
    task: Vec<u8>,
    parent: Option<Tid>,
    comm: Vec<u8>,
    /// The login name, else the user's number.
    user: Vec<u8>,
    user_is_name: bool,
}

/// The fields of one file so far.
#[derive(Debug, Default)]
struct File {
    line: u64,
    fd: Vec<u8>,
    access: Option<u8>,
    lock: Option<u8>,
    kind: Vec<u8>,
    device: Vec<u8>,
    size: Option<u64>,
    offset: Option<u64>,
    inode: Vec<u8>,
    protocol: Vec<u8>,
    name: Option<Vec<u8>>,
    state: Vec<u8>,
    receiving: Option<u64>,
    sending: Option<u64>,
}

/// A file, complete, and what belongs to its process.
pub(super) struct Complete {
    pub(super) entry: FdEntry,
    pub(super) task: Option<String>,
    pub(super) parent: Option<Tid>,
}

/// Gathers fields until a file is complete.
#[derive(Debug, Default)]
pub(super) struct Fields {
    process: Process,
    file: Option<File>,
}

impl Fields {
    /// Takes a line; `None` where it is not of fields, else the file that its first field completed, if it did.
    /// With `-F0` the line is a whole set, of which only a process or a file can be the first: it completes one.
    pub(super) fn line(&mut self, line: &[u8], number: u64, source: SourceId) -> Option<Option<Complete>> {
        let mut complete = None;
        for (at, field) in line.split(|byte| *byte == 0).enumerate() {
            let Some((&letter, value)) = field.split_first() else {
                if at == 0 {
                    return None;
                }
                continue;
            };
            let value = value.get(..MAX_TEXT).unwrap_or(value);
            let done = self.field(letter, value, number, source)?;
            complete = complete.or(done);
        }
        Some(complete)
    }

    fn field(&mut self, letter: u8, value: &[u8], number: u64, source: SourceId) -> Option<Option<Complete>> {
        let mut complete = None;
        match letter {
            b'p' => {
                let pid = pid(value)?;
                complete = self.finish(source);
                self.process = Process { pid: Some(pid), ..Process::default() };
                return Some(complete);
            }
            b'm' if value.is_empty() || value.first() == Some(&b'=') => return Some(self.finish(source)),
            b'K' => self.process.tid = pid(value),
            b'M' => self.process.task = value.to_vec(),
            b'R' => self.process.parent = decimal(value),
            b'c' => self.process.comm = value.to_vec(),
            b'L' => {
                self.process.user = value.to_vec();
                self.process.user_is_name = true;
            }
            b'u' if !self.process.user_is_name => self.process.user = value.to_vec(),
            b'u' | b'g' | b'Z' | b'z' | b'x' | b'v' => {}
            // Without the process that they belong to, the fields of a file mean nothing.
            _ if self.process.pid.is_none() => return None,
            b'f' => {
                complete = self.finish(source);
                self.file = Some(File { line: number, fd: value.to_vec(), ..File::default() });
            }
            _ => {
                // lsof before 4.86 leaves the descriptor out where it was not asked for: a second name is another file.
                if letter == b'n' && self.file.as_ref().is_some_and(|file| file.name.is_some()) {
                    complete = self.finish(source);
                }
                let file = self.file.get_or_insert_with(|| File { line: number, ..File::default() });
                if !file_field(file, letter, value) {
                    return None;
                }
            }
        }
        Some(complete)
    }

    /// The file whose fields are complete, if there is one.
    pub(super) fn finish(&mut self, source: SourceId) -> Option<Complete> {
        let file = self.file.take()?;
        let process = &self.process;
        let mut fd = file.fd;
        fd.extend(file.access);
        if let Some(lock) = file.lock {
            fd.extend(file.access.is_none().then_some(b'-'));
            fd.push(lock);
        }
        let row = Row {
            comm: &process.comm,
            pid: process.pid?,
            tid: process.tid,
            task: &process.task,
            parent: process.parent,
            user: &process.user,
            fd: &fd,
            kind: &file.kind,
            device: &file.device,
            size: file.size,
            offset: file.offset,
            node: if file.protocol.is_empty() { &file.inode } else { &file.protocol },
            name: file.name.as_deref().unwrap_or(b""),
        };
        let mut entry = row.entry(source, file.line)?;
        if !file.state.is_empty() {
            entry.state = super::row::readable(&file.state);
        }
        if let Some(queues) = file.sending.zip(file.receiving) {
            entry.queues = Some(queues);
        }
        Some(Complete { entry, task: super::row::readable(&process.task), parent: process.parent })
    }
}

/// Takes a field of a file; false where there is no such field.
fn file_field(file: &mut File, letter: u8, value: &[u8]) -> bool {
    match letter {
        b'a' => file.access = value.first().copied().filter(|mode| *mode != b' '),
        b'l' => file.lock = value.first().copied().filter(|lock| *lock != b' '),
        b't' => file.kind = value.to_vec(),
        b'd' => file.device = value.to_vec(),
        b'D' => file.device = device(value),
        b's' => file.size = decimal(value),
        b'o' => {
            let mut row = Row::default();
            size_or_offset(value, &mut row);
            file.offset = row.offset;
        }
        b'i' => file.inode = value.to_vec(),
        b'P' => file.protocol = value.to_vec(),
        b'n' => file.name = Some(value.to_vec()),
        b'T' => {
            if let Some(state) = value.strip_prefix(b"ST=") {
                file.state = state.to_vec();
            } else if let Some(bytes) = value.strip_prefix(b"QR=") {
                file.receiving = decimal(bytes);
            } else if let Some(bytes) = value.strip_prefix(b"QS=") {
                file.sending = decimal(bytes);
            }
        }
        // Link count, flags, file structure: not used.
        b'k' | b'G' | b'C' | b'F' | b'N' | b'r' | b'S' | b'E' => {}
        _ => return false,
    }
    true
}

/// A device number as Linux packs it (`0xfe00`) in the form of the table: `254,0`.
fn device(value: &[u8]) -> Vec<u8> {
    let number = value.strip_prefix(b"0x").and_then(|hex| std::str::from_utf8(hex).ok());
    match number.and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        Some(number) => {
            let major = number >> 8 & 0xfff | number >> 32 & !0xfff;
            let minor = number & 0xff | number >> 12 & !0xff & 0xffff_ffff;
            format!("{major},{minor}").into_bytes()
        }
        None => value.to_vec(),
    }
}
