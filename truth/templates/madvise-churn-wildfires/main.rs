// How far the water of each breach of a dyke gets in an hour.
use std::time::{Duration, Instant};

const ROWS: usize = @{rows};
const CELLS: usize = 2042;

extern "C" {
    fn mmap(at: *mut u8, size: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn madvise(at: *mut u8, size: usize, advice: i32) -> i32;
}

#[repr(C)]
struct Row {
    breach: u32,
    from: u32,
    to: u32,
    minute: [u16; CELLS],
}

struct Polder {
    rows: &'static mut [Row],
    released: Instant,
}

impl Polder {
    fn new() -> Polder {
        let at = unsafe { mmap(std::ptr::null_mut(), ROWS * std::mem::size_of::<Row>(), 3, 0x22, -1, 0) };
        assert!(at as isize != -1, "no memory for the polder");
        Polder { rows: unsafe { std::slice::from_raw_parts_mut(at as *mut Row, ROWS) }, released: Instant::now() }
    }

    #[inline(never)]
    fn @{fn}(&mut self) {
        unsafe { madvise(self.rows.as_mut_ptr() as *mut u8, std::mem::size_of_val(self.rows), 4) };
        self.released = Instant::now();
    }

    /// The strip of each row that lies low enough.
    #[inline(never)]
    fn @{fn2}(&mut self, breach: u32) {
        let middle = 200 + breach % 40_000 * 37 % 1500;
        for (r, row) in self.rows.iter_mut().enumerate() {
            let drift = r as u32 * @{wind} / 97 % 120;
            row.breach = breach;
            row.from = middle + drift;
            row.to = middle + drift + @{width} + (r as u32 ^ breach) % 8;
        }
    }

    #[inline(never)]
    fn flood(&mut self, breach: u32) -> u32 {
        let (mut wet, mut level) = (0, breach.wrapping_mul(2_654_435_761));
        for (r, row) in self.rows.iter_mut().enumerate() {
            let mut minute = r as u32 / 40;
            for cell in &mut row.minute[row.from as usize..row.to as usize] {
                level = level.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                minute += level >> 30;
                *cell = minute as u16;
                wet += (minute < 60) as u32;
            }
        }
        wet
    }
}

fn main() {
    let mut polder = Polder::new();
    polder.@{fn2}(0);
    let began = Instant::now();
    let (mut units, mut busy, mut culprit, mut worst) = (0u32, 0.0, 0.0, 0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        polder.@{fn2}(units);
        let laid = start.elapsed().as_secs_f64();
        worst = worst.max(polder.flood(units));
        let wet = start.elapsed().as_secs_f64();
        if polder.released.elapsed().as_secs_f64() >= @{hold} {
            polder.@{fn}();
        }
        let end = start.elapsed().as_secs_f64();
        culprit += laid + end - wet;
        busy += end;
        units += 1;
        let due = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if due > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(due));
        }
    }
    eprintln!("worst: {worst} cells");
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {culprit}}}")).expect("the report");
}
