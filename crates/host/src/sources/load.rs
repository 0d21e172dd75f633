//! Load averages and the number of tasks: /proc/loadavg.

use super::{HostSource, Look};
use crate::context::Context;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use whyslow_counters::text;
use whyslow_model::{Entity, Metric, Over};

pub(super) const SOURCE: HostSource =
    HostSource { name: "load", reads: "/proc/loadavg", open: |_: &SamplerOptions| Box::new(Load) };

struct Load;

impl Look for Load {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let text = match context.reader.proc("loadavg") {
            Ok(text) => text,
            Err(why) => return out.unread(SOURCE.name, "load averages", "/proc/loadavg", why),
        };
        // `0.20 0.18 0.12 1/80 11206`
        let mut words = text::words(text.trim_ascii());
        let mut row = Row::new(Entity::Host);
        let mut known = true;
        for metric in [Metric::Load1, Metric::Load5, Metric::Load15] {
            let value = words.next().and_then(text::decimal).filter(|value| *value >= 0.0);
            known &= value.is_some();
            row.level(metric, value);
        }
        let tasks = words.next().and_then(|word| text::number(word.split(|byte| *byte == b'/').nth(1)?));
        row.count(Metric::Threads, tasks);
        if !known || tasks.is_none() {
            out.damaged(SOURCE.name, "load averages", "/proc/loadavg", "0.20 0.18 0.12 1/80 11206");
        }
        out.table(vec![row], Over::SinceBoot, false);
    }
}
