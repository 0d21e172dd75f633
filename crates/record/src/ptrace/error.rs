//! What can go wrong before and while tracing.

use std::io;
use std::path::PathBuf;

/// Why nothing could be recorded by ptrace.
#[derive(Debug, thiserror::Error)]
pub enum PtraceError {
    /// There is no such process, or it ended meanwhile.
    #[error("there is no process {pid}: it may have ended; `ps -p {pid}` shows a running one")]
    NoSuchProcess {
        /// The process asked for.
        pid: u32,
    },
    /// It is this process.
    #[error("process {pid} is this program: a program cannot trace itself")]
    Ourselves {
        /// The process asked for.
        pid: u32,
    },
    /// Another program traces it: a thread has one tracer at most.
    #[error(
        "process {pid} is traced already, by process {tracer} ({tracer_name}): only one tracer is possible; \
         end that one first, or record with BPF, which needs no tracing"
    )]
    Traced {
        /// The process asked for.
        pid: u32,
        /// Its tracer.
        tracer: u32,
        /// The tracer's name.
        tracer_name: String,
    },
    /// It is a thread of the kernel.
    #[error("process {pid} is a thread of the kernel: it makes no syscalls and cannot be traced")]
    KernelThread {
        /// The process asked for.
        pid: u32,
    },
    /// The kernel does not allow it.
    #[error("not allowed to trace process {pid}: {why}")]
    Refused {
        /// The process asked for.
        pid: u32,
        /// What stands in the way, and what to do.
        why: String,
    },
    /// The kernel lacks `PTRACE_GET_SYSCALL_INFO`.
    #[error("this kernel cannot tell a tracer which syscall a thread is in: Linux 5.3 or later is needed")]
    KernelTooOld,
    /// The command could not be started.
    #[error("cannot run {program}: {source}")]
    Exec {
        /// The command.
        program: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A call of the kernel failed that should not.
    #[error("{doing} failed: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl PtraceError {
    pub(super) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> PtraceError {
        move |source| PtraceError::System { doing, source }
    }
}
