//! # copy-loop-no-sendfile
//!
//! ## What it is
//! A server reads a file piece by piece and writes the same bytes to a socket.
//!
//! ## Why it is slow
//! Each byte is copied from the page cache to the program and from there to the socket, two calls a piece. sendfile moves it
//! within the kernel: one call for many pieces and one copy less.
//!
//! ## Example
//! ```text
//! read(8, "\0\0\0 ftyp"..., 65536) = 65536 <0.000041>
//! sendto(6, "\0\0\0 ftyp"..., 65536, 0, NULL, 0) = 65536 <0.000082>
//! ```
//!
//! ## What to do instead
//! sendfile(2) (Java FileChannel.transferTo, Python socket.sendfile, Go io.Copy on a *net.TCPConn, nginx sendfile on). From a pipe or a
//! socket: splice. For small files: keep them in memory, or let the web server in front send them (X-Accel-Redirect).
//!
//! ## When it is wrong
//! Content that is changed, compressed or encrypted on the way is not the same bytes, and is not counted: the bytes shown in the capture
//! are compared. TLS needs kTLS for sendfile. Below tens of megabytes nobody notices, unless a
//! good part of the thread's time goes into it.

use crate::engine::{Findings, Need, Rule, Subjects};
use crate::gate::gated;
use crate::guards;
use whyslow_facts::Facts;
use whyslow_facts::folds::copies::Copies;
use whyslow_model::{Measurement, Severity, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "copy-loop-no-sendfile",
    group: "io",
    summary: "files are read and written to a socket piece by piece, the same bytes",
    source: include_str!("copy_loop_no_sendfile.rs"),
    needs: &[Need::Calls, Need::Descriptors, Need::AnyOf(&["read", "pread64"])],
    check,
};

/// Fewer pieces are a file or two.
const MIN_PAIRS: u64 = 500;
/// Less copies in a hundredth of a second (some GB a second).
const MIN_BYTES: u64 = 32 << 20;

/// Enough where a good part of the thread's time goes into it, as in a recording of a second or two.
const FEWER_BYTES: u64 = 8 << 20;

/// True where the copying takes a good part of the thread's time.
#[gated]
fn is_dear(facts: &Facts, row: &Copies) -> bool {
    let share = guards::share_of_ns(facts, Some(row.tid), row.time(), 2 * row.pairs);
    row.time().is_known() && share.value.is_some_and(|share| share >= guards::WARNING_SHARE)
}

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let much = |row: &&Copies| {
        row.pairs >= MIN_PAIRS && row.bytes >= MIN_BYTES || row.bytes >= FEWER_BYTES && is_dear(facts, row)
    };
    let mut found: Vec<&Copies> = facts.copies.rows.iter().filter(much).collect();
    found.sort_by_key(|row| std::cmp::Reverse(row.bytes));
    for row in found {
        let share = guards::share_of_ns(facts, Some(row.tid), row.time(), 2 * row.pairs);
        let from = row.from.as_deref().unwrap_or("a file");
        let to = row.to.as_deref().unwrap_or("a socket");
        let least = if row.bytes >= MIN_BYTES { MIN_BYTES } else { FEWER_BYTES };
        let bytes = Measurement::bytes("bytes", row.bytes).at_least(least as f64);
        let pieces = guards::passed(Measurement::count("pieces", row.pairs), MIN_PAIRS as f64);
        let piece = Measurement::bytes("bytes_per_piece", row.bytes / row.pairs.max(1));
        let time = Measurement::time("time", row.time());
        out.report(
            share,
            format!("{from} to {to}: {bytes} copied through the program in {pieces} pieces of {piece}"),
        )
        .at_most(Severity::Warning)
        .subject(Subject {
            path: row.from.as_deref().map(str::to_string),
            peer: row.to.as_deref().map(str::to_string),
            syscall: Some("read".to_string()),
            ..Subjects::thread(facts, row.tid)
        })
        .cause(format!(
            "Each read is followed by a write of the same bytes to the socket: two calls and two copies a piece, {time} in all."
        ))
        .measured(bytes)
        .measured(pieces)
        .measured(piece)
        .measured(time)
        .fix("code: sendfile(2): Python socket.sendfile(file), Java FileChannel.transferTo, Go io.Copy from *os.File to *net.TCPConn, Rust std::io::copy (Linux)")
        .fix("settings: nginx sendfile on; tcp_nopush on; Apache EnableSendfile On; a framework: let the web server in front send the file (X-Accel-Redirect, X-Sendfile)")
        .fix("at least larger pieces: 256 KiB or more a read")
        .verify("strace -f -c -e trace=read,write,sendto,sendfile -p PID   (reads and writes gone, few sendfile calls)")
        .saving_text("up to half of the copying, and all but one call a piece".to_string())
        .evidence_all(row.lines.iter().flat_map(|lines| [&lines.0, &lines.1]))
        .file();
    }
}
