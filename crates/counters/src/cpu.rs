//! CPU time by mode, of the host and each CPU, switches and forks (/proc/stat).

use crate::figures::{CpuMode, Figures};
use crate::text;
use whyslow_model::{Entity, Metric};

/// The modes in the order of /proc/stat (proc_stat(5)). Guests' time is within that of user mode.
const MODES: [(Metric, CpuMode); 9] = [
    (Metric::CpuUser, CpuMode::Steady),
    (Metric::CpuNice, CpuMode::Steady),
    (Metric::CpuSystem, CpuMode::Steady),
    (Metric::CpuIdle, CpuMode::MayGoBack),
    (Metric::CpuIowait, CpuMode::MayGoBack),
    (Metric::CpuIrq, CpuMode::Steady),
    (Metric::CpuSoftirq, CpuMode::Steady),
    (Metric::CpuSteal, CpuMode::Steady),
    (Metric::CpuGuest, CpuMode::Within),
];

/// Most CPUs (`CONFIG_NR_CPUS` of distributions' kernels is at most 8192).
pub const MOST_CPUS: usize = 8192;

/// /proc/stat: the host (last), and each CPU; `None` where the line of all CPUs is not there.
pub fn stat(text: &[u8]) -> Option<Vec<(Entity, Figures)>> {
    let mut host = Figures::default();
    let mut all = Vec::new();
    let mut known = false;
    host.each_line(text, |host, line| {
        let mut words = text::words(line);
        let Some(name) = words.next() else { return };
        match name {
            b"cpu" => {
                known = words.clone().next().and_then(text::number).is_some();
                modes(words, host);
            }
            b"ctxt" => host.sum(Metric::ContextSwitches, words.next().and_then(text::number), 1.0),
            b"processes" => host.sum(Metric::Forks, words.next().and_then(text::number), 1.0),
            b"intr" => host.sum(Metric::Interrupts, words.next().and_then(text::number), 1.0),
            // Who looks runs meanwhile, and is no load.
            b"procs_running" => {
                let running = words.next().and_then(text::number);
                host.number(Metric::Runnable, running.map(|tasks| tasks.saturating_sub(1)));
            }
            b"procs_blocked" => {
                host.number(Metric::Uninterruptible, words.next().and_then(text::number));
            }
            _ => {
                let number = name.strip_prefix(b"cpu").and_then(text::number);
                let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else { return };
                if all.len() < MOST_CPUS {
                    let mut figures = host.of_same_line();
                    modes(words, &mut figures);
                    all.push((Entity::Cpu(number), figures));
                }
            }
        }
    });
    host.number(Metric::CpuCount, (!all.is_empty()).then_some(all.len() as u64));
    all.push((Entity::Host, host));
    known.then_some(all)
}

fn modes<'t>(words: impl Iterator<Item = &'t [u8]>, figures: &mut Figures) {
    for ((metric, mode), word) in MODES.into_iter().zip(words) {
        figures.mode(metric, mode, text::number(word));
    }
}
