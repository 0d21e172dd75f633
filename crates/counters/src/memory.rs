//! Memory of the host: what is used for what (/proc/meminfo), and what the kernel does about it (/proc/vmstat): swapping,
//! reclaim, compaction, faults.

use crate::figures::Figures;
use crate::text;
use whyslow_model::Metric;

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
const COUNTERS: [(&[u8], bool, Metric, As); 14] = [
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
    // The name before Linux 5.9, when there was one for files and the rest.
    (b"workingset_refault", false, Metric::Refaults, As::Events),
];

/// /proc/meminfo.
pub fn meminfo(text: &[u8], figures: &mut Figures) {
    let (mut total, mut available) = (None, None);
    let mut known: [bool; LEVELS.len()] = Default::default();
    figures.each_line(text, |figures, line| {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        let Some(at) = LEVELS.iter().position(|(name, _)| *name == &line[..colon]) else { return };
        let kib = text::words(&line[colon + 1..]).next().and_then(text::number);
        let Some(bytes) = kib.and_then(|kib| kib.checked_mul(1024)) else { return };
        if std::mem::replace(&mut known[at], true) {
            return;
        }
        let metric = LEVELS[at].1;
        figures.number(metric, Some(bytes));
        match metric {
            Metric::MemTotal => total = Some(bytes),
            Metric::MemAvailable => available = Some(bytes),
            _ => {}
        }
    });
    // As free(1) has it.
    let used = total.zip(available).and_then(|(all, left): (u64, u64)| all.checked_sub(left));
    figures.number(Metric::MemUsed, used);
}

/// /proc/vmstat, with pages of so many bytes; false where no line is a name and a number.
pub fn vmstat(text: &[u8], page: u64, figures: &mut Figures) -> bool {
    let mut known = false;
    let (mut faults, mut major, mut of_files) = (None, None, false);
    let unit = |counts: As| match counts {
        As::Events => 1.0,
        As::Pages => page as f64,
        As::Kib => 1024.0,
    };
    figures.each_line(text, |figures, line| {
        let mut words = text::words(line);
        let (Some(name), Some(value)) = (words.next(), words.next().and_then(text::number)) else { return };
        known = true;
        match name {
            b"nr_dirty_threshold" => figures.number(Metric::DirtyLimit, value.checked_mul(page)),
            b"pgfault" => faults = Some(value),
            b"pgmajfault" => major = Some(value),
            b"workingset_refault_file" => of_files = true,
            b"workingset_refault" if of_files => return,
            _ => {}
        }
        for (counter, by_zone, metric, counts) in COUNTERS {
            let zone = |rest: &[u8]| rest.starts_with(b"_") && rest != b"_throttle";
            if name == counter || by_zone && name.strip_prefix(counter).is_some_and(zone) {
                figures.sum(metric, Some(value), unit(counts));
            }
        }
    });
    // The kernel counts all faults; the major ones are taken off.
    figures.sum(Metric::MinorFaults, faults.zip(major).and_then(|(all, major)| all.checked_sub(major)), 1.0);
    known
}

/// True for the name of a line of /proc/vmstat that is told.
pub fn is_of_vmstat(name: &str) -> bool {
    let more = [&b"pgfault"[..], b"nr_dirty_threshold", b"nr_free_pages"];
    COUNTERS.iter().any(|(counter, ..)| *counter == name.as_bytes()) || more.contains(&name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_added_and_minor_faults_are_no_major_ones() {
        let mut figures = Figures::default();
        let text = b"pswpin 10\npgfault 5000\npgmajfault 100\nallocstall_normal 3\nallocstall_dma 1\n\
            pgscan_direct 5\npgscan_direct_throttle 7\nworkingset_refault_file 4\nworkingset_refault 9\nnr_dirty_threshold 50\n";
        assert!(vmstat(text, 4096, &mut figures));
        let told: Vec<_> = figures.totals().map(|told| (told.metric, told.value)).collect();
        assert_eq!(
            told,
            [
                (Metric::SwapIn, 40_960.0),
                (Metric::MajorFaults, 100.0),
                (Metric::AllocStalls, 4.0),
                (Metric::DirectScans, 5.0),
                (Metric::Refaults, 4.0),
                (Metric::MinorFaults, 4900.0)
            ]
        );
        assert!(!vmstat(b"x y\n", 4096, &mut Figures::default()));
        let mut figures = Figures::default();
        meminfo(b"MemTotal: 1000 kB\nMemAvailable: 600 kB\nMemTotal: 5 kB\n", &mut figures);
        let told: Vec<_> = figures.levels().map(|told| (told.metric, told.value, told.line)).collect();
        assert_eq!(
            told,
            [
                (Metric::MemTotal, 1_024_000.0, 1),
                (Metric::MemAvailable, 614_400.0, 2),
                (Metric::MemUsed, 409_600.0, 0)
            ]
        );
    }
}
