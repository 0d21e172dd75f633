use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::{Duration, Instant};

// A geocoder: an address is found by a walk over the blocks of its index.
const BLOCK: usize = @{kb} * 1024;

struct Index {
    file: File,
    blocks: u64,
    next: u64,
    reading: Duration,
}

impl Index {
    fn open(path: &str) -> std::io::Result<Index> {
        let mut file = File::open(path)?;
        let blocks = file.metadata()?.len() / BLOCK as u64;
        if "@{order}" == "any" {
            // Have it in memory before the first question.
            let mut part = vec![0; 1 << 20];
            while file.read(&mut part)? > 0 {}
        }
        Ok(Index { file, blocks, next: 0, reading: Duration::ZERO })
    }

    #[inline(never)]
    fn @{fn}(&mut self, hash: u64, block: &mut [u8]) -> std::io::Result<()> {
        let number = match "@{order}" {
            "any" => (hash >> 17) % self.blocks,
            _ => self.next % self.blocks,
        };
        self.next += 1;
        let start = Instant::now();
        self.file.seek(SeekFrom::Start(number * BLOCK as u64))?;
        self.file.read_exact(block)?;
        self.reading += start.elapsed();
        Ok(())
    }
}

fn compare(block: &[u8], hash: u64) -> u64 {
    let mut best = hash;
    for round in 0..@{rounds}u64 {
        for word in block.chunks_exact(8) {
            best = best.max(u64::from_le_bytes(word.try_into().unwrap()) ^ round);
        }
    }
    best
}

fn main() -> std::io::Result<()> {
    std::fs::write("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", std::process::id().to_string())?;
    let mut index = Index::open("@{work}/@{data}")?;
    let mut block = vec![0u8; BLOCK];
    let (mut units, mut busy, mut hash) = (0u64, Duration::ZERO, 88172645463325252u64);
    let period = Duration::from_secs_f64(1.0 / (@{per_s} as f64));
    let end = Instant::now() + Duration::from_secs_f64(@{seconds} as f64);
    let mut due = Instant::now();
    while Instant::now() < end {
        let start = Instant::now();
        for _ in 0..@{reads} {
            hash ^= hash << 13;
            hash ^= hash >> 7;
            hash ^= hash << 17;
            index.@{fn}(hash, &mut block)?;
            hash ^= compare(&block, hash) & 0xff;
        }
        units += 1;
        busy += start.elapsed();
        due = (due + period).max(Instant::now());
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), index.reading.as_secs_f64());
    std::fs::write("@{report}", text)
}
