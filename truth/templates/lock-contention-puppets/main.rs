//! Plans puppets: for each order, which parts of the store fit together at the joints.
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
struct Part {
    length: f64,
    bore: f64,
    weight: f64,
    used: u32,
}

struct Workshop {
    bins: Vec<Mutex<Vec<Part>>>,
    orders: Mutex<VecDeque<u64>>,
    more: Condvar,
    over: AtomicBool,
    busy: AtomicU64,
    waited: AtomicU64,
    units: AtomicU64,
}

/// How well the pairs of parts go together; the best becomes a limb.
#[inline(never)]
fn best_pair(parts: &[Part], order: u64, rounds: usize) -> (usize, f64) {
    let mut best = (0, f64::MAX);
    for round in 0..rounds {
        let shift = 1 + (order as usize + round) % (parts.len() - 1);
        for at in 0..parts.len() {
            let (one, other) = (&parts[at], &parts[(at + shift) % parts.len()]);
            let play = (one.bore - other.bore).abs() + (one.length / other.length - 1.2).powi(2) + (one.weight * other.weight).sqrt() * 0.01 + one.used as f64 * 1e-6;
            if play < best.1 {
                best = (at, play);
            }
        }
    }
    best
}

impl Workshop {
    #[inline(never)]
    fn @{fn}(&self, order: u64, rounds: usize) -> f64 {
        let asked = Instant::now();
        let mut parts = self.bins[order as usize * 31 % self.bins.len()].lock().unwrap();
        self.waited.fetch_add(asked.elapsed().as_nanos() as u64, Relaxed);
        let (at, play) = best_pair(&parts, order, rounds);
        parts[at].used += 1;
        play
    }

    fn work(&self, rounds: usize) {
        let mut sum = 0.0;
        loop {
            let order = {
                let mut orders = self.orders.lock().unwrap();
                while orders.is_empty() {
                    if self.over.load(Relaxed) {
                        return println!("play {sum:.2}");
                    }
                    orders = self.more.wait(orders).unwrap();
                }
                orders.pop_front().unwrap()
            };
            let start = Instant::now();
            sum += self.@{fn}(order, rounds);
            // The strings: one for each joint, as long as the stage is high.
            sum += (1..2000).map(|string| ((order + string) as f64).sqrt().sin()).sum::<f64>() * 1e-6;
            self.busy.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
            self.units.fetch_add(1, Relaxed);
        }
    }
}

fn main() {
    let parts: Vec<Part> = (0..@{parts}u32)
        .map(|i| Part { length: 20.0 + (i * 37 % 91) as f64, bore: 2.0 + (i * 53 % 17) as f64 * 0.1, weight: 5.0 + (i * 71 % 43) as f64, used: 0 })
        .collect();
    // How many rounds there is time for.
    let least = (0..8)
        .map(|order| {
            let start = Instant::now();
            std::hint::black_box(best_pair(&parts, order, 1000));
            start.elapsed().as_secs_f64()
        })
        .fold(f64::MAX, f64::min);
    let rounds = (@{hold_ms} / 1000.0 * 1000.0 / least).max(1.0) as usize;
    let shop = Workshop {
        bins: (0..@{bins}).map(|_| Mutex::new(parts[..@{kind} as usize].to_vec())).collect(),
        orders: Mutex::default(),
        more: Condvar::new(),
        over: AtomicBool::new(false),
        busy: AtomicU64::new(0),
        waited: AtomicU64::new(0),
        units: AtomicU64::new(0),
    };
    std::thread::scope(|scope| {
        for _ in 0..@{workers} {
            scope.spawn(|| shop.work(rounds));
        }
        let (mut chance, mut number, began) = (88172645463325252u64, 0u64, Instant::now());
        let mut due = 0.0;
        while began.elapsed().as_secs_f64() < @{seconds} {
            chance ^= chance << 13;
            chance ^= chance >> 7;
            chance ^= chance << 17;
            due += -(((chance >> 11) + 1) as f64 / (1u64 << 53) as f64).ln() / @{rate};
            std::thread::sleep(Duration::from_secs_f64((due - began.elapsed().as_secs_f64()).max(0.0)));
            let mut orders = shop.orders.lock().unwrap();
            if orders.len() < 40 {
                orders.push_back(number);
                number += 1;
                shop.more.notify_one();
            }
        }
        shop.over.store(true, Relaxed);
        shop.orders.lock().unwrap().clear();
        shop.more.notify_all();
    });
    let (units, busy, waited) = (shop.units.load(Relaxed), shop.busy.load(Relaxed) as f64 / 1e9, shop.waited.load(Relaxed) as f64 / 1e9);
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {waited}}}")).unwrap();
}
