//! # events-lost
//!
//! ## What it is
//! Part of the capture is damaged or missing: lines that cannot be read, ends of calls without their beginning, or
//! losses and errors that the tracer itself reports.
//!
//! ## Why it is slow
//! It is not: but counts are too low by what is missing, and a call without its beginning has no arguments.
//!
//! ## Example
//! ```text
//! 21124 10:34:36.069123 <... poll resumed> ) = 1 ([{fd=669, revents=POLLIN}]) <1.779099>
//! ```
//!
//! ## What to do instead
//! Let strace write to a file of its own (`-o trace.st`), never into the program's standard error, and copy the file
//! as it is: text that went through a mail, a chat or a scan is damaged.
//!
//! ## When it is wrong
//! A capture that was started while calls were under way has an end without a beginning for each waiting thread: up to
//! one a thread is normal and stays quiet.

use crate::engine::{Findings, Rule};
use crate::gate::gated;
use crate::words;
use whyslow_facts::{Facts, LOST_SHARE};
use whyslow_model::capture::NoteKind;
use whyslow_model::{CaptureNote, Loss, Measurement};

/// The rule.
pub(crate) static RULE: Rule = Rule {
    id: "events-lost",
    group: "capture",
    summary: "lines are damaged, or the tracer reports losses",
    source: include_str!("events_lost.rs"),
    needs: &[],
    check,
};

/// From one event in a thousand on.
const LOST: f64 = 0.001;
/// Lines quoted.
const QUOTED: usize = 3;

#[gated]
fn check(facts: &Facts, out: &mut Findings<'_>) {
    if facts.capture.is_recording() {
        return recording(facts, out);
    }
    let threads = facts.world.threads.iter().count() as u64;
    let beginnings = facts.capture.starts_not_seen.saturating_sub(threads);
    let damaged = facts.capture.rejects();
    let lost = damaged + beginnings;
    let all = facts.total_calls() + lost;
    let notes = |kind: NoteKind| facts.capture.notes.iter().filter(move |note| note.kind == kind);
    let told: Vec<&CaptureNote> = notes(NoteKind::Tracer).collect();
    let many = lost > 0 && lost as f64 > LOST * all as f64;
    // A capture that ends in the middle of its last line is the matter of `capture-truncated`.
    let only_the_last = lost == 1 && notes(NoteKind::Truncated).next().is_some();
    if told.is_empty() && (!many || only_the_last) {
        return;
    }
    let mut parts = Vec::new();
    if damaged > 0 {
        parts.push(words::plural(damaged, "damaged line"));
    }
    if beginnings > 0 {
        parts.push(format!("{} without their beginning", words::plural(beginnings, "call")));
    }
    if !told.is_empty() {
        parts.push(words::plural(told.len() as u64, "message") + " of the tool that took it");
    }
    let share = lost as f64 / all.max(1) as f64;
    let figure = Measurement::share("lost_share", share);
    let of_all = if lost > 0 { format!(" ({figure} of the events)") } else { String::new() };
    let figures = [
        (damaged, "damaged_lines"),
        (beginnings, "calls_without_beginning"),
        (told.len() as u64, "messages"),
    ];
    let figures = figures.into_iter().filter(|(count, _)| *count > 0);
    let capped = match share > LOST_SHARE {
        true => " More than 1 % is missing, so no finding is held with more than 50 % confidence.",
        false => "",
    };
    let mut found = out
        .capture(format!("The capture is incomplete: {}{of_all}", parts.join(", ")))
        .measured_all(figures.map(|(count, name)| Measurement::count(name, count)))
        .measured_all((lost > 0).then(|| if many { figure.at_least(LOST) } else { figure }));
    for note in told.iter().copied().chain(notes(NoteKind::Reject)).take(QUOTED) {
        let name = facts.capture.source_name(note.source);
        let place = note.line.map_or(name.to_string(), |line| format!("{name}:{line}"));
        found = found.evidence_line(place, note.text.clone());
    }
    found
        .cause(format!("Counts and times are too low by what is missing; damaged lines are quoted and not guessed at.{capped}"))
        .fix("let strace write to a file: strace -f -ttT -y -s 256 -o trace.st -p PID, and copy that file unchanged")
        .fix("where the tracer reports an error (attach, permission): run it as root or with CAP_SYS_PTRACE; one tracer at a time (TracerPid in /proc/PID/status)")
        .verify("whyslow doctor; grep -c unfinished trace.st; grep -c resumed trace.st")
        .file();
}

/// A recording counts itself what its recorder lost, a table and a span of time at a time.
#[gated]
fn recording(facts: &Facts, out: &mut Findings<'_>) {
    // Copies to unwind stacks by are no rows: a note tells of them.
    let mut losses: Vec<&Loss> = facts.recording.losses().filter(|loss| loss.is_of_rows()).collect();
    losses.sort_by_key(|loss| std::cmp::Reverse(loss.lost));
    let told = facts.capture.notes.iter().filter(|note| note.kind == NoteKind::Tracer);
    let told: Vec<&CaptureNote> = told.collect();
    let Some(worst) = losses.first() else {
        if !told.is_empty() {
            let more = told.len().saturating_sub(1) as u64;
            let more = if more > 0 {
                format!(", and {}", words::plural(more, "message more"))
            } else {
                String::new()
            };
            let first = told.first().map_or("", |note| note.text.as_str());
            let title = format!("The recording is incomplete: {first}{more}");
            let messages = Measurement::count("messages", told.len() as u64);
            let mut found = out.capture(title).measured(messages);
            for note in told.into_iter().take(QUOTED) {
                found = found.evidence_line(facts.recording_at(facts.window.start), note.text.clone());
            }
            found
                .cause("What it could not see is missing; the rest is used.")
                .fix("run it as root, or with the rights that whyslow doctor names")
                .verify("whyslow doctor")
                .file();
        }
        return;
    };
    let (lost, produced) = facts.recording.lost_of(&worst.table).unwrap_or((worst.lost, worst.produced));
    let share = lost as f64 / produced.max(1) as f64;
    let mut tables: Vec<&str> = losses.iter().map(|loss| loss.table.as_str()).collect();
    tables.sort_unstable();
    tables.dedup();
    let other_tables = tables.len() as u64 - 1;
    let others = match other_tables {
        0 => String::new(),
        tables => format!(", and rows of {}", words::plural(tables, "other table")),
    };
    let lost = Measurement::count("lost_rows", lost);
    let share = Measurement::share("lost_share", share);
    let lost_calls = facts.recording.lost_of("syscalls").unwrap_or_default();
    let capped = match lost_calls.0 as f64 > LOST_SHARE * lost_calls.1 as f64 {
        true => {
            " More than 1 % of the calls is missing, so no finding is held with more than 50 % confidence."
        }
        false => "",
    };
    let title = format!(
        "The recorder lost {lost} of {} of the table {} ({share}){others}",
        words::plural(produced, "row"),
        worst.table,
    );
    let mut found = out
        .capture(title)
        .measured(lost)
        .measured(Measurement::count("rows", produced))
        .measured(share)
        .measured_all((other_tables > 0).then(|| Measurement::count("other_tables", other_tables)));
    for loss in losses.iter().take(QUOTED) {
        let (from, to) = (loss.from.time_of_day(), loss.to.time_of_day());
        let text = format!("{} of {} lost from {from} to {to}", words::plural(loss.lost, "row"), loss.table);
        found = found.evidence_line(facts.recording_at(loss.from), text);
    }
    found
        .cause(format!("More came than the recorder could take away while it ran. Counts and times are too low by what is missing.{capped}"))
        .fix("record less at once: fewer processes, or calls as counts only (whyslow record --mode counts)")
        .fix("leave the recorder a CPU of its own while it records; write to a local disk with room (df -h .)")
        .verify("whyslow doctor")
        .file();
}
