//! The dispensing of a nursing home's prescriptions, and the book of it.
use std::fs::{File, OpenOptions};
use std::io::{Result, Write};
use std::path::Path;
use std::time::{Duration, Instant};

struct Item {
    patient: u32,
    drug: u32,
    packs: i32,
    batch: u32,
}

struct Book {
    file: File,
    lines: u64,
    waited: Duration,
}

impl Book {
    fn open(path: &Path) -> Result<Book> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Book { file, lines: 0, waited: Duration::ZERO })
    }

    #[inline(never)]
    fn @{fn}(&mut self, item: &Item) -> Result<()> {
        self.lines += 1;
        let line = format!("{}|P{}|D{}|{}|LOT{:05}\n", self.lines, item.patient, item.drug, item.packs, item.batch);
        self.file.write_all(line.as_bytes())?;
        if self.lines % @{sync} == 0 {
            let start = Instant::now();
            self.file.sync_data()?;
            self.waited += start.elapsed();
        }
        Ok(())
    }
}

struct Pharmacy {
    shelf: Vec<i32>,
}

impl Pharmacy {
    fn interactions(&self, patient: u32, drug: u32) -> usize {
        let others = (0..self.shelf.len() as u32 * 32).filter(|&other| other != drug);
        others.filter(|other| ((drug * 31) ^ (other * 17) ^ patient) % 4096 % 97 == 0).count()
    }

    fn pick(&mut self, run: u32, index: u32) -> Item {
        let patient = (run * 37 + index) % 4000;
        let drug = (patient * 13 + index * 7) % self.shelf.len() as u32;
        let packs = if self.interactions(patient, drug) > 600 { 1 } else { 1 + (index % 3) as i32 };
        let left = &mut self.shelf[drug as usize];
        *left -= packs;
        if *left < 0 {
            *left += 500;
        }
        Item { patient, drug, packs, batch: (drug * 7919 + run) % 100000 }
    }
}

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).expect("folder of the book");
    let mut book = Book::open(&Path::new(&folder).join("@{book}"))?;
    let mut pharmacy = Pharmacy { shelf: vec![400; @{stock}] };
    let (began, mut busy, mut units) = (Instant::now(), 0.0, 0u32);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        for index in 0..@{items} {
            let item = pharmacy.pick(units, index);
            book.@{fn}(&item)?;
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let waited = book.waited.as_secs_f64();
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {waited}}}"))
}
