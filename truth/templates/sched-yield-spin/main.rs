// An encoder of pictures: workers look at a shared state for the next one.
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Stage {
    filled: AtomicBool,
    over: AtomicBool,
    parked: Mutex<()>,
    wake: Condvar,
    units: AtomicU64,
    busy: AtomicU64,
    waited: AtomicU64,
    picture: Mutex<Vec<u8>>,
}

#[inline(never)]
fn @{fn}(stage: &Stage) -> bool {
    let start = Instant::now();
    let mut round = 0u64;
    while round < @{rounds} && !stage.filled.load(Ordering::Acquire) && !stage.over.load(Ordering::Relaxed) {
        thread::yield_now();
        round += 1;
    }
    stage.waited.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
    let mut parked = stage.parked.lock().unwrap();
    while !stage.filled.load(Ordering::Acquire) && !stage.over.load(Ordering::Relaxed) {
        parked = stage.wake.wait(parked).unwrap();
    }
    !stage.over.load(Ordering::Relaxed)
}

fn encode(stage: Arc<Stage>) {
    while @{fn}(&stage) {
        let start = Instant::now();
        let mut picture = stage.picture.lock().unwrap();
        while start.elapsed().as_secs_f64() < @{effort} / 1000.0 {
            for at in 1..picture.len() {
                picture[at] = picture[at] ^ picture[at - 1].rotate_left(3);
            }
        }
        stage.filled.store(false, Ordering::Release);
        stage.units.fetch_add(1, Ordering::Relaxed);
        stage.busy.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
    }
}

fn main() {
    let stage = Arc::new(Stage::default());
    *stage.picture.lock().unwrap() = vec![7; @{slots} * 16];
    let shared = stage.clone();
    let worker = thread::Builder::new().name("@{thread}".into()).spawn(move || encode(shared)).unwrap();
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        thread::sleep(Duration::from_secs_f64(@{gap} / 1000.0));
        let hold = stage.parked.lock().unwrap();
        stage.filled.store(true, Ordering::Release);
        drop(hold);
        stage.wake.notify_one();
    }
    stage.over.store(true, Ordering::Relaxed);
    drop(stage.parked.lock().unwrap());
    stage.wake.notify_one();
    worker.join().unwrap();
    let culprit = stage.waited.load(Ordering::Relaxed) as f64 / 1e6;
    let busy = stage.busy.load(Ordering::Relaxed) as f64 / 1e6 + culprit;
    let text = format!("{{\"units\": {}, \"seconds\": {:.6}, \"culprit\": {:.6}}}", stage.units.load(Ordering::Relaxed), busy, culprit);
    std::fs::write("@{report}", text).unwrap();
}
