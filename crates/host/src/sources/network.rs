//! The network as the kernel counts it: interfaces (/proc/net/dev), TCP and UDP (/proc/net/snmp, netstat), sockets in all,
//! tracked connections, ports for outgoing connections.

use super::{HostSource, Look};
use crate::context::Context;
use crate::options::SamplerOptions;
use crate::out::{Out, Row};
use hashbrown::HashMap;
use whyslow_counters::{Figures, network, text};
use whyslow_model::{Entity, Metric, Over};

pub(super) const SOURCE: HostSource = HostSource {
    name: "network",
    reads: "/proc/net/{dev,snmp,snmp6,netstat,sockstat}, /proc/sys/net, /sys/class/net",
    open: |_: &SamplerOptions| Box::new(Network::default()),
};

/// Most interfaces told apart.
const MOST: usize = 4096;

#[derive(Default)]
struct Network {
    protocols: Option<Figures>,
    interfaces: HashMap<Box<str>, Figures>,
}

impl Look for Network {
    fn look(&mut self, context: &mut Context<'_>, out: &mut Out) {
        self.interfaces(context, out);
        let mut row = Row::new(Entity::Host);
        let mut now = protocols(context, out);
        match context.reader.proc("net/sockstat") {
            Ok(text) => network::sockets(text, &mut now),
            Err(why) => out.unread(SOURCE.name, "the number of sockets", "/proc/net/sockstat", why),
        }
        row.take(&now, self.protocols.as_ref(), &context.span);
        self.protocols = Some(now);
        let mut one = |file: &str| context.reader.proc(file).ok().and_then(text::only_number);
        // There is none without a firewall.
        row.count(Metric::Conntrack, one("sys/net/netfilter/nf_conntrack_count"));
        row.count(Metric::ConntrackLimit, one("sys/net/netfilter/nf_conntrack_max"));
        row.count(
            Metric::EphemeralPorts,
            port_range(context).map(|range| {
                let reserved = context.reader.proc("sys/net/ipv4/ip_local_reserved_ports");
                network::ports(range, reserved.unwrap_or_default())
            }),
        );
        out.table(vec![row], Over::SinceBoot, false);
    }
}

/// First and last port for outgoing connections.
pub(super) fn port_range(context: &mut Context<'_>) -> Option<(u16, u16)> {
    network::port_range(context.reader.proc("sys/net/ipv4/ip_local_port_range").ok()?)
}

/// What TCP and UDP counted so far.
fn protocols(context: &mut Context<'_>, out: &mut Out) -> Figures {
    const MISSING: &str = "counts of TCP";
    let mut now = Figures::default();
    for (file, needed) in [("net/snmp", true), ("net/netstat", true), ("net/snmp6", false)] {
        match context.reader.proc(file) {
            Ok(text) if file == "net/snmp6" => network::by_name(text, &mut now),
            Ok(text) => {
                if !network::by_column(text, &mut now) {
                    let path = format!("/proc/{file}");
                    out.damaged(SOURCE.name, MISSING, &path, "a line of names above one of numbers");
                }
            }
            Err(why) if needed => out.unread(SOURCE.name, MISSING, &format!("/proc/{file}"), why),
            Err(_) => {}
        }
    }
    now
}

impl Network {
    fn interfaces(&mut self, context: &mut Context<'_>, out: &mut Out) {
        let mut now: HashMap<Box<str>, Figures> = HashMap::new();
        match context.reader.proc("net/dev") {
            Ok(text) => {
                for line in text::lines(text) {
                    let mut figures = Figures::default();
                    match network::interface(line, &mut figures) {
                        Some(_) if figures.is_empty() => {
                            out.damaged(SOURCE.name, "an interface", "/proc/net/dev", "eth0: 1234 5 0 0 …");
                        }
                        Some(name) if now.len() < MOST => drop(now.insert(name, figures)),
                        _ => {}
                    }
                }
            }
            Err(why) => out.unread(SOURCE.name, "interfaces", "/proc/net/dev", why),
        }
        let mut rows = Vec::with_capacity(now.len());
        for (name, figures) in &now {
            let mut row = Row::new(Entity::Interface(name.clone()));
            row.take(figures, self.interfaces.get(name), &context.span);
            // A virtual interface has no speed (-1, or an error). The kernel tells megabits a second.
            let speed =
                context.reader.file(format!("/sys/class/net/{name}/speed")).ok().and_then(text::only_number);
            row.level(
                Metric::LinkSpeed,
                speed.filter(|speed| *speed > 0).map(|megabits| megabits as f64 * 125_000.0),
            );
            rows.push(row);
        }
        self.interfaces = now;
        out.table(rows, Over::SinceBoot, true);
    }
}
