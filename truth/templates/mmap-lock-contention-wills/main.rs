// Compares scans of wills with the seals of their notaries. Keys of seals must never reach a swap device.
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

mod sys {
    pub const READ: i32 = 1;
    pub const WRITE: i32 = 2;
    pub const PRIVATE: i32 = 2;
    pub const ANONYMOUS: i32 = 0x20;
    pub const POPULATE: i32 = 0x8000;

    extern "C" {
        pub fn mmap(at: *mut u8, len: usize, prot: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
        pub fn munmap(at: *mut u8, len: usize) -> i32;
        pub fn mlock(at: *const u8, len: usize) -> i32;
        pub fn munlock(at: *const u8, len: usize) -> i32;
    }
}

#[derive(Default)]
struct Tally {
    units: u64,
    busy: f64,
    mapping: f64,
    sum: u64,
}

struct Mapped<'a> {
    at: *mut u8,
    len: usize,
    spent: &'a mut f64,
}

impl<'a> Mapped<'a> {
    fn open(name: &str, spent: &'a mut f64) -> Self {
        let file = File::open(name).unwrap();
        let len = file.metadata().unwrap().len() as usize;
        let start = Instant::now();
        let at = unsafe { sys::mmap(std::ptr::null_mut(), len, sys::READ, sys::PRIVATE | sys::POPULATE, file.as_raw_fd(), 0) };
        *spent += start.elapsed().as_secs_f64();
        assert!(at as isize != -1, "{name}");
        Mapped { at, len, spent }
    }

    fn bytes(&self) -> &[u8] {
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl Drop for Mapped<'_> {
    fn drop(&mut self) {
        let start = Instant::now();
        unsafe { sys::munmap(self.at, self.len) };
        *self.spent += start.elapsed().as_secs_f64();
    }
}

struct Keys {
    table: &'static mut [u64],
    round: u64,
}

impl Keys {
    fn new(bytes: usize) -> Keys {
        let at = unsafe { sys::mmap(std::ptr::null_mut(), bytes, sys::READ | sys::WRITE, sys::PRIVATE | sys::ANONYMOUS, -1, 0) };
        assert!(at as isize != -1);
        let table = unsafe { std::slice::from_raw_parts_mut(at as *mut u64, bytes / 8) };
        let mut key = 88172645463325252u64;
        for place in table.iter_mut() {
            key ^= key << 13;
            key ^= key >> 7;
            key ^= key << 17;
            *place = key;
        }
        let keys = Keys { table, round: 0 };
        if @{once} == 1 {
            keys.hold();
        }
        keys
    }

    fn hold(&self) {
        if unsafe { sys::mlock(self.table.as_ptr() as *const u8, self.table.len() * 8) } != 0 {
            eprintln!("the keys are not held in memory");
        }
    }

    /// The keys that the next round of seals takes; what is in the table must stay in memory meanwhile.
    #[inline(never)]
    fn @{fn}(&mut self) -> u64 {
        if @{once} == 0 {
            self.hold();
        }
        let mut seal = self.round;
        self.round += 1;
        for i in 0..@{keys}u64 {
            let place = seal.wrapping_mul(2654435761).wrapping_add(i) % self.table.len() as u64;
            seal = (seal ^ self.table[place as usize]).wrapping_mul(1099511628211);
        }
        if @{once} == 0 {
            unsafe { sys::munlock(self.table.as_ptr() as *const u8, self.table.len() * 8) };
        }
        seal
    }
}

#[inline(never)]
fn @{fn2}(number: u64, mut seal: u64, tally: &mut Tally) -> u64 {
    let scan = Mapped::open(&format!("@{work}/@{spool}/{}.scan", number % @{files}), &mut tally.mapping);
    for _ in 0..@{rounds} {
        for byte in scan.bytes().iter().step_by(4) {
            seal = (seal ^ *byte as u64).wrapping_mul(1099511628211);
        }
    }
    seal
}

fn main() {
    let mut keys = Keys::new(@{table_kb} * 1024);
    let (open, current) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU64::new(1)));
    let began = Instant::now();
    let keeper = {
        let (open, current) = (open.clone(), current.clone());
        thread::spawn(move || {
            while open.load(Ordering::Relaxed) {
                current.store(keys.@{fn}(), Ordering::Relaxed);
                thread::sleep(Duration::from_secs_f64(@{often_ms} as f64 / 1000.0));
            }
        })
    };
    let clerks: Vec<_> = (0..@{clerks}u64)
        .map(|number| {
            let current = current.clone();
            thread::spawn(move || {
                let mut tally = Tally::default();
                while began.elapsed().as_secs_f64() < @{seconds} as f64 {
                    let start = Instant::now();
                    for i in 0..@{scans}u64 {
                        let seal = @{fn2}(number * 7 + tally.units * @{scans} + i, current.load(Ordering::Relaxed), &mut tally);
                        tally.sum ^= seal;
                    }
                    tally.units += 1;
                    tally.busy += start.elapsed().as_secs_f64();
                    let due = (tally.units as f64 + number as f64 / @{clerks} as f64) / @{rate} as f64;
                    let rest = due - began.elapsed().as_secs_f64();
                    if rest > 0.0 {
                        thread::sleep(Duration::from_secs_f64(rest));
                    }
                }
                tally
            })
        })
        .collect();
    let mut all = Tally::default();
    for clerk in clerks {
        let tally = clerk.join().unwrap();
        all.units += tally.units;
        all.busy += tally.busy;
        all.mapping += tally.mapping;
        all.sum ^= tally.sum;
    }
    open.store(false, Ordering::Relaxed);
    keeper.join().unwrap();
    let report = format!("{{\"units\": {}, \"seconds\": {:.6}, \"culprit\": {:.6}}}", all.units, all.busy, all.mapping);
    std::fs::write("@{report}", report).unwrap();
    println!("{:x}", all.sum);
}
