// Sums of sales by shop: each till sends its own to a channel's thread, all of which add to one map.
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

type Totals = BTreeMap<u64, u64>;

#[inline(never)]
fn @{fn}(@{lock}: &Mutex<Totals>, shop: u64, amount: u64) -> (u64, f64) {
    let asked = Instant::now();
    let mut totals = @{lock}.lock().unwrap();
    let waited = asked.elapsed().as_secs_f64();
    *totals.entry(shop % 300).or_insert(0) += amount;
    let start = Instant::now();
    let mut best = 0;
    while start.elapsed().as_secs_f64() < @{work} / 1000.0 {
        best = totals.values().take(50).copied().max().unwrap_or(0);
    }
    (best, waited)
}

fn main() {
    let @{lock} = Arc::new(Mutex::new(Totals::new()));
    let began = Instant::now();
    let tills: Vec<_> = (0..@{threads}u64)
        .map(|number| {
            let shared = @{lock}.clone();
            let run = move || {
                let (mut units, mut busy, mut waited, mut sum) = (0u64, 0.0, 0.0, 0u64);
                while began.elapsed().as_secs_f64() < @{seconds} as f64 {
                    let start = Instant::now();
                    let (best, took) = @{fn}(&shared, number * 7 + units, 1 + units % 90);
                    waited += took;
                    let printed = Instant::now();
                    while printed.elapsed().as_secs_f64() < @{outside} / 1000.0 {
                        sum = sum.rotate_left(5) ^ best;
                    }
                    units += 1;
                    busy += start.elapsed().as_secs_f64();
                    let rest = units as f64 / @{pace} + number as f64 * 0.004 - began.elapsed().as_secs_f64();
                    if rest > 0.0 {
                        thread::sleep(Duration::from_secs_f64(rest));
                    }
                }
                (units, busy, waited, sum)
            };
            thread::Builder::new().name(format!("till-{number}")).spawn(run).unwrap()
        })
        .collect();
    let (mut units, mut busy, mut waited) = (0, 0.0, 0.0);
    for till in tills {
        let (u, b, w, _) = till.join().unwrap();
        units += u;
        busy += b;
        waited += w;
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy:.6}, \"culprit\": {waited:.6}}}")).unwrap();
}
