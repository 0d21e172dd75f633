//! What each kind of stop means: a call entered or left, a signal, a new thread, another program, a group stop.

use super::attach;
use super::error::PtraceError;
use super::event::{RawEvent, ThreadEnd, TraceOrigin};
use super::launch::own_tid;
use super::memory::{Moment, Stage, read_pieces};
use super::recorder::{Entered, Out, Recorder, Tracee, is_gone};
use super::signals;
use super::sys::{self, EVENT_STOP, Resume, SYSCALL_STOP, Status, SyscallStop, X32_BIT};
use crate::raw::{CPU_UNKNOWN, RawCall, RawFlags};

impl Recorder {
    /// Deals with one thing that the wait told, and lets the thread go on.
    pub(super) fn handle(
        &mut self,
        tid: u32,
        status: Status,
        ts: u64,
        out: Out<'_>,
    ) -> Result<(), PtraceError> {
        let (signal, event) = match status {
            Status::Exited(code) => return self.thread_ended(tid, ts, ThreadEnd::Exit(code), out),
            Status::Killed(signal) => return self.thread_ended(tid, ts, ThreadEnd::Signal(signal), out),
            Status::Stopped { signal, event } => (signal, event),
        };
        self.counters.stops += 1;
        self.meet(tid, ts, out);
        let mut deliver = 0;
        match event {
            0 if signal == SYSCALL_STOP => self.at_call(tid, ts, out)?,
            0 => {
                deliver = signal;
                self.at_signal(tid, ts, out);
            }
            EVENT_STOP if is_stop_signal(signal) && !self.leaving => {
                if let Some(tracee) = self.tracees.get_mut(&tid) {
                    tracee.held = None;
                }
                // Gone is fine: the wait will tell.
                let _ = sys::listen(tid);
                return Ok(());
            }
            libc::PTRACE_EVENT_SECCOMP => self.at_call(tid, ts, out)?,
            libc::PTRACE_EVENT_CLONE | libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK => {
                if let Ok(child) = sys::event_message(tid) {
                    self.meet(child as u32, ts, out);
                }
            }
            libc::PTRACE_EVENT_EXEC => self.at_exec(tid, ts, out),
            _ => {}
        }
        self.go_on(tid, deliver, out);
        Ok(())
    }

    /// Lets a stopped thread go on, or go for good.
    pub(super) fn go_on(&mut self, tid: u32, signal: i32, out: Out<'_>) {
        if self.leaving {
            let _ = sys::detach(tid, signal);
            if let Some(mut tracee) = self.tracees.remove(&tid) {
                self.unfinished(tid, &mut tracee, RawFlags::default(), out);
            }
            return;
        }
        let Some(tracee) = self.tracees.get_mut(&tid) else { return };
        tracee.held = None;
        let how = if self.filtered && tracee.call.is_none() { Resume::Freely } else { Resume::ToSyscall };
        // Gone is fine: the wait will tell.
        let _ = sys::resume(tid, how, signal);
    }

    /// Makes sure that a thread is known. A new one is heard of twice, from its maker and from itself, in either order;
    /// it may even have ended before its maker is heard.
    fn meet(&mut self, tid: u32, ts: u64, out: Out<'_>) {
        if self.tracees.contains_key(&tid) {
            return;
        }
        let Some(status) = attach::thread_status(tid).filter(|status| status.tracer == own_tid()) else {
            return;
        };
        let pid = status.pid;
        self.tracees.insert(tid, Tracee::new(pid, TraceOrigin::Created));
        if self.recording {
            out(RawEvent::Started { ts, pid, tid, parent: status.parent, origin: TraceOrigin::Created });
        }
    }

    fn at_signal(&mut self, tid: u32, ts: u64, out: Out<'_>) {
        if let (true, Some(tracee), Ok(info)) = (self.recording, self.tracees.get(&tid), sys::siginfo(tid))
            && !tracee.preparing
        {
            out(RawEvent::Signal(signals::from_siginfo(ts, tracee.pid, tid, &info)));
        }
    }

    fn at_call(&mut self, tid: u32, ts: u64, out: Out<'_>) -> Result<(), PtraceError> {
        let Some(tracee) = self.tracees.get_mut(&tid) else { return Ok(()) };
        match sys::syscall_stop(tid) {
            Ok(SyscallStop::Entry { nr, args, compat }) => self.enter(tid, nr, args, compat),
            Ok(SyscallStop::Exit { ret }) => self.leave(tid, ts, ret, out),
            Ok(SyscallStop::Other) => {}
            // What it returns from stays in the table and is handed out when its end is heard.
            Err(error) if is_gone(&error) => self.counters.lost += u64::from(tracee.call.is_none()),
            Err(error) if error.raw_os_error() == Some(libc::EIO) => return Err(PtraceError::KernelTooOld),
            Err(source) => {
                return Err(PtraceError::System { doing: "PTRACE_GET_SYSCALL_INFO", source });
            }
        }
        Ok(())
    }

    fn enter(&mut self, tid: u32, nr: u64, mut args: [u64; 6], compat: bool) {
        let Some(tracee) = self.tracees.get_mut(&tid) else { return };
        let nr = u16::try_from(nr & !X32_BIT).unwrap_or(u16::MAX);
        // Until the command begins, its calls are ours.
        if tracee.preparing && i64::from(nr) != libc::SYS_execve {
            return;
        }
        let wanted =
            compat || self.wanted.as_ref().is_none_or(|wanted| wanted.get(nr as usize).is_some_and(|it| *it));
        let spec = if compat { None } else { (self.options.spec)(nr) };
        let mut complete = true;
        tracee.memory.clear();
        if let Some(spec) = spec.filter(|_| wanted) {
            args[spec.args.min(6) as usize..].fill(0);
            let moment = Moment { tid, args: &args, stage: Stage::Entered };
            complete = read_pieces(spec, moment, self.options.payload, &mut self.buffer, &mut tracee.memory);
        }
        // The call that it was in when it was taken began before, in whatever way the kernel takes it up again.
        let restarts = tracee.was_in.take().filter(|was| {
            (was.0 == nr && was.1.iter().zip(&args).all(|(was, is)| was == is || *is == 0))
                || i64::from(nr) == libc::SYS_restart_syscall
        });
        let (nr, args) = restarts.unwrap_or((nr, args));
        // The clock is read last: what the reading took is not the call's.
        let ts = restarts.is_none().then(sys::now);
        tracee.call = Some(Entered { ts, nr, args, compat, wanted, complete });
    }

    fn leave(&mut self, tid: u32, ts: u64, ret: i64, out: Out<'_>) {
        let Some(tracee) = self.tracees.get_mut(&tid) else { return };
        // Letting go interrupts calls that wait; they are taken up again unseen.
        if self.leaving && is_restart(ret) {
            return;
        }
        // A new thread returns from the call that made it, which is its maker's.
        let Some(call) = tracee.call.take() else { return };
        if !call.wanted || !self.recording {
            return;
        }
        let mut complete = call.complete;
        self.memory.clear();
        self.memory.extend_from_slice(&tracee.memory);
        if let Some(spec) = if call.compat { None } else { (self.options.spec)(call.nr) } {
            let moment = Moment { tid, args: &call.args, stage: Stage::Returned(ret) };
            complete &= read_pieces(spec, moment, self.options.payload, &mut self.buffer, &mut self.memory);
        }
        self.counters.calls += 1;
        self.counters.incomplete += u64::from(!complete);
        out(RawEvent::Call(RawCall {
            enter: call.ts,
            dur: call.ts.map(|enter| ts.saturating_sub(enter)),
            pid: tracee.pid,
            tid,
            cpu: CPU_UNKNOWN,
            nr: call.nr,
            flags: call.flags(complete),
            ret,
            args: call.args,
            memory: &self.memory,
        }));
    }

    /// Hands out the call that a thread is in and does not return from.
    fn unfinished(&mut self, tid: u32, tracee: &mut Tracee, why: RawFlags, out: Out<'_>) {
        let Some(call) = tracee.call.take() else { return };
        if !call.wanted || !self.recording || tracee.preparing {
            return;
        }
        self.counters.calls += 1;
        self.counters.incomplete += u64::from(!call.complete);
        out(RawEvent::Call(RawCall {
            enter: call.ts,
            dur: None,
            pid: tracee.pid,
            tid,
            cpu: CPU_UNKNOWN,
            nr: call.nr,
            flags: RawFlags(call.flags(call.complete).0 | RawFlags::NO_EXIT.0 | why.0),
            ret: 0,
            args: call.args,
            memory: &tracee.memory,
        }));
    }

    /// The process runs another program. Where another thread than its first did that, the first is gone, and the other
    /// goes on under its number.
    fn at_exec(&mut self, tid: u32, ts: u64, out: Out<'_>) {
        let former = sys::event_message(tid).map_or(tid, |former| former as u32);
        if former != tid
            && let Some(survivor) = self.tracees.remove(&former)
            && let Some(mut first) = self.tracees.insert(tid, survivor)
        {
            self.unfinished(tid, &mut first, RawFlags::KILLED, out);
        }
        let Some(tracee) = self.tracees.get_mut(&tid) else { return };
        tracee.preparing = false;
        if self.recording {
            out(RawEvent::Exec { ts, pid: tracee.pid, former_tid: former });
        }
    }

    fn thread_ended(&mut self, tid: u32, ts: u64, how: ThreadEnd, out: Out<'_>) -> Result<(), PtraceError> {
        let Some(mut tracee) = self.tracees.remove(&tid) else {
            // The command, let go before.
            return self.command_ended(tid, how, false);
        };
        let why = if matches!(how, ThreadEnd::Signal(_)) { RawFlags::KILLED } else { RawFlags::default() };
        self.unfinished(tid, &mut tracee, why, out);
        if self.recording && !tracee.preparing {
            out(RawEvent::Ended { ts, pid: tracee.pid, tid, how });
        }
        self.command_ended(tid, how, tracee.preparing)
    }
}

impl Entered {
    fn flags(&self, complete: bool) -> RawFlags {
        let mut flags = 0;
        for (set, flag) in [
            (self.ts.is_none(), RawFlags::NO_ENTER),
            (self.compat, RawFlags::COMPAT),
            (!complete, RawFlags::PIECE_MISSING),
        ] {
            flags |= if set { flag.0 } else { 0 };
        }
        RawFlags(flags)
    }
}

/// `ERESTARTSYS`, `ERESTARTNOINTR`, `ERESTARTNOHAND`, `ERESTART_RESTARTBLOCK` of `include/linux/errno.h`: no result, the
/// kernel takes the call up again.
fn is_restart(ret: i64) -> bool {
    matches!(ret, -512 | -513 | -514 | -516)
}

fn is_stop_signal(signal: i32) -> bool {
    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}
