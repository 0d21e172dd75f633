//! Draws labels of badges, and has them printed.
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

struct Printer {
    connection: TcpStream,
    waited: Duration,
}

fn draw(number: u32) -> Vec<u8> {
    (0..@{picture}u32).map(|i| (number.wrapping_mul(2_654_435_761).rotate_left(i % 31) ^ i) as u8).collect()
}

impl Printer {
    #[inline(never)]
    fn @{fn}(&mut self, number: u32, picture: &[u8]) -> std::io::Result<u32> {
        let start = Instant::now();
        let mut head = Vec::with_capacity(12 + picture.len());
        for field in [picture.len() as u32, @{copies}, number] {
            head.extend(field.to_be_bytes());
        }
        if @{writes} == 1 {
            head.extend(picture);
            self.connection.write_all(&head)?;
        } else {
            self.connection.write_all(&head)?;
            self.connection.write_all(picture)?;
        }
        let mut done = [0; 4];
        self.connection.read_exact(&mut done)?;
        self.waited += start.elapsed();
        Ok(u32::from_be_bytes(done))
    }
}

fn main() -> std::io::Result<()> {
    let mut printer = Printer { connection: TcpStream::connect("127.0.0.1:@{printer}")?, waited: Duration::ZERO };
    printer.connection.set_nodelay(@{nodelay})?;
    let begin = Instant::now();
    let (mut units, mut busy) = (0, Duration::ZERO);
    while begin.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let picture = draw(units);
        printer.@{fn}(units, &picture)?;
        units += 1;
        busy += start.elapsed();
        let due = Duration::from_secs_f64(f64::from(units) / @{rate}.0);
        std::thread::sleep(due.saturating_sub(begin.elapsed()));
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), printer.waited.as_secs_f64());
    std::fs::write("@{report}", report)
}
