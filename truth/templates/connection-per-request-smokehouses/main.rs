//! Controls smokehouses: for each batch the next step of its recipe, and from it the course of the heat.
use std::io::{BufRead, BufReader, Error, ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

type Answer = Result<Vec<f64>, Error>;

/// A signed-in line to the recipes.
struct Line {
    out: TcpStream,
    lines: BufReader<TcpStream>,
    left: u32,
}

impl Line {
    #[inline(never)]
    fn @{fn}() -> Result<Line, Error> {
        let out = TcpStream::connect("127.0.0.1:@{port}")?;
        out.set_nodelay(true)?;
        let mut line = Line { lines: BufReader::new(out.try_clone()?), out, left: @{uses} };
        let greeting = line.read()?;
        let salt = greeting.split(' ').nth(2).ok_or(ErrorKind::InvalidData)?;
        let proof = salt.bytes().fold(5381u64, |sum, byte| sum.wrapping_mul(33) ^ byte as u64);
        line.out.write_all(format!("user @{user} {proof:x}\n").as_bytes())?;
        line.read()?;
        Ok(line)
    }

    fn read(&mut self) -> Result<String, Error> {
        let mut text = String::new();
        self.lines.read_line(&mut text)?;
        if text.starts_with('2') { Ok(text.trim_end().to_string()) } else { Err(Error::new(ErrorKind::Other, text)) }
    }
}

struct Recipes {
    line: Option<Line>,
    spent: Duration,
}

impl Recipes {
    fn ask(&mut self, question: &str) -> Answer {
        let start = Instant::now();
        let mut line = match self.line.take() {
            Some(line) => line,
            None => Line::@{fn}()?,
        };
        self.spent += start.elapsed();
        line.out.write_all(question.as_bytes())?;
        let answer = line.read()?;
        line.left -= 1;
        if line.left > 0 {
            self.line = Some(line);
        }
        Ok(answer.split(' ').filter_map(|word| word.parse().ok()).skip(1).collect())
    }
}

fn course(step: &[f64], from: f64) -> f64 {
    let mut heat = from;
    for minute in 0..@{grain} * 60 {
        heat += (step[0] - heat) * 0.01 + (minute as f64 * step[1]).sin() * 0.1;
    }
    heat
}

fn main() -> Result<(), Error> {
    let mut recipes = Recipes { line: None, spent: Duration::ZERO };
    let mut heats = [20.0f64; 8];
    let (mut units, mut busy, began) = (0usize, 0.0, Instant::now());
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let step = recipes.ask(&format!("step @{fish} {units}\n"))?;
        let house = units % heats.len();
        heats[house] = course(&step, heats[house]);
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    println!("{units} steps, {heats:?}");
    let text = format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}}}", recipes.spent.as_secs_f64());
    std::fs::write("@{report}", text)
}
