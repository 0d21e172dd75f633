//! # sync-open
//!
//! ## What it is
//! A file is opened with O_SYNC or O_DSYNC, so that each write waits for the device.
//!
//! ## Why it is slow
//! The write returns only when the data (and with O_SYNC the inode) is on the device: milliseconds instead of
//! microseconds, as with an fsync behind each write, and nobody sees an fsync in the code.
//!
//! ## Example
//! ```text
//! openat(AT_FDCWD, "/var/lib/app/journal", O_WRONLY|O_CREAT|O_APPEND|O_DSYNC, 0644) = 4
//! write(4, "record 1\n", 9) = 9 <0.008811>
//! ```
//!
//! ## What to do instead
//! Write without the flag and call `fdatasync` once a batch. Or gather records and write them in one piece.
//!
//! ## When it is wrong
//! Where the file was opened before the capture, the flag is told from the writes: nearly each takes as long as a device
//! does. A network or FUSE mount may do the same. Write-ahead logs are opened so on purpose, and write large pieces. With a protected write cache a write takes
//! some tens of microseconds: then there is nothing to gain.

use super::streams::{bytes_per_call, how_often, subject, worst};
use super::synced::{DEVICE_LATENCY, MIN_WRITES, is_synced, waits_for_device};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards;
use crate::often::CALLS;
use whyslow_facts::Facts;
use whyslow_model::Measurement;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "sync-open",
    group: "io",
    summary: "each write waits for the device, because the file is opened with O_SYNC or O_DSYNC",
    source: include_str!("sync_open.rs"),
    needs: &[
        Need::Calls,
        Need::Durations,
        Need::AnyOf(&["write", "writev", "pwrite64", "pwritev", "pwritev2"]),
    ],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let synced = facts.streams.iter().filter(|stream| waits_for_device(facts, stream));
    let found = synced
        .map(|stream| {
            let writes = &stream.writes;
            (guards::share_of_ns(facts, writes.only_thread(), writes.time(), writes.calls.count), stream)
        })
        .collect();
    let found = worst(found);
    for (share, stream) in found {
        let writes = &stream.writes;
        let mean = Measurement::time("time_per_call", writes.calls.mean());
        let mean = mean.at_least(DEVICE_LATENCY.or_zero() as f64);
        let longest = Measurement::time("longest", writes.calls.max());
        let calls = Measurement::count("calls", writes.calls.count).at_least(MIN_WRITES as f64);
        let size = bytes_per_call(writes);
        let of_size = size.as_ref().map_or(String::new(), |size| format!(" of {size}"));
        let often = how_often(facts, &CALLS, writes.calls.count);
        let (opened, sure) = match is_synced(stream) {
            true => ("opened with O_SYNC or O_DSYNC", 0.9),
            false => ("each write waits for the device, as with O_SYNC or O_DSYNC", 0.7),
        };
        let title = format!(
            "{}: {opened}, {mean} for each of {calls} writes{of_size}{}",
            stream.name,
            often.behind_comma()
        );
        out.report(share, title)
            .subject(subject(facts, stream, writes, "write"))
            .confidence(sure)
            .cause(format!(
                "{} The longest took {longest}.",
                match is_synced(stream) {
                    true => "Because of the flag each write returns only when the device has the data.",
                    false => "It was opened before the capture, so the flag itself is not seen (/proc/PID/fdinfo/FD shows it: flags with 04010000 or 010000). But nine of ten writes take as long as a device does, and a write into the page cache takes microseconds.",
                },
            ))
            .measured_all([calls, mean, longest])
            .measured_all(size)
            .measured_all(often.figures())
            .fix("open without the flag, write a batch, then one fdatasync(fd)")
            .fix("where the flag must stay: gather records and write them in pieces of 64 KiB and more; O_DSYNC instead of O_SYNC; preallocate (fallocate)")
            .fix("a mount with -o sync does the same to all files: findmnt -o TARGET,OPTIONS")
            .verify("strace -f -y -T -e trace=openat,write,pwrite64 -p PID   (or bcc's ext4slower)")
            .saving(writes.time())
            .evidence_all(writes.exemplars.iter())
            .file();
    }
}
