//! What the agent itself takes: CPU time with that of its children, and memory.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// What was taken between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OwnUse {
    /// Of one CPU, 0 to 1.
    pub(crate) cpu_share: f64,
    /// Resident memory that is of the agent alone, bytes.
    pub(crate) memory: u64,
}

/// Looks at it.
pub(crate) struct OwnMeter {
    looked: Instant,
    cpu: Duration,
}

impl OwnMeter {
    pub(crate) fn start() -> OwnMeter {
        OwnMeter { looked: Instant::now(), cpu: own_and_childrens_cpu() }
    }

    /// What a child took that has ended is not the agent's: somebody asked for it.
    pub(crate) fn leave_out(&mut self, cpu: Duration) {
        self.cpu += cpu;
    }

    /// Since the last look. What a child took counts once it has ended.
    pub(crate) fn look(&mut self) -> OwnUse {
        let (now, cpu) = (Instant::now(), own_and_childrens_cpu());
        let took = cpu.saturating_sub(self.cpu);
        let over = now.duration_since(self.looked).as_secs_f64().max(1e-3);
        (self.looked, self.cpu) = (now, cpu);
        let memory = status_bytes(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
        OwnUse { cpu_share: took.as_secs_f64() / over, memory }
    }
}

fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.max(0) as u32)
}

/// With that of the children that have ended: /proc/PID/stat, fields 16 and 17, in ticks.
fn own_and_childrens_cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let behind = text.rsplit_once(')').map_or("", |(_, behind)| behind);
    let children =
        behind.split_ascii_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
    let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second();
    own_cpu() + Duration::from_nanos(children.sum::<u64>() * tick_ns)
}

/// What this process has taken in all: CPU time, ms, and the most memory that it had resident, bytes.
pub(crate) fn whole() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    (own_cpu().as_millis() as u64, kibibytes(&text, "VmHWM:").unwrap_or(0))
}

/// Memory that is no file's: what is mapped of the program is in the page cache once for all.
fn status_bytes(text: &str) -> u64 {
    kibibytes(text, "RssAnon:").unwrap_or(0) + kibibytes(text, "RssShmem:").unwrap_or(0)
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_measured() {
        let mut meter = OwnMeter::start();
        let began = Instant::now();
        while own_cpu() < meter.cpu + Duration::from_millis(20) && began.elapsed() < Duration::from_secs(60) {
            std::hint::black_box(1 + 1);
        }
        let took = meter.look();
        assert!(took.cpu_share > 0.0 && took.memory > 0, "{took:?}");
        meter.leave_out(Duration::from_secs(3_600));
        assert_eq!(meter.look().cpu_share, 0.0);
        let text = "VmHWM:\t   7 kB\nRssAnon:\t     12 kB\nRssFile: 9 kB\nRssShmem:\t 4 kB\n";
        assert_eq!((status_bytes(text), kibibytes(text, "VmHWM:")), (16 << 10, Some(7 << 10)));
        assert!(whole().1 > 0);
    }
}
