//! Memory of the host: what is used for what (/proc/meminfo), and what the kernel does about it (/proc/vmstat): swapping,
//! reclaim, compaction, faults.

use super::{HostSource, Look};
use crate::context::Context;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use whyslow_counters::{Figures, memory, text};
use whyslow_model::{Entity, Metric, Over, Trait};

pub(super) const SOURCE: HostSource = HostSource {
    name: "memory",
    reads: "/proc/meminfo, /proc/vmstat, /sys/kernel/mm/transparent_hugepage/enabled",
    open: |_: &SamplerOptions| Box::new(Memory::default()),
};

#[derive(Default)]
struct Memory {
    before: Option<Figures>,
}

impl Look for Memory {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let mut row = Row::new(Entity::Host);
        let mut now = Figures::default();
        match context.reader.proc("meminfo") {
            Ok(text) => {
                memory::meminfo(text, &mut now);
                if !now.levels().any(|told| told.metric == Metric::MemTotal) {
                    out.damaged(SOURCE.name, "use of memory", "/proc/meminfo", "MemTotal: 16777216 kB");
                }
            }
            Err(why) => out.unread(SOURCE.name, "use of memory", "/proc/meminfo", why),
        }
        match context.reader.proc("vmstat") {
            Ok(text) => {
                if !memory::vmstat(text, context.page, &mut now) {
                    out.damaged(SOURCE.name, EVENTS, "/proc/vmstat", "pgfault 123456");
                }
            }
            Err(why) => out.unread(SOURCE.name, EVENTS, "/proc/vmstat", why),
        }
        row.take(&now, self.before.as_ref(), &context.span);
        self.before = Some(now);
        // Where there are none there is nothing to say.
        if let Ok(text) = context.reader.file("/sys/kernel/mm/transparent_hugepage/enabled") {
            row.say(Trait::HugePages, text::bracketed(text).unwrap_or_default());
        }
        out.table(vec![row], Over::SinceBoot, false);
    }
}

/// What is missing without /proc/vmstat.
const EVENTS: &str = "swapping, reclaim and faults";
