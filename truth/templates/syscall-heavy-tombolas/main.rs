// Prints rolls of tickets for a tombola: codes that nobody can guess, with a check letter.
use std::fmt::Write;
use std::fs::File;
use std::io::{BufReader, Read};
use std::time::{Duration, Instant};

const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

struct Dice {
    source: Box<dyn Read>,
    spent: Duration,
}

impl Dice {
    fn new() -> Dice {
        let device = File::open("/dev/urandom").expect("random bytes");
        let source: Box<dyn Read> = if @{pool} > 0 { Box::new(BufReader::with_capacity(@{pool}, device)) } else { Box::new(device) };
        Dice { source, spent: Duration::ZERO }
    }

    /// One of the letters, each as likely.
    #[inline(never)]
    fn @{fn}(&mut self) -> u8 {
        let mut raw = [0u8; @{bytes}];
        self.source.read_exact(&mut raw).expect("random bytes");
        raw[0] & 31
    }

    fn codes(&mut self, count: usize) -> Vec<String> {
        let start = Instant::now();
        let mut codes = Vec::with_capacity(count);
        for _ in 0..count {
            let mut code = String::with_capacity(@{letters} + 1);
            let mut sum = 0u8;
            for _ in 0..@{letters} {
                let letter = self.@{fn}();
                code.push(ALPHABET[letter as usize] as char);
                sum = sum.wrapping_add(letter);
            }
            code.push(ALPHABET[(sum & 31) as usize] as char);
            codes.push(code);
        }
        if @{pool} == 0 {
            self.spent += start.elapsed();
        }
        codes
    }
}

fn printed(codes: &[String], roll: u64) -> u64 {
    let mut sheet = String::new();
    for (n, code) in codes.iter().enumerate() {
        writeln!(sheet, "{roll}/{n}\t{code}").unwrap();
    }
    sheet.bytes().fold(5381u64, |seal, byte| seal.wrapping_mul(33) ^ byte as u64)
}

fn main() {
    let mut dice = Dice::new();
    let (mut units, mut busy, mut seal) = (0u64, Duration::ZERO, 0u64);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        seal ^= printed(&dice.codes(@{used}), units);
        units += 1;
        busy += start.elapsed();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    println!("seal of all rolls: {seal}");
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), dice.spent.as_secs_f64());
    std::fs::write("@{report}", text).unwrap();
}
