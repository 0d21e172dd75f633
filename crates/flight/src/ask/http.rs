//! `POST /dump?reason=…`: metrics from outside ask for a window; `POST /record?seconds=30&reason=…` asks for a recording in detail, where that
//! is on. It listens on an address of this host alone, and takes who has the token.

use super::{AskSender, NoDetail};
use percent_encoding::percent_decode_str;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of a request's head.
const MOST_HEAD: usize = 8 << 10;
/// Requests that wait for their recording at once.
const MOST_AT_ONCE: usize = 16;
/// Seconds of a recording in detail, where nothing else is asked for, and at most.
const USUAL_SECONDS: u64 = 30;
const MOST_SECONDS: u64 = 300;
/// What can be asked.
const QUESTIONS: &str = "POST /dump?reason=… or POST /record?seconds=30&reason=…\n";
/// The shortest token that is taken: as long as no list of words has.
const SHORTEST: usize = 16;

/// What who asks must know.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The first line of that file.
    ///
    /// # Errors
    /// Where it cannot be read, or is too short.
    pub fn read(path: &Path) -> Result<Token, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let token = text.lines().next().unwrap_or_default().trim();
        if token.len() < SHORTEST {
            return Err(format!("its first line has fewer than {SHORTEST} characters"));
        }
        Ok(Token(token.to_string()))
    }

    /// In a time that does not tell where they differ.
    fn is(&self, given: &[u8]) -> bool {
        let known = self.0.as_bytes();
        let differ = known.iter().zip(given).fold(0, |differ, (a, b)| differ | (a ^ b));
        known.len() == given.len() && differ == 0
    }
}

/// Listens on that address. Returns the one that it has.
///
/// # Errors
/// Where it is none of this host alone, or is taken.
pub fn listen(address: SocketAddr, token: Token, to: AskSender) -> std::io::Result<SocketAddr> {
    if !address.ip().is_loopback() {
        return Err(std::io::Error::other(
            "only an address of this host alone, as 127.0.0.1:9911, is listened on",
        ));
    }
    let listener = TcpListener::bind(address)?;
    let bound = listener.local_addr()?;
    let at_once = std::sync::Arc::new(());
    std::thread::Builder::new().name("whyslow-http".to_string()).spawn(move || {
        for stream in listener.incoming().flatten() {
            let (token, to, one) = (token.clone(), to.clone(), at_once.clone());
            if std::sync::Arc::strong_count(&at_once) > MOST_AT_ONCE + 1 {
                let _ = answer(&stream, "503 Service Unavailable", "too many ask at once\n");
                continue;
            }
            let served = move || {
                serve(&stream, &token, &to);
                drop(one);
            };
            let _ = std::thread::Builder::new().name("whyslow-http".to_string()).spawn(served);
        }
    })?;
    Ok(bound)
}

fn serve(stream: &TcpStream, token: &Token, to: &AskSender) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = stream.set_write_timeout(Some(Duration::from_secs(5)));
    let given = match read(stream) {
        None => Err(("400 Bad Request", "this is no request that is understood\n".to_string())),
        Some(request) => request.question(token).and_then(|question| ask(&question, to)),
    };
    let _ = match given {
        Ok(path) => {
            let text = serde_json::json!({ "kept": path.display().to_string() }).to_string() + "\n";
            answer(stream, "200 OK", &text)
        }
        Err((status, text)) => answer(stream, status, &text),
    };
}

/// A status and a text that says why there is no recording.
type Refused = (&'static str, String);

/// Asks, and waits for the recording.
fn ask(question: &Question, to: &AskSender) -> Result<PathBuf, Refused> {
    const WHO: &str = "a request by HTTP";
    let failed = |why: String| ("500 Internal Server Error", why + "\n");
    match question {
        Question::Dump { reason } => to.ask("http", WHO, reason).map_err(failed),
        Question::Record { reason, length } => {
            to.record("http", WHO, reason, *length).map_err(|why| match why {
                NoDetail::Off => (
                    "403 Forbidden",
                    "this ring begins no recordings\nnext: on its host, --http-record beside --http turns them on, or record = true below [ring] in the settings of the agent\n".to_string(),
                ),
                NoDetail::Taken => (
                    "409 Conflict",
                    "a recording that was asked for is under way, and there is one at a time\nnext: ask again when it is over, 5 minutes from now at the latest\n".to_string(),
                ),
                NoDetail::Failed(why) => failed(why),
            })
        }
    }
}

fn answer(mut stream: &TcpStream, status: &str, text: &str) -> std::io::Result<()> {
    let length = text.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

/// The head of a request.
struct Head {
    method: String,
    path: String,
    authorization: Vec<u8>,
}

fn read(mut stream: &TcpStream) -> Option<Head> {
    let (mut bytes, mut length) = (vec![0; MOST_HEAD], 0);
    loop {
        let got = stream.read(bytes.get_mut(length..).filter(|rest| !rest.is_empty())?).ok()?;
        length += got;
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        if request.parse(&bytes[..length]).ok()?.is_complete() {
            let named = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case("authorization");
            let authorization = request.headers.iter().find(named).map(|header| header.value.to_vec());
            return Some(Head {
                method: request.method?.to_string(),
                path: request.path?.to_string(),
                authorization: authorization.unwrap_or_default(),
            });
        }
        if got == 0 {
            return None;
        }
    }
}

/// What a request asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Question {
    /// The window that the ring holds.
    Dump { reason: String },
    /// A recording in detail.
    Record { reason: String, length: Duration },
}

impl Head {
    /// What is asked for, and why; or what to answer.
    fn question(&self, token: &Token) -> Result<Question, Refused> {
        let given = self.authorization.strip_prefix(b"Bearer ").unwrap_or_default();
        if !token.is(given) {
            return Err((
                "401 Unauthorized",
                "the header `Authorization: Bearer TOKEN` is missing or wrong\n".to_string(),
            ));
        }
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let value = |name: &str| {
            let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
            pair.map(decoded).unwrap_or_default()
        };
        let reason = value("reason");
        match (path, self.method.as_str()) {
            ("/dump", "POST") => Ok(Question::Dump { reason }),
            ("/record", "POST") => Ok(Question::Record { reason, length: length(&value("seconds"))? }),
            ("/dump" | "/record", _) => Err(("405 Method Not Allowed", QUESTIONS.to_string())),
            _ => Err(("404 Not Found", QUESTIONS.to_string())),
        }
    }
}

/// How long a recording in detail is to take.
fn length(seconds: &str) -> Result<Duration, Refused> {
    let number = match seconds {
        "" => Some(USUAL_SECONDS),
        text => text.parse().ok().filter(|number| (1..=MOST_SECONDS).contains(number)),
    };
    number.map(Duration::from_secs).ok_or_else(|| {
        let shown: String = seconds.chars().filter(|c| !c.is_control()).take(40).collect();
        ("400 Bad Request", format!("seconds={shown}: expected 1 to {MOST_SECONDS}\n"))
    })
}

/// Percent-decoded, as in a query, where a plus is a space.
fn decoded(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::{Asks, Wish};
    use super::*;

    fn sent(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("listens");
        stream.write_all(text.as_bytes()).expect("sent");
        // Who was turned away at the first line finds the connection closed.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn who_has_the_token_asks_and_nobody_else() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("token");
        std::fs::write(&file, "short\n").expect("written");
        assert!(Token::read(&file).is_err());
        std::fs::write(&file, "0123456789abcdef\n").expect("written");
        let token = Token::read(&file).expect("a token");
        let mut asks = Asks::default();
        let everywhere = listen("0.0.0.0:0".parse().expect("an address"), token.clone(), asks.sender());
        assert!(everywhere.is_err());
        let address =
            listen("127.0.0.1:0".parse().expect("an address"), token, asks.sender()).expect("listens");
        let with = |method: &str, path: &str, token: &str| {
            sent(
                address,
                &format!("{method} {path} HTTP/1.1\r\nHost: x\r\nauthorization: Bearer {token}\r\n\r\n"),
            )
        };
        assert!(with("POST", "/dump", "0123456789abcdeF").starts_with("HTTP/1.1 401 "));
        assert!(with("POST", "/dump", "").starts_with("HTTP/1.1 401 "));
        assert!(with("GET", "/dump", "0123456789abcdef").starts_with("HTTP/1.1 405 "));
        assert!(with("POST", "/other", "0123456789abcdef").starts_with("HTTP/1.1 404 "));
        for broken in ["", "nonsense\r\n\r\n", &"x".repeat(MOST_HEAD + 1)] {
            let answer = sent(address, broken);
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{answer}");
        }
        assert!(with("GET", "/record", "0123456789abcdef").starts_with("HTTP/1.1 405 "));
        assert!(with("POST", "/record", "0123456789abcdeF").starts_with("HTTP/1.1 401 "));
        let off = with("POST", "/record?seconds=2", "0123456789abcdef");
        assert!(off.starts_with("HTTP/1.1 403 ") && off.contains("--http-record"), "{off}");
        assert!(asks.take().is_none());
        let asker = std::thread::spawn(move || {
            sent(
                address,
                "POST /dump?x=1&reason=p99+is%20up%0a%zz HTTP/1.1\r\nAuthorization: Bearer 0123456789abcdef\r\n\r\n",
            )
        });
        let asked = loop {
            if let Some(asked) = asks.take() {
                break asked;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        assert_eq!(
            (asked.kind(), asked.reason().as_str()),
            ("http", "a request by HTTP asked for it (p99 is up%zz)")
        );
        asked.answer(Ok(PathBuf::from("/x/y.whyslow")));
        let answer = asker.join().expect("joined");
        assert!(
            answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("{\"kept\":\"/x/y.whyslow\"}\n"),
            "{answer}"
        );
    }

    #[test]
    fn a_recording_in_detail_is_begun_once_and_its_length_is_bounded() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("token");
        std::fs::write(&file, "0123456789abcdef\n").expect("written");
        let token = Token::read(&file).expect("a token");
        let mut asks = Asks::default();
        asks.let_record(true);
        let address =
            listen("127.0.0.1:0".parse().expect("an address"), token, asks.sender()).expect("listens");
        let post = move |path: &str| {
            let head = "Authorization: Bearer 0123456789abcdef\r\n\r\n";
            sent(address, &format!("POST {path} HTTP/1.1\r\n{head}"))
        };
        for wrong in ["0", "301", "-1", "1.5", "many", "99999999999999999999999", "%00"] {
            let answer = post(&format!("/record?seconds={wrong}"));
            assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("expected 1 to 300"), "{answer}");
        }
        assert!(asks.take().is_none());
        for (query, seconds, reason) in [
            ("", 30, "a request by HTTP asked for a recording of 30 s in detail"),
            (
                "?reason=p99+is+up&seconds=2",
                2,
                "a request by HTTP asked for a recording of 2 s in detail (p99 is up)",
            ),
        ] {
            let asker = std::thread::spawn(move || post(&format!("/record{query}")));
            let asked = loop {
                if let Some(asked) = asks.take() {
                    break asked;
                }
                std::thread::sleep(Duration::from_millis(2));
            };
            assert_eq!(
                (asked.wish(), asked.reason().as_str()),
                (Wish::Detail(Duration::from_secs(seconds)), reason)
            );
            let second = post("/record");
            assert!(second.starts_with("HTTP/1.1 409 ") && second.contains("under way"), "{second}");
            asked.answer(Err("whyslow: no rights".to_string()));
            let answer = asker.join().expect("joined");
            assert!(
                answer.starts_with("HTTP/1.1 500 ") && answer.ends_with("whyslow: no rights\n"),
                "{answer}"
            );
        }
    }
}
