//! A receiver that keeps what it gets, and answers what it is told to.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// For what a busy machine does late.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) path: String,
    /// `name: value`, names in lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Vec<u8>,
}

#[derive(Default)]
struct Kept {
    got: Vec<Got>,
    /// What the next ones are answered; then `200 OK`.
    answers: VecDeque<String>,
}

/// The receiver.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    kept: Arc<Mutex<Kept>>,
}

impl Receiver {
    pub(crate) fn start() -> Receiver {
        Receiver::at("127.0.0.1:0".parse().expect("an address"))
    }

    pub(crate) fn at(address: SocketAddr) -> Receiver {
        let listener = TcpListener::bind(address).expect("bound");
        let address = listener.local_addr().expect("an address");
        let kept: Arc<Mutex<Kept>> = Arc::default();
        let of_thread = kept.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = of_thread.clone();
                std::thread::spawn(move || while answer(&stream, &kept).is_some() {});
            }
        });
        Receiver { address, kept }
    }

    /// The next ones are answered so: `503 Service Unavailable`.
    pub(crate) fn answer(&self, with: &str) {
        self.kept.lock().expect("kept").answers.push_back(with.to_string());
    }

    /// All that came to that path, once there are so many.
    pub(crate) fn wait_for(&self, path: &str, number: usize) -> Vec<Got> {
        let began = Instant::now();
        loop {
            let all = self.kept.lock().expect("kept").got.clone();
            let got: Vec<Got> = all.into_iter().filter(|got| got.path == path).collect();
            if got.len() >= number {
                return got;
            }
            assert!(began.elapsed() < LONGEST, "{number} to {path}: {} came", got.len());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn answer(stream: &TcpStream, kept: &Mutex<Kept>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let path = first.split(' ').nth(1)?.to_string();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push(format!("{}: {}", name.to_lowercase(), value.trim()));
    }
    let length = headers.iter().find_map(|header| header.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let status = {
        let mut kept = kept.lock().expect("kept");
        kept.got.push(Got { path, headers, body });
        kept.answers.pop_front().unwrap_or_else(|| "200 OK".to_string())
    };
    let mut writer = stream;
    write!(writer, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").ok()?;
    writer.flush().ok()
}
