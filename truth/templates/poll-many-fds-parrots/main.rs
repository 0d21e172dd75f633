// The post of an aviary: hears at each nest what its parrot says, and keeps what is loud.
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

#[repr(C)]
struct PollFd {
    fd: i32,
    events: i16,
    revents: i16,
}

#[repr(C)]
#[cfg_attr(target_arch = "x86_64", repr(packed))]
#[derive(Clone, Copy, Default)]
struct Event {
    events: u32,
    data: u64,
}

#[repr(C)]
struct Pair {
    a: i64,
    b: i64,
}

unsafe extern "C" {
    fn poll(fds: *mut PollFd, count: u64, timeout: i32) -> i32;
    fn epoll_create1(flags: i32) -> i32;
    fn epoll_ctl(list: i32, what: i32, fd: i32, event: *mut Event) -> i32;
    fn epoll_wait(list: i32, events: *mut Event, most: i32, timeout: i32) -> i32;
    fn clock_gettime(which: i32, at: *mut Pair) -> i32;
    fn getrlimit(which: i32, limit: *mut Pair) -> i32;
    fn setrlimit(which: i32, limit: *const Pair) -> i32;
}

fn cpu() -> Duration {
    let mut at = Pair { a: 0, b: 0 };
    unsafe { clock_gettime(3, &mut at) };
    Duration::new(at.a as u64, at.b as u32)
}

struct Post {
    nests: Vec<UnixDatagram>,
    voice: UnixDatagram,
    asked: Vec<PollFd>,
    list: Option<i32>,
    loudest: HashMap<String, f64>,
    units: u64,
    polling: Duration,
}

impl Post {
    fn new(count: usize) -> io::Result<Post> {
        let list = if @{epoll} == 1 { Some(unsafe { epoll_create1(0) }) } else { None };
        let mut post = Post { nests: Vec::new(), voice: UnixDatagram::unbound()?, asked: Vec::new(), list, loudest: HashMap::new(), units: 0, polling: Duration::ZERO };
        for number in 0..count {
            let nest = UnixDatagram::bind(format!("@{work}/@{nests}/nest-{number}"))?;
            nest.set_nonblocking(true)?;
            match post.list {
                Some(list) => {
                    let mut event = Event { events: 1, data: number as u64 };
                    unsafe { epoll_ctl(list, 1, nest.as_raw_fd(), &mut event) };
                }
                None => post.asked.push(PollFd { fd: nest.as_raw_fd(), events: 1, revents: 0 }),
            }
            post.nests.push(nest);
        }
        Ok(post)
    }

    #[inline(never)]
    fn @{fn}(&mut self) -> Vec<usize> {
        // What it costs, not how long the parrots are silent.
        let start = cpu();
        let ready = match self.list {
            Some(list) => {
                let mut events = [Event::default(); 64];
                let n = unsafe { epoll_wait(list, events.as_mut_ptr(), 64, 500) };
                events[..n.max(0) as usize].iter().map(|event| event.data as usize).collect()
            }
            None => {
                unsafe { poll(self.asked.as_mut_ptr(), self.asked.len() as u64, 500) };
                (0..self.asked.len()).filter(|&number| self.asked[number].revents != 0).collect()
            }
        };
        self.polling += cpu() - start;
        ready
    }

    fn hear(&mut self, number: usize) -> io::Result<()> {
        let nest = &self.nests[number];
        let mut text = [0u8; 256];
        loop {
            let n = match nest.recv(&mut text) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                other => other?,
            };
            let said = String::from_utf8_lossy(&text[..n]).into_owned();
            let words: Vec<&str> = said.split(' ').collect();
            let (loud, pitch): (f64, f64) = (words[2].parse().unwrap_or(0.0), words[3].parse().unwrap_or(0.0));
            let wave: f64 = (0..@{rounds} * 20).map(|i| (pitch * i as f64 / 8000.0).sin() * loud / (i + 1) as f64).sum();
            let most = self.loudest.entry(words[1].to_string()).or_insert(0.0);
            *most = most.max(loud + wave / 1000.0);
            let heard = format!("{number} {}", if loud < *most { "heard" } else { "louder" });
            self.voice.send_to(heard.as_bytes(), "@{work}/parrots.sock")?;
            self.units += 1;
        }
    }
}

fn main() -> io::Result<()> {
    let mut files = Pair { a: 0, b: 0 };
    unsafe {
        getrlimit(7, &mut files);
        files.a = files.b;
        setrlimit(7, &files);
    }
    let mut post = Post::new(@{count})?;
    let (began, mut handling) = (Instant::now(), Duration::ZERO);
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let ready = post.@{fn}();
        let start = Instant::now();
        for number in ready {
            post.hear(number)?;
        }
        handling += start.elapsed();
    }
    let (all, polling) = ((handling + post.polling).as_secs_f64(), post.polling.as_secs_f64());
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", post.units, all, polling))
}
