//! Finds the melodies of a song book that sound like what somebody hummed.
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

struct Note {
    pitch: i32,
    beat: u32,
    next: Option<Box<Note>>,
}

struct Melody {
    title: String,
    pitches: Vec<i32>,
    // In each key; empty if they are made when they are needed.
    keys: Vec<Option<Box<Note>>>,
}

#[inline(never)]
fn @{fn}(pitches: &[i32], key: i32) -> Option<Box<Note>> {
    let mut first = None;
    for (beat, pitch) in pitches.iter().enumerate().rev() {
        first = Some(Box::new(Note { pitch: pitch + key, beat: beat as u32, next: first }));
    }
    first
}

/// Not by recursion, as the compiler would.
#[inline(never)]
fn put_away(mut list: Option<Box<Note>>) {
    while let Some(mut note) = list {
        list = note.next.take();
    }
}

fn distance(list: &Option<Box<Note>>, hum: &[i32]) -> i64 {
    let (mut sum, mut at) = (0i64, list);
    while let Some(note) = at {
        sum += (note.pitch - hum[note.beat as usize]).abs() as i64;
        at = &note.next;
    }
    sum
}

fn best<'a>(book: &'a [Melody], hum: &[i32]) -> (&'a str, i64) {
    let mut best = ("", i64::MAX);
    for melody in book {
        for key in 0..@{keys} {
            let far = match "@{way}" {
                "lists" => {
                    let moved = @{fn}(&melody.pitches, key);
                    let far = distance(&moved, hum);
                    put_away(moved);
                    far
                }
                "early" => distance(&melody.keys[key as usize], hum),
                _ => melody.pitches.iter().zip(hum).map(|(pitch, sung)| (pitch + key - sung).abs() as i64).sum(),
            };
            if far < best.1 {
                best = (&melody.title, far);
            }
        }
    }
    best
}

fn read_book(path: &str) -> Vec<Melody> {
    let text = fs::read_to_string(path).expect("song book");
    let mut book = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let title = words.next().unwrap_or("").to_string();
        let pitches: Vec<i32> = words.filter_map(|word| word.parse().ok()).collect();
        let keys = if "@{way}" == "early" { (0..@{keys}).map(|key| @{fn}(&pitches, key)).collect() } else { Vec::new() };
        book.push(Melody { title, pitches, keys });
    }
    book
}

/// Somebody hums a melody of the book, not quite in tune.
fn listen(book: &[Melody], number: usize) -> Vec<i32> {
    let melody = &book[number * 7 % book.len()];
    melody.pitches.iter().enumerate().map(|(beat, pitch)| pitch + (number % 5) as i32 + (beat * number % 3) as i32 - 1).collect()
}

fn main() {
    let book = read_book("@{work}/@{book}");
    let began = Instant::now();
    let (mut units, mut busy, mut found) = (0usize, 0.0, 0usize);
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let hum = listen(&book, units);
        let (title, _) = best(&book, &hum);
        if title == book[units * 7 % book.len()].title {
            found += 1;
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    eprintln!("{found} of {units} hums found");
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}}}")).expect("report");
}
