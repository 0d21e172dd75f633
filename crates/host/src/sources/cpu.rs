//! CPU time by mode, of the host and each CPU, switches and forks (/proc/stat); soft interrupts and interrupts by line
//! (/proc/softirqs, /proc/interrupts).

use super::{HostSource, Look};
use crate::context::Context;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use hashbrown::HashMap;
use whyslow_counters::{Figures, Span, cpu, interrupts, text};
use whyslow_model::{Entity, Metric, Over, Trait};

pub(super) const SOURCE: HostSource = HostSource {
    name: "cpu",
    reads: "/proc/stat, /proc/softirqs, /proc/interrupts",
    open: |_: &SamplerOptions| Box::new(Cpu::default()),
};

#[derive(Default)]
struct Cpu {
    /// The host and each CPU.
    before: HashMap<Entity, Figures>,
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
        let Some(all) = cpu::stat(text) else {
            self.before.clear();
            return out.damaged(SOURCE.name, "CPU time", "/proc/stat", "cpu 10132153 290696 3084719 …");
        };
        let rows = all.iter().map(|(of, now)| {
            let mut row = Row::new(of.clone());
            // One that came back has nothing to compare with.
            let none = Figures::default();
            let before = self.before.get(of).or((!context.span.is_first()).then_some(&none));
            row.take(now, before, &context.span);
            row
        });
        out.table(rows.collect(), Over::SinceBoot, true);
        self.before = all.into_iter().collect();
    }

    /// The lines of /proc/interrupts or /proc/softirqs: a head with the CPUs, then `NAME: count… description`.
    fn lines_of(&mut self, text: &[u8], span: &Span, rows: &mut Vec<Row>) {
        let interrupts::Interrupts { cpus, lines: now } = interrupts::parse(text);
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
