// Stores the plates of a night: levels them, finds the stars, writes them beside an index.
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

extern "C" {
    fn sync();
}

struct Plate {
    number: usize,
    pixels: Vec<u8>,
    stars: usize,
}

impl Plate {
    fn expose(number: usize) -> Plate {
        let mut seed = number as u32 * 7919 + 1;
        let pixels = (0..@{kilobytes} << 10).map(|_| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 24) as u8
        });
        Plate { number, pixels: pixels.collect(), stars: 0 }
    }

    fn level(&mut self) {
        let smooth: Vec<u8> = self.pixels.windows(3).map(|three| (three.iter().map(|one| *one as u32).sum::<u32>() / 3) as u8).collect();
        self.stars = smooth.iter().filter(|light| **light > 240).count();
        self.pixels = smooth;
    }
}

struct Archive {
    folder: PathBuf,
    index: Vec<(PathBuf, usize)>,
    storing: Duration,
}

impl Archive {
    #[inline(never)]
    fn @{fn}(&mut self, out: &File) -> io::Result<()> {
        let start = Instant::now();
        match "@{durable}" {
            "all" => unsafe { sync() },
            "file" => out.sync_all()?,
            _ => {}
        }
        self.storing += start.elapsed();
        Ok(())
    }

    fn store(&mut self, plate: &Plate) -> io::Result<()> {
        let name = self.folder.join(format!("plate-{:03}.raw", plate.number % 60));
        let mut out = File::create(&name)?;
        out.write_all(&plate.pixels)?;
        self.index.push((name, plate.stars));
        self.@{fn}(&out)
    }
}

fn main() -> io::Result<()> {
    let mut archive = Archive { folder: PathBuf::from("@{work}/@{plates}"), index: Vec::new(), storing: Duration::ZERO };
    fs::create_dir_all(&archive.folder)?;
    let (began, mut busy, mut units) = (Instant::now(), Duration::ZERO, 0usize);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let mut plate = Plate::expose(units);
        let start = Instant::now();
        plate.level();
        archive.store(&plate)?;
        busy += start.elapsed();
        units += 1;
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            sleep(Duration::from_secs_f64(rest));
        }
    }
    if "@{durable}" == "night" {
        unsafe { sync() };
    }
    fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), archive.storing.as_secs_f64()))
}
