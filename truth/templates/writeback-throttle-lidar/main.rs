// Sweeps of a lidar: heights are made of the returns, then the sweep is stored in segments by a thread of its own.
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

struct Return {
    x: f32,
    y: f32,
    z: f32,
    strength: f32,
}

struct Sweep {
    number: u64,
    echoes: Vec<Vec<Return>>,
}

fn receive(number: u64) -> Sweep {
    let mut state = number as u32 * 7919 + 1;
    let echoes = (0..@{echoes}).map(|echo| {
        (0..@{returns}).map(|at| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            let far = 10.0 + (state >> 22) as f32 * 0.05;
            let angle = at as f32 * 0.0003;
            Return { x: far * angle, y: far * (1.0 - angle * angle * 0.5), z: echo as f32 * 0.7, strength: (state >> 24) as f32 }
        }).collect()
    }).collect();
    Sweep { number, echoes }
}

// The ground is what lies lowest around.
fn level(sweep: &mut Sweep) {
    for echo in &mut sweep.echoes {
        let mut ground = 0.0f32;
        for one in echo.iter_mut() {
            ground = 0.98 * ground + 0.02 * (one.z - one.strength * 0.001);
            one.z -= ground;
        }
    }
}

struct Store {
    segment: Option<BufWriter<File>>,
    held: u64,
}

impl Store {
    fn roll(&mut self, number: u64) -> io::Result<()> {
        if let Some(mut full) = self.segment.take() {
            full.flush()?;
        }
        let name = format!("@{work}/@{volume}/{}-@{segment}", number / @{per_segment} % 6);
        self.segment = Some(BufWriter::with_capacity(1 << 17, File::create(name)?));
        Ok(())
    }

    #[inline(never)]
    fn @{fn}(&mut self, sweep: &Sweep) -> io::Result<u64> {
        if self.held % @{per_segment} == 0 {
            self.roll(self.held)?;
        }
        self.held += 1;
        let out = self.segment.as_mut().unwrap();
        writeln!(out, "SWEEP {} {}", sweep.number, sweep.echoes.len())?;
        let mut stored = 0;
        for echo in sweep.echoes.iter().take(@{stored}) {
            for one in echo.iter().step_by(@{thin}) {
                for value in [one.x, one.y, one.z, one.strength] {
                    out.write_all(&value.to_le_bytes())?;
                }
                stored += 1;
            }
        }
        out.flush()?;
        Ok(stored)
    }
}

fn keeper(sweeps: Receiver<Sweep>, stored: SyncSender<(u64, f64)>) {
    let mut store = Store { segment: None, held: 0 };
    for sweep in sweeps {
        let start = Instant::now();
        let count = store.@{fn}(&sweep).expect("the disk");
        stored.send((count, start.elapsed().as_secs_f64())).unwrap();
    }
}

fn main() -> io::Result<()> {
    let (to_keeper, sweeps) = sync_channel(1);
    let (done, stored) = sync_channel(1);
    thread::Builder::new().name("keeper".into()).spawn(move || keeper(sweeps, done))?;
    let (began, mut units, mut busy, mut storing, mut returns) = (Instant::now(), 0u64, 0.0, 0.0, 0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let mut sweep = receive(units);
        level(&mut sweep);
        to_keeper.send(sweep).unwrap();
        // The next one may fly over when this one is safe.
        let (count, took) = stored.recv().unwrap();
        returns += count;
        storing += took;
        units += 1;
        busy += start.elapsed().as_secs_f64();
        thread::sleep(Duration::from_secs_f64(units as f64 / @{rate} as f64).saturating_sub(began.elapsed()));
    }
    let text = format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {storing}, \"returns\": {returns}}}");
    std::fs::write("@{report}", text)
}
