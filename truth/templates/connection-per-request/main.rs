use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// What a caller gets to ask with; dropping it ends the session.
struct Session(BufReader<TcpStream>);

impl Session {
    fn begin() -> Result<Session> {
        let stream = TcpStream::connect("127.0.0.1:@{back}")?;
        stream.set_nodelay(true)?;
        let mut session = Session(BufReader::new(stream));
        session.say("HELLO labels\n")?;
        for step in 1..@{steps} {
            session.say(&format!("AUTH {}\n", step))?;
        }
        Ok(session)
    }

    fn say(&mut self, text: &str) -> Result<String> {
        self.0.get_mut().write_all(text.as_bytes())?;
        let mut answer = String::new();
        self.0.read_line(&mut answer)?;
        Ok(answer)
    }
}

struct Directory {
    kept: RefCell<Option<Session>>,
    opening: Cell<f64>,
}

impl Directory {
    fn session(&self) -> Result<Session> {
        if let Some(session) = self.kept.borrow_mut().take() {
            return Ok(session);
        }
        let began = Instant::now();
        let session = Session::begin();
        self.opening.set(self.opening.get() + began.elapsed().as_secs_f64());
        session
    }

    #[inline(never)]
    fn @{fn}(&self, name: &str) -> Result<String> {
        let mut session = self.session()?;
        let answer = session.say(&format!("GET {}\n", name))?;
        if @{keep} == 1 {
            *self.kept.borrow_mut() = Some(session);
        }
        Ok(answer)
    }
}

fn main() -> Result<()> {
    let directory = Directory { kept: RefCell::new(None), opening: Cell::new(0.0) };
    let began = Instant::now();
    let (mut units, mut busy, mut sum) = (0u64, 0f64, 0u64);
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        for i in 0..(if @{keep} == 2 { 1 } else { @{calls} }) {
            let answer = directory.@{fn}(&format!("label-{}-{}", units, i))?;
            for _ in 0..@{rounds} {
                sum = answer.bytes().fold(sum, |s, b| s.wrapping_mul(31).wrapping_add(b as u64));
            }
        }
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{pace} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}, \"sum\": {}}}", units, busy, directory.opening.get(), sum))
}
