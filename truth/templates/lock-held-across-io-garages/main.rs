//! The gate controller of a chain of car parks: who may come in with a season ticket, and what the others pay.
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct Tickets {
    days: HashMap<u32, u32>,
    entries: u64,
    version: u64,
}

struct Office {
    link: BufReader<TcpStream>,
}

impl Office {
    fn call() -> Result<Office> {
        let stream = TcpStream::connect(("127.0.0.1", @{office}))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        Ok(Office { link: BufReader::new(stream) })
    }

    fn changes(&mut self, since: u64) -> Result<Vec<(u32, u32)>> {
        self.link.get_mut().write_all(format!("CHANGES {since}\n").as_bytes())?;
        let mut line = String::new();
        self.link.read_line(&mut line)?;
        let pair = |word: &str| -> Option<(u32, u32)> {
            let (ticket, days) = word.split_once('=')?;
            Some((ticket.parse().ok()?, days.parse().ok()?))
        };
        Ok(line.split_whitespace().filter_map(pair).collect())
    }
}

fn apply(tickets: &mut Tickets, changes: Vec<(u32, u32)>) {
    for (ticket, days) in changes {
        tickets.days.insert(ticket, days);
    }
    tickets.version += 1;
}

#[inline(never)]
fn @{fn}(tickets: &Mutex<Tickets>, office: &mut Office) -> Result<()> {
    if @{locked} == 1 {
        let mut guard = tickets.lock().unwrap();
        let changes = office.changes(guard.version)?;
        apply(&mut guard, changes);
    } else {
        let version = tickets.lock().unwrap().version;
        let changes = office.changes(version)?;
        apply(&mut tickets.lock().unwrap(), changes);
    }
    Ok(())
}

// The number on the plate as the camera has it, with its check digits.
fn plate(car: u32) -> u32 {
    let mut code = car.wrapping_mul(2654435761) | 1;
    for _ in 0..@{rounds} * 4 {
        code ^= code << 13;
        code ^= code >> 17;
        code ^= code << 5;
    }
    code
}

fn gate(stream: TcpStream, tickets: &Mutex<Tickets>) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut answers = stream.try_clone()?;
    for line in BufReader::new(stream).lines() {
        let line = line?;
        let car: u32 = line.split_whitespace().last().and_then(|word| word.parse().ok()).unwrap_or(0);
        let code = plate(car);
        let mut guard = tickets.lock().unwrap();
        guard.entries += 1;
        let days = guard.days.get(&(car % @{tickets})).copied();
        drop(guard);
        let text = match days {
            Some(days) => format!("open {code:08x} season {days}\n"),
            None => format!("open {code:08x} pay {}\n", 150 + code % 700),
        };
        answers.write_all(text.as_bytes())?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut tickets = Tickets::default();
    tickets.days.extend((0..@{tickets}).step_by(3).map(|ticket| (ticket, 30)));
    let tickets = Arc::new(Mutex::new(tickets));
    let listener = TcpListener::bind(("127.0.0.1", @{port}))?;
    let season = tickets.clone();
    std::thread::spawn(move || {
        let mut office = Office::call().expect("head office");
        while @{fn}(&season, &mut office).is_ok() {
            std::thread::sleep(Duration::from_secs_f64(@{every} as f64 / 1000.0));
        }
    });
    for stream in listener.incoming().flatten() {
        let tickets = tickets.clone();
        std::thread::spawn(move || gate(stream, &tickets));
    }
    Ok(())
}
