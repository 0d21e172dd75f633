// Takes messages in: each is a file of the queue from which others send it on.
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static OVER: AtomicBool = AtomicBool::new(false);

struct Intake {
    folder: PathBuf,
    kept: VecDeque<PathBuf>,
    number: u64,
}

impl Intake {
    #[inline(never)]
    fn put(&mut self, text: &[u8]) -> std::io::Result<()> {
        self.number += 1;
        let (draft, path) = (self.folder.join("draft"), self.folder.join(format!("{:06}", self.number)));
        File::create(&draft)?.write_all(text)?;
        fs::rename(&draft, &path)?;
        // Who sends them on is done with the older ones.
        self.kept.push_back(path);
        if self.kept.len() > 20 {
            fs::remove_file(self.kept.pop_front().unwrap())?;
        }
        Ok(())
    }
}

fn compose(number: u64) -> Vec<u8> {
    let until = Instant::now() + Duration::from_secs_f64(@{effort} as f64 / 1000.0);
    let mut text = vec![b'.'; @{bytes}];
    let mut state = number | 1;
    while Instant::now() < until {
        for byte in text.iter_mut().step_by(16) {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *byte = 32 + (state >> 58) as u8;
        }
    }
    text
}

fn intake(which: u64) -> std::io::Result<(u64, f64, f64)> {
    let folder = Path::new("@{work}/@{volume}/@{queue}").join(which.to_string());
    fs::create_dir_all(&folder)?;
    let mut intake = Intake { folder, kept: VecDeque::new(), number: 0 };
    let (mut units, mut busy, mut putting) = (0, 0.0, 0.0);
    let period = Duration::from_secs_f64(1.0 / @{rate} as f64);
    let mut due = Instant::now() + period / (which as u32 + 1);
    while !OVER.load(Ordering::Relaxed) {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let start = Instant::now();
        let text = compose(units * 31 + which);
        let before = Instant::now();
        intake.put(&text)?;
        putting += before.elapsed().as_secs_f64();
        busy += start.elapsed().as_secs_f64();
        units += 1;
        due = (due + period).max(Instant::now());
    }
    Ok((units, busy, putting))
}

#[inline(never)]
fn @{fn}(state: &[u8]) -> std::io::Result<()> {
    let folder = Path::new("@{work}/@{dumps}");
    fs::create_dir_all(folder)?;
    let draft = folder.join("@{dump}.new");
    let mut out = File::create(&draft)?;
    for part in state.chunks(1 << 18) {
        out.write_all(part)?;
    }
    out.sync_all()?;
    fs::rename(draft, folder.join("@{dump}"))
}

// The names in the queue are on the disk then; all that came since the last time, at once.
fn seal() -> std::io::Result<()> {
    let folder = File::open("@{work}/@{volume}/@{queue}")?;
    while !OVER.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_secs_f64(@{beat} as f64));
        folder.sync_all()?;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    fs::create_dir_all("@{work}/@{volume}/@{queue}")?;
    let sealer = std::thread::spawn(seal);
    let state: Vec<u8> = (0..@{kb}usize * 1024).map(|i| (i * i >> 7) as u8).collect();
    let dumper = std::thread::spawn(move || -> std::io::Result<()> {
        while !OVER.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_secs_f64((@{gap} as f64).min(@{seconds} as f64 / 2.0)));
            @{fn}(&state)?;
        }
        Ok(())
    });
    let intakes: Vec<_> = (0..@{intakes}).map(|which| std::thread::spawn(move || intake(which))).collect();
    std::thread::sleep(Duration::from_secs_f64(@{seconds} as f64));
    OVER.store(true, Ordering::Relaxed);
    let mut sum = (0, 0.0, 0.0);
    for each in intakes {
        let (units, busy, putting) = each.join().unwrap()?;
        sum = (sum.0 + units, sum.1 + busy, sum.2 + putting);
    }
    dumper.join().unwrap()?;
    sealer.join().unwrap()?;
    fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", sum.0, sum.1, sum.2))
}
