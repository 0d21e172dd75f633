use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

// Replicates changes to the second house, by a thread that owns the line.
fn @{fn}(changes: Receiver<String>, stored: Sender<f64>) -> std::io::Result<()> {
    let stream = TcpStream::connect(("10.@{net}.@{subnet}.2", @{back}))?;
    stream.set_nodelay(true)?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let mut out = stream;
    for change in changes {
        let began = Instant::now();
        out.write_all(change.as_bytes())?;
        let mut answer = String::new();
        answers.read_line(&mut answer)?;
        if stored.send(began.elapsed().as_secs_f64()).is_err() {
            break;
        }
    }
    Ok(())
}

fn change(number: u64) -> String {
    let mut text = format!("change {} ", number);
    let mut h = number;
    for _ in 0..@{rounds} {
        h = h.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    }
    while text.len() < @{bytes} {
        text.push((b'a' + (h >> 33) as u8 % 26) as char);
        h = h.wrapping_mul(6364136223846793005).wrapping_add(1);
    }
    text.push('\n');
    text
}

fn main() {
    let (give, take) = channel();
    let (tell, told) = channel();
    thread::Builder::new().name("replica".into()).spawn(move || @{fn}(take, tell).unwrap()).unwrap();
    let began = Instant::now();
    let (mut units, mut busy, mut spent) = (0u64, 0f64, 0f64);
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        give.send(change(units)).unwrap();
        let took: f64 = told.recv().unwrap();
        if took > 0.1 {
            spent += took;
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{pace} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy, spent)).unwrap();
}
