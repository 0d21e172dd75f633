// Lets a carillonneur practise at home: reckons how the strokes of each bar sound together.
use std::collections::HashMap;
use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

extern "C" {
    fn mallopt(what: i32, value: i32) -> i32;
}

const M_TRIM_THRESHOLD: i32 = -1;
const M_MMAP_THRESHOLD: i32 = -3;
const BAR: usize = 24_000;

struct Stroke {
    bell: usize,
    force: usize,
    at: usize,
}

impl Stroke {
    fn parse(word: &str) -> Option<Stroke> {
        let mut numbers = word.split(':').map(|part| part.parse().ok());
        Some(Stroke { bell: numbers.next()??, force: numbers.next()??, at: numbers.next()?? })
    }
}

struct Console {
    rate: f64,
    longest: usize,
    above: i32,
    by_bar: bool,
    bells: Vec<f64>,
    spent: Duration,
}

impl Console {
    fn open(path: &str) -> io::Result<Console> {
        let text = fs::read_to_string(path)?;
        let settings: HashMap<&str, &str> = text.lines().filter_map(|line| line.split_once(" = ")).collect();
        let number = |name: &str| settings.get(name).and_then(|value| value.parse::<f64>().ok()).unwrap_or(0.0);
        let rate = number("rate");
        Ok(Console {
            rate,
            longest: (number("longest") * rate) as usize,
            above: number("return_above") as i32,
            by_bar: settings.get("buffers") == Some(&"bar"),
            bells: (0..49).map(|bell| 130.8 * 2f64.powf(bell as f64 / 12.0)).collect(),
            spent: Duration::ZERO,
        })
    }

    // Room for the sound of the heaviest bell.
    #[inline(never)]
    fn @{fn2}(&self) -> Vec<f32> {
        Vec::with_capacity(self.longest)
    }

    fn ring(&self, stroke: &Stroke, sound: &mut [f32], mix: &mut [f32]) {
        let turn = 2.0 * std::f64::consts::PI * self.bells[stroke.bell] / self.rate;
        let (mut now, mut before, mut loud) = (turn.sin() as f32, 0.0, stroke.force as f32 / 127.0);
        let twice = 2.0 * turn.cos() as f32;
        for one in sound.iter_mut() {
            *one += loud * now;
            (now, before) = (twice * now - before, now);
            loud *= 0.9985;
        }
        for (out, one) in mix[stroke.at..].iter_mut().zip(sound.iter()) {
            *out += one;
        }
    }

    #[inline(never)]
    fn @{fn}(&mut self, stroke: &Stroke, mix: &mut [f32], shared: Option<&mut Vec<f32>>) {
        let start = Instant::now();
        let length = @{sounds} + stroke.force * 4 - stroke.bell * 8;
        let mut own = None;
        let sound = match shared {
            Some(sound) => sound,
            None => own.insert(self.@{fn2}()),
        };
        sound.clear();
        sound.resize(length, 0.0);
        self.spent += start.elapsed();
        self.ring(stroke, sound, mix);
        let start = Instant::now();
        drop(own);
        self.spent += start.elapsed();
    }

    fn play(&mut self, bar: &[Stroke], mix: &mut [f32]) -> f32 {
        let mut shared = if self.by_bar { Some(self.@{fn2}()) } else { None };
        mix.fill(0.0);
        for stroke in bar {
            self.@{fn}(stroke, mix, shared.as_mut());
        }
        mix.iter().fold(0.0, |peak: f32, one| peak.max(one.abs()))
    }
}

fn main() -> io::Result<()> {
    let mut console = Console::open("@{work}/console.ini")?;
    unsafe {
        mallopt(M_MMAP_THRESHOLD, console.above);
        mallopt(M_TRIM_THRESHOLD, console.above * 2);
    }
    let score: Vec<Vec<Stroke>> = fs::read_to_string("@{work}/@{score}")?.lines().map(|line| line.split_whitespace().filter_map(Stroke::parse).collect()).collect();
    let mut mix = vec![0f32; BAR];
    let (mut units, mut busy, mut loudest) = (0usize, Duration::ZERO, 0f32);
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        loudest = loudest.max(console.play(&score[units % score.len()], &mut mix));
        units += 1;
        busy += start.elapsed();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    println!("{units} bars, the loudest {loudest:.2}");
    let report = format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), console.spent.as_secs_f64());
    fs::write("@{report}", report)
}
