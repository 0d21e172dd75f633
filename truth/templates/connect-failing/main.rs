use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A thread delivers events; whoever hands one over waits for its fate.
struct Delivery {
    line: Option<BufReader<TcpStream>>,
    spent: f64,
    left: VecDeque<String>,
    sent: u64,
}

impl Delivery {
    #[inline(never)]
    fn @{fn}(&mut self) -> bool {
        let mut tries = 0;
        while self.line.is_none() && tries < @{tries} {
            for address in ["127.0.0.1:@{first}", "127.0.0.1:@{hub}"] {
                if self.line.is_none() {
                    if let Ok(stream) = TcpStream::connect(address) {
                        let _ = stream.set_nodelay(true);
                        self.line = Some(BufReader::new(stream));
                    }
                }
            }
            tries += 1;
            if self.line.is_none() && @{pause} > 0 {
                thread::sleep(Duration::from_millis(@{pause}));
            }
        }
        self.line.is_some()
    }

    fn deliver(&mut self, event: String) {
        let began = Instant::now();
        let there = self.@{fn}();
        self.spent += began.elapsed().as_secs_f64();
        if !there {
            self.left.push_back(event);
            if self.left.len() > 100 {
                self.left.pop_front();
            }
            return;
        }
        let line = self.line.as_mut().unwrap();
        let mut answer = String::new();
        if line.get_mut().write_all(event.as_bytes()).is_err() || line.read_line(&mut answer).unwrap_or(0) == 0 {
            self.line = None;
        }
        self.sent += 1;
        if self.sent % @{renew} == 0 {
            self.line = None;
        }
    }
}

fn main() {
    let (give, take) = mpsc::channel::<String>();
    let (tell, told) = mpsc::channel::<f64>();
    thread::spawn(move || {
        let mut delivery = Delivery { line: None, spent: 0.0, left: VecDeque::new(), sent: 0 };
        for event in take {
            delivery.deliver(event);
            tell.send(delivery.spent).unwrap();
        }
    });
    let began = Instant::now();
    let (mut units, mut busy, mut spent) = (0u64, 0.0, 0.0);
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        give.send(format!("event {} kind={}\n", units, units % 9)).unwrap();
        spent = told.recv().unwrap();
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{pace} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy, spent)).unwrap();
}
