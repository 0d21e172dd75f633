// Watches the cabins of a cable car and slows it down in the wind.
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

#[repr(C)]
struct PollFd {
    fd: i32,
    events: i16,
    revents: i16,
}

extern "C" {
    fn poll(fds: *mut PollFd, count: u64, timeout: i32) -> i32;
}

#[derive(Default)]
struct Watch {
    rest: Vec<u8>,
    cabins: BTreeMap<u32, (f64, u32)>,
    advice: Vec<String>,
    units: u64,
    busy: Duration,
    empty: Duration,
}

fn readable(line: &TcpStream, ms: i32) -> bool {
    let mut asked = PollFd { fd: line.as_raw_fd(), events: 1, revents: 0 };
    unsafe { poll(&mut asked, 1, ms) > 0 }
}

impl Watch {
    #[inline(never)]
    fn @{fn}(&mut self, line: &mut TcpStream, end: Instant) {
        let period = Duration::from_millis(@{due_ms});
        let mut due = Instant::now() + period;
        while Instant::now() < end {
            let mut start = Instant::now();
            let left = due.saturating_duration_since(start).as_millis() as i32 + @{slack};
            let wait = left / @{step} * @{step};
            let some = readable(line, wait);
            if wait > 0 {
                start = Instant::now();
            } else if !some {
                self.empty += start.elapsed();
            }
            if some {
                self.take(line);
                if @{drained} == 1 && readable(line, 0) {
                    self.take(line);
                }
            }
            if Instant::now() >= due {
                self.advise();
                due += period;
            }
            self.busy += start.elapsed();
        }
    }

    fn take(&mut self, line: &mut TcpStream) {
        let mut block = [0u8; 16384];
        let got = match line.read(&mut block) {
            Ok(0) => panic!("the cabins are gone"),
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) => panic!("{error}"),
        };
        self.rest.extend_from_slice(&block[..got]);
        let Some(last) = self.rest.iter().rposition(|&c| c == b'\n') else { return };
        let lines: Vec<u8> = self.rest.drain(..=last).collect();
        for text in String::from_utf8_lossy(&lines).lines() {
            let mut words = text.split(' ');
            let id = words.next().and_then(|w| w.parse().ok()).unwrap_or(0);
            let speed: f64 = words.nth(1).and_then(|w| w.parse().ok()).unwrap_or(0.0);
            let guests = words.next().and_then(|w| w.parse().ok()).unwrap_or(0);
            let state = self.cabins.entry(id).or_default();
            *state = (state.0 * 0.8 + speed * 0.2, guests);
            self.units += 1;
        }
    }

    fn advise(&mut self) {
        let fastest = self.cabins.values().map(|c| c.0).fold(0.0, f64::max);
        let guests: u32 = self.cabins.values().map(|c| c.1).sum();
        self.advice.push(format!("fastest {fastest:.1}, {guests} guests"));
        if self.advice.len() > 50 {
            self.advice.remove(0);
        }
    }
}

fn main() {
    let mut line = TcpStream::connect(("127.0.0.1", @{port})).expect("no cabins");
    line.set_nonblocking(true).unwrap();
    let mut watch = Watch::default();
    watch.@{fn}(&mut line, Instant::now() + Duration::from_secs_f64(@{seconds}));
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", watch.units, watch.busy.as_secs_f64(), watch.empty.as_secs_f64());
    std::fs::write("@{report}", text).unwrap();
}
