// A pollen service: stations report counts; each is weighed against what was counted nearby, and put on the map.
#![allow(non_snake_case)]
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const TILES: usize = @{tiles};
const PARTS: usize = @{parts};

#[derive(Clone, Copy, Default)]
struct Count {
    tile: u32,
    x: f32,
    y: f32,
    grains: f32,
}

struct Part {
    counts: Vec<Count>,
    next: usize,
}

struct Map {
    @{lock}: Vec<Mutex<Part>>,
}

struct Chance(u64);

impl Chance {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % below
    }

    fn count(&mut self) -> Count {
        let mut unit = || self.next(10_000) as f32 / 100.0;
        let (x, y, grains) = (unit(), unit(), unit());
        Count { tile: self.next(TILES as u64) as u32, x, y, grains }
    }
}

impl Map {
    fn new() -> Map {
        let mut chance = Chance(42);
        let mut parts: Vec<Part> = (0..PARTS).map(|_| Part { counts: Vec::new(), next: 0 }).collect();
        for _ in 0..@{kept} {
            let count = chance.count();
            parts[count.tile as usize % PARTS].counts.push(count);
        }
        Map { @{lock}: parts.into_iter().map(Mutex::new).collect() }
    }

    // What was counted nearby; the new one takes the place of the oldest.
    #[inline(never)]
    fn @{fn}(&self, new: Count, waited: &mut f64) -> f32 {
        let start = Instant::now();
        let mut part = self.@{lock}[new.tile as usize % PARTS].lock().unwrap();
        *waited += start.elapsed().as_secs_f64();
        let (mut sum, mut weight) = (0.0f32, 0.001f32);
        for old in &part.counts {
            let far = ((old.x - new.x).powi(2) + (old.y - new.y).powi(2)).sqrt();
            if old.tile == new.tile && far < 20.0 {
                sum += old.grains / (1.0 + far);
                weight += 1.0 / (1.0 + far);
            }
        }
        let place = part.next % part.counts.len();
        part.counts[place] = new;
        part.next += 1;
        sum / weight
    }
}

fn line_of(station: usize, count: &Count) -> String {
    format!("{};{};{:.2};{:.2};{:.1}", station, count.tile, count.x, count.y, count.grains)
}

fn parsed(line: &str) -> Count {
    let words: Vec<f32> = line.split(';').map(|word| word.parse().unwrap_or(0.0)).collect();
    Count { tile: words[1] as u32, x: words[2], y: words[3], grains: words[4] }
}

fn work(map: &Map, number: usize, began: Instant) -> (usize, f64, f64) {
    let (mut chance, mut reports, mut busy, mut waited) = (Chance(number as u64 + 1), 0usize, 0.0, 0.0);
    let mut warnings = Vec::new();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let lines: Vec<String> = (0..@{counts}).map(|_| line_of(number, &chance.count())).collect();
        let start = Instant::now();
        for line in &lines {
            let count = parsed(line);
            let usual = map.@{fn}(count, &mut waited);
            if count.grains > usual * 1.9 {
                warnings.push((count.tile, count.grains - usual));
            }
        }
        warnings.truncate(1000);
        busy += start.elapsed().as_secs_f64();
        reports += 1;
        let due = (reports as f64 + number as f64 / @{workers} as f64) * @{workers} as f64 / @{rate} as f64;
        let rest = due - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    (reports, busy, waited)
}

fn main() {
    let map = Arc::new(Map::new());
    let began = Instant::now();
    let workers: Vec<_> = (0..@{workers})
        .map(|number| {
            let map = map.clone();
            thread::Builder::new().name(format!("station-{}", number)).spawn(move || work(&map, number, began)).unwrap()
        })
        .collect();
    let (mut units, mut busy, mut waited) = (0, 0.0, 0.0);
    for worker in workers {
        let (some, took, part) = worker.join().unwrap();
        units += some;
        busy += took;
        waited += part;
    }
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy, waited)).unwrap();
}
