//! What the renderers of a studio have used, for its accounts: GET /usage/STUDIO.
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::Duration;

const STUDIOS: u32 = @{studios};
const CENSUS_S: f64 = @{census} as f64;

#[derive(Clone, Copy, Default)]
struct Usage {
    renderers: u32,
    ticks: u64,
    pages: u64,
}

impl Usage {
    fn add(&mut self, other: Usage) {
        self.renderers += other.renderers;
        self.ticks += other.ticks;
        self.pages += other.pages;
    }
}

/// A renderer's studio and what it has used, by its line of statistics; none, if it is something else.
fn renderer(line: &str) -> Option<(u32, Usage)> {
    let name = line.split_once("(render s")?.1;
    let (studio, rest) = name.split_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok());
    let usage = Usage { renderers: 1, ticks: number(11)? + number(12)?, pages: number(21)? };
    Some((studio.parse().ok()?, usage))
}

fn @{fn}() -> HashMap<u32, Usage> {
    let mut found: HashMap<u32, Usage> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return found };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        let Ok(line) = fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some((studio, usage)) = renderer(&line) {
            found.entry(studio).or_default().add(usage);
        }
    }
    found
}

fn listed(studio: u32) -> Usage {
    let list = fs::read_to_string(format!("@{work}/studios/{studio}")).unwrap_or_default();
    let mut sum = Usage::default();
    for pid in list.lines() {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if let Some((_, usage)) = renderer(&line).filter(|(owner, _)| *owner == studio) {
            sum.add(usage);
        }
    }
    sum
}

struct Accounts {
    last: RwLock<HashMap<u32, Usage>>,
}

impl Accounts {
    fn of(&self, studio: u32) -> Usage {
        match "@{usage}" {
            "all" => @{fn}().get(&studio).copied().unwrap_or_default(),
            "census" => self.last.read().unwrap().get(&studio).copied().unwrap_or_default(),
            _ => listed(studio),
        }
    }

    fn answer(&self, path: &str) -> Option<String> {
        let asked: u32 = path.strip_prefix("/usage/")?.parse().ok()?;
        let studio = asked % STUDIOS + 1;
        let usage = self.of(studio);
        Some(format!(
            "{{\"studio\":{studio},\"renderers\":{},\"seconds\":{:.2},\"mb\":{}}}",
            usage.renderers,
            usage.ticks as f64 / 100.0,
            usage.pages / 256
        ))
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut out = stream.try_clone()?;
        let mut lines = BufReader::new(stream).lines();
        while let Some(first) = lines.next() {
            let first = first?;
            for header in lines.by_ref() {
                if header?.is_empty() {
                    break;
                }
            }
            let path = first.split(' ').nth(1).unwrap_or("/");
            let (status, body) = match self.answer(path) {
                Some(body) => ("200 OK", body),
                None => ("404 Not Found", String::new()),
            };
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
            out.write_all((head + &body).as_bytes())?;
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let accounts = Arc::new(Accounts { last: RwLock::new(HashMap::new()) });
    if CENSUS_S > 0.0 {
        *accounts.last.write().unwrap() = @{fn}();
        let taken = Arc::clone(&accounts);
        thread::spawn(move || loop {
            thread::sleep(Duration::from_secs_f64(CENSUS_S));
            let fresh = @{fn}();
            *taken.last.write().unwrap() = fresh;
        });
    }
    for stream in TcpListener::bind("127.0.0.1:@{port}")?.incoming() {
        let (stream, accounts) = (stream?, Arc::clone(&accounts));
        thread::spawn(move || accounts.serve(stream));
    }
    Ok(())
}
