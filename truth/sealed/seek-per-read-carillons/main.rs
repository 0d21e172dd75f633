//! The player of a carillon: takes a bar of the tune after the other, fetches the sound of each stroke from the recordings, and mixes them.
use std::fs::{read_to_string, write, File};
use std::io::{Read, Result, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

const BLOCK: usize = @{block};
const PARTIALS: usize = @{partials};
const HEARD: usize = @{heard};
const TAKES: u32 = @{takes};
const LONG: usize = BLOCK / 2;

struct Bell {
    weight: f32,
}

struct Stroke {
    bell: usize,
    take: u32,
    loud: f32,
}

/// The partials, as they begin to sound.
fn partial_at(order: usize) -> usize {
    order * 11 % PARTIALS
}

struct Recordings {
    file: File,
    sound: Vec<u8>,
}

impl Recordings {
    fn open(path: &str) -> Result<Recordings> {
        Ok(Recordings { file: File::open(path)?, sound: vec![0; PARTIALS * BLOCK] })
    }

    #[inline(never)]
    fn @{fn}(&mut self, stroke: &Stroke) -> Result<&[u8]> {
        let first = (stroke.bell as u64 * u64::from(TAKES) + u64::from(stroke.take)) * (PARTIALS * BLOCK) as u64;
        if "@{way}" == "run" {
            self.file.read_exact_at(&mut self.sound, first)?;
            return Ok(&self.sound);
        }
        for order in 0..HEARD {
            let at = partial_at(order) * BLOCK;
            let block = &mut self.sound[at..at + BLOCK];
            if "@{way}" == "at" {
                self.file.read_exact_at(block, first + at as u64)?;
            } else {
                self.file.seek(SeekFrom::Start(first + at as u64))?;
                self.file.read_exact(block)?;
            }
        }
        Ok(&self.sound)
    }
}

struct Player {
    recordings: Recordings,
    bells: Vec<Bell>,
    seed: u32,
    took: f64,
    loudest: f32,
}

impl Player {
    fn open() -> Result<Player> {
        let text = read_to_string("@{work}/bells.txt")?;
        let bells = text.lines().filter_map(|line| line.split(' ').nth(2)?.parse().ok()).map(|weight| Bell { weight }).take(54).collect();
        Ok(Player { recordings: Recordings::open("@{work}/@{sounds}")?, bells, seed: 7, took: 0.0, loudest: 0.0 })
    }

    fn chance(&mut self, below: u32) -> u32 {
        self.seed = self.seed.wrapping_mul(1664525).wrapping_add(1013904223);
        (self.seed >> 8) % below
    }

    fn stroke(&mut self) -> Stroke {
        let bells = self.bells.len() as u32;
        Stroke { bell: self.chance(bells) as usize, take: self.chance(TAKES), loud: (60 + self.chance(60)) as f32 / 127.0 }
    }

    fn play(&mut self) -> Result<()> {
        let mut bar = [0f32; LONG];
        for _ in 0..@{bar} {
            let stroke = self.stroke();
            let start = Instant::now();
            let sound = self.recordings.@{fn}(&stroke)?;
            self.took += start.elapsed().as_secs_f64();
            mix(&self.bells[stroke.bell], &stroke, sound, &mut bar);
        }
        self.loudest = bar.iter().fold(self.loudest, |most, sample| most.max(sample.abs()));
        Ok(())
    }
}

fn mix(bell: &Bell, stroke: &Stroke, sound: &[u8], bar: &mut [f32; LONG]) {
    for order in 0..HEARD {
        let block = &sound[partial_at(order) * BLOCK..][..BLOCK];
        let loud = stroke.loud * bell.weight / (order + 1) as f32 / 32768.0;
        let mut low = 0f32;
        for i in 0..LONG {
            low += (f32::from(i16::from_le_bytes([block[i * 2], block[i * 2 + 1]])) - low) * 0.35;
            bar[i] += low * loud;
        }
    }
}

fn main() -> Result<()> {
    let mut player = Player::open()?;
    let (mut units, mut busy) = (0u64, 0f64);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        player.play()?;
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    eprintln!("{units} bars, loudest {:.3}", player.loudest);
    write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}}}", player.took))
}
