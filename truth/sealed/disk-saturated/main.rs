use std::alloc::{alloc, Layout};
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

// A key-value store without a cache of its own: a pool of threads takes the gets off a queue.
const PAGE: usize = 4096;
const O_DIRECT: i32 = 0o40000;

struct Get {
    key: u64,
    answer: mpsc::Sender<(Duration, u8)>,
}

#[inline(never)]
fn @{fn}(file: &std::fs::File, page: &mut [u8], key: u64, pages: u64) -> Duration {
    let start = Instant::now();
    let mut at = key;
    for _ in 0..@{reads} {
        at = at.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        file.read_exact_at(page, (at >> 20) % pages * PAGE as u64).expect("@{data}");
    }
    start.elapsed()
}

fn digest(page: &[u8]) -> u8 {
    let mut sum = 0u64;
    for round in 0..@{rounds} * 8u64 {
        sum = page.iter().fold(sum + round, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte as u64));
    }
    sum as u8
}

fn main() {
    let path = "@{work}/@{disk}/@{data}";
    let (put, take) = mpsc::channel::<Get>();
    let take = Arc::new(Mutex::new(take));
    for _ in 0..@{readers} {
        let take = take.clone();
        thread::spawn(move || {
            let file = OpenOptions::new().read(true).custom_flags(O_DIRECT).open(path).expect(path);
            let pages = file.metadata().unwrap().len() / PAGE as u64;
            let page = unsafe { std::slice::from_raw_parts_mut(alloc(Layout::from_size_align(PAGE, PAGE).unwrap()), PAGE) };
            loop {
                let get = match take.lock().unwrap().recv() {
                    Ok(get) => get,
                    Err(_) => return,
                };
                let took = @{fn}(&file, page, get.key, pages);
                let _ = get.answer.send((took, digest(page)));
            }
        });
    }
    let seconds: f64 = @{seconds} as f64;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let period = Duration::from_secs_f64(1.0 / (@{per_s} as f64));
    let callers: Vec<_> = (0..@{readers}u64)
        .map(|caller| {
            let put = put.clone();
            thread::spawn(move || {
                let (mut units, mut busy, mut reading) = (0u64, Duration::ZERO, Duration::ZERO);
                thread::sleep(period / @{readers} * caller as u32);
                let mut due = Instant::now();
                while Instant::now() < end {
                    let (answer, done) = mpsc::channel();
                    let start = Instant::now();
                    put.send(Get { key: caller * 7919 + units * 104729, answer }).unwrap();
                    let (took, _) = done.recv().unwrap();
                    units += 1;
                    busy += start.elapsed();
                    reading += took;
                    due = (due + period).max(Instant::now());
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                }
                (units, busy, reading)
            })
        })
        .collect();
    let (mut units, mut busy, mut reading) = (0, 0.0, 0.0);
    for caller in callers {
        let (one, two, three) = caller.join().unwrap();
        units += one;
        busy += two.as_secs_f64();
        reading += three.as_secs_f64();
    }
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy, reading)).unwrap();
}
