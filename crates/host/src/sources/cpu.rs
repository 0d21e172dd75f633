//! CPU time by mode, of the host and each CPU, switches and forks (/proc/stat); soft interrupts and interrupts by line
//! (/proc/softirqs, /proc/interrupts).

use super::{Look, Source};
use crate::counters::Span;
use crate::options::Options;
use crate::out::{Out, Row};
use crate::sampler::Context;
use crate::text;
use hashbrown::HashMap;
use whyslow_model::{Entity, Metric, Over, Trait};

pub(super) const SOURCE: Source = Source {
    name: "cpu",
    reads: "/proc/stat, /proc/softirqs, /proc/interrupts",
    open: |_: &Options| Box::new(Cpu::default()),
};

/// The modes in the order of /proc/stat (proc_stat(5)). Guests' time is within that of user mode.
const MODES: [Metric; 9] = [
    Metric::CpuUser,
    Metric::CpuNice,
    Metric::CpuSystem,
    Metric::CpuIdle,
    Metric::CpuIowait,
    Metric::CpuIrq,
    Metric::CpuSoftirq,
    Metric::CpuSteal,
    Metric::CpuGuest,
];

/// How many of them add up to all time.
const ADD_UP: usize = 8;

/// Most CPUs (`CONFIG_NR_CPUS` of distributions' kernels is at most 8192).
const MOST_CPUS: usize = 8192;
/// Most interrupt lines told apart.
const MOST_LINES: usize = 8192;

type Ticks = [Option<u64>; MODES.len()];

#[derive(Default)]
struct Cpu {
    host: Ticks,
    cpus: Vec<(u32, Ticks)>,
    switches: Option<u64>,
    forks: Option<u64>,
    interrupts: Option<u64>,
    /// By name, each CPU's count.
    lines: HashMap<Box<str>, Vec<u64>>,
}

impl Look for Cpu {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        self.stat(context, out);
        let mut rows = Vec::new();
        for file in ["softirqs", "interrupts"] {
            match context.reader.proc(file) {
                Ok(text) => self.lines_of(text, &context.span, &mut rows),
                Err(why) => out.unread(SOURCE.name, "interrupts by line", &format!("/proc/{file}"), why),
            }
        }
        out.table(rows, Over::SinceBoot, true);
    }
}

impl Cpu {
    fn stat(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let text = match context.reader.proc("stat") {
            Ok(text) => text,
            Err(why) => {
                *self = Cpu::default();
                return out.unread(SOURCE.name, "CPU time", "/proc/stat", why);
            }
        };
        let span = context.span;
        let mut host = Row::new(Entity::Host);
        let mut rows = Vec::new();
        let mut cpus = Vec::new();
        let mut known = false;
        let mut counters = [None; 3];
        for line in text::lines(text) {
            let mut words = text::words(line);
            let Some(name) = words.next() else { continue };
            let mut one = || words.next().and_then(text::number);
            match name {
                b"cpu" => {
                    let now = ticks(words);
                    known = now[0].is_some();
                    shares(&mut host, &span, &now, &self.host);
                    self.host = now;
                }
                b"ctxt" => counters[0] = one(),
                b"processes" => counters[1] = one(),
                b"intr" => counters[2] = one(),
                // We run while we look, and are no load.
                b"procs_running" => host.count(Metric::Runnable, one().map(|tasks| tasks.saturating_sub(1))),
                b"procs_blocked" => host.count(Metric::Uninterruptible, one()),
                _ => {
                    let number = name.strip_prefix(b"cpu").and_then(text::number);
                    let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else { continue };
                    if cpus.len() < MOST_CPUS {
                        cpus.push((number, ticks(words)));
                    }
                }
            }
        }
        if !known {
            out.damaged(SOURCE.name, "CPU time", "/proc/stat", "cpu 10132153 290696 3084719 …");
        }
        for (number, now) in &cpus {
            let before = self.cpus.iter().find(|(other, _)| other == number).map(|(_, ticks)| *ticks);
            let mut row = Row::new(Entity::Cpu(*number));
            shares(&mut row, &span, now, &before.unwrap_or_default());
            rows.push(row);
        }
        host.count(Metric::CpuCount, (!cpus.is_empty()).then_some(cpus.len() as u64));
        let before = [self.switches, self.forks, self.interrupts];
        let metrics = [Metric::ContextSwitches, Metric::Forks, Metric::Interrupts];
        for ((metric, now), before) in metrics.into_iter().zip(counters).zip(before) {
            host.rate(metric, span.rate(now, before));
        }
        [self.switches, self.forks, self.interrupts] = counters;
        self.cpus = cpus;
        rows.push(host);
        out.table(rows, Over::SinceBoot, true);
    }

    /// The lines of /proc/interrupts or /proc/softirqs: a head with the CPUs, then `NAME: count… description`.
    fn lines_of(&mut self, text: &[u8], span: &Span, rows: &mut Vec<Row>) {
        let mut lines = text::lines(text);
        let cpus: Vec<u32> = lines.next().map_or(Vec::new(), |head| {
            let number = |word: &[u8]| u32::try_from(text::number(word.strip_prefix(b"CPU")?)?).ok();
            text::words(head).filter_map(number).take(MOST_CPUS).collect()
        });
        let mut now: HashMap<Box<str>, Vec<u64>> = HashMap::new();
        for line in lines {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
            let (label, rest) = (line[..colon].trim_ascii(), &line[colon + 1..]);
            let mut words = text::words(rest).peekable();
            let mut counts = Vec::with_capacity(cpus.len());
            while counts.len() < cpus.len() {
                let Some(count) = words.peek().copied().and_then(text::number) else { break };
                counts.push(count);
                words.next();
            }
            // `ERR` and `MIS` have one figure for all.
            if counts.is_empty() || counts.len() < cpus.len() || now.len() >= MOST_LINES {
                continue;
            }
            let name = name_of(label, words);
            match now.get_mut(&name) {
                // Lines of one name are one: queues of a device without a number.
                Some(known) => {
                    known.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count))
                }
                None => drop(now.insert(name, counts)),
            }
        }
        for (name, counts) in now {
            let before = self.lines.get(&name).filter(|before| before.len() == counts.len());
            let mut grown = 0u64;
            let mut took = Vec::new();
            let mut known = true;
            for (at, count) in counts.iter().enumerate() {
                let more = span.grown(Some(*count), before.and_then(|before| before.get(at).copied()));
                known &= more.is_some();
                let more = more.unwrap_or(0);
                grown = grown.saturating_add(more);
                if more > 0 {
                    took.extend(cpus.get(at));
                }
            }
            if known && grown > 0 {
                let mut row = Row::new(Entity::Interrupt(name.clone()));
                row.rate(Metric::Interrupts, span.per_second(Some(grown)));
                row.say(Trait::Cpus, text::list_of(&took));
                rows.push(row);
            }
            self.lines.insert(name, counts);
        }
    }
}

/// What a line is called: of `36: … PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0` the device, of `LOC: … Local timer
/// interrupts` and `NET_RX:` the label.
fn name_of<'a>(label: &[u8], description: impl Iterator<Item = &'a [u8]>) -> Box<str> {
    let mut name: Vec<u8> = label.to_vec();
    if text::number(label).is_some() {
        // Devices that share the line are joined by commas.
        let mut joined = false;
        name.clear();
        for word in description {
            if !joined {
                name.clear();
            }
            name.extend_from_slice(word);
            joined = word.ends_with(b",");
        }
        if name.is_empty() {
            name = [b"irq ", label].concat();
        }
    }
    whyslow_model::text::bounded(name.get(..MOST_NAME).unwrap_or(&name)).into()
}

/// Bytes of a line's name.
const MOST_NAME: usize = 128;

fn ticks<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Ticks {
    std::array::from_fn(|_| words.next().and_then(text::number))
}

/// Shares of the time that all modes add up to. Idle and iowait may go back by a tick (proc_stat(5)): then that one is
/// unknown, and nothing in the sum. If another goes back the counters are not the same (a CPU that came back): all are.
fn shares(row: &mut Row, span: &Span, now: &Ticks, before: &Ticks) {
    let grown: [Option<u64>; MODES.len()] = std::array::from_fn(|at| span.grown(now[at], before[at]));
    let may_go_back =
        |metric: Metric| matches!(metric, Metric::CpuIdle | Metric::CpuIowait | Metric::CpuGuest);
    let went_back = |at: usize| now[at].is_some() && grown[at].is_none() && !may_go_back(MODES[at]);
    let all = grown[..ADD_UP].iter().flatten().fold(0u64, |sum, ticks| sum.saturating_add(*ticks));
    if all == 0 || (0..ADD_UP).any(went_back) {
        return;
    }
    for (metric, ticks) in MODES.into_iter().zip(grown) {
        row.rate(metric, ticks.map(|ticks| (ticks as f64 / all as f64).min(1.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_is_named_by_its_device() {
        let name =
            |label: &str, words: &str| name_of(label.as_bytes(), text::words(words.as_bytes())).to_string();
        assert_eq!(name("36", "PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0"), "virtio1-req.0");
        assert_eq!(name("16", "IO-APIC 16-fasteoi uhci_hcd:usb1, i801_smbus"), "uhci_hcd:usb1,i801_smbus");
        assert_eq!(name("LOC", "Local timer interrupts"), "LOC");
        assert_eq!(name("7", ""), "irq 7");
    }
}
