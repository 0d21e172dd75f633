//! Events of one host among several: threads and stacks get ids of that host, and times are told by the first host's clock.

use whyslow_model::event::Tid;
use whyslow_model::ids::tid_on_host;
use whyslow_model::{
    Call, CallStack, Event, Exit, FileIo, Meanwhile, Ret, SampledStack, Signal, Sink, Stack, StackId,
    Stretch, Timestamp, Wakeup,
};

/// Stacks of a host have numbers from here on, times its number: a recording has far fewer.
const STACKS_OF_A_HOST: u32 = 1 << 22;

/// Hands the events of one host on, as those of host `number`.
pub struct OfHost<'a> {
    /// 0 for the first, whose events are handed on as they are.
    number: u16,
    /// To be added to its times, ns.
    shift_ns: i64,
    to: &'a mut dyn Sink,
}

impl<'a> OfHost<'a> {
    /// Hands on to `to`.
    pub fn new(number: u16, shift_ns: i64, to: &'a mut dyn Sink) -> OfHost<'a> {
        OfHost { number, shift_ns, to }
    }

    fn tid(&self, tid: Tid) -> Tid {
        tid_on_host(tid, self.number)
    }

    fn time(&self, ts: Timestamp) -> Timestamp {
        ts.get().map_or(ts, |ns| Timestamp::new(ns.saturating_add_signed(self.shift_ns)))
    }

    fn stack(&self, id: Option<StackId>) -> Option<StackId> {
        id.map(|StackId(id)| StackId(id.wrapping_add(u32::from(self.number) * STACKS_OF_A_HOST)))
    }

    fn call<'c>(&self, call: &Call<'c>) -> Call<'c> {
        let ret = match call.ret {
            Ret::Value(value) if returns_id(call.syscall.info().name) => {
                Ret::Value(u32::try_from(value).map_or(value, |tid| i64::from(self.tid(tid))))
            }
            ret => ret,
        };
        Call {
            tid: self.tid(call.tid),
            pid: call.pid.map(|pid| self.tid(pid)),
            ts: self.time(call.ts),
            ret,
            ..*call
        }
    }
}

/// Calls that return the id of a thread or process.
fn returns_id(name: &str) -> bool {
    matches!(
        name,
        "clone" | "clone3" | "fork" | "vfork" | "wait4" | "getpid" | "gettid" | "getppid" | "set_tid_address"
    )
}

impl Sink for OfHost<'_> {
    fn push(&mut self, event: Event<'_>) {
        if self.number == 0 {
            return self.to.push(event);
        }
        let told = match event {
            Event::Call(call) => return self.to.push(Event::Call(&self.call(call))),
            Event::Enter(call) => return self.to.push(Event::Enter(&self.call(call))),
            Event::Signal(signal) => {
                Event::Signal(Signal { tid: self.tid(signal.tid), ts: self.time(signal.ts), ..signal })
            }
            Event::Exit(exit) => {
                Event::Exit(Exit { tid: self.tid(exit.tid), ts: self.time(exit.ts), ..exit })
            }
            Event::Frame { tid, text } => Event::Frame { tid: self.tid(tid), text },
            Event::Process(mut info) => {
                info.pid = self.tid(info.pid);
                info.tid = info.tid.map(|tid| self.tid(tid));
                info.parent = info.parent.map(|parent| self.tid(parent));
                (info.start, info.end) = (self.time(info.start), self.time(info.end));
                Event::Process(info)
            }
            Event::Fd(mut entry) => {
                entry.pid = entry.pid.map(|pid| self.tid(pid));
                entry.tid = entry.tid.map(|tid| self.tid(tid));
                Event::Fd(entry)
            }
            Event::Stretch(stretch) => Event::Stretch(Stretch {
                ts: self.time(stretch.ts),
                pid: self.tid(stretch.pid),
                tid: self.tid(stretch.tid),
                ..stretch
            }),
            Event::Wakeup(wakeup) => Event::Wakeup(Wakeup {
                ts: self.time(wakeup.ts),
                waker: wakeup.waker.map(|waker| self.tid(waker)),
                wakee: self.tid(wakeup.wakee),
                ..wakeup
            }),
            Event::Stack(stack) => {
                let id = self.stack(Some(stack.id)).unwrap_or(stack.id);
                Event::Stack(Stack { id, ..stack })
            }
            Event::Sample(sample) => Event::Sample(SampledStack {
                ts: self.time(sample.ts),
                pid: self.tid(sample.pid),
                tid: self.tid(sample.tid),
                user: self.stack(sample.user),
                kernel: self.stack(sample.kernel),
                ..sample
            }),
            Event::CallStack(made) => Event::CallStack(CallStack {
                ts: self.time(made.ts),
                pid: self.tid(made.pid),
                tid: self.tid(made.tid),
                user: self.stack(Some(made.user)).unwrap_or(made.user),
                ..made
            }),
            Event::FileIo(io) => Event::FileIo(Box::new(FileIo {
                pid: self.tid(io.pid),
                tid: self.tid(io.tid),
                first: self.time(io.first),
                last: self.time(io.last),
                ..*io
            })),
            Event::Meanwhile(one) => Event::Meanwhile(Box::new(Meanwhile {
                pid: self.tid(one.pid),
                tid: self.tid(one.tid),
                runner: one.runner.map(|runner| self.tid(runner)),
                ..*one
            })),
            Event::Parked(mut parked) => {
                parked.pid = self.tid(parked.pid);
                Event::Parked(parked)
            }
            Event::Net(mut net) => {
                net.ts = self.time(net.ts);
                net.pid = net.pid.map(|pid| self.tid(pid));
                Event::Net(net)
            }
            Event::ThreadCounts(mut counts) => {
                (counts.pid, counts.tid) = (self.tid(counts.pid), self.tid(counts.tid));
                (counts.from, counts.to) = (self.time(counts.from), self.time(counts.to));
                Event::ThreadCounts(counts)
            }
            Event::ThreadTotals(mut totals) => {
                (totals.pid, totals.tid) = (self.tid(totals.pid), self.tid(totals.tid));
                Event::ThreadTotals(totals)
            }
            Event::Trace(mut start) => {
                start.pid = start.pid.map(|pid| self.tid(pid));
                Event::Trace(start)
            }
            Event::Note(mut note) => {
                note.tid = note.tid.map(|tid| self.tid(tid));
                Event::Note(note)
            }
            Event::Source(info) => Event::Source(info),
            // What is told of a whole host, or of the whole recording, would be taken for what is told of the target's.
            Event::Figures(_)
            | Event::BlockIo(_)
            | Event::Counts(_)
            | Event::Percentiles(_)
            | Event::Logged(_)
            | Event::Profile(_)
            | Event::Span(_)
            | Event::Loss(_)
            | Event::Cost(_)
            | Event::Followed(_) => return,
        };
        self.to.push(told);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::ids::{host_of_tid, tid_there};
    use whyslow_model::{Nanos, ProcessInfo};

    /// What comes of an event of that host, whose clock is 5 ns ahead of the first one's.
    fn told(number: u16, event: Event<'_>) -> Option<String> {
        let mut told = None;
        let mut sink = |event: Event<'_>| told = Some(format!("{event:?}"));
        OfHost::new(number, -5, &mut sink).push(event);
        told
    }

    #[test]
    fn the_first_host_is_told_as_it_is() {
        let mut call = Call::new("fork", "");
        (call.tid, call.ret, call.ts) = (7, Ret::Value(8), Timestamp::new(100));
        assert_eq!(told(0, Event::Call(&call)), Some(format!("{:?}", Event::Call(&call))));
    }

    #[test]
    fn threads_of_another_host_get_ids_and_times_of_their_own() {
        let mut call = Call::new("fork", "");
        (call.tid, call.pid, call.ret) = (7, Some(7), Ret::Value(8));
        (call.ts, call.dur) = (Timestamp::new(100), Nanos::new(1));
        let mut seen = None;
        let mut sink = |event: Event<'_>| {
            let Event::Call(call) = event else { panic!("{event:?}") };
            seen = Some((call.tid, call.pid, call.ret, call.ts, call.dur));
        };
        OfHost::new(2, -5, &mut sink).push(Event::Call(&call));
        let (tid, pid, ret, ts, dur) = seen.expect("it was handed on");
        assert_eq!((host_of_tid(tid), tid_there(tid), pid), (2, 7, Some(tid)));
        assert_eq!(ret, Ret::Value(i64::from(tid_on_host(8, 2))));
        assert_eq!((ts, dur), (Timestamp::new(95), Nanos::new(1)));
    }

    #[test]
    fn a_failed_call_still_fails_and_what_is_of_the_whole_host_is_left_out() {
        let mut call = Call::new("wait4", "-1");
        (call.tid, call.ret) = (7, Ret::Value(-1));
        assert!(told(1, Event::Call(&call)).is_some_and(|text| text.contains("Value(-1)")));
        let at = Timestamp::new(1);
        let span = whyslow_model::RecordedSpan { from: at, to: at, calls: whyslow_model::Coverage::Full };
        assert!(told(1, Event::Span(span)).is_none());
        let process = ProcessInfo { pid: 3, parent: Some(0), ..ProcessInfo::default() };
        assert!(told(1, Event::Process(process)).is_some_and(|text| text.contains("parent: Some(0)")));
    }
}
