// The desk of an auction house: an estimate for each lot that an expert sends in, unless it is in the register of lost art.
use std::io::{BufRead, BufReader, Error, ErrorKind, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread;

struct Lot {
    number: u32,
    mark: u32,
    answer: Sender<String>,
}

struct Appraiser {
    register: BufReader<TcpStream>,
}

impl Appraiser {
    fn new() -> Result<Appraiser> {
        let line = TcpStream::connect(("127.0.0.1", @{register}))?;
        line.set_nodelay(true)?;
        Ok(Appraiser { register: BufReader::new(line) })
    }

    #[inline(never)]
    fn @{fn}(&mut self, lot: &Lot) -> Result<(bool, u32)> {
        self.register.get_ref().write_all(format!("SEEN {} {}\n", lot.number, lot.mark).as_bytes())?;
        let mut text = String::new();
        self.register.read_line(&mut text)?;
        let (word, score) = text.trim_end().split_once(' ').ok_or_else(|| Error::new(ErrorKind::InvalidData, "no answer"))?;
        let score = score.parse().map_err(|error| Error::new(ErrorKind::InvalidData, error))?;
        Ok((word == "LISTED", score))
    }

    fn estimate(&mut self, lot: &Lot) -> String {
        match self.@{fn}(lot) {
            Ok((true, _)) => format!("lot {}: withdrawn\n", lot.number),
            Ok((false, score)) => {
                let low = 80 + (lot.mark + score) % 4000;
                format!("lot {}: {} to {}\n", lot.number, low, low * 3 / 2)
            }
            Err(error) => {
                eprintln!("lot {}: {error}", lot.number);
                format!("lot {}: later\n", lot.number)
            }
        }
    }
}

/// Brush, canvas, frame: what a photograph says of the work.
fn mark(number: u32) -> u32 {
    let mut sum = 0.0f64;
    for feature in 0..@{features} * 300u32 {
        sum += (f64::from(number) * f64::from(feature)).sin() * f64::from(feature).cos();
    }
    (sum.abs() * 1000.0) as u32 % 100_000
}

fn work(lots: Arc<Mutex<Receiver<Lot>>>) -> Result<()> {
    let mut appraiser = Appraiser::new()?;
    loop {
        let next = lots.lock().unwrap().recv();
        let Ok(lot) = next else { return Ok(()) };
        let _ = lot.answer.send(appraiser.estimate(&lot));
    }
}

fn serve(expert: TcpStream, lots: SyncSender<Lot>) -> Result<()> {
    expert.set_nodelay(true)?;
    let (answer, answers) = channel();
    for line in BufReader::new(expert.try_clone()?).lines() {
        let line = line?;
        let Some(number) = line.strip_prefix("lot ").and_then(|word| word.parse().ok()) else {
            (&expert).write_all(b"no such lot\n")?;
            continue;
        };
        let lot = Lot { number, mark: mark(number), answer: answer.clone() };
        if lots.send(lot).is_err() {
            break;
        }
        if let Ok(text) = answers.recv() {
            (&expert).write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let (lots, queue) = sync_channel::<Lot>(@{room});
    let queue = Arc::new(Mutex::new(queue));
    for number in 0..@{workers} {
        let queue = queue.clone();
        thread::Builder::new().name(format!("appraiser-{number}")).spawn(move || {
            if let Err(error) = work(queue) {
                eprintln!("appraiser: {error}");
            }
        })?;
    }
    for expert in TcpListener::bind(("127.0.0.1", @{port}))?.incoming() {
        let (expert, lots) = (expert?, lots.clone());
        thread::spawn(move || {
            if let Err(error) = serve(expert, lots) {
                eprintln!("expert: {error}");
            }
        });
    }
    Ok(())
}
