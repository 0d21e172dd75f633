//! Copies papers between lockboxes: a link where both are on one file system, a copy where they are not.
use std::collections::{HashMap, VecDeque};
use std::ffi::{c_char, c_int, c_ulong, c_void, CString};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

extern "C" {
    fn unshare(flags: c_int) -> c_int;
    fn mount(source: *const c_char, target: *const c_char, kind: *const c_char, flags: c_ulong, data: *const c_void) -> c_int;
}

const BIND: c_ulong = 0x1000;
const PRIVATE: c_ulong = 0x4_4000;

fn bind(source: &str, target: &str, flags: c_ulong) {
    let (from, to) = (CString::new(source).unwrap(), CString::new(target).unwrap());
    let done = unsafe { mount(from.as_ptr(), to.as_ptr(), std::ptr::null(), flags, std::ptr::null()) };
    assert_eq!(done, 0, "{target}: {}", std::io::Error::last_os_error());
}

/// The boxes are mounts of this process.
fn open_boxes() -> Vec<PathBuf> {
    assert_eq!(unsafe { unshare(0x20000) }, 0, "no mounts of our own");
    bind("none", "/", PRIVATE);
    let path_of = |number| format!("@{work}/@{boxes}/@{kind}{number}");
    (1..=@{number}).map(path_of).map(|path| { bind(&path, &path, BIND); PathBuf::from(path) }).collect()
}

struct Archive {
    boxes: Vec<PathBuf>,
    devices: HashMap<PathBuf, String>,
    spent: Duration,
    last: VecDeque<(u64, bool)>,
}

impl Archive {
    fn table() -> impl Iterator<Item = (PathBuf, String)> {
        let file = BufReader::with_capacity(1 << 16, fs::File::open("/proc/self/mountinfo").unwrap());
        file.lines().map_while(Result::ok).filter_map(|line| {
            let mut words = line.split(' ').skip(2);
            let device = words.next()?.to_string();
            Some((PathBuf::from(words.nth(1)?), device))
        })
    }

    /// The device under a box.
    #[inline(never)]
    fn @{fn}(&mut self, path: &Path) -> Option<String> {
        let from = Instant::now();
        let mut found = None;
        for (target, device) in Archive::table() {
            if path.starts_with(&target) {
                found = Some(device);
            }
        }
        self.spent += from.elapsed();
        found
    }

    fn device(&mut self, path: &Path) -> Option<String> {
        if @{known} == 1 { self.devices.get(path).cloned() } else { self.@{fn}(path) }
    }

    fn round(&mut self, number: usize) {
        let paper: Vec<u8> = (0..@{bytes}).map(|i: usize| (i * 31 + number) as u8).collect();
        for part in 0..@{papers} / 2 {
            let from = self.boxes[(number * 31 + part * 17) % self.boxes.len()].clone();
            let to = self.boxes[(number * 13 + part * 5 + 1) % self.boxes.len()].clone();
            let can_link = self.device(&from) == self.device(&to);
            let mut seal = 14695981039346656037u64;
            for _ in 0..60 {
                seal = paper.iter().fold(seal, |sum, byte| (sum ^ *byte as u64).wrapping_mul(1099511628211));
            }
            self.last.push_back((seal, can_link));
            if self.last.len() > 500 {
                self.last.pop_front();
            }
        }
    }
}

fn main() {
    let boxes = open_boxes();
    let mut archive = Archive { boxes, devices: Archive::table().collect(), spent: Duration::ZERO, last: VecDeque::new() };
    let (mut units, mut busy, began) = (0, 0.0, Instant::now());
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        archive.round(units);
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    let text = format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}}}", archive.spent.as_secs_f64());
    fs::write("@{report}", text).unwrap();
}
