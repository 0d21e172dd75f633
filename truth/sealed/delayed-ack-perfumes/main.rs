//! Mixes perfumes: works out what a customer's recipe needs, and has it dispensed, dose by dose.
use std::io::{BufReader, Error, Read, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use std::{fs, thread};

struct Dispenser {
    line: BufReader<TcpStream>,
    number: u32,
}

impl Dispenser {
    fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(@{now} == 1)?;
        Ok(Self { line: BufReader::new(stream), number: 0 })
    }

    #[inline(never)]
    fn @{fn}(&mut self, dose: &str) -> Result<String> {
        self.number += 1;
        let mut message = self.number.to_be_bytes().to_vec();
        message.extend_from_slice(&(dose.len() as u32).to_be_bytes());
        let stream = self.line.get_mut();
        if @{together} == 1 {
            message.extend_from_slice(dose.as_bytes());
            stream.write_all(&message)?;
        } else {
            stream.write_all(&message)?;
            stream.write_all(dose.as_bytes())?;
        }
        if self.word()? != self.number {
            return Err(Error::other("an answer to another dose"));
        }
        let mut text = vec![0; self.word()? as usize];
        self.line.read_exact(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn word(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        self.line.read_exact(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }
}

/// The n-th dose of a recipe: the drops follow from how volatile the essences are.
fn dose(recipe: u32, nth: u32) -> String {
    let volatility: f64 = (1..=3000).map(|i| (-f64::from(i) / (10.0 + f64::from(recipe % 17))).exp() * f64::from(nth * i).cos()).sum();
    let drops = 3 + (volatility * 7.0).abs() as u32 % 40;
    format!("essence{};{};{}", (recipe * 5 + nth) % @{essences}, drops, "warm ".repeat(@{note} / 5))
}

fn main() -> Result<()> {
    let mut dispenser = Dispenser::open(@{port})?;
    let began = Instant::now();
    let (mut units, mut busy, mut spent, mut last) = (0u32, 0.0, 0.0, String::new());
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        for nth in 0..@{doses} {
            let wanted = dose(units, nth);
            let asked = Instant::now();
            last = dispenser.@{fn}(&wanted)?;
            spent += asked.elapsed().as_secs_f64();
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = f64::from(units) / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    eprintln!("{units} recipes; {last}");
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {spent}}}"))
}
