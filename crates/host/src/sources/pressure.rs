//! Pressure of the host: how long tasks waited for CPU, memory and disks (/proc/pressure, since Linux 4.20).

use super::{HostSource, Look};
use crate::context::Context;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use rustix::io::Errno;
use whyslow_counters::Figures;
use whyslow_counters::pressure::{FILES, stalls};
use whyslow_model::{Entity, Over};

pub(super) const SOURCE: HostSource = HostSource {
    name: "pressure",
    reads: "/proc/pressure/{cpu,memory,io}",
    open: |_: &SamplerOptions| Box::new(HostPressure::default()),
};

#[derive(Default)]
struct HostPressure {
    before: Option<Figures>,
}

impl Look for HostPressure {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let mut now = Figures::default();
        for (resource, (name, ..)) in FILES.into_iter().enumerate() {
            let file = format!("pressure/{name}");
            match context.reader.proc(&file) {
                Ok(text) => {
                    if !stalls(text, resource, &mut now) {
                        let path = format!("/proc/{file}");
                        out.damaged(SOURCE.name, "time that tasks waited", &path, "some … total=1234");
                    }
                }
                Err(Errno::NOENT | Errno::OPNOTSUPP) => out.gap(
                    SOURCE.name,
                    "time that tasks waited for CPU, memory and disks",
                    "the kernel keeps no pressure figures",
                    "boot with psi=1 (a kernel built with CONFIG_PSI)",
                ),
                Err(why) => {
                    out.unread(SOURCE.name, "time that tasks waited", &format!("/proc/{file}"), why);
                }
            }
        }
        let mut row = Row::new(Entity::Host);
        row.take(&now, self.before.as_ref(), &context.span);
        self.before = Some(now);
        out.table(vec![row], Over::SinceBoot, false);
    }
}
