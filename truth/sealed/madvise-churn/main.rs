// Answers searches with scores of all documents: the scores are zero again when the memory has been given back.
use std::time::{Duration, Instant};

extern "C" {
    fn mmap(at: *mut u8, size: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn madvise(at: *mut u8, size: usize, advice: i32) -> i32;
}

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

struct Scores {
    base: *mut u32,
    bytes: usize,
}

impl Scores {
    fn new(bytes: usize) -> Scores {
        Scores { base: unsafe { mmap(std::ptr::null_mut(), bytes, 3, 0x22, -1, 0) } as *mut u32, bytes }
    }

    fn all(&mut self) -> &mut [u32] {
        unsafe { std::slice::from_raw_parts_mut(self.base, self.bytes / 4) }
    }

    #[inline(never)]
    fn @{fn}(&mut self, touched: &[usize], back: bool) {
        if back {
            unsafe { madvise(self.base as *mut u8, self.bytes, 4) };
        } else {
            let scores = self.all();
            for at in touched {
                scores[*at] = 0;
            }
        }
    }
}

#[inline(never)]
fn @{fn2}(scores: &mut Scores, touched: &mut Vec<usize>, query: usize) -> u32 {
    let all = scores.all();
    touched.clear();
    let mut most = 0;
    for i in 0..all.len() / 400 {
        let at = (query * 7919 + i * 397) % all.len();
        all[at] += (i % 13) as u32;
        most = most.max(all[at]);
        touched.push(at);
    }
    most
}

#[inline(never)]
fn sign(mut value: u64, rounds: u64) -> u64 {
    for i in 0..rounds {
        value = (value ^ i).wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    value
}

fn main() {
    let mut scores = Scores::new(@{kb} * 1024);
    let mut touched = Vec::new();
    let began = Instant::now();
    let (mut units, mut busy, mut culprit, mut sum) = (0usize, 0.0, 0.0, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        sum += @{fn2}(&mut scores, &mut touched, units) as u64;
        units += 1;
        scores.@{fn}(&touched, @{back} > 0 && units % @{back}.max(1) == 0);
        culprit += start.elapsed().as_secs_f64();
        sum += sign(units as u64, @{kb} * @{spins}) & 1;
        busy += start.elapsed().as_secs_f64();
        wait_until(began, units as f64 / @{rate} as f64);
    }
    assert!(sum > 0);
    report(units, busy, culprit);
}
