//! A directory of podcasts: readers take show after show, fetch its episodes from its station, and keep what is new.
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const STATIONS: [u16; 3] = [@{city}, @{hills}, @{coast}];
const LIMIT: f64 = @{limit};

type Directory = Arc<Mutex<HashMap<u64, String>>>;

#[derive(Default)]
struct Account {
    units: u32,
    busy: Duration,
    lost: Duration,
    since: Option<Instant>,
}

#[derive(Default)]
struct Station {
    line: Option<BufReader<TcpStream>>,
}

impl Station {
    fn line(&mut self, port: u16) -> Result<&mut BufReader<TcpStream>> {
        if self.line.is_none() {
            let stream = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), Duration::from_secs(2))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout((LIMIT > 0.0).then(|| Duration::from_secs_f64(LIMIT)))?;
            self.line = Some(BufReader::new(stream));
        }
        self.line.as_mut().ok_or(Error::from(ErrorKind::NotConnected))
    }

    #[inline(never)]
    fn @{fn}(&mut self, port: u16, show: usize) -> Result<String> {
        let line = self.line(port)?;
        line.get_mut().write_all(format!("GET /shows/{show} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes())?;
        let mut length = 0;
        loop {
            let mut head = String::new();
            line.read_line(&mut head)?;
            if head.trim_end().is_empty() {
                break;
            }
            if let Some(value) = head.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(Error::other)?;
            }
        }
        let mut text = vec![0; length];
        line.read_exact(&mut text)?;
        String::from_utf8(text).map_err(Error::other)
    }
}

/// An episode is known by the mark of its title.
fn entry(row: &str) -> Option<(u64, String)> {
    let mut fields = row.split('\t');
    let (date, seconds, title) = (fields.next()?, fields.next()?.parse::<u32>().ok()?, fields.next()?);
    let letters = title.bytes().filter(u8::is_ascii_alphanumeric);
    let mark = letters.fold(14695981039346656037u64, |mark, letter| (mark ^ u64::from(letter.to_ascii_lowercase())).wrapping_mul(1099511628211));
    Some((mark, format!("{date} {}:{:02} {title}", seconds / 60, seconds % 60)))
}

fn reader(shows: &Mutex<Receiver<usize>>, directory: &Directory, account: &Mutex<Account>) {
    let mut stations: [Station; 3] = Default::default();
    loop {
        let Ok(number) = shows.lock().unwrap().recv() else { return };
        let began = Instant::now();
        account.lock().unwrap().since = Some(began);
        let station = &mut stations[number % 3];
        let found = station.@{fn}(STATIONS[number % 3], number);
        match &found {
            Ok(text) => directory.lock().unwrap().extend(text.lines().filter_map(entry)),
            Err(_) => station.line = None,
        }
        let mut mine = account.lock().unwrap();
        mine.since = None;
        mine.units += 1;
        mine.busy += began.elapsed();
        if found.is_err() {
            mine.lost += began.elapsed();
        }
    }
}

fn open_office(directory: Directory) -> Result<()> {
    let door = UnixListener::bind("@{work}/@{door}")?;
    thread::spawn(move || {
        for mut editor in door.incoming().flatten() {
            let _ = writeln!(editor, "{}", directory.lock().unwrap().len());
        }
    });
    Ok(())
}

fn main() -> Result<()> {
    let directory = Directory::default();
    let (sender, receiver) = channel();
    let shows = Arc::new(Mutex::new(receiver));
    let accounts: Vec<Arc<Mutex<Account>>> = (0..@{readers}).map(|_| Arc::default()).collect();
    if @{office} == 1 {
        open_office(directory.clone())?;
    }
    for account in accounts.iter().cloned() {
        let (shows, directory) = (shows.clone(), directory.clone());
        thread::spawn(move || reader(&shows, &directory, &account));
    }
    let begun = Instant::now();
    let mut number = 0;
    while begun.elapsed().as_secs_f64() < @{seconds} {
        sender.send(number).map_err(Error::other)?;
        number += 1;
        thread::sleep(Duration::from_secs_f64(number as f64 / @{rate}).saturating_sub(begun.elapsed()));
    }
    let (mut units, mut busy, mut lost) = (0, 0.0, 0.0);
    for account in &accounts {
        let one = account.lock().unwrap();
        let hanging = one.since.map_or(0.0, |since| since.elapsed().as_secs_f64());
        units += one.units;
        busy += one.busy.as_secs_f64() + hanging;
        lost += one.lost.as_secs_f64() + hanging;
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {lost}}}"))
}
