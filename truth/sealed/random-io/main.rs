// Keeps the last state of each session in its slot of a file that is written past the page cache.
use std::alloc::{alloc_zeroed, Layout};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::thread;
use std::time::{Duration, Instant};

const SLOT: usize = @{page};
const SLOTS: u64 = @{megabytes} * 1048576 / SLOT as u64;
const BLOCK: usize = 1 << 20;
const O_DIRECT: i32 = 0o40000;

struct Sessions {
    file: File,
    block: &'static mut [u8],
    seed: u64,
    end: u64,
}

impl Sessions {
    fn open(path: &str) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).custom_flags(O_DIRECT).open(path)?;
        let block = unsafe { std::slice::from_raw_parts_mut(alloc_zeroed(Layout::from_size_align(BLOCK, 4096).unwrap()), BLOCK) };
        Ok(Sessions { file, block, seed: 11, end: 0 })
    }

    fn pick(&mut self) -> u64 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) % SLOTS
    }

    #[inline(never)]
    fn @{fn}(&mut self, count: usize) -> io::Result<()> {
        for n in 0..count {
            let slot = self.pick();
            self.block[0] = n as u8;
            self.file.write_all_at(&self.block[..SLOT], slot * SLOT as u64)?;
        }
        Ok(())
    }

    /// Adds to the end; begins again where the file is full.
    fn @{fn2}(&mut self, mut bytes: usize) -> io::Result<()> {
        while bytes > 0 {
            let n = bytes.min(BLOCK);
            if self.end + n as u64 > SLOTS * SLOT as u64 {
                self.end = 0;
            }
            self.file.write_all_at(&self.block[..n], self.end)?;
            self.end += n as u64;
            bytes -= n;
        }
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let mut sessions = Sessions::open("@{work}/@{store}")?;
    let rate = @{load} * 14000.0 * 4096.0 / SLOT as f64 / @{batch} as f64;
    let (began, mut units, mut busy, mut culprit) = (Instant::now(), 0u64, 0.0, 0.0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        match "@{layout}" {
            "scattered" => sessions.@{fn}(@{batch})?,
            "clustered" => sessions.@{fn2}((@{batch} / 8 + 1) * SLOT)?,
            _ => sessions.@{fn2}(131072)?,
        }
        culprit += start.elapsed().as_secs_f64();
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / rate - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {culprit}}}"))
}
