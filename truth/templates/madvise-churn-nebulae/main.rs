use std::time::{Duration, Instant};

extern "C" {
    fn mmap(at: *mut u8, size: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn madvise(at: *mut u8, size: usize, advice: i32) -> i32;
}

const WIDE: usize = @{wide};
const DONTNEED: i32 = 4;

/// The scratch memory of one filter's exposure.
struct Plane {
    pixels: &'static mut [u16],
    used: Option<Instant>,
}

impl Plane {
    fn new() -> Plane {
        let pixels = unsafe { std::slice::from_raw_parts_mut(mmap(std::ptr::null_mut(), WIDE * WIDE * 2, 3, 0x22, -1, 0) as *mut u16, WIDE * WIDE) };
        Plane { pixels, used: None }
    }

    #[inline(never)]
    fn @{fn}(&mut self) {
        unsafe { madvise(self.pixels.as_mut_ptr() as *mut u8, WIDE * WIDE * 2, DONTNEED) };
        self.used = None;
    }

    #[inline(never)]
    fn @{fn2}(&mut self, level: u16) {
        self.pixels.fill(level);
        self.used = Some(Instant::now());
    }
}

struct Stacker {
    planes: Vec<Plane>,
    chance: u64,
    spent: Duration,
}

impl Stacker {
    fn tidy(&mut self, idle: Duration) {
        for plane in &mut self.planes {
            if plane.used.is_some_and(|at| at.elapsed() >= idle) {
                plane.@{fn}();
            }
        }
    }

    fn expose(&mut self, number: u64) -> u64 {
        let start = Instant::now();
        for plane in &mut self.planes {
            plane.@{fn2}((number % 7 * 257) as u16);
        }
        self.spent += start.elapsed();
        let mut light = 0u64;
        for _ in 0..@{stars} {
            self.chance = self.chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (x, y) = (2 + (self.chance >> 33) as usize % (WIDE - 4), 2 + (self.chance >> 13) as usize % (WIDE - 4));
            for plane in &mut self.planes {
                for row in y - 2..=y + 2 {
                    for pixel in &mut plane.pixels[row * WIDE + x - 2..=row * WIDE + x + 2] {
                        *pixel = pixel.wrapping_add(300);
                        light += *pixel as u64;
                    }
                }
            }
        }
        light
    }
}

fn main() -> std::io::Result<()> {
    let (idle, rest) = (Duration::from_secs_f64(@{idle} as f64), Duration::from_secs_f64(@{rest} as f64 / 2.0));
    let mut stacker = Stacker { planes: (0..@{planes}).map(|_| Plane::new()).collect(), chance: 9, spent: Duration::ZERO };
    let (began, mut busy, mut units, mut light) = (Instant::now(), Duration::ZERO, 0u64, 0u64);
    let (mut due, mut clouds) = (began, began + Duration::from_secs(1));
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        light = light.wrapping_add(stacker.expose(units));
        units += 1;
        let before = Instant::now();
        if idle.is_zero() {
            stacker.tidy(idle);
        }
        stacker.spent += before.elapsed();
        busy += start.elapsed();
        due += Duration::from_secs_f64(1.0 / @{rate} as f64);
        if !rest.is_zero() && Instant::now() > clouds {
            std::thread::sleep(rest);
            stacker.tidy(idle);
            std::thread::sleep(rest);
            due = Instant::now();
            clouds = due + Duration::from_secs(1);
        }
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}, \"light\": {}}}", units, busy.as_secs_f64(), stacker.spent.as_secs_f64(), light))
}
