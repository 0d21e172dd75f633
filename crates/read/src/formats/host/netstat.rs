//! netstat -s: the kernel's counters in sentences, those of net-tools since 1.60 (RHEL 6).
//!
//! ```text
//! Tcp:
//!     26 active connection openings
//!     0 segments retransmitted
//! TcpExt:
//!     TCPTimeouts: 2
//! ```

use super::line::Line;
use super::{Block, Out, Step, Tool};
use whyslow_counters::{Figures, network};
use whyslow_model::{Entity, Metric};

pub(super) static STATISTICS: Tool =
    Tool { begins: |line| section(line).is_some(), row: |_| false, open: || Box::<Statistics>::default() };

/// Sections that are told.
const SECTIONS: [&str; 9] = ["Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "Udp6"];
/// Others, which are passed over.
const OTHERS: [&str; 7] = ["MPTcpExt", "Ip6", "Icmp6", "UdpLite6", "Tcp6", "Sctp", "MPTcp"];

/// Sentences, with the counter that each is (net-tools, statistics.c; both spellings of those that were mended).
const SENTENCES: [(&str, &str, &str); 14] = [
    ("Tcp", "segments sent out", "OutSegs"),
    ("Tcp", "segments send out", "OutSegs"),
    ("Tcp", "segments retransmitted", "RetransSegs"),
    ("Tcp", "segments retransmited", "RetransSegs"),
    ("Tcp", "active connection openings", "ActiveOpens"),
    ("Tcp", "active connections openings", "ActiveOpens"),
    ("Tcp", "passive connection openings", "PassiveOpens"),
    ("Tcp", "failed connection attempts", "AttemptFails"),
    ("Tcp", "resets sent", "OutRsts"),
    ("Udp", "receive buffer errors", "RcvbufErrors"),
    ("TcpExt", "times the listen queue of a socket overflowed", "ListenOverflows"),
    ("TcpExt", "SYNs to LISTEN sockets dropped", "ListenDrops"),
    ("TcpExt", "SYNs to LISTEN sockets ignored", "ListenDrops"),
    ("TcpExt", "other TCP timeouts", "TCPTimeouts"),
];

/// `Tcp:` alone on its line.
fn section(line: &Line<'_>) -> Option<&'static str> {
    let [word] = line.words[..] else { return None };
    let name = word.strip_suffix(':')?;
    SECTIONS.iter().chain(&OTHERS).find(|is| **is == name).copied()
}

#[derive(Default)]
struct Statistics {
    section: &'static str,
    /// The sections so far: where one comes again, the table does.
    seen: Vec<&'static str>,
    figures: Figures,
    text: Vec<String>,
    above: u64,
}

/// Lines of one table: a kernel has some 300 counters with a sentence.
const MOST: usize = 4096;

/// The counter of a line, and its number: `54 segments retransmitted`, `TCPTimeouts: 2`. Sentences may have the number
/// in the middle (`Quick ack mode was activated 3 times`); none of these is told.
fn counter(section: &str, line: &Line<'_>) -> Option<(Metric, u64)> {
    if let [name, value] = line.words[..] {
        return Some((network::counter(section, name.strip_suffix(':')?)?, value.parse().ok()?));
    }
    let value = line.word(0).parse().ok()?;
    let words = line.rest(1);
    let known = |(of, sentence, _): &&(&str, &str, &str)| *of == section && words.starts_with(sentence);
    let (of, _, column) = SENTENCES.iter().find(known)?;
    Some((network::counter(of, column)?, value))
}

/// A line of a table is indented, whatever it says.
fn is_row(line: &Line<'_>) -> bool {
    line.text.starts_with([' ', '\t']) && line.text.bytes().any(|byte| byte.is_ascii_digit())
        || line.text.trim_end().ends_with("histogram:")
}

impl Block for Statistics {
    fn line(&mut self, line: &Line<'_>, out: &mut Out<'_>) -> Step {
        if let Some(section) = section(line) {
            if self.seen.contains(&section) {
                self.end(out);
            }
            self.seen.push(section);
            self.section = section;
        } else if !is_row(line) {
            self.end(out);
            return Step::Other;
        }
        if self.text.is_empty() {
            self.above = line.number - 1;
        }
        if self.text.len() < MOST {
            // Blank lines between are not given, but counted.
            let gap = line.number.saturating_sub(self.above + 1 + self.text.len() as u64).min(16);
            self.text.extend((0..gap).map(|_| String::new()));
            self.text.push(line.text.to_string());
            self.figures.at_line(self.text.len() as u32);
            if let Some((metric, value)) = counter(self.section, line) {
                self.figures.sum(metric, Some(value), 1.0);
            }
        }
        Step::Used
    }

    fn end(&mut self, out: &mut Out<'_>) {
        let Statistics { figures, text, above, .. } = std::mem::take(self);
        if !figures.is_empty() {
            let text: Vec<&str> = text.iter().map(String::as_str).collect();
            out.look("netstat -s", "netstat -s".to_string(), above, &text, vec![(Entity::Host, figures)]);
        }
    }
}
