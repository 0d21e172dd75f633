//! Functions of the kernel that were counted, in the form in which pasted tables of funccount and funclatency come too: figures
//! of each function, of all threads and by process.

use super::{ReplayContext, counted};
use crate::bpf::layout::CountRow;
use crate::counts::{self, Counted};
use crate::programs::probes::Probed;
use std::collections::BTreeMap;
use whyslow_model::{
    CaptureNote, Entity, Event, FigureRow, FigureTable, Metric, Nanos, NoteKind, Over, Sink, StackFrame,
    Timestamp, Trait,
};

/// Who tells.
const TOOL: &str = "whyslow --probe";
/// Ways to a function that are told, and functions of each.
const MOST_PATHS: usize = 10;
const MOST_FRAMES: usize = 24;

/// Tells what was counted.
pub(super) fn tell(
    context: &mut ReplayContext,
    probed: &[Probed],
    (from, to): (Timestamp, Timestamp),
    sink: &mut dyn Sink,
) {
    if probed.is_empty() {
        return;
    }
    let length = to.since(from);
    let mut table = FigureTable::new(context.source, TOOL);
    table.at = to;
    table.over = Over::Interval(length);
    for of in probed {
        let mut by_process: BTreeMap<Option<u32>, CountRow> = BTreeMap::new();
        for (pid, row) in &of.rows {
            for who in [None, Some(*pid)] {
                add(&mut by_process, who, row);
            }
        }
        // A function that nobody called was called no times: that is known.
        by_process.entry(None).or_insert(CountRow { shortest: u64::MAX, ..CountRow::default() });
        for (pid, row) in &by_process {
            let mut figures = row_of(of, *pid, row, length);
            if pid.is_none() {
                figures.say(Trait::Callers, callers(context, of));
            }
            table.rows.push(figures);
        }
        tell_lost(context, of, sink);
    }
    sink.push(Event::Figures(Box::new(table)));
}

/// Adds a thread's row to that of its process, or of all.
fn add(sums: &mut BTreeMap<Option<u32>, CountRow>, who: Option<u32>, row: &CountRow) {
    let mut sum = Counted::new();
    if let Some(known) = sums.get(&who) {
        counts::add_to(&mut sum, (0, 0), known);
    }
    counts::add_to(&mut sum, (0, 0), row);
    sums.extend(sum.into_values().map(|row| (who, row)));
}

fn row_of(of: &Probed, pid: Option<u32>, row: &CountRow, length: Nanos) -> FigureRow {
    let stats = counted::stats(row);
    let mut figures = FigureRow::new(Entity::Function { pid, name: of.name.as_str().into() });
    figures.set(Metric::CallCount, stats.count as f64);
    if let Some(seconds) = length.as_secs_f64().filter(|seconds| *seconds > 0.0) {
        figures.set(Metric::Calls, stats.count as f64 / seconds);
    }
    if of.tells_errors {
        figures.set(Metric::CallErrorCount, stats.errors as f64);
    }
    if stats.timed > 0 {
        figures.set(Metric::CallTotal, stats.total_ns as f64);
        figures.set(Metric::Latency, stats.total_ns as f64 / stats.timed as f64);
        let times = [
            (Metric::CallMin, stats.min()),
            (Metric::CallP50, stats.percentile(0.5)),
            (Metric::CallP99, stats.percentile(0.99)),
            (Metric::CallMax, stats.max()),
        ];
        for (metric, time) in times {
            if let Some(ns) = time.get() {
                figures.set(metric, ns as f64);
            }
        }
    }
    let times = row.buckets.iter().enumerate().filter(|(_, calls)| **calls > 0);
    // The first bucket begins at nothing.
    let times = times.map(|(power, calls)| format!("{}:{calls}", if power == 0 { 0 } else { 1u64 << power }));
    figures.say(Trait::Times, times.collect::<Vec<_>>().join(" "));
    figures
}

/// The ways to a function, the most frequent first.
fn callers(context: &mut ReplayContext, of: &Probed) -> String {
    let symbols = context.rare.samples().symbols();
    let mut ways: BTreeMap<String, u64> = BTreeMap::new();
    for (addresses, calls) in &of.paths {
        let frames = symbols.borrow_mut().kernel(addresses);
        *ways.entry(way(&frames, &of.name)).or_default() += calls;
    }
    let mut ways: Vec<(String, u64)> = ways.into_iter().filter(|(way, _)| !way.is_empty()).collect();
    ways.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let lines = ways.into_iter().take(MOST_PATHS).map(|(way, calls)| format!("{calls} {way}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The functions behind the probed one, the nearest first. What stands before it is the probe itself.
fn way(frames: &[StackFrame], function: &str) -> String {
    let names: Vec<&str> = frames.iter().map(|frame| frame.function.as_deref().unwrap_or("?")).collect();
    let own = names.iter().position(|name| *name == function);
    // Without its own frame (the program was called from its first instruction) the probe's frames have no names.
    let behind =
        own.map_or_else(|| names.iter().position(|name| *name != "?").unwrap_or(names.len()), |own| own + 1);
    names[behind..].iter().copied().take(MOST_FRAMES).collect::<Vec<_>>().join(" < ")
}

fn tell_lost(context: &ReplayContext, of: &Probed, sink: &mut dyn Sink) {
    let sum = |of_row: &dyn Fn(&CountRow) -> u64| of.rows.iter().map(|(_, row)| of_row(row)).sum::<u64>();
    let timed = sum(&|row| row.buckets.iter().map(|calls| u64::from(*calls)).sum());
    let lost = [
        (
            sum(&|row| row.calls).saturating_sub(timed),
            "have no time: their end was not seen (they last still, or there are too many at a time)",
        ),
        (of.lost_calls, "were not counted: there was no room for more threads"),
        (of.lost_stacks, "are counted without their callers: there was no room for more stacks"),
    ];
    for (calls, why) in lost.into_iter().filter(|(calls, _)| *calls > 0) {
        let text = format!("{calls} calls of {} {why}", of.name);
        let (kind, source) = (NoteKind::Tracer, context.source);
        sink.push(Event::Note(CaptureNote { kind, source, line: None, text, tid: None }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(names: &[&str]) -> Vec<StackFrame> {
        let of = |name: &&str| StackFrame {
            function: Some(name.to_string()).filter(|name| name != "?"),
            ..StackFrame::default()
        };
        names.iter().map(of).collect()
    }

    #[test]
    fn the_way_begins_behind_the_function() {
        let told = |names: &[&str]| way(&frames(names), "vfs_statx");
        assert_eq!(
            told(&["bpf_prog_1", "bpf_trampoline_2", "vfs_statx", "do_statx", "do_syscall_64"]),
            "do_statx < do_syscall_64"
        );
        assert_eq!(told(&["vfs_statx", "do_statx"]), "do_statx");
        assert_eq!(told(&["?", "?", "do_statx", "?", "do_syscall_64"]), "do_statx < ? < do_syscall_64");
        assert_eq!(told(&["?"]), "");
        assert_eq!(told(&[]), "");
    }

    #[test]
    fn threads_of_a_process_are_added_up() {
        let row = |calls: u64, shortest: u64, longest: u64| {
            let mut buckets = [0; 32];
            buckets[11] = calls as u32;
            CountRow { key: 1, calls, errors: 1, total: calls * 2500, shortest, longest, buckets }
        };
        let mut sums = BTreeMap::new();
        add(&mut sums, Some(7), &row(3, 2100, 3000));
        add(&mut sums, Some(7), &row(4, 2300, 4000));
        let of = Probed {
            name: "vfs_statx".to_string(),
            tells_errors: true,
            rows: Vec::new(),
            paths: Vec::new(),
            lost_calls: 0,
            lost_stacks: 0,
        };
        let told = row_of(&of, Some(7), &sums[&Some(7)], Nanos::from_secs(2));
        let expected = [
            (Metric::CallCount, 7.0),
            (Metric::Calls, 3.5),
            (Metric::CallErrorCount, 2.0),
            (Metric::CallTotal, 17_500.0),
            (Metric::CallMin, 2100.0),
            (Metric::CallMax, 4000.0),
        ];
        for (metric, value) in expected {
            assert_eq!(told.get(metric), Some(value), "{metric:?}");
        }
        assert_eq!(told.told(Trait::Times), Some("2048:7"));
        // Of a function without an errno, errors are unknown.
        let told = row_of(&Probed { tells_errors: false, ..of }, None, &sums[&Some(7)], Nanos::UNKNOWN);
        assert_eq!((told.get(Metric::CallErrorCount), told.get(Metric::Calls)), (None, None));
    }
}
