// The control of a ropeway: hears what the gondolas tell, and answers how fast they may go.
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

const ADD: i32 = 1;
const DEL: i32 = 2;
const IN: u32 = 1;

#[repr(C)]
#[cfg_attr(target_arch = "x86_64", repr(packed))]
#[derive(Clone, Copy)]
struct Event {
    events: u32,
    data: u64,
}

unsafe extern "C" {
    fn epoll_create1(flags: i32) -> i32;
    fn epoll_ctl(list: i32, what: i32, fd: i32, event: *mut Event) -> i32;
    fn epoll_wait(list: i32, events: *mut Event, most: i32, timeout: i32) -> i32;
}

struct Line {
    stream: TcpStream,
    gondola: Option<u32>,
}

struct Control {
    list: i32,
    door: TcpListener,
    lines: HashMap<i32, Line>,
    groups: HashMap<u32, Vec<i32>>,
    wind: [f64; 64],
    units: u64,
    listing: Duration,
}

impl Control {
    fn new() -> io::Result<Control> {
        let door = TcpListener::bind(("127.0.0.1", @{port}))?;
        door.set_nonblocking(true)?;
        let list = unsafe { epoll_create1(0) };
        let mut control = Control { list, door, lines: HashMap::new(), groups: HashMap::new(), wind: [0.0; 64], units: 0, listing: Duration::ZERO };
        let fd = control.door.as_raw_fd();
        control.change(ADD, fd);
        Ok(control)
    }

    fn change(&mut self, what: i32, fd: i32) {
        let mut event = Event { events: IN, data: fd as u64 };
        if unsafe { epoll_ctl(self.list, what, fd, &mut event) } < 0 {
            eprintln!("epoll_ctl: {}", io::Error::last_os_error());
        }
    }

    #[inline(never)]
    fn @{fn}(&mut self, gondola: u32, what: i32) {
        let start = Instant::now();
        for fd in self.groups.get(&gondola).cloned().unwrap_or_default() {
            self.change(what, fd);
        }
        self.listing += start.elapsed();
    }

    fn take(&mut self) {
        while let Ok((stream, _)) = self.door.accept() {
            stream.set_nonblocking(true).ok();
            stream.set_nodelay(true).ok();
            let fd = stream.as_raw_fd();
            self.lines.insert(fd, Line { stream, gondola: None });
            self.change(ADD, fd);
        }
    }

    /// How fast: by the wind of the last telegrams, smoothed.
    fn speed(&mut self, gondola: u32, wind: f64, swing: f64) -> f64 {
        let mut speed = 6.0;
        for round in 0..@{rounds} * 20 {
            let place = (gondola as usize + round) % 64;
            self.wind[place] += (wind - self.wind[place]) * 0.05;
            speed += (7.0 - self.wind[place] / 4.0 - swing / 3.0 - speed) * 0.1;
        }
        speed.clamp(0.0, 7.0)
    }

    fn hear(&mut self, fd: i32) {
        let mut text = [0u8; 32];
        let Some(line) = self.lines.get_mut(&fd) else { return };
        match line.stream.read(&mut text) {
            Ok(32) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
            _ => {
                if let Some(group) = line.gondola.and_then(|g| self.groups.get_mut(&g)) {
                    group.retain(|&one| one != fd);
                }
                self.change(DEL, fd);
                self.lines.remove(&fd);
                return;
            }
        }
        let text = String::from_utf8_lossy(&text);
        let words: Vec<f64> = text.split(';').map(|word| word.trim().parse().unwrap_or(0.0)).collect();
        let gondola = words[0] as u32;
        if line.gondola.is_none() {
            line.gondola = Some(gondola);
            self.groups.entry(gondola).or_default().push(fd);
        }
        // No other of its lines may come between.
        if @{apart} == 1 {
            self.@{fn}(gondola, DEL);
        }
        let speed = self.speed(gondola, words[2], words[3]);
        if let Some(line) = self.lines.get_mut(&fd) {
            line.stream.write_all(format!("{:7.3}\n", speed).as_bytes()).ok();
        }
        if @{apart} == 1 {
            self.@{fn}(gondola, ADD);
        }
        self.units += 1;
    }
}

fn main() -> io::Result<()> {
    let mut control = Control::new()?;
    let (began, mut busy) = (Instant::now(), Duration::ZERO);
    let mut ready = [Event { events: 0, data: 0 }; 64];
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let n = unsafe { epoll_wait(control.list, ready.as_mut_ptr(), 64, 200) };
        let start = Instant::now();
        for event in ready.iter().take(n.max(0) as usize) {
            let fd = event.data as i32;
            if fd == control.door.as_raw_fd() {
                control.take();
            } else {
                control.hear(fd);
            }
        }
        busy += start.elapsed();
    }
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", control.units, busy.as_secs_f64(), control.listing.as_secs_f64());
    std::fs::write("@{report}", text)
}
