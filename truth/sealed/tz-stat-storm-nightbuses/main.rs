// The log of a night bus: its stops are written down in the time of the town.
use std::ffi::{c_int, c_long, c_char};
use std::fmt::Write;
use std::time::{Duration, Instant};

#[repr(C)]
struct Local {
    sec: c_int,
    min: c_int,
    hour: c_int,
    mday: c_int,
    mon: c_int,
    year: c_int,
    wday: c_int,
    yday: c_int,
    isdst: c_int,
    gmtoff: c_long,
    zone: *const c_char,
}

extern "C" {
    fn localtime(at: *const i64) -> *const Local;
}

// The program has one thread.
#[inline(never)]
fn @{fn}(at: i64) -> (i32, i32, i32) {
    let local = unsafe { &*localtime(&at) };
    (local.hour, local.min, local.sec)
}

struct Log {
    text: String,
    spent: Duration,
}

impl Log {
    fn trip(&mut self, begins: i64, stops: &[(u32, i64)]) {
        let start = Instant::now();
        let times: Vec<(i32, i32, i32)> = if @{each} == 1 {
            stops.iter().map(|(_, after)| @{fn}(begins + after)).collect()
        } else {
            let (hour, min, sec) = @{fn}(begins);
            let first = (hour * 3600 + min * 60 + sec) as i64;
            stops.iter().map(|(_, after)| (first + after) as i32 % 86400).map(|s| (s / 3600, s / 60 % 60, s % 60)).collect()
        };
        self.spent += start.elapsed();
        self.text.clear();
        for ((place, _), (hour, min, sec)) in stops.iter().zip(&times) {
            let _ = writeln!(self.text, "{hour}:{min}:{sec} {place}");
        }
    }
}

fn main() -> std::io::Result<()> {
    if "@{zone}" != "none" {
        std::env::set_var("TZ", "@{zone}");
    }
    let mut log = Log { text: String::new(), spent: Duration::ZERO };
    let (mut units, mut busy, mut letters) = (0u64, Duration::ZERO, 0);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let stops: Vec<(u32, i64)> = (0..@{stops}).map(|i| ((i * 31 + units as u32) % @{lines}, i as i64 * 37)).collect();
        log.trip(1_700_000_000 + units as i64 * 86400, &stops);
        letters += log.text.len();
        busy += start.elapsed();
        units += 1;
        due = (due + Duration::from_secs_f64(1.0 / @{rate} as f64)).max(Instant::now());
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    eprintln!("{letters} letters");
    std::fs::write(
        "@{report}",
        format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), log.spent.as_secs_f64()),
    )
}
