// Matches orders with offers: each group of orders has a thread for its life.
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
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

fn waited() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|word| word.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

#[inline(never)]
fn @{fn}(order: u64) -> u64 {
    let mut value = order;
    for i in 0..@{work_ms} * 420_000u64 {
        value = (value ^ i).wrapping_mul(1099511628211);
        value ^= value >> 29;
    }
    value
}

fn main() {
    let totals = Arc::new(Mutex::new((0usize, 0.0f64, 0.0f64, 0u64)));
    let (mut threads, mut queues) = (Vec::new(), Vec::new());
    for number in 0..@{threads} {
        let (give, take) = mpsc::sync_channel::<u64>(2);
        queues.push(give);
        let totals = totals.clone();
        let work = move || for order in take {
            if @{wait_ms} > 0 {
                std::thread::sleep(Duration::from_millis(@{wait_ms}));
            }
            let before = waited();
            let start = Instant::now();
            let value = @{fn}(order);
            let took = start.elapsed().as_secs_f64();
            let delayed = waited() - before;
            let mut totals = totals.lock().unwrap();
            totals.0 += 1;
            totals.1 += took;
            totals.2 += delayed.min(took);
            totals.3 ^= value;
        };
        threads.push(std::thread::Builder::new().name(format!("@{pool}-{number}")).spawn(work).expect("thread"));
    }
    let began = Instant::now();
    let mut n = 1u64;
    while began.elapsed().as_secs_f64() < @{seconds} {
        queues[n as usize % queues.len()].send(n).expect("no worker");
        n += 1;
        wait_until(began, n as f64 * @{work_ms} as f64 / 1000.0 / @{load} as f64);
    }
    drop(queues);
    for thread in threads {
        thread.join().unwrap();
    }
    let totals = totals.lock().unwrap();
    report(totals.0, totals.1, totals.2);
    println!("{}", totals.3);
}
