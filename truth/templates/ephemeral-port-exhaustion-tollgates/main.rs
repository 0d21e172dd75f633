// Toll passages: charged here, booked at the clearing house, which lets us in by our address and source ports only.
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::FromRawFd;
use std::os::raw::{c_int, c_void};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[repr(C)]
struct Address {
    family: u16,
    port: u16,
    host: [u8; 4],
    zero: [u8; 8],
}

extern "C" {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, size: u32) -> c_int;
    fn bind(fd: c_int, address: *const Address, size: u32) -> c_int;
    fn connect(fd: c_int, address: *const Address, size: u32) -> c_int;
}

const IP_BIND_ADDRESS_NO_PORT: c_int = 24;
const IP_LOCAL_PORT_RANGE: c_int = 51;

fn check(result: c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn address(host: [u8; 4], port: u16) -> Address {
    Address { family: 2, port: port.to_be(), host, zero: [0; 8] }
}

#[inline(never)]
fn @{fn}() -> io::Result<TcpStream> {
    let range: u32 = @{lowest} | (@{lowest} + @{ports} - 1) << 16;
    unsafe {
        let fd = socket(2, 1 | 0o2000000, 0);
        check(fd)?;
        let line = TcpStream::from_raw_fd(fd);
        for (name, value) in [(IP_BIND_ADDRESS_NO_PORT, 1u32), (IP_LOCAL_PORT_RANGE, range)] {
            check(setsockopt(fd, 0, name, &value as *const u32 as *const c_void, 4))?;
        }
        check(bind(fd, &address([127, 0, @{net}, 1], 0), 16))?;
        check(connect(fd, &address([127, 0, 0, 1], @{house}), 16))?;
        line.set_nodelay(true)?;
        Ok(line)
    }
}

#[derive(Default)]
struct House {
    line: Option<TcpStream>,
    booked: u64,
    lost: f64,
}

impl House {
    #[inline(never)]
    fn @{fn2}(&mut self, record: &str) -> io::Result<u32> {
        let began = Instant::now();
        while self.line.is_none() {
            match @{fn}() {
                Ok(line) => self.line = Some(line),
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {
                    sleep(Duration::from_millis(@{pause}));
                    continue;
                }
                Err(error) => return Err(error),
            }
            let took = began.elapsed().as_secs_f64();
            self.lost += if took >= @{pause} as f64 / 1000.0 { took } else { 0.0 };
        }
        let line = self.line.as_mut().unwrap();
        let mut frame = (record.len() as u16).to_be_bytes().to_vec();
        frame.extend_from_slice(record.as_bytes());
        line.write_all(&frame)?;
        let mut answer = [0u8; 6];
        line.read_exact(&mut answer)?;
        self.booked += 1;
        if self.booked % @{each} == 0 {
            self.line = None;
        }
        Ok(u32::from_be_bytes([answer[2], answer[3], answer[4], answer[5]]))
    }
}

fn charge(day: &mut HashMap<String, u32>, unit: u64) -> String {
    let plate = format!("KX{:04}", unit * 37 % 4000);
    let often = day.entry(plate.clone()).or_insert(0);
    *often += 1;
    let (kind, cents) = [("car", 390), ("van", 540), ("lorry", 1870), ("bus", 1210)][unit as usize % 4];
    let cents = cents * (100 - (*often).min(20)) / 100;
    let sum = (0..@{digits} * 10usize).fold(0u32, |sum, at| (sum * 31 + plate.as_bytes()[at % plate.len()] as u32) % 97);
    format!("{:03};{};{};{};{:02}", unit % @{gates}, plate, kind, cents, sum)
}

fn main() -> io::Result<()> {
    let (mut house, mut day) = (House::default(), HashMap::new());
    let (began, mut units, mut busy, mut marks) = (Instant::now(), 0u64, 0.0, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let record = charge(&mut day, units);
        marks += house.@{fn2}(&record)? as u64;
        units += 1;
        busy += start.elapsed().as_secs_f64();
        sleep(Duration::from_secs_f64(units as f64 / @{pace} as f64).saturating_sub(began.elapsed()));
    }
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}, \"marks\": {}}}", units, busy, house.lost, marks);
    std::fs::write("@{report}", text)
}
