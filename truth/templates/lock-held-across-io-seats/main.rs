// A box office: gives each guest the best seat that is left. A standby in another house knows the same a little later.
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const ROWS: usize = @{rows};
const SEATS: usize = @{seats};
const BLOCKS: usize = @{blocks};

struct Hall {
    guests: Vec<u32>,
    changed: Vec<usize>,
    left: usize,
}

impl Hall {
    fn new() -> Hall {
        Hall { guests: vec![0; ROWS * SEATS], changed: Vec::new(), left: ROWS * SEATS }
    }

    fn quality(row: usize, seat: usize, round: u32) -> f64 {
        let (x, y) = (seat as f64 - SEATS as f64 / 2.0, row as f64 + 3.0);
        let angle = x.atan2(y).abs() + round as f64 * 1e-6;
        (-(y - 11.0).powi(2) / 200.0).exp() * angle.cos()
    }

    fn reserve(&mut self, guest: u32) -> usize {
        if self.left < 10 {
            self.guests.fill(0);
            self.left = ROWS * SEATS;
        }
        let mut seat = (guest as usize).wrapping_mul(7919) % self.guests.len();
        while self.guests[seat] != 0 {
            seat = (seat + 1) % self.guests.len();
        }
        self.guests[seat] = guest + 1;
        self.left -= 1;
        self.changed.push(seat);
        seat
    }
}

struct Office {
    @{lock}: Mutex<Hall>,
}

impl Office {
    /// What a seat costs, by how well one sees and hears in all of its neighbourhood.
    fn price(&self, seat: usize) -> f64 {
        let (mut best, mut sum) = (0.0f64, 0.0);
        for round in 0..@{rounds} {
            for other in 0..ROWS * SEATS {
                let quality = Hall::quality(other / SEATS, other % SEATS, round);
                best = best.max(quality);
                sum += quality;
            }
        }
        let own = Hall::quality(seat / SEATS, seat % SEATS, 0);
        15.0 + 80.0 * own / best + sum.fract()
    }

    fn sell(&self, guest: u32) -> (usize, f64) {
        let seat = self.@{lock}.lock().unwrap().reserve(guest);
        (seat, self.price(seat))
    }
}

fn tell(standby: &mut UnixStream, block: &[(usize, u32)]) -> Result<()> {
    let mut frame = (block.len() as u32).to_be_bytes().to_vec();
    for (seat, guest) in block {
        frame.extend((*seat as u32).to_be_bytes());
        frame.extend(guest.to_be_bytes());
    }
    standby.write_all(&frame)?;
    let mut receipt = [0; 4];
    standby.read_exact(&mut receipt)
}

#[inline(never)]
fn @{fn}(office: &Office, standby: &mut UnixStream) -> Result<usize> {
    let mut hall = office.@{lock}.lock().unwrap();
    let changed: Vec<(usize, u32)> = std::mem::take(&mut hall.changed).into_iter().map(|seat| (seat, hall.guests[seat])).collect();
    if @{inside} == 0 {
        drop(hall);
        for block in 0..BLOCKS {
            tell(standby, &changed[changed.len() * block / BLOCKS..changed.len() * (block + 1) / BLOCKS])?;
        }
        return Ok(changed.len());
    }
    for block in 0..BLOCKS {
        tell(standby, &changed[changed.len() * block / BLOCKS..changed.len() * (block + 1) / BLOCKS])?;
    }
    hall.changed.clear();
    Ok(changed.len())
}

fn serve(guest: TcpStream, office: &Office) -> Result<()> {
    guest.set_nodelay(true)?;
    for line in BufReader::new(guest.try_clone()?).lines() {
        let number = line?.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        let (seat, price) = office.sell(number);
        (&guest).write_all(format!("row {} seat {} for {price:.2}\n", seat / SEATS + 1, seat % SEATS + 1).as_bytes())?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let office = Arc::new(Office { @{lock}: Mutex::new(Hall::new()) });
    let mut standby = UnixStream::connect("@{work}/@{sock}")?;
    let shared = office.clone();
    thread::Builder::new().name("standby".into()).spawn(move || loop {
        if let Err(error) = @{fn}(&shared, &mut standby) {
            eprintln!("standby: {error}");
            std::process::exit(1);
        }
        thread::sleep(Duration::from_secs_f64(@{every} as f64 / 1000.0));
    })?;
    for (number, guest) in TcpListener::bind(("127.0.0.1", @{port}))?.incoming().enumerate() {
        let (guest, office) = (guest?, office.clone());
        thread::Builder::new().name(format!("counter-{number}")).spawn(move || serve(guest, &office))?;
    }
    Ok(())
}
