// Collects what the charging stations of a car park report, and how full the net is.
use std::collections::HashMap;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Event {
    events: u32,
    data: u64,
}

extern "C" {
    fn epoll_create1(flags: i32) -> i32;
    fn epoll_ctl(epoll: i32, what: i32, fd: i32, event: *mut Event) -> i32;
    fn epoll_wait(epoll: i32, events: *mut Event, room: i32, most_ms: i32) -> i32;
}

const ADD: i32 = 1;
const REMOVE: i32 = 2;
const READABLE: u32 = 1;

struct Station {
    line: TcpStream,
    rest: Vec<u8>,
}

impl Station {
    fn hear(&mut self) -> Vec<String> {
        let mut got = [0u8; 2048];
        loop {
            match self.line.read(&mut got) {
                Ok(0) => break,
                Ok(count) => {
                    self.rest.extend_from_slice(&got[..count]);
                    if count < got.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            }
        }
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let whole: Vec<u8> = self.rest.drain(..=end).collect();
        String::from_utf8_lossy(&whole).lines().map(str::to_string).collect()
    }
}

struct Collector {
    epoll: i32,
    is_armed: bool,
    stations: Vec<Station>,
    load: HashMap<usize, f64>,
    readings: u64,
    spent: Duration,
}

impl Collector {
    #[inline(never)]
    fn @{fn}(&mut self) {
        if self.is_armed {
            return;
        }
        let start = Instant::now();
        for (number, station) in self.stations.iter().enumerate() {
            let mut event = Event { events: READABLE, data: number as u64 };
            unsafe { epoll_ctl(self.epoll, ADD, station.line.as_raw_fd(), &mut event) };
        }
        self.is_armed = true;
        self.spent += start.elapsed();
    }

    #[inline(never)]
    fn @{fn2}(&mut self) {
        if "@{arm}" == "once" {
            return;
        }
        let start = Instant::now();
        for station in &self.stations {
            unsafe { epoll_ctl(self.epoll, REMOVE, station.line.as_raw_fd(), std::ptr::null_mut()) };
        }
        self.is_armed = false;
        self.spent += start.elapsed();
    }

    fn wait(&self) -> Vec<usize> {
        let mut events = [Event { events: 0, data: 0 }; 64];
        let got = unsafe { epoll_wait(self.epoll, events.as_mut_ptr(), 64, 200) };
        events.iter().take(got.max(0) as usize).map(|event| event.data as usize).collect()
    }

    fn take(&mut self, number: usize, line: &str) {
        let charged: f64 = line.split(';').nth(1).and_then(|field| field.parse().ok()).unwrap_or(0.0);
        let mut level = self.load.get(&(number / 6)).copied().unwrap_or(0.0);
        for step in 0..@{effort} * 300 {
            level += (charged - level) * 0.01 / (1.0 + step as f64);
        }
        self.load.insert(number / 6, level);
        self.readings += 1;
    }
}

fn main() -> std::io::Result<()> {
    let mut stations = Vec::new();
    for _ in 0..@{stations} {
        let line = TcpStream::connect("127.0.0.1:@{feed}")?;
        line.set_nonblocking(true)?;
        stations.push(Station { line, rest: Vec::new() });
    }
    let epoll = unsafe { epoll_create1(0) };
    let mut collector = Collector { epoll, is_armed: false, stations, load: HashMap::new(), readings: 0, spent: Duration::ZERO };
    let (mut busy, began) = (Duration::ZERO, Instant::now());
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        collector.@{fn}();
        busy += start.elapsed();
        let ready = collector.wait();
        let start = Instant::now();
        collector.@{fn2}();
        for number in ready {
            for line in collector.stations[number].hear() {
                collector.take(number, &line);
            }
        }
        busy += start.elapsed();
    }
    let report = format!("{{\"units\": {}, \"seconds\": {:.6}, \"culprit\": {:.6}}}", collector.readings, busy.as_secs_f64(), collector.spent.as_secs_f64());
    std::fs::write("@{report}", report)
}
