//! Preflight of a print shop: before a press gets its plates, five checkers look at the sheet.
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

const SOCKETS: [&str; 5] = ["@{fonts}", "@{inks}", "@{bleed}", "@{images}", "@{overprint}"];

struct Answer {
    findings: Vec<usize>,
    objects: String,
}

struct Checker(UnixStream);

/// What stands behind `"key":` between brackets.
fn list<'a>(text: &'a str, key: &str) -> Result<&'a str> {
    let broken = || Error::new(ErrorKind::InvalidData, text);
    let start = text.find(&format!("\"{key}\":[")).ok_or_else(broken)? + key.len() + 4;
    let length = text[start..].find(']').ok_or_else(broken)?;
    Ok(&text[start..start + length])
}

impl Checker {
    fn check(&mut self, sheet: usize, objects: &str) -> Result<Answer> {
        let text = format!("{{\"sheet\":{sheet},\"objects\":[{objects}]}}");
        let mut message = (text.len() as u32).to_be_bytes().to_vec();
        message.extend_from_slice(text.as_bytes());
        self.0.write_all(&message)?;
        let mut head = [0; 4];
        self.0.read_exact(&mut head)?;
        let mut answer = vec![0; u32::from_be_bytes(head) as usize];
        self.0.read_exact(&mut answer)?;
        let answer = String::from_utf8(answer).map_err(Error::other)?;
        let findings = list(&answer, "findings")?.split(',').filter_map(|id| id.parse().ok()).collect();
        Ok(Answer { findings, objects: list(&answer, "objects")?.to_string() })
    }
}

#[derive(Default)]
struct Account {
    units: usize,
    busy: Duration,
    asking: Duration,
}

struct Press {
    number: usize,
    checkers: Vec<Checker>,
    rejected: BTreeMap<usize, BTreeSet<usize>>,
}

impl Press {
    fn new(number: usize) -> Result<Press> {
        let connect = |name: &&str| UnixStream::connect(Path::new("@{work}").join(name)).map(Checker);
        Ok(Press { number, checkers: SOCKETS.iter().map(connect).collect::<Result<_>>()?, rejected: BTreeMap::new() })
    }

    #[inline(never)]
    fn @{fn}(&mut self, sheet: usize, mut objects: String) -> Result<Vec<Answer>> {
        if "@{order}" == "once" {
            let objects = &objects;
            return thread::scope(|scope| {
                let asked: Vec<_> = self.checkers.iter_mut().map(|one| scope.spawn(move || one.check(sheet, objects))).collect();
                asked.into_iter().map(|one| one.join().unwrap()).collect()
            });
        }
        let mut found = Vec::new();
        for one in &mut self.checkers {
            let answer = one.check(sheet, &objects)?;
            if "@{order}" == "mend" {
                objects = answer.objects.clone();
            }
            found.push(answer);
        }
        Ok(found)
    }

    fn plate(&mut self, sheet: usize, account: &mut Account) -> Result<()> {
        let object = |id: usize| {
            let (x, size, ink, dpi) = ((sheet * 31 + id * 17) % 210, 4 + (sheet + id * 7) % 40, (sheet * 13 + id * 29) % 330, 100 + (id * 83 + sheet) % 300);
            format!("{{\"id\":{id},\"x\":{x},\"size\":{size},\"ink\":{ink},\"dpi\":{dpi}}}")
        };
        let objects = (0..@{objects}).map(object).collect::<Vec<_>>().join(",");
        let asked = Instant::now();
        let found = self.@{fn}(sheet, objects)?;
        account.asking += asked.elapsed();
        let bad: BTreeSet<usize> = found.into_iter().flat_map(|answer| answer.findings).collect();
        if bad.len() * 3 > @{objects} {
            self.rejected.insert(sheet, bad);
        }
        Ok(())
    }

    fn run(mut self, begun: Instant) -> Result<Account> {
        let mut account = Account::default();
        while begun.elapsed().as_secs_f64() < @{seconds} {
            let start = Instant::now();
            self.plate(account.units * @{presses} + self.number, &mut account)?;
            account.units += 1;
            account.busy += start.elapsed();
            thread::sleep(Duration::from_secs_f64(account.units as f64 / @{rate}).saturating_sub(begun.elapsed()));
        }
        Ok(account)
    }
}

fn main() -> Result<()> {
    let begun = Instant::now();
    let presses = (0..@{presses}).map(Press::new).collect::<Result<Vec<_>>>()?;
    let running: Vec<_> = presses.into_iter().map(|press| thread::spawn(move || press.run(begun))).collect();
    let (mut units, mut busy, mut asking) = (0, 0.0, 0.0);
    for press in running {
        let account = press.join().unwrap()?;
        units += account.units;
        busy += account.busy.as_secs_f64();
        asking += account.asking.as_secs_f64();
    }
    // All but one of the five could be at the same time.
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}}}", asking * 0.8))
}
