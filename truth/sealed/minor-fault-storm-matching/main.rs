// Matches payments with bills: a batch's payments are noted by the number of their bill, so that what was paid twice is found.
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const BILLS: usize = (@{mb} << 20) / 4;

#[repr(C)]
struct Usage {
    times: [i64; 4],
    _rest: [i64; 14],
}

extern "C" {
    fn getrusage(who: i32, usage: *mut Usage) -> i32;
}

// Of the processor time: the kernel's, and all.
fn used() -> (f64, f64) {
    let mut usage = Usage { times: [0; 4], _rest: [0; 14] };
    unsafe { getrusage(1, &mut usage) };
    let system = usage.times[2] as f64 + usage.times[3] as f64 / 1e6;
    (system, system + usage.times[0] as f64 + usage.times[1] as f64 / 1e6)
}

struct Matcher {
    seen: Vec<u32>,
    batch: u32,
}

impl Matcher {
    #[inline(never)]
    fn @{fn}(&mut self, payments: &[(u32, u32)]) -> (u32, u64) {
        if @{kept} == 0 {
            self.seen = vec![0; BILLS];
            self.batch = 0;
        } else if self.seen.is_empty() {
            self.seen = vec![u32::MAX; BILLS];
        }
        // Whoever has the mark of this batch was seen in it.
        self.batch += 1;
        let (mut twice, mut sum) = (0, 0u64);
        for &(bill, cents) in payments {
            let mark = &mut self.seen[bill as usize];
            if *mark == self.batch {
                twice += 1;
            }
            *mark = self.batch;
            for round in 0..@{rounds} {
                sum = (sum ^ cents as u64).wrapping_mul(1099511628211).rotate_left(round);
            }
        }
        if @{kept} == 0 {
            self.seen = Vec::new();
        }
        (twice, sum)
    }
}

fn main() {
    let began = Instant::now();
    let totals = Arc::new(Mutex::new((0u64, 0.0f64, 0.0f64, 0u64, 0.0f64)));
    let workers: Vec<_> = (0..@{workers}u64)
        .map(|number| {
            let totals = totals.clone();
            thread::spawn(move || {
                let mut matcher = Matcher { seen: Vec::new(), batch: 0 };
                let (mut chance, mut units) = (88172645463325252u64 + number, 0u64);
                while began.elapsed().as_secs_f64() < @{seconds} as f64 {
                    let payments: Vec<(u32, u32)> = (0..@{numbers} / @{small})
                        .map(|_| {
                            chance ^= chance << 13;
                            chance ^= chance >> 7;
                            chance ^= chance << 17;
                            ((chance % BILLS as u64) as u32, (chance >> 40) as u32)
                        })
                        .collect();
                    let (start, before) = (Instant::now(), used());
                    let (_, sum) = matcher.@{fn}(&payments);
                    let (took, after) = (start.elapsed().as_secs_f64(), used());
                    let mut totals = totals.lock().unwrap();
                    totals.0 += 1;
                    totals.1 += took;
                    totals.2 += after.0 - before.0;
                    totals.4 += after.1 - before.1;
                    totals.3 ^= sum;
                    drop(totals);
                    units += 1;
                    let rest = (units as f64 + number as f64 / @{workers} as f64) / @{rate} as f64 - began.elapsed().as_secs_f64();
                    if rest > 0.0 {
                        thread::sleep(Duration::from_secs_f64(rest));
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    let totals = totals.lock().unwrap();
    // Faults take what the kernel takes: nothing else is asked of it.
    let faults = totals.1 * totals.2 / totals.4.max(1e-9);
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {:.6}, \"culprit\": {:.6}}}", totals.0, totals.1, faults)).unwrap();
    println!("{}", totals.3);
}
