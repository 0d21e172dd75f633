//! Gets pictures from a camera, stamps them, and gives them to the recorder.
use std::io::Write;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

extern "C" {
    fn setsockopt(socket: i32, level: i32, name: i32, value: *const i32, length: u32) -> i32;
}

const SOL_SOCKET: i32 = 1;
const SO_SNDBUF: i32 = 7;

struct Camera {
    picture: Vec<u8>,
    sending: Duration,
}

impl Camera {
    fn shoot(&mut self, number: usize) -> usize {
        for (place, pixel) in self.picture.iter_mut().enumerate().step_by(64) {
            *pixel = (place.wrapping_mul(number) >> 3) as u8;
        }
        let size = self.picture.len() / @{shrink};
        self.picture[..4].copy_from_slice(&(size as u32 - 4).to_be_bytes());
        size
    }

    #[inline(never)]
    fn @{fn}(&mut self, recorder: &mut TcpStream, size: usize) -> std::io::Result<()> {
        let start = Instant::now();
        recorder.write_all(&self.picture[..size])?;
        self.sending += start.elapsed();
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let mut recorder = TcpStream::connect("127.0.0.1:@{recorder}")?;
    let bytes = 512 << 10;
    // SAFETY: the socket is open, and the value is an int of four bytes.
    if unsafe { setsockopt(recorder.as_raw_fd(), SOL_SOCKET, SO_SNDBUF, &bytes, 4) } != 0 {
        return Err(std::io::Error::last_os_error());
    }
    let mut yard = Camera { picture: vec![7; @{kilobytes} << 10], sending: Duration::ZERO };
    let begin = Instant::now();
    let (mut units, mut busy) = (0, Duration::ZERO);
    while begin.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let size = yard.shoot(units);
        yard.@{fn}(&mut recorder, size)?;
        units += 1;
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(1.0 / f64::from(@{rate})).saturating_sub(start.elapsed()));
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), yard.sending.as_secs_f64());
    std::fs::write("@{report}", report)
}
