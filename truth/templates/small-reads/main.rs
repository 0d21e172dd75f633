use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

const RECORD: usize = @{row};
const BUFFER: usize = @{buffer};
const LOOKUPS: u64 = @{lookups};

struct Totals {
    records: u64,
    by_kind: [u64; 256],
}

#[inline(never)]
fn @{fn}(input: &mut dyn Read, totals: &mut Totals) -> io::Result<()> {
    let mut record = [0u8; RECORD];
    loop {
        match input.read_exact(&mut record) {
            Ok(()) => {
                totals.records += 1;
                totals.by_kind[record[0] as usize] += record[RECORD - 1] as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(e),
        }
    }
}

fn @{fn2}(file: &File, totals: &mut Totals, mut seed: u64) -> io::Result<()> {
    let mut record = [0u8; RECORD];
    for _ in 0..LOOKUPS {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        file.read_exact_at(&mut record, (seed >> 33) % @{rows} * RECORD as u64)?;
        totals.records += 1;
        totals.by_kind[record[0] as usize] += 1;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let mut courier = TcpStream::connect(("127.0.0.1", @{port}))?;
    writeln!(courier, "{:.3} {}", @{load} * 1400000.0 / @{rows} as f64, @{rows})?;
    courier.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut totals = Totals { records: 0, by_kind: [0; 256] };
    let (began, mut units, mut busy, mut reading) = (Instant::now(), 0u64, 0.0, 0.0);
    for line in BufReader::new(courier).lines() {
        let path = line?;
        let start = Instant::now();
        let mut file = File::open(&path)?;
        let opened = Instant::now();
        if LOOKUPS > 0 {
            @{fn2}(&file, &mut totals, units)?;
        } else if BUFFER > 0 {
            @{fn}(&mut BufReader::with_capacity(BUFFER, file), &mut totals)?;
        } else {
            @{fn}(&mut file, &mut totals)?;
        }
        reading += opened.elapsed().as_secs_f64();
        fs::remove_file(&path)?;
        units += 1;
        busy += start.elapsed().as_secs_f64();
        if began.elapsed().as_secs_f64() >= @{seconds} {
            break;
        }
    }
    eprintln!("{} records", totals.records);
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {reading}}}"))
}
