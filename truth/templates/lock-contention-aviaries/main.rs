// The board of an aviary: keepers' devices post sightings, a census of the cages is drawn from it all the time.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Clone, Default)]
struct Cage {
    seen: u64,
    last: u64,
    weight: f64,
}

struct Board {
    cages: Mutex<Vec<Cage>>,
    published: Mutex<(f64, f64)>,
}

#[derive(Default)]
struct Totals {
    units: u64,
    busy: f64,
    waited: f64,
}

// How the birds are spread, smoothed until it settles.
fn spread(cages: &[Cage]) -> (f64, f64) {
    let began = Instant::now();
    let (mut mean, mut shape) = (1.0f64, 1.0f64);
    while began.elapsed().as_secs_f64() * 1000.0 < @{ms} {
        for cage in cages {
            let share = (cage.seen as f64 + 1.0).ln() * cage.weight;
            mean += (share - mean) * 0.01;
            shape += ((share - mean).abs().sqrt() - shape) * 0.01;
        }
    }
    (mean, shape)
}

#[inline(never)]
fn @{fn}(board: &Board) {
    let found = if @{inside} == 1 {
        let cages = board.cages.lock().unwrap();
        spread(&cages)
    } else {
        let cages = board.cages.lock().unwrap().clone();
        spread(&cages)
    };
    *board.published.lock().unwrap() = found;
}

#[inline(never)]
fn @{fn2}(board: &Board, sighting: u64) -> f64 {
    let began = Instant::now();
    let mut cages = board.cages.lock().unwrap();
    let waited = began.elapsed().as_secs_f64();
    let at = (sighting.wrapping_mul(2654435761) >> 7) as usize % cages.len();
    let cage = &mut cages[at];
    cage.seen += 1;
    cage.last = sighting;
    cage.weight = 0.9 * cage.weight + 0.1 * (sighting % 13) as f64;
    waited
}

// A sighting as the device sends it: its check sum must be right.
fn parse(text: &str) -> u64 {
    let sum = text.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(131).wrapping_add(byte as u64));
    text.split(';').filter_map(|word| word.parse::<u64>().ok()).sum::<u64>() ^ (sum & 0xff)
}

fn keeper(number: u64, board: &Board, came: Option<mpsc::Receiver<u64>>, began: Instant) -> Totals {
    let mut total = Totals::default();
    let mut turn = 0u64;
    loop {
        match &came {
            Some(queue) => match queue.recv() {
                Ok(next) => turn = next,
                Err(_) => return total,
            },
            None => {
                turn += 1;
                let due = Duration::from_secs_f64((turn as f64 + number as f64 / 7.0) / @{rate} as f64);
                thread::sleep(due.saturating_sub(began.elapsed()));
                if began.elapsed().as_secs_f64() > @{seconds} {
                    return total;
                }
            }
        }
        let start = Instant::now();
        let sighting = parse(&format!("{};{};{};finch", number, turn, turn * 31));
        total.waited += @{fn2}(board, sighting);
        total.units += 1;
        total.busy += start.elapsed().as_secs_f64();
    }
}

fn main() {
    let cages = (0..@{cages}).map(|n| Cage { seen: n as u64 % 5, last: 0, weight: 1.0 }).collect();
    let board = Arc::new(Board { cages: Mutex::new(cages), published: Mutex::new((0.0, 0.0)) });
    let over = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let census = {
        let (board, over) = (board.clone(), over.clone());
        thread::Builder::new().name("@{thread}".into()).spawn(move || {
            while !over.load(Ordering::Relaxed) {
                @{fn}(&board);
                thread::sleep(Duration::from_secs_f64(@{gap_ms} / 1000.0));
            }
        }).unwrap()
    };
    let mut keepers = Vec::new();
    let mut devices = Vec::new();
    for number in 0..@{posters}u64 {
        let board = board.clone();
        let (sender, receiver) = mpsc::channel();
        devices.push(sender);
        keepers.push(thread::spawn(move || keeper(number, &board, (@{queued} == 1).then_some(receiver), began)));
    }
    let mut turn = 0u64;
    while @{queued} == 1 && began.elapsed().as_secs_f64() < @{seconds} {
        turn += 1;
        devices.iter().for_each(|device| device.send(turn).unwrap());
        thread::sleep(Duration::from_secs_f64(turn as f64 / @{rate} as f64).saturating_sub(began.elapsed()));
    }
    drop(devices);
    let mut sum = Totals::default();
    for keeper in keepers {
        let one = keeper.join().unwrap();
        sum = Totals { units: sum.units + one.units, busy: sum.busy + one.busy, waited: sum.waited + one.waited };
    }
    over.store(true, Ordering::Relaxed);
    census.join().unwrap();
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", sum.units, sum.busy, sum.waited);
    std::fs::write("@{report}", text).unwrap();
}
