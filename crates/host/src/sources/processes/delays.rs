//! What processes waited for, as the kernel adds it up over all their threads, ended ones included: taskstats by generic
//! netlink (Documentation/accounting/delay-accounting.rst).

use crate::context::Context;
use crate::netlink::{Netlink, attribute, attributes, u16_at, u64_at};
use crate::out::{Out, Row};
use netlink_sys::protocols::NETLINK_GENERIC;
use whyslow_model::Metric;

use whyslow_counters::Span;

/// Numbers of linux/genetlink.h and linux/taskstats.h.
const CONTROL: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const GET: u8 = 1;
const OF_PROCESS: u16 = 2;
const OF_THREAD: u16 = 1;
const STATS: u16 = 3;
/// Bytes of `struct genlmsghdr`.
const HEAD: usize = 4;

/// Where `struct taskstats` has them (linux/taskstats.h, unchanged since version 9; the kernel adds at the end).
const NAME: std::ops::Range<usize> = 80..112;
const FIELDS: [(usize, Metric); 6] = [
    (24, Metric::RunDelay),
    (40, Metric::BlockDelay),
    (56, Metric::SwapDelay),
    (320, Metric::ReclaimDelay),
    (336, Metric::ThrashDelay),
    (360, Metric::CompactDelay),
];
/// How often it waited, for these but the first. A process that began before the kernel counted has none at all: then the
/// times are unknown too, as they are of one that never waited.
const COUNTS: [usize; 5] = [32, 48, 312, 328, 352];
const VOLUNTARY: usize = 272;
const INVOLUNTARY: usize = 280;

/// What was counted so far of one process.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Delays {
    /// ns, in the order of [`FIELDS`].
    waited: [Option<u64>; FIELDS.len()],
    voluntary: Option<u64>,
    involuntary: Option<u64>,
}

/// The way to them.
pub(super) struct TaskStats {
    netlink: Netlink,
    family: u16,
    /// False where the kernel counts no delays but that for a CPU.
    counts_delays: bool,
}

impl TaskStats {
    /// Opens it, and sees that the kernel's figures stand where they are looked for; says what is missing.
    pub(super) fn open(context: &mut Context<'_>, out: &mut Out) -> Option<TaskStats> {
        const WHAT: &str = "time that processes waited for disks, swapping and reclaim";
        let own = || -> std::io::Result<TaskStats> {
            let mut netlink = Netlink::open(NETLINK_GENERIC)?;
            let mut family = None;
            let name = attribute(FAMILY_NAME, b"TASKSTATS\0");
            netlink.ask(CONTROL, 0, &[&[GET_FAMILY, 1, 0, 0][..], &name].concat(), |body| {
                let mut all = attributes(body.get(HEAD..).unwrap_or_default());
                family = all.find(|(number, _)| *number == FAMILY_ID).and_then(|(_, id)| u16_at(id, 0));
            })?;
            let family = family.ok_or(std::io::ErrorKind::NotFound)?;
            Ok(TaskStats { netlink, family, counts_delays: true })
        };
        let mut stats = match own() {
            Ok(stats) => stats,
            Err(why) => {
                out.gap(
                    super::SOURCE.name,
                    WHAT,
                    format!("taskstats: {why}"),
                    "a kernel with CONFIG_TASKSTATS",
                );
                return None;
            }
        };
        // Our own name must stand where names stand.
        let own = std::process::id();
        let name = context.reader.proc(&format!("{own}/comm")).unwrap_or_default().trim_ascii_end().to_vec();
        let mut is_as_expected = false;
        let asked = stats.ask(OF_THREAD, own, |body| {
            let field = body.get(NAME).unwrap_or_default();
            is_as_expected = !name.is_empty() && field.split(|byte| *byte == 0).next() == Some(&name[..]);
        });
        match asked {
            Ok(()) if is_as_expected => {}
            Ok(()) => {
                out.gap(super::SOURCE.name, WHAT, "taskstats of this kernel have another layout", "");
                return None;
            }
            Err(why) => {
                out.gap(super::SOURCE.name, WHAT, format!("taskstats: {why}"), "run as root (CAP_NET_ADMIN)");
                return None;
            }
        }
        // Before Linux 5.14 there is no such setting, and they are counted.
        let setting = context
            .reader
            .proc("sys/kernel/task_delayacct")
            .ok()
            .and_then(whyslow_counters::text::only_number);
        stats.counts_delays = setting != Some(0);
        Some(stats)
    }

    /// Says what the kernel does not count.
    pub(super) fn tell_gap(&self, out: &mut Out) {
        if !self.counts_delays {
            out.gap(
                super::SOURCE.name,
                "time that processes waited for disks, swapping and reclaim",
                "the kernel does not count it: kernel.task_delayacct is 0",
                "sysctl kernel.task_delayacct=1 (counts from then on, in processes started later)",
            );
        }
    }

    fn ask(&mut self, of: u16, number: u32, mut each: impl FnMut(&[u8])) -> std::io::Result<()> {
        let question = [&[GET, 1, 0, 0][..], &attribute(of, &number.to_ne_bytes())].concat();
        self.netlink.ask(self.family, 0, &question, |body| {
            for (_, group) in attributes(body.get(HEAD..).unwrap_or_default()) {
                attributes(group).filter(|(number, _)| *number == STATS).for_each(|(_, stats)| each(stats));
            }
        })
    }

    /// Those of a process; `None` where it has ended.
    pub(super) fn of(&mut self, pid: u32) -> Option<Delays> {
        let counts_delays = self.counts_delays;
        let mut found = None;
        let asked = self.ask(OF_PROCESS, pid, |stats| {
            let counts_delays =
                counts_delays && COUNTS.iter().any(|at| u64_at(stats, *at).is_some_and(|count| count > 0));
            let waited = |at: usize, metric: Metric| {
                u64_at(stats, at).filter(|_| counts_delays || metric == Metric::RunDelay)
            };
            found = Some(Delays {
                waited: std::array::from_fn(|n| waited(FIELDS[n].0, FIELDS[n].1)),
                voluntary: u64_at(stats, VOLUNTARY),
                involuntary: u64_at(stats, INVOLUNTARY),
            });
        });
        asked.ok()?;
        found
    }
}

impl Delays {
    /// What they came to since `before`.
    pub(super) fn tell(&self, before: Option<&Delays>, span: &Span, row: &mut Row) {
        for (at, (_, metric)) in FIELDS.iter().enumerate() {
            let rate = span.rate(self.waited[at], before.and_then(|before| before.waited[at]));
            row.rate(*metric, rate.map(|ns| ns / 1e9));
        }
        row.rate(
            Metric::VoluntarySwitches,
            span.rate(self.voluntary, before.and_then(|before| before.voluntary)),
        );
        row.rate(
            Metric::InvoluntarySwitches,
            span.rate(self.involuntary, before.and_then(|before| before.involuntary)),
        );
    }
}
