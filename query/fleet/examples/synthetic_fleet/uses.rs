//! What a service did with files and other services in a minute, out of the rows of its account: the table `uses`.

use std::collections::BTreeMap;
use whyslow_parts::UseRow;

/// What a call takes where it does not wait, ns: recordings have it between one and ten microseconds.
const CALL_NS: f64 = 5e3;
/// What one takes that waits, ns.
const WAIT_NS: f64 = 1e6;
/// The longest call takes so many times the usual time.
const LONGEST: f64 = 9.0;
/// Bytes of a call on a file: a page.
const FILE_BYTES: f64 = 4096.0;
/// Bytes of a message.
const MESSAGE_BYTES: f64 = 700.0;

/// Calls by what they are about.
#[derive(Default)]
pub(crate) struct Uses(BTreeMap<&'static str, UseRow>);

impl Uses {
    /// Calls of one kind on an object, which took `ns` in the minute.
    pub(crate) fn add(&mut self, (call, object): (&str, &'static str), waits: bool, ns: f64, noise: f64) {
        let each = if waits { WAIT_NS } else { CALL_NS };
        let calls = (ns / each).max(1.0) as u64;
        let each_bytes = if is_file(object) { FILE_BYTES } else { MESSAGE_BYTES };
        let bytes = (calls as f64 * each_bytes * noise) as u64;
        let row = self.0.entry(object).or_default();
        match call {
            "read" | "pread64" | "recvfrom" => {
                (row.reads, row.read_bytes) = (row.reads + calls, row.read_bytes + bytes);
            }
            "write" | "pwrite64" | "sendto" => {
                (row.writes, row.written_bytes) = (row.writes + calls, row.written_bytes + bytes);
            }
            "fdatasync" => row.syncs += calls,
            "openat" => row.opened += calls,
            _ => return,
        }
        row.ns = Some(row.ns.unwrap_or(0) + ns as u64);
        row.longest_ns = row.longest_ns.max(Some((each * LONGEST * noise) as u64));
    }

    /// The rows of a process.
    pub(crate) fn rows(self, service: &str, version: &str, process: &str) -> impl Iterator<Item = UseRow> {
        let seen = self.0.into_iter().filter(|(_, row)| row.ns.is_some());
        seen.map(move |(object, row)| {
            let side = if object.starts_with("0.0.0.0:") { "served" } else { "asked" };
            UseRow {
                service: service.into(),
                version: Some(version.into()),
                process: process.into(),
                kind: if is_file(object) { "file" } else { "tcp" }.into(),
                side: (!is_file(object)).then(|| side.into()),
                object: object.into(),
                ..row
            }
        })
    }
}

fn is_file(object: &str) -> bool {
    object.starts_with('/')
}
