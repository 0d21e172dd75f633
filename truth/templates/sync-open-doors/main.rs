//! Entrance control: a reader sends a badge's number, and gets whether the door opens. What was asked and decided is logged.
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DURABLE: &str = "@{durable}";
/// The writes of a file that is opened so are on the disk when they return.
const O_SYNC: i32 = 0o4010000;

fn journal() -> std::io::Result<File> {
    let flags = if DURABLE == "keeper" { 0 } else { O_SYNC };
    OpenOptions::new().create(true).append(true).custom_flags(flags).open("@{work}/@{log}")
}

#[inline(never)]
fn @{fn}(file: &File, collected: &Sender<String>, door: usize, step: usize, badge: &str) -> std::io::Result<()> {
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let mut line = format!("{at} door={door} step={step} {badge} {}", "zone=north level=2 ".repeat(60));
    line.truncate(@{bytes});
    line.push('\n');
    if DURABLE == "collected" {
        collected.send(line).ok();
        return Ok(());
    }
    let mut file = file;
    file.write_all(line.as_bytes())
}

fn keep(mut file: File, lines: Receiver<String>) {
    loop {
        std::thread::sleep(Duration::from_secs_f64(@{pace}));
        if DURABLE == "keeper" {
            file.sync_all().ok();
        } else {
            let all: String = lines.try_iter().collect();
            file.write_all(all.as_bytes()).ok();
        }
    }
}

fn allowed(badge: &str) -> bool {
    badge.bytes().fold(0u32, |sum, letter| sum.wrapping_mul(31).wrapping_add(letter.into())) % 7 != 0
}

fn serve(reader: TcpStream, door: usize, collected: Sender<String>) -> std::io::Result<()> {
    reader.set_nodelay(true)?;
    let file = journal()?;
    let mut answers = reader.try_clone()?;
    for badge in BufReader::new(reader).lines() {
        let badge = badge?;
        for step in 0..@{lines} {
            @{fn}(&file, &collected, door, step, &badge)?;
        }
        let answer = if allowed(&badge) { "open" } else { "refused" };
        answers.write_all(format!("{badge} {answer}\n").as_bytes())?;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:@{port}")?;
    let (collected, lines) = channel();
    if DURABLE != "line" {
        let file = journal()?;
        std::thread::spawn(move || keep(file, lines));
    }
    for (door, reader) in listener.incoming().enumerate() {
        let (reader, collected) = (reader?, collected.clone());
        std::thread::spawn(move || serve(reader, door, collected));
    }
    Ok(())
}
