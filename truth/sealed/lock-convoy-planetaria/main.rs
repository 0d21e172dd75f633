// Compares the plates of the dome's cameras with a catalogue of the sky: which stars are where they should be?
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

static WAITED: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Copy)]
struct Star {
    at: [f64; 3],
}

// Who comes first is served first.
#[derive(Default)]
struct Turnstile {
    line: Mutex<(bool, VecDeque<(Thread, Arc<AtomicU64>)>)>,
}

impl Turnstile {
    fn enter(&self) {
        let called = Arc::new(AtomicU64::new(0));
        {
            let mut line = self.line.lock().unwrap();
            if !line.0 {
                line.0 = true;
                return;
            }
            line.1.push_back((thread::current(), called.clone()));
        }
        while called.load(Ordering::Acquire) == 0 {
            thread::park();
        }
    }

    fn leave(&self) {
        let mut line = self.line.lock().unwrap();
        match line.1.pop_front() {
            Some((next, called)) => {
                called.store(1, Ordering::Release);
                next.unpark();
            }
            None => line.0 = false,
        }
    }
}

struct Plate {
    turn: Turnstile,
    stars: Vec<Star>,
    next: Mutex<usize>,
}

fn some(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

fn stars(count: usize, seed: u64) -> Vec<Star> {
    let mut state = seed;
    (0..count).map(|_| Star { at: [some(&mut state), some(&mut state), some(&mut state)] }).collect()
}

impl Plate {
    // The brightest are at the front, so all matchers take from there.
    #[inline(never)]
    fn @{fn}(&self) -> &[Star] {
        let start = Instant::now();
        self.turn.enter();
        WAITED.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let (from, to) = {
            let mut next = self.next.lock().unwrap();
            let from = *next;
            *next = self.stars.len().min(from + @{take});
            (from, *next)
        };
        self.turn.leave();
        &self.stars[from..to]
    }
}

fn distance(one: &Star, other: &Star) -> f64 {
    let [dx, dy, db] = [0, 1, 2].map(|n| one.at[n] - other.at[n]);
    dx * dx + dy * dy + 0.1 * db * db
}

fn compare(plate: &Plate, catalogue: &[Star]) -> f64 {
    let mut error = 0.0;
    loop {
        let taken = plate.@{fn}();
        if taken.is_empty() {
            return error;
        }
        for star in taken {
            error += catalogue.iter().map(|one| distance(one, star)).fold(4.0, f64::min).sqrt();
        }
    }
}

fn main() -> std::io::Result<()> {
    let catalogue = stars(@{bright}, 1);
    let (began, mut units, mut busy, mut error) = (Instant::now(), 0u64, 0.0, 0.0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let plate = Plate { turn: Turnstile::default(), stars: stars(@{list}, units + 2), next: Mutex::new(0) };
        thread::scope(|all| {
            let matchers: Vec<_> = (0..@{matchers}).map(|_| all.spawn(|| compare(&plate, &catalogue))).collect();
            error += matchers.into_iter().map(|one| one.join().unwrap()).sum::<f64>();
        });
        units += 1;
        busy += start.elapsed().as_secs_f64();
        thread::sleep(Duration::from_secs_f64(units as f64 / @{rate} as f64).saturating_sub(began.elapsed()));
    }
    let waited = WAITED.load(Ordering::Relaxed) as f64 / 1e9 / @{matchers} as f64;
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {waited}, \"error\": {error}}}"))
}
