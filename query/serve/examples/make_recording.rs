//! Makes a recording of so many calls by the project's own writer: what a server with worker threads, a database, files, locks and timers
//! might do. Times, sizes and lengths look random, and are the same each time.
//!
//! usage: make_recording NAME.whyslow MILLIONS-OF-CALLS [THREADS]

use std::path::PathBuf;
use whyslow_model::{Call, Errno, Event, Nanos, Ret, Sink, Syscall, Timestamp};
use whyslow_store::{Meta, WriteOptions, Writer};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(path), Some(millions)) = (words.next(), words.next()) else {
        return Err("usage: make_recording NAME.whyslow MILLIONS-OF-CALLS [THREADS]".into());
    };
    let threads: u64 = words.next().map_or(Ok(24), |word| word.parse())?;
    let total = (millions.parse::<f64>()? * 1e6) as u64;
    let start = 1_790_000_000_000_000_000u64;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let meta = Meta { start: Some(start), mode: Some("full".to_string()), complete: true, ..Meta::default() };
    let mut writer = Writer::create(PathBuf::from(path), meta, WriteOptions::CONVERT)?;
    let mut clocks: Vec<u64> = (0..threads).map(|thread| start + thread * 1_000).collect();
    let mut args = String::new();
    for number in 0..total {
        // The thread that is furthest behind goes on, so that calls come about in the order of their ends.
        let thread = (0..clocks.len()).min_by_key(|at| clocks[*at]).unwrap_or(0);
        let kind = random.below(100);
        let (name, took) = match kind {
            0..30 => ("read", 400 + random.below(9_000)),
            30..50 => ("write", 600 + random.below(12_000)),
            50..65 => ("recvfrom", 20_000 + random.below(400_000)),
            65..78 => ("sendto", 2_000 + random.below(20_000)),
            78..90 => ("futex", 500 + random.below(150_000) * random.below(8)),
            90..95 => ("openat", 3_000 + random.below(30_000)),
            95..98 => ("epoll_wait", random.below(2_000_000)),
            98 => ("fsync", 200_000 + random.below(6_000_000)),
            _ => ("clock_nanosleep", 1_000_000 + random.below(9_000_000)),
        };
        args.clear();
        use std::fmt::Write as _;
        let file = random.below(400);
        match name {
            "read" | "write" => {
                write!(args, "{}</srv/data/part-{file}.db>, \"\"..., {}", 10 + file % 60, 512 << (file % 5))?
            }
            "recvfrom" | "sendto" => write!(
                args,
                "{}<TCP:[10.0.0.1:{}->10.0.0.7:5432]>, \"\"..., 8192, 0, NULL, NULL",
                80 + thread,
                40_000 + thread
            )?,
            "futex" => write!(args, "0x7f00{:08x}, FUTEX_WAIT_PRIVATE, 2, NULL", 0x1000 + 64 * (file % 16))?,
            "openat" => write!(args, "AT_FDCWD, \"/srv/data/item-{file}.json\", O_RDONLY")?,
            "epoll_wait" => write!(args, "5, [], 64, 1000")?,
            "fsync" => write!(args, "{}</srv/data/part-{file}.db>", 10 + file % 60)?,
            _ => write!(args, "CLOCK_MONOTONIC, 0, {{tv_sec=0, tv_nsec=5000000}}, NULL")?,
        }
        let mut call = Call::new(name, &args);
        call.syscall = Syscall::lookup(name.as_bytes()).unwrap_or(Syscall::UNLISTED);
        (call.ts, call.dur) = (Timestamp::new(clocks[thread]), Nanos::new(took));
        (call.pid, call.tid) = (Some(4_000), 4_000 + thread as u32);
        call.ret = Ret::Value((random.below(8_192)) as i64);
        if name == "openat" && file.is_multiple_of(9) {
            (call.ret, call.errno) = (Ret::Value(-1), Errno::lookup(b"ENOENT"));
        }
        call.line = number;
        writer.push(Event::Call(&call));
        clocks[thread] += took + 200 + random.below(20_000);
    }
    let end = clocks.iter().copied().max().unwrap_or(start);
    writer.meta_mut().end = Some(end);
    let written = writer.finish()?;
    println!(
        "{} events, {} bytes, {:.1} s of time",
        written.events,
        written.bytes,
        (end - start) as f64 / 1e9
    );
    Ok(())
}
