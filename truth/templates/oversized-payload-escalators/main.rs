// The service of who keeps the escalators of the stations running: their states for the boards, and the manuals for the mechanics.
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::Duration;

const STATIONS: [&str; 7] = ["Hauptbahnhof", "Ostkreuz", "Rathaus", "Messe", "Flughafen", "Zoo", "Hafen"];

struct Escalator {
    number: usize,
    region: usize,
    starts: usize,
    runs: bool,
    shown: String,
    kept: String,
}

impl Escalator {
    fn new(number: usize) -> Escalator {
        let tremors: Vec<String> = (0..@{hours}).map(|hour| format!("{:.3}", ((number * 7919 + hour * 104729) % 9973) as f64 / 1000.0)).collect();
        let kept = format!(
            "\"tremors\":[{}],\"machine\":{{\"type\":\"e{}\",\"steps\":{},\"rise\":{}}}",
            tremors.join(","),
            number % 4,
            60 + number % 40,
            4 + number % 9
        );
        let mut one = Escalator { number, region: number % 16, starts: number * 31 % 9000, runs: true, shown: String::new(), kept };
        one.set(true);
        one
    }

    fn set(&mut self, runs: bool) {
        self.runs = runs;
        self.starts += 1;
        let (station, state) = (STATIONS[self.number % STATIONS.len()], if runs { "runs" } else { "stands" });
        self.shown = format!("\"number\":{},\"station\":\"{station} {}\",\"state\":\"{state}\",\"starts\":{}", self.number, self.number % 310, self.starts);
    }
}

struct Register {
    all: Vec<Escalator>,
    turn: usize,
}

impl Register {
    /// What the machines have told since the last time.
    fn heard(&mut self) {
        for _ in 0..40 {
            self.turn = (self.turn + 977) % self.all.len();
            let stands = self.all[self.turn].runs && self.turn % 5 == 0;
            self.all[self.turn].set(!stands);
        }
    }

    #[inline(never)]
    fn @{fn}(&self, region: usize, page: usize) -> String {
        let stands: Vec<_> = self.all.iter().filter(|one| !one.runs && one.region == region).collect();
        let mut text = format!("{{\"stands\":{},\"escalators\":[", stands.len());
        if @{whole} == 1 {
            for one in &self.all {
                let _ = write!(text, "{}{{{},\"region\":{},{}}}", if one.number > 0 { ",\n" } else { "" }, one.shown, one.region, one.kept);
            }
        } else {
            let others = self.all.iter().filter(|one| one.runs && one.region == region);
            for (place, one) in stands.into_iter().chain(others).skip((page - 1) * @{page}).take(@{page}).enumerate() {
                let _ = write!(text, "{}{{{}}}", if place > 0 { ",\n" } else { "" }, one.shown);
            }
        }
        text + "]}"
    }
}

fn head(kind: &str, size: u64) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n\r\n")
}

fn manual(line: &mut TcpStream, folder: &str, name: &str) -> io::Result<()> {
    let number: usize = name.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
    let mut file = File::open(format!("{folder}/type-{}.pdf", number % 4))?;
    line.write_all(head("application/pdf", file.metadata()?.len()).as_bytes())?;
    let mut part = vec![0; 256 * 1024];
    loop {
        let size = file.read(&mut part)?;
        if size == 0 {
            return Ok(());
        }
        line.write_all(&part[..size])?;
    }
}

fn value(query: &str, name: &str) -> usize {
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name).and_then(|(_, text)| text.parse().ok()).unwrap_or(1)
}

fn serve(mut line: TcpStream, register: &RwLock<Register>, folder: &str) -> io::Result<()> {
    line.set_nodelay(true)?;
    let mut reader = BufReader::new(line.try_clone()?);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut header = String::new();
        while reader.read_line(&mut header)? > 2 {
            header.clear();
        }
        let target = first.split(' ').nth(1).unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        match path {
            "/escalators" => {
                let body = register.read().unwrap().@{fn}(value(query, "region") % 16, value(query, "page").max(1));
                let mut answer = head("application/json", body.len() as u64);
                answer.push_str(&body);
                line.write_all(answer.as_bytes())?;
            }
            other if other.starts_with("/manuals/") => manual(&mut line, folder, other)?,
            _ => line.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?,
        }
    }
}

fn main() -> io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_default();
    let register = Arc::new(RwLock::new(Register { all: (0..@{escalators}).map(Escalator::new).collect(), turn: 0 }));
    let machines = register.clone();
    thread::spawn(move || loop {
        thread::sleep(Duration::from_millis(250));
        machines.write().unwrap().heard();
    });
    for line in TcpListener::bind(("127.0.0.1", @{port}))?.incoming() {
        let (line, register, folder) = (line?, register.clone(), folder.clone());
        thread::spawn(move || {
            if let Err(error) = serve(line, &register, &folder) {
                eprintln!("board: {error}");
            }
        });
    }
    Ok(())
}
