//! Prints sheets of the tide almanac: for a harbour the edition of its newest chart, and the heights of the water.
use std::collections::HashMap;
use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

const FOLDER: &str = "@{work}/@{charts}";
const SPEEDS: [f64; 8] = [28.984, 30.0, 28.439, 15.041, 13.943, 58.984, 57.968, 30.082];

struct Shelf {
    newest: HashMap<u32, u32>,
    listed: Option<Instant>,
    looking: f64,
}

impl Shelf {
    #[inline(never)]
    fn @{fn}(&mut self) -> io::Result<()> {
        self.newest.clear();
        for entry in fs::read_dir(FOLDER)? {
            let name = entry?.file_name();
            let Some((harbour, edition)) = name.to_str().and_then(|n| Some((n.get(1..4)?, n.get(6..8)?))) else { continue };
            if let (Ok(harbour), Ok(edition)) = (harbour.parse(), edition.parse::<u32>()) {
                let known = self.newest.entry(harbour).or_insert(0);
                *known = edition.max(*known);
            }
        }
        self.listed = Some(Instant::now());
        Ok(())
    }

    fn edition(&mut self, harbour: u32) -> io::Result<u32> {
        let start = Instant::now();
        let old = |listed: Instant| listed.elapsed().as_secs_f64() > @{keep} as f64;
        if self.listed.map_or(true, old) {
            self.@{fn}()?;
        }
        self.looking += start.elapsed().as_secs_f64();
        Ok(self.newest.get(&harbour).copied().unwrap_or(0))
    }
}

fn sheet(harbour: u32, edition: u32) -> String {
    let mut text = format!("Harbour {harbour}, chart edition {edition}\n");
    for hour in 0..@{hours} * 4 {
        let at = hour as f64 / 4.0;
        let height: f64 = SPEEDS.iter().enumerate()
            .map(|(i, speed)| (speed * at + (harbour * 7 + i as u32 * 40) as f64).to_radians().cos() / (i + 1) as f64)
            .sum();
        text += &format!("{at:5.2} {height:6.2}\n");
    }
    text
}

fn main() -> io::Result<()> {
    let mut shelf = Shelf { newest: HashMap::new(), listed: None, looking: 0.0 };
    let (mut units, mut letters, mut busy) = (0u32, 0usize, 0.0);
    let began = Instant::now();
    let mut tidied = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let harbour = units * 37 % @{harbours};
        let edition = shelf.edition(harbour)?;
        letters += sheet(harbour, edition).len();
        units += 1;
        busy += start.elapsed().as_secs_f64();
        if @{tidy} as f64 > 0.0 && tidied.elapsed().as_secs_f64() > @{tidy} as f64 {
            letters += fs::read_dir(FOLDER)?.count() / 1000;
            tidied = Instant::now();
        }
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    fs::write("@{report}", format!("{{\"units\": {units}, \"letters\": {letters}, \"seconds\": {busy}, \"culprit\": {}}}", shelf.looking))
}
