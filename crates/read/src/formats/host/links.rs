//! Interfaces with their counters: `netstat -i`, `ip -s link` (also `-s -s`, `-d`, `-j`).
//!
//! ```text
//! 4: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc pfifo_fast state UP
//!     RX:  bytes packets errors dropped  missed   mcast
//!      536980610   12010      0       0       0       0
//! ```

use super::line::{Line, number};
use super::{Block, Out, Step, Tool};
use whyslow_counters::Figures;
use whyslow_model::{Entity, Metric};

pub(super) static INTERFACES: Tool = Tool {
    begins: |line| line.starts(&["Iface", "MTU"]) || line.starts(&["Kernel", "Interface", "table"]),
    row: |_| false,
    open: || Box::<Interfaces>::default(),
};

pub(super) static LINKS: Tool = Tool {
    begins: |line| link(line).is_some() || json(line),
    row: |_| false,
    open: || Box::<Links>::default(),
};

/// Columns of `netstat -i`.
const COLUMNS: [(&str, Metric); 6] = [
    ("RX-OK", Metric::RxPackets),
    ("TX-OK", Metric::TxPackets),
    ("RX-DRP", Metric::RxDrops),
    ("TX-DRP", Metric::TxDrops),
    ("RX-ERR", Metric::NetErrors),
    ("TX-ERR", Metric::NetErrors),
];

/// Columns under `RX:` and `TX:` of `ip -s link`, which its JSON has too.
const FIELDS: [(&str, Metric, Metric); 4] = [
    ("bytes", Metric::RxBytes, Metric::TxBytes),
    ("packets", Metric::RxPackets, Metric::TxPackets),
    ("dropped", Metric::RxDrops, Metric::TxDrops),
    ("errors", Metric::NetErrors, Metric::NetErrors),
];

/// Interfaces of one table.
const MOST: usize = 4096;

#[derive(Default)]
struct Interfaces {
    names: Vec<String>,
    found: Found,
}

/// What one table tells.
#[derive(Default)]
struct Found {
    things: Vec<(Entity, Figures)>,
    text: Vec<String>,
    above: u64,
}

impl Found {
    /// Keeps a line, so that what it tells stands with it.
    fn keep(&mut self, line: &Line<'_>) {
        if self.text.is_empty() {
            self.above = line.number - 1;
        }
        if self.text.len() < 16 * MOST {
            let gap = line.number.saturating_sub(self.above + 1 + self.text.len() as u64).min(16);
            self.text.extend((0..gap).map(|_| String::new()));
            self.text.push(line.text.to_string());
        }
    }

    fn at(&self) -> u32 {
        self.text.len() as u32
    }

    fn tell(&mut self, tool: &'static str, out: &mut Out<'_>) {
        let Found { mut things, text, above } = std::mem::take(self);
        // One that never did anything is not worth a row.
        things.retain(|(_, figures)| figures.totals().any(|told| told.value > 0.0));
        if !things.is_empty() {
            let text: Vec<&str> = text.iter().map(String::as_str).collect();
            out.look(tool, tool.to_string(), above, &text, things);
        }
    }
}

impl Block for Interfaces {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if line.word(0) == "Kernel" {
            return Step::Used;
        }
        if line.word(0) == "Iface" {
            self.end(out);
            self.names = line.words.iter().map(|word| (*word).to_string()).collect();
            self.found.keep(line);
            return Step::Used;
        }
        // `Met` is there in old versions only; the flags may be missing.
        if self.names.is_empty()
            || line.words.len() + 1 < self.names.len()
            || line.words.len() > self.names.len()
        {
            return Step::Other;
        }
        let cell = |name: &str| {
            let at = self.names.iter().position(|is| is == name)?;
            line.word(at).parse::<u64>().ok()
        };
        if cell("MTU").is_none() {
            return Step::Other;
        }
        // An alias shows `- no statistics available -`.
        let known: Vec<(Metric, Option<u64>)> =
            COLUMNS.iter().map(|(name, metric)| (*metric, cell(name))).collect();
        if known.iter().any(|(_, value)| value.is_none()) {
            return Step::Damaged("an interface with its counts");
        }
        self.found.keep(line);
        if self.found.things.len() < MOST {
            let mut figures = Figures::default();
            figures.at_line(self.found.at());
            known.into_iter().for_each(|(metric, value)| figures.sum(metric, value, 1.0));
            self.found.things.push((Entity::Interface(line.word(0).into()), figures));
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.found.tell("netstat -i", out);
    }
}

/// `4: eth0@if7: <BROADCAST,UP> mtu 1400 …`: the interface.
fn link<'l>(line: &Line<'l>) -> Option<&'l str> {
    let [index, name, flags, ..] = line.words[..] else { return None };
    number(index.strip_suffix(':')?)?;
    let name = name.strip_suffix(':')?;
    (flags.starts_with('<') && flags.ends_with('>') && line.has("mtu"))
        .then(|| name.split('@').next().unwrap_or(name))
}

/// `[{"ifindex":1,"ifname":"lo",…}]`, all on one line.
fn json(line: &Line<'_>) -> bool {
    line.text.starts_with("[{\"ifindex\":") || line.text.starts_with("[{},{\"ifindex\":")
}

#[derive(Default)]
struct Links {
    found: Found,
    /// True under `RX:`, false under `TX:`.
    columns: Option<(bool, Vec<String>)>,
}

impl Block for Links {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if json(line) {
            return self.json(line, out);
        }
        if let Some(name) = link(line) {
            // The list begins anew.
            if self.found.things.iter().any(|(of, _)| of.name() == name) {
                self.end(out);
            }
            self.found.keep(line);
            self.columns = None;
            if self.found.things.len() < MOST {
                self.found.things.push((Entity::Interface(name.into()), Figures::default()));
            }
            return Step::Used;
        }
        if !line.text.starts_with([' ', '\t']) || self.found.things.is_empty() {
            return Step::Other;
        }
        self.found.keep(line);
        match line.word(0) {
            head @ ("RX:" | "TX:") => {
                let names = line.words.iter().skip(1).map(|word| (*word).to_string());
                self.columns = Some((head == "RX:", names.collect()));
            }
            _ => {
                let Some((received, names)) = self.columns.take() else { return Step::Used };
                let values: Vec<Option<u64>> = line.words.iter().map(|word| word.parse().ok()).collect();
                if values.len() < names.len() || values.iter().any(Option::is_none) {
                    return Step::Damaged("the counts of an interface");
                }
                let at = self.found.at();
                let Some((_, figures)) = self.found.things.last_mut() else { return Step::Used };
                figures.at_line(at);
                for (name, rx, tx) in FIELDS {
                    let value = names.iter().position(|is| is == name).and_then(|at| *values.get(at)?);
                    figures.sum(if received { rx } else { tx }, value, 1.0);
                }
            }
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.found.tell("ip -s link", out);
    }
}

impl Links {
    fn json(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(line.text.trim());
        let Ok(serde_json::Value::Array(links)) = parsed else {
            return Step::Damaged("interfaces as JSON, on one line");
        };
        self.end(out);
        self.found.above = line.number - 1;
        for link in links.iter().take(MOST) {
            let name = link.get("ifname").and_then(serde_json::Value::as_str);
            let stats = link.get("stats64").or_else(|| link.get("stats"));
            let (Some(name), Some(stats)) = (name, stats) else { continue };
            let mut figures = Figures::default();
            for (field, rx, tx) in FIELDS {
                for (side, metric) in [("rx", rx), ("tx", tx)] {
                    let value = stats.get(side).and_then(|side| side.get(field)?.as_u64());
                    figures.sum(metric, value, 1.0);
                }
            }
            self.found.things.push((Entity::Interface(name.into()), figures));
        }
        self.end(out);
        Step::Used
    }
}
