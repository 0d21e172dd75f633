// The water of an estuary, step by step: each thread keeps the strip of the grid that is its own.
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const THREADS: usize = @{threads};
const CELLS: usize = @{cells};
const SWEEPS: usize = @{sweeps};

struct Meeting {
    there: AtomicUsize,
    round: AtomicUsize,
    asleep: Mutex<()>,
    bell: Condvar,
}

impl Meeting {
    fn new() -> Self {
        Meeting { there: AtomicUsize::new(0), round: AtomicUsize::new(0), asleep: Mutex::new(()), bell: Condvar::new() }
    }

    #[inline(never)]
    fn @{fn}(&self) {
        let round = self.round.load(Ordering::SeqCst);
        if self.there.fetch_add(1, Ordering::SeqCst) + 1 == THREADS {
            self.there.store(0, Ordering::SeqCst);
            let held = self.asleep.lock().unwrap();
            self.round.fetch_add(1, Ordering::SeqCst);
            self.bell.notify_all();
            drop(held);
            return;
        }
        let mut looks = 0u64;
        while looks < @{looks} {
            if self.round.load(Ordering::SeqCst) != round {
                return;
            }
            thread::yield_now();
            looks += 1;
        }
        let held = self.asleep.lock().unwrap();
        drop(self.bell.wait_while(held, |_| self.round.load(Ordering::SeqCst) == round).unwrap());
    }
}

struct Strip {
    water: Vec<f32>,
    next: Vec<f32>,
    waited: Duration,
}

impl Strip {
    // The first two have the arms of the river's mouth, with most of the cells.
    fn of(number: usize) -> Self {
        let arms = (CELLS as f64 * @{share}) as usize;
        let cells = if number < 2 { arms / 2 } else { (CELLS - arms) / (THREADS - 2) };
        let water: Vec<f32> = (0..cells + 2).map(|i| (i * 37 % 100) as f32 / 100.0).collect();
        Strip { next: water.clone(), water, waited: Duration::ZERO }
    }

    fn sweep(&mut self) {
        for _ in 0..160 {
            for (to, near) in self.next[1..].iter_mut().zip(self.water.windows(3)) {
                *to = near[1] + 0.2 * (near[0] - 2.0 * near[1] + near[2]) - 0.001 * *to * *to;
            }
            std::mem::swap(&mut self.water, &mut self.next);
        }
    }

    fn step(&mut self, swept: &Meeting) {
        for _ in 0..SWEEPS {
            self.sweep();
            let before = Instant::now();
            swept.@{fn}();
            self.waited += before.elapsed();
        }
    }
}

struct Model {
    start: Meeting,
    swept: Meeting,
    over: AtomicBool,
    waited_us: AtomicU64,
}

impl Model {
    fn work(&self, number: usize) {
        let mut strip = Strip::of(number);
        loop {
            self.start.@{fn}();
            if self.over.load(Ordering::SeqCst) {
                break;
            }
            strip.step(&self.swept);
        }
        self.waited_us.fetch_add(strip.waited.as_micros() as u64, Ordering::Relaxed);
    }
}

fn main() {
    let model = Arc::new(Model { start: Meeting::new(), swept: Meeting::new(), over: AtomicBool::new(false), waited_us: AtomicU64::new(0) });
    let others: Vec<_> = (1..THREADS)
        .map(|number| {
            let model = model.clone();
            thread::Builder::new().name(format!("@{thread}-{number}")).spawn(move || model.work(number)).unwrap()
        })
        .collect();
    let mut mouth = Strip::of(0);
    let (mut units, mut busy) = (0u32, 0.0);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let from = Instant::now();
        model.start.@{fn}();
        mouth.step(&model.swept);
        busy += from.elapsed().as_secs_f64();
        units += 1;
        let due = Duration::from_secs_f64(f64::from(units) / f64::from(@{rate}f32));
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    model.over.store(true, Ordering::SeqCst);
    model.start.@{fn}();
    for other in others {
        other.join().unwrap();
    }
    let waited = (mouth.waited.as_secs_f64() + model.waited_us.load(Ordering::Relaxed) as f64 / 1e6) / THREADS as f64;
    let level = mouth.water[mouth.water.len() / 2];
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy:.6}, \"culprit\": {waited:.6}, \"level\": {level}}}")).unwrap();
}
