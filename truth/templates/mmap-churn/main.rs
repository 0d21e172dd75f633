// Composes mails from parts: each part has a buffer of its own, large enough for all that may come.
use std::fmt::Write;
use std::time::{Duration, Instant};

fn wait_until(began: Instant, due: f64) {
    let rest = due - began.elapsed().as_secs_f64();
    if rest > 0.0 {
        std::thread::sleep(Duration::from_secs_f64(rest));
    }
}

fn report(units: usize, seconds: f64, culprit: f64) {
    let text = format!("{{\"units\": {units}, \"seconds\": {seconds:.6}, \"culprit\": {culprit:.6}}}");
    std::fs::write("@{report}", text).expect("report");
}

#[inline(never)]
fn @{fn}(parts: &mut [String], n: usize) -> usize {
    for (i, part) in parts.iter_mut().enumerate() {
        part.clear();
        write!(part, "part {i} of mail {n}: the parcel is on its way").expect("memory");
    }
    parts.iter().map(|part| part.len()).sum()
}

#[inline(never)]
fn @{fn2}(count: usize) -> Vec<String> {
    (0..count).map(|_| String::with_capacity(100_000 + @{kb})).collect()
}

#[inline(never)]
fn sign(mut value: u64, rounds: u64) -> u64 {
    for i in 0..rounds {
        value = (value ^ i).wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    value
}

fn main() {
    let mut kept = @{fn2}(@{pieces});
    let began = Instant::now();
    let (mut units, mut busy, mut culprit, mut bytes) = (0usize, 0.0, 0.0, 0usize);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        for i in 0..@{batch} {
            if "@{keep}" == "no" && i % @{every} == 0 {
                let asked = Instant::now();
                let mut own = @{fn2}(@{pieces});
                bytes += @{fn}(&mut own, units + i);
                drop(own);
                culprit += asked.elapsed().as_secs_f64();
            } else {
                bytes += @{fn}(&mut kept, units + i);
            }
        }
        bytes ^= sign(units as u64, @{batch} * 100 * @{spins}) as usize & 1;
        units += 1;
        busy += start.elapsed().as_secs_f64();
        wait_until(began, units as f64 / @{rate} as f64);
    }
    assert!(bytes > 0);
    report(units, busy, culprit);
}
