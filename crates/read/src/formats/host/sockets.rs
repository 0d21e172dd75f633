//! Sockets by state, backlogs and queues: ss (`-tanp`, `-i`, `-s`, `-l`) and netstat (`-an`).
//!
//! ```text
//! Netid State  Recv-Q Send-Q  Local Address:Port   Peer Address:Port Process
//! tcp   LISTEN 0      128           0.0.0.0:22          0.0.0.0:*     users:(("sshd",pid=998,fd=3))
//! ```

use super::line::{Line, number, pairs};
use super::{Block, Out, Step, Tool};
use std::collections::{HashMap, HashSet};
use whyslow_model::{Entity, FigureRow, FigureTable, Metric, Trait};

pub(super) static SOCKETS: Tool = Tool { begins, row: |_| false, open: || Box::<Sockets>::default() };

fn begins(line: &Line<'_>) -> bool {
    (line.has("Recv-Q") && line.has("Send-Q") && line.has("Local"))
        || (line.word(0) == "Total:" && line.words.len() <= 4 && number(line.word(1)).is_some())
        || line.starts(&["Active", "Internet", "connections"])
        || line.starts(&["Active", "UNIX", "domain"])
}

/// States that are counted, as ss and netstat name them.
static STATES: &[(&str, Metric)] = &[
    ("ESTAB", Metric::TcpEstablished),
    ("ESTABLISHED", Metric::TcpEstablished),
    ("TIME-WAIT", Metric::TcpTimeWait),
    ("TIME_WAIT", Metric::TcpTimeWait),
    ("CLOSE-WAIT", Metric::TcpCloseWait),
    ("CLOSE_WAIT", Metric::TcpCloseWait),
    ("SYN-SENT", Metric::TcpSynSent),
    ("SYN_SENT", Metric::TcpSynSent),
    ("SYN-RECV", Metric::TcpSynRecv),
    ("SYN_RECV", Metric::TcpSynRecv),
    ("LISTEN", Metric::TcpListening),
];

#[derive(Default)]
struct Sockets {
    /// Columns before the queues: `Netid`, `State`.
    protocol: bool,
    netstat: bool,
    /// Rows of a header: not a summary.
    listing: bool,
    sockets: u64,
    states: HashMap<Metric, f64>,
    receive: f64,
    send: f64,
    peers: HashMap<Box<str>, Peer>,
    /// The peer of the row above: `-i` tells more below it.
    last: Option<Box<str>>,
    /// Ports that are listened on: connections of these were not opened from here.
    listening: HashSet<Box<str>>,
    listeners: Vec<FigureRow>,
    signed: Option<FigureRow>,
}

#[derive(Clone, Default, Debug)]
struct Peer {
    sockets: f64,
    /// Local ports in use to it: by those that were closed lately too.
    ports: f64,
    send: f64,
    round_trip: Option<f64>,
    line: u64,
    raw: Box<str>,
}

/// Peers and listeners told apart.
const MOST: usize = 16_384;

impl Sockets {
    fn flush(&mut self, out: &mut Out<'_>) {
        let done = std::mem::take(self);
        (self.protocol, self.netstat, self.listing) = (done.protocol, done.netstat, done.listing);
        let Some(mut host) = done.signed else { return };
        // Without listeners only a choice of the states is shown, and what is not shown is not zero.
        let all = done.states.contains_key(&Metric::TcpListening) && done.states.len() > 1;
        host.set(Metric::ReceiveQueue, done.receive);
        host.set(Metric::SendQueue, done.send);
        if all {
            host.set(Metric::Sockets, done.sockets as f64);
        }
        let mut metrics: Vec<Metric> = STATES.iter().map(|(_, metric)| *metric).collect();
        metrics.dedup();
        for metric in metrics {
            match done.states.get(&metric) {
                Some(count) => host.set(metric, *count),
                None if all => host.set(metric, 0.0),
                None => {}
            }
        }
        let mut table: FigureTable = out.table(if done.netstat { "netstat" } else { "ss" });
        table.complete = all;
        table.rows.push(host);
        table.rows.extend(done.listeners);
        let mut peers: Vec<_> = done.peers.into_iter().collect();
        peers.sort_by_key(|(_, peer)| peer.line);
        for (name, peer) in peers {
            let mut row = FigureRow::new(Entity::Peer(name));
            if peer.sockets > 0.0 {
                row.set(Metric::Sockets, peer.sockets);
                row.set(Metric::SendQueue, peer.send);
            }
            row.set(Metric::EphemeralPortsUsed, peer.ports);
            if let Some(trip) = peer.round_trip {
                row.set(Metric::RoundTrip, trip);
            }
            (row.line, row.raw) = (peer.line, peer.raw);
            table.rows.push(row);
        }
        out.push(table);
    }

    fn row(&mut self, line: &Line<'_>) -> Step {
        let at = usize::from(self.protocol);
        // netstat shows the state behind the addresses, ss before the queues.
        let queues = if self.netstat { 1 } else { at + 1 };
        let protocol = if self.netstat || self.protocol { line.word(0) } else { "tcp" };
        let (Some(receive), Some(send)) = (number(line.word(queues)), number(line.word(queues + 1))) else {
            return if self.detail(line) { Step::Used } else { Step::Other };
        };
        let (local, peer) = (line.word(queues + 2), line.word(queues + 3));
        let state = if self.netstat { line.word(5) } else { line.word(at) };
        if peer.is_empty() {
            return Step::Damaged("a socket with its queues and both addresses");
        }
        if self.signed.is_none() {
            let mut row = FigureRow::new(Entity::Host);
            line.sign(&mut row);
            self.signed = Some(row);
        }
        self.sockets += 1;
        self.last = None;
        let is_tcp = protocol.starts_with("tcp") || (!self.protocol && !self.netstat);
        let internet = is_tcp || protocol.starts_with("udp");
        let metric = STATES.iter().find(|(name, _)| *name == state).map(|(_, metric)| *metric);
        if let Some(metric) = metric.filter(|_| is_tcp) {
            *self.states.entry(metric).or_default() += 1.0;
        }
        if !internet {
            return Step::Used;
        }
        let port = local.rsplit(':').next().unwrap_or("");
        if is_tcp && state == "LISTEN" {
            if self.listeners.len() < MOST {
                let mut row = FigureRow::new(Entity::Listener(local.into()));
                row.set(Metric::Backlog, receive);
                if !self.netstat {
                    row.set(Metric::BacklogLimit, send);
                }
                if let Some(name) =
                    line.text.split("users:((\"").nth(1).and_then(|rest| rest.split('"').next())
                {
                    row.say(Trait::Name, name);
                    let pid = line
                        .text
                        .split("pid=")
                        .nth(1)
                        .map(|rest| rest.split([',', ')']).next().unwrap_or(""));
                    if let Some(pid) = pid.filter(|pid| pid.parse::<u32>().is_ok()) {
                        row.say(Trait::Owner, pid);
                    }
                }
                line.sign(&mut row);
                self.listeners.push(row);
                self.listening.insert(port.into());
            }
            return Step::Used;
        }
        self.receive += receive;
        self.send += send;
        let connected = is_tcp
            && matches!(metric, Some(Metric::TcpEstablished | Metric::TcpCloseWait | Metric::TcpSynSent));
        // A port that is listened on was not taken for this connection.
        let holds_port = is_tcp && !peer.ends_with('*');
        if holds_port && !self.listening.contains(port) {
            let known = self.peers.contains_key(peer);
            if known || self.peers.len() < MOST {
                let entry = self.peers.entry(peer.into()).or_default();
                entry.ports += 1.0;
                if connected {
                    entry.sockets += 1.0;
                    entry.send += send;
                }
                if entry.line == 0 {
                    let mut row = FigureRow::new(Entity::Host);
                    line.sign(&mut row);
                    (entry.line, entry.raw) = (row.line, row.raw);
                }
                self.last = Some(peer.into());
            }
        }
        Step::Used
    }

    /// `cubic wscale:7,7 rto:204 rtt:1.5/0.75 …` below a socket (`-i`).
    fn detail(&mut self, line: &Line<'_>) -> bool {
        let Some(word) = line.words.iter().find_map(|word| word.strip_prefix("rtt:")) else {
            return line.words.iter().any(|word| word.starts_with("skmem:") || word.starts_with("cwnd:"));
        };
        let trip = word.split('/').next().and_then(number);
        if let (Some(peer), Some(trip)) = (self.last.as_ref().and_then(|peer| self.peers.get_mut(peer)), trip)
        {
            let trip = trip * 1e6;
            peer.round_trip = Some(peer.round_trip.map_or(trip, |most| most.max(trip)));
        }
        true
    }

    /// `ss -s`: `TCP:   12 (estab 3, closed 4, orphaned 0, synrecv 0, timewait 4/0), ports 0`.
    fn summary(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let mut row = FigureRow::new(Entity::Host);
        let after = |name: &str| {
            let (_, rest) = line.text.split_once(name)?;
            pairs(rest).first().map(|(value, _)| *value)
        };
        match line.word(0) {
            "Total:" => {
                if let Some(total) = number(line.word(1)) {
                    row.set(Metric::Sockets, total);
                }
            }
            "TCP:" if line.text.contains("estab") => {
                for (name, metric) in [
                    ("estab ", Metric::TcpEstablished),
                    ("synrecv ", Metric::TcpSynRecv),
                    ("timewait ", Metric::TcpTimeWait),
                ] {
                    if let Some(count) = after(name) {
                        row.set(metric, count);
                    }
                }
            }
            "Transport" | "RAW" | "UDP" | "TCP" | "INET" | "FRAG" | "*" => return Step::Used,
            _ => return Step::Other,
        }
        line.sign(&mut row);
        let mut table = out.table("ss -s");
        table.rows.push(row);
        out.push(table);
        Step::Used
    }
}

impl Block for Sockets {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if line.word(0) == "Active" {
            // Rows of UNIX sockets have other columns.
            self.flush(out);
            self.listing = false;
            return Step::Used;
        }
        if line.has("Recv-Q") && line.has("Local") {
            self.flush(out);
            self.listing = true;
            self.netstat = line.word(0) == "Proto";
            self.protocol = line.word(0) == "Netid";
            return Step::Used;
        }
        if self.listing { self.row(line) } else { self.summary(line, out) }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.flush(out);
    }
}
