// Makes the labels of honey jars: `labels 17` in, how many and their seal out.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

const RECORD: usize = 32;

struct Lots {
    path: &'static str,
    table: Vec<u8>,
    read: Option<Instant>,
}

impl Lots {
    #[inline(never)]
    fn @{fn}(&mut self) -> std::io::Result<&[u8]> {
        if self.read.map_or(true, |read| read.elapsed().as_secs_f64() >= @{fresh} as f64) {
            self.table = std::fs::read(self.path)?;
            self.read = Some(Instant::now());
        }
        Ok(&self.table)
    }

    fn find(&mut self, lot: usize) -> std::io::Result<[String; 3]> {
        let record = String::from_utf8_lossy(&self.@{fn}()?[lot * RECORD..(lot + 1) * RECORD]).into_owned();
        Ok([record[..6].to_string(), record[7..23].trim_end().to_string(), record[24..31].to_string()])
    }
}

// The number under the bars, with its check digit.
fn code(jar: usize) -> String {
    let digits = format!("40{:010}", jar % 10_000_000_000);
    let sum: u32 = digits.bytes().enumerate().map(|(at, digit)| (digit - b'0') as u32 * if at % 2 == 1 { 3 } else { 1 }).sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

fn labels(lots: &mut Lots, order: usize) -> std::io::Result<u32> {
    let mut seal = 7u32;
    for jar in 0..@{jars} {
        let [name, valley, best] = lots.find((order * 5 + jar / 8) % @{lots})?;
        let label = format!("{name}|{valley}|{best}|{}", code(order * @{jars} + jar));
        seal = label.bytes().fold(seal, |seal, letter| seal.wrapping_mul(31).wrapping_add(letter as u32));
    }
    Ok(seal)
}

fn serve(mut line: TcpStream) -> std::io::Result<()> {
    line.set_nodelay(true)?;
    // Each press has a table of its own.
    let mut lots = Lots { path: "@{work}/@{table}", table: Vec::new(), read: None };
    for asked in BufReader::new(line.try_clone()?).lines() {
        let order: usize = asked?.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0);
        let seal = labels(&mut lots, order % 100_000)?;
        line.write_all(format!("made {} {seal:x}\n", @{jars}).as_bytes())?;
    }
    Ok(())
}

fn main() {
    let door = TcpListener::bind("127.0.0.1:@{port}").expect("the port");
    for line in door.incoming().flatten() {
        std::thread::spawn(move || serve(line));
    }
}
