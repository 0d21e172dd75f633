// A freight desk: finds the carrier that takes a load for least, and packs the load for it.
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Error, ErrorKind, Result, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

const CARRIERS: [(&str, u16); 5] = [("road", @{road}), ("rail", @{rail}), ("barge", @{barge}), ("air", @{air}), ("courier", @{courier})];

#[derive(Clone, Copy)]
struct Fare {
    cents: u64,
    arrival: u32,
}

struct Carrier {
    name: &'static str,
    line: BufReader<TcpStream>,
}

impl Carrier {
    fn connect(name: &'static str, port: u16) -> Result<Carrier> {
        let line = TcpStream::connect(("127.0.0.1", port))?;
        line.set_nodelay(true)?;
        line.set_read_timeout(Some(Duration::from_secs(8)))?;
        Ok(Carrier { name, line: BufReader::new(line) })
    }

    fn fare(&mut self, kilos: u32, from: u32) -> Result<Fare> {
        self.line.get_ref().write_all(format!("FARE {kilos} {from}\n").as_bytes())?;
        let mut answer = String::new();
        self.line.read_line(&mut answer)?;
        let words: Vec<&str> = answer.split_whitespace().collect();
        match words[..] {
            ["FARE", cents, arrival] => match (cents.parse(), arrival.parse()) {
                (Ok(cents), Ok(arrival)) => Ok(Fare { cents, arrival }),
                _ => Err(ErrorKind::InvalidData.into()),
            },
            _ => Err(Error::new(ErrorKind::InvalidData, format!("{} says {answer:?}", self.name))),
        }
    }
}

#[inline(never)]
fn @{fn}(carriers: &mut [Carrier], kilos: u32, from: u32) -> Result<Vec<Fare>> {
    if "@{order}" == "once" {
        return thread::scope(|scope| {
            let asked: Vec<_> = carriers.iter_mut().map(|carrier| scope.spawn(move || carrier.fare(kilos, from))).collect();
            asked.into_iter().map(|one| one.join().expect("a carrier's thread")).collect()
        });
    }
    let mut fares: Vec<Fare> = Vec::new();
    for carrier in carriers {
        // A relay: who takes the load on has to know when it comes.
        let from = if "@{order}" == "relay" { fares.last().map_or(from, |fare| fare.arrival) } else { from };
        fares.push(carrier.fare(kilos, from)?);
    }
    Ok(fares)
}

/// In which order the boxes go in so that least room is left: tries each pair of swaps a few times.
fn packed(load: u32) -> u64 {
    let mut boxes: Vec<u64> = (0..@{legs}).map(|i| (load as u64 * 7919 + i * 104_729) % 97 + 3).collect();
    let room = |boxes: &[u64]| boxes.chunks(4).map(|row| row.iter().max().unwrap_or(&0) * 4 - row.iter().sum::<u64>()).sum::<u64>();
    let mut least = room(&boxes);
    for _ in 0..3 {
        for i in 0..boxes.len() {
            for j in i + 1..boxes.len() {
                boxes.swap(i, j);
                let now = room(&boxes);
                if now < least {
                    least = now;
                } else {
                    boxes.swap(i, j);
                }
            }
        }
    }
    least
}

fn main() -> Result<()> {
    let mut carriers = CARRIERS.iter().map(|(name, port)| Carrier::connect(name, *port)).collect::<Result<Vec<_>>>()?;
    let mut journal = BufWriter::new(File::create("@{work}/loads.csv")?);
    let (mut units, mut busy, mut asking) = (0u32, 0.0, 0.0);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let kilos = 40 + units * 37 % 900;
        let room = packed(units);
        let asked = Instant::now();
        let fares = @{fn}(&mut carriers, kilos, units % 24)?;
        asking += asked.elapsed().as_secs_f64();
        let (best, fare) = fares.iter().enumerate().min_by_key(|(_, fare)| fare.cents).expect("there are carriers");
        writeln!(journal, "{units},{kilos},{room},{},{},{}", carriers[best].name, fare.cents, fare.arrival)?;
        busy += start.elapsed().as_secs_f64();
        units += 1;
        let rest = units as f64 / @{rate} - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    journal.flush()?;
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {asking}}}"))
}
