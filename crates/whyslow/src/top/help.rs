//! The help page: keys, columns, verdicts, and what cannot be seen on this machine.

use super::columns::COLUMNS;
use super::keys::KEYS;
use super::look::Look;

/// What else stands on the screen.
const WORDS: &[&[(&str, &str)]] = &[
    &[
        ("S: R", "runs, or could"),
        ("S: S", "sleeps"),
        ("S: D", "waits for a disk or the kernel; no signal ends that"),
        ("S: Z", "ended; its parent has not asked how"),
        ("S: T, t", "stopped; by a tracer"),
        ("S: I", "a kernel thread that has nothing to do"),
    ],
    &[
        ("waits: CPU", "ready to run, without a CPU"),
        ("waits: disk", "for requests to a disk"),
        ("waits: swap", "for pages that were swapped out"),
        ("waits: memory", "frees memory before it gets some (direct reclaim)"),
        ("waits: page cache", "for file pages that were just given up (thrashing)"),
        ("waits: compaction", "moves pages, for a large piece of memory"),
        ("waits: lock of 42", "process 42 holds a lock on a file that it wants"),
        ("waits: 3 to accept", "it sleeps while three connections wait for it"),
    ],
    &[
        ("without a figure", "in what it sleeps at this moment (its first thread)"),
        ("socket, connect", "an answer, a request, room to send; a connection"),
        ("clients, events", "accept; poll, select, epoll, io_uring"),
        ("futex", "a lock, a condition, another thread"),
        ("pipe, child", "another process: what it writes, its end"),
        ("timer, signal", "a time that it chose; a signal"),
    ],
    &[
        ("saturated", "work waits for it: it is what limits"),
        ("not saturated", "no bottleneck"),
        ("unknown", "no source tells: Enter on it says what would"),
        ("PSI", "pressure: part of the time in which a task waits for it"),
        ("load", "tasks that run, could run, or are in state D"),
        ("-", "not known, or not looked at as it did nothing"),
        ("▁▄█", "the looks before: how full (network: of its most)"),
        ("·", "in a chart: not known in that look"),
        ("late", "the look came so much later than planned"),
        ("own cost", "CPU time of this screen: looking and drawing"),
    ],
];

/// Its lines, each a word and what it means; a line without words is empty.
pub(super) fn lines(look: Option<&Look>) -> Vec<(String, String)> {
    let line = |word: &str, means: &str| (word.to_string(), means.to_string());
    let gap = || line("", "");
    let mut lines: Vec<(String, String)> = KEYS.iter().map(|key| line(key.names, key.does)).collect();
    lines.push(gap());
    lines.extend(COLUMNS.iter().map(|column| line(column.heading, column.means)));
    for words in WORDS {
        lines.push(gap());
        lines.extend(words.iter().map(|(word, means)| line(word, means)));
    }
    for missing in look.map_or(&[][..], |look| &look.gaps) {
        lines.push(gap());
        lines.push(line("not seen", &missing.missing));
        lines.push(line("", &format!("as {}", missing.why)));
        if !missing.remedy.is_empty() {
            lines.push(line("", &format!("next: {}", missing.remedy)));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_fits_on_80_columns() {
        for (word, means) in lines(None) {
            assert!(word.chars().count() <= 19 && means.chars().count() <= 59, "{word}: {means}");
        }
    }
}
