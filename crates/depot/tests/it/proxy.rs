//! A small proxy with faults: each request goes to the server on a connection of its own, unless the plan says otherwise.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What becomes of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The connection is closed before it is read.
    Down,
    /// The connection is cut in the middle of what is sent: the server gets half of it.
    Cut,
    /// The server does it, and its answer is lost.
    LostAnswer,
    /// The server is busy.
    Busy,
    /// No answer comes for a while.
    Silent,
    /// The server refuses it.
    Refused,
}

type Plan = Box<dyn FnMut(&str) -> Fault + Send>;

/// A proxy that runs until the tests end.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    plan: Arc<Mutex<Plan>>,
}

impl Proxy {
    pub(crate) fn to(server: u16, plan: impl FnMut(&str) -> Fault + Send + 'static) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let plan: Arc<Mutex<Plan>> = Arc::new(Mutex::new(Box::new(plan)));
        let plans = plan.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let plan = plans.clone();
                std::thread::spawn(move || drop(serve(client, server, &plan)));
            }
        });
        Proxy { port, plan }
    }

    pub(crate) fn set(&self, plan: impl FnMut(&str) -> Fault + Send + 'static) {
        *self.plan.lock().unwrap() = Box::new(plan);
    }
}

/// The head of a message with its end, and its body.
fn message(from: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 << 10];
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        match from.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    };
    let mut body = bytes.split_off(head);
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    while body.len() < length.unwrap_or_default() {
        match from.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => body.extend_from_slice(&buffer[..count]),
        }
    }
    Ok((head, body))
}

fn serve(mut client: TcpStream, server: u16, plan: &Mutex<Plan>) -> io::Result<()> {
    let (head, body) = message(&mut client)?;
    let line = head.lines().next().unwrap_or_default().to_string();
    let fault = (plan.lock().unwrap())(&line);
    let plain = |status: &str, code: &str| {
        let body =
            format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>so it is</Message></Error>");
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
    };
    match fault {
        Fault::Down => return Ok(()),
        Fault::Busy => return client.write_all(plain("503 Slow Down", "SlowDown").as_bytes()),
        Fault::Refused => return client.write_all(plain("403 Forbidden", "AccessDenied").as_bytes()),
        Fault::Silent => {
            std::thread::sleep(Duration::from_millis(1500));
            return Ok(());
        }
        Fault::None | Fault::Cut | Fault::LostAnswer => {}
    }
    let mut upstream = TcpStream::connect(("127.0.0.1", server))?;
    let (first, rest) = head.split_once("\r\n").unwrap_or((&head, ""));
    let kept: Vec<&str> =
        rest.lines().filter(|line| !line.to_ascii_lowercase().starts_with("connection:")).collect();
    upstream.write_all(format!("{first}\r\nConnection: close\r\n{}\r\n", kept.join("\r\n")).as_bytes())?;
    if fault == Fault::Cut {
        upstream.write_all(&body[..body.len() / 2])?;
        return Ok(());
    }
    upstream.write_all(&body)?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    if fault == Fault::LostAnswer {
        return Ok(());
    }
    // So that the client does not take this connection for its next request.
    let text = String::from_utf8_lossy(&answer[..answer.len().min(4096)]).into_owned();
    if text.to_ascii_lowercase().contains("connection: close") {
        return client.write_all(&answer);
    }
    let at = answer.windows(2).position(|two| two == b"\r\n").map_or(0, |at| at + 2);
    client.write_all(&answer[..at])?;
    client.write_all(b"Connection: close\r\n")?;
    client.write_all(&answer[at..])
}
