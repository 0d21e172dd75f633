//! Sends the circulars of a rowing club: "circular N" mails number N to its crew, and is answered by what the relay said.
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const BOATS: [&str; 5] = ["Albatros", "Heron", "Kingfisher", "Otter", "Pike"];
const SENDER: &str = "boathouse@club.example";

struct Circular {
    crew: Vec<String>,
    text: String,
    seal: u64,
}

impl Circular {
    fn new(number: u64) -> Self {
        let boat = BOATS[number as usize % BOATS.len()];
        let mut text = format!("From: Boathouse <{SENDER}>\r\nSubject: {boat}, outing {number}\r\n\r\n");
        for week in 1..=30 {
            let (hour, minute) = (6 + (number + week) % 12, number * week % 60);
            let _ = write!(text, "Week {week}: {boat} leaves the stage at {hour}:{minute:02}, bring water and a spare jersey.\r\n");
        }
        let mut seal = 14_695_981_039_346_656_037u64;
        for _ in 0..@{rounds} {
            for byte in text.bytes() {
                seal = (seal ^ u64::from(byte)).wrapping_mul(1_099_511_628_211);
            }
        }
        let crew = (0..@{members}u64).map(|seat| format!("rower{}@club.example", (number * 31 + seat * 17) % 900)).collect();
        Self { crew, text, seal }
    }
}

struct Relay {
    to: TcpStream,
    from: BufReader<TcpStream>,
}

impl Relay {
    fn open() -> io::Result<Self> {
        let to = TcpStream::connect(("127.0.0.1", @{relay}))?;
        to.set_nodelay(true)?;
        let from = BufReader::new(to.try_clone()?);
        let mut relay = Self { to, from };
        relay.reply("220")?;
        relay.command("EHLO boathouse.club.example", "250")?;
        Ok(relay)
    }

    fn reply(&mut self, code: &str) -> io::Result<String> {
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if !line.starts_with(code) {
                return Err(io::Error::other(format!("the relay says {line}")));
            }
            if line.as_bytes().get(3) == Some(&b' ') {
                return Ok(line[4..].trim_end().to_owned());
            }
        }
    }

    fn command(&mut self, text: &str, code: &str) -> io::Result<String> {
        self.to.write_all(format!("{text}\r\n").as_bytes())?;
        self.reply(code)
    }

    #[inline(never)]
    fn @{fn}(&mut self, circular: &Circular) -> io::Result<String> {
        if @{ahead} == 1 {
            let mut all = format!("MAIL FROM:<{SENDER}>\r\n");
            for address in &circular.crew {
                let _ = write!(all, "RCPT TO:<{address}>\r\n");
            }
            all.push_str("DATA\r\n");
            self.to.write_all(all.as_bytes())?;
            for _ in 0..=circular.crew.len() {
                self.reply("250")?;
            }
            self.reply("354")?;
        } else {
            self.command(&format!("MAIL FROM:<{SENDER}>"), "250")?;
            for address in &circular.crew {
                self.command(&format!("RCPT TO:<{address}>"), "250")?;
            }
            self.command("DATA", "354")?;
        }
        self.command(&format!("X-Seal: {:016x}\r\n{}.", circular.seal, circular.text), "250")
    }
}

fn serve(mut caller: TcpStream) -> io::Result<()> {
    caller.set_nodelay(true)?;
    let mut relay = Relay::open()?;
    for line in BufReader::new(caller.try_clone()?).lines() {
        let line = line?;
        let Some(number) = line.strip_prefix("circular ").and_then(|word| word.parse().ok()) else {
            caller.write_all(b"which circular?\n")?;
            continue;
        };
        let said = relay.@{fn}(&Circular::new(number))?;
        caller.write_all(format!("{number} {said}\n").as_bytes())?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    for caller in TcpListener::bind(("127.0.0.1", @{port}))?.incoming() {
        let caller = caller?;
        thread::spawn(move || {
            if let Err(error) = serve(caller) {
                eprintln!("{error}");
            }
        });
    }
    Ok(())
}
