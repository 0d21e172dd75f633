//! # archive-reread
//!
//! ## What it is
//! A running program reads an archive (jar, zip, wheel) in small pieces, seeking before each: again and again,
//! or in the middle of a request. Or it opens the archive for each request and reads it, or its directory, whole.
//! What the program makes of the bytes before its next call elsewhere (inflating, parsing) counts too.
//!
//! ## Why it is slow
//! Something that should be loaded once is looked up in the archive each time: classes or resources that are
//! not found and not remembered, a class loader that checks for changes, a help page that is put together from
//! the archive. In one Spring Cloud service a request spent 4.5 s of 6.2 s in `lseek` and 512-byte reads over a
//! 78,445,591-byte jar.
//!
//! ## Example
//! ```text
//! lseek(5, 30720, SEEK_SET) = 30720
//! read(5, "PK\3\4"..., 512) = 512
//! ```
//!
//! ## What to do instead
//! Find out who asks (a stack at that moment: `jstack`, `py-spy dump`) and let it keep what it found. Leave the
//! unused library out of the archive. Unpack the archive; run from the directory. Read through a larger buffer.
//!
//! ## When it is wrong
//! Loading classes at start-up reads an archive once: a program that was started within the capture and read
//! less than the archive's size gets a notice at most.

use super::reread::{is_archive, is_read_over};
use super::streams::{
    GOOD_BUFFER, difference, how_often, more_text, projected, subject, sum, with_work, worst,
};
use crate::engine::{Findings, Need, Rule};
use crate::{guards, words};
use whyslow_facts::{Facts, Stream};
use whyslow_model::Severity;

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "archive-reread",
    group: "io",
    summary: "a jar, zip or wheel is read in small pieces while the program runs",
    source: include_str!("archive_reread.rs"),
    needs: &[Need::Calls, Need::AnyOf(&["read", "pread64"]), Need::Descriptors],
    check,
};

/// Fewer reads are the archive's directory and an entry or two.
const MIN_READS: u64 = 1_000;
/// The mean size in bytes up to which pieces are small: a page.
const SMALL: f64 = 4096.0;
/// The part of the reads that do not simply go on: behind a seek, or out of order (pread).
const JUMPS: f64 = 0.3;

fn check(facts: &Facts, out: &mut Findings<'_>) {
    let archives = facts
        .streams
        .iter()
        .filter(|stream| is_archive(stream) && (is_picked_at(stream) || is_read_over(stream)));
    let found = archives
        .map(|stream| {
            let time = with_work(facts, stream, sum(stream.reads.time(), stream.seeks.total()));
            let calls = stream.reads.calls.count + stream.seeks.count;
            (guards::share_of_storm(facts, stream.reads.only_thread(), time, calls), stream)
        })
        .collect();
    let (found, more) = worst(found);
    for (at, (share, stream)) in found.into_iter().enumerate() {
        let reads = &stream.reads;
        let bytes = reads.calls.bytes;
        let (size, times) = match stream.size {
            Some(size) => (
                format!(" of {} bytes", words::count(size)),
                format!(", {} of its size", words::percent(bytes as f64 / size.max(1) as f64)),
            ),
            None => (String::new(), String::new()),
        };
        let mean = words::bytes(reads.mean_size().unwrap_or(0.0).round() as u64);
        let opened = match stream.opens {
            0 | 1 => String::new(),
            opens => format!("opened {} times and ", words::count(opens)),
        };
        let title = format!(
            "{}: an archive{size} is {opened}read in {} pieces of {mean} while the program runs{}",
            stream.name,
            words::count(reads.calls.count),
            how_often(facts, reads.calls.count)
        );
        let time = sum(reads.time(), stream.seeks.total());
        let work = with_work(facts, stream, time);
        let projected = projected(reads, &stream.seeks);
        let cost = match (time.is_known(), projected.is_known()) {
            (true, true) => format!(
                " Reads and seeks took {time}; in reads of 64 KiB ({} of them) the same bytes would take about {projected}.",
                words::count(bytes.div_ceil(GOOD_BUFFER))
            ),
            _ => String::new(),
        };
        let again = stream.size.is_some_and(|size| bytes > size);
        out.report(share, title)
            .at_most(if is_start_up(facts, stream) && !again { Severity::Notice } else { Severity::Critical })
            .subject(subject(facts, stream, reads, "read"))
            .cause(format!(
                "Entries are looked up in the archive while the program works, {} read in all{times}: what was found \
                 (or not found) is not kept.{cost}{}",
                words::bytes(bytes),
                more_text(more, at)
            ))
            .fix("first see who asks: jstack PID (Java), py-spy dump --pid PID (Python) while it happens; let that code keep what it found")
            .fix("leave the library that is looked for out of the production archive, or turn its feature off (in the case above: swagger's help pages)")
            .fix("Java: unpack and run from the directory (jar xf app.jar; Spring Boot: java -Djarmode=tools -jar app.jar extract); Tomcat: reloadable=\"false\", unpackWARs=\"true\"")
            .fix("Python: unzip the egg or wheel (pip install --no-binary or zip_safe=False); own code: open the archive once, keep it open, read whole entries")
            .verify("strace -f -y -e trace=lseek,read,pread64 -p PID 2>&1 | grep -c ARCHIVE   (after: none while requests are served)")
            .saving(if again { work } else { difference(time, projected) })
            .evidence_all(reads.exemplars.iter())
            .file();
    }
}

fn is_picked_at(stream: &Stream) -> bool {
    let reads = &stream.reads;
    let in_order = reads.in_sequence as f64;
    let jumps = (reads.after_seek as f64).max(reads.succeeded() as f64 - in_order);
    reads.calls.count >= MIN_READS
        && reads.mean_size().is_some_and(|mean| mean <= SMALL)
        && jumps >= JUMPS * reads.succeeded() as f64
}

/// True where the process that reads was started within the capture.
fn is_start_up(facts: &Facts, stream: &Stream) -> bool {
    let thread =
        facts.world.threads.iter().map(|(_, thread)| thread).find(|thread| thread.tid == stream.reads.tid);
    thread.is_some_and(|thread| facts.world.threads.process(thread.process).started)
}
