// Dates the slices of an ice core: the scanner's line gives the layers, a helper counts the years, and the log is written in their order.
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

struct Slice {
    number: usize,
    grey: Vec<f64>,
}

#[derive(Default)]
struct Lab {
    waiting: Mutex<VecDeque<Slice>>,
    arrived: Condvar,
    dates: Mutex<HashMap<usize, u32>>,
    dated: Condvar,
    done: AtomicUsize,
}

impl Lab {
    fn hand_in(&self, slice: Slice) {
        self.waiting.lock().unwrap().push_back(slice);
        self.arrived.notify_one();
    }

    fn next(&self) -> Slice {
        let mut waiting = self.arrived.wait_while(self.waiting.lock().unwrap(), |waiting| waiting.is_empty()).unwrap();
        waiting.pop_front().unwrap()
    }

    fn publish(&self, number: usize, years: u32) {
        self.dates.lock().unwrap().insert(number, years);
        self.dated.notify_all();
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    #[inline(never)]
    fn @{fn}(&self, number: usize) -> u32 {
        let nap = @{nap_ms};
        if nap == 0 {
            let mut dates = self.dated.wait_while(self.dates.lock().unwrap(), |dates| !dates.contains_key(&number)).unwrap();
            return dates.remove(&number).unwrap();
        }
        loop {
            if let Some(years) = self.dates.lock().unwrap().remove(&number) {
                return years;
            }
            thread::sleep(Duration::from_millis(nap));
        }
    }
}

fn scan(number: usize) -> Slice {
    let grey = (0..@{layers})
        .map(|i| ((i as f64) * 0.7 + number as f64).sin() * 40.0 + ((i * 31 + number * 17) % 23) as f64 + 100.0)
        .collect();
    Slice { number, grey }
}

// Counts the summers: the smoothing that gives the steadiest count is looked for as long as a slice may take.
fn count_years(slice: &Slice) -> u32 {
    let began = Instant::now();
    let (mut width, mut years) = (1, 0);
    while began.elapsed().as_secs_f64() * 1000.0 < @{dating} {
        let smooth: Vec<f64> = slice.grey.windows(width).map(|part| part.iter().sum::<f64>() / width as f64).collect();
        let tops = smooth.windows(3).filter(|top| top[1] > top[0] && top[1] >= top[2]).count() as u32;
        years = if years == 0 { tops } else { (years * 3 + tops) / 4 };
        width = width % 9 + 1;
    }
    years
}

fn main() -> std::io::Result<()> {
    let lab = Arc::new(Lab::default());
    let helper = lab.clone();
    thread::Builder::new().name("dating".into()).spawn(move || loop {
        let slice = helper.next();
        helper.publish(slice.number, count_years(&slice));
    })?;
    if @{show_ms} > 0 {
        let screen = lab.clone();
        thread::Builder::new().name("screen".into()).spawn(move || loop {
            eprint!("\r{} slices ", screen.done.load(Ordering::Relaxed));
            thread::sleep(Duration::from_millis(@{show_ms}));
        })?;
    }
    let (mut units, mut busy, mut culprit, mut depth) = (0usize, 0.0, 0.0, 0.0);
    let mut log: Vec<(f64, u32)> = Vec::new();
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let slice = scan(units);
        depth += 0.55 + slice.grey.iter().sum::<f64>() / slice.grey.len() as f64 / 1000.0;
        lab.hand_in(slice);
        let asked = Instant::now();
        let years = lab.@{fn}(units);
        culprit += asked.elapsed().as_secs_f64();
        log.push((depth, years + log.last().map_or(0, |last| last.1)));
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    if let Some((depth, years)) = log.last() {
        eprintln!("{depth:.1} m are {years} years");
    }
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {culprit}}}"))
}
