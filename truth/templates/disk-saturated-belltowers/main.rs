// Prints the catalogue's sheets as they are asked for, and checks the recordings meanwhile.
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const BLOCK: usize = 128 << 10;
const O_DIRECT: i32 = 0x4000;

fn mix(mut mark: u64, text: &[u8]) -> u64 {
    for byte in text {
        mark = (mark ^ u64::from(*byte)).wrapping_mul(1099511628211);
    }
    mark
}

struct Recording {
    file: File,
    size: u64,
    checked: AtomicU64,
}

impl Recording {
    fn open(path: &str) -> std::io::Result<Recording> {
        // The sheets shall stay in the cache, not these.
        let file = OpenOptions::new().read(true).custom_flags(O_DIRECT).open(path)?;
        let size = file.metadata()?.len();
        Ok(Recording { file, size, checked: AtomicU64::new(0) })
    }

    #[inline(never)]
    fn @{fn2}(&self, part: u64, parts: u64) {
        let mut room = vec![0u8; BLOCK + 4096];
        let shift = room.as_ptr().align_offset(4096);
        let block = &mut room[shift..shift + BLOCK];
        let length = self.size / parts / BLOCK as u64 * BLOCK as u64;
        let mut at = 0;
        loop {
            match self.file.read_at(block, part * length + at) {
                Ok(count) => self.checked.fetch_add(mix(0, &block[..count.min(512)]) & 0xff, Ordering::Relaxed),
                Err(error) => panic!("recording: {error}"),
            };
            at = (at + BLOCK as u64) % length;
            if @{pause_ms} > 0 {
                thread::sleep(Duration::from_millis(@{pause_ms}));
            }
        }
    }
}

#[inline(never)]
fn @{fn}(number: u64) -> Vec<u8> {
    fs::read(format!("@{work}/@{volume}/@{doc}-{:04}", number * 7 % @{count})).expect("sheet")
}

fn main() {
    let tape = Arc::new(Recording::open("@{work}/@{volume}/@{tape}").expect("recording"));
    for part in 0..@{checkers} {
        let tape = tape.clone();
        thread::Builder::new().name(format!("check-{part}")).spawn(move || tape.@{fn2}(part, @{checkers})).expect("thread");
    }
    let (mut units, mut busy, mut reading, mut printed) = (0u64, 0f64, 0f64, 0u64);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let sheet = @{fn}(units);
        reading += start.elapsed().as_secs_f64();
        for _ in 0..@{rounds} {
            printed = mix(printed, &sheet);
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let due = began + Duration::from_secs_f64(units as f64 / @{rate} as f64);
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    eprintln!("{printed:x} {}", tape.checked.load(Ordering::Relaxed));
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {reading}}}")).expect("report");
}
