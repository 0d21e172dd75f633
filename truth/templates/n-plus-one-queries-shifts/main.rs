// A payroll: shows the heads of teams what a month of their people comes to.
use std::io::{BufRead, BufReader, Error, ErrorKind, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

struct Shifts {
    member: u32,
    worked: Vec<(u32, u32)>,
}

struct TimeClock {
    line: BufReader<TcpStream>,
}

fn unknown() -> Error {
    Error::new(ErrorKind::InvalidData, "the time clock does not know")
}

impl TimeClock {
    fn connect(port: u16) -> Result<TimeClock> {
        let line = TcpStream::connect(("127.0.0.1", port))?;
        line.set_nodelay(true)?;
        Ok(TimeClock { line: BufReader::new(line) })
    }

    fn answer(&mut self) -> Result<String> {
        let mut text = String::new();
        self.line.read_line(&mut text)?;
        text.strip_prefix("OK ").map(|rest| rest.trim_end().to_string()).ok_or_else(unknown)
    }

    fn team(&mut self, number: u32) -> Result<Vec<u32>> {
        self.line.get_ref().write_all(format!("TEAM {number}\n").as_bytes())?;
        self.answer()?.split(' ').map(|word| word.parse().map_err(|_| unknown())).collect()
    }

    fn shifts(&mut self, members: &[u32]) -> Result<Vec<Shifts>> {
        let names: Vec<String> = members.iter().map(|member| member.to_string()).collect();
        self.line.get_ref().write_all(format!("SHIFTS {}\n", names.join(",")).as_bytes())?;
        members.iter().map(|_| parsed(&self.answer()?)).collect()
    }
}

fn parsed(text: &str) -> Result<Shifts> {
    let mut words = text.split(' ');
    let member = words.next().and_then(|word| word.parse().ok()).ok_or_else(unknown)?;
    let worked = words
        .map(|word| {
            let (from, to) = word.split_once('-')?;
            Some((from.parse().ok()?, to.parse().ok()?))
        })
        .collect::<Option<Vec<_>>>()
        .ok_or_else(unknown)?;
    Ok(Shifts { member, worked })
}

#[inline(never)]
fn @{fn}(clock: &mut TimeClock, members: &[u32]) -> Result<Vec<Shifts>> {
    if "@{ask}" == "all" {
        return clock.shifts(members);
    }
    let mut found = Vec::new();
    for member in members {
        found.extend(clock.shifts(&[*member])?);
    }
    Ok(found)
}

/// What shifts are worth: what is after eight in the evening or beyond eight hours counts more.
fn cents(shifts: &Shifts) -> u64 {
    let wage = 1400.0 + (shifts.member % 37 * 40) as f64;
    let mut minutes = 0.0;
    for (from, to) in &shifts.worked {
        // The clock stamps each ten seconds.
        for stamp in from * 6..to * 6 {
            let minute = stamp / 6;
            let late = if minute % 1440 > 1200 { 1.25 } else { 1.0 };
            let long = if minute - from > 480 { 1.5 } else { 1.0 };
            minutes += late * long / 6.0;
        }
    }
    (minutes * wage / 60.0).round() as u64
}

fn month(clock: &mut TimeClock, team: u32) -> Result<String> {
    let members = clock.team(team)?;
    let shifts = @{fn}(clock, &members)?;
    let total: u64 = shifts.iter().map(cents).sum();
    Ok(format!("team {team}: {} members, {}.{:02}\n", shifts.len(), total / 100, total % 100))
}

fn serve(head: TcpStream) -> Result<()> {
    head.set_nodelay(true)?;
    let mut clock = TimeClock::connect(@{store})?;
    for line in BufReader::new(head.try_clone()?).lines() {
        let team = line?.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        (&head).write_all(month(&mut clock, team)?.as_bytes())?;
    }
    Ok(())
}

fn main() -> Result<()> {
    for head in TcpListener::bind(("127.0.0.1", @{port}))?.incoming() {
        let head = head?;
        thread::spawn(move || {
            if let Err(error) = serve(head) {
                eprintln!("{error}");
            }
        });
    }
    Ok(())
}
