// Receives bursts of distress beacons, decodes them, and keeps their positions.
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

struct Receiver {
    log: File,
    positions: File,
    logging: Duration,
}

impl Receiver {
    #[inline(never)]
    fn @{fn}(&mut self, level: &str, what: &str, symbols: &[i32]) -> io::Result<()> {
        if @{chatty} == 0 && level == "@{level}" {
            return Ok(());
        }
        let start = Instant::now();
        let mut line = format!("{level:5} decoder: {what}");
        for symbol in symbols {
            write!(line, " {symbol:+06}").unwrap();
        }
        line.push('\n');
        self.log.write_all(line.as_bytes())?;
        self.logging += start.elapsed();
        Ok(())
    }

    fn decode(&mut self, number: u64, burst: &mut Vec<i32>) -> io::Result<i32> {
        let mut next = vec![0; burst.len()];
        for step in 0..@{steps} {
            for at in 0..burst.len() {
                let sum: i32 = (0..@{taps}).map(|tap| burst[(at + tap * 5) % burst.len()] * (9 - (tap as i32 + step) % 17)).sum();
                next[at] = sum % 9973;
            }
            std::mem::swap(burst, &mut next);
            self.@{fn}("@{level}", &format!("burst {number} step {step} symbols"), burst)?;
        }
        Ok(burst.iter().sum())
    }
}

/// What the antenna brought: stands for the receiver's samples.
fn burst(number: u64) -> Vec<i32> {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..@{symbols})
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 50) as i32 - 8192
        })
        .collect()
}

fn main() -> io::Result<()> {
    let open = |name: &str| OpenOptions::new().create(true).append(true).open(format!("@{work}/{name}"));
    let mut receiver = Receiver { log: open("@{log}")?, positions: open("@{positions}")?, logging: Duration::ZERO };
    let (began, mut busy, mut units) = (Instant::now(), 0.0, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let mut symbols = burst(units);
        let sum = receiver.decode(units, &mut symbols)?;
        let mut fix = format!("{units};{:.4};{:.4}", sum as f64 / 9973.0, symbols[0] as f64 / 99.0);
        for symbol in &symbols {
            write!(fix, ";{symbol}").unwrap();
        }
        receiver.positions.write_all((fix + "\n").as_bytes())?;
        if units % @{line_each} == 0 {
            receiver.@{fn}("INFO", &format!("burst {units} decoded, sum {sum}"), &[])?;
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{bursts} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            sleep(Duration::from_secs_f64(rest));
        }
    }
    let culprit = receiver.logging.as_secs_f64();
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {culprit}}}"))
}
