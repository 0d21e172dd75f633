// Counts the kilometres of rented vans from the positions that they send.
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::time::{Duration, Instant};

const ROW: usize = 16;
const RING: u64 = @{ring_kb} << 10;

#[derive(Clone, Copy, Default)]
struct Van {
    metres: f64,
    x: f32,
    y: f32,
}

struct Ledger {
    vans: Vec<Van>,
    /// What the file has to be.
    image: Vec<u8>,
    file: File,
    place: u64,
    spent: Duration,
}

impl Ledger {
    fn open(path: &str) -> std::io::Result<Ledger> {
        let file = OpenOptions::new().create(true).truncate(true).read(true).write(true).open(path)?;
        Ok(Ledger { vans: vec![Van::default(); @{vehicles}], image: vec![0; @{vehicles} * ROW], file, place: 0, spent: Duration::ZERO })
    }

    fn row(van: &Van, into: &mut Vec<u8>) {
        into.extend_from_slice(&van.metres.to_le_bytes());
        into.extend_from_slice(&van.x.to_le_bytes());
        into.extend_from_slice(&van.y.to_le_bytes());
    }

    /// What is in memory goes to the file: after a crash it is read from there.
    #[inline(never)]
    fn @{fn}(&mut self) -> std::io::Result<()> {
        let start = Instant::now();
        self.file.write_all_at(&self.image, 0)?;
        self.spent += start.elapsed();
        Ok(())
    }

    /// Only what has changed; the oldest goes for it.
    fn note(&mut self, changed: &[usize]) -> std::io::Result<()> {
        let mut bytes = Vec::with_capacity(changed.len() * (ROW + 8));
        for number in changed {
            bytes.extend_from_slice(&(*number as u64).to_le_bytes());
            Ledger::row(&self.vans[*number], &mut bytes);
        }
        if self.place + bytes.len() as u64 > RING {
            self.place = 0;
        }
        let start = Instant::now();
        self.file.write_all_at(&bytes, self.place)?;
        self.spent += start.elapsed();
        self.place += bytes.len() as u64;
        Ok(())
    }

    fn drive(&mut self, line: &str) -> Option<usize> {
        let mut fields = line.split(';');
        let number: usize = fields.next()?.parse().ok()?;
        let mut van = *self.vans.get(number)?;
        for field in fields {
            let (x, y) = field.split_once(',')?;
            let (x, y): (f32, f32) = (x.parse().ok()?, y.parse().ok()?);
            van.metres += (((x - van.x).powi(2) + (y - van.y).powi(2)) as f64).sqrt();
            van.x = x;
            van.y = y;
        }
        self.vans[number] = van;
        let mut bytes = Vec::with_capacity(ROW);
        Ledger::row(&van, &mut bytes);
        self.image[number * ROW..][..ROW].copy_from_slice(&bytes);
        Some(number)
    }

    fn take(&mut self, batch: &[String]) -> std::io::Result<()> {
        let mut changed = Vec::new();
        for line in batch {
            let Some(number) = self.drive(line) else { continue };
            changed.push(number);
            if "@{save}" == "each" {
                self.@{fn}()?;
            }
        }
        match "@{save}" {
            "batch" => self.@{fn}(),
            "ring" => self.note(&changed),
            _ => Ok(()),
        }
    }
}

fn antenna(batches: SyncSender<Vec<String>>) {
    let mut due = Instant::now();
    for number in 0usize.. {
        let batch = (0..@{positions}usize)
            .map(|i| {
                let van = (number * 31 + i * 7) % @{vehicles};
                let points: Vec<String> = (0..@{points}).map(|p| format!("{}.5,{}.25", (van + p * 3) % 900, (number + p * 5) % 700)).collect();
                format!("{van};{}", points.join(";"))
            })
            .collect();
        due = (due + Duration::from_secs_f64(1.0 / @{rate})).max(Instant::now());
        std::thread::sleep(due - Instant::now());
        if batches.send(batch).is_err() {
            return;
        }
    }
}

fn work(batches: Receiver<Vec<String>>) -> std::io::Result<()> {
    let mut ledger = Ledger::open("@{work}/@{table}")?;
    let (mut units, mut busy, began) = (0u64, Duration::ZERO, Instant::now());
    while began.elapsed().as_secs_f64() < @{seconds} {
        let Ok(batch) = batches.recv() else { break };
        let start = Instant::now();
        ledger.take(&batch)?;
        busy += start.elapsed();
        units += 1;
        if units % 100 == 0 {
            println!("{units} batches, van 0 has gone {:.1} m", ledger.vans[0].metres);
        }
    }
    let text = format!("{{\"units\": {}, \"seconds\": {:.6}, \"culprit\": {:.6}}}", units, busy.as_secs_f64(), ledger.spent.as_secs_f64());
    File::create("@{report}")?.write_all(text.as_bytes())
}

fn main() -> std::io::Result<()> {
    let (sender, receiver) = sync_channel(1);
    std::thread::Builder::new().name("antenna".into()).spawn(move || antenna(sender))?;
    work(receiver)
}
