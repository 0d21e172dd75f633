use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Error, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

#[repr(C)]
struct Address {
    family: u16,
    port: [u8; 2],
    host: [u8; 4],
    zero: [u8; 8],
}

extern "C" {
    fn socket(domain: i32, kind: i32, protocol: i32) -> i32;
    fn setsockopt(fd: i32, level: i32, name: i32, value: *const u32, size: u32) -> i32;
    fn connect(fd: i32, to: *const Address, size: u32) -> i32;
}

/// Asks a hall's desk which dances can still be booked.
#[derive(Default)]
struct Desk {
    line: Option<BufReader<TcpStream>>,
    asked: u64,
    waited: Duration,
}

impl Desk {
    #[inline(never)]
    fn @{fn}() -> Result<TcpStream, Error> {
        let to = Address { family: 2, port: (@{desk}u16).to_be_bytes(), host: [127, 0, 0, 1], zero: [0; 8] };
        unsafe {
            let fd = socket(2, 1, 0);
            if fd < 0 {
                return Err(Error::last_os_error());
            }
            let line = OwnedFd::from_raw_fd(fd);
            if @{fenced} == 1 {
                // IP_LOCAL_PORT_RANGE: the firewall knows these.
                let sources = @{lowest}u32 | (@{lowest}u32 + @{ports} - 1) << 16;
                setsockopt(line.as_raw_fd(), 0, 51, &sources, 4);
            }
            if connect(line.as_raw_fd(), &to, 16) != 0 {
                return Err(Error::last_os_error());
            }
            Ok(TcpStream::from(line))
        }
    }

    fn free(&mut self, night: u64) -> Result<String, Error> {
        while self.line.is_none() {
            let began = Instant::now();
            match Desk::@{fn}() {
                Ok(line) => {
                    line.set_nodelay(true)?;
                    self.line = Some(BufReader::new(line));
                }
                Err(_) => {
                    std::thread::sleep(Duration::from_millis(@{pause}));
                    self.waited += began.elapsed();
                }
            }
        }
        let line = self.line.as_mut().unwrap();
        line.get_mut().write_all(format!("free {}\n", night).as_bytes())?;
        let mut answer = String::new();
        line.read_line(&mut answer)?;
        self.asked += 1;
        if self.asked % @{turns} == 0 {
            self.line = None;
        }
        Ok(answer)
    }
}

fn seat(free: &str, night: u64) -> u64 {
    let list = free.trim_end().split(' ').nth(1).unwrap_or("");
    let dances: BTreeMap<&str, u64> = list.split(',').filter_map(|d| d.split_once(':')).map(|(d, n)| (d, n.parse().unwrap_or(0))).collect();
    let mut tables = [0u64; 97];
    let mut chance = night + 1;
    for _ in 0..@{seats} * 4 {
        chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        tables[(chance >> 33) as usize % 97] += 1;
    }
    dances.values().zip(tables).map(|(a, b)| a.min(&b).to_owned()).sum()
}

fn main() -> Result<(), Error> {
    let mut desk = Desk::default();
    let (began, mut busy, mut units, mut seated) = (Instant::now(), Duration::ZERO, 0u64, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        seated += seat(&desk.free(units)?, units);
        units += 1;
        busy += start.elapsed();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        std::thread::sleep(due.saturating_sub(began.elapsed()));
    }
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}, \"seated\": {}}}", units, busy.as_secs_f64(), desk.waited.as_secs_f64(), seated);
    std::fs::write("@{report}", text)
}
