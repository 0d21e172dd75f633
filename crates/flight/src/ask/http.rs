//! `POST /dump?reason=…`: metrics from outside ask for a window. It listens on an address of this host alone, and takes who has the
//! token.

use super::AskSender;
use percent_encoding::percent_decode_str;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

/// Bytes of a request's head.
const MOST_HEAD: usize = 8 << 10;
/// Requests that wait for their recording at once.
const MOST_AT_ONCE: usize = 16;
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
    let _ = match read(stream) {
        None => answer(stream, "400 Bad Request", "this is no request that is understood\n"),
        Some(request) => match request.reason(token) {
            Err((status, text)) => answer(stream, status, text),
            Ok(reason) => match to.ask("http", "a request by HTTP", &reason) {
                Ok(path) => {
                    let text = serde_json::json!({ "kept": path.display().to_string() }).to_string() + "\n";
                    answer(stream, "200 OK", &text)
                }
                Err(why) => answer(stream, "500 Internal Server Error", &(why + "\n")),
            },
        },
    };
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

impl Head {
    /// Why a window is asked for; or what to answer.
    fn reason(&self, token: &Token) -> Result<String, (&'static str, &'static str)> {
        let given = self.authorization.strip_prefix(b"Bearer ").unwrap_or_default();
        if !token.is(given) {
            return Err((
                "401 Unauthorized",
                "the header `Authorization: Bearer TOKEN` is missing or wrong\n",
            ));
        }
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        match (path, self.method.as_str()) {
            ("/dump", "POST") => {}
            ("/dump", _) => return Err(("405 Method Not Allowed", "POST /dump?reason=…\n")),
            _ => return Err(("404 Not Found", "POST /dump?reason=…\n")),
        }
        let reason = query.split('&').find_map(|pair| pair.strip_prefix("reason="));
        Ok(decoded(reason.unwrap_or_default()))
    }
}

/// Percent-decoded, as in a query, where a plus is a space.
fn decoded(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::Asks;
    use super::*;
    use std::path::PathBuf;

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
}
