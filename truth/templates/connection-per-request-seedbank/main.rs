// The drying room of a seed bank: estimates how many seeds of a lot will come up, and has the lot entered in the registry.
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[derive(Clone)]
struct Lot {
    number: u32,
    genus: String,
    grams: u32,
    days: Vec<f64>,
    share: f64,
    accession: String,
}

impl Lot {
    fn parse(row: &str) -> Option<Lot> {
        let mut cells = row.split(';');
        let number = cells.next()?.parse().ok()?;
        let genus = cells.next()?.to_string();
        let grams = cells.next()?.parse().ok()?;
        let days = cells.filter_map(|cell| cell.parse().ok()).collect();
        Some(Lot { number, genus, grams, days, share: 0.0, accession: String::new() })
    }

    // The curve that fits the counts of the days best; where it ends is the share.
    fn estimate(&mut self) {
        let steps = @{fits} * 30;
        let mut least = f64::MAX;
        for step in 1..=steps {
            let top = step as f64 * 100.0 / steps as f64;
            let sum: f64 = self.days.iter().enumerate().map(|(day, count)| (count - top / (1.0 + (6.0 - day as f64).exp())).powi(2)).sum();
            if sum < least {
                least = sum;
                self.share = top;
            }
        }
    }
}

struct Session {
    line: BufReader<TcpStream>,
}

impl Session {
    fn expect(&mut self, code: &str) -> io::Result<String> {
        let mut text = String::new();
        if self.line.read_line(&mut text)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match text.trim_end().strip_prefix(code) {
            Some(rest) => Ok(rest.trim_start().to_string()),
            None => Err(io::Error::new(io::ErrorKind::InvalidData, text)),
        }
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        self.line.get_mut().write_all(text.as_bytes())
    }
}

struct Registry {
    address: &'static str,
    stays: bool,
    session: Option<Session>,
    spent: Duration,
}

impl Registry {
    #[inline(never)]
    fn @{fn}(&mut self) -> io::Result<Session> {
        let start = Instant::now();
        let line = TcpStream::connect(self.address)?;
        line.set_nodelay(true)?;
        let mut session = Session { line: BufReader::new(line) };
        session.expect("220")?;
        session.say("HELO drying-room\r\n")?;
        session.expect("250")?;
        self.spent += start.elapsed();
        Ok(session)
    }

    fn leave(&mut self, mut session: Session) -> io::Result<()> {
        let start = Instant::now();
        session.say("QUIT\r\n")?;
        session.expect("221")?;
        drop(session);
        self.spent += start.elapsed();
        Ok(())
    }

    fn enter(&mut self, lots: &mut [Lot]) -> io::Result<()> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.@{fn}()?,
        };
        let mut text = String::new();
        for lot in lots.iter() {
            let _ = write!(text, "LOT {} {} {} {:.1}\r\n", lot.number, lot.genus, lot.grams, lot.share);
        }
        session.say(&text)?;
        for lot in lots.iter_mut() {
            lot.accession = session.expect("251")?;
        }
        if self.stays {
            self.session = Some(session);
            return Ok(());
        }
        self.leave(session)
    }
}

fn main() -> io::Result<()> {
    let sheet: Vec<Lot> = fs::read_to_string("@{work}/@{sheet}")?.lines().filter_map(Lot::parse).collect();
    let mut registry = Registry { address: "127.0.0.1:@{port}", stays: "@{session}" == "stays", session: None, spent: Duration::ZERO };
    let mut tray: Vec<Lot> = Vec::new();
    let (mut units, mut busy) = (0usize, Duration::ZERO);
    let mut last = String::new();
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let mut lot = sheet[units % sheet.len()].clone();
        lot.estimate();
        tray.push(lot);
        units += 1;
        if tray.len() >= @{lots} {
            registry.enter(&mut tray)?;
            last = tray.drain(..).last().map(|lot| lot.accession).unwrap_or_default();
        }
        busy += start.elapsed();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let start = Instant::now();
    if !tray.is_empty() {
        registry.enter(&mut tray)?;
    }
    busy += start.elapsed();
    println!("{units} lots, the last is {last}");
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), registry.spent.as_secs_f64());
    fs::write("@{report}", report)
}
