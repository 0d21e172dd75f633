// Keeps the account of a tunnel: lanes hand in what they took, a clerk of its own thread enters it, and answers when it is safe.
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::time::{Duration, Instant};

extern "C" {
    fn syncfs(fd: i32) -> i32;
}

struct Takings {
    quarter: u32,
    rows: Vec<(u32, u32)>,
    safe: Sender<Duration>,
}

#[inline(never)]
fn @{fn}(account: &File, how: &str) -> std::io::Result<Duration> {
    let start = Instant::now();
    match how {
        "all" => {
            if unsafe { syncfs(account.as_raw_fd()) } != 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        "own" => account.sync_data()?,
        _ => {}
    }
    Ok(start.elapsed())
}

fn clerk(desk: Receiver<Takings>) -> std::io::Result<()> {
    let mut account = OpenOptions::new().create(true).append(true).open("@{work}/@{account}")?;
    for takings in desk {
        let mut text = String::new();
        for (plate, fee) in &takings.rows {
            text += &format!("{};{:06};{}\n", takings.quarter, plate, fee);
        }
        text += &format!("= {} {:x}\n", takings.rows.iter().map(|(_, fee)| fee).sum::<u32>(), prove(&text));
        account.write_all(text.as_bytes())?;
        let _ = takings.safe.send(@{fn}(&account, "@{settle}")?);
    }
    if "@{settle}" == "last" {
        @{fn}(&account, "all")?;
    }
    Ok(())
}

// Who reads the account can tell by it that nobody has changed a row.
fn prove(text: &str) -> u64 {
    let until = Instant::now() + Duration::from_secs_f64(@{proof_ms} as f64 / 1000.0);
    let (mut best, mut seed) = (u64::MAX, 0u64);
    while Instant::now() < until {
        seed += 1;
        best = best.min(text.bytes().fold(seed, |mark, byte| (mark ^ byte as u64).wrapping_mul(1099511628211)));
    }
    best
}

fn lane(quarter: u32) -> Vec<(u32, u32)> {
    let mut state = quarter.wrapping_mul(7919) + 1;
    let mut rows: Vec<(u32, u32)> = (0..@{cars})
        .map(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            ((state >> 8) % 1_000_000, 300 + (state >> 20) % 400)
        })
        .collect();
    rows.sort();
    rows
}

fn main() -> std::io::Result<()> {
    let (desk, takings) = channel();
    let clerk = std::thread::Builder::new().name("clerk".into()).spawn(move || clerk(takings))?;
    let (mut units, mut busy, mut settling) = (0u32, Duration::ZERO, Duration::ZERO);
    let began = Instant::now();
    let mut due = began;
    while began.elapsed().as_secs_f64() < @{seconds} as f64 {
        let start = Instant::now();
        let (safe, answer) = channel();
        desk.send(Takings { quarter: units, rows: lane(units), safe }).expect("the clerk is there");
        settling += answer.recv().expect("the clerk answers");
        busy += start.elapsed();
        units += 1;
        due = (due + Duration::from_secs_f64(1.0 / @{rate} as f64)).max(Instant::now());
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    drop(desk);
    clerk.join().expect("the clerk ends")?;
    std::fs::write(
        "@{report}",
        format!("{{\"units\": {}, \"seconds\": {}, \"culprit\": {}}}", units, busy.as_secs_f64(), settling.as_secs_f64()),
    )
}
