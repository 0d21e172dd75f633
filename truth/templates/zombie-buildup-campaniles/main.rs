// The controller of a carillon: rings the changes that it is asked for, and has them announced.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

struct Tower {
    started: Mutex<Vec<Child>>,
}

// Plain hunt on the bells: the order of the row.
fn change(row: usize) -> Vec<usize> {
    let mut bells: Vec<usize> = (1..=@{bells}).collect();
    for step in 0..row % (2 * @{bells}) {
        let mut at = step % 2;
        while at + 1 < bells.len() {
            bells.swap(at, at + 1);
            at += 2;
        }
    }
    bells
}

impl Tower {
    #[inline(never)]
    fn @{fn}(&self, row: usize, text: &str) -> std::io::Result<()> {
        let mut child = Command::new("@{work}/@{announcer}")
            .arg(format!("@{work}/@{towers}/board-{}", row % 12))
            .arg(text)
            .stdin(Stdio::null())
            .spawn()?;
        match "@{after}" {
            "awaited" => {
                thread::spawn(move || child.wait());
            }
            "next time" => {
                let mut started = self.started.lock().unwrap();
                started.retain_mut(|each| !matches!(each.try_wait(), Ok(Some(_))));
                started.push(child);
            }
            _ => {}
        }
        Ok(())
    }

    fn serve(&self, stream: TcpStream) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut answers = stream.try_clone()?;
        for line in BufReader::new(stream).lines() {
            let line = line?;
            let row: usize = line.strip_prefix("ring ").and_then(|n| n.parse().ok()).unwrap_or(0);
            let text = change(row).iter().map(|bell| bell.to_string()).collect::<Vec<_>>().join(" ");
            let told = match self.@{fn}(row, &text) {
                Ok(()) => format!("rung {}\n", text),
                Err(error) => format!("error {}\n", error),
            };
            answers.write_all(told.as_bytes())?;
        }
        Ok(())
    }
}

fn main() -> std::io::Result<()> {
    let tower = Arc::new(Tower { started: Mutex::new(Vec::new()) });
    for stream in TcpListener::bind("127.0.0.1:@{port}")?.incoming() {
        let (stream, tower) = (stream?, tower.clone());
        thread::spawn(move || tower.serve(stream));
    }
    Ok(())
}
