//! Reads captures and counts their events: `count_events [--threads N] FILE...`. For measuring the reader alone.

use std::time::Instant;
use whyslow_model::{Event, Sink};
use whyslow_read::{Input, ReadOptions, read};

#[derive(Default)]
struct Count {
    calls: u64,
    joined: u64,
    others: u64,
    lines: u64,
    bytes: u64,
    rejects: u64,
    foreign: u64,
    quiet: bool,
    /// Taken from every call, so that its parts are really made.
    sum: u64,
}

impl Sink for Count {
    fn push(&mut self, event: Event<'_>) {
        match event {
            Event::Call(call) => {
                self.calls += 1;
                self.joined += u64::from(call.line != call.end_line);
                self.sum = self
                    .sum
                    .wrapping_add(call.dur.or_zero() ^ call.args.len() as u64 ^ call.syscall.0 as u64);
            }
            Event::Note(note) => {
                if !self.quiet {
                    println!("{:?} {}", note.kind, note.text);
                }
                self.others += 1;
            }
            Event::Source(info) => {
                self.lines += info.lines;
                self.bytes += info.bytes;
                self.rejects += info.rejects;
                self.foreign += info.foreign;
                if !self.quiet && info.rejects + info.foreign > 0 {
                    println!("{info:?}");
                }
            }
            _ => self.others += 1,
        }
    }
}

fn main() -> Result<(), whyslow_read::InputError> {
    let mut options = ReadOptions { threads: 1 };
    let mut count = Count::default();
    let mut inputs = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => options.threads = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            "--quiet" => count.quiet = true,
            "-" => inputs.push(Input::Stdin),
            path => inputs.push(Input::File(path.into())),
        }
    }
    let start = Instant::now();
    let outcome = read(&inputs, &options, &(), &mut count)?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} used, {} skipped; {} bytes, {} lines, {} calls ({} joined), {} others, {} rejects, {} foreign; {seconds:.3} s, {:.3} GB/s, {:.1} ns a line ({:x})",
        outcome.used,
        outcome.skipped,
        count.bytes,
        count.lines,
        count.calls,
        count.joined,
        count.others,
        count.rejects,
        count.foreign,
        count.bytes as f64 / seconds / 1e9,
        seconds * 1e9 / count.lines.max(1) as f64,
        count.sum,
    );
    Ok(())
}
