// Checks the patterns of a weaving mill before they go to the looms: a weft is its colour and a bit for each warp that it goes under.
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::{Duration, Instant};

const WIDTH: usize = @{width};

#[derive(Clone, Copy)]
struct Weft {
    colour: u8,
    lifts: [u8; WIDTH - 1],
}

impl Weft {
    fn of(bytes: &[u8; WIDTH]) -> Weft {
        let mut weft = Weft { colour: bytes[0] % 12, lifts: [0; WIDTH - 1] };
        weft.lifts.copy_from_slice(&bytes[1..]);
        weft
    }
}

struct Plans {
    reader: BufReader<File>,
    count: u64,
}

impl Plans {
    fn open(path: &str) -> io::Result<Plans> {
        let file = File::open(path)?;
        let count = file.metadata()?.len() / WIDTH as u64;
        Ok(Plans { reader: BufReader::with_capacity(@{block}, file), count })
    }

    fn next(&mut self) -> io::Result<Weft> {
        let mut bytes = [0; WIDTH];
        match self.reader.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.reader.seek(SeekFrom::Start(0))?;
                self.reader.read_exact(&mut bytes)?;
            }
            other => other?,
        }
        Ok(Weft::of(&bytes))
    }

    fn at(&self, place: u64) -> io::Result<Weft> {
        let mut bytes = [0; WIDTH];
        self.reader.get_ref().read_exact_at(&mut bytes, place % self.count * WIDTH as u64)?;
        Ok(Weft::of(&bytes))
    }

    #[inline(never)]
    fn @{fn}(&mut self, order: u64, cloth: &mut Vec<Weft>) -> io::Result<()> {
        cloth.clear();
        if @{single} > 0 {
            for mend in 0..@{single} {
                cloth.push(self.at((order * 7919 + mend).wrapping_mul(2_654_435_761))?);
            }
            return Ok(());
        }
        for _ in 0..@{rows} {
            cloth.push(self.next()?);
        }
        Ok(())
    }
}

#[derive(Default)]
struct Findings {
    lifted: u64,
    floats: u64,
    yarn: [u64; 12],
}

/// A warp that is not bound for long floats, and is torn soon.
fn inspect(cloth: &[Weft], findings: &mut Findings) {
    let mut loose = [0u8; WIDTH - 1];
    for weft in cloth {
        let mut lifted = 0;
        for (group, lifts) in loose.iter_mut().zip(weft.lifts) {
            lifted += lifts.count_ones();
            *group = if lifts == 0 { group.saturating_add(1) } else { 0 };
            findings.floats += u64::from(*group > 2);
        }
        findings.lifted += u64::from(lifted);
        findings.yarn[usize::from(weft.colour)] += 160 + u64::from(lifted) / 8;
    }
}

fn main() -> io::Result<()> {
    let path = std::env::args().nth(1).expect("which file?");
    let mut plans = Plans::open(&path)?;
    let (mut cloth, mut findings) = (Vec::with_capacity(@{rows}), Findings::default());
    let (mut units, mut busy, mut spent) = (0u64, 0.0, 0.0);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        plans.@{fn}(units, &mut cloth)?;
        spent += start.elapsed().as_secs_f64();
        inspect(&cloth, &mut findings);
        units += 1;
        busy += start.elapsed().as_secs_f64();
        thread::sleep(Duration::from_secs_f64(units as f64 / @{rate}).saturating_sub(began.elapsed()));
    }
    println!("{} lifts, {} floats, yarn {:?}", findings.lifted, findings.floats, findings.yarn);
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {spent}}}"))
}
