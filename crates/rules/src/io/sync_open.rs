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
//! Write-ahead logs are opened so on purpose, and write large pieces. With a protected write cache a write takes
//! some tens of microseconds: then there is nothing to gain.

use super::streams::{how_often, more_text, subject, worst};
use crate::engine::{Findings, Need, Rule};
use crate::{guards, words};
use whyslow_facts::{Facts, Stream};
use whyslow_model::Nanos;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "sync-open",
    group: "io",
    summary: "each write waits for the device, because the file is opened with O_SYNC or O_DSYNC",
    source: include_str!("sync_open.rs"),
    needs: &[Need::Calls, Need::Durations, Need::AnyOf(&["open", "openat", "openat2"])],
    check,
};

/// Fewer writes are a save.
const MIN_WRITES: u64 = 20;
/// A mean below is a device with a protected write cache, or no device at all (tmpfs).
const DEVICE_LATENCY: Nanos = Nanos::new(200_000);

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let synced = facts.streams.iter().filter(|stream| waits_for_device(stream));
    let found = synced
        .map(|stream| {
            let writes = &stream.writes;
            (guards::share_of_ns(facts, writes.only_thread(), writes.time(), writes.calls.count), stream)
        })
        .collect();
    let (found, more) = worst(found);
    for (at, (share, stream)) in found.into_iter().enumerate() {
        let writes = &stream.writes;
        let mean = writes.calls.mean();
        let size = words::bytes(writes.mean_size().unwrap_or(0.0).round() as u64);
        let title = format!(
            "{}: opened with O_SYNC or O_DSYNC, {mean} for each of {} writes of {size}{}",
            stream.name,
            words::count(writes.calls.count),
            how_often(facts, writes.calls.count)
        );
        out.report(share, title)
            .subject(subject(facts, stream, writes, "write"))
            .cause(format!(
                "Because of the flag each write returns only when the device has the data. The longest took {}.{}",
                writes.calls.max(),
                more_text(more, at)
            ))
            .fix("open without the flag, write a batch, then one fdatasync(fd)")
            .fix("where the flag must stay: gather records and write them in pieces of 64 KiB and more; O_DSYNC instead of O_SYNC; preallocate (fallocate)")
            .fix("a mount with -o sync does the same to all files: findmnt -o TARGET,OPTIONS")
            .verify("strace -f -y -T -e trace=openat,write,pwrite64 -p PID   (or bcc's ext4slower)")
            .saving(writes.time())
            .evidence_all(writes.exemplars.iter())
            .file();
    }
}

fn waits_for_device(stream: &Stream) -> bool {
    let writes = &stream.writes;
    // Most of its opens: one tool that saves with O_SYNC does not make the others' writes slow.
    stream.sync_opens * 2 >= stream.opens.max(1)
        && writes.calls.count >= MIN_WRITES
        && writes.calls.mean().is_known()
        && writes.calls.mean() >= DEVICE_LATENCY
}
