//! Compares signatures: each request names strokes, and gets how near they are to those of the archive.
use std::ffi::c_void;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

extern "C" {
    fn mmap(at: *mut c_void, length: usize, protection: i32, flags: i32, fd: i32, offset: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, length: usize) -> i32;
}

const WINDOW: usize = @{window_kb} * 1024;

/// A part of a file in memory, as long as it is used.
struct View {
    at: *mut c_void,
    length: usize,
}

impl View {
    #[inline(never)]
    fn @{fn}(file: &File, offset: usize, length: usize) -> View {
        let at = unsafe { mmap(std::ptr::null_mut(), length, 1, 1, file.as_raw_fd(), offset as i64) };
        assert!(at as isize != -1, "{}", std::io::Error::last_os_error());
        View { at, length }
    }

    fn bytes(&self) -> &[u8] {
        unsafe { std::slice::from_raw_parts(self.at as *const u8, self.length) }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        unsafe { munmap(self.at, self.length) };
    }
}

struct Archive {
    file: File,
    whole: Option<View>,
    spent: Duration,
}

fn distance(view: &[u8], number: usize) -> u64 {
    let at = number * 131 % (4096 - @{length});
    let strokes = &view[at..at + @{length}];
    strokes.iter().enumerate().map(|(i, stroke)| (*stroke as i64 - ((number * 31 + i * 7) % 256) as i64).unsigned_abs()).sum()
}

impl Archive {
    fn open(path: &str) -> Archive {
        let file = File::open(path).unwrap();
        let whole = if @{held} == 1 { Some(View::@{fn}(&file, 0, @{windows} * WINDOW)) } else { None };
        Archive { file, whole, spent: Duration::ZERO }
    }

    fn near(&mut self, number: usize) -> u64 {
        let window = number * 7 % @{windows};
        if let Some(whole) = &self.whole {
            return distance(&whole.bytes()[window * WINDOW..], number);
        }
        let start = Instant::now();
        let view = View::@{fn}(&self.file, window * WINDOW, WINDOW);
        self.spent += start.elapsed();
        let found = distance(view.bytes(), number);
        let start = Instant::now();
        drop(view);
        self.spent += start.elapsed();
        found
    }

    fn request(&mut self, first: usize) -> u64 {
        if @{each} == 1 {
            let view = View::@{fn}(&self.file, first % @{windows} * WINDOW, WINDOW);
            return (0..@{records}).map(|i| distance(view.bytes(), first + i)).min().unwrap();
        }
        (0..@{records}).map(|i| self.near(first + i)).min().unwrap()
    }
}

fn main() {
    let mut archive = Archive::open("@{work}/@{archive}");
    let (mut units, mut busy, mut nearest, began) = (0usize, 0.0, 0, Instant::now());
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        nearest += archive.request(units * 13);
        units += 1;
        busy += start.elapsed().as_secs_f64();
        let rest = units as f64 / @{rate} as f64 - began.elapsed().as_secs_f64();
        if rest > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(rest));
        }
    }
    println!("{units} requests, {nearest}");
    let text = format!("{{\"units\": {units}, \"seconds\": {busy}, \"culprit\": {}}}", archive.spent.as_secs_f64());
    fs::write("@{report}", text).unwrap();
}
