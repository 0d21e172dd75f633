//! The recorder: which threads are traced, the loop that waits for them, and letting them go.

use super::attach::{self, Taken};
use super::error::PtraceError;
use super::event::{RawEvent, RecordingEnd, Summary, ThreadEnd, TraceOrigin};
use super::filter;
use super::launch::{self, Held};
use super::sys::{self, Status};
use super::ticker::Ticker;
use crate::spec::CallSpec;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

/// How long letting go waits for threads that do not stop: those in an uninterruptible wait.
pub const DETACH_LIMIT: Duration = Duration::from_secs(2);
/// How often the recorder looks whether it shall end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What to record, and of whom.
#[derive(Clone, Debug)]
pub struct PtraceOptions {
    /// Also the threads and processes that the traced ones make.
    pub follow: bool,
    /// The numbers of the calls to record; `None` for all. Calls of 32-bit programs are always recorded: their numbers
    /// are another table's.
    pub syscalls: Option<Vec<u16>>,
    /// Let the kernel pass the calls that are not in `syscalls` without a stop, by a seccomp filter. Only for commands,
    /// and only with `follow`. The filter stays until the command ends, and its calls fail where no tracer answers:
    /// therefore the command **dies with the recorder**, and [`Recorder::run`] lasts until the command ends.
    pub filter_in_kernel: bool,
    /// Bytes of payload to keep a call, of sockets and pipes; 0 for none.
    pub payload: u16,
    /// What to keep of the memory of a call, by its number in the machine's own table.
    pub spec: fn(u16) -> Option<&'static CallSpec>,
}

/// A thread that is traced.
pub(super) struct Tracee {
    /// Its process.
    pub(super) pid: u32,
    /// The call that it is in.
    pub(super) call: Option<Entered>,
    /// Pieces of memory read when that was entered.
    pub(super) memory: Vec<u8>,
    /// The call that it was in when it was taken: that one is restarted.
    pub(super) was_in: Option<(u16, [u64; 6])>,
    /// It is ours still and did not begin the command yet.
    pub(super) preparing: bool,
    /// It stands still, and this signal (or 0) is to be delivered when it goes on.
    pub(super) held: Option<i32>,
    origin: TraceOrigin,
}

/// A call that was entered.
pub(super) struct Entered {
    /// When; `None` where that was before the recording.
    pub(super) ts: Option<u64>,
    pub(super) nr: u16,
    pub(super) args: [u64; 6],
    pub(super) compat: bool,
    pub(super) wanted: bool,
    /// All memory that was asked for could be read.
    pub(super) complete: bool,
}

/// What counts up.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) stops: u64,
    pub(super) calls: u64,
    pub(super) incomplete: u64,
    pub(super) lost: u64,
}

/// A command that we started.
struct Command {
    held: Held,
    program: PathBuf,
    ended: Option<ThreadEnd>,
}

/// Takes what is recorded.
pub(super) type Out<'a> = &'a mut dyn FnMut(RawEvent<'_>);

/// Records by ptrace. The kernel ties tracing to a thread: it stays in the one that made it. Dropped, it lets go of all
/// that it traces; where this process is killed, the kernel does.
///
/// Give it a thread of its own that has no other children, and let no other thread wait for a process that it traces: a
/// `wait` takes the news of any child or tracee of the thread, and one by number those of the whole process.
pub struct Recorder {
    pub(super) tracees: HashMap<u32, Tracee>,
    pub(super) options: PtraceOptions,
    /// By number, the calls to record.
    pub(super) wanted: Option<Vec<bool>>,
    /// The command runs under a seccomp filter.
    pub(super) filtered: bool,
    /// Events are handed out.
    pub(super) recording: bool,
    /// Whoever stops is let go.
    pub(super) leaving: bool,
    pub(super) counters: Counters,
    pub(super) memory: Vec<u8>,
    pub(super) buffer: Vec<u8>,
    command: Option<Command>,
    _ticker: Ticker,
    _stays_in_its_thread: PhantomData<*const ()>,
}

impl Recorder {
    /// Takes running processes, each with all its threads. They go on in [`Recorder::run`].
    pub fn attach(pids: &[u32], options: PtraceOptions) -> Result<Recorder, PtraceError> {
        let mut recorder = Recorder::new(options, false)?;
        let seize_options = recorder.seize_options();
        for pid in pids {
            let tracees = std::cell::RefCell::new(&mut recorder.tracees);
            let is_taken = |tid: &u32| tracees.borrow().contains_key(tid);
            let mut take = |Taken { tid, was_in }: Taken| {
                let tracee = Tracee { was_in, ..Tracee::new(*pid, TraceOrigin::Attached) };
                tracees.borrow_mut().insert(tid, tracee);
            };
            attach::process(*pid, seize_options, &is_taken, &mut take)?;
        }
        for tid in recorder.tracees.keys() {
            // It may have ended; then the wait tells.
            let _ = sys::interrupt(*tid);
        }
        Ok(recorder)
    }

    /// Starts a command, found as a shell finds it. It runs in [`Recorder::run`], with our own environment, directory,
    /// standard streams and terminal.
    pub fn spawn(
        program: &OsStr,
        args: &[OsString],
        options: PtraceOptions,
    ) -> Result<Recorder, PtraceError> {
        let filter = match &options.syscalls {
            Some(wanted) if options.filter_in_kernel && options.follow => filter::program(wanted),
            _ => None,
        };
        let held = launch::command(program, args, filter.as_deref())?;
        Recorder::take(held, program.into(), options, filter.is_some())
    }

    /// Traces a child that waits for it, from its first program on.
    pub(super) fn take(
        mut held: Held,
        program: PathBuf,
        options: PtraceOptions,
        filtered: bool,
    ) -> Result<Recorder, PtraceError> {
        let pid = held.pid;
        let mut recorder = Recorder::new(options, filtered)?;
        let seized = sys::seize(pid, recorder.seize_options()).and_then(|()| {
            recorder
                .tracees
                .insert(pid, Tracee { preparing: true, ..Tracee::new(pid, TraceOrigin::Command) });
            sys::interrupt(pid)?;
            held.release()
        });
        if let Err(source) = seized {
            launch::kill(pid);
            if recorder.tracees.is_empty() {
                launch::reap(pid);
            }
            return Err(PtraceError::System { doing: "tracing the command", source });
        }
        recorder.command = Some(Command { held, program, ended: None });
        Ok(recorder)
    }

    fn new(options: PtraceOptions, filtered: bool) -> Result<Recorder, PtraceError> {
        let wanted = options.syscalls.as_ref().map(|numbers| {
            let mut wanted = vec![false; numbers.iter().max().map_or(0, |max| *max as usize + 1)];
            for nr in numbers {
                wanted[*nr as usize] = true;
            }
            wanted
        });
        let ticker = Ticker::start(LOOK_EVERY).map_err(PtraceError::system("timer_create"))?;
        Ok(Recorder {
            tracees: HashMap::new(),
            options,
            wanted,
            filtered,
            recording: true,
            leaving: false,
            counters: Counters::default(),
            memory: Vec::new(),
            buffer: Vec::new(),
            command: None,
            _ticker: ticker,
            _stays_in_its_thread: PhantomData,
        })
    }

    fn seize_options(&self) -> i32 {
        let mut options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACEEXEC;
        if self.options.follow {
            options |= libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK;
        }
        if self.filtered {
            options |= libc::PTRACE_O_TRACESECCOMP | libc::PTRACE_O_EXITKILL;
        }
        options
    }

    /// The process of the command that was started.
    pub fn command_pid(&self) -> Option<u32> {
        self.command.as_ref().map(|command| command.held.pid)
    }

    /// Records until all traced threads ended or `until` says true (it is asked every 20 ms), then lets go of those that
    /// still run.
    pub fn run(
        &mut self,
        until: &mut dyn FnMut() -> bool,
        out: &mut dyn FnMut(RawEvent<'_>),
    ) -> Result<Summary, PtraceError> {
        self.announce(out);
        let mut batch = Vec::new();
        let mut asked = 0;
        let mut ending = RecordingEnd::AllEnded;
        while !self.tracees.is_empty() {
            let now = sys::now();
            if self.recording && now - asked >= LOOK_EVERY.as_nanos() as u64 {
                asked = now;
                if until() {
                    ending = RecordingEnd::Stopped;
                    if !self.filtered {
                        self.let_go(out)?;
                        break;
                    }
                    self.recording = false;
                }
            }
            self.wait(true, &mut batch)?;
            for (tid, status, ts) in batch.drain(..) {
                self.handle(tid, status, ts, out)?;
            }
        }
        let mut left: Vec<u32> = self.tracees.keys().copied().collect();
        left.sort_unstable();
        // They go when the thread ends: nothing more can be done for them here.
        self.tracees.clear();
        let Counters { stops, calls, incomplete, lost } = self.counters;
        let command = self.command.as_ref().and_then(|command| command.ended);
        Ok(Summary { ending, command, stops, calls, incomplete, lost, left })
    }

    /// Tells of the threads that were taken before the loop began.
    fn announce(&mut self, out: Out<'_>) {
        let ts = sys::now();
        let mut taken: Vec<_> = self.tracees.iter().map(|(tid, tracee)| (tracee.pid, *tid)).collect();
        taken.sort_unstable();
        for (pid, tid) in taken {
            let parent = attach::thread_status(tid).and_then(|status| status.parent);
            let origin = self.tracees[&tid].origin;
            out(RawEvent::Started { ts, pid, tid, parent, origin });
        }
    }

    /// Waits for a thread to stop or end, then takes all that did: so that a busy thread does not keep the others from
    /// being heard. Empty after a tick.
    fn wait(&mut self, block: bool, batch: &mut Vec<(u32, Status, u64)>) -> Result<(), PtraceError> {
        let mut block = block;
        loop {
            match sys::wait(block) {
                Ok(Some((tid, status))) => {
                    let ts = sys::now();
                    if let (Some(tracee), Status::Stopped { signal, event }) =
                        (self.tracees.get_mut(&tid), status)
                    {
                        let deliver = event == 0 && signal != sys::SYSCALL_STOP;
                        tracee.held = Some(if deliver { signal } else { 0 });
                    }
                    batch.push((tid, status, ts));
                    block = false;
                }
                Ok(None) => return Ok(()),
                // The kernel knows of no tracee: what we took for one is gone.
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => {
                    if batch.is_empty() {
                        self.counters.lost += self.tracees.len() as u64;
                        self.tracees.clear();
                    }
                    return Ok(());
                }
                Err(error) => return Err(PtraceError::system("waitpid")(error)),
            }
        }
    }

    /// Notes how the command ended; an error where it never began.
    pub(super) fn command_ended(
        &mut self,
        tid: u32,
        how: ThreadEnd,
        preparing: bool,
    ) -> Result<(), PtraceError> {
        let Some(command) = self.command.as_mut().filter(|command| command.held.pid == tid) else {
            return Ok(());
        };
        command.ended = Some(how);
        if preparing && let Some(source) = command.held.failure() {
            return Err(PtraceError::Exec { program: command.program.clone(), source });
        }
        Ok(())
    }

    /// Lets go of all threads, each at its next stop. Waits no longer than [`DETACH_LIMIT`].
    fn let_go(&mut self, out: Out<'_>) -> Result<(), PtraceError> {
        self.leaving = true;
        let tids: Vec<u32> = self.tracees.keys().copied().collect();
        for tid in tids {
            match self.tracees[&tid].held {
                Some(signal) => self.go_on(tid, signal, out),
                None => {
                    let _ = sys::interrupt(tid);
                }
            }
        }
        let deadline = sys::now() + DETACH_LIMIT.as_nanos() as u64;
        let mut batch = Vec::new();
        while !self.tracees.is_empty() && sys::now() < deadline {
            self.wait(true, &mut batch)?;
            for (tid, status, ts) in batch.drain(..) {
                self.handle(tid, status, ts, out)?;
            }
        }
        Ok(())
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if self.filtered {
            // Their calls would fail without a tracer: an end is better than a program that computes on with that.
            let pids: std::collections::HashSet<u32> =
                self.tracees.values().map(|tracee| tracee.pid).collect();
            pids.into_iter().for_each(launch::kill);
        }
        self.recording = false;
        // Nobody is left to be told of an error.
        let _: Result<(), PtraceError> = self.let_go(&mut |_| {});
    }
}

impl Tracee {
    pub(super) fn new(pid: u32, origin: TraceOrigin) -> Tracee {
        Tracee { pid, call: None, memory: Vec::new(), was_in: None, preparing: false, held: None, origin }
    }
}

/// True where the kernel says that the thread is gone: it was killed while it stood still, and the wait will tell.
pub(super) fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH)
}
