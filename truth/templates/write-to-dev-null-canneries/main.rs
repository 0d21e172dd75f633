//! Packs the tins of a cannery into boxes, so that the boxes weigh about the same.
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::{Duration, Instant};

struct Trace {
    out: File,
    level: u32,
    line: String,
    spent: Duration,
}

impl Trace {
    #[inline(never)]
    fn @{fn}(&mut self, tin: usize, step: usize, slot: usize, weight: u64) -> std::io::Result<()> {
        if self.level < 3 {
            return Ok(());
        }
        let start = Instant::now();
        self.line.clear();
        let _ = writeln!(self.line, "TRACE pack tin={tin} step={step} box={slot} weight={weight}.{:02}", weight % 100);
        self.out.write_all(self.line.as_bytes())?;
        self.spent += start.elapsed();
        Ok(())
    }

    fn note(&mut self, text: &str) -> std::io::Result<()> {
        let start = Instant::now();
        self.out.write_all(format!("INFO {text}\n").as_bytes())?;
        self.spent += start.elapsed();
        Ok(())
    }
}

/// A tin goes where it makes the weights the most alike.
#[inline(never)]
fn best(boxes: &[u64], tin: u64) -> usize {
    let mean = (boxes.iter().sum::<u64>() + tin) / boxes.len() as u64;
    let off = |slot: usize| boxes.iter().enumerate().map(|(i, &w)| (w + if i == slot { tin } else { 0 }).abs_diff(mean)).sum::<u64>();
    (0..boxes.len()).min_by_key(|&slot| off(slot)).unwrap_or(0)
}

fn pack(batch: u64, trace: &mut Trace) -> std::io::Result<u64> {
    let mut boxes = [0u64; 8 + @{cook} / 2];
    for tin in 0..@{tins} {
        for step in 0..@{steps} {
            let weight = 40_000 + (batch * 31 + tin as u64 * 17 + step as u64 * 7) % 900;
            let slot = best(&boxes, weight);
            boxes[slot] += weight;
            trace.@{fn}(tin, step, slot, weight)?;
        }
    }
    Ok(boxes.iter().max().unwrap() - boxes.iter().min().unwrap())
}

fn main() -> std::io::Result<()> {
    let out = OpenOptions::new().append(true).open("@{work}/@{trace}")?;
    let mut trace = Trace { out, level: @{level}, line: String::new(), spent: Duration::ZERO };
    let (mut units, mut busy, mut uneven) = (0u64, Duration::ZERO, 0);
    let (began, mut due) = (Instant::now(), Duration::ZERO);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        uneven = uneven.max(pack(units, &mut trace)?);
        if @{night} == 1 && units % 20 == 0 {
            trace.note(&format!("batch {units}: {uneven} apart"))?;
        }
        units += 1;
        busy += start.elapsed();
        due = (due + Duration::from_secs_f64(1.0 / @{per_s})).max(began.elapsed());
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let (seconds, spent) = (busy.as_secs_f64(), trace.spent.as_secs_f64());
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {seconds}, \"culprit\": {spent}, \"uneven\": {uneven}}}"))
}
