//! `sysctl -a`, or lines of it (also /etc/sysctl.conf): limits of the host.
//!
//! ```text
//! net.ipv4.ip_local_port_range = 32768 60999
//! ```

use super::line::Line;
use super::{Block, Out, Step, Tool};
use whyslow_counters::{network, text};
use whyslow_model::{Entity, FigureRow, FigureTable, Metric};

pub(super) static SYSCTL: Tool = Tool {
    begins: |line| setting(line).is_some_and(|(name, _)| KNOWN.iter().any(|(known, _)| *known == name)),
    row: |_| false,
    open: || Box::<Sysctl>::default(),
};

/// What a setting comes to; `None` where it is not in force.
type Told = Option<(Metric, f64)>;
/// Reads a setting; `None` where it is damaged.
type Read = fn(&[u8]) -> Option<Told>;

fn number(metric: Metric, text: &[u8]) -> Option<Told> {
    Some(Some((metric, text::number(text)? as f64)))
}

/// 0 says that the setting of the other kind holds: bytes or a share.
fn set(metric: Metric, scale: f64, text: &[u8]) -> Option<Told> {
    let value = text::number(text)?;
    Some((value > 0).then_some((metric, value as f64 * scale)))
}

/// Settings that are told (Documentation/admin-guide/sysctl, ip-sysctl.rst, nf_conntrack-sysctl.rst).
const KNOWN: [(&str, Read); 13] = [
    ("net.ipv4.ip_local_port_range", |value| {
        Some(Some((Metric::EphemeralPorts, network::ports(network::port_range(value)?, b"") as f64)))
    }),
    ("net.core.somaxconn", |value| number(Metric::BacklogLimitMost, value)),
    ("net.ipv4.tcp_max_syn_backlog", |value| number(Metric::SynBacklogLimit, value)),
    ("vm.dirty_bytes", |value| set(Metric::DirtyLimit, 1.0, value)),
    ("vm.dirty_ratio", |value| set(Metric::DirtyRatio, 0.01, value)),
    ("vm.dirty_background_bytes", |value| set(Metric::DirtyBackgroundLimit, 1.0, value)),
    ("vm.dirty_background_ratio", |value| set(Metric::DirtyBackgroundRatio, 0.01, value)),
    ("fs.file-max", |value| number(Metric::FilesLimit, value)),
    ("fs.nr_open", |value| number(Metric::FdLimitMost, value)),
    // Open, free (always 0), most.
    ("fs.file-nr", |value| number(Metric::FilesOpen, text::words(value).next()?)),
    ("kernel.pid_max", |value| number(Metric::PidLimit, value)),
    ("net.netfilter.nf_conntrack_count", |value| number(Metric::Conntrack, value)),
    ("net.netfilter.nf_conntrack_max", |value| number(Metric::ConntrackLimit, value)),
];

/// `name = value`.
fn setting<'l>(line: &Line<'l>) -> Option<(&'l str, &'l str)> {
    let (name, value) = line.text.split_once('=')?;
    let name = name.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:".contains(&byte);
    (name.contains('.') && name.bytes().all(plain)).then(|| (name, value.trim()))
}

#[derive(Default)]
struct Sysctl {
    table: Option<FigureTable>,
}

impl Block for Sysctl {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let Some((name, value)) = setting(line) else { return Step::Other };
        let Some((_, read)) = KNOWN.iter().find(|(known, _)| *known == name) else { return Step::Used };
        let Some(told) = read(value.as_bytes()) else {
            return Step::Damaged("a setting of the kernel, a number or two");
        };
        let Some((metric, value)) = told else { return Step::Used };
        let mut row = FigureRow::new(Entity::Host);
        row.set(metric, value);
        line.sign(&mut row);
        let table = self.table.get_or_insert_with(|| out.table("sysctl"));
        if table.rows.len() < 64 {
            table.rows.push(row);
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        if let Some(table) = self.table.take() {
            out.push(table);
        }
    }
}
