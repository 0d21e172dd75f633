//! Starts a process of our own that waits until it is traced.

use super::error::PtraceError;
use super::sys;
use libc::sock_filter;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A process that was forked and waits for [`Held::release`].
pub(crate) struct Held {
    /// Its number.
    pub(crate) pid: u32,
    gate: File,
    errors: File,
}

/// Exit status of a child that could not do what it was made for; the reason comes through its pipe.
const CHILD_FAILED: i32 = 127;

impl Held {
    /// Forks; the child runs `body` once it is released. `body` must only make calls that are safe after a fork of a
    /// program with threads (signal-safety(7)); it gives back an exit status, or the errno of what failed.
    pub(super) fn fork(body: impl FnOnce() -> Result<i32, i32>) -> io::Result<Held> {
        let (gate_in, gate) = pipe()?;
        let (errors, errors_out) = pipe()?;
        // SAFETY: the child calls only what is safe after a fork (read, write, `body`, _exit) and never returns.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                let mut byte = 0u8;
                // SAFETY: the descriptors are open in the child, as copies; the buffers live until the calls are back.
                unsafe {
                    // Else the child would hold its own gate open, and wait for ever where the parent dies.
                    libc::close(gate.as_raw_fd());
                    let released = loop {
                        match libc::read(gate_in.as_raw_fd(), (&raw mut byte).cast(), 1) {
                            // Being seized interrupts the wait.
                            -1 if *libc::__errno_location() == libc::EINTR => {}
                            read => break read == 1,
                        }
                    };
                    let status = match if released { body() } else { Ok(CHILD_FAILED) } {
                        Ok(status) => status,
                        Err(errno) => {
                            libc::write(errors_out.as_raw_fd(), (&raw const errno).cast(), size_of::<i32>());
                            CHILD_FAILED
                        }
                    };
                    libc::_exit(status)
                }
            }
            pid => Ok(Held { pid: pid as u32, gate: gate.into(), errors: errors.into() }),
        }
    }

    /// Lets the child go on.
    pub(crate) fn release(&mut self) -> io::Result<()> {
        self.gate.write_all(b"!")
    }

    /// Why the child failed, after it ended.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        let mut errno = [0; size_of::<i32>()];
        self.errors.read_exact(&mut errno).ok()?;
        Some(io::Error::from_raw_os_error(i32::from_ne_bytes(errno)))
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two ints to `ends`; the descriptors are new and owned by nobody else.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Forks a process that will run `program`, under `filter` where there is one.
pub(crate) fn command(
    program: &OsStr,
    args: &[OsString],
    filter: Option<&[sock_filter]>,
) -> Result<Held, PtraceError> {
    let path = find_program(program)
        .map_err(|source| PtraceError::Exec { program: PathBuf::from(program), source })?;
    let text = |text: &OsStr| {
        CString::new(text.as_bytes())
            .map_err(|error| PtraceError::Exec { program: path.clone(), source: error.into() })
    };
    let file = text(path.as_os_str())?;
    let mut words = vec![text(program)?];
    for arg in args {
        words.push(text(arg)?);
    }
    let mut argv: Vec<*const libc::c_char> = words.iter().map(|word| word.as_ptr()).collect();
    argv.push(std::ptr::null());
    let body = || {
        if let Some(filter) = filter {
            install(filter)?;
        }
        // SAFETY: plain calls on the child's own state; `file`, `argv` and its strings were copied by the fork, and
        // `environ` is read as exec does.
        unsafe {
            // Rust ignores SIGPIPE; a program expects to find it, and no signal blocked.
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            libc::execv(file.as_ptr(), argv.as_ptr());
            Err(*libc::__errno_location())
        }
    };
    Held::fork(body).map_err(PtraceError::system("fork"))
}

/// Puts the calling process under a filter; safe after a fork.
fn install(filter: &[sock_filter]) -> Result<(), i32> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    let set = || {
        // SAFETY: the kernel reads `program` and the instructions that it points to; both outlive the call.
        match unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
        } {
            0 => Ok(()),
            // SAFETY: errno is the thread's own.
            _ => Err(unsafe { *libc::__errno_location() }),
        }
    };
    match set() {
        Err(libc::EACCES) => {
            // Without CAP_SYS_ADMIN a filter is taken only from a process that can gain no rights by exec. A program
            // traced by an ordinary user could not gain any as it is.
            // SAFETY: takes numbers only.
            unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            set()
        }
        result => result,
    }
}

/// The file that a shell would run for `program`.
fn find_program(program: &OsStr) -> io::Result<PathBuf> {
    let runnable = |path: &Path| -> io::Result<()> {
        if std::fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(rustix::fs::access(path, rustix::fs::Access::EXEC_OK)?)
    };
    if program.as_bytes().contains(&b'/') {
        runnable(Path::new(program))?;
        return Ok(PathBuf::from(program));
    }
    let mut answer = io::ErrorKind::NotFound.into();
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    for directory in std::env::split_paths(&path) {
        let candidate = directory.join(program);
        match runnable(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => answer = error,
        }
    }
    Err(answer)
}

/// The thread that calls.
pub(super) fn own_tid() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Kills a process without ceremony.
pub(super) fn kill(pid: u32) {
    // SAFETY: takes numbers only; the pid is of a process that we started or trace.
    unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
}

/// Waits for a child that nobody traces, so that it leaves no zombie.
pub(super) fn reap(pid: u32) {
    // SAFETY: a null status pointer is allowed.
    while unsafe { libc::waitpid(pid as libc::pid_t, std::ptr::null_mut(), libc::__WALL) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
}

/// Nanoseconds that `calls` calls of getppid take the calling process; safe after a fork.
pub(super) fn time_calls(calls: u32) -> u64 {
    let begin = sys::now();
    for _ in 0..calls {
        // SAFETY: takes and gives numbers only. Not libc's function, which an implementation may cache.
        unsafe { libc::syscall(libc::SYS_getppid) };
    }
    sys::now() - begin
}
