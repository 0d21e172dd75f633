// Books payments: a few clerks; each lets a payment be weighed before it books it.
use std::io::{Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const ASK: u8 = 1;
const ANSWER: u8 = 3;
const SUBSCRIBE: u8 = 4;
static RULES: AtomicU32 = AtomicU32::new(0);

struct Frame {
    kind: u8,
    number: u32,
    values: Vec<f32>,
}

fn send(line: &mut UnixStream, frame: &Frame) -> Result<()> {
    let mut bytes = Vec::with_capacity(9 + frame.values.len() * 4);
    bytes.extend((5 + frame.values.len() as u32 * 4).to_le_bytes());
    bytes.push(frame.kind);
    bytes.extend(frame.number.to_le_bytes());
    frame.values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    line.write_all(&bytes)
}

fn receive(line: &mut UnixStream) -> Result<Frame> {
    let mut size = [0; 4];
    line.read_exact(&mut size)?;
    let mut rest = vec![0; u32::from_le_bytes(size) as usize];
    line.read_exact(&mut rest)?;
    let number = u32::from_le_bytes(rest[1..5].try_into().unwrap());
    let values = rest[5..].chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    Ok(Frame { kind: rest[0], number, values })
}

#[inline(never)]
fn @{fn}(line: &mut UnixStream, number: u32, features: Vec<f32>) -> Result<f32> {
    send(line, &Frame { kind: ASK, number, values: features })?;
    loop {
        let frame = receive(line)?;
        if frame.kind == ANSWER && frame.number == number {
            return Ok(frame.values[0]);
        }
    }
}

fn features(number: u32) -> Vec<f32> {
    let (start, mut state) = (Instant::now(), number as u64 + RULES.load(Ordering::Relaxed) as u64);
    let mut values = vec![0.0; @{fields}];
    while start.elapsed().as_secs_f64() < @{effort} / 1000.0 {
        for value in values.iter_mut() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *value = (state >> 40) as f32;
        }
    }
    values
}

fn clerk(number: u32, began: Instant) -> Result<(u32, f64, f64)> {
    let mut line = UnixStream::connect("@{work}/@{sock}")?;
    let (mut units, mut busy, mut waited) = (0, 0.0, 0.0);
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let payment = features(number * 100_000 + units);
        let asked = Instant::now();
        @{fn}(&mut line, units, payment)?;
        waited += asked.elapsed().as_secs_f64();
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 + number as f64 * 0.008 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    Ok((units, busy, waited))
}

fn follow() -> Result<()> {
    let mut line = UnixStream::connect("@{work}/@{sock}")?;
    send(&mut line, &Frame { kind: SUBSCRIBE, number: 0, values: Vec::new() })?;
    loop {
        let news = receive(&mut line)?;
        RULES.fetch_add(news.values.len() as u32, Ordering::Relaxed);
    }
}

fn main() -> Result<()> {
    let began = Instant::now();
    if @{news} > 0.0 {
        thread::Builder::new().name("rules".into()).spawn(follow)?;
    }
    let clerks: Vec<_> = (0..@{workers})
        .map(|number| thread::Builder::new().name(format!("clerk-{number}")).spawn(move || clerk(number, began)).unwrap())
        .collect();
    let (mut units, mut busy, mut waited) = (0, 0.0, 0.0);
    for clerk in clerks {
        let (u, b, w) = clerk.join().unwrap()?;
        units += u;
        busy += b;
        waited += w;
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy:.6}, \"culprit\": {waited:.6}}}"))
}
