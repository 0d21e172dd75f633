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

use super::reread::{self, is_archive, is_read_over};
use super::streams::{
    GOOD_BUFFER, bytes_per_call, difference, how_often, projected, share, subject, sum, with_sums, with_work,
    worst,
};
use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::often::CALLS;
use crate::{guards, words};
use whyslow_facts::{Facts, Stream};
use whyslow_model::{Measurement, Severity};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "archive-reread",
    group: "io",
    summary: "a jar, zip or wheel is read in small pieces while the program runs",
    source: include_str!("archive_reread.rs"),
    needs: &[
        Need::Either(&[Need::AnyOf(&["read", "pread64"]), Need::Table("files")]),
        Need::Either(&[Need::Descriptors, Need::Table("files")]),
    ],
    check,
};

/// Fewer reads are the archive's directory and an entry or two.
const MIN_READS: u64 = 1_000;
/// The mean size in bytes up to which pieces are small: a page.
const SMALL: f64 = 4096.0;
/// The part of the reads that do not simply go on: behind a seek, or out of order (pread).
const JUMPS: f64 = 0.3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    let archives = with_sums(facts)
        .filter(|stream| is_archive(stream) && (is_picked_at(stream) || is_read_over(stream)));
    let found = archives
        .map(|stream| {
            let time = with_work(facts, stream, sum(stream.reads.time(), stream.seeks.total()));
            let calls = stream.reads.calls.count + stream.seeks.count;
            let share = match stream.of_sums {
                true => share(facts, stream, &stream.reads, time, calls),
                false => guards::share_of_storm(facts, stream.reads.only_thread(), time, calls),
            };
            (share, stream)
        })
        .collect();
    let found = worst(found);
    for (share, stream) in found {
        let reads = &stream.reads;
        let bytes = reads.calls.bytes;
        let size = stream.size.map_or(String::new(), |size| format!(" of {} bytes", words::count(size)));
        let of_size =
            stream.size.map(|size| Measurement::share("bytes_of_size", bytes as f64 / size.max(1) as f64));
        let times = of_size.as_ref().map_or(String::new(), |part| format!(", {part} of its size"));
        let (calls, mean) = (Measurement::count("calls", reads.calls.count), bytes_per_call(reads));
        let picked = is_picked_at(stream);
        let (calls, mean) = match picked {
            true => (calls.at_least(MIN_READS as f64), mean.map(|mean| mean.at_most(SMALL))),
            false => (calls, mean),
        };
        let jumps = jumps(stream).filter(|_| picked);
        let jumps = jumps.map(|part| Measurement::share("share_of_calls_out_of_order", part).at_least(JUMPS));
        let opens = (stream.opens > 1).then(|| Measurement::count("opens", stream.opens));
        let opened = opens.as_ref().map_or(String::new(), |opens| format!("opened {opens} times and "));
        let often = how_often(facts, &CALLS, reads.calls.count);
        let pieces = mean.as_ref().map_or(String::new(), |mean| format!(" of {mean}"));
        let title = format!(
            "{}: an archive{size} is {opened}read in {calls} pieces{pieces} while the program runs{}",
            stream.name,
            often.behind_comma()
        );
        let time = sum(reads.time(), stream.seeks.total());
        let work = with_work(facts, stream, time);
        let projected = projected(reads, &stream.seeks);
        let large = Measurement::count("projected_calls", bytes.div_ceil(GOOD_BUFFER));
        let cost = match (time.is_known(), projected.is_known()) {
            (true, true) => format!(
                " Reads and seeks took {time}; in reads of 64 KiB ({large} of them) the same bytes would take about {projected}."
            ),
            _ => String::new(),
        };
        let again = stream.size.is_some_and(|size| bytes > size);
        out.report(share, title)
            .at_most(if is_start_up(facts, stream) && !again { Severity::Notice } else { Severity::Critical })
            .subject(subject(facts, stream, reads, "read"))
            .cause(format!(
                "Entries are looked up in the archive while the program works, {} read in all{times}: what was found \
                 (or not found) is not kept.{cost}",
                words::bytes(bytes),
            ))
            .measured(calls)
            .measured_all(mean)
            .measured_all(jumps)
            .measured_all(opens)
            .measured_all(often.figures())
            .measured_all(reread::figures(stream))
            .measured_all(of_size)
            .measured(Measurement::time("time", time))
            .measured(large)
            .measured(Measurement::time("projected_time", projected))
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

#[gated]
fn is_picked_at(stream: &Stream) -> bool {
    let reads = &stream.reads;
    reads.calls.count >= MIN_READS
        && reads.mean_size().is_some_and(|mean| mean <= SMALL)
        && jumps(stream).is_some_and(|part| part >= JUMPS)
}

/// The part of the reads that do not simply go on; `None` where none succeeded.
#[gated]
fn jumps(stream: &Stream) -> Option<f64> {
    let reads = &stream.reads;
    let all = Some(reads.succeeded() as f64).filter(|all| *all > 0.0)?;
    Some((reads.after_seek as f64).max(all - reads.in_sequence as f64) / all)
}

/// True where the process that reads was started within the capture.
fn is_start_up(facts: &Facts, stream: &Stream) -> bool {
    let thread =
        facts.world.threads.iter().map(|(_, thread)| thread).find(|thread| thread.tid == stream.reads.tid);
    thread.is_some_and(|thread| facts.world.threads.process(thread.process).started)
}
