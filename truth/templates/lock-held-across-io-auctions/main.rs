// Takes the bids of a sale of old books, and writes down how it stands.
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const STEPS: [(u64, u64); 5] = [(100, 5), (500, 20), (2000, 50), (10000, 200), (u64::MAX, 500)];

#[derive(Clone)]
struct Lot {
    title: String,
    bid: u64,
    bidder: u64,
    bids: u32,
}

struct Sale {
    lots: Vec<Lot>,
    taken: u64,
}

struct House {
    @{lock}: Mutex<Sale>,
    protocol: File,
}

fn catalogue() -> Vec<Lot> {
    let kinds = ["atlas", "herbal", "bible", "travels", "letters", "chronicle"];
    (0..@{lots})
        .map(|n| Lot { title: format!("{} of {}, in {} parts", kinds[n % kinds.len()], 1500 + n * 7 % 400, 1 + n % 5), bid: 40 + (n as u64 * 31) % 900, bidder: 0, bids: 0 })
        .collect()
}

fn step(bid: u64) -> u64 {
    STEPS.iter().find(|(limit, _)| bid < *limit).map_or(1, |(_, step)| *step)
}

impl Sale {
    fn bid(&mut self, number: usize, bidder: u64) -> (u64, u32) {
        let count = self.lots.len();
        let lot = &mut self.lots[number % count];
        lot.bid += step(lot.bid);
        lot.bidder = bidder;
        lot.bids += 1;
        self.taken += 1;
        (lot.bid, lot.bids)
    }

    fn protocol(&self) -> String {
        let mut text = String::with_capacity(self.lots.len() * 80);
        let _ = writeln!(text, "{} bids taken", self.taken);
        for (number, lot) in self.lots.iter().enumerate() {
            let _ = writeln!(text, "lot {:05} {:<38} {:>8} by {:016x}", number, lot.title, lot.bid, lot.bidder);
        }
        text
    }
}

#[inline(never)]
fn @{fn}(house: &House) -> std::io::Result<()> {
    let sale = house.@{lock}.lock().unwrap();
    let text = sale.protocol();
    if @{inside} == 1 {
        (&house.protocol).write_all(text.as_bytes())?;
        drop(sale);
    } else {
        drop(sale);
        (&house.protocol).write_all(text.as_bytes())?;
    }
    Ok(())
}

// Who bids is known by a number that only the house can tell.
fn paddle(name: &str) -> u64 {
    let mut known = 0;
    for round in 0..@{rounds} * 400u32 {
        let mut hasher = DefaultHasher::new();
        (name, round, known).hash(&mut hasher);
        known = hasher.finish();
    }
    known
}

fn serve(house: &House, bidder: TcpStream) -> std::io::Result<()> {
    bidder.set_nodelay(true)?;
    for line in BufReader::new(bidder.try_clone()?).lines() {
        let line = line?;
        let number: usize = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        let known = paddle(&line);
        let (bid, count) = house.@{lock}.lock().unwrap().bid(number * 37, known);
        (&bidder).write_all(format!("taken {bid} the {count}th\n").as_bytes())?;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let protocol = OpenOptions::new().write(true).open("@{work}/@{pipe}")?;
    let house = Arc::new(House { @{lock}: Mutex::new(Sale { lots: catalogue(), taken: 0 }), protocol });
    let clerk = house.clone();
    thread::spawn(move || loop {
        thread::sleep(Duration::from_secs_f64(@{pause} / 1000.0));
        if let Err(error) = @{fn}(&clerk) {
            eprintln!("protocol: {error}");
        }
    });
    for bidder in TcpListener::bind("127.0.0.1:@{port}")?.incoming() {
        let (house, bidder) = (house.clone(), bidder?);
        thread::spawn(move || serve(&house, bidder));
    }
    Ok(())
}
