// Archive of a small observatory: the sky map of each exposure goes through a tool of the institute.
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

extern "C" {
    fn fcntl(fd: i32, command: i32, value: i32) -> i32;
    fn close(fd: i32) -> i32;
    fn close_range(first: u32, last: u32, flags: u32) -> i32;
}

// The camera's driver takes high numbers: as many as the host has.
const MOST_FILES: i32 = @{limit};

struct Exposure {
    number: u32,
    stars: Vec<(u16, u16)>,
}

impl Exposure {
    fn take(number: u32) -> Exposure {
        let mut state = number as u64 * 77 + 5;
        let stars = (0..@{points} / 10)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                ((state >> 50) as u16 % 2048, (state >> 36) as u16 % 2048)
            })
            .collect();
        Exposure { number, stars }
    }

    fn map(&self) -> String {
        let mut stars = self.stars.clone();
        stars.sort();
        let rows: Vec<String> = stars.iter().map(|(x, y)| format!("{x},{y}")).collect();
        format!("# {}\n{}\n", self.number, rows.join("\n"))
    }
}

// The tool shall not inherit the camera, nor the plates. The end of std's own pipe tells that exec was done: it is marked, not closed.
fn leave_alone() {
    unsafe {
        if "@{how}" == "range" {
            close_range(3, u32::MAX, 4);
        } else {
            for fd in 3..MOST_FILES {
                if fd < 64 {
                    fcntl(fd, 2, 1);
                } else {
                    close(fd);
                }
            }
        }
    }
}

#[inline(never)]
fn @{fn}(text: &str) -> std::io::Result<bool> {
    let mut command = Command::new("/bin/cat");
    command.arg("-").stdin(Stdio::piped()).stdout(Stdio::null());
    unsafe {
        command.pre_exec(|| {
            leave_alone();
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    child.stdin.take().unwrap().write_all(text.as_bytes())?;
    Ok(child.wait()?.success())
}

fn main() -> std::io::Result<()> {
    let (mut units, mut busy) = (0u32, Duration::ZERO);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let exposure = Exposure::take(units);
        if !@{fn}(&exposure.map())? {
            eprintln!("exposure {} is not archived", exposure.number);
        }
        busy += start.elapsed();
        units += 1;
        due = (due + Duration::from_secs_f64(1.0 / @{rate} as f64)).max(Instant::now());
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    std::fs::write("@{report}", format!("{{\"units\": {}, \"seconds\": {}}}", units, busy.as_secs_f64()))
}
