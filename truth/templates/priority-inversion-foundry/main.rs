//! Keeps the zones of an induction furnace at their temperatures. What they did is fitted to curves, for the quality report of the melt.
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

extern "C" {
    fn sched_setscheduler(pid: i32, policy: i32, param: *const i32) -> i32;
    fn setpriority(which: i32, who: u32, nice: i32) -> i32;
    fn clock_gettime(clock: i32, t: *mut [i64; 2]) -> i32;
    fn syscall(number: i64) -> i64;
}

#[derive(Clone, Copy, Default)]
struct Zone {
    target: f64,
    heat: f64,
    sum: f64,
    last: f64,
    power: f64,
}

fn spent() -> f64 {
    let mut t = [0i64; 2];
    unsafe { clock_gettime(3, &mut t) };
    t[0] as f64 + t[1] as f64 / 1e9
}

/// The fit goes on until its time is used up: it gets better with each round.
#[inline(never)]
fn @{fn}(zones: &[Zone], coefficients: &mut [f64; 8]) {
    let until = spent() + @{hold_ms} / 1000.0;
    loop {
        for round in 0..400 {
            for zone in zones {
                let next = coefficients[(round + 1) % 8];
                coefficients[round % 8] += (zone.heat * round as f64 - next).abs().sqrt() * 1e-7;
            }
        }
        if spent() >= until {
            return;
        }
    }
}

fn keep_report(melt: Arc<Mutex<Vec<Zone>>>) {
    let level: i32 = @{level};
    if level > 0 {
        unsafe { sched_setscheduler(0, 1, &level) };
    } else {
        let thread = unsafe { syscall(186) };
        if let Err(why) = std::fs::write("/sys/fs/cgroup/cpu/@{slice}/tasks", thread.to_string()) {
            eprintln!("group: {why}");
        }
        unsafe { setpriority(0, 0, 19) };
    }
    let mut coefficients = [0.0; 8];
    loop {
        if @{apart} == 1 {
            let copy = melt.lock().unwrap().clone();
            @{fn}(&copy, &mut coefficients);
        } else {
            let zones = melt.lock().unwrap();
            @{fn}(&zones, &mut coefficients);
        }
        std::thread::sleep(Duration::from_millis(@{gap_ms}));
    }
}

/// One turn of the control: what the sensors say, and the power that follows of it.
#[inline(never)]
fn @{fn2}(melt: &Mutex<Vec<Zone>>, turn: u64, waited: &mut f64) -> f64 {
    let measured: Vec<f64> = (0..@{zones})
        .map(|zone| (1..=@{steps}).map(|step| (turn as f64 * 0.01 + step as f64 * 0.37 + zone as f64).sin() / step as f64).sum())
        .collect();
    let asked = Instant::now();
    let mut zones = melt.lock().unwrap();
    *waited += asked.elapsed().as_secs_f64();
    let mut total = 0.0;
    for (zone, value) in zones.iter_mut().zip(measured) {
        zone.heat += zone.power * 0.2 - (zone.heat - 20.0) * 0.004 + value;
        let error = zone.target - zone.heat;
        zone.sum = (zone.sum + error * 0.1).clamp(-4000.0, 4000.0);
        zone.power = (0.4 * error + 0.05 * zone.sum + 0.1 * (error - zone.last)).max(0.0);
        zone.last = error;
        total += zone.power;
    }
    total
}

fn main() {
    let zones = (0..@{zones}).map(|i| Zone { target: 1350.0 + 12.0 * i as f64, heat: 900.0 + 31.0 * i as f64, ..Zone::default() }).collect();
    let melt = Arc::new(Mutex::new(zones));
    let shared = melt.clone();
    std::thread::Builder::new().name("@{low}".into()).spawn(move || keep_report(shared)).unwrap();
    let level: i32 = @{realtime};
    if unsafe { sched_setscheduler(0, 1, &level) } != 0 {
        eprintln!("no real time");
    }

    let (mut units, mut busy, mut waited, mut power) = (0u64, 0.0, 0.0, 0.0);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} {
        due = (due + Duration::from_secs_f64(1.0 / @{rate})).max(Instant::now());
        std::thread::sleep(due - Instant::now());
        let start = Instant::now();
        power += @{fn2}(&melt, units, &mut waited);
        units += 1;
        busy += start.elapsed().as_secs_f64();
    }
    println!("{:.0} kWh", power / 3600.0);
    std::fs::write("@{report}", format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {waited}}}")).unwrap();
    std::process::exit(0);
}
