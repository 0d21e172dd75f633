//! `sysctl -a`, or lines of it: limits of the host.
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

/// What a setting comes to.
type Read = fn(&[u8]) -> Option<(Metric, f64)>;

fn number(metric: Metric, text: &[u8]) -> Option<(Metric, f64)> {
    Some((metric, text::number(text)? as f64))
}

/// Settings that are told.
const KNOWN: [(&str, Read); 6] = [
    ("net.ipv4.ip_local_port_range", |value| {
        Some((Metric::EphemeralPorts, network::ports(network::port_range(value)?, b"") as f64))
    }),
    ("fs.file-max", |value| number(Metric::FilesLimit, value)),
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
        let Some((metric, value)) = read(value.as_bytes()) else {
            return Step::Damaged("a setting of the kernel, a number or two");
        };
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
