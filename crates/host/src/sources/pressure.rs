//! Pressure of the host: how long tasks waited for CPU, memory and disks (/proc/pressure, since Linux 4.20).

use super::{Look, Source};
use crate::counters::Span;
use crate::options::Options;
use crate::out::{Out, Row};
use crate::sampler::Context;
use crate::text;
use rustix::io::Errno;
use whyslow_model::{Entity, Metric, Over};

pub(super) const SOURCE: Source = Source {
    name: "pressure",
    reads: "/proc/pressure/{cpu,memory,io}",
    open: |_: &Options| Box::new(HostPressure::default()),
};

/// Stall time of one resource, in microseconds since boot.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Stalls {
    some: Option<u64>,
    full: Option<u64>,
}

impl Stalls {
    /// `some avg10=0.00 avg60=0.00 avg300=0.00 total=1234`, and the same with `full`.
    pub(super) fn parse(text: &[u8]) -> Stalls {
        let mut stalls = Stalls::default();
        for line in text::lines(text) {
            let mut words = text::words(line);
            let kind = words.next();
            let total = words.find_map(|word| text::number(word.strip_prefix(b"total=")?));
            match kind {
                Some(b"some") => stalls.some = total,
                Some(b"full") => stalls.full = total,
                _ => {}
            }
        }
        stalls
    }
}

/// The files, and the metrics of their two lines. All tasks of a host never wait for a CPU at once: the kernel's `full` of
/// cpu is zero by definition.
pub(super) const FILES: [(&str, Metric, Option<Metric>); 3] = [
    ("cpu", Metric::PressureCpu, None),
    ("memory", Metric::PressureMemory, Some(Metric::PressureMemoryFull)),
    ("io", Metric::PressureIo, Some(Metric::PressureIoFull)),
];

/// What the stalls of one file come to.
pub(super) fn shares(
    row: &mut Row,
    span: &Span,
    now: Stalls,
    before: Stalls,
    some: Metric,
    full: Option<Metric>,
) {
    // The sum is over a time that differs a little from ours.
    let share = |now, before| span.rate(now, before).map(|rate| (rate / 1e6).min(1.0));
    row.rate(some, share(now.some, before.some));
    if let Some(full) = full {
        row.rate(full, share(now.full, before.full));
    }
}

#[derive(Default)]
struct HostPressure {
    before: [Stalls; 3],
}

impl Look for HostPressure {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let mut row = Row::new(Entity::Host);
        for ((name, some, full), before) in FILES.into_iter().zip(&mut self.before) {
            let file = format!("pressure/{name}");
            let now = match context.reader.proc(&file) {
                Ok(text) => Stalls::parse(text),
                Err(Errno::NOENT | Errno::OPNOTSUPP) => {
                    *before = Stalls::default();
                    out.gap(
                        SOURCE.name,
                        "time that tasks waited for CPU, memory and disks",
                        "the kernel keeps no pressure figures",
                        "boot with psi=1 (a kernel built with CONFIG_PSI)",
                    );
                    continue;
                }
                Err(why) => {
                    *before = Stalls::default();
                    out.unread(SOURCE.name, "time that tasks waited", &format!("/proc/{file}"), why);
                    continue;
                }
            };
            if now.some.is_none() {
                out.damaged(
                    SOURCE.name,
                    "time that tasks waited",
                    &format!("/proc/{file}"),
                    "some … total=1234",
                );
            }
            shares(&mut row, &context.span, now, *before, some, full);
            *before = now;
        }
        out.table(vec![row], Over::SinceBoot, false);
    }
}
