// Counts how often a delivery goes to the same door, by the address in its common form.
use std::collections::HashMap;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

const NAMES: [&str; 5] = ["Rosewood", "Old Church", "Station", "Millbrook", "Harbour View"];

struct Doors {
    counts: HashMap<u64, u64>,
    key: String,
    spent: f64,
    again: u64,
}

fn source(count: usize) -> Vec<String> {
    (0..count)
        .map(|i| {
            let street = i * 7 % @{streets};
            format!("{} {} Road No. {}, Flat {}, District-{:05}, Upper Wessington", if i % 3 == 0 { " The" } else { "" }, NAMES[street % 5], street, i % 60, street * 83)
        })
        .collect()
}

#[inline(never)]
fn @{fn}(line: &str) -> String {
    let words: Vec<String> = line.trim().to_string().split(' ').map(String::from).collect();
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    let plain: Vec<String> = lower.iter().map(|word| word.chars().filter(|c| *c != ',' && *c != '-' && *c != '.').collect()).collect();
    let boxed: Vec<Box<String>> = plain.iter().filter(|word| !word.is_empty()).map(|word| Box::new(word.clone())).collect();
    let mut key = String::new();
    for word in boxed {
        key = format!("{}{}/", key, word);
    }
    key
}

#[inline(never)]
fn in_place(line: &str, key: &mut String) {
    key.clear();
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        for letter in word.bytes().filter(|letter| !matches!(letter, b',' | b'-' | b'.')) {
            key.push(letter.to_ascii_lowercase() as char);
        }
        key.push('/');
    }
}

fn mark(text: &str) -> u64 {
    text.bytes().fold(14695981039346656037, |value, letter| (value ^ letter as u64).wrapping_mul(1099511628211)) >> 40
}

impl Doors {
    fn take(&mut self, lines: &[String]) {
        for line in lines {
            let start = Instant::now();
            let mark = if @{way} == 1 {
                mark(&@{fn}(line))
            } else {
                in_place(line, &mut self.key);
                mark(&self.key)
            };
            self.spent += start.elapsed().as_secs_f64();
            let count = self.counts.entry(mark).or_insert(0);
            *count += 1;
            if *count > 1 {
                self.again += 1;
            }
        }
    }
}

fn main() -> std::io::Result<()> {
    let lines = source(@{used});
    let mut doors = Doors { counts: HashMap::new(), key: String::new(), spent: 0.0, again: 0 };
    let (mut units, mut busy) = (0u64, 0.0);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        doors.take(&lines);
        units += 1;
        busy += start.elapsed().as_secs_f64();
        due = (due + Duration::from_secs_f64(1.0 / @{rate} as f64)).max(Instant::now());
        sleep(due.saturating_duration_since(Instant::now()));
    }
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}}}", doors.spent))
}
