// Evaluates the surveys of tide pools: how even the species are, and which pools are alike. Others work on this machine, too.
use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Pool {
    seen: BTreeMap<u32, f64>,
    total: f64,
}

impl Pool {
    fn add(&mut self, species: u32, count: f64) {
        *self.seen.entry(species).or_default() += count;
        self.total += count;
    }

    fn evenness(&self) -> f64 {
        let h: f64 = self.seen.values().map(|n| n / self.total).map(|p| -p * p.ln()).sum();
        h / (self.seen.len().max(2) as f64).ln()
    }

    fn unlike(&self, other: &Pool) -> f64 {
        let shared: f64 = self.seen.iter().map(|(kind, n)| n.min(*other.seen.get(kind).unwrap_or(&0.0))).sum();
        1.0 - 2.0 * shared / (self.total + other.total)
    }
}

struct Gentle {
    since: usize,
    rested: f64,
}

impl Gentle {
    // Leaves the processor to others.
    #[inline(never)]
    fn @{fn}(&mut self) {
        self.since += 1;
        if self.since >= @{chunk} {
            self.since = 0;
            let start = Instant::now();
            thread::sleep(Duration::from_micros(@{naps}));
            self.rested += start.elapsed().as_secs_f64();
        }
    }
}

fn survey(number: u64, gentle: &mut Gentle) -> Pool {
    let mut pool = Pool::default();
    let mut state = number * 7919 + 1;
    for _ in 0..@{counts} {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let species = ((state >> 33) % @{species}) as u32;
        pool.add(species, 1.0 + ((state >> 50) % 40) as f64 / (1 + species) as f64);
        gentle.@{fn}();
    }
    pool
}

fn main() -> std::io::Result<()> {
    let mut gentle = Gentle { since: 0, rested: 0.0 };
    let mut last: Vec<Pool> = Vec::new();
    let (began, mut units, mut busy, mut alike) = (Instant::now(), 0u64, 0.0, 0.0f64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let pool = survey(units, &mut gentle);
        let nearest = last.iter().map(|other| pool.unlike(other)).fold(1.0, f64::min);
        alike += pool.evenness() * (1.0 - nearest);
        last.push(pool);
        if last.len() > 30 {
            last.remove(0);
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        thread::sleep(Duration::from_secs_f64(units as f64 / @{rate} as f64).saturating_sub(began.elapsed()));
    }
    let text = format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}, \"alike\": {alike}}}", gentle.rested);
    std::fs::write("@{report}", text)
}
