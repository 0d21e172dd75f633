//! # unbuffered-1-byte
//!
//! ## What it is
//! A program asks for one byte at a time (or writes one at a time), more than a thousand times in a row.
//!
//! ## Why it is slow
//! A byte costs a whole system call: about a microsecond, a thousand times what it costs out of a buffer. It is
//! what `getc` on an unbuffered stream does, `os.read(fd, 1)`, `InputStream.read()` without a buffer, or the
//! shell's `while read line`: a shell must not read past the line's end, because the next command may want the
//! rest, so from a pipe it takes byte for byte.
//!
//! ## Example
//! ```text
//! read(0, "a", 1) = 1
//! read(0, "b", 1) = 1
//! ```
//!
//! ## What to do instead
//! Read through a buffer. In a shell, let one `awk`, `sed` or `sort` take the whole stream instead of a loop
//! over its lines, or fill an array with `mapfile`.
//!
//! ## When it is wrong
//! Keys from a terminal come one by one, and a wake-up through a pipe is one byte: neither is counted. A few
//! hundred bytes cost nothing, as pkgcore/pkgcore#475 shows: 917 one-byte reads by bash, 0.9 ms of 161 ms.

use super::streams::{MIN_RUN, how_often, share, subject, with_sums, worst};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::guards;
use crate::often::CALLS;
use whyslow_facts::{Facts, IoStats, Stream};
use whyslow_model::{FdKind, Measurement, Nanos, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "unbuffered-1-byte",
    group: "io",
    summary: "data is read or written one byte a call",
    source: include_str!("unbuffered_1_byte.rs"),
    needs: &[Need::Either(&[
        Need::AnyOf(&["read", "write", "pread64", "pwrite64", "recvfrom", "sendto"]),
        Need::Table("files"),
    ])],
    check,
};

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    for (reading, word, syscall) in [(true, "read", "read"), (false, "written", "write")] {
        let side = |stream: &Stream| -> IoStats {
            if reading { stream.reads.clone() } else { stream.writes.clone() }
        };
        let candidates = with_sums(facts).filter(|stream| {
            let io = if reading { &stream.reads } else { &stream.writes };
            io.longest_one_byte_run > MIN_RUN
                && !matches!(stream.kind, FdKind::Terminal | FdKind::Event | FdKind::DevNull)
        });
        let found = candidates
            .map(|stream| {
                let io = if reading { &stream.reads } else { &stream.writes };
                let time = one_byte_time(io, stream.kind);
                let share = match stream.of_sums {
                    true => share(facts, stream, io, time, io.one_byte),
                    false => guards::share_of_storm(facts, io.only_thread(), time, io.one_byte),
                };
                (share, stream)
            })
            .collect();
        let found = worst(found);
        for (share, stream) in found {
            let io = side(stream);
            let calls = Measurement::count("calls", io.one_byte);
            // Of sums it is known that each call moved a byte, not in which order.
            let run = (!stream.of_sums)
                .then(|| Measurement::count("longest_run", io.longest_one_byte_run).at_least(MIN_RUN as f64));
            let calls = if stream.of_sums { calls.at_least(MIN_RUN as f64) } else { calls };
            let longest =
                run.as_ref().map_or(String::new(), |run| format!(" The longest run is {run} bytes."));
            let often = how_often(facts, &CALLS, io.one_byte);
            let title =
                format!("{}: {word} byte by byte, {calls} times{}", stream.name, often.behind_comma());
            // Tokens and wake-ups go through pipes as single bytes too.
            let tokens = !reading && stream.kind == FdKind::Pipe;
            let report = out
                .report(share, title)
                .at_most(if tokens { Severity::Notice } else { Severity::Critical })
                .subject(subject(facts, stream, &io, syscall))
                .cause(format!(
                    "Each byte is a system call of its own: there is no buffer in front of the descriptor.{longest}",
                ))
                .measured(calls)
                .measured_all(run)
                .measured_all(often.figures());
            let report = if reading {
                report
                    .fix("code: read through a buffer (C: fread or getc on a buffered FILE; Python: open(…) without buffering=0; Java: BufferedInputStream; Go: bufio.Reader)")
                    .fix("shell: replace `cmd | while read line` by awk, or by mapfile -t lines < <(cmd)")
            } else {
                report.fix("code: write through a buffer (C: setvbuf(f, NULL, _IOFBF, 65536); C++: '\\n', not std::endl; Java: BufferedOutputStream; Go: bufio.Writer)")
            };
            report
                .verify(format!("strace -f -y -c -e trace={syscall} -p PID   (after: the count falls by the size of the buffer)"))
                .saving(one_byte_time(&io, stream.kind))
                .evidence_all(io.exemplars.iter())
                .file();
        }
    }
}

/// Time in the one-byte calls: their part of all calls of that side. Waiting for a peer is not in it.
#[gated]
fn one_byte_time(io: &IoStats, kind: FdKind) -> Nanos {
    match io.time_of_work(kind).get() {
        Some(ns) if io.calls.count > 0 => {
            Nanos::new((ns as u128 * io.one_byte as u128 / io.calls.count as u128) as u64)
        }
        _ => Nanos::UNKNOWN,
    }
}
