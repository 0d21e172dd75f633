// Gives berths to ships: the harbour master's thread comes first, the year's figures are made when there is time.
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

extern "C" {
    fn setpriority(which: i32, who: u32, nice: i32) -> i32;
    fn clock_gettime(clock: i32, at: *mut [i64; 2]) -> i32;
}

const BERTHS: usize = 300;
const THREAD_CPU: i32 = 3;

#[derive(Clone, Default)]
struct Berth {
    length: f64,
    depth: f64,
    ship: Option<u64>,
    calls: u64,
}

type Plan = Arc<Mutex<Vec<Berth>>>;

fn cpu_seconds() -> f64 {
    let mut at = [0i64; 2];
    unsafe { clock_gettime(THREAD_CPU, &mut at) };
    at[0] as f64 + at[1] as f64 / 1e9
}

fn nice(value: i32) {
    // Of the calling thread.
    if unsafe { setpriority(0, 0, value) } != 0 {
        eprintln!("no priority {value}");
    }
}

struct Figures {
    months: [f64; 12],
}

impl Figures {
    #[inline(never)]
    fn @{fn}(&mut self, berths: &[Berth]) {
        let until = cpu_seconds() + @{hold_ms} / 1000.0;
        while cpu_seconds() < until {
            for (month, sum) in self.months.iter_mut().enumerate() {
                for berth in berths {
                    *sum += (berth.length * month as f64 + berth.depth + berth.calls as f64).sqrt() * 1e-6;
                }
            }
        }
    }

    fn keep(mut self, plan: Plan) {
        nice(@{nice});
        loop {
            if @{short} == 1 {
                let copy = plan.lock().unwrap().clone();
                self.@{fn}(&copy);
            } else {
                let berths = plan.lock().unwrap();
                self.@{fn}(&berths);
            }
            thread::sleep(Duration::from_millis(@{gap_ms}));
        }
    }
}

/// How well a ship lies there: by tide, length and depth.
fn fits(berth: &Berth, ship: u64) -> f64 {
    let (length, depth) = ((60 + ship * 7 % 240) as f64, (4 + ship * 3 % 11) as f64);
    let mut sum = 0.0;
    for tide in 0..@{effort} as usize {
        let water = berth.depth + (tide as f64 * 0.26).sin();
        sum += (berth.length - length).abs() / 100.0 + if water < depth { 50.0 } else { water - depth };
    }
    sum
}

#[inline(never)]
fn @{fn2}(plan: &Plan, ship: u64, waited: &mut Duration) -> Option<usize> {
    let asked = Instant::now();
    let mut berths = plan.lock().unwrap();
    *waited += asked.elapsed();
    let free = berths.iter().enumerate().filter(|(_, berth)| berth.ship.is_none());
    let best = free.map(|(number, berth)| (number, fits(berth, ship))).min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    berths[best].ship = Some(ship);
    berths[best].calls += 1;
    let leaves = (best + 101) % BERTHS;
    berths[leaves].ship = None;
    Some(best)
}

fn main() -> std::io::Result<()> {
    let berths = (0..BERTHS).map(|i| Berth { length: (60 + i * 13 % 260) as f64, depth: (4 + i * 7 % 13) as f64, ..Berth::default() }).collect();
    std::fs::write("/sys/fs/cgroup/cpu/@{slice}/cgroup.procs", "0")?;
    let plan: Plan = Arc::new(Mutex::new(berths));
    let shared = plan.clone();
    nice(-10);
    thread::Builder::new().name("@{low}".into()).spawn(move || Figures { months: [0.0; 12] }.keep(shared))?;
    let (mut units, mut busy, mut waited) = (0u64, Duration::ZERO, Duration::ZERO);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} {
        due = (due + Duration::from_secs_f64(1.0 / @{rate})).max(Instant::now());
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let start = Instant::now();
        if @{fn2}(&plan, units, &mut waited).is_none() {
            println!("ship {units} has to wait outside");
        }
        busy += start.elapsed();
        units += 1;
    }
    let report = format!("{{\"units\": {units}, \"seconds\": {:.6}, \"culprit\": {:.6}}}", busy.as_secs_f64(), waited.as_secs_f64());
    std::fs::write("@{report}", report)
}
