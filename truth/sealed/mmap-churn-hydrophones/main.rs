// A hydrophone station: in each watch it sorts the clicks that it heard by the animal that they sound like.
use std::ffi::c_void;
use std::time::{Duration, Instant};

const SIZE: usize = @{pages} * 4096;
const WIDTH: usize = 48;
const KINDS: usize = @{patterns};

extern "C" {
    fn mmap(at: *mut c_void, size: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, size: usize) -> i32;
}

struct Canvas<'a> {
    place: *mut f32,
    spent: &'a std::cell::Cell<Duration>,
}

impl<'a> Canvas<'a> {
    #[inline(never)]
    fn @{fn}(spent: &'a std::cell::Cell<Duration>) -> Self {
        let start = Instant::now();
        // Read and write; private and of no file.
        let place = unsafe { mmap(std::ptr::null_mut(), SIZE, 3, 0x22, -1, 0) };
        assert!(place as isize != -1, "no room for a canvas");
        spent.set(spent.get() + start.elapsed());
        Canvas { place: place as *mut f32, spent }
    }

    fn part(&mut self) -> &mut [f32] {
        unsafe { std::slice::from_raw_parts_mut(self.place, WIDTH * KINDS) }
    }
}

impl Drop for Canvas<'_> {
    fn drop(&mut self) {
        let start = Instant::now();
        unsafe { munmap(self.place as *mut c_void, SIZE) };
        self.spent.set(self.spent.get() + start.elapsed());
    }
}

struct Patterns([[f32; WIDTH]; KINDS]);

impl Patterns {
    fn new() -> Self {
        let mut all = [[0.0; WIDTH]; KINDS];
        for (p, pattern) in all.iter_mut().enumerate() {
            for (i, tone) in pattern.iter_mut().enumerate() {
                *tone = ((i * (p + 1)) as f32 / 5.0).sin().abs();
            }
        }
        Patterns(all)
    }

    fn kind(&self, watch: usize, n: usize, part: &mut [f32]) -> usize {
        let mut best = (0, -1.0);
        for (p, pattern) in self.0.iter().enumerate() {
            let row = &mut part[p * WIDTH..][..WIDTH];
            for (i, (cell, tone)) in row.iter_mut().zip(pattern).enumerate() {
                *cell += tone * ((watch * 31 + n * 7 + i * i) % 97) as f32 / 97.0;
            }
            let sum: f32 = row.iter().sum();
            if sum > best.1 {
                best = (p, sum);
            }
        }
        best.0
    }
}

fn main() {
    let spent = std::cell::Cell::new(Duration::ZERO);
    let (patterns, mut heard) = (Patterns::new(), [0usize; KINDS]);
    let (began, mut busy, mut units) = (Instant::now(), Duration::ZERO, 0usize);
    let mut kept: Option<Canvas> = None;
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        for n in 0..@{clicks} {
            if "@{canvas}" == "each" {
                let mut canvas = Canvas::@{fn}(&spent);
                heard[patterns.kind(units, n, canvas.part())] += 1;
            } else {
                let part = kept.get_or_insert_with(|| Canvas::@{fn}(&spent)).part();
                part.fill(0.0);
                heard[patterns.kind(units, n, part)] += 1;
            }
        }
        if "@{canvas}" == "watch" {
            kept = None;
        }
        busy += start.elapsed();
        units += 1;
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    println!("heard {:?}", heard);
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), spent.get().as_secs_f64());
    std::fs::write("@{report}", text).unwrap();
}
