// Stitches the pictures of two cameras to a panorama, and tells how well they fit.
use std::thread;
use std::time::{Duration, Instant};

const WIDTH: usize = @{width};
const HEIGHT: usize = @{height};
const OVERLAP: usize = @{overlap};
const WIDE: usize = 2 * WIDTH - OVERLAP;

struct Canvas {
    points: Vec<u8>,
}

// Grey, all of it.
#[inline(never)]
fn @{fn}() -> Canvas {
    let mut points = Vec::new();
    points.resize(WIDE * HEIGHT * 3, 16);
    Canvas { points }
}

fn seen(camera: usize, x: usize, y: usize, n: usize) -> u8 {
    ((x * 3 + y * 5 + camera * 7 + n) >> 2) as u8
}

impl Canvas {
    fn stitch(&mut self, n: usize) -> u64 {
        let mut apart = 0;
        for y in 0..HEIGHT {
            let row = &mut self.points[y * WIDE * 3..(y + 1) * WIDE * 3];
            for x in 0..WIDE {
                let point = if x < WIDTH { seen(0, x, y, n) } else { seen(1, x - WIDTH + OVERLAP, y, n) } as usize;
                for colour in 0..3 {
                    row[x * 3 + colour] = (point * (225 - y * 25 / HEIGHT - colour) / 225) as u8;
                }
            }
            for x in 0..OVERLAP {
                apart += seen(0, WIDTH - OVERLAP + x, y, n).abs_diff(seen(1, x, y, n)) as u64;
            }
        }
        apart
    }
}

// The library's memory goes back to the system as soon as it is free: a canvas is large, and the next one may not come for long.
extern "C" {
    fn mallopt(what: i32, value: i32) -> i32;
}
const M_MMAP_THRESHOLD: i32 = -3;

fn main() -> std::io::Result<()> {
    unsafe { mallopt(M_MMAP_THRESHOLD, 1 << 20) };
    std::fs::write("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", std::process::id().to_string())?;
    let (mut busy, mut made, mut units, mut apart) = (Duration::ZERO, Duration::ZERO, 0usize, 0u64);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let mut canvas = @{fn}();
        made += start.elapsed();
        apart += canvas.stitch(units);
        drop(canvas);
        units += 1;
        busy += start.elapsed();
        due = (due + Duration::from_secs(1) / @{rate}).max(Instant::now());
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    if apart == 42 {
        eprintln!("they fit");
    }
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), made.as_secs_f64());
    std::fs::write("@{report}", text)
}
