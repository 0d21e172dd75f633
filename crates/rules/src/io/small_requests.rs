//! # small-requests
//!
//! ## What it is
//! A disk gets tens of thousands of small writes a second, and they queue in it.
//!
//! ## Why it is slow
//! Each request costs the device about the same, whether it carries 4 KB or 128 KB: its limit is the number, long before
//! the bytes. In one such case a volume took 48,829 writes a second of 4 KB (200.0 MB/s) with 5,206 queued, and each took
//! 25.5 ms; in requests of 128 KB the same bytes are 1,526 a second.
//!
//! ## Example
//! ```text
//! dm-2   0.00  0.00  0.00  48828.50  0.00  390628.00  8.00  5206.04  25.51  0.01  61.65
//! ```
//!
//! ## What to do instead
//! Larger pieces: a buffer of 128 KB or more in the program, `O_DIRECT` only with large blocks, no flush after each record.
//! The kernel merges neighbours where they wait together: a file that is written in order, without `O_SYNC`.
//!
//! ## When it is wrong
//! Databases write single pages on purpose. Where the device answers at once, it takes that many side by side: nothing is
//! said.

use super::devices::{self, SLOW};
use crate::engine::{Findings, Rule};
use crate::gate::gated;
use crate::guards::Share;
use crate::{figures, words};
use whyslow_facts::Facts;
use whyslow_model::{Measurement, Metric, Nanos, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "small-requests",
    group: "io",
    summary: "a disk is given its bytes in very many small writes, which queue",
    source: include_str!("small_requests.rs"),
    needs: &[figures::disks(&[Metric::Writes, Metric::WriteBytes])],
    check,
};

/// Writes a second: fewer are what any disk but one that turns takes.
const MANY: f64 = 1_000.0;
/// A block of a file system, or two: what is not merged with its neighbours.
const SMALL: f64 = 8_192.0;
/// A size from which on the number of requests is no limit any more (read-ahead and most devices' `max_sectors_kb`).
const LARGE: f64 = 131_072.0;
/// Requests under way: fewer do not queue.
const QUEUE: f64 = 4.0;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let small = devices::disks(facts).into_iter().filter_map(|disk| {
        let now = |metric| disk.thing.current(metric);
        let writes =
            now(Metric::Writes).filter(|writes| *writes >= MANY && *writes >= disk.requests / 2.0)?;
        let bytes = now(Metric::WriteBytes)?;
        let queues = disk.queue.is_some_and(|queue| queue >= QUEUE);
        let latency = now(Metric::WriteLatency).or(now(Metric::Latency))?;
        (bytes / writes <= SMALL && queues && latency >= SLOW.or_zero() as f64)
            .then_some((disk, writes, bytes, latency))
    });
    for (disk, writes, bytes, latency) in small {
        let users = figures::most(facts, |thing| thing.current(Metric::WriteBytes));
        let who = match users.is_empty() {
            true => String::new(),
            false => {
                format!(" Most is written by {}.", figures::named(facts, &users, Metric::WriteBytes, None))
            }
        };
        let each = Measurement::bytes("bytes_per_write", (bytes / writes).round() as u64).at_most(SMALL);
        let joined = Measurement::per_second("projected_requests_per_second", bytes / LARGE);
        let bytes = Measurement::bytes_per_second("bytes_per_second", bytes);
        let writes = Measurement::per_second("writes_per_second", writes).at_least(MANY);
        let queue = Measurement::number("requests_under_way", disk.queue.unwrap_or(f64::NAN)).at_least(QUEUE);
        let latency = Nanos::new(latency as u64);
        let latency = Measurement::time("time_per_request", latency).at_least(SLOW.or_zero() as f64);
        let title =
            format!("disk {} gets {bytes} in small writes: {writes} per second of {each} each", disk.name());
        out.report(Share::unknown(), title)
        .at_most(Severity::Notice)
        .subject(figures::subject(facts, disk.of))
        .cause(format!(
            "Each request costs the device about the same, however little it carries, and {queue} are queued. In pieces of {} the same bytes are \
             {joined} requests a second.{who}",
            words::bytes(LARGE as u64),
        ))
        .measured_all([bytes, writes, each, queue, latency, joined])
        .fix("write larger pieces: a buffer of 128 KB and more (setvbuf, BufferedWriter), records joined before they are written")
        .fix("let the kernel join them: no O_SYNC and no flush after each record, files written in order")
        .verify(format!("iostat -x 1 {} (wareq-sz or avgrq-sz rises, w/s falls); bcc: bitesize, biosnoop", disk.of.name()))
        .evidence_of(disk.of, &[Metric::Writes, Metric::WriteBytes, Metric::RequestSize, Metric::QueueLength, Metric::Latency, Metric::WriteLatency])
        .file();
    }
}
