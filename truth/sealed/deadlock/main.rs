// Seats of a theatre: a booking takes the hall and the till; so does the end of a day.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

static HALL: Mutex<u64> = Mutex::new(400);
static TILL: Mutex<u64> = Mutex::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);

fn nap(ms: f64) {
    thread::sleep(Duration::from_secs_f64(ms / 1000.0));
}

fn both(till_first: bool) -> (MutexGuard<'static, u64>, MutexGuard<'static, u64>) {
    if till_first {
        let till = TILL.lock().unwrap();
        nap(@{nap} as f64);
        (HALL.lock().unwrap(), till)
    } else {
        let hall = HALL.lock().unwrap();
        nap(@{nap} as f64);
        (hall, TILL.lock().unwrap())
    }
}

#[inline(never)]
fn @{fn}() {
    let (mut hall, mut till) = both(false);
    *hall = hall.wrapping_sub(1);
    *till += 12;
    DONE.fetch_add(1, Ordering::Relaxed);
}

#[inline(never)]
fn @{fn2}() {
    let (hall, mut till) = both(@{order} == 0);
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < @{inside} / 1000.0 {
        *till = till.wrapping_mul(31).wrapping_add(*hall);
    }
    DONE.fetch_add(1, Ordering::Relaxed);
}

fn main() {
    let began = Instant::now();
    let spawn = |name: &str, every: f64, act: fn()| {
        thread::Builder::new().name(name.into()).spawn(move || loop {
            act();
            nap(every);
        })
    };
    spawn("booking", @{gap} * 3.0, @{fn}).unwrap();
    spawn("accounts", @{gap} * 4.0, @{fn2}).unwrap();
    nap(@{seconds} * 1000.0);
    let text = format!("{{\"units\": {}, \"seconds\": {:.3}}}", DONE.load(Ordering::Relaxed), began.elapsed().as_secs_f64());
    std::fs::write("@{report}", text).unwrap();
    std::process::exit(0);
}
