//! Loads lorries: improves a loading by swaps of crates, as long as the lorry's share of processor time lasts.
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, at: *mut Timespec) -> i32;
}

const THREAD_CPU: i32 = 3;

/// What the thread has used of its processor.
#[inline(never)]
fn @{fn}() -> i64 {
    let mut at = Timespec { seconds: 0, nanos: 0 };
    unsafe { clock_gettime(THREAD_CPU, &mut at) };
    at.seconds * 1_000_000_000 + at.nanos
}

struct Lorry {
    weights: Vec<i64>,
    bays: Vec<usize>,
    loads: Vec<i64>,
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

impl Lorry {
    fn new(chance: &mut Chance) -> Lorry {
        let weights: Vec<i64> = (0..@{crates}).map(|_| 40 + chance.below(900) as i64).collect();
        let bays: Vec<usize> = weights.iter().map(|_| chance.below(@{bays})).collect();
        let mut loads = vec![0; @{bays}];
        for (at, bay) in bays.iter().enumerate() {
            loads[*bay] += weights[at];
        }
        Lorry { weights, bays, loads }
    }

    fn spread(&self) -> i64 {
        self.loads.iter().max().unwrap() - self.loads.iter().min().unwrap()
    }

    #[inline(never)]
    fn @{fn2}(&mut self, chance: &mut Chance) {
        let at = chance.below(self.weights.len());
        let (from, to) = (self.bays[at], chance.below(self.loads.len()));
        let before = self.spread();
        self.loads[from] -= self.weights[at];
        self.loads[to] += self.weights[at];
        if self.spread() > before {
            self.loads[from] += self.weights[at];
            self.loads[to] -= self.weights[at];
        } else {
            self.bays[at] = to;
        }
    }
}

fn load(chance: &mut Chance, asked: &mut f64) -> i64 {
    let mut lorry = Lorry::new(chance);
    let end = @{fn}() + 5_000_000_000;
    for step in 1..=@{steps} * 2 {
        lorry.@{fn2}(chance);
        if step % @{look} == 0 {
            // One of 32 is timed for the statistics.
            let timed = if @{look} > 1 || step % 32 == 0 { Some(Instant::now()) } else { None };
            let used = @{fn}();
            if let Some(from) = timed {
                *asked += from.elapsed().as_secs_f64() * if @{look} > 1 { 1.0 } else { 32.0 };
            }
            if used >= end {
                break;
            }
        }
    }
    lorry.spread()
}

fn main() {
    let (mut units, mut busy, mut asked, mut spread) = (0u64, 0.0, 0.0, 0);
    let mut chance = Chance(88172645463325252);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        spread += load(&mut chance, &mut asked);
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            sleep(Duration::from_secs_f64(rest));
        }
    }
    println!("{units} lorries, {spread} out of balance");
    let text = format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {asked}}}");
    fs::write("@{report}", text).unwrap();
}
