//! The controller of a wine cellar's tanks: reads the thermometers, reckons for each tank how far the valve of its cooling is to be opened, and how far the must is.
use std::fmt::Arguments;
use std::fs::{read_to_string, write, File, OpenOptions};
use std::io::{BufWriter, Result, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Debug,
    Info,
}

struct Logger {
    out: BufWriter<File>,
    level: Level,
    took: f64,
}

impl Logger {
    fn open(path: &str, level: Level) -> Result<Logger> {
        let out = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Logger { out: BufWriter::with_capacity(65536, out), level, took: 0.0 })
    }

    #[inline(never)]
    fn @{fn}(&mut self, level: Level, text: Arguments) -> Result<()> {
        if level < self.level {
            return Ok(());
        }
        let start = Instant::now();
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let second = time.as_secs() % 86400;
        let name = if level == Level::Debug { "DEBUG" } else { "INFO" };
        let (hours, minutes) = (second / 3600, second / 60 % 60);
        writeln!(self.out, "{:02}:{:02}:{:02}.{:06}Z {:<5} cellar {}", hours, minutes, second % 60, time.subsec_micros(), name, text)?;
        self.took += start.elapsed().as_secs_f64();
        Ok(())
    }

    fn scan_done(&mut self) -> Result<()> {
        let start = Instant::now();
        self.out.flush()?;
        self.took += start.elapsed().as_secs_f64();
        Ok(())
    }
}

struct Tank {
    number: u32,
    wanted: f64,
    litres: f64,
    read: f64,
    sugar: f64,
    sum: f64,
    last: f64,
    valve: f64,
}

impl Tank {
    fn parse(line: &str) -> Option<Tank> {
        let mut words = line.split_whitespace();
        let number: u32 = words.next()?.parse().ok()?;
        let wanted: f64 = words.next()?.parse().ok()?;
        let litres = words.next()?.parse().ok()?;
        Some(Tank { number, wanted, litres, read: wanted + 3.0, sugar: f64::from(190 + number % 40), sum: 0.0, last: 0.0, valve: 0.0 })
    }

    /// What the thermometer says: the must warms itself by what ferments, and is cooled by what the valve lets through.
    fn read(&mut self, scan: u64) {
        for _ in 0..60 {
            let rate = 0.00002 * self.sugar * ((self.read - 18.0) / 9.0).exp();
            self.sugar -= rate / 60.0;
            self.read += (rate * 6.0 - self.valve * 90.0 / self.litres) / 60.0;
        }
        self.read += 0.02 * (scan as f64 * 0.7 + f64::from(self.number)).sin();
        if self.sugar < 20.0 {
            self.sugar = 190.0;
        }
    }

    fn control(&mut self, log: &mut Logger) -> Result<()> {
        let off = self.read - self.wanted;
        let slope = off - self.last;
        let number = self.number;
        log.@{fn}(Level::Debug, format_args!("tank={number} read temperature={:.4} wanted={:.2} sugar={:.3} litres={:.0}", self.read, self.wanted, self.sugar, self.litres))?;
        self.sum = (self.sum + off).clamp(-50.0, 50.0);
        self.last = off;
        let (proportional, integral, differential) = (off * @{gain}, self.sum * 0.02, slope * 0.5);
        log.@{fn}(Level::Debug, format_args!("tank={number} control proportional={proportional:.5} integral={integral:.5} differential={differential:.5}"))?;
        self.valve = (proportional + integral + differential).clamp(0.0, 1.0);
        log.@{fn}(Level::Debug, format_args!("tank={number} valve position={:.4} alcohol={:.3} left_hours={:.1}", self.valve, (230.0 - self.sugar) / 17.0, self.sugar / 0.4))
    }
}

struct Cellar {
    log: Logger,
    summary: u64,
    tanks: Vec<Tank>,
    scans: u64,
}

impl Cellar {
    fn open() -> Result<Cellar> {
        let (mut level, mut summary) = (Level::Info, 100);
        for line in read_to_string("@{work}/cellar.conf")?.lines() {
            match line.split_once(" = ") {
                Some(("level", "DEBUG")) => level = Level::Debug,
                Some(("summary", count)) => summary = count.parse().unwrap_or(summary),
                _ => (),
            }
        }
        let tanks = read_to_string("@{work}/tanks.txt")?.lines().filter_map(Tank::parse).collect();
        Ok(Cellar { log: Logger::open("@{work}/@{log}", level)?, summary, tanks, scans: 0 })
    }

    fn scan(&mut self) -> Result<()> {
        let (mut warmest, mut valves) = (0f64, 0f64);
        for tank in &mut self.tanks {
            tank.read(self.scans);
            tank.control(&mut self.log)?;
            warmest = warmest.max(tank.read);
            valves += tank.valve;
        }
        self.scans += 1;
        if self.scans % self.summary == 0 {
            let cooling = valves / self.tanks.len() as f64;
            self.log.@{fn}(Level::Info, format_args!("scan={} tanks={} warmest={warmest:.2} cooling={cooling:.2}", self.scans, self.tanks.len()))?;
        }
        self.log.scan_done()
    }
}

fn main() -> Result<()> {
    let mut cellar = Cellar::open()?;
    let (mut units, mut busy) = (0u64, 0f64);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        cellar.scan()?;
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}}}", cellar.log.took))
}
