// Matches songs that were heard with those of an archive, by their marks. A list of recordings at a time.
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

const PAGE: usize = 4096;
const RANDOM: i32 = 1;

extern "C" {
    fn mmap(at: *mut u8, size: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn madvise(at: *mut u8, size: usize, advice: i32) -> i32;
}

struct Archive {
    data: &'static [u8],
    pages: usize,
}

impl Archive {
    fn open(path: &str) -> std::io::Result<Archive> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len() as usize;
        let at = unsafe { mmap(std::ptr::null_mut(), size, 1, 1, file.as_raw_fd(), 0) };
        if at as isize == -1 {
            return Err(std::io::Error::last_os_error());
        }
        // The next mark is never beside the last one.
        unsafe { madvise(at, size, RANDOM) };
        let data = unsafe { std::slice::from_raw_parts(at, size) };
        if @{preload} == 1 {
            let mut block = vec![0u8; 1 << 20];
            while file.read(&mut block)? > 0 {}
            let sum = data.iter().step_by(PAGE).fold(0u8, |sum, byte| sum ^ byte);
            eprintln!("the archive is there: {sum}");
        }
        Ok(Archive { data, pages: size / PAGE / @{part} })
    }

    #[inline(never)]
    fn @{fn}(&self, key: u64) -> u64 {
        let mut page = key as usize % self.pages;
        let mut found = 0u64;
        for _ in 0..@{hops} {
            let at = page * PAGE + key as usize % 500 * 8;
            found = u64::from_le_bytes(self.data[at..at + 8].try_into().unwrap());
            page = (found ^ key) as usize % self.pages;
        }
        found
    }
}

fn marks(recording: u64) -> Vec<u64> {
    let mut state = recording.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..@{parcels})
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .collect()
}

/// How well two rows of marks lie over each other, for each shift between them.
fn likeness(found: &[u64], heard: &[u64]) -> u32 {
    let mut best = 0;
    for shift in 0..@{rounds} * 24000u32 {
        let same = found.iter().zip(heard).map(|(a, b)| (a.rotate_left(shift % 64) ^ b).count_zeros()).sum::<u32>();
        let near = found.iter().rev().zip(heard).map(|(a, b)| (a ^ b.rotate_left(shift % 64)).count_zeros()).sum::<u32>();
        best = best.max(same).max(near);
    }
    best
}

fn main() {
    let archive = Archive::open("@{work}/@{volume}/@{register}").expect("the archive");
    let (mut units, mut busy, mut waited, mut sum) = (0u64, 0.0, 0.0, 0u64);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let heard = marks(units);
        let asked = Instant::now();
        let found: Vec<u64> = heard.iter().map(|key| archive.@{fn}(*key)).collect();
        waited += asked.elapsed().as_secs_f64();
        sum += likeness(&found, &heard) as u64;
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy:.6}, \"culprit\": {waited:.6}}}")).unwrap();
    println!("{sum}");
}
