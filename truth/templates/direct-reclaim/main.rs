use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

// Mixes sound: one thread makes the pieces, another one puts them into the recording.
const RECORDING: u64 = 60 << 20;

struct Piece {
    samples: Vec<u8>,
    made_in: Duration,
}

fn mix(number: u64) -> Piece {
    let start = Instant::now();
    let mut samples = vec![number as u8; @{kb} * 1000];
    for round in 0..@{rounds}u8 {
        for sample in samples.iter_mut().step_by(16) {
            *sample = sample.wrapping_add(round);
        }
    }
    Piece { samples, made_in: start.elapsed() }
}

#[inline(never)]
fn @{fn}(recording: &mut File, piece: &Piece) -> std::io::Result<()> {
    if recording.stream_position()? + piece.samples.len() as u64 > RECORDING {
        recording.seek(SeekFrom::Start(0))?;
    }
    recording.write_all(&piece.samples)
}

fn main() -> std::io::Result<()> {
    std::fs::write("/sys/fs/cgroup/memory/@{slice}/cgroup.procs", std::process::id().to_string())?;
    let (give, take) = sync_channel::<Piece>(1);
    let end = Instant::now() + Duration::from_secs_f64(@{seconds} as f64);
    let mixer = thread::Builder::new().name("mixer".into()).spawn(move || {
        let period = Duration::from_secs_f64(1.0 / (@{per_s} as f64));
        let mut due = Instant::now();
        for number in 0u64.. {
            if Instant::now() >= end || give.send(mix(number)).is_err() {
                return;
            }
            due = (due + period).max(Instant::now());
            thread::sleep(due.min(end).saturating_duration_since(Instant::now()));
        }
    })?;
    let mut recording = OpenOptions::new().write(true).create(true).truncate(true).open("@{work}/@{spool}")?;
    let (mut units, mut busy, mut putting) = (0u64, Duration::ZERO, Duration::ZERO);
    for piece in take {
        let start = Instant::now();
        @{fn}(&mut recording, &piece)?;
        putting += start.elapsed();
        busy += start.elapsed() + piece.made_in;
        units += 1;
    }
    mixer.join().unwrap();
    let text = format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), putting.as_secs_f64());
    std::fs::write("@{report}", text)
}
