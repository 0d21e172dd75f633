//! Control groups of both versions: which of their files tells what.

use crate::figures::Figures;
use crate::{pressure, text};
use whyslow_model::Metric;

/// What version 1 shows of a group without a limit of memory: the largest number of whole pages, less a little.
const NO_LIMIT: u64 = 1 << 62;

/// One file of a group: where it is, and how it is read.
pub struct Item {
    /// The controller of version 1 whose hierarchy has it; empty for version 2.
    pub controller: &'static str,
    /// Its name.
    pub file: &'static str,
    /// Reads it; the last is the clock ticks a second.
    pub read: fn(&[u8], &mut Figures, f64),
}

const fn item(controller: &'static str, file: &'static str, read: fn(&[u8], &mut Figures, f64)) -> Item {
    Item { controller, file, read }
}

/// What both versions tell in memory.stat.
fn memory_stat(text: &[u8], figures: &mut Figures) {
    figures.sums_by_name(
        text,
        &[
            (b"pgmajfault", Metric::MajorFaults, 1.0),
            (b"workingset_refault_file", Metric::Refaults, 1.0),
            (b"pgscan_direct", Metric::DirectScans, 1.0),
            (b"pgscan_kswapd", Metric::KswapdScans, 1.0),
        ],
    );
    figures.numbers_by_name(
        text,
        &[
            (b"file", Metric::MemCached),
            (b"cache", Metric::MemCached),
            (b"active_file", Metric::MemActiveFile),
            (b"file_dirty", Metric::MemDirty),
            (b"dirty", Metric::MemDirty),
            (b"file_writeback", Metric::MemWriteback),
            (b"writeback", Metric::MemWriteback),
        ],
    );
}

/// `8:16 rbps=2097152 wbps=max` and the same of io.stat: pairs behind the device.
fn pairs(text: &[u8], figures: &mut Figures, take: impl Fn(&mut Figures, &[u8], Option<u64>)) {
    figures.each_line(text, |figures, line| {
        for word in text::words(line).skip(1) {
            if let Some(at) = word.iter().position(|byte| *byte == b'=') {
                take(figures, &word[..at], text::number(&word[at + 1..]));
            }
        }
    });
}

/// The limits that lines `8:16 1048576` set, a device a line.
fn throttle(text: &[u8], figures: &mut Figures, metric: Metric) {
    figures.each_line(text, |figures, line| {
        figures.limit(metric, text::words(line).nth(1).and_then(text::number));
    });
}

/// All files that are read.
pub static ITEMS: [Item; 32] = [
    item("", "cpu.stat", |text, figures, _| {
        figures.sums_by_name(
            text,
            &[
                (b"user_usec", Metric::TaskUser, 1e-6),
                (b"system_usec", Metric::TaskSystem, 1e-6),
                (b"nr_periods", Metric::CpuPeriods, 1.0),
                (b"nr_throttled", Metric::ThrottledPeriods, 1.0),
                (b"throttled_usec", Metric::ThrottledTime, 1e-6),
            ],
        );
    }),
    item("", "cpu.max", |text, figures, _| {
        let mut words = text::words(text.trim_ascii()).map(text::number);
        // `max` is no quota.
        figures.quota(words.next().flatten());
        figures.period(words.next().flatten());
    }),
    item("", "memory.current", |text, figures, _| figures.number(Metric::MemUsed, text::only_number(text))),
    item("", "memory.max", |text, figures, _| figures.number(Metric::MemTotal, text::only_number(text))),
    item("", "memory.high", |text, figures, _| figures.number(Metric::MemoryHigh, text::only_number(text))),
    item("", "memory.swap.current", |text, figures, _| {
        figures.number(Metric::Swapped, text::only_number(text))
    }),
    item("", "memory.events", |text, figures, _| {
        figures.sums_by_name(
            text,
            &[
                (b"high", Metric::MemoryHighEvents, 1.0),
                (b"max", Metric::MemoryMaxEvents, 1.0),
                (b"oom_kill", Metric::OomKills, 1.0),
            ],
        );
    }),
    item("", "memory.stat", |text, figures, _| memory_stat(text, figures)),
    item("", "io.max", |text, figures, _| {
        pairs(text, figures, |figures, key, value| match key {
            b"rbps" => figures.limit(Metric::IoReadLimit, value),
            b"wbps" => figures.limit(Metric::IoWriteLimit, value),
            b"riops" | b"wiops" => figures.limit(Metric::IoOpsLimit, value),
            _ => {}
        });
    }),
    item("", "io.stat", |text, figures, _| {
        pairs(text, figures, |figures, key, value| match key {
            b"rbytes" => figures.sum(Metric::ReadBytes, value, 1.0),
            b"wbytes" => figures.sum(Metric::WriteBytes, value, 1.0),
            b"rios" => figures.sum(Metric::Reads, value, 1.0),
            b"wios" => figures.sum(Metric::Writes, value, 1.0),
            _ => {}
        });
    }),
    item("", "cpu.pressure", |text, figures, _| {
        pressure::stalls(text, 0, figures);
    }),
    item("", "memory.pressure", |text, figures, _| {
        pressure::stalls(text, 1, figures);
    }),
    item("", "io.pressure", |text, figures, _| {
        pressure::stalls(text, 2, figures);
    }),
    item("", "pids.current", |text, figures, _| figures.number(Metric::Threads, text::only_number(text))),
    item("", "pids.max", |text, figures, _| figures.number(Metric::PidLimit, text::only_number(text))),
    item("cpu", "cpu.stat", |text, figures, _| {
        figures.sums_by_name(
            text,
            &[
                (b"nr_periods", Metric::CpuPeriods, 1.0),
                (b"nr_throttled", Metric::ThrottledPeriods, 1.0),
                (b"throttled_time", Metric::ThrottledTime, 1e-9),
            ],
        );
    }),
    item("cpu", "cpu.cfs_quota_us", |text, figures, _| figures.quota(text::only_number(text))),
    item("cpu", "cpu.cfs_period_us", |text, figures, _| figures.period(text::only_number(text))),
    item("cpuacct", "cpuacct.stat", |text, figures, ticks| {
        figures.sums_by_name(
            text,
            &[(b"user", Metric::TaskUser, 1.0 / ticks), (b"system", Metric::TaskSystem, 1.0 / ticks)],
        );
    }),
    item("memory", "memory.usage_in_bytes", |text, figures, _| {
        figures.number(Metric::MemUsed, text::only_number(text))
    }),
    item("memory", "memory.limit_in_bytes", |text, figures, _| {
        figures.number(Metric::MemTotal, text::only_number(text).filter(|limit| *limit < NO_LIMIT));
    }),
    item("memory", "memory.failcnt", |text, figures, _| {
        figures.sum(Metric::MemoryMaxEvents, text::only_number(text), 1.0);
    }),
    item("memory", "memory.oom_control", |text, figures, _| {
        figures.sums_by_name(text, &[(b"oom_kill", Metric::OomKills, 1.0)])
    }),
    item("memory", "memory.stat", |text, figures, _| memory_stat(text, figures)),
    item("blkio", "blkio.throttle.read_bps_device", |text, figures, _| {
        throttle(text, figures, Metric::IoReadLimit)
    }),
    item("blkio", "blkio.throttle.write_bps_device", |text, figures, _| {
        throttle(text, figures, Metric::IoWriteLimit)
    }),
    item("blkio", "blkio.throttle.read_iops_device", |text, figures, _| {
        throttle(text, figures, Metric::IoOpsLimit)
    }),
    item("blkio", "blkio.throttle.write_iops_device", |text, figures, _| {
        throttle(text, figures, Metric::IoOpsLimit)
    }),
    item("blkio", "blkio.throttle.io_service_bytes", |text, figures, _| {
        by_direction(text, figures, Metric::ReadBytes, Metric::WriteBytes);
    }),
    item("blkio", "blkio.throttle.io_serviced", |text, figures, _| {
        by_direction(text, figures, Metric::Reads, Metric::Writes);
    }),
    item("pids", "pids.current", |text, figures, _| figures.number(Metric::Threads, text::only_number(text))),
    item("pids", "pids.max", |text, figures, _| figures.number(Metric::PidLimit, text::only_number(text))),
];

/// `8:0 Read 1234`.
fn by_direction(text: &[u8], figures: &mut Figures, read: Metric, write: Metric) {
    figures.each_line(text, |figures, line| {
        let mut words = text::words(line).skip(1);
        let (direction, value) = (words.next(), words.next().and_then(text::number));
        match direction {
            Some(b"Read") => figures.sum(read, value, 1.0),
            Some(b"Write") => figures.sum(write, value, 1.0),
            _ => {}
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(controller: &str, files: &[(&str, &str)]) -> Figures {
        let mut figures = Figures::default();
        for item in ITEMS.iter().filter(|item| item.controller == controller) {
            for (_, text) in files.iter().filter(|(name, _)| *name == item.file) {
                (item.read)(text.as_bytes(), &mut figures, 100.0);
            }
        }
        figures
    }

    fn levels(figures: &Figures) -> Vec<(Metric, f64)> {
        figures.levels().map(|told| (told.metric, told.value)).collect()
    }

    fn totals(figures: &Figures) -> Vec<(Metric, f64)> {
        figures.totals().map(|told| (told.metric, told.value)).collect()
    }

    #[test]
    fn both_versions_tell_the_same() {
        let unified = read(
            "",
            &[
                ("cpu.max", "50000 100000\n"),
                ("cpu.stat", "usage_usec 9\nuser_usec 5\nnr_throttled 3\nthrottled_usec 2000000\n"),
                ("memory.max", "max\n"),
                ("io.max", "8:16 rbps=2097152 wbps=max riops=max wiops=120\n8:0 rbps=1000 wbps=5\n"),
            ],
        );
        assert_eq!(
            levels(&unified),
            [
                (Metric::IoReadLimit, 1000.0),
                (Metric::IoOpsLimit, 120.0),
                (Metric::IoWriteLimit, 5.0),
                (Metric::CpuQuota, 0.5),
            ]
        );
        assert!(totals(&unified).contains(&(Metric::ThrottledTime, 2.0)));
        let old = read(
            "cpu",
            &[
                ("cpu.cfs_quota_us", "50000\n"),
                ("cpu.cfs_period_us", "100000\n"),
                ("cpu.stat", "throttled_time 2000000000\n"),
            ],
        );
        assert_eq!(
            (levels(&old), totals(&old)),
            (vec![(Metric::CpuQuota, 0.5)], vec![(Metric::ThrottledTime, 2.0)])
        );
        let none = read("cpu", &[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")]);
        assert_eq!(levels(&none), []);
        assert_eq!(levels(&read("memory", &[("memory.limit_in_bytes", "9223372036854771712\n")])), []);
    }
}
