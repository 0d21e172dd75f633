//! Waits that end by calls on something else than the same descriptor or futex: locks of files, semaphores, signals.

use super::Graph;
use super::channels::{Flow, For};
use super::wait::{How, Waker};
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::ids::{host_of_tid, tid_there};
use whyslow_model::{Call, text};

impl Graph {
    fn gives(&mut self, flow: Flow, seen: &Seen<'_>, how: How) {
        let call = seen.call;
        if let Some(met) = self.channels.moved(flow, For::Data, (call.tid, call.ts, call.end()), how) {
            self.meet(met);
        }
    }

    /// The flow that stands for the lock of the file behind the call's descriptor.
    fn lock_of(&self, seen: &Seen<'_>, world: &World) -> Option<Flow> {
        let life = seen.life.and_then(|life| world.fds.get(life))?;
        Some(self.channels.named("file lock", &life.target(world)?, host_of_tid(seen.call.tid)))
    }

    /// flock(2), and the record locks of fcntl(2): of the process (F_SETLK) and of the open file (F_OFD_SETLK).
    pub(super) fn file_lock(&mut self, seen: &Seen<'_>, world: &World, long: bool) -> Option<Waker> {
        let asks: [&[u8]; 3] = [b"LOCK_", b"F_SETLK", b"F_OFD_SETLK"];
        let command = seen.call.arg(1)?;
        if !asks.iter().any(|ask| command.starts_with(ask)) {
            return None;
        }
        let has = |word: &[u8]| memchr::memmem::find(seen.call.args, word).is_some();
        self.file_locks = true;
        let flow = self.lock_of(seen, world)?;
        if has(b"LOCK_UN") || has(b"F_UNLCK") {
            self.gives(flow, seen, How::Unlocked);
            return None;
        }
        // A close is looked at where the file was locked.
        self.channels.know(flow);
        if long && seen.waits.is_some() { self.channels.ended(flow, For::Data, seen) } else { None }
    }

    /// Closing gives up a file's lock (flock(2) with the last descriptor, F_SETLK with any): whoever waited has it then.
    pub(super) fn lock_closed(&mut self, seen: &Seen<'_>, world: &World) {
        let Some(flow) = self.file_locks.then(|| self.lock_of(seen, world)).flatten() else { return };
        if self.channels.knows(flow) {
            self.gives(flow, seen, How::Unlocked);
        }
    }

    /// Calls on no descriptor that end a wait, or are one.
    pub(super) fn beside_descriptors(&mut self, seen: &Seen<'_>, world: &World, long: bool) -> Option<Waker> {
        let call = seen.call;
        match call.syscall.info().name {
            "semop" | "semtimedop" => {
                let flow = self.channels.numbered("semaphore", number(call, 0)?, host_of_tid(call.tid));
                // What is not counted down is counted up (semop(2)).
                let takes = memchr::memmem::find(call.args, b"sem_op=-").is_some()
                    || memchr::memmem::find(call.args, b", -").is_some();
                if !takes && call.ok().is_some() {
                    self.gives(flow, seen, How::Semaphore);
                }
                if takes && long { self.channels.ended(flow, For::Data, seen) } else { None }
            }
            "kill" | "tkill" => self.sent(seen, 0),
            "tgkill" => self.sent(seen, 1),
            _ if long && ends_by_signal(call) => self.signalled(seen, world),
            _ => None,
        }
    }

    fn sent(&mut self, seen: &Seen<'_>, target: usize) -> Option<Waker> {
        let call = seen.call;
        // Signal 0 only asks whether the target is there.
        let signal = call.arg(target + 1).is_some_and(|signal| signal != b"0");
        if signal && call.ok() == Some(0) {
            let flow = self.channels.numbered("signal", number(call, target)?, host_of_tid(call.tid));
            self.gives(flow, seen, How::Signal);
        }
        None
    }

    /// The flow of the signals that are sent to a thread or process.
    fn signals_of(&self, tid: Tid) -> Flow {
        self.channels.numbered("signal", u64::from(tid_there(tid)), host_of_tid(tid))
    }

    /// Who sent the signal that ended a wait: to the thread, or to its process.
    pub(super) fn signalled(&mut self, seen: &Seen<'_>, world: &World) -> Option<Waker> {
        let to_thread = self.signals_of(seen.call.tid);
        let waker = self.channels.ended(to_thread, For::Data, seen);
        let pid: Option<Tid> = world.threads.process(seen.process).pid.filter(|pid| *pid != seen.call.tid);
        waker.or_else(|| {
            let to_process = self.signals_of(pid?);
            self.channels.ended(to_process, For::Data, seen)
        })
    }
}

/// Calls that wait for a signal, and return EINTR or its number when it comes.
pub(super) fn ends_by_signal(call: &Call<'_>) -> bool {
    matches!(call.syscall.info().name, "pause" | "rt_sigsuspend" | "sigsuspend" | "rt_sigtimedwait")
}

fn number(call: &Call<'_>, at: usize) -> Option<u64> {
    let (number, _) = text::decimal(call.arg(at)?)?;
    u64::try_from(number).ok()
}
