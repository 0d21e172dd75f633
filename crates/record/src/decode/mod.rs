//! Raw calls to the text that strace prints: `openat(AT_FDCWD, "/etc/hosts", O_RDONLY|O_CLOEXEC) = 3`. The rules and
//! readers of captures parse that text, so that a recording and a capture of strace are judged alike. The model is
//! strace 6.1 in its default form.

pub mod arg;
mod arguments;
pub mod constants;
mod data;
mod files;
pub mod payload;
mod printer;
mod process;
pub mod put;
mod signals;
mod sockets;
pub mod table;
#[cfg(test)]
mod tests;
mod times;
mod waits;

use crate::clock::Clock;
use crate::raw::{CPU_UNKNOWN, RawCall, RawFlags};
use constants as c;
use printer::{Printer, fd_name};
use put::Put;
use std::borrow::Cow;
use std::sync::LazyLock;
use table::Row;
use whyslow_model::{Call, CallFlags, Errno, Nanos, Ret, SourceId, Syscall, Timestamp};

/// What descriptors are, for printing them as `-y` does.
pub trait Names {
    /// The name of a descriptor of a process, as strace prints it between `<` and `>`: `/etc/passwd`, `socket:[1234]`,
    /// `TCP:[10.0.0.1:80->10.0.0.2:3456]`. `AT_FDCWD` (-100) is the working directory. `None` where it is not known.
    fn fd(&self, pid: u32, fd: i32) -> Option<Cow<'_, str>>;
}

/// Knows no names.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn fd(&self, _: u32, _: i32) -> Option<Cow<'_, str>> {
        None
    }
}

/// What to show of payload: of what is read and written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Payload {
    /// As it is, up to the limit for strings.
    #[default]
    AsItIs,
    /// What names a request, without what may be a secret ([`payload::reduce`]).
    Reduced,
}

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct PrintOptions {
    /// Bytes shown of a string that is not a path (`-s`), and elements of an array.
    pub string_limit: usize,
    /// Names behind descriptors (`-y`).
    pub fd_names: bool,
    /// Payload.
    pub payload: Payload,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions { string_limit: 32, fd_names: false, payload: Payload::AsItIs }
    }
}

/// The text of one call. Meant to be used again for the next: its buffers are kept.
#[derive(Clone, Debug)]
pub struct CallText {
    /// Which call; [`Syscall::UNLISTED`] for a number that is not in the table.
    pub syscall: Syscall,
    /// The text between the parentheses.
    pub args: Vec<u8>,
    /// The text behind the result: `(Timeout)`, `([{fd=5, revents=POLLIN}])`, an error's meaning.
    pub ret_note: Vec<u8>,
    /// What it returned: -1 on error.
    pub ret: Ret,
    /// The error.
    pub errno: Errno,
    /// The thread that held the lock a futex call waits for, where the memory around the lock word says so: as
    /// glibc's `pthread_mutex_t` has it. A hint: other locks look otherwise.
    pub futex_owner: Option<u32>,
    row: Option<&'static Row>,
    other_name: Vec<u8>,
    /// Room for a reduced payload.
    reduced: Vec<u8>,
}

impl Default for CallText {
    fn default() -> Self {
        CallText {
            syscall: Syscall::UNLISTED,
            args: Vec::new(),
            ret_note: Vec::new(),
            ret: Ret::Unknown,
            errno: Errno::NONE,
            futex_owner: None,
            row: None,
            other_name: Vec::new(),
            reduced: Vec::new(),
        }
    }
}

static SYSCALLS: LazyLock<[Syscall; table::NUMBERS]> = LazyLock::new(|| {
    let mut all = [Syscall::UNLISTED; table::NUMBERS];
    for row in table::rows() {
        all[row.nr as usize] = Syscall::lookup(row.name.as_bytes()).unwrap_or(Syscall::UNLISTED);
    }
    all
});

/// Prints `call` into `text`. Total: any bytes are survived, and the text is at most [`put::MAX_TEXT`] bytes.
pub fn print(call: &RawCall<'_>, names: &dyn Names, options: &PrintOptions, text: &mut CallText) {
    text.args.clear();
    text.ret_note.clear();
    text.other_name.clear();
    text.futex_owner = None;
    result(call, text);
    // The numbers of 32-bit programs are another table's.
    let row = if call.flags.contains(RawFlags::COMPAT) { None } else { table::row_of(call.nr) };
    text.row = row;
    let Some(row) = row else {
        text.syscall = Syscall::UNLISTED;
        text.other_name.put(if call.flags.contains(RawFlags::COMPAT) {
            "compat_syscall_"
        } else {
            "syscall_"
        });
        text.other_name.hex(call.nr as u64);
        for (n, arg) in call.args.iter().enumerate() {
            text.args.put(if n > 0 { ", " } else { "" });
            text.args.hex(*arg);
        }
        return error_note(text);
    };
    text.syscall = SYSCALLS[row.nr as usize];
    if row.nr as i64 == libc::SYS_futex {
        text.futex_owner = waits::futex_owner(call);
    }
    let CallText { args, ret_note, reduced, .. } = &mut *text;
    Printer { out: args, note: ret_note, reduced, call, row, names, options }.arguments();
    if let Some(asleep) = call.asleep() {
        text.ret_note.put(&Call::asleep_note(asleep));
    }
    if text.ret_note.is_empty() {
        note(call, row, text);
    }
}

/// What it returned.
fn result(call: &RawCall<'_>, text: &mut CallText) {
    text.errno = Errno::NONE;
    text.ret = Ret::Value(call.ret);
    if call.flags.contains(RawFlags::NO_EXIT) {
        text.ret = Ret::Unknown;
    } else if (-4095..0).contains(&call.ret) {
        let errno = Errno(call.ret.unsigned_abs() as u16);
        text.errno = errno;
        text.ret = if errno.is_restart() { Ret::Unknown } else { Ret::Value(-1) };
    }
}

/// The text behind the result, where no argument has said it.
fn note(call: &RawCall<'_>, row: &Row, text: &mut CallText) {
    if text.errno.is_error() {
        return error_note(text);
    }
    let out = &mut text.ret_note;
    let Ret::Value(ret) = text.ret else { return };
    match (row.name, ret) {
        ("poll" | "ppoll" | "select" | "pselect6", 0) => out.put("(Timeout)"),
        ("fcntl", 1..) => match call.args[1] as i32 {
            libc::F_GETFL => {
                out.put("(flags ");
                files::open_flags(ret as u32, out);
                out.put(")");
            }
            libc::F_GETFD => {
                out.put("(flags ");
                c::FD_FLAGS.flags(ret as u64, out);
                out.put(")");
            }
            _ => {}
        },
        ("rt_sigtimedwait", 1..) => {
            out.put("(");
            signals::signal(ret as u32, out);
            out.put(")");
        }
        _ => {}
    }
}

/// What the error means, where there is one.
fn error_note(text: &mut CallText) {
    if let Some(message) = text.errno.text().filter(|_| text.errno.is_error()) {
        text.ret_note.put("(");
        text.ret_note.put(message);
        text.ret_note.put(")");
    }
}

/// True where the result is a descriptor.
fn makes_fd(call: &RawCall<'_>, row: &Row) -> bool {
    let duplicates = call.nr as i64 == libc::SYS_fcntl
        && matches!(call.args[1] as i32, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC);
    row.makes_fd || duplicates
}

impl CallText {
    /// Puts the name of a descriptor that the call made before the text behind the result, as `-y` does: `</etc/passwd>`.
    pub fn name_result(&mut self, call: &RawCall<'_>, names: &dyn Names) {
        let makes_fd = self.row.is_some_and(|row| makes_fd(call, row));
        if let (Ret::Value(fd), false, true) = (self.ret, self.errno.is_error(), makes_fd) {
            let mut text = Vec::new();
            let options = PrintOptions { fd_names: true, ..PrintOptions::default() };
            fd_name(names, &options, call.pid, fd as i32, &mut text);
            self.ret_note.splice(0..0, text);
        }
    }

    /// The name of the call.
    pub fn name(&self) -> &[u8] {
        self.row.map_or(&self.other_name, |row| row.name.as_bytes())
    }

    /// The call as an event; `line` is its number in the recording.
    pub fn to_call<'a>(&'a self, raw: &RawCall<'_>, clock: Clock, source: SourceId, line: u64) -> Call<'a> {
        let mut flags = CallFlags::default();
        if raw.flags.contains(RawFlags::NO_EXIT) {
            flags = flags.with(CallFlags::END_NOT_SEEN);
        }
        if raw.flags.contains(RawFlags::NO_ENTER) {
            flags = flags.with(CallFlags::START_NOT_SEEN);
        }
        Call {
            source,
            line,
            end_line: line,
            tid: raw.tid,
            pid: Some(raw.pid),
            cpu: (!raw.flags.contains(RawFlags::NO_EXIT) && raw.cpu != CPU_UNKNOWN).then_some(raw.cpu),
            ts: raw.enter.map_or(Timestamp::UNKNOWN, |enter| clock.epoch(enter)),
            dur: raw.dur.map_or(Nanos::UNKNOWN, Nanos::new),
            syscall: self.syscall,
            name: self.name(),
            args: &self.args,
            ret: self.ret,
            errno: self.errno,
            ret_note: &self.ret_note,
            flags,
            raw: b"",
            raw_end: b"",
        }
    }
}
