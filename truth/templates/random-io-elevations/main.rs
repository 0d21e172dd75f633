// Profiles of routes: how high each of their points is, and how much there is to climb.
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const CELL: usize = 4096;
const POINTS: usize = @{points};

struct Raster {
    file: File,
    cells: u64,
}

impl Raster {
    fn open(path: &str) -> io::Result<Raster> {
        let file = File::open(path)?;
        let cells = file.metadata()?.len() / CELL as u64;
        Ok(Raster { file, cells })
    }

    #[inline(never)]
    fn @{fn}(&self, cell: u64, room: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(room, cell * CELL as u64)
    }

    fn heights(&self, route: u64) -> io::Result<Vec<f64>> {
        let mut all = vec![0; POINTS * CELL];
        if "@{order}" == "travelled" {
            for (point, room) in all.chunks_mut(CELL).enumerate() {
                let at = (route * 7919 + point as u64 * 104_729 + 31).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
                self.@{fn}(at % self.cells, room)?;
            }
        } else {
            let first = route.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            self.@{fn}(first % (self.cells - POINTS as u64), &mut all)?;
        }
        Ok(all.chunks(CELL).map(height).collect())
    }
}

/// The height is the middle of what a cell says, after it was smoothed.
fn height(cell: &[u8]) -> f64 {
    let mut sums: Vec<f64> = cell.chunks(8).map(|eight| f64::from(eight[0]) + f64::from(eight[7]) / 256.0).collect();
    for _ in 0..@{smooth} {
        for i in 1..sums.len() {
            sums[i] = sums[i] * 0.75 + sums[i - 1] * 0.25;
        }
    }
    sums[sums.len() / 2]
}

fn climb(heights: &[f64]) -> f64 {
    heights.windows(2).map(|two| (two[1] - two[0]).max(0.0)).sum()
}

#[derive(Default)]
struct Books {
    units: u64,
    busy: Duration,
    highest: f64,
}

fn planner(raster: &Raster, leg: u64, books: &Mutex<Books>) -> io::Result<()> {
    let began = Instant::now();
    let mut done = 0u32;
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let climbed = climb(&raster.heights(u64::from(done) * @{legs} + leg)?);
        let took = start.elapsed();
        done += 1;
        let mut books = books.lock().unwrap();
        books.units += 1;
        books.busy += took;
        books.highest = books.highest.max(climbed);
        drop(books);
        let due = Duration::from_secs_f64(f64::from(done) / @{rate} as f64);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let raster = Arc::new(Raster::open("@{work}/@{volume}/@{raster}")?);
    let books = Arc::new(Mutex::new(Books::default()));
    let legs: Vec<_> = (0..@{legs}).map(|leg| {
        let (raster, books) = (raster.clone(), books.clone());
        thread::spawn(move || planner(&raster, leg, &books))
    }).collect();
    for leg in legs {
        leg.join().expect("a planner")?;
    }
    let books = books.lock().unwrap();
    println!("{:.1} at most", books.highest);
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}}}", books.units, books.busy.as_secs_f64()))
}
