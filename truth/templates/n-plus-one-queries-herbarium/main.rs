//! Sets the labels of a herbarium: threads make sheet after sheet, each with its own line to the cabinet.
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

struct Specimen {
    name: String,
    place: (f64, f64),
    rest: HashMap<String, i64>,
}

struct Cabinet {
    stream: BufReader<UnixStream>,
    waited: Duration,
}

fn specimen_of(text: &str) -> Specimen {
    let mut specimen = Specimen { name: String::new(), place: (0.0, 0.0), rest: HashMap::new() };
    for (name, value) in text.split('&').filter_map(|field| field.split_once('=')) {
        match name {
            "name" => specimen.name = value.to_owned(),
            "place" => {
                let (north, east) = value.split_once(',').unwrap_or(("0", "0"));
                specimen.place = (north.parse().unwrap_or(0.0), east.parse().unwrap_or(0.0));
            }
            _ => drop(specimen.rest.insert(name.to_owned(), value.parse().unwrap_or(0))),
        }
    }
    specimen
}

impl Cabinet {
    fn open() -> Result<Cabinet> {
        let line = UnixStream::connect("@{work}/@{sock}")?;
        line.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Cabinet { stream: BufReader::new(line), waited: Duration::ZERO })
    }

    fn get(&mut self, keys: &[String]) -> Result<HashMap<String, Specimen>> {
        let began = Instant::now();
        self.stream.get_mut().write_all(format!("get {}\r\n", keys.join(" ")).as_bytes())?;
        let mut found = HashMap::new();
        loop {
            let mut head = String::new();
            self.stream.read_line(&mut head)?;
            let words: Vec<&str> = head.split_whitespace().collect();
            let ["VALUE", key, _, length] = words[..] else { break };
            let mut text = vec![0; length.parse::<usize>().map_err(Error::other)? + 2];
            self.stream.read_exact(&mut text)?;
            found.insert(key.to_owned(), specimen_of(String::from_utf8_lossy(&text).trim_end()));
        }
        self.waited += began.elapsed();
        Ok(found)
    }
}

#[inline(never)]
fn @{fn}(cabinet: &mut Cabinet, keys: &[String]) -> Result<HashMap<String, Specimen>> {
    if "@{fetch}" == "sheet" {
        return cabinet.get(keys);
    }
    let mut specimens = HashMap::new();
    for key in keys.chunks(1) {
        specimens.extend(cabinet.get(key)?);
    }
    Ok(specimens)
}

fn label(key: &str, specimen: &Specimen) -> String {
    let of = |name: &str| specimen.rest.get(name).copied().unwrap_or(0);
    let place = format!("{:.3} N {:.3} E, {} m.", specimen.place.0, specimen.place.1, of("height"));
    let text = format!("{}. {place} Coll. {}, {}. ({key})", specimen.name, of("collector"), of("year"));
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if lines[lines.len() - 1].len() + word.len() > 29 {
            lines.push(String::new());
        }
        let last = lines.len() - 1;
        lines[last] += &format!("{word} ");
    }
    let bar = format!("+{}+\n", "-".repeat(32));
    let body: String = lines.iter().map(|line| format!("| {:30} |\n", line.trim_end())).collect();
    format!("{bar}{body}{bar}")
}

fn worker(number: usize, begun: Instant) -> Result<(usize, f64, f64)> {
    let mut cabinet = Cabinet::open()?;
    let (mut units, mut busy) = (0, Duration::ZERO);
    while begun.elapsed().as_secs_f64() < @{seconds} {
        let began = Instant::now();
        let keys: Vec<String> = (0..@{size}).map(|i| format!("@{prefix}:{}", (units * 131 + number * 17 + i * 7) % @{kinds})).collect();
        let specimens = @{fn}(&mut cabinet, &keys)?;
        let sheet: String = keys.iter().filter_map(|key| Some(label(key, specimens.get(key)?))).collect();
        fs::write(format!("@{work}/sheets/{number}-{}.txt", units % 50), sheet)?;
        units += 1;
        busy += began.elapsed();
        thread::sleep(Duration::from_secs_f64(units as f64 / @{pace}).saturating_sub(begun.elapsed()));
    }
    Ok((units, busy.as_secs_f64(), cabinet.waited.as_secs_f64()))
}

fn main() -> Result<()> {
    fs::create_dir_all("@{work}/sheets")?;
    let begun = Instant::now();
    let workers: Vec<_> = (0..@{workers}).map(|number| thread::spawn(move || worker(number, begun))).collect();
    let (mut units, mut busy, mut waited) = (0, 0.0, 0.0);
    for one in workers {
        let (u, b, w) = one.join().expect("a worker ended")?;
        units += u;
        busy += b;
        waited += w;
    }
    fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {waited}}}"))
}
