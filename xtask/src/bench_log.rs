//! `cargo xtask bench-log SAMPLE OUT MB`: repeats a recorded log until it has the size, each time later by the
//! sample's length, so that the clock runs on.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

pub(crate) fn write(sample: &Path, out: &Path, megabytes: u64) -> Result<()> {
    let mut lines = Vec::new();
    for line in BufReader::new(File::open(sample).with_context(|| sample.display().to_string())?).split(b'\n')
    {
        lines.push(line?);
    }
    let times: Vec<u64> = lines.iter().filter_map(|line| time_of(line).map(|(_, us)| us)).collect();
    let (first, last) = (times.iter().min().copied().unwrap_or(0), times.iter().max().copied().unwrap_or(0));
    // The repeats share one day: a shift that fits keeps the clock from running over midnight too often.
    let step = (last - first) + 1_000;
    let mut to = BufWriter::new(File::create(out).with_context(|| out.display().to_string())?);
    let mut written = 0u64;
    let mut shift = 0u64;
    'all: loop {
        for line in &lines {
            match time_of(line) {
                Some((at, us)) => {
                    to.write_all(&line[..at])?;
                    let us = (us + shift) % 86_400_000_000;
                    let seconds = us / 1_000_000;
                    write!(
                        to,
                        "{:02}:{:02}:{:02}.{:06}",
                        seconds / 3600,
                        seconds / 60 % 60,
                        seconds % 60,
                        us % 1_000_000
                    )?;
                    to.write_all(&line[at + TIME_LEN..])?;
                }
                None => to.write_all(line)?,
            }
            to.write_all(b"\n")?;
            written += line.len() as u64 + 1;
            if written >= megabytes * 1_000_000 {
                break 'all;
            }
        }
        shift += step;
    }
    to.flush()?;
    Ok(())
}

/// `HH:MM:SS.uuuuuu`
const TIME_LEN: usize = 15;

/// Where the time of day stands in a line (behind the pid column), and its microseconds.
fn time_of(line: &[u8]) -> Option<(usize, u64)> {
    let at = line.iter().position(|byte| *byte == b' ').map(|space| space + 1)?;
    let at = at + line[at..].iter().position(|byte| *byte != b' ')?;
    let text = std::str::from_utf8(line.get(at..at + TIME_LEN)?).ok()?;
    let (hours, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (seconds, micros) = seconds.split_once('.')?;
    let number = |text: &str| text.parse::<u64>().ok();
    let whole = (number(hours)? * 60 + number(minutes)?) * 60 + number(seconds)?;
    Some((at, whole * 1_000_000 + number(micros)?))
}
