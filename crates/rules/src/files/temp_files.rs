//! What the sources of temp-file-churn share: where temporary files lie, which are meant to, and the finding where their
//! removal is not seen.

use crate::engine::Findings;
use crate::guards::Share;
use whyslow_model::{Evidence, Measurement, Severity, Subject};

/// The remedy where the bytes fit in memory.
pub(super) const IN_MEMORY: &str = "code: keep the bytes in memory (io.BytesIO, bytes.Buffer, ByteArrayOutputStream; memfd_create where a descriptor is needed), or pass them on as a stream";
/// The remedy where a path is needed.
pub(super) const ON_TMPFS: &str = "where a path is needed and they fit: TMPDIR=/dev/shm, or systemd PrivateTmp=yes with a tmpfs on /tmp; mind that a tmpfs takes memory";

/// Where temporary files lie (hier(7)).
pub(super) const PLACES: [&str; 3] = ["/tmp/", "/var/tmp/", "/dev/shm/"];
/// Programs that spill to files on purpose: coreutils sort (`sortXXXXXX`), gcc (`ccXXXXXX.s`), PostgreSQL
/// (`pgsql_tmp`).
pub(super) fn is_known_spill(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let random = |rest: &str| rest.len() == 6 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let compiler = name.strip_prefix("cc").and_then(|rest| rest.split_once('.'));
    name.strip_prefix("sort").is_some_and(random)
        || compiler.is_some_and(|(rest, ending)| {
            random(rest) && matches!(ending, "s" | "o" | "i" | "res" | "ld" | "le" | "c")
        })
        || name.starts_with("pgsql_tmp")
}

/// All files of the folder of a path.
pub(super) fn by_directory(path: &str) -> String {
    path.rsplit_once('/').map_or_else(|| path.to_string(), |(directory, _)| format!("{directory}/*"))
}

/// Files that were written and read back, by whichever source.
pub(super) struct Churn {
    pub(super) pattern: String,
    pub(super) who: String,
    pub(super) pid: Option<u32>,
    pub(super) comm: Option<String>,
    /// Bytes, and in how many files.
    pub(super) written: (Measurement, Measurement),
    pub(super) read: (Measurement, Measurement),
    /// What else was measured.
    pub(super) figures: Vec<Measurement>,
    /// Behind the number of files, where a tool shows some only.
    pub(super) shown: &'static str,
    /// How it is known.
    pub(super) how: String,
    pub(super) evidence: Vec<Evidence>,
}

pub(super) fn report(out: &mut Findings<'_>, churn: Churn) {
    let Churn { pattern, who, written, read, shown, how, .. } = churn;
    let (written, read) = ([written.0, written.1], [read.0, read.1]);
    let mut found = out
        .report(
            Share::unknown(),
            format!(
                "{pattern}: {who} writes temporary files ({} in {}{shown}) and reads them back ({} in {})",
                written[0], written[1], read[0], read[1]
            ),
        )
        .measured_all(written)
        .measured_all(read)
        .measured_all(churn.figures)
        .at_most(Severity::Notice)
        .subject(Subject { path: Some(pattern), pid: churn.pid, comm: churn.comm, ..Subject::default() })
        .cause(format!(
            "{how} The bytes go to the disk and back, and if the files are removed right after, for nothing; that they are is not shown."
        ))
        .fix("see whether they are removed again: strace -f -e trace=unlink,unlinkat,rmdir,openat -p PID; bcc: filelife -p PID")
        .fix(IN_MEMORY)
        .fix(ON_TMPFS)
        .verify("bcc: filelife -p PID   (lists files that live shortly, with their age)");
    for line in churn.evidence {
        found = found.evidence_line(line.source, line.text);
    }
    found.file();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_spills() {
        for path in ["/tmp/sortAb3dXy", "/tmp/ccKq1z9A.s", "base/pgsql_tmp/pgsql_tmp4711.3"] {
            assert!(is_known_spill(path), "{path}");
        }
        for path in ["/tmp/sorted-by-name", "/tmp/cctv.txt", "/tmp/x/1.txt", ""] {
            assert!(!is_known_spill(path), "{path}");
        }
    }
}
