// Pushes firmware to a depot's chargers: whichever is next in the plan gets the image of its model.
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

extern "C" {
    fn sendfile(out: i32, from: i32, offset: *mut i64, count: usize) -> isize;
}

#[derive(Default)]
struct Charger {
    model: usize,
    version: u32,
    flashed: u32,
}

struct Push {
    line: TcpStream,
    answers: BufReader<TcpStream>,
    sending: Duration,
}

impl Push {
    fn new() -> io::Result<Push> {
        let line = TcpStream::connect(("127.0.0.1", @{port}))?;
        line.set_nodelay(true)?;
        Ok(Push { answers: BufReader::new(line.try_clone()?), line, sending: Duration::ZERO })
    }

    #[inline(never)]
    fn @{fn}(&mut self, image: &mut File) -> io::Result<u64> {
        let mut part = [0u8; @{piece}];
        let mut total = 0;
        match "@{way}" {
            "send" => {
                let size = image.metadata()?.len();
                while total < size {
                    // The kernel moves the file's position.
                    let sent = unsafe { sendfile(self.line.as_raw_fd(), image.as_raw_fd(), std::ptr::null_mut(), (size - total) as usize) };
                    if sent <= 0 {
                        return Err(io::Error::last_os_error());
                    }
                    total += sent as u64;
                }
            }
            way => loop {
                let size = image.read(&mut part)?;
                if size == 0 {
                    break;
                }
                if way == "seal" {
                    part[..size].iter_mut().enumerate().for_each(|(at, byte)| *byte ^= (at as u8).wrapping_mul(167) ^ 0x5a);
                }
                self.line.write_all(&part[..size])?;
                total += size as u64;
            },
        }
        Ok(total)
    }

    fn flash(&mut self, id: u32, charger: &mut Charger) -> io::Result<()> {
        let mut image = File::open(format!("@{work}/@{shelf}/model-{}.@{ending}", charger.model))?;
        let size = image.metadata()?.len();
        writeln!(self.line, "flash {id} {} {size}", charger.version + 1)?;
        let start = Instant::now();
        let sent = self.@{fn}(&mut image)?;
        self.sending += start.elapsed();
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        if sent == size && answer.trim() == "flashed" {
            charger.version += 1;
            charger.flashed += 1;
        }
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let mut depot: BTreeMap<u32, Charger> = (0..90u32)
        .map(|n| (4000 + n * 7, Charger { model: (n * 5) as usize % (@{last} + 1), version: 3 + n % 4, flashed: 0 }))
        .collect();
    let mut push = Push::new()?;
    let (began, mut units, mut busy) = (Instant::now(), 0u32, Duration::ZERO);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let (&id, charger) = depot.iter_mut().min_by_key(|(id, one)| (one.version, one.flashed, **id)).unwrap();
        push.flash(id, charger)?;
        units += 1;
        busy += start.elapsed();
        std::thread::sleep(Duration::from_secs_f64(1.0 / @{rate} as f64).saturating_sub(start.elapsed()));
    }
    let text = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), push.sending.as_secs_f64());
    std::fs::write("@{report}", text)
}
