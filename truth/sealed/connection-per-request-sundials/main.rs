//! Checks sundials that were made: how far each line is off the shadow that the almanac foretells.
use std::io::{BufRead, BufReader, Error, ErrorKind, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

#[derive(Default)]
struct Almanac {
    session: Option<BufReader<TcpStream>>,
    asked: u64,
    opening: Duration,
}

fn line(from: &mut BufReader<TcpStream>) -> Result<String> {
    let mut text = String::new();
    from.read_line(&mut text)?;
    Ok(text.trim_end().to_string())
}

impl Almanac {
    #[inline(never)]
    fn @{fn}(&mut self) -> Result<BufReader<TcpStream>> {
        let start = Instant::now();
        self.session = None;
        let stream = TcpStream::connect("127.0.0.1:@{port}")?;
        stream.set_nodelay(true)?;
        let mut session = BufReader::new(stream);
        let hello = line(&mut session)?;
        let key: String = hello.chars().rev().take(16).collect();
        session.get_mut().write_all(format!("LOGIN @{user} {key}\n").as_bytes())?;
        if line(&mut session)? != "OK" {
            return Err(Error::from(ErrorKind::PermissionDenied));
        }
        self.asked = 0;
        self.opening += start.elapsed();
        Ok(session)
    }

    fn sun(&mut self, day: u64, hour: f64, latitude: f64) -> Result<(f64, f64)> {
        if self.asked >= @{keep} {
            self.session = None;
        }
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.@{fn}()?,
        };
        self.asked += 1;
        session.get_mut().write_all(format!("SUN {day} {hour:.2} {latitude:.2}\n").as_bytes())?;
        let answer = line(&mut session)?;
        self.session = Some(session);
        let (height, shadow) = answer.split_once(' ').ok_or(ErrorKind::InvalidData)?;
        let number = |text: &str| text.parse().map_err(|_| Error::from(ErrorKind::InvalidData));
        Ok((number(height)?, number(shadow)?))
    }
}

/// The line as it was measured on the stone, point by point, against the one it ought to be.
fn off(shadow: f64, height: f64, seed: u64) -> f64 {
    let mut chance = seed | 1;
    let mut worst = 0.0f64;
    for step in 0..@{engrave} * 400u64 {
        chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let slip = (chance >> 40) as f64 / 1e9;
        let reach = step as f64 / (0.2 + height.abs());
        let (x, y) = (reach * (shadow + slip).cos(), reach * (shadow + slip).sin());
        worst = worst.max((y.atan2(x) - shadow).abs());
    }
    worst
}

fn main() -> Result<()> {
    let mut almanac = Almanac::default();
    let (mut units, mut busy, mut worst) = (0u64, Duration::ZERO, 0.0f64);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        for hour in 0..@{lines} {
            let latitude = 30.0 + (units * 37 % 300) as f64 / 10.0;
            let (height, shadow) = almanac.sun(units % 365, 8.0 + hour as f64 * 8.0 / @{lines} as f64, latitude)?;
            worst = worst.max(off(shadow, height, units));
        }
        units += 1;
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(1.0 / @{per_s}).saturating_sub(start.elapsed()));
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}, \"worst\": {worst}}}", busy.as_secs_f64(), almanac.opening.as_secs_f64());
    std::fs::write("@{report}", report)
}
