// Signs documents by the program of the card's maker, which must not see our connections.
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

extern "C" {
    fn close(fd: i32) -> i32;
    fn close_range(first: u32, last: u32, flags: i32) -> i32;
}

fn wait_until(began: Instant, due: f64) {
    let rest = due - began.elapsed().as_secs_f64();
    if rest > 0.0 {
        std::thread::sleep(Duration::from_secs_f64(rest));
    }
}

fn report(units: usize, seconds: f64, culprit: f64) {
    let text = format!("{{\"units\": {units}, \"seconds\": {seconds:.6}, \"culprit\": {culprit:.6}}}");
    std::fs::write("@{report}", text).expect("report");
}

#[inline(never)]
fn @{fn}(document: &str) -> bool {
    let mut command = Command::new("@{work}/bin/@{tool}");
    command.arg(document).stdin(Stdio::null());
    let top: i32 = @{top};
    unsafe {
        command.pre_exec(move || {
            if top == 0 {
                // The standard library's own pipe is among them; it closes by itself at the exec.
                close_range(3, u32::MAX, 4);
            } else {
                let own = 16;
                for fd in own..top {
                    close(fd);
                }
            }
            Ok(())
        });
    }
    command.status().map(|status| status.success()).unwrap_or(false)
}

fn main() {
    let began = Instant::now();
    let (mut units, mut busy, mut culprit) = (0usize, 0.0, 0.0);
    while began.elapsed().as_secs_f64() < @{seconds} {
        let start = Instant::now();
        let name = format!("document-{units}");
        assert!(@{fn}(&name), "not signed");
        let took = start.elapsed().as_secs_f64();
        units += 1;
        busy += took;
        // What the start of a program costs anyway is not meant.
        culprit += (took - 0.0015f64).max(0.0);
        wait_until(began, units as f64 / @{rate} as f64);
    }
    report(units, busy, culprit);
}
