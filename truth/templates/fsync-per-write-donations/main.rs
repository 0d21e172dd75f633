//! Intake of a blood bank: a session's bags are entered in the register and get their numbers.
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

struct Bag {
    session: u64,
    group: String,
    millilitres: u32,
    number: Sender<u64>,
}

struct Register {
    file: File,
    last: u64,
    behind: u64,
}

impl Register {
    #[inline(never)]
    fn @{fn}(&mut self, bag: &Bag) -> io::Result<u64> {
        self.last += 1;
        let line = format!("{:09};{};{};{};{}\n", self.last, bag.session, bag.group, bag.millilitres, "-".repeat(@{remark}));
        self.file.write_all(line.as_bytes())?;
        self.behind += 1;
        if self.behind == @{every} {
            self.settle()?;
        }
        Ok(self.last)
    }

    fn settle(&mut self) -> io::Result<()> {
        if self.behind > 0 {
            self.file.sync_data()?;
            self.behind = 0;
        }
        Ok(())
    }

    fn keep(mut self, desk: Receiver<Bag>) -> io::Result<()> {
        let period = Duration::from_secs_f64(@{period});
        let mut due = Instant::now() + period;
        loop {
            match desk.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(bag) => {
                    let number = self.@{fn}(&bag)?;
                    let _ = bag.number.send(number);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if Instant::now() >= due {
                due += period;
                if @{every} == 0 {
                    self.settle()?;
                }
            }
        }
    }
}

fn bad(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The session's number and its body; nothing when the team has hung up.
fn request(reader: &mut impl BufRead) -> io::Result<Option<(u64, String)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).ok_or_else(|| bad("no path"))?;
    let session = path.rsplit('/').next().and_then(|text| text.parse().ok()).ok_or_else(|| bad("no session"))?;
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().map_err(|_| bad("length"))?;
            }
        }
    }
    let mut body = String::new();
    reader.take(length).read_to_string(&mut body)?;
    Ok(Some((session, body)))
}

fn serve(mut team: TcpStream, desk: Sender<Bag>) -> io::Result<()> {
    team.set_nodelay(true)?;
    let mut reader = BufReader::new(team.try_clone()?);
    while let Some((session, body)) = request(&mut reader)? {
        let (number, numbers) = channel();
        for line in body.split(',') {
            let (group, millilitres) = line.split_once(' ').ok_or_else(|| bad("bag"))?;
            let bag = Bag { session, group: group.into(), millilitres: millilitres.parse().unwrap_or(0), number: number.clone() };
            desk.send(bag).map_err(|_| bad("the register is shut"))?;
        }
        drop(number);
        let bags: Vec<String> = numbers.iter().map(|number| number.to_string()).collect();
        let text = format!("{{\"session\": {session}, \"bags\": [{}]}}", bags.join(", "));
        let head = format!("HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", text.len());
        team.write_all((head + &text).as_bytes())?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let file = OpenOptions::new().append(true).create(true).open("@{work}/@{register}")?;
    let register = Register { file, last: 0, behind: 0 };
    let (desk, bags) = channel();
    thread::Builder::new().name("register".into()).spawn(move || register.keep(bags))?;
    for team in TcpListener::bind(("127.0.0.1", @{port}))?.incoming() {
        let (team, desk) = (team?, desk.clone());
        thread::spawn(move || {
            if let Err(error) = serve(team, desk) {
                eprintln!("{error}");
            }
        });
    }
    Ok(())
}
