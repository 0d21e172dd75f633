//! Cuts drawings into strips for engraving machines. Each cutter is a thread; the strips' memory comes from one depot, first come first served.
use std::fs;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const CUTTERS: usize = @{cutters};
const STRIPS: usize = @{strips};
const BATCH: usize = @{batch};
const WIDTH: usize = 360;

type Strip = Box<[u32; WIDTH]>;

struct Line {
    next: usize,
    serving: usize,
}

/// Gives out tickets; each holder is called by its own bell.
struct Tickets {
    line: Mutex<Line>,
    bells: [Condvar; CUTTERS],
}

impl Tickets {
    fn turn<T>(&self, act: impl FnOnce() -> T) -> T {
        let mut line = self.line.lock().unwrap();
        let mine = line.next;
        line.next += 1;
        while line.serving != mine {
            line = self.bells[mine % CUTTERS].wait(line).unwrap();
        }
        drop(line);
        let done = act();
        let mut line = self.line.lock().unwrap();
        line.serving += 1;
        if line.serving != line.next {
            self.bells[line.serving % CUTTERS].notify_one();
        }
        done
    }
}

struct Depot {
    @{depot}: Tickets,
    free: Mutex<Vec<Strip>>,
}

impl Depot {
    fn new() -> Depot {
        let free = (0..CUTTERS * (BATCH + 1)).map(|_| Box::new([0; WIDTH])).collect();
        let line = Mutex::new(Line { next: 0, serving: 0 });
        Depot { @{depot}: Tickets { line, bells: std::array::from_fn(|_| Condvar::new()) }, free: Mutex::new(free) }
    }

    /// Those at the lowest addresses of the last ones.
    #[inline(never)]
    fn @{fn}(&self, many: usize, into: &mut Vec<Strip>) {
        self.@{depot}.turn(|| {
            let mut free = self.free.lock().unwrap();
            for _ in 0..many {
                let from = free.len().saturating_sub(48);
                let best = (from..free.len()).min_by_key(|&i| free[i].as_ptr() as usize).expect("the depot is large enough");
                into.push(free.swap_remove(best));
            }
        })
    }

    #[inline(never)]
    fn put_back(&self, used: &mut Vec<Strip>) {
        self.@{depot}.turn(|| self.free.lock().unwrap().append(used))
    }
}

#[derive(Default)]
struct Tally {
    units: u64,
    busy: Duration,
    waited: Duration,
    sum: u64,
}

fn hatch(strip: &mut [u32; WIDTH], row: usize) -> u64 {
    for (x, dot) in strip.iter_mut().enumerate() {
        *dot = (row * 17 + x) as u32;
    }
    for pass in 0..2 * @{hatching}u32 {
        for x in 1..WIDTH {
            strip[x] = strip[x - 1].wrapping_mul(5).wrapping_add(strip[x] >> 3) ^ pass;
        }
    }
    strip[WIDTH - 1] as u64
}

fn drawing(depot: &Depot, tally: &mut Tally) {
    let mut mine = Vec::with_capacity(BATCH.min(STRIPS));
    let mut row = 0;
    while row < STRIPS {
        let asked = Instant::now();
        depot.@{fn}(BATCH.min(STRIPS - row), &mut mine);
        tally.waited += asked.elapsed();
        for strip in &mut mine {
            tally.sum ^= hatch(strip, row);
            row += 1;
        }
        let asked = Instant::now();
        depot.put_back(&mut mine);
        tally.waited += asked.elapsed();
    }
}

fn cut(number: usize, depot: &Depot, press: &Barrier, began: Instant) -> Tally {
    let together = @{together} == 1;
    let (rate, seconds) = (@{rate} as f64, @{seconds} as f64);
    let rounds = (seconds * rate) as u64;
    let mut tally = Tally::default();
    while if together { tally.units < rounds } else { began.elapsed().as_secs_f64() < seconds } {
        let start = Instant::now();
        drawing(depot, &mut tally);
        tally.units += 1;
        tally.busy += start.elapsed();
        if together {
            press.wait();
        }
        let apart = if together { 0.0 } else { number as f64 / CUTTERS as f64 };
        let due = Duration::from_secs_f64((tally.units as f64 + apart) / rate);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    tally
}

fn main() {
    let (depot, press) = (Arc::new(Depot::new()), Arc::new(Barrier::new(CUTTERS)));
    let began = Instant::now();
    let cutters: Vec<_> = (0..CUTTERS)
        .map(|number| {
            let (depot, press) = (depot.clone(), press.clone());
            thread::Builder::new().name(format!("cutter-{number}")).spawn(move || cut(number, &depot, &press, began)).unwrap()
        })
        .collect();
    let mut all = Tally::default();
    for cutter in cutters {
        let tally = cutter.join().unwrap();
        all.units += tally.units;
        all.busy += tally.busy;
        all.waited += tally.waited;
        all.sum ^= tally.sum;
    }
    println!("{} drawings, {:x}", all.units, all.sum);
    let (busy, waited) = (all.busy.as_secs_f64(), all.waited.as_secs_f64());
    fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {busy}, \"culprit\": {waited}}}", all.units)).unwrap();
}
