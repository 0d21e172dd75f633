//! Events cut to their window: what began before it counts from its begin, so that the time of one minute is told once.

use whyslow_model::{CallFlags, Event, Nanos, Sink, Stretch, Timestamp};

/// The begin of a window, ns since the epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowBegin(pub(crate) u64);

/// A sink that gets events as of the window.
pub(crate) struct WithinWindow<'a> {
    pub(crate) begin: WindowBegin,
    pub(crate) sink: &'a mut dyn Sink,
}

impl Sink for WithinWindow<'_> {
    fn push(&mut self, event: Event<'_>) {
        self.begin.cut(event, &mut |event| self.sink.push(event));
    }
}

impl WindowBegin {
    /// The event as of the window, to `take`.
    pub(crate) fn cut<'a>(self, event: Event<'a>, take: &mut dyn FnMut(Event<'_>)) {
        match event {
            Event::Call(call) => {
                let Some(ts) = call.ts.get().filter(|ts| *ts < self.0) else { return take(event) };
                let mut cut = *call;
                cut.ts = Timestamp::new(self.0);
                if let Some(dur) = call.dur.get() {
                    cut.dur = Nanos::new(ts.saturating_add(dur).saturating_sub(self.0));
                }
                cut.flags = cut.flags.with(CallFlags::START_NOT_SEEN);
                take(Event::Call(&cut));
            }
            Event::Stretch(stretch) => take(Event::Stretch(self.stretch(stretch))),
            // A wait's stack is taken as the wait ends.
            Event::Sample(mut sample) => {
                if let (Some(ts), Some(ns)) = (sample.ts.get(), sample.weight.get()) {
                    sample.weight = Nanos::new(ns.min(ts.saturating_sub(self.0)));
                }
                take(Event::Sample(sample));
            }
            event => take(event),
        }
    }

    fn stretch(self, mut stretch: Stretch) -> Stretch {
        let Some(ts) = stretch.ts.get() else { return stretch };
        // Before it ran it could run, and before that it was blocked.
        let room = ts.saturating_sub(self.0);
        let at_most = |time: Nanos, most: u64| time.get().map_or(time, |ns| Nanos::new(ns.min(most)));
        stretch.runnable = at_most(stretch.runnable, room);
        let room = room - stretch.runnable.or_zero().min(room);
        stretch.blocked = at_most(stretch.blocked, room);
        if ts < self.0 {
            let before = self.0 - ts;
            stretch.on_cpu =
                stretch.on_cpu.get().map_or(stretch.on_cpu, |ns| Nanos::new(ns.saturating_sub(before)));
            stretch.ts = Timestamp::new(self.0);
        }
        stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyslow_model::{Call, LeftAs};

    #[test]
    fn a_call_counts_from_the_begin_of_the_window() {
        let mut times = Vec::new();
        for (ts, dur) in [(50, 70), (100, 20), (90, 5)] {
            let mut call = Call::new("read", "3");
            (call.ts, call.dur) = (Timestamp::new(ts), Nanos::new(dur));
            WindowBegin(100).cut(Event::Call(&call), &mut |event| {
                let Event::Call(call) = event else { panic!("a call") };
                times.push((call.ts.get(), call.dur.get(), call.flags.contains(CallFlags::START_NOT_SEEN)));
            });
        }
        assert_eq!(
            times,
            [(Some(100), Some(20), true), (Some(100), Some(20), false), (Some(100), Some(0), true)]
        );
    }

    #[test]
    fn a_stretch_has_no_time_of_before_the_window() {
        let cut = |ts, on_cpu, runnable, blocked| {
            let of = Stretch {
                ts: Timestamp::new(ts),
                cpu: 0,
                pid: 1,
                tid: 1,
                left_as: LeftAs::Sleeping,
                on_cpu: Nanos::new(on_cpu),
                runnable: Nanos::new(runnable),
                blocked: Nanos::new(blocked),
            };
            let cut = WindowBegin(100).stretch(of);
            [cut.ts.get(), cut.on_cpu.get(), cut.runnable.get(), cut.blocked.get()]
                .map(|ns| ns.unwrap_or(u64::MAX))
        };
        assert_eq!(cut(130, 5, 10, 50), [130, 5, 10, 20]);
        assert_eq!(cut(130, 5, 40, 50), [130, 5, 30, 0]);
        assert_eq!(cut(90, 30, 10, 50), [100, 20, 0, 0]);
        assert_eq!(cut(130, 5, u64::MAX, u64::MAX), [130, 5, u64::MAX, u64::MAX]);
    }
}
