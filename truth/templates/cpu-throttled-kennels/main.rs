//! Matches dogs: for one that is asked for, those of the kennel that suit it best by the marks of their coats.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

struct Match {
    dog: u64,
    suits: u64,
}

fn join(group: &str) {
    let path = format!("/sys/fs/cgroup/cpu/{group}/cgroup.procs");
    std::fs::write(path, std::process::id().to_string()).expect("the group of the kennel");
}

#[inline(never)]
fn @{fn}(dog: u64, other: u64, marks: u64) -> Match {
    let (mut left, mut right, mut suits) = (dog.wrapping_mul(0x9E3779B97F4A7C15) | 1, other.wrapping_mul(0xBF58476D1CE4E5B9) | 1, 0);
    for _ in 0..marks {
        left ^= left << 13;
        left ^= left >> 7;
        right ^= right << 17;
        right ^= right >> 9;
        suits += (left ^ right).count_ones() as u64 & 3;
        right = right.wrapping_add(left);
    }
    Match { dog: other, suits }
}

type Job = (u64, mpsc::Sender<String>);

/// The one that computes: it has the list, the others have the lines to those who ask.
fn keeper(jobs: mpsc::Receiver<Job>) {
    for (dog, answer) in jobs {
        let marks = @{effort_ms} * 220_000 / @{dogs};
        let mut found: Vec<Match> = (0..@{dogs}).map(|other| @{fn}(dog, dog * 31 + other, marks)).collect();
        found.sort_by_key(|one| std::cmp::Reverse(one.suits));
        let text = found.iter().map(|one| format!("{} {}\n", one.dog, one.suits)).collect();
        let _ = answer.send(text);
    }
}

fn serve(stream: TcpStream, jobs: mpsc::Sender<Job>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut lines = BufReader::new(stream).lines();
    while let Some(ask) = lines.next() {
        let ask = ask?;
        for head in lines.by_ref() {
            if head?.is_empty() {
                break;
            }
        }
        let dog = ask.split(' ').nth(1).and_then(|path| path.rsplit('/').next()?.parse().ok()).unwrap_or(0);
        let (answer, answered) = mpsc::channel();
        jobs.send((dog, answer)).expect("the keeper has gone");
        let text = answered.recv().unwrap_or_default();
        out.write_all(format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}", text.len()).as_bytes())?;
    }
    Ok(())
}

fn main() {
    if std::env::args().nth(1).is_some() {
        join("@{yard}-show");
        (0..).for_each(|dog| drop(@{fn}(dog, dog + 1, 1_000_000)));
    }
    join("@{yard}");
    if @{fair} == 1 {
        let own = std::env::current_exe().unwrap();
        std::process::Command::new(own).arg("show").spawn().expect("the sums of the show");
    }
    let (jobs, taken) = mpsc::channel();
    thread::spawn(move || keeper(taken));
    for stream in TcpListener::bind("127.0.0.1:@{port}").unwrap().incoming().flatten() {
        let jobs = jobs.clone();
        thread::spawn(move || serve(stream, jobs));
    }
}
