// The computer of a photo laboratory: exposures for the counters, and the archive of negatives.
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

extern "C" {
    fn nice(by: i32) -> i32;
    fn sched_setscheduler(thread: i32, policy: i32, priority: *const i32) -> i32;
}

const SIDE: usize = 512;
const SCHED_IDLE: i32 = 5;

struct Lab {
    settings: HashMap<String, String>,
    negative: Vec<u8>,
    developed: AtomicU64,
}

impl Lab {
    fn open(path: &str) -> std::io::Result<Lab> {
        let settings: HashMap<String, String> = fs::read_to_string(path)?
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.trim().to_string(), value.trim().to_string()))
            .collect();
        let mut negative = fs::read(settings.get("negative").map(String::as_str).unwrap_or("negative.raw"))?;
        negative.resize(SIDE * SIDE, 128);
        Ok(Lab { settings, negative, developed: AtomicU64::new(0) })
    }

    fn setting(&self, name: &str) -> &str {
        self.settings.get(name).map(String::as_str).unwrap_or("")
    }

    // Smooths the grain, and turns the tones over by the curve of the film.
    #[inline(never)]
    fn @{fn}(&self, number: usize, out: &mut [u8]) -> usize {
        let gamma = 0.5 + (number % 40) as f64 / 80.0;
        let mut lights = 0;
        for y in 1..SIDE - 1 {
            for x in 1..SIDE - 1 {
                let mut sum = 0u32;
                for row in [y - 1, y, y + 1] {
                    sum += self.negative[row * SIDE + x - 1..=row * SIDE + x + 1].iter().map(|&tone| tone as u32).sum::<u32>();
                }
                let tone = 255.0 * (1.0 - sum as f64 / (9.0 * 255.0)).powf(gamma);
                out[y * SIDE + x] = tone as u8;
                lights += (tone > 200.0) as usize;
            }
        }
        lights
    }

    fn develop(&self, first: usize, step: usize) {
        let mut out = vec![0u8; SIDE * SIDE];
        let rest: u64 = self.setting("rest").parse().unwrap_or(0);
        if self.setting("manners") == "humble" {
            unsafe {
                nice(19);
                sched_setscheduler(0, SCHED_IDLE, &0);
            }
        }
        for number in (first..).step_by(step) {
            if self.@{fn}(number, &mut out) < out.len() {
                self.developed.fetch_add(1, Ordering::Relaxed);
            }
            if rest > 0 {
                thread::sleep(Duration::from_millis(rest));
            }
        }
    }

    // Seconds below the enlarger, by the strips of the test print.
    fn exposure(&self, number: usize) -> f64 {
        let mut seconds = 4.0;
        for strip in 0..@{strips} {
            let from = number * 977 + strip * 4099;
            let density: f64 = (from..from + SIDE * 16).map(|i| (1.0 + self.negative[i % (SIDE * SIDE)] as f64).log10()).sum();
            seconds += (density / (SIDE * 16) as f64 - 1.9) * 2.0 / (strip + 1) as f64;
        }
        seconds
    }

    fn serve(&self, counter: TcpStream) -> std::io::Result<()> {
        counter.set_nodelay(true)?;
        let mut answers = counter.try_clone()?;
        for line in BufReader::new(counter).lines() {
            let line = line?;
            let text = match line.strip_prefix("print ").and_then(|number| number.parse().ok()) {
                Some(number) => format!("print {number} on {}: {:.2} s; {} from the archive\n", self.setting("paper"), self.exposure(number), self.developed.load(Ordering::Relaxed)),
                None => "pardon?\n".to_string(),
            };
            answers.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let lab = Arc::new(Lab::open("lab.ini")?);
    let door = TcpListener::bind(format!("127.0.0.1:{}", lab.setting("port")))?;
    let developers: usize = lab.setting("developers").parse().unwrap_or(1);
    for first in 0..developers {
        let lab = Arc::clone(&lab);
        thread::Builder::new().name(format!("archive-{first}")).spawn(move || lab.develop(first, developers))?;
    }
    for counter in door.incoming().flatten() {
        let lab = Arc::clone(&lab);
        thread::spawn(move || {
            if let Err(error) = lab.serve(counter) {
                eprintln!("counter: {error}");
            }
        });
    }
    Ok(())
}
