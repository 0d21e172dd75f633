//! Network: full where a link carries what it can, or packets are dropped and segments sent again. Bytes a second
//! alone prove nothing.

use super::{current_lines, judged, unknown};
use crate::thresholds;
use crate::words;
use whyslow_facts::Facts;
use whyslow_model::walk::{HostResource, State};
use whyslow_model::{Entity, Metric};

/// Of a link's speed: with more, its queue grows.
const FULL: f64 = thresholds::LINK_FULL.value;
/// Bytes a second that fill no link in use today: a tenth of 100 Mbit/s.
const LITTLE: f64 = 1_250_000.0;
/// Segments sent again: above one in fifty every connection feels it.
const RESENT: f64 = thresholds::RETRANSMITS.value;
/// Fewer segments a second prove nothing.
const MIN_SEGMENTS: f64 = 50.0;
/// Packets dropped, of all.
const DROPPED: f64 = thresholds::DROPS.value;
/// Fewer drops a second are of packets that nobody waits for.
const MIN_DROPS: f64 = 10.0;

const TELLS: &str = "sar -n DEV,EDEV,TCP,ETCP 1 5";

pub(super) fn judge(facts: &Facts) -> Vec<HostResource> {
    let links = facts.host.things_that(|of| matches!(of, Entity::Interface(name) if &**name != "lo"));
    let (mut bad, mut good, mut evidence, mut hints) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (of, link) in links {
        let now = |metric| link.current(metric).unwrap_or(0.0);
        let bytes =
            link.current(Metric::RxBytes).into_iter().chain(link.current(Metric::TxBytes)).reduce(f64::max);
        let speed = link.current(Metric::LinkSpeed).filter(|speed| *speed > 0.0);
        let before = bad.len();
        match (bytes, speed) {
            (Some(bytes), Some(speed)) => {
                let used = bytes / speed;
                let text = format!("{of} at {} of its speed", words::percent(used));
                if used >= FULL { bad.push(text) } else { good.push((used, text)) }
            }
            (Some(bytes), None) if bytes < LITTLE => {
                good.push((0.0, format!("{of} {}/s", words::bytes(bytes as u64))));
            }
            (Some(bytes), None) => {
                hints.push((bytes, format!("{of} {}/s, speed unknown", words::bytes(bytes as u64))))
            }
            _ => {}
        }
        let drops = now(Metric::RxDrops) + now(Metric::TxDrops);
        let packets = now(Metric::RxPackets) + now(Metric::TxPackets);
        if drops >= MIN_DROPS && drops >= DROPPED * packets {
            bad.push(format!("{of} drops {} packets/s", words::quantity(drops)));
        }
        if bad.len() > before {
            evidence.extend(current_lines(
                facts,
                of,
                &[Metric::RxBytes, Metric::TxBytes, Metric::RxDrops, Metric::TxDrops],
            ));
        }
    }
    if let Some(host) = facts.host.host()
        && let (Some(sent), Some(again)) =
            (host.current(Metric::TcpSegmentsOut), host.current(Metric::TcpRetransmits))
        && sent > 0.0
    {
        let share = again / sent;
        let text = format!("TCP retransmits {}", words::percent(share));
        if share >= RESENT && sent >= MIN_SEGMENTS {
            bad.push(text)
        } else {
            good.push((share, text))
        }
        evidence.extend(current_lines(
            facts,
            &Entity::Host,
            &[Metric::TcpSegmentsOut, Metric::TcpRetransmits],
        ));
    }
    let (state, reason) = if !bad.is_empty() {
        (State::Saturated, words::list(&bad, 3))
    } else if !good.is_empty() {
        good.sort_by(|a, b| b.0.total_cmp(&a.0));
        let texts: Vec<String> = good.into_iter().map(|(_, text)| text).collect();
        (State::Not, words::list(&texts, 2))
    } else {
        hints.sort_by(|a, b| b.0.total_cmp(&a.0));
        let reason = hints
            .into_iter()
            .next()
            .map_or("no source tells of links, drops or retransmits".to_string(), |(_, text)| text);
        return vec![unknown("network", reason, TELLS)];
    };
    let mut resource = judged(facts, "network", state, reason, &Entity::Host, &[]);
    resource.evidence = evidence;
    vec![resource]
}
