// Imports what the loggers in the greenhouses of a nursery have recorded: one file for each bed.
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HEAD: usize = @{head};
const REST: [usize; 4] = [@{short}, @{long}, @{short}, @{short} + 8];

#[derive(Default)]
struct Bed {
    warmth: u64,
    wet: u32,
    by_kind: BTreeMap<u8, u32>,
}

struct Importer {
    spent: Duration,
}

impl Importer {
    /// The records of one bed; a logger that lost its power leaves a last one that is cut off.
    #[inline(never)]
    fn @{fn}<R: Read>(&mut self, from: &mut R, most: usize) -> io::Result<Bed> {
        let mut bed = Bed::default();
        let mut head = [0u8; HEAD];
        let mut rest = [0u8; @{long} + 48];
        let mut count = 0;
        while most == 0 || count < most {
            let kind = match from.read_exact(&mut head) {
                Ok(()) => head[0] & 3,
                Err(end) if end.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(other) => return Err(other),
            };
            let rest = &mut rest[..REST[kind as usize]];
            if from.read_exact(rest).is_err() {
                break;
            }
            bed.warmth += u16::from_le_bytes([rest[2], rest[3]]) as u64;
            bed.wet += (rest[5] > 200) as u32;
            *bed.by_kind.entry(kind).or_default() += 1;
            count += 1;
        }
        Ok(bed)
    }

    fn import(&mut self, path: &Path) -> io::Result<Bed> {
        let file = File::open(path)?;
        let start = Instant::now();
        let bed = if @{buffer} > 0 {
            self.@{fn}(&mut BufReader::with_capacity(@{buffer}, file), @{used})
        } else {
            self.@{fn}(&mut &file, @{used})
        };
        if @{buffer} == 0 {
            self.spent += start.elapsed();
        }
        bed
    }
}

fn main() -> io::Result<()> {
    let inbox = std::env::args().nth(1).expect("the folder of the loggers");
    let mut beds: Vec<PathBuf> = fs::read_dir(inbox)?.map(|entry| entry.unwrap().path()).collect();
    beds.sort();
    let mut importer = Importer { spent: Duration::ZERO };
    let (mut units, mut busy, mut thirsty) = (0usize, Duration::ZERO, 0);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let bed = importer.import(&beds[units % beds.len()])?;
        if bed.wet < 10 || bed.warmth / (1 + bed.by_kind.values().sum::<u32>() as u64) > 40000 {
            thirsty += 1;
        }
        units += 1;
        busy += start.elapsed();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    println!("{thirsty} beds to water");
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), importer.spent.as_secs_f64());
    fs::write("@{report}", text)
}
