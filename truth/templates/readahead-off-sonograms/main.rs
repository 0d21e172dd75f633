//! Sorts the recordings of bats by their species, as far as the sound tells.
use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

extern "C" {
    fn posix_fadvise(fd: i32, offset: i64, length: i64, advice: i32) -> i32;
}
const RANDOM: i32 = 1;
const FRAME: usize = @{frame};

struct Entry {
    start: u64,
    size: usize,
}

struct Archive {
    heads: File,
    body: Option<File>,
    entries: Vec<Entry>,
    reading: Duration,
}

impl Archive {
    fn open(path: &str) -> Result<Archive> {
        let mut heads = File::open(path)?;
        unsafe { posix_fadvise(heads.as_raw_fd(), 0, 0, RANDOM) };
        let mut table = [0; 8192];
        heads.read_exact(&mut table)?;
        let number = |from: &[u8]| u64::from_le_bytes(from.try_into().unwrap());
        let entries = table.chunks(32).take_while(|entry| entry[0] != 0);
        let entries = entries.map(|entry| Entry { start: number(&entry[16..24]), size: number(&entry[24..]) as usize }).collect();
        let body = if @{shared} == 1 { None } else { Some(File::open(path)?) };
        Ok(Archive { heads, body, entries, reading: Duration::ZERO })
    }

    fn head(&mut self, number: usize) -> Result<[u8; FRAME]> {
        let mut frame = [0; FRAME];
        let start = Instant::now();
        self.heads.read_exact_at(&mut frame, self.entries[number].start)?;
        self.reading += start.elapsed();
        Ok(frame)
    }

    #[inline(never)]
    fn @{fn}(&mut self, number: usize, mut with: impl FnMut(&[u8])) -> Result<()> {
        let entry = &self.entries[number];
        let body = self.body.as_mut().unwrap_or(&mut self.heads);
        body.seek(SeekFrom::Start(entry.start))?;
        let (mut frame, mut rest) = ([0; FRAME], entry.size);
        while rest > 0 {
            let start = Instant::now();
            let n = body.read(&mut frame[..FRAME.min(rest)])?;
            self.reading += start.elapsed();
            rest -= n;
            with(&frame[..n]);
        }
        Ok(())
    }
}

/// Which band is the loudest in a frame.
fn loudest(frame: &[u8]) -> usize {
    let samples: Vec<f32> = frame.chunks_exact(2).map(|s| i16::from_le_bytes([s[0], s[1]]) as f32).collect();
    let strength = |band: usize| {
        let turn = 2.0 * (0.2 + band as f32 * 0.17).cos();
        let (mut one, mut two) = (0.0f32, 0.0f32);
        for sample in &samples {
            (one, two) = (sample + turn * one - two, one);
        }
        one * one + two * two - turn * one * two
    };
    (0..@{bands}).max_by(|a, b| strength(*a).total_cmp(&strength(*b))).unwrap_or(0)
}

fn main() -> Result<()> {
    let mut archive = Archive::open("@{work}/@{volume}/@{archive}")?;
    let (mut units, mut busy, mut species) = (0, Duration::ZERO, [0u64; 16]);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let count = archive.entries.len();
        if "@{mode}" == "heads" {
            for i in 0..3usize {
                species[loudest(&archive.head((units * 7919 + i * i * 31) % count)?)] += 1;
            }
        } else {
            archive.@{fn}(units % count, |frame| species[loudest(frame)] += 1)?;
        }
        units += 1;
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(1.0 / @{per_s}).saturating_sub(start.elapsed()));
    }
    let (seconds, reading) = (busy.as_secs_f64(), archive.reading.as_secs_f64());
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {seconds}, \"culprit\": {reading}, \"common\": {}}}", species[0]))
}
