//! The release desk: for each sample its strain, the count of the lab, and whether the tank may be emptied.
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

struct Line {
    out: TcpStream,
    input: BufReader<TcpStream>,
}

impl Line {
    fn open(port: u16) -> io::Result<Line> {
        let out = TcpStream::connect(("127.0.0.1", port))?;
        out.set_nodelay(true)?;
        out.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Line { input: BufReader::new(out.try_clone()?), out })
    }

    fn say(&mut self, text: &str) -> io::Result<String> {
        self.out.write_all(format!("{text}\n").as_bytes())?;
        let mut answer = String::new();
        if self.input.read_line(&mut answer)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(answer.split_whitespace().nth(1).unwrap_or("").to_string())
    }
}

#[inline(never)]
fn @{fn}(lab: &mut Line, strain: &str) -> io::Result<f64> {
    Ok(lab.say(&format!("count {strain}"))?.parse().unwrap_or(0.0))
}

/// The likely number of living cells, from the count and the dilutions of the sample.
fn living(cells: f64, sample: u64) -> f64 {
    let mut likely = cells;
    for step in 1..=@{dilutions}u64 {
        let share = ((sample * 17 + step * 13) % 100) as f64 / 100.0;
        likely = 0.98 * likely + 0.02 * cells * (1.0 + share).ln() / (1.0 + 1.0 / step as f64).sqrt();
    }
    likely
}

fn watch() {
    let Ok(mut line) = Line::open(@{lab}) else { return };
    let mut tanks = Vec::new();
    while let Ok(tank) = line.say("news") {
        tanks.push(tank);
        tanks.truncate(30);
    }
}

fn main() -> io::Result<()> {
    let mut register = Line::open(@{register})?;
    let mut lab = Line::open(@{lab})?;
    if "@{alarms}" == "yes" {
        thread::spawn(watch);
    }
    let (mut units, mut released) = (0u64, 0u64);
    let (mut busy, mut culprit) = (0.0, 0.0);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let strain = register.say(&format!("sample {units}"))?;
        let asked = Instant::now();
        let cells = @{fn}(&mut lab, &strain)?;
        culprit += asked.elapsed().as_secs_f64();
        if living(cells, units) > 9000.0 {
            released += 1;
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    fs::write("@{report}", format!("{{\"units\": {units}, \"released\": {released}, \"seconds\": {busy}, \"culprit\": {culprit}}}"))
}
