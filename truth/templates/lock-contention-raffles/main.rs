//! The raffle of a fair: tills sell tickets in step with the show's bell; no two tickets of a drum may be too alike.
use std::fs;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

struct Drum {
    tickets: Vec<u64>,
    next: usize,
}

#[derive(Default)]
struct Sold {
    units: u64,
    busy: f64,
    waited: f64,
    letters: usize,
}

fn alike(one: u64, other: u64) -> u32 {
    let (mut same, mut rest) = (0, !(one ^ other));
    while rest != 0 {
        rest &= black_box(rest) - 1;
        same += 1;
    }
    same
}

/// Books a ticket in its drum, if none there is too much like it.
#[inline(never)]
fn @{fn}(drum: &Mutex<Drum>, ticket: u64, waited: &mut f64) -> bool {
    let asked = Instant::now();
    let mut drum = drum.lock().unwrap();
    *waited += asked.elapsed().as_secs_f64();
    let worst = drum.tickets.iter().map(|&other| alike(ticket, other)).max().unwrap_or(0);
    let place = drum.next % drum.tickets.len();
    drum.tickets[place] = ticket;
    drum.next += 1;
    worst < 60
}

fn draw(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// How many tickets can be looked at in a millisecond here.
fn speed() -> f64 {
    let mut state = 88172645463325252;
    let sample: Vec<u64> = (0..4096).map(|_| draw(&mut state)).collect();
    let best = (0..12).map(|turn| {
        let start = Instant::now();
        black_box(sample.iter().map(|&other| alike(sample[turn], other)).max());
        start.elapsed().as_secs_f64()
    }).fold(1e9, f64::min);
    sample.len() as f64 / best / 1000.0
}

fn till(number: u64, drums: &[Mutex<Drum>], began: Instant) -> Sold {
    let mut sold = Sold::default();
    let mut state = 1000003 * (number + 1);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let ticket = draw(&mut state);
        let drum = &drums[ticket as usize % drums.len()];
        let mut text = String::from(if @{fn}(drum, ticket, &mut sold.waited) { "ticket" } else { "again" });
        for word in 0..@{words} {
            text += &format!(" {}", ticket >> word);
        }
        sold.letters += text.len();
        sold.units += 1;
        sold.busy += start.elapsed().as_secs_f64();
        let due = Duration::from_secs_f64(sold.units as f64 * @{tick} / 1000.0);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    sold
}

fn main() {
    let each = (speed() * @{look} / @{drums} as f64) as usize + 1;
    let mut state = 0x9E3779B97F4A7C15;
    let drums: Vec<Mutex<Drum>> = (0..@{drums})
        .map(|_| Mutex::new(Drum { tickets: (0..each).map(|_| draw(&mut state)).collect(), next: 0 }))
        .collect();
    let drums = Arc::new(drums);
    let began = Instant::now();
    let tills: Vec<_> = (0..@{tills})
        .map(|number| {
            let drums = Arc::clone(&drums);
            thread::spawn(move || till(number, &drums, began))
        })
        .collect();
    let mut all = Sold::default();
    for one in tills {
        let sold = one.join().unwrap();
        all.units += sold.units;
        all.busy += sold.busy;
        all.waited += sold.waited;
        all.letters += sold.letters;
    }
    let Sold { units, busy, waited, letters } = all;
    fs::write("@{report}", format!("{{\"units\": {units}, \"letters\": {letters}, \"seconds\": {busy}, \"culprit\": {waited}}}")).unwrap();
}
