//! Receives the reports of buoys, and tells which of their values are outside of what the harbour office wants to see.
use std::collections::HashMap;
use std::fs;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
struct Limit {
    low: i32,
    high: i32,
}

struct Limits {
    files: [&'static str; 2],
    kept: HashMap<(usize, String), Limit>,
    read: [Option<Instant>; 2],
    spent: Duration,
}

impl Limits {
    #[inline(never)]
    fn @{fn}(&mut self, file: usize) -> std::io::Result<()> {
        let text = fs::read_to_string(self.files[file])?;
        self.kept.retain(|(from, _), _| *from != file);
        for line in text.lines() {
            let mut words = line.split(' ');
            if let (Some(name), Some(low), Some(high)) = (words.next(), words.next(), words.next()) {
                let limit = Limit { low: low.parse().unwrap_or(i32::MIN), high: high.parse().unwrap_or(i32::MAX) };
                self.kept.insert((file, name.to_string()), limit);
            }
        }
        Ok(())
    }

    fn of(&mut self, name: &str) -> std::io::Result<Option<Limit>> {
        let start = Instant::now();
        let mut found = None;
        for file in 0..self.files.len() {
            let fresh = self.read[file].is_some_and(|at| (start - at).as_secs_f64() < @{good_for} as f64);
            if !fresh {
                self.@{fn}(file)?;
                self.read[file] = Some(start);
            }
            found = self.kept.get(&(file, name.to_string())).copied();
            if found.is_some() {
                break;
            }
        }
        self.spent += start.elapsed();
        Ok(found)
    }
}

fn short(from: &[u8], at: usize) -> i16 {
    i16::from_be_bytes([from[at], from[at + 1]])
}

fn outside(limits: &mut Limits, report: &[u8], means: &mut [f64]) -> std::io::Result<u16> {
    let mut count = 0;
    for i in 0..short(report, 6) as usize {
        let level = short(report, 8 + 2 * i) as i32;
        let kind = i % means.len();
        means[kind] += (level as f64 - means[kind]) / 50.0;
        if let Some(limit) = limits.of(&format!("value{kind}"))? {
            if level < limit.low || level > limit.high {
                count += 1;
            }
        }
    }
    Ok(count)
}

fn main() -> std::io::Result<()> {
    let air = UdpSocket::bind("127.0.0.1:0")?;
    air.connect("127.0.0.1:@{air}")?;
    air.set_read_timeout(Some(Duration::from_secs(3)))?;
    let mut limits = Limits {
        files: ["@{work}/@{deep}/@{own}", "@{work}/@{deep}/@{all}"],
        kept: HashMap::new(),
        read: [None; 2],
        spent: Duration::ZERO,
    };
    let mut means = vec![0.0; @{entries}];
    let mut report = [0u8; 2048];
    let (mut units, mut busy, mut alarms) = (0u32, Duration::ZERO, 0u64);
    let began = Instant::now();
    air.send(b"here")?;
    while began.elapsed().as_secs_f64() < @{seconds} {
        let size = air.recv(&mut report)?;
        let start = Instant::now();
        let count = outside(&mut limits, &report[..size], &mut means)?;
        alarms += count as u64;
        let mut confirmed = report[..4].to_vec();
        confirmed.extend(count.to_be_bytes());
        air.send(&confirmed)?;
        units += 1;
        busy += start.elapsed();
    }
    println!("{alarms} values outside of their limits");
    let (seconds, spent) = (busy.as_secs_f64(), limits.spent.as_secs_f64());
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {seconds}, \"culprit\": {spent}}}"))
}
