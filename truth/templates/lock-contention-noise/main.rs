//! Adds the sounds that the microphones of a city hear to its map of noise; a thread for each row of microphones, all on one map.
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

const SIDE: usize = 240;
const REACH: i32 = @{reach};
const SPAN: usize = 2 * REACH as usize + 1;
const STEPS: i32 = 64;

struct Sound {
    x: i32,
    y: i32,
    decibel: f32,
}

#[derive(Default)]
struct Account {
    units: u32,
    busy: Duration,
    waited: Duration,
}

struct City {
    @{lock}: Mutex<Vec<f32>>,
    houses: Vec<u8>,
}

fn inside(at: i32) -> usize {
    at.clamp(0, SIDE as i32 - 1) as usize
}

fn around() -> impl Iterator<Item = (i32, i32)> {
    (-REACH..=REACH).flat_map(|dy| (-REACH..=REACH).map(move |dx| (dx, dy)))
}

impl City {
    fn new() -> City {
        let houses = (0..SIDE * SIDE).map(|at| u8::from((at % SIDE * 7 + at / SIDE * 13) % 11 < 4)).collect();
        City { @{lock}: Mutex::new(vec![0.0; SIDE * SIDE]), houses }
    }

    /// What of a sound arrives around it: less by the distance, and by the houses between.
    fn spread(&self, sound: &Sound) -> Vec<f32> {
        let mut part = Vec::with_capacity(SPAN * SPAN);
        for (dx, dy) in around() {
            let walls: u32 = (1..=STEPS)
                .map(|step| u32::from(self.houses[inside(sound.y + dy * step / STEPS) * SIDE + inside(sound.x + dx * step / STEPS)]))
                .sum();
            let far = ((dx * dx + dy * dy) as f32).sqrt();
            part.push(10f32.powf((sound.decibel - 20.0 * (1.0 + far).log10() - walls as f32 / 14.0) / 10.0));
        }
        part
    }

    /// Adds a sound to the map; how long that was not free.
    #[inline(never)]
    fn @{fn}(&self, sound: &Sound) -> Duration {
        let aside = ("@{under}" == "adding").then(|| self.spread(sound));
        let began = Instant::now();
        let mut level = self.@{lock}.lock().unwrap();
        let waited = began.elapsed();
        let part = aside.unwrap_or_else(|| self.spread(sound));
        for ((dx, dy), heard) in around().zip(part) {
            level[inside(sound.y + dy) * SIDE + inside(sound.x + dx)] += heard;
        }
        waited
    }
}

struct Microphones(u64);

impl Microphones {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as u32
    }

    /// The loudest moment of what one recorded, and where that was.
    fn hear(&mut self) -> Sound {
        let loudest = (0..4000).map(|sample| (sample as f32 * 0.11).sin() * (self.next() % 1000) as f32 / 1000.0).fold(0.0, f32::max);
        Sound { x: (self.next() as usize % SIDE) as i32, y: (self.next() as usize % SIDE) as i32, decibel: 60.0 + 40.0 * loudest }
    }
}

fn row(city: &City, number: u32, begun: Instant) -> Account {
    let (mut microphones, mut account) = (Microphones(u64::from(number) + 3), Account::default());
    while begun.elapsed().as_secs_f64() < @{seconds} {
        let began = Instant::now();
        account.waited += city.@{fn}(&microphones.hear());
        account.units += 1;
        account.busy += began.elapsed();
        let due = (f64::from(account.units) + f64::from(number) / (@{workers} as f64 + 1.0)) / @{pace} as f64;
        thread::sleep(Duration::from_secs_f64(due).saturating_sub(begun.elapsed()));
    }
    account
}

fn main() -> std::io::Result<()> {
    let (city, begun) = (City::new(), Instant::now());
    let accounts: Vec<Account> = thread::scope(|scope| {
        let rows: Vec<_> = (0..@{workers}).map(|number| scope.spawn({ let city = &city; move || row(city, number, begun) })).collect();
        rows.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let units: u32 = accounts.iter().map(|one| one.units).sum();
    let busy: Duration = accounts.iter().map(|one| one.busy).sum();
    let waited: Duration = accounts.iter().map(|one| one.waited).sum();
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {}, \"culprit\": {}}}", busy.as_secs_f64(), waited.as_secs_f64()))
}
