//! Memory of the host: what is used for what (/proc/meminfo), and what the kernel does about it (/proc/vmstat): swapping,
//! reclaim, compaction, faults.

use super::{Look, Source};
use crate::options::Options;
use crate::out::{Out, Row};
use crate::sampler::Context;
use crate::text;
use whyslow_model::{Entity, Metric, Over, Trait};

pub(super) const SOURCE: Source = Source {
    name: "memory",
    reads: "/proc/meminfo, /proc/vmstat, /sys/kernel/mm/transparent_hugepage/enabled",
    open: |_: &Options| Box::new(Memory::default()),
};

/// Lines of /proc/meminfo, which are in KiB.
const LEVELS: [(&[u8], Metric); 10] = [
    (b"MemTotal", Metric::MemTotal),
    (b"MemFree", Metric::MemFree),
    (b"MemAvailable", Metric::MemAvailable),
    (b"Buffers", Metric::MemBuffers),
    (b"Cached", Metric::MemCached),
    (b"Active(file)", Metric::MemActiveFile),
    (b"Dirty", Metric::MemDirty),
    (b"Writeback", Metric::MemWriteback),
    (b"SwapTotal", Metric::SwapTotal),
    (b"SwapFree", Metric::SwapFree),
];

/// How a line of /proc/vmstat counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    /// Events.
    Events,
    /// Pages, wanted in bytes.
    Pages,
    /// KiB, wanted in bytes.
    Kib,
}

/// Counters of /proc/vmstat (mm/vmstat.c). Older kernels tell some of them a zone: `allocstall_dma`, `pgscan_direct_normal`;
/// all lines that begin so are added.
const COUNTERS: [(&[u8], bool, Metric, As); 15] = [
    (b"pswpin", false, Metric::SwapIn, As::Pages),
    (b"pswpout", false, Metric::SwapOut, As::Pages),
    (b"pgpgin", false, Metric::PageIn, As::Kib),
    (b"pgpgout", false, Metric::PageOut, As::Kib),
    (b"workingset_refault_file", false, Metric::Refaults, As::Events),
    (b"pgscan_direct", true, Metric::DirectScans, As::Events),
    (b"pgscan_kswapd", true, Metric::KswapdScans, As::Events),
    (b"allocstall", true, Metric::AllocStalls, As::Events),
    (b"compact_stall", false, Metric::CompactStalls, As::Events),
    (b"thp_fault_alloc", false, Metric::ThpFaults, As::Events),
    (b"thp_fault_fallback", false, Metric::ThpFallbacks, As::Events),
    (b"oom_kill", false, Metric::OomKills, As::Events),
    (b"pgmajfault", false, Metric::MajorFaults, As::Events),
    // All faults; the major ones are taken off.
    (b"pgfault", false, Metric::MinorFaults, As::Events),
    // The name before Linux 5.9, when there was one for files and the rest.
    (b"workingset_refault", false, Metric::Refaults, As::Events),
];

#[derive(Default)]
struct Memory {
    before: [Option<u64>; COUNTERS.len()],
}

impl Look for Memory {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let mut row = Row::new(Entity::Host);
        match context.reader.proc("meminfo") {
            Ok(text) => {
                if !levels(text, &mut row) {
                    out.damaged(SOURCE.name, "use of memory", "/proc/meminfo", "MemTotal: 16777216 kB");
                }
            }
            Err(why) => out.unread(SOURCE.name, "use of memory", "/proc/meminfo", why),
        }
        self.events(context, &mut row, out);
        // Where there are none there is nothing to say.
        if let Ok(text) = context.reader.file("/sys/kernel/mm/transparent_hugepage/enabled") {
            row.say(Trait::HugePages, text::bracketed(text).unwrap_or_default());
        }
        out.table(vec![row], Over::SinceBoot, false);
    }
}

/// Takes the lines of /proc/meminfo; false where not even the first is there.
fn levels(text: &[u8], row: &mut Row) -> bool {
    let mut bytes = [None; LEVELS.len()];
    for line in text::lines(text) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let Some(at) = LEVELS.iter().position(|(name, _)| *name == &line[..colon]) else { continue };
        let kib = text::words(&line[colon + 1..]).next().and_then(text::number);
        bytes[at] = kib.and_then(|kib| kib.checked_mul(1024));
    }
    for ((_, metric), bytes) in LEVELS.into_iter().zip(bytes) {
        row.count(metric, bytes);
    }
    let of =
        |wanted: Metric| LEVELS.iter().position(|(_, metric)| *metric == wanted).and_then(|at| bytes[at]);
    // As free(1) has it.
    let used =
        of(Metric::MemTotal).zip(of(Metric::MemAvailable)).and_then(|(all, left)| all.checked_sub(left));
    row.count(Metric::MemUsed, used);
    of(Metric::MemTotal).is_some()
}

impl Memory {
    fn events(&mut self, context: &mut Context<'_>, row: &mut Row, out: &mut Out) {
        let (span, page) = (context.span, context.page);
        let text = match context.reader.proc("vmstat") {
            Ok(text) => text,
            Err(why) => {
                self.before = Default::default();
                return out.unread(SOURCE.name, "swapping, reclaim and faults", "/proc/vmstat", why);
            }
        };
        let mut now: [Option<u64>; COUNTERS.len()] = Default::default();
        let mut known = false;
        for line in text::lines(text) {
            let mut words = text::words(line);
            let (Some(name), Some(value)) = (words.next(), words.next().and_then(text::number)) else {
                continue;
            };
            known = true;
            if name == b"nr_dirty_threshold" {
                row.count(Metric::DirtyLimit, value.checked_mul(page));
            }
            for ((counter, by_zone, _, _), sum) in COUNTERS.iter().zip(&mut now) {
                let is = name == *counter
                    || *by_zone
                        && name
                            .strip_prefix(*counter)
                            .is_some_and(|rest| rest.starts_with(b"_") && rest != b"_throttle");
                if is {
                    *sum = Some(sum.unwrap_or(0).saturating_add(value));
                }
            }
        }
        if !known {
            out.damaged(SOURCE.name, "swapping, reclaim and faults", "/proc/vmstat", "pgfault 123456");
        }
        let grown: [Option<u64>; COUNTERS.len()] =
            std::array::from_fn(|at| span.grown(now[at], self.before[at]));
        let of =
            |wanted: &[u8]| COUNTERS.iter().position(|(name, ..)| *name == wanted).and_then(|at| grown[at]);
        let has_file_refaults = of(b"workingset_refault_file").is_some();
        for ((name, _, metric, counts), grown) in COUNTERS.into_iter().zip(grown) {
            let grown = match metric {
                Metric::MinorFaults => {
                    grown.zip(of(b"pgmajfault")).and_then(|(all, major)| all.checked_sub(major))
                }
                Metric::Refaults if name == b"workingset_refault" && has_file_refaults => None,
                _ => grown,
            };
            let factor = match counts {
                As::Events => 1.0,
                As::Pages => page as f64,
                As::Kib => 1024.0,
            };
            row.rate(metric, span.per_second(grown).map(|rate| rate * factor));
        }
        self.before = now;
    }
}
