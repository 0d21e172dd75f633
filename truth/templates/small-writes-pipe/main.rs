// Exports the tariff of each region.
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

struct Tariff {
    zone: u32,
    name: String,
    cents: u64,
    since: (u16, u8, u8),
}

// What the zone costs after all the agreements.
fn price(region: u32, zone: u32) -> u64 {
    (0..@{steps}u64 * 2).fold(region as u64 * 31 + zone as u64, |sum, step| (sum ^ step).wrapping_mul(0x9e3779b97f4a7c15).rotate_left(7))
}

fn tariffs(region: u32) -> Vec<Tariff> {
    (0..@{used}u32)
        .map(|i| Tariff {
            zone: region * 7 + i % 500,
            name: "zone ".chars().chain((0..@{text}u32).map(|c| (b'a' + ((i + c) % 26) as u8) as char)).collect(),
            cents: price(region, i) % 90_000,
            since: (2000 + (i % 25) as u16, 1 + (i % 12) as u8, 1 + (i % 28) as u8),
        })
        .collect()
}

#[inline(never)]
fn @{fn}(out: &mut impl Write, tariffs: &[Tariff]) -> std::io::Result<()> {
    for t in tariffs {
        let (year, month, day) = t.since;
        writeln!(out, "{};{};{}.{:02};{}-{:02}-{:02}", t.zone, t.name, t.cents / 100, t.cents % 100, year, month, day)?;
    }
    out.flush()
}

fn main() -> std::io::Result<()> {
    let mut packer: File = OpenOptions::new().write(true).open("@{work}/@{pipe}")?;
    let rate = @{pace} as f64 * 100_000.0 / @{rows} as f64;
    let (mut units, mut busy, mut writing) = (0u32, 0.0, 0.0);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let found = tariffs(units);
        let before = Instant::now();
        if @{gather} == 0 {
            @{fn}(&mut packer, &found)?;
        } else {
            @{fn}(&mut BufWriter::with_capacity(@{gather}, &packer), &found)?;
        }
        writing += before.elapsed().as_secs_f64();
        busy += start.elapsed().as_secs_f64();
        units += 1;
        due = (due + Duration::from_secs_f64(1.0 / rate)).max(Instant::now());
        std::thread::sleep(due - Instant::now());
    }
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {writing}}}"))
}
