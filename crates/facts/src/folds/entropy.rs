//! Waits for random numbers: calls that ask the kernel for them and that take long.

use super::fold::{Fold, When};
use crate::exemplar::Exemplars;
use crate::world::ids::ProcessId;
use crate::world::{Seen, World};
use whyslow_model::event::Tid;
use whyslow_model::{CallStats, Nanos, Syscall};

/// What one process waited.
#[derive(Debug)]
pub struct Drawn {
    /// The process.
    pub process: ProcessId,
    /// Where from: `getrandom`, `/dev/random`.
    pub source: Box<str>,
    /// Calls that took [`Entropy::LONG`] and more.
    pub waits: CallStats,
    /// The first thread that waited.
    pub tid: Tid,
    /// Another one did too.
    pub shared: bool,
    /// Lines of such calls.
    pub lines: Exemplars,
}

/// All of them, by process and source. Bounded.
#[derive(Debug, Default)]
pub struct Entropy {
    /// In order of appearance.
    pub rows: Vec<Drawn>,
}

impl Entropy {
    /// A call that fills 256 bytes takes 2 us; one that waits for a CPU a few milliseconds.
    pub const LONG: Nanos = Nanos::from_millis(10);
    /// The kernel makes some 300 MB a second: what takes ten times as long for its bytes waits, ns.
    const NS_PER_BYTE: u64 = 30;
    const MAX_ROWS: usize = 256;
    /// Devices that wait for entropy (random(4)), or draw from hardware.
    const DEVICES: [&str; 2] = ["/dev/random", "/dev/hwrng"];
}

impl Fold for Entropy {
    fn wants(&self, syscall: Syscall) -> bool {
        matches!(syscall, Syscall::GETRANDOM | Syscall::READ)
    }

    fn when(&self, _: Syscall) -> When {
        When::Slow
    }

    fn call(&mut self, seen: &Seen<'_>, world: &World) {
        let call = seen.call;
        let bytes = call.ok().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
        let work = bytes.saturating_mul(Self::NS_PER_BYTE);
        if call.dur.or_zero() < Self::LONG.or_zero().saturating_add(work) {
            return;
        }
        let source = match (call.syscall, seen.file) {
            (Syscall::GETRANDOM, _) => "getrandom",
            (_, Some(file)) if Self::DEVICES.contains(&&*world.files.get(file).path) => {
                &*world.files.get(file).path
            }
            _ => return,
        };
        let known = self.rows.iter().position(|row| row.process == seen.process && *row.source == *source);
        let at = match known {
            Some(at) => at,
            None if self.rows.len() >= Self::MAX_ROWS => return,
            None => {
                self.rows.push(Drawn {
                    process: seen.process,
                    source: source.into(),
                    waits: CallStats::default(),
                    tid: call.tid,
                    shared: false,
                    lines: Exemplars::default(),
                });
                self.rows.len() - 1
            }
        };
        let row = &mut self.rows[at];
        row.shared |= row.tid != call.tid;
        row.waits.record(call.dur, call.failed(), bytes);
        row.lines.see(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Facts;
    use whyslow_model::{Call, Event, Ret, Sink, Timestamp};

    #[test]
    fn only_long_calls_count() {
        let calls = [
            ("getrandom", r#""\1\2"..., 16, 0"#, 16, 0),
            ("getrandom", r#""\1\2"..., 16, 0"#, 16, 700),
            ("getrandom", r#""\1\2"..., 8388608, 0"#, 8_388_608, 30),
            ("openat", r#"AT_FDCWD, "/dev/random", O_RDONLY"#, 5, 0),
            ("read", r#"5, "\1\2"..., 16"#, 16, 300),
            ("openat", r#"AT_FDCWD, "/srv/a", O_RDONLY"#, 6, 0),
            ("read", r#"6, "a"..., 16"#, 16, 300),
        ];
        let mut facts = Facts::default();
        for (at, (name, args, ret, ms)) in calls.into_iter().enumerate() {
            let ts = Timestamp::new(1_000_000_000 * (at as u64 + 1));
            let call = Call {
                tid: 9,
                ts,
                dur: Nanos::from_millis(ms),
                ret: Ret::Value(ret),
                ..Call::new(name, args)
            };
            facts.push(Event::Call(&call));
        }
        facts.finish();
        let rows: Vec<_> =
            facts.entropy.rows.iter().map(|row| (&*row.source, row.waits.count, row.waits.total())).collect();
        assert_eq!(
            rows,
            [("getrandom", 1, Nanos::from_millis(700)), ("/dev/random", 1, Nanos::from_millis(300))]
        );
    }
}
