// Renders kaleidoscopes: strips of a picture are made by workers side by side.
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

const EDGE: usize = @{edge};
const WORKERS: usize = @{workers};

extern "C" {
    fn sched_setaffinity(pid: i32, size: usize, mask: *const u64) -> i32;
}

struct Strip {
    picture: u64,
    from: usize,
    to: usize,
}

// Keeps this thread on the processors of the settings.
fn stay(list: &str) {
    let mut mask = [0u64; 16];
    for cpu in list.split(',').filter_map(|word| word.parse::<usize>().ok()) {
        mask[cpu / 64] |= 1 << (cpu % 64);
    }
    if mask.iter().any(|word| *word != 0) && unsafe { sched_setaffinity(0, std::mem::size_of_val(&mask), mask.as_ptr()) } != 0 {
        panic!("{}", std::io::Error::last_os_error());
    }
}

#[inline(never)]
fn @{fn}(strip: &Strip) -> Vec<u8> {
    let wedge = std::f64::consts::TAU / @{mirrors} as f64;
    let mut rows = Vec::with_capacity((strip.to - strip.from) * EDGE);
    for y in strip.from..strip.to {
        for x in 0..EDGE {
            let (dx, dy) = (x as f64 - EDGE as f64 / 2.0, y as f64 - EDGE as f64 / 2.0);
            let angle = (dy.atan2(dx).rem_euclid(wedge) - wedge / 2.0).abs();
            let (mut u, mut v) = (dx.hypot(dy) * 0.13 + strip.picture as f64 * 0.01, angle * 7.0);
            for _ in 0..@{used} {
                (u, v) = (u * 0.83 + v * v * 0.003 - 0.4, v * 0.91 + u * 0.17 - 0.02);
            }
            rows.push((u * 40.0 + v * 11.0) as i64 as u8);
        }
    }
    rows
}

fn worker(strips: Receiver<Strip>, done: Sender<(usize, Vec<u8>)>) {
    stay(&std::env::var("WORKER_CPUS").unwrap_or_default());
    for strip in strips {
        done.send((strip.from, @{fn}(&strip))).unwrap();
    }
}

fn main() -> std::io::Result<()> {
    let (done, made) = channel();
    let strips: Vec<Sender<Strip>> = (0..WORKERS).map(|number| {
        let (give, take) = channel();
        let done = done.clone();
        thread::Builder::new().name(format!("strip-{number}")).spawn(move || worker(take, done)).unwrap();
        give
    }).collect();
    let (began, mut units, mut busy, mut sum) = (Instant::now(), 0u64, 0.0, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        for (number, to) in strips.iter().enumerate() {
            to.send(Strip { picture: units, from: number * EDGE / WORKERS, to: (number + 1) * EDGE / WORKERS }).unwrap();
        }
        let mut picture = vec![0u8; EDGE * EDGE];
        for _ in 0..WORKERS {
            let (from, rows) = made.recv().unwrap();
            picture[from * EDGE..from * EDGE + rows.len()].copy_from_slice(&rows);
        }
        sum = picture.iter().fold(sum, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte as u64));
        units += 1;
        busy += start.elapsed().as_secs_f64();
        thread::sleep(Duration::from_secs_f64(units as f64 / @{rate} as f64).saturating_sub(began.elapsed()));
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"sum\": {sum}}}"))
}
