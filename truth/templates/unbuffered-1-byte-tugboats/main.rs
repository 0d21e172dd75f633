// Gives the pilots a list of the ships in the roads, the newest message of each.
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

struct Roads<R> {
    from: R,
    to: UnixStream,
    ships: HashMap<u32, String>,
    spent: Duration,
}

/// What comes off the line, in blocks as large as the line was opened with.
#[inline(never)]
fn @{fn}<R: Read>(from: &mut R, block: &mut [u8], text: &mut Vec<u8>) -> std::io::Result<()> {
    // A message ends with its line; the answer with an empty one.
    while !text.ends_with(b"\n\n") {
        match from.read(block)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            got => text.extend_from_slice(&block[..got]),
        }
    }
    Ok(())
}

impl<R: Read> Roads<R> {
    fn update(&mut self, block: &mut [u8]) -> std::io::Result<()> {
        self.to.write_all(b"@{word}\n")?;
        let start = Instant::now();
        let mut text = Vec::with_capacity(16384);
        @{fn}(&mut self.from, block, &mut text)?;
        self.spent += start.elapsed();
        for message in text.lines() {
            let message = message?;
            let Some((body, check)) = message.rsplit_once('*') else { continue };
            let sum: u32 = body.bytes().map(u32::from).sum::<u32>() + 42;
            if u32::from_str_radix(check, 16).ok() != Some(sum % 256) {
                continue;
            }
            let ship = body.bytes().skip(14).take(6).fold(0u32, |n, c| n * 64 + u32::from(c & 63));
            self.ships.insert(ship, body.to_string());
        }
        Ok(())
    }

    fn key(&mut self) -> std::io::Result<u8> {
        let mut typed = [0u8; 1];
        self.to.write_all(b"key\n")?;
        self.from.read_exact(&mut typed)?;
        Ok(typed[0])
    }
}

fn main() -> std::io::Result<()> {
    let line = UnixStream::connect("@{work}/@{line}")?;
    let mut roads = Roads { to: line.try_clone()?, from: line, ships: HashMap::new(), spent: Duration::ZERO };
    let mut block = vec![0u8; @{block}];
    let (began, mut busy, mut units) = (Instant::now(), Duration::ZERO, 0u32);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        roads.update(&mut block)?;
        if @{keyed} == 1 && units % 5 == 0 {
            roads.key()?;
        }
        units += 1;
        busy += start.elapsed();
        sleep(Duration::from_secs_f64(f64::from(units) / @{rate}.0).saturating_sub(began.elapsed()));
    }
    // The list itself.
    let mut last = BufReader::new(roads.ships.keys().map(|s| format!("{s}\n")).collect::<String>().as_bytes()).lines().count();
    last = last.max(1);
    let text = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}, \"ships\": {last}}}", busy.as_secs_f64(), roads.spent.as_secs_f64());
    std::fs::write("@{report}", text)
}
