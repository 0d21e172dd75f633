//! A rain radar: "rain N" is answered by how much rain there is in direction N. Each picture goes to the archive.
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const BEAMS: usize = 64;
const KEPT: u64 = 4;

type Beam = Arc<Vec<u8>>;

struct Radar {
    @{lock}: Mutex<Vec<Beam>>,
}

impl Radar {
    fn new() -> Self {
        let beam = |direction: usize| Arc::new((0..@{kb} * 1024).map(|gate: usize| (gate * (direction + 3) >> 5) as u8).collect());
        Self { @{lock}: Mutex::new((0..BEAMS).map(beam).collect()) }
    }

    #[inline(never)]
    fn @{look}(&self, direction: usize) -> Beam {
        let beams = self.@{lock}.lock().unwrap();
        Arc::clone(&beams[direction % BEAMS])
    }

    /// The antenna has turned on: some beams are new.
    fn turn(&self, sweep: u64) {
        let direction = sweep as usize * 7 % BEAMS;
        let mut fresh = self.@{look}(direction).to_vec();
        fresh.rotate_left(3);
        self.@{lock}.lock().unwrap()[direction] = Arc::new(fresh);
    }

    #[inline(never)]
    fn @{fn}(&self, sweep: u64) -> io::Result<()> {
        let beams = self.@{lock}.lock().unwrap();
        if @{inside} == 1 {
            store(sweep, &beams)
        } else {
            let picture = beams.clone();
            drop(beams);
            store(sweep, &picture)
        }
    }
}

fn path(sweep: u64) -> PathBuf {
    PathBuf::from(format!("@{work}/@{archive}/sweep-{sweep:06}.vol"))
}

fn store(sweep: u64, beams: &[Beam]) -> io::Result<()> {
    let mut file = File::create(path(sweep))?;
    for beam in beams {
        file.write_all(beam)?;
    }
    file.sync_all()
}

fn archive(radar: &Radar) {
    for sweep in 1.. {
        radar.turn(sweep);
        if let Err(error) = radar.@{fn}(sweep) {
            eprintln!("sweep {sweep}: {error}");
        }
        if sweep > KEPT {
            let _ = fs::remove_file(path(sweep - KEPT));
        }
        thread::sleep(Duration::from_secs_f64(@{every} / 1000.0));
    }
}

fn serve(mut tower: TcpStream, radar: &Radar) -> io::Result<()> {
    tower.set_nodelay(true)?;
    for line in BufReader::new(tower.try_clone()?).lines() {
        let direction = line?.trim_start_matches("rain ").parse().map_err(io::Error::other)?;
        let beam = radar.@{look}(direction);
        let step = (beam.len() / @{gates}).max(1);
        let rain: f64 = beam.iter().step_by(step).map(|&echo| 10f64.powf(f64::from(echo) / 160.0) * 0.0365).sum();
        tower.write_all(format!("{direction} {:.2} mm\n", rain / @{gates} as f64).as_bytes())?;
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let radar: &'static Radar = Box::leak(Box::new(Radar::new()));
    thread::spawn(|| archive(radar));
    for tower in TcpListener::bind(("127.0.0.1", @{port}))?.incoming() {
        let tower = tower?;
        thread::spawn(|| serve(tower, radar));
    }
    Ok(())
}
