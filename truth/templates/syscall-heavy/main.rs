use std::fs::File;
use std::io::{BufReader, Read};
use std::time::Instant;

fn wait_until(began: std::time::Instant, due: f64) {
    let rest = due - began.elapsed().as_secs_f64();
    if rest > 0.0 {
        std::thread::sleep(std::time::Duration::from_secs_f64(rest));
    }
}

fn report(units: u64, busy: f64, culprit: f64) {
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy, culprit);
    std::fs::write("@{report}", text).unwrap();
}

#[inline(never)]
fn @{fn}<R: Read>(from: &mut R, count: usize) -> u64 {
    let mut field = [0u8; @{size}];
    let mut sum = 0;
    for _ in 0..count {
        from.read_exact(&mut field).unwrap();
        sum = sum * 31 % 1000003 + field[0] as u64;
    }
    sum
}

fn main() {
    let (mut units, mut busy, mut culprit, mut sum) = (0u64, 0.0, 0.0, 0);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let mut file = File::open("@{file}").unwrap();
        if @{block} > 0 {
            sum += @{fn}(&mut BufReader::with_capacity(@{block}, file), @{used});
        } else {
            sum += @{fn}(&mut file, @{used});
            culprit += start.elapsed().as_secs_f64();
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        wait_until(began, units as f64 / @{rate} as f64);
    }
    report(units, busy, culprit);
    println!("{sum}");
}
