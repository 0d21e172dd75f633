// A map service: shades the tiles of a sheet by the height of the land.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

const SIDE: usize = 128;
const TILES: usize = @{tiles};

struct Shaded {
    bright: f64,
    there: f64,
    shading: f64,
}

struct Sheet {
    number: usize,
    ordered: Instant,
    next: AtomicUsize,
    done: Mutex<Vec<Shaded>>,
}

fn relief(sheet: usize, tile: usize) -> Vec<f32> {
    let height = |i: usize| 400.0 + 80.0 * ((i % SIDE + tile) as f32 * 0.11).sin() * ((i / SIDE + sheet) as f32 * 0.07).cos();
    (0..SIDE * SIDE).map(height).collect()
}

/// How bright a tile is when the sun comes from the north-west, after the valleys were smoothed.
#[inline(never)]
fn @{fn}(sheet: usize, tile: usize) -> f64 {
    let mut land = relief(sheet, tile);
    let mut smooth = land.clone();
    let mut sum = 0.0f64;
    for _ in 0..@{passes} {
        for y in 1..SIDE - 1 {
            for x in 1..SIDE - 1 {
                let at = y * SIDE + x;
                let (east, south) = (land[at + 1] - land[at - 1], land[at + SIDE] - land[at - SIDE]);
                smooth[at] = land[at] * 0.6 + (land[at + 1] + land[at - 1] + land[at + SIDE] + land[at - SIDE]) * 0.1;
                sum += f64::from((1.0 - east * 0.01 - south * 0.01) / (1.0 + east * east + south * south).sqrt());
            }
        }
        std::mem::swap(&mut land, &mut smooth);
    }
    sum
}

impl Sheet {
    fn new(number: usize) -> Sheet {
        Sheet { number, ordered: Instant::now(), next: AtomicUsize::new(0), done: Mutex::default() }
    }

    fn work(&self) {
        loop {
            let tile = self.next.fetch_add(1, Ordering::Relaxed);
            if tile >= TILES {
                return;
            }
            let from = Instant::now();
            thread::sleep(Duration::from_millis(@{archive_ms}));
            let bright = @{fn}(self.number, tile);
            let shaded = Shaded { bright, there: self.ordered.elapsed().as_secs_f64(), shading: from.elapsed().as_secs_f64() };
            self.done.lock().unwrap().push(shaded);
        }
    }

    fn shade(&self) {
        thread::scope(|all| {
            for _ in 0..@{threads} {
                all.spawn(|| self.work());
            }
        });
    }
}

/// What a tile takes when nothing else is shaded.
fn alone() -> f64 {
    let mut best = f64::MAX;
    for tile in 0..5 {
        let start = Instant::now();
        std::hint::black_box(@{fn}(0, tile));
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn main() -> std::io::Result<()> {
    let usual = alone();
    let began = Instant::now();
    let (mut units, mut seconds, mut waited) = (0, 0.0, 0.0);
    for number in 0.. {
        if began.elapsed().as_secs_f64() >= @{seconds} {
            break;
        }
        let sheet = Sheet::new(number);
        sheet.shade();
        let done = sheet.done.into_inner().unwrap();
        let bright: f64 = done.iter().map(|tile| tile.bright).sum();
        for tile in &done {
            seconds += tile.there;
            waited += (tile.shading - usual).max(0.0);
            units += 1;
        }
        println!("sheet {number}: {:.1}", bright / TILES as f64);
        thread::sleep(Duration::from_secs_f64((number + 1) as f64 / @{rate}).saturating_sub(began.elapsed()));
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {seconds}, \"culprit\": {waited}}}"))
}
