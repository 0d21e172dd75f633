//! Survey of a glacier: samples of the stations along a transect, and the melt that follows from them.
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::{mpsc, Arc, Mutex};
use std::time::{Duration, Instant};

const STATIONS: [u16; 3] = [@{moraine}, @{mast}, @{stakes}];
const LIMIT: f64 = @{limit} as f64;

#[derive(Default)]
struct Tally {
    units: u64,
    busy: f64,
    lost: f64,
    at: Option<Instant>,
    asked: Option<Instant>,
    lines: Vec<String>,
}

struct Station {
    port: u16,
    link: Option<BufReader<TcpStream>>,
}

struct Sample {
    temperature: f64,
    height: f64,
    battery: u32,
}

impl Station {
    fn dial(&mut self) -> std::io::Result<()> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_nodelay(true)?;
        if LIMIT > 0.0 {
            stream.set_read_timeout(Some(Duration::from_secs_f64(LIMIT)))?;
        }
        self.link = Some(BufReader::new(stream));
        Ok(())
    }

    #[inline(never)]
    fn @{fn}(&mut self, transect: u64) -> std::io::Result<Sample> {
        if self.link.is_none() {
            self.dial()?;
        }
        let link = self.link.as_mut().unwrap();
        link.get_mut().write_all(format!("SAMPLE {transect}\n").as_bytes())?;
        let mut line = String::new();
        if link.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        Ok(Sample { temperature: numbers[0], height: numbers[1], battery: numbers[2] as u32 })
    }
}

fn melt(sample: &Sample) -> f64 {
    let mut ice = sample.height / 20.0;
    for hour in 0..@{steps} * 20 {
        let sun = (hour as f64 * std::f64::consts::PI / 12.0).sin();
        ice -= 0.0004 * (sample.temperature + 6.0 * sun).max(0.0);
        if hour % 31 == 7 {
            ice += 0.0002;
        }
    }
    ice
}

fn survey(stations: &mut [Station], transect: u64, tally: &Mutex<Tally>) -> String {
    let (mut balance, mut weak, mut heard) = (0.0, 0, 0);
    for station in stations {
        for _ in 0..2 {
            let asked = Instant::now();
            tally.lock().unwrap().asked = Some(asked);
            let answer = station.@{fn}(transect);
            let mut tally = tally.lock().unwrap();
            tally.asked = None;
            match answer {
                Ok(sample) => {
                    drop(tally);
                    balance += melt(&sample);
                    heard += 1;
                    weak += (sample.battery < 65) as u32;
                    break;
                }
                Err(_) => {
                    tally.lost += asked.elapsed().as_secs_f64();
                    station.link = None;
                }
            }
        }
    }
    format!("{transect} {:.2} {weak}", balance / heard.max(1) as f64)
}

fn listen() {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", STATIONS[2])) else { return };
    let _ = stream.write_all(b"ALARMS\n");
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        eprintln!("{line}");
    }
}

fn main() {
    let (plan, transects) = mpsc::channel::<u64>();
    let transects = Arc::new(Mutex::new(transects));
    let crew: Vec<Arc<Mutex<Tally>>> = (0..@{surveyors}).map(|_| Arc::default()).collect();
    for tally in crew.iter().cloned() {
        let transects = transects.clone();
        std::thread::spawn(move || {
            let mut stations: Vec<Station> = STATIONS.iter().map(|&port| Station { port, link: None }).collect();
            loop {
                let Ok(transect) = transects.lock().unwrap().recv() else { return };
                let start = Instant::now();
                tally.lock().unwrap().at = Some(start);
                let line = survey(&mut stations, transect, &tally);
                let mut tally = tally.lock().unwrap();
                tally.at = None;
                tally.busy += start.elapsed().as_secs_f64();
                tally.units += 1;
                tally.lines.push(line);
            }
        });
    }
    if @{alarms} == 1 {
        std::thread::spawn(listen);
    }
    let (began, mut transect) = (Instant::now(), 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        transect += 1;
        plan.send(transect).unwrap();
        let due = Duration::from_secs_f64(transect as f64 / @{rate} as f64);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let (mut units, mut busy, mut lost) = (0, 0.0, 0.0);
    for tally in &crew {
        let tally = tally.lock().unwrap();
        units += tally.units;
        busy += tally.busy + tally.at.map_or(0.0, |at| at.elapsed().as_secs_f64());
        lost += tally.lost + tally.asked.map_or(0.0, |at| at.elapsed().as_secs_f64());
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {lost}}}")).unwrap();
    std::process::exit(0);
}
