//! A command that is started to be recorded: it waits until it is watched, has our standard streams, and its end is told.

use crate::error::RecordError;
use crate::ptrace::launch::{self, Held};
use std::ffi::OsString;
use std::io;
use std::time::Duration;

/// A command of ours.
pub struct Command {
    name: String,
    held: Held,
    ended: Option<u8>,
}

impl Command {
    /// Forks; the program begins with [`Command::release`].
    ///
    /// # Errors
    /// Where there is no such program.
    pub fn start(words: &[OsString]) -> Result<Command, RecordError> {
        let Some((program, args)) = words.split_first() else {
            return Err(RecordError::Internal("a command without a word".into()));
        };
        let name = program.to_string_lossy().into_owned();
        let held = launch::command(program, args, None)
            .map_err(|source| RecordError::Command { command: name.clone(), reason: source.to_string() })?;
        Ok(Command { name, held, ended: None })
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.held.pid
    }

    /// Lets it begin.
    ///
    /// # Errors
    /// Where it is gone already.
    pub fn release(&mut self) -> Result<(), RecordError> {
        self.held.release().map_err(|source| RecordError::Kernel { what: "starting the command", source })
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: i32) {
        // It was not reaped, so that its number is still its own.
        if self.ended.is_none() {
            send_signal(self.held.pid, signal);
        }
    }

    /// Its exit status as a shell tells it (128 and the signal that killed it), once it has ended.
    ///
    /// # Errors
    /// Where its program could not be run.
    pub fn poll(&mut self) -> Result<Option<u8>, RecordError> {
        if self.ended.is_none() {
            let mut status = 0;
            // SAFETY: the kernel writes an int to `status`.
            let got = unsafe { libc::waitpid(self.held.pid as libc::pid_t, &mut status, libc::WNOHANG) };
            if got == self.held.pid as libc::pid_t {
                if let Some(source) = self.held.failure() {
                    let reason = source.to_string();
                    return Err(RecordError::Command { command: self.name.clone(), reason });
                }
                self.ended = Some(shell_status(status));
            } else if got < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                let source = io::Error::last_os_error();
                return Err(RecordError::Kernel { what: "waiting for the command", source });
            }
        }
        Ok(self.ended)
    }

    /// Waits for its end; `signals` are those to pass on meanwhile.
    ///
    /// # Errors
    /// As [`Command::poll`].
    pub fn wait(mut self, mut signals: impl FnMut() -> Vec<i32>) -> Result<u8, RecordError> {
        loop {
            if let Some(status) = self.poll()? {
                return Ok(status);
            }
            for signal in signals() {
                self.signal(signal);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// As a shell tells it: the exit status, or 128 and the signal.
fn shell_status(status: i32) -> u8 {
    if libc::WIFSIGNALED(status) {
        128u8.wrapping_add(libc::WTERMSIG(status) as u8)
    } else {
        libc::WEXITSTATUS(status) as u8
    }
}

/// Sends a signal to a child of ours.
pub fn send_signal(pid: u32, signal: i32) {
    // SAFETY: takes numbers only.
    unsafe { libc::kill(pid as libc::pid_t, signal) };
}

/// Waits for the end of a child of ours: its status as a shell tells it.
///
/// # Errors
/// If it is no child of ours, or was waited for already.
pub fn wait_for(pid: u32) -> Result<u8, RecordError> {
    let mut status = 0;
    loop {
        // SAFETY: the kernel writes an int to `status`.
        if unsafe { libc::waitpid(pid as libc::pid_t, &mut status, 0) } == pid as libc::pid_t {
            return Ok(shell_status(status));
        }
        let source = io::Error::last_os_error();
        if source.kind() != io::ErrorKind::Interrupted {
            return Err(RecordError::Kernel { what: "waiting for the command", source });
        }
    }
}
