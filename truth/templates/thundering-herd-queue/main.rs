// Measures the paths of parcels: threads that wait for the next in a hall.
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Hall {
    parcels: Vec<(u64, Instant)>,
    tariff: u64,
    units: u64,
    busy: f64,
}

#[inline(never)]
fn @{fn}(hall: &(Mutex<Hall>, Condvar)) -> (u64, Instant) {
    let mut inside = hall.0.lock().unwrap();
    loop {
        if let Some(parcel) = inside.parcels.pop() {
            return parcel;
        }
        inside = hall.1.wait(inside).unwrap();
    }
}

fn measure(hall: Arc<(Mutex<Hall>, Condvar)>) {
    loop {
        let (number, came) = @{fn}(&hall);
        let start = Instant::now();
        let mut way = number;
        while start.elapsed().as_secs_f64() < @{effort} / 1000.0 {
            way = way.wrapping_mul(6364136223846793005).wrapping_add(1);
        }
        let mut inside = hall.0.lock().unwrap();
        inside.units += 1 + (way == 7) as u64;
        inside.busy += came.elapsed().as_secs_f64();
    }
}

fn main() {
    let hall = Arc::new((Mutex::new(Hall::default()), Condvar::new()));
    for number in 0..@{workers} {
        let shared = hall.clone();
        thread::Builder::new().name(format!("@{thread}-{number}")).stack_size(256 << 10).spawn(move || measure(shared)).unwrap();
    }
    let began = Instant::now();
    let (every, mut n) = (@{every}u64, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        n += 1;
        let due = n as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if due > 0.0 {
            thread::sleep(Duration::from_secs_f64(due));
        }
        let mut inside = hall.0.lock().unwrap();
        inside.parcels.push((n, Instant::now()));
        let news = every > 0 && n % every.max(1) == 0;
        inside.tariff += news as u64;
        drop(inside);
        if news || @{one} == 0 {
            hall.1.notify_all();
        } else {
            hall.1.notify_one();
        }
    }
    let inside = hall.0.lock().unwrap();
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {:.6}}}", inside.units, inside.busy)).unwrap();
    std::process::exit(0);
}
