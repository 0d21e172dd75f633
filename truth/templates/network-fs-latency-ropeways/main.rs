// Opens the gates of the ropeways: is this pass good, and what does the ride cost?
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

struct Office {
    folder: PathBuf,
    rides: Mutex<HashMap<u64, u32>>,
}

enum Verdict {
    Blocked,
    Open { price: u32, rides: u32 },
}

impl Office {
    fn @{fn}(&self, pass: u64) -> std::io::Result<Verdict> {
        let notice = self.folder.join(format!("blocked/pass-{}", pass % 2000));
        if notice.try_exists()? {
            return Ok(Verdict::Blocked);
        }
        let tariff = fs::read_to_string(self.folder.join(format!("tariffs/piste-{}", pass % 24)))?;
        let prices: Vec<u32> = tariff.lines().filter_map(|line| line.parse().ok()).collect();
        let rides = {
            let mut all = self.rides.lock().unwrap();
            let rides = all.entry(pass % 5000).or_default();
            *rides += 1;
            *rides
        };
        // The more rides, the cheaper.
        let price = prices.get(prices.len().saturating_sub(rides as usize)).copied().unwrap_or(0);
        Ok(Verdict::Open { price, rides })
    }

    fn gate(&self, line: TcpStream) -> std::io::Result<()> {
        line.set_nodelay(true)?;
        let mut out = line.try_clone()?;
        for question in BufReader::new(line).lines() {
            let question = question?;
            let pass = question.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
            let answer = match self.@{fn}(pass) {
                Ok(Verdict::Blocked) => format!("pass {pass} blocked\n"),
                Ok(Verdict::Open { price, rides }) => format!("pass {pass} open {price} after {rides}\n"),
                Err(error) => format!("pass {pass} unknown: {error}\n"),
            };
            out.write_all(answer.as_bytes())?;
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let pistes = fs::read_dir(Path::new("@{work}/@{first}/tariffs"))?.count();
    let office = Arc::new(Office { folder: PathBuf::from("@{work}/@{source}"), rides: Mutex::default() });
    let server = TcpListener::bind(("127.0.0.1", @{port}))?;
    eprintln!("{pistes} pistes");
    for line in server.incoming() {
        let (office, line) = (office.clone(), line?);
        std::thread::spawn(move || office.gate(line));
    }
    Ok(())
}
