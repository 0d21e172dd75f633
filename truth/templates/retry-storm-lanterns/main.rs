// Registers the groups of a lantern parade: each needs a permit of the fire brigade, by the number and size of its lanterns.
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

struct Group {
    number: u32,
    lanterns: Vec<u32>,
}

impl Group {
    fn of(number: u32) -> Group {
        Group { number, lanterns: (0..@{members}).map(|i| (number * 31 + i * 17) % 70 + 20).collect() }
    }

    fn width(&self, order: &[usize]) -> u32 {
        order.chunks(3).map(|row| row.iter().map(|&i| self.lanterns[i]).max().unwrap() + 150).sum()
    }

    // Lines the group up in rows of three, so that it takes little room in the street: swaps two, and keeps what is shorter.
    #[inline(never)]
    fn line_up(&self) -> u32 {
        let mut order: Vec<usize> = (0..self.lanterns.len()).collect();
        let (mut best, mut chance, start) = (self.width(&order), self.number as u64 + 1, Instant::now());
        while start.elapsed().as_secs_f64() < @{own} / 1000.0 {
            for _ in 0..200 {
                chance = chance.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let (a, b) = ((chance >> 40) as usize % order.len(), (chance >> 20) as usize % order.len());
                order.swap(a, b);
                let now = self.width(&order);
                if now <= best {
                    best = now;
                } else {
                    order.swap(a, b);
                }
            }
        }
        best
    }
}

struct Line {
    stream: TcpStream,
    answers: Receiver<String>,
}

impl Line {
    fn open() -> io::Result<Line> {
        let stream = TcpStream::connect(("127.0.0.1", @{brigade}))?;
        stream.set_nodelay(true)?;
        let (heard, answers) = channel();
        let lines = BufReader::new(stream.try_clone()?).lines();
        thread::spawn(move || lines.map_while(Result::ok).all(|answer| heard.send(answer).is_ok()));
        Ok(Line { stream, answers })
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

struct Brigade {
    line: Option<Line>,
}

impl Brigade {
    fn once(&mut self, question: &str, patience: u64) -> io::Result<String> {
        if self.line.is_none() {
            self.line = Some(Line::open()?);
        }
        let line = self.line.as_mut().unwrap();
        line.stream.write_all(question.as_bytes())?;
        line.answers.recv_timeout(Duration::from_millis(patience)).map_err(|error| match error {
            RecvTimeoutError::Timeout => io::ErrorKind::TimedOut.into(),
            RecvTimeoutError::Disconnected => io::ErrorKind::UnexpectedEof.into(),
        })
    }

    #[inline(never)]
    fn @{fn}(&mut self, group: &Group, length: u32) -> io::Result<bool> {
        let question = format!("permit {} {} {}\n", group.number, length, group.lanterns.len());
        let mut patience = @{patience};
        loop {
            match self.once(&question, patience) {
                Ok(answer) => return Ok(answer.ends_with("granted")),
                Err(e) if e.kind() == io::ErrorKind::TimedOut => {
                    // An answer that comes late must not be taken for that of another group.
                    self.line = None;
                    patience *= @{grows};
                }
                Err(e) => return Err(e),
            }
        }
    }

    fn route(&mut self) -> io::Result<String> {
        self.once("route\n", 2000)
    }
}

fn main() -> io::Result<()> {
    let mut brigade = Brigade { line: None };
    let mut places: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    let (mut busy, mut culprit, mut units) = (0.0, 0.0, 0u32);
    let (mut at, mut route) = (0, String::new());
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let group = Group::of(units + 1);
        let length = group.line_up();
        let asked = Instant::now();
        let granted = brigade.@{fn}(&group, length)?;
        culprit += asked.elapsed().as_secs_f64();
        if granted {
            places.insert(at, (group.number, length));
            at += length;
        }
        for _ in 0..@{queue} {
            route = brigade.route()?;
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    eprintln!("{} groups, {} m of street, {}", places.len(), at / 100, route);
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {culprit}}}"))
}
