// Sends mailings as short messages: the carrier takes them in the order in which their permits were given.
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

struct Turn {
    who: Thread,
    come: AtomicBool,
}

/// Whoever waits longest is next.
#[derive(Default)]
struct Queue {
    inner: Mutex<(bool, VecDeque<Arc<Turn>>)>,
}

impl Queue {
    fn enter(&self) {
        let mut inside = self.inner.lock().unwrap();
        if !inside.0 {
            inside.0 = true;
            return;
        }
        let turn = Arc::new(Turn { who: thread::current(), come: AtomicBool::new(false) });
        inside.1.push_back(turn.clone());
        drop(inside);
        while !turn.come.load(Ordering::Acquire) {
            thread::park();
        }
    }

    fn leave(&self) {
        let mut inside = self.inner.lock().unwrap();
        match inside.1.pop_front() {
            Some(turn) => {
                turn.come.store(true, Ordering::Release);
                turn.who.unpark();
            }
            None => inside.0 = false,
        }
    }
}

#[derive(Default)]
struct Carrier {
    @{gate}: Queue,
    state: Mutex<(u64, f64)>,
}

#[derive(Default)]
struct Tally {
    units: u64,
    busy: f64,
    waited: f64,
    sum: u64,
}

impl Carrier {
    #[inline(never)]
    fn @{fn}(&self, many: u64, tally: &mut Tally) -> u64 {
        let asked = Instant::now();
        self.@{gate}.enter();
        tally.waited += asked.elapsed().as_secs_f64();
        let first = {
            let mut state = self.state.lock().unwrap();
            // How full the window of the carrier is: it smoothes over the last permits.
            for step in 0..200u64 {
                state.1 = state.1 * 0.99 + (many + step % 3) as f64;
            }
            state.0 += many;
            state.0
        };
        let asked = Instant::now();
        self.@{gate}.leave();
        tally.waited += asked.elapsed().as_secs_f64();
        first
    }
}

/// The text in the alphabet of the carrier, seven bits each.
fn packed(number: u64, into: &mut Vec<u8>) -> u64 {
    into.clear();
    let mut bits = 0u32;
    let mut have = 0;
    for round in 0..@{effort} {
        for letter in b"Your parcel is at the counter until Friday, please bring the number. " {
            bits |= ((*letter as u32 + round) & 0x7f) << have;
            have += 7;
            while have >= 8 {
                into.push(bits as u8);
                bits >>= 8;
                have -= 8;
            }
        }
    }
    into.iter().fold(number, |sum, byte| (sum ^ *byte as u64).wrapping_mul(1_099_511_628_211))
}

fn mailing(carrier: &Carrier, tally: &mut Tally, into: &mut Vec<u8>) {
    let first = if @{each} == 1 { 0 } else { carrier.@{fn}(@{messages}, tally) };
    for i in 0..@{messages}u64 {
        let permit = if @{each} == 1 { carrier.@{fn}(1, tally) } else { first + i };
        tally.sum ^= packed(permit, into);
    }
}

fn main() {
    let carrier = Arc::new(Carrier::default());
    let began = Instant::now();
    let workers: Vec<_> = (0..@{workers}u32)
        .map(|number| {
            let carrier = carrier.clone();
            let work = move || {
                let (mut tally, mut into) = (Tally::default(), Vec::new());
                while began.elapsed().as_secs_f64() < @{seconds} as f64 {
                    let start = Instant::now();
                    mailing(&carrier, &mut tally, &mut into);
                    tally.units += 1;
                    tally.busy += start.elapsed().as_secs_f64();
                    let due = (tally.units as f64 + number as f64 / @{workers} as f64) / @{rate} as f64;
                    let rest = due - began.elapsed().as_secs_f64();
                    if rest > 0.0 {
                        thread::sleep(Duration::from_secs_f64(rest));
                    }
                }
                tally
            };
            thread::Builder::new().name(format!("sender-{number}")).spawn(work).unwrap()
        })
        .collect();
    let mut all = Tally::default();
    for worker in workers {
        let tally = worker.join().unwrap();
        all.units += tally.units;
        all.busy += tally.busy;
        all.waited += tally.waited;
        all.sum ^= tally.sum;
    }
    let report = format!("{{\"units\": {}, \"seconds\": {:.6}, \"culprit\": {:.6}}}", all.units, all.busy, all.waited);
    std::fs::write("@{report}", report).unwrap();
    println!("{:x}", all.sum);
}
