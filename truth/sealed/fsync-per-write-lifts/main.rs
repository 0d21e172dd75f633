// The control room of a company that looks after lifts.
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::net::UnixDatagram;
use std::sync::mpsc::{sync_channel, Receiver};
use std::thread;
use std::time::{Duration, Instant};

#[derive(PartialEq)]
enum Safe {
    Event,
    Burst,
    Clock,
}

#[derive(Default)]
struct Sums {
    units: u64,
    busy: Duration,
    safe: Duration,
}

struct Book {
    file: File,
    count: u64,
    safe: Safe,
    sums: Sums,
    kept: Instant,
}

impl Book {
    fn open(building: usize) -> std::io::Result<Book> {
        let path = format!("@{work}/@{books}/building-{building}@{book}");
        let safe = match "@{safe}" {
            "event" => Safe::Event,
            "burst" => Safe::Burst,
            _ => Safe::Clock,
        };
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Book { file, count: 0, safe, sums: Sums::default(), kept: Instant::now() })
    }

    #[inline(never)]
    fn @{fn}(&mut self, event: &str) -> std::io::Result<()> {
        self.count += 1;
        let mark = event.bytes().fold(0xcbf29ce484222325u64, |mark, byte| (mark ^ u64::from(byte)).wrapping_mul(0x100000001b3));
        self.file.write_all(format!("{:08} {mark:016x} {event}\n", self.count).as_bytes())?;
        if self.safe == Safe::Event {
            self.keep_safe()?;
        }
        Ok(())
    }

    fn keep_safe(&mut self) -> std::io::Result<()> {
        let start = Instant::now();
        self.file.sync_data()?;
        self.sums.safe += start.elapsed();
        self.kept = Instant::now();
        Ok(())
    }

    fn burst(&mut self, text: &str) -> std::io::Result<()> {
        let start = Instant::now();
        for event in text.lines() {
            self.@{fn}(event)?;
        }
        let is_due = self.kept.elapsed().as_secs_f64() > f64::from(@{period}f32);
        if self.safe == Safe::Burst || self.safe == Safe::Clock && is_due {
            self.keep_safe()?;
        }
        self.sums.units += 1;
        self.sums.busy += start.elapsed();
        Ok(())
    }
}

fn keep(building: usize, bursts: Receiver<String>) -> Sums {
    let mut book = Book::open(building).expect("the book");
    for text in bursts {
        if let Err(error) = book.burst(&text) {
            eprintln!("building {building}: {error}");
        }
    }
    book.sums
}

fn main() -> std::io::Result<()> {
    let (desks, keepers): (Vec<_>, Vec<_>) = (0..@{buildings})
        .map(|building| {
            let (desk, bursts) = sync_channel(8);
            let name = format!("book-{building}");
            (desk, thread::Builder::new().name(name).spawn(move || keep(building, bursts)).unwrap())
        })
        .unzip();
    let room = UnixDatagram::bind("@{work}/room.sock")?;
    room.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut parts = vec![String::new(); @{buildings}];
    let mut buffer = vec![0; 65536];
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let size = room.recv(&mut buffer)?;
        let text = String::from_utf8_lossy(&buffer[..size]);
        let mut words = text.splitn(3, ' ');
        let building: usize = words.next().unwrap_or("0").parse().unwrap_or(0);
        let is_last = words.next() == Some("=");
        parts[building].push_str(words.next().unwrap_or(""));
        if is_last && desks[building].send(std::mem::take(&mut parts[building])).is_err() {
            break;
        }
    }
    drop(desks);
    let mut all = Sums::default();
    for keeper in keepers {
        let sums = keeper.join().unwrap();
        all.units += sums.units;
        all.busy += sums.busy;
        all.safe += sums.safe;
    }
    let (busy, safe) = (all.busy.as_secs_f64(), all.safe.as_secs_f64());
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {busy:.6}, \"culprit\": {safe:.6}}}", all.units))
}
