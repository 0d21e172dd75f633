// Reduces a night's exposures: takes the spectrum out of each, and finds its star in the catalogue.
use std::fs::File;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use std::{io, ptr, slice};

extern "C" {
    fn mmap(at: *mut u8, size: usize, access: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
    fn munmap(at: *mut u8, size: usize) -> i32;
}

struct Map(*mut u8, usize);

impl Map {
    fn new(size: usize, access: i32, flags: i32, file: i32) -> io::Result<Map> {
        let at = unsafe { mmap(ptr::null_mut(), size, access, flags, file, 0) };
        if at as isize == -1 { Err(io::Error::last_os_error()) } else { Ok(Map(at, size)) }
    }
    fn bytes(&mut self) -> &mut [u8] {
        unsafe { slice::from_raw_parts_mut(self.0, self.1) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        unsafe { munmap(self.0, self.1) };
    }
}

struct Reducer {
    catalogue: Map,
    mapping: Duration,
}

impl Reducer {
    fn load() -> io::Result<Reducer> {
        // Readable and writable, private, of no file.
        let mut catalogue = Map::new(@{stars} * 1_000_000, 3, 0x22, -1)?;
        let mut value = 11u32;
        for page in catalogue.bytes().chunks_mut(4096) {
            value = value.wrapping_mul(1664525).wrapping_add(1013904223);
            page[0] = (value >> 24) as u8;
        }
        Ok(Reducer { catalogue, mapping: Duration::ZERO })
    }

    #[inline(never)]
    fn @{fn}(&mut self, name: &str) -> io::Result<[u32; 64]> {
        let file = File::open(name)?;
        let size = file.metadata()?.len() as usize;
        let start = Instant::now();
        let mut pixels = Map::new(size, 1, 2, file.as_raw_fd())?;
        self.mapping += start.elapsed();
        let mut line = [0u32; 64];
        for (at, pixel) in pixels.bytes().iter().enumerate().step_by(61) {
            line[at >> 6 & 63] += *pixel as u32;
        }
        let start = Instant::now();
        drop(pixels);
        self.mapping += start.elapsed();
        Ok(line)
    }

    fn nearest(&mut self, line: &[u32; 64]) -> usize {
        let stars = self.catalogue.bytes();
        let place = |n: usize| line[n & 63] as usize * (n + 7919) * 64 % stars.len() & !4095;
        (0..200).map(|n| (line[n & 63] & 255 ^ stars[place(n)] as u32, place(n))).min().unwrap().1
    }
}

fn main() -> io::Result<()> {
    let mut reducer = Reducer::load()?;
    std::fs::write("@{work}/reducer.new", std::process::id().to_string())?;
    std::fs::rename("@{work}/reducer.new", "@{work}/reducer.pid")?;
    let (began, mut busy, mut units, mut sum) = (Instant::now(), Duration::ZERO, 0usize, 0usize);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        for frame in 0..@{frames} {
            let line = reducer.@{fn}(&format!("@{work}/@{night}/exposure-{}.raw", (units + frame * 3) % 8))?;
            sum = sum.wrapping_add(reducer.nearest(&line));
        }
        units += 1;
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(1.0 / @{rate} as f64).saturating_sub(start.elapsed()));
    }
    let mapping = reducer.mapping.as_secs_f64();
    let text = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {mapping}, \"sum\": {sum}}}", busy.as_secs_f64());
    std::fs::write("@{report}", text)
}
