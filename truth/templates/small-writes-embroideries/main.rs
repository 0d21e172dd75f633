use std::fs::{File, OpenOptions};
use std::io::{Seek, Write};
use std::time::{Duration, Instant};

/// A machine's file: a stitch is where the needle goes, and with which thread.
struct Design {
    out: File,
    held: Vec<u8>,
    spent: Duration,
}

#[derive(Clone, Copy)]
struct Stitch {
    x: f64,
    y: f64,
    thread: u8,
}

impl Design {
    /// A memory card takes so much; then comes the next one.
    fn begin(&mut self) -> std::io::Result<()> {
        if self.out.stream_position()? > 120 << 20 {
            std::fs::rename("@{work}/@{file}", "@{work}/@{file}.full")?;
            self.out = File::create("@{work}/@{file}")?;
        }
        Ok(())
    }

    #[inline(never)]
    fn @{fn}(&mut self, stitches: &[Stitch]) -> std::io::Result<()> {
        let began = Instant::now();
        for s in stitches {
            let mut record = vec![s.thread];
            record.extend_from_slice(&((s.x * 10.0) as i32).to_le_bytes());
            record.extend_from_slice(&((s.y * 10.0) as i32).to_le_bytes());
            record.resize(record.len() + @{spare}, b' ');
            if @{at_once} == 1 {
                self.out.write_all(&record)?;
            } else {
                self.held.extend_from_slice(&record);
            }
        }
        if !self.held.is_empty() {
            self.out.write_all(&self.held)?;
            self.held.clear();
        }
        self.spent += began.elapsed();
        Ok(())
    }
}

/// The outline of a motif, its corners taken off.
fn digitize(number: u64) -> Vec<Stitch> {
    let mut stitches: Vec<Stitch> = (0..@{stitches})
        .map(|i| {
            let t = i as f64 * 0.01 + number as f64;
            Stitch { x: 400.0 * (3.0 * t).sin(), y: 400.0 * (2.0 * t).cos(), thread: (i / 700 % 12) as u8 }
        })
        .collect();
    for _ in 0..@{smooth} {
        for i in 1..stitches.len() - 1 {
            stitches[i].x = (stitches[i - 1].x + 2.0 * stitches[i].x + stitches[i + 1].x) / 4.0;
            stitches[i].y = (stitches[i - 1].y + 2.0 * stitches[i].y + stitches[i + 1].y) / 4.0;
        }
    }
    stitches
}

fn main() -> std::io::Result<()> {
    let mut design = Design { out: File::create("@{work}/@{file}")?, held: Vec::new(), spent: Duration::ZERO };
    let mut shop = OpenOptions::new().create(true).append(true).open("@{work}/shop.txt")?;
    let (began, mut busy, mut units) = (Instant::now(), Duration::ZERO, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let stitches = digitize(units);
        design.begin()?;
        design.@{fn}(&stitches)?;
        if @{note} == 1 {
            shop.write_all(format!("design {} has {} stitches\n", units, stitches.len()).as_bytes())?;
        }
        units += 1;
        busy += start.elapsed();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), design.spent.as_secs_f64());
    std::fs::write("@{report}", text)
}
