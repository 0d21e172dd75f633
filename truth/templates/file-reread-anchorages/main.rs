// Tells yachts about an anchorage: its ground, its depth, and how much chain to pay out. "anchorage N" is answered by a line.
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const KEEP: bool = @{keep} == 1;
const TODAY: bool = @{today} == 1;

struct Book {
    text: String,
}

impl Book {
    #[inline(never)]
    fn @{fn}(&mut self) -> io::Result<()> {
        if KEEP && !self.text.is_empty() {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        let mut file = File::open("@{work}/@{book}")?;
        bytes.resize(file.metadata()?.len() as usize, 0);
        file.read_exact(&mut bytes)?;
        self.text = String::from_utf8(bytes).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        Ok(())
    }

    fn entry(&mut self, number: u32) -> io::Result<Vec<&str>> {
        self.@{fn}()?;
        let from = self.text.find(&format!("#{number:06}|")).ok_or(io::ErrorKind::NotFound)?;
        let line = self.text[from..].lines().next().unwrap_or("");
        Ok(line.split('|').collect())
    }
}

/// How far the boat swings, by the catenary of its chain.
fn chain(depth: f64) -> f64 {
    let mut length = depth * 3.0 + 10.0;
    for i in 0..@{rounds} * 20 {
        length += ((length * length - depth * depth).sqrt() - length + depth / 9.0) / (i + 2) as f64;
    }
    length.round()
}

fn serve(yacht: TcpStream) -> io::Result<()> {
    yacht.set_nodelay(true)?;
    let mut book = Book { text: String::new() };
    let mut out = yacht.try_clone()?;
    for question in BufReader::new(yacht).lines() {
        let question = question?;
        let number: u32 = question.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let entry = book.entry(number % @{entries})?;
        let depth: f64 = entry[2].parse().unwrap_or(5.0);
        let mut answer = format!("{}; {depth}; {}; {}", entry[1].trim(), chain(depth + 2.0), entry[3]);
        if TODAY {
            answer += "; ";
            answer += fs::read_to_string("@{work}/@{notice}")?.trim();
        }
        answer.push('\n');
        out.write_all(answer.as_bytes())?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    for yacht in TcpListener::bind("127.0.0.1:@{port}")?.incoming() {
        let yacht = yacht?;
        thread::spawn(move || {
            if let Err(error) = serve(yacht) {
                eprintln!("{error}");
            }
        });
    }
    Ok(())
}
