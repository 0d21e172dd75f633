// A lexicon: the words are in an arena that nobody may write to by mistake, the images of the printed pages are in a file.
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

extern "C" {
    fn mmap(at: *mut c_void, length: usize, protection: i32, flags: i32, file: i32, from: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> i32;
    fn mprotect(at: *mut c_void, length: usize, protection: i32) -> i32;
}
const READ: i32 = 1;
const WRITE: i32 = 2;
const PAGE: usize = 4096;
const SIZE: usize = @{arena_mb} << 20;

#[derive(Default)]
struct Tally {
    units: u64,
    busy: Duration,
    mapping: Duration,
    sum: u64,
}

struct Arena {
    words: *mut u8,
}
unsafe impl Sync for Arena {}

impl Arena {
    fn new() -> Arena {
        let words = unsafe { mmap(std::ptr::null_mut(), SIZE, READ | WRITE, 0x22, -1, 0) } as *mut u8;
        assert!(words as isize != -1, "no memory for the arena");
        for page in 0..SIZE / PAGE {
            let text = format!("entry {}: see entry {}", page, page * 31 % 9973);
            unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), words.add(page * PAGE), text.len()) };
        }
        unsafe { mprotect(words.cast(), SIZE, READ) };
        Arena { words }
    }

    fn find(&self, hash: u64) -> &[u8] {
        unsafe { std::slice::from_raw_parts(self.words.add(hash as usize % (SIZE / PAGE) * PAGE), 64) }
    }

    #[inline(never)]
    fn @{fn2}(&self, number: usize) {
        let at = unsafe { self.words.add(number * 7919 % (SIZE / PAGE) * PAGE) };
        let (from, length) = if "@{sealing}" == "arena" { (self.words, SIZE) } else { (at, PAGE) };
        let text = format!("corrected {} times", number);
        unsafe {
            mprotect(from.cast(), length, READ | WRITE);
            std::ptr::copy_nonoverlapping(text.as_ptr(), at.add(64), text.len());
            mprotect(from.cast(), length, READ);
        }
    }
}

struct Image(*mut c_void, usize);

impl Drop for Image {
    fn drop(&mut self) {
        unsafe { munmap(self.0, self.1) };
    }
}

#[inline(never)]
fn @{fn}(file: &File, length: usize) -> Image {
    let at = unsafe { mmap(std::ptr::null_mut(), length, READ, 1, file.as_raw_fd(), 0) };
    assert!(at as isize != -1, "cannot map @{images}");
    Image(at, length)
}

fn look_up(arena: &Arena, file: &File, end: Instant) -> Tally {
    let (mut tally, mut kept, began) = (Tally::default(), None, Instant::now());
    for n in 1u64.. {
        let start = Instant::now();
        if start >= end {
            break;
        }
        let image = kept.take().unwrap_or_else(|| {
            let image = @{fn}(file, @{part_kb} * 1000);
            tally.mapping += start.elapsed();
            image
        });
        let mut hash = 1469598103934665603u64 + n;
        for byte in unsafe { std::slice::from_raw_parts(image.0 as *const u8, image.1) } {
            hash = (hash ^ *byte as u64).wrapping_mul(1099511628211);
        }
        for _ in 0..200 {
            let length = arena.find(hash).iter().position(|byte| *byte == 0).unwrap_or(64);
            hash = hash.wrapping_mul(31).wrapping_add(length as u64);
        }
        tally.sum = tally.sum.wrapping_add(hash);
        if "@{mapping}" == "once" {
            kept = Some(image);
        } else {
            let before = Instant::now();
            drop(image);
            tally.mapping += before.elapsed();
        }
        tally.units += 1;
        tally.busy += start.elapsed();
        let due = began + Duration::from_secs(1) * n as u32 / @{rate};
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    tally
}

fn main() -> std::io::Result<()> {
    let arena = &Arena::new();
    let file = &File::open("@{work}/@{images}")?;
    let end = Instant::now() + Duration::from_secs_f64(@{seconds} as f64);
    let mut all = Tally::default();
    thread::scope(|scope| {
        let readers: Vec<_> = (0..@{threads}).map(|_| scope.spawn(move || look_up(arena, file, end))).collect();
        let mut number = 0;
        while @{fixes} > 0 && Instant::now() < end {
            arena.@{fn2}(number);
            number += 1;
            thread::sleep(Duration::from_micros(1_000_000 / (@{fixes} + 1)));
        }
        for each in readers.into_iter().map(|reader| reader.join().unwrap()) {
            all.units += each.units;
            all.busy += each.busy;
            all.mapping += each.mapping;
            all.sum ^= each.sum;
        }
    });
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", all.units, all.busy.as_secs_f64(), all.mapping.as_secs_f64());
    std::fs::write("@{report}", text)
}
