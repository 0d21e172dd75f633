use std::fs;
use std::time::{Duration, Instant};

struct Registry {
    folder: &'static str,
    names: Vec<String>,
    listed: Option<Instant>,
    spent: Duration,
}

impl Registry {
    #[inline(never)]
    fn @{fn}(&mut self, wanted: &str) -> bool {
        let began = Instant::now();
        if self.listed.map_or(true, |at| began - at >= Duration::from_secs(@{relist})) {
            self.names = fs::read_dir(self.folder)
                .unwrap()
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .collect();
            self.listed = Some(began);
            self.spent += began.elapsed();
        }
        self.names.iter().any(|name| name == wanted)
    }
}

fn @{fn2}(mut value: u32) -> u32 {
    for i in 0..@{extra} * 40u32 {
        value = std::hint::black_box(value.wrapping_mul(31).wrapping_add(i));
    }
    value
}

fn main() {
    let mut registry = Registry { folder: "@{work}/@{folder}", names: Vec::new(), listed: None, spent: Duration::ZERO };
    let (mut units, mut found, mut sum) = (0u64, 0u64, 0u32);
    let mut busy = Duration::ZERO;
    let began = Instant::now();
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        for i in 0..@{looks}u64 {
            let wanted = format!("@{stem}-{}.map", 1 + (units + i) % @{files});
            found += registry.@{fn}(&wanted) as u64;
            sum ^= @{fn2}(i as u32);
        }
        units += 1;
        busy += start.elapsed();
        let due = Duration::from_secs_f64(units as f64 / @{rate} as f64);
        if let Some(rest) = due.checked_sub(began.elapsed()) {
            std::thread::sleep(rest);
        }
    }
    let text = format!(
        "{{\"units\": {}, \"seconds\": {}, \"culprit\": {}, \"found\": {}, \"odd\": {}}}",
        units, busy.as_secs_f64(), registry.spent.as_secs_f64(), found, sum & 1
    );
    fs::write("@{report}", text).unwrap();
}
