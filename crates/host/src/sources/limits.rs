//! Limits of the host: open files, processes and threads (/proc/sys), and what the machine says it is (DMI).

use super::{HostSource, Look};
use crate::context::Context;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use whyslow_counters::text;
use whyslow_model::{Entity, Metric, Over, Trait};

pub(super) const SOURCE: HostSource = HostSource {
    name: "limits",
    reads: "/proc/sys/fs/file-nr, /proc/sys/kernel/{pid_max,threads-max}, /proc/sys/net/core/somaxconn, /sys/class/dmi/id",
    open: |_: &SamplerOptions| Box::new(Limits::default()),
};

#[derive(Default)]
struct Limits {
    machine: Option<String>,
}

impl Look for Limits {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let mut row = Row::new(Entity::Host);
        match context.reader.proc("sys/fs/file-nr") {
            // Open, free (always 0), most.
            Ok(text) => {
                let mut numbers = text::words(text.trim_ascii()).map(text::number);
                let (open, most) = (numbers.next().flatten(), numbers.nth(1).flatten());
                if open.is_none() || most.is_none() {
                    out.damaged(SOURCE.name, "open files", "/proc/sys/fs/file-nr", "1024 0 65536");
                }
                row.count(Metric::FilesOpen, open);
                row.count(Metric::FilesLimit, most);
            }
            Err(why) => out.unread(SOURCE.name, "open files", "/proc/sys/fs/file-nr", why),
        }
        let mut one = |file: &str| context.reader.proc(file).ok().and_then(text::only_number);
        // Numbers of tasks are below pid_max; the smaller of both holds.
        let most = [one("sys/kernel/pid_max"), one("sys/kernel/threads-max")].into_iter().flatten().min();
        row.count(Metric::PidLimit, most);
        row.count(Metric::BacklogLimitMost, one("sys/net/core/somaxconn"));
        if most.is_none() {
            out.damaged(SOURCE.name, "most processes", "/proc/sys/kernel/pid_max", "4194304");
        }
        let machine = self.machine.get_or_insert_with(|| {
            let mut word = |file: &str| {
                let text = context.reader.file(format!("/sys/class/dmi/id/{file}")).unwrap_or_default();
                whyslow_model::text::bounded(text.trim_ascii())
            };
            format!("{} {}", word("sys_vendor"), word("product_name")).trim().to_string()
        });
        row.say(Trait::Machine, machine.as_str());
        out.table(vec![row], Over::SinceBoot, false);
    }
}
