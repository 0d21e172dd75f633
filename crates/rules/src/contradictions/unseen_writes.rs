//! # unseen-writes
//!
//! ## What it is
//! A trace shows hardly any write of a process, while another source says that it writes a lot: the trace does not show
//! who writes.
//!
//! ## Why it is slow
//! It is not: but what the trace shows is not what the process does, and a cause found in it may be beside the point. In
//! one such case `strace -p 12280 | grep write` of a Python server showed nothing while `pidstat -d` said 335,716 kB/s:
//! a thread wrote, and strace without `-f` follows one thread only.
//!
//! ## Example
//! ```text
//! 14:39:15        0     12280      0.00 335716.00      0.00       0  python
//! ```
//!
//! ## What to do instead
//! `strace -f -p PID` follows all threads; `pidstat -t -d -p PID 1` names the one that writes.
//!
//! ## When it is wrong
//! Pages that are written through a mapping (mmap), or by io_uring, leave no call of writing. A trace that was taken while
//! the process happened not to write looks the same: where both sources have a clock and it differs, nothing is said. A
//! trace with a filter (`-e`) is the matter of `filter-hides`.

use crate::engine::{Findings, Need, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::Facts;
use whyslow_facts::host::{Reading, Thing};
use whyslow_facts::who::process_of;
use whyslow_model::{Entity, Measurement, Metric, SaturatingSum, Subject};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "unseen-writes",
    group: "contradictions",
    summary: "a trace shows no writes of a process that writes a lot by another source",
    source: include_str!("unseen_writes.rs"),
    needs: &[
        Need::Calls,
        Need::Figures(
            &[Metric::WriteBytes],
            "what each process writes",
            "pidstat -d -p PID 1 10 > pidstat.txt",
        ),
    ],
    check,
};

/// Bytes a second by the other source: less may be one late write-back.
const MUCH: f64 = 1e6;
/// The trace shows less than this part of it.
const HARDLY: f64 = 0.10;
/// Calls in a trace that would show writes if there were any.
const MIN_CALLS: u64 = 5;
/// Lines quoted of files that are written by another source.
const QUOTED: usize = 2;
/// Calls that write to files.
const WRITES: &[&str] =
    &["write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "copy_file_range", "splice"];

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    // A recorder knows whom it follows, and says itself what it did not record.
    if facts.capture.is_recording() || facts.world.calls < MIN_CALLS || facts.seems_filtered() {
        return;
    }
    let writers: Vec<_> = facts
        .host
        .processes()
        .into_iter()
        .filter_map(|(of, process)| {
            let reading = process.reading(Metric::WriteBytes).filter(|reading| reading.is_current())?;
            Some((of, reading))
        })
        .collect();
    let traced: Vec<Option<u32>> = facts.world.threads.processes().map(|(_, process)| process.pid).collect();
    for (of, reading) in writers.iter().copied().filter(|(_, reading)| reading.mean() >= MUCH) {
        // Without numbers in the trace it is of one process: of the one that the other source was asked about.
        let named = traced.iter().any(|pid| pid.is_some() && *pid == of.pid());
        let alone = traced.iter().all(Option::is_none) && writers.len() == 1;
        if (named || alone) && reading.may_be_of(facts.window.start, facts.window.end) {
            report(facts, out, of, reading, named);
        }
    }
}

fn report(facts: &Facts, out: &mut Findings<'_>, of: &Entity, reading: &Reading, named: bool) {
    let threads = facts.world.threads.iter().map(|(_, thread)| thread);
    let threads =
        threads.filter(|thread| !named || facts.world.threads.process(thread.process).pid == of.pid());
    let (mut shown, mut count) = (0u64, 0u64);
    for thread in threads {
        count += 1;
        let writes = thread.all_calls().filter(|(syscall, _)| WRITES.contains(&facts.name_of(*syscall)));
        shown = shown.saturating_add(writes.map(|(_, stats)| stats.bytes).saturating_sum());
    }
    // Without a length of the trace, any write may be all there was.
    let seconds = facts.window.length().as_secs_f64().filter(|seconds| *seconds > 0.0);
    let expected = seconds.map(|seconds| seconds * reading.mean());
    if shown as f64 >= expected.map_or(1.0, |bytes| HARDLY * bytes) {
        return;
    }
    let rate = Measurement::bytes_per_second("bytes_per_second", reading.mean()).at_least(MUCH);
    let traced =
        expected.map(|bytes| Measurement::share("share_traced", shown as f64 / bytes).at_most(HARDLY));
    let who = facts.host.name_of(of);
    let pid = of.pid().map_or("PID".to_string(), |pid| pid.to_string());
    let seen = match shown {
        0 => "no write".to_string(),
        bytes => format!("{} written", words::bytes(bytes)),
    };
    let whose = match named {
        true => String::new(),
        false => " The trace bears no process numbers: it is taken for one of this process.".to_string(),
    };
    let found = out.disagreement(format!("the trace shows {seen} by {who}, and {} says {rate}: who writes was not traced", reading.tool))
        .subject(Subject { pid: of.pid(), ..Subject::default() })
        .cause(format!(
            "The trace has {} of {}. Threads that were not traced write (strace without -f follows one), or pages are \
             written without a call: through a mapping, or by io_uring.{whose}",
            words::plural(facts.world.calls, "call"),
            words::plural(count, "thread"),
        ))
        .fix(format!("trace all threads: strace -f -ttT -y -s 256 -o again.st -p {pid}"))
        .fix(format!("see which thread writes: pidstat -t -d -p {pid} 1 5"))
        .measured(rate)
        .measured(Measurement::bytes("bytes_traced", shown))
        .measured_all(traced)
        .measured(Measurement::count("calls", facts.world.calls).at_least(MIN_CALLS as f64))
        .measured(Measurement::count("threads", count))
        .evidence_of(of, &[Metric::WriteBytes]);
    let written = &[Metric::WriteTotal];
    let found =
        written_files(facts, of).into_iter().fold(found, |found, file| found.evidence_of(file, written));
    found
        .verify(format!("ls /proc/{pid}/task | wc -l; strace -f -c -w -e trace=write,pwrite64,writev -p {pid}   (threads there are, and calls of writing by all of them)"))
        .file();
}

/// The files that the process or its threads write by another tool (filetop), the most bytes first.
#[gated]
fn written_files<'a>(facts: &'a Facts, of: &Entity) -> Vec<&'a Entity> {
    let pid = of.pid();
    let of_process = |file: &Entity| match file {
        Entity::File { pid: Some(number), .. } => pid.is_some() && process_of(facts, *number) == pid,
        _ => false,
    };
    let written = |thing: &Thing| thing.reading(Metric::WriteTotal).map_or(0.0, Reading::sum);
    let mut files = facts.host.things_that(of_process);
    files.retain(|(_, thing)| written(thing) > 0.0);
    files.sort_by(|a, b| written(b.1).total_cmp(&written(a.1)));
    files.into_iter().map(|(file, _)| file).take(QUOTED).collect()
}
