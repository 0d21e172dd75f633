//! Writes invoices: each gets the next number, which several programs draw from one file.
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::time::{Duration, Instant};

#[inline(never)]
fn @{fn}() -> std::io::Result<u64> {
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open("@{work}/@{lock}")?;
    file.lock()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let number = text.trim().parse().unwrap_or(0) + 1;
    file.rewind()?;
    write!(file, "{number:012}\n")?;
    file.unlock()?;
    Ok(number)
}

fn invoice(number: u64) -> String {
    let mut text = String::new();
    let mut total = 0;
    for line in 1..=@{lines} {
        let cents = number * line * 7919 % 10000;
        total += cents;
        text += &format!("{number};{line};article {};{cents}\n", cents % 97);
    }
    text + &format!("{number};total;{total}\n")
}

fn main() -> std::io::Result<()> {
    let mut out = File::create("@{work}/invoices.csv")?;
    let (begin, mut units) = (Instant::now(), 0);
    let (mut busy, mut drawing) = (Duration::ZERO, Duration::ZERO);
    while begin.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let number = @{fn}()?;
        drawing += start.elapsed();
        out.write_all(invoice(number).as_bytes())?;
        units += 1;
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(1.0 / @{rate}.0));
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), drawing.as_secs_f64());
    fs::write("@{report}", report)
}
