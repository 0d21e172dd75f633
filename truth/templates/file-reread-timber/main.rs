//! The office of a sawmill: what the logs of a deck are worth, by species and grade.
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

const CENTS: [[u32; 4]; 7] = [
    [310, 205, 120, 70],
    [240, 170, 95, 60],
    [190, 140, 90, 55],
    [175, 120, 80, 50],
    [150, 110, 75, 45],
    [130, 95, 70, 40],
    [115, 90, 60, 35],
];

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sort {
    species: u8,
    grade: u8,
}

struct Log {
    sort: Sort,
    metres: f64,
    thick: f64,
}

impl Log {
    fn volume(&self) -> f64 {
        self.metres * self.thick * self.thick * std::f64::consts::FRAC_PI_4
    }
}

/// The logs of one deck, one after the other, as the measuring line wrote them.
struct Deck {
    file: BufReader<File>,
}

impl Deck {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufReader::with_capacity(1 << 16, File::open(path)?) })
    }
}

impl Iterator for Deck {
    type Item = io::Result<Log>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut record = [0u8; 32];
        match self.file.read_exact(&mut record) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return None,
            Err(error) => return Some(Err(error)),
            Ok(()) => {}
        }
        let number = |at: usize| f64::from(u16::from_le_bytes([record[at], record[at + 1]]));
        Some(Ok(Log { sort: Sort { species: record[4], grade: record[5] }, metres: number(6) / 100.0, thick: number(8) / 1000.0 }))
    }
}

#[inline(never)]
fn @{fn}(path: &Path, wanted: Sort) -> io::Result<f64> {
    let mut volume = 0.0;
    for log in Deck::open(path)? {
        let log = log?;
        if log.sort == wanted {
            volume += log.volume();
        }
    }
    Ok(volume)
}

fn all_sorts(path: &Path) -> io::Result<BTreeMap<Sort, f64>> {
    let mut volumes = BTreeMap::new();
    for log in Deck::open(path)? {
        let log = log?;
        *volumes.entry(log.sort).or_default() += log.volume();
    }
    Ok(volumes)
}

/// The volumes, and how long the walks after the first one took.
fn volumes(path: &Path) -> io::Result<(BTreeMap<Sort, f64>, Duration)> {
    if @{at_once} == 1 {
        return Ok((all_sorts(path)?, Duration::ZERO));
    }
    let (mut found, mut first) = (BTreeMap::new(), None);
    let began = Instant::now();
    for species in 0..@{species} {
        for grade in 0..@{grades} {
            let sort = Sort { species, grade };
            found.insert(sort, @{fn}(path, sort)?);
            first.get_or_insert(began.elapsed());
        }
    }
    Ok((found, began.elapsed() - first.unwrap_or_default()))
}

fn main() -> io::Result<()> {
    let folder = PathBuf::from("@{work}/@{decks}");
    let mut list = BufWriter::new(File::create("@{work}/values.lst")?);
    let (mut units, mut busy, mut again) = (0u32, Duration::ZERO, Duration::ZERO);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let deck = units % 20 + 1;
        let (volumes, rest) = volumes(&folder.join(format!("@{prefix}{deck}.dat")))?;
        let worth: f64 = volumes.iter().map(|(sort, cubic)| cubic * f64::from(CENTS[sort.species as usize][sort.grade as usize])).sum();
        writeln!(list, "deck {deck}: {} sorts, {worth:.2}", volumes.len())?;
        again += rest;
        units += 1;
        busy += start.elapsed();
        let due = Duration::from_secs_f64(f64::from(units) / @{per_s});
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), again.as_secs_f64());
    std::fs::write("@{report}", report)
}
