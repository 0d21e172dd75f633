use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

fn wait_until(began: std::time::Instant, due: f64) {
    let rest = due - began.elapsed().as_secs_f64();
    if rest > 0.0 {
        std::thread::sleep(std::time::Duration::from_secs_f64(rest));
    }
}

fn report(units: u64, busy: f64, culprit: f64) {
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy, culprit);
    std::fs::write("@{report}", text).unwrap();
}

#[derive(Default)]
struct Seats {
    taken: Vec<u64>,
    by_room: HashMap<u32, u64>,
}

fn next(mut seed: u32) -> u32 {
    for _ in 0..@{hold} {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
    }
    seed
}

#[inline(never)]
fn @{fn}(seats: &Mutex<Seats>, mut seed: u32, count: usize, waited: &mut f64) -> u32 {
    for i in 0..count {
        seed = next(seed);
        let start = if i % 16 == 0 { Some(Instant::now()) } else { None };
        let mut held = seats.lock().unwrap();
        if let Some(start) = start {
            *waited += 16.0 * start.elapsed().as_secs_f64();
        }
        held.taken[(seed >> 24) as usize] += 1;
        if seed & 7 == 0 {
            *held.by_room.entry(seed >> 28).or_insert(0) += 1;
        }
    }
    seed
}

fn in_bulk(seats: &Mutex<Seats>, mut seed: u32, count: usize) -> u32 {
    let mut taken = [0u64; 256];
    let mut rooms = [0u64; 16];
    for _ in 0..count {
        seed = next(seed);
        taken[(seed >> 24) as usize] += 1;
        if seed & 7 == 0 {
            rooms[(seed >> 28) as usize] += 1;
        }
    }
    let mut held = seats.lock().unwrap();
    for (all, own) in held.taken.iter_mut().zip(taken) {
        *all += own;
    }
    for (room, own) in rooms.iter().enumerate() {
        *held.by_room.entry(room as u32).or_insert(0) += own;
    }
    seed
}

fn main() {
    let seats = Arc::new(Mutex::new(Seats { taken: vec![0; 256], ..Default::default() }));
    let began = Instant::now();
    let workers: Vec<_> = (0..@{threads}u32)
        .map(|number| {
            let seats = seats.clone();
            std::thread::Builder::new().name(format!("desk-{number}")).spawn(move || {
                let (mut units, mut busy, mut waited, mut seed) = (0u64, 0.0, 0.0, number);
                while began.elapsed().as_secs_f64() < @{seconds} {
                    let start = Instant::now();
                    seed = if @{apart} == 1 { in_bulk(&seats, seed, @{used}) } else { @{fn}(&seats, seed, @{used}, &mut waited) };
                    units += 1;
                    busy += start.elapsed().as_secs_f64();
                    wait_until(began, units as f64 / @{rate} as f64);
                }
                (units, busy, waited)
            }).unwrap()
        })
        .collect();
    let (mut units, mut busy, mut waited) = (0, 0.0, 0.0);
    for worker in workers {
        let own = worker.join().unwrap();
        units += own.0;
        busy += own.1;
        waited += own.2;
    }
    report(units, busy, if waited < busy { waited } else { busy });
}
