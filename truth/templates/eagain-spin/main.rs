// Checks quotes for alarms: one thread takes them from the exchange, the main one decides.
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

#[inline(never)]
fn @{fn}(stream: &mut TcpStream, buffer: &mut [u8], idle: &AtomicU64) -> Option<usize> {
    let start = Instant::now();
    loop {
        match stream.read(buffer) {
            Ok(0) => return None,
            Ok(n) => {
                if @{wait} == 0 {
                    idle.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
                }
                return Some(n);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
            Err(_) => return None,
        }
    }
}

fn follow(mut stream: TcpStream, quotes: Sender<String>, idle: Arc<AtomicU64>) {
    let (mut text, mut buffer) = (String::new(), [0u8; 4096]);
    while let Some(n) = @{fn}(&mut stream, &mut buffer, &idle) {
        text.push_str(&String::from_utf8_lossy(&buffer[..n]));
        if @{wait} == 2 {
            // Whatever came meanwhile.
            stream.set_nonblocking(true).unwrap();
            while let Ok(more) = stream.read(&mut buffer) {
                if more == 0 {
                    return;
                }
                text.push_str(&String::from_utf8_lossy(&buffer[..more]));
            }
            stream.set_nonblocking(false).unwrap();
        }
        while let Some(end) = text.find('\n') {
            let line: String = text.drain(..=end).collect();
            if quotes.send(line).is_err() {
                return;
            }
        }
    }
}

fn main() {
    let stream = TcpStream::connect("127.0.0.1:@{port}").expect("exchange");
    stream.set_nonblocking(@{wait} == 0).unwrap();
    let (send, receive) = channel();
    let idle = Arc::new(AtomicU64::new(0));
    let shared = idle.clone();
    thread::Builder::new().name("follower".into()).spawn(move || follow(stream, send, shared)).unwrap();
    let (began, mut units, mut busy, mut alarms) = (Instant::now(), 0u64, 0.0, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        match receive.recv_timeout(Duration::from_millis(300)) {
            Ok(line) => {
                let start = Instant::now();
                while start.elapsed().as_secs_f64() < @{effort} / 1000.0 {
                    alarms = alarms.wrapping_mul(31).wrapping_add(line.bytes().map(u64::from).sum::<u64>());
                }
                units += 1;
                busy += start.elapsed().as_secs_f64();
            }
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let culprit = idle.load(Ordering::Relaxed) as f64 / 1e6;
    let text = format!("{{\"units\": {}, \"seconds\": {:.6}, \"culprit\": {:.6}}}", units, busy + culprit, culprit);
    std::fs::write("@{report}", text).unwrap();
    std::process::exit(if alarms == 1 { 1 } else { 0 });
}
