//! Keeps the chart of a lagoon: boats sound it, and their soundings are spread over the cells around them.
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const SIDE: usize = @{side};
const REACH: usize = @{reach};
const BOX: usize = @{box};

struct Sounding {
    x: usize,
    y: usize,
    depth: f64,
}

struct Cells {
    left: usize,
    top: usize,
    width: usize,
    values: Vec<(f64, f64)>,
}

impl Cells {
    fn new(left: usize, top: usize, right: usize, bottom: usize) -> Cells {
        Cells { left, top, width: right - left, values: vec![(0.0, 0.0); (right - left) * (bottom - top)] }
    }

    fn put(&mut self, s: &Sounding) {
        for y in s.y.saturating_sub(REACH)..=(s.y + REACH).min(SIDE - 1) {
            for x in s.x.saturating_sub(REACH)..=(s.x + REACH).min(SIDE - 1) {
                let (dx, dy) = (x as f64 - s.x as f64, y as f64 - s.y as f64);
                let w = (-(dx * dx + dy * dy) / REACH as f64).exp();
                let cell = &mut self.values[(y - self.top) * self.width + x - self.left];
                cell.0 += w * s.depth;
                cell.1 += w;
            }
        }
    }

    fn add(&mut self, part: &Cells) {
        for (row, values) in part.values.chunks(part.width).enumerate() {
            let to = (row + part.top) * self.width + part.left;
            for (cell, more) in self.values[to..].iter_mut().zip(values) {
                cell.0 += more.0;
                cell.1 += more.1;
            }
        }
    }
}

#[inline(never)]
fn @{fn}(chart: &Mutex<Cells>, survey: &[Sounding]) -> Duration {
    if "@{mode}" == "beside" {
        let (mut left, mut top, mut right, mut bottom) = (SIDE, SIDE, 0, 0);
        for s in survey {
            left = left.min(s.x.saturating_sub(REACH));
            top = top.min(s.y.saturating_sub(REACH));
            right = right.max((s.x + REACH + 1).min(SIDE));
            bottom = bottom.max((s.y + REACH + 1).min(SIDE));
        }
        let mut part = Cells::new(left, top, right, bottom);
        survey.iter().for_each(|s| part.put(s));
        let start = Instant::now();
        let mut chart = chart.lock().unwrap();
        let waited = start.elapsed();
        chart.add(&part);
        return waited;
    }
    let start = Instant::now();
    let mut chart = chart.lock().unwrap();
    let waited = start.elapsed();
    survey.iter().for_each(|s| chart.put(s));
    waited
}

fn deepest(chart: &Mutex<Cells>) -> f64 {
    let chart = chart.lock().unwrap();
    chart.values.iter().step_by(7).filter(|cell| cell.1 > 0.0).fold(0.0, |deep, cell| f64::max(deep, cell.0 / cell.1))
}

fn sail(number: u64) -> String {
    let mut chance = number.wrapping_mul(6364136223846793005).wrapping_add(1);
    let mut next = move |n: usize| {
        chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (chance >> 33) as usize % n
    };
    let (left, top) = (next(SIDE - BOX), next(SIDE - BOX));
    (0..@{soundings}).map(|_| format!("{};{};{}.{}\n", left + next(BOX), top + next(BOX), next(40), next(10))).collect()
}

fn parse(text: &str) -> Vec<Sounding> {
    let one = |line: &str| {
        let mut field = line.split(';');
        Some(Sounding { x: field.next()?.parse().ok()?, y: field.next()?.parse().ok()?, depth: field.next()?.parse().ok()? })
    };
    text.lines().filter_map(one).collect()
}

fn main() {
    let chart = Arc::new(Mutex::new(Cells::new(0, 0, SIDE, SIDE)));
    let mut boats = Vec::new();
    let mut workers = Vec::new();
    let season: Vec<String> = (0..40).map(sail).collect();
    for number in 0..@{workers} {
        let (quay, arrivals) = mpsc::sync_channel::<String>(8);
        boats.push(quay);
        let chart = chart.clone();
        let work = move || {
            let (mut units, mut busy, mut waited) = (0, Duration::ZERO, Duration::ZERO);
            for text in arrivals {
                let start = Instant::now();
                waited += @{fn}(&chart, &parse(&text));
                busy += start.elapsed();
                units += 1;
            }
            (units, busy, waited)
        };
        workers.push(thread::Builder::new().name(format!("boat-{number}")).spawn(work).unwrap());
    }
    let (began, mut board, mut deep, mut number) = (Instant::now(), Instant::now(), 0.0, 0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        boats[number as usize % @{workers}].send(season[number as usize % season.len()].clone()).unwrap();
        if board.elapsed().as_secs() >= 1 {
            board = Instant::now();
            deep = deepest(&chart);
        }
        thread::sleep(Duration::from_secs_f64(number as f64 / @{per_s}).saturating_sub(began.elapsed()));
        number += 1;
    }
    drop(boats);
    let (mut units, mut busy, mut waited) = (0, 0.0, 0.0);
    for worker in workers {
        let (u, b, w) = worker.join().unwrap();
        (units, busy, waited) = (units + u, busy + b.as_secs_f64(), waited + w.as_secs_f64());
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {waited}, \"deepest\": {deep}}}");
    std::fs::write("@{report}", report).unwrap();
}
