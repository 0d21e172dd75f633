//! A page by HTTP for who scrapes it: few connections at once, each with little time, and heads of bounded length. What it answers is
//! made by a function; whoever asks may be asked for a token.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Bytes of a request's head.
const MOST_HEAD: usize = 8 << 10;
/// Connections at once.
const MOST_AT_ONCE: usize = 8;
/// What a client may take to ask, and to read the answer.
const ASKING: Duration = Duration::from_secs(5);
const READING: Duration = Duration::from_secs(10);

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageRequest {
    pub(crate) path: String,
    /// The header `Accept`; empty where there is none.
    pub(crate) accept: String,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageAnswer {
    /// Number and words.
    pub(crate) status: &'static str,
    pub(crate) media: &'static str,
    pub(crate) body: String,
}

impl PageAnswer {
    pub(crate) fn plain(status: &'static str, text: &str) -> PageAnswer {
        PageAnswer { status, media: "text/plain; charset=utf-8", body: text.to_string() }
    }
}

/// Who is answered.
#[derive(Clone)]
pub(crate) enum PageGuard {
    /// Who has this token.
    Token(String),
    /// Who asks this host by its number or as `localhost`: a page of a browser that was given another name for it is turned away.
    LocalNames,
    /// Everybody.
    Open,
}

/// A function that makes pages.
pub(crate) type Pages = dyn Fn(&PageRequest) -> PageAnswer + Send + Sync;

/// Who listens, until it is dropped.
pub(crate) struct PageServer {
    address: SocketAddr,
    end: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl PageServer {
    /// Listens on that address.
    pub(crate) fn listen(
        address: SocketAddr,
        guard: PageGuard,
        pages: Arc<Pages>,
    ) -> std::io::Result<PageServer> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let end = Arc::new(AtomicBool::new(false));
        let of_thread = end.clone();
        let thread = std::thread::Builder::new().name("whyslow-page".to_string()).spawn(move || {
            accept(&listener, &of_thread, &guard, &pages);
        })?;
        Ok(PageServer { address, end, thread: Some(thread) })
    }

    /// Where it listens.
    #[cfg(test)]
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Release);
        // It waits for a connection: this is one.
        let mut to = self.address;
        if to.ip().is_unspecified() {
            to.set_ip(if to.is_ipv4() {
                IpAddr::from([127, 0, 0, 1])
            } else {
                IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])
            });
        }
        if TcpStream::connect_timeout(&to, Duration::from_secs(1)).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

/// One of the connections that are served, until it is dropped.
struct Served(Arc<AtomicUsize>);

impl Served {
    /// `None` where there are too many.
    fn one_more(all: &Arc<AtomicUsize>) -> Option<Served> {
        let one = Served(all.clone());
        (all.fetch_add(1, Ordering::AcqRel) < MOST_AT_ONCE).then_some(one)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn accept(listener: &TcpListener, end: &AtomicBool, guard: &PageGuard, pages: &Arc<Pages>) {
    let all = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if end.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else {
            // Of descriptors there may be none for a moment.
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        let _ = stream.set_write_timeout(Some(READING));
        let Some(served) = Served::one_more(&all) else {
            let busy = PageAnswer::plain("503 Service Unavailable", "too many ask at once\n");
            let _ = write_answer(&stream, &busy, true);
            continue;
        };
        let (guard, pages) = (guard.clone(), pages.clone());
        let serve = move || {
            serve(&stream, &guard, &*pages);
            drop(served);
        };
        let _ = std::thread::Builder::new().name("whyslow-page".to_string()).spawn(serve);
    }
}

fn serve(stream: &TcpStream, guard: &PageGuard, pages: &Pages) {
    let Some(head) = read(stream) else {
        let text = "this is no request that is understood\n";
        let _ = write_answer(stream, &PageAnswer::plain("400 Bad Request", text), true);
        return;
    };
    let answer = match head.is_allowed(guard) {
        Ok(()) => pages(&head.request),
        Err(refused) => refused,
    };
    let _ = write_answer(stream, &answer, head.method != "HEAD");
}

fn write_answer(mut stream: &TcpStream, answer: &PageAnswer, with_body: bool) -> std::io::Result<()> {
    let PageAnswer { status, media, body } = answer;
    let more = if status.starts_with("401") { "WWW-Authenticate: Bearer\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media}\r\nContent-Length: {}\r\n{more}Cache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(body.as_bytes())?;
    }
    stream.flush()
}

/// The head of a request.
struct Head {
    method: String,
    request: PageRequest,
    host: String,
    authorization: Vec<u8>,
}

/// `None` where none comes in time, or what comes is none.
fn read(mut stream: &TcpStream) -> Option<Head> {
    let until = Instant::now() + ASKING;
    let (mut bytes, mut length) = (vec![0; MOST_HEAD], 0);
    loop {
        let rest = until.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero())?;
        stream.set_read_timeout(Some(rest)).ok()?;
        let got = stream.read(bytes.get_mut(length..).filter(|rest| !rest.is_empty())?).ok()?;
        length += got;
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        if request.parse(&bytes[..length]).ok()?.is_complete() {
            let named = |name: &str| {
                let header = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
                header.map(|header| header.value.to_vec()).unwrap_or_default()
            };
            let text = |name: &str| String::from_utf8_lossy(&named(name)).into_owned();
            let path = request.path?;
            return Some(Head {
                method: request.method?.to_string(),
                request: PageRequest {
                    path: path.split('?').next().unwrap_or(path).to_string(),
                    accept: text("accept"),
                },
                host: text("host"),
                authorization: named("authorization"),
            });
        }
        if got == 0 {
            return None;
        }
    }
}

impl Head {
    fn is_allowed(&self, guard: &PageGuard) -> Result<(), PageAnswer> {
        match guard {
            PageGuard::Token(token) => {
                let given = self.authorization.strip_prefix(b"Bearer ").unwrap_or_default();
                if !is_same(token.as_bytes(), given) {
                    let text = "the header `Authorization: Bearer TOKEN` is missing or wrong\n";
                    return Err(PageAnswer::plain("401 Unauthorized", text));
                }
            }
            PageGuard::LocalNames if !is_number_or_localhost(&self.host) => {
                let text = "without a token this is answered only by its address or as localhost\n";
                return Err(PageAnswer::plain("421 Misdirected Request", text));
            }
            PageGuard::LocalNames | PageGuard::Open => {}
        }
        match self.method.as_str() {
            "GET" | "HEAD" => Ok(()),
            _ => Err(PageAnswer::plain("405 Method Not Allowed", "GET or HEAD\n")),
        }
    }
}

/// In a time that does not tell where they differ.
fn is_same(known: &[u8], given: &[u8]) -> bool {
    let differ = known.iter().zip(given).fold(0, |differ, (a, b)| differ | (a ^ b));
    known.len() == given.len() && differ == 0
}

/// Whether a header `Host` names an address by its number, or this host as `localhost`. Who speaks HTTP/1.0 may send none.
fn is_number_or_localhost(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    bare.is_empty() || bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(guard: PageGuard) -> PageServer {
        let pages = |request: &PageRequest| {
            PageAnswer::plain("200 OK", &format!("{} {}", request.path, request.accept))
        };
        PageServer::listen("127.0.0.1:0".parse().expect("an address"), guard, Arc::new(pages))
            .expect("listens")
    }

    fn sent(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("listens");
        let _ = stream.write_all(text.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn a_page_is_given_to_who_may_have_it() {
        let open = server(PageGuard::LocalNames);
        let ask = |head: &str| sent(open.address(), head);
        let page = ask("GET /metrics?x=1 HTTP/1.1\r\nHost: 127.0.0.1:9\r\nAccept: a/b\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("\r\n\r\n/metrics a/b"), "{page}");
        let head = ask("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(head.contains("Content-Length: 9\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        assert!(ask("GET / HTTP/1.1\r\nHost: evil.example:9733\r\n\r\n").starts_with("HTTP/1.1 421 "));
        assert!(ask("POST /metrics HTTP/1.1\r\nHost: [::1]:9\r\n\r\n").starts_with("HTTP/1.1 405 "));
        for broken in ["", "nonsense\r\n\r\n", "GET /\r\n", &"x".repeat(MOST_HEAD + 1)] {
            let answer = ask(broken);
            assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{answer}");
        }
        let shut = server(PageGuard::Token("0123456789abcdef".to_string()));
        let with = |header: &str| {
            sent(shut.address(), &format!("GET / HTTP/1.1\r\nHost: any.example\r\n{header}\r\n"))
        };
        assert!(with("Authorization: Bearer 0123456789abcdef\r\n").starts_with("HTTP/1.1 200 "));
        for wrong in ["", "Authorization: Bearer 0123456789abcdeF\r\n", "Authorization: 0123456789abcdef\r\n"]
        {
            assert!(with(wrong).starts_with("HTTP/1.1 401 "), "{wrong}");
        }
    }

    #[test]
    fn who_says_nothing_keeps_no_other_out_for_long_and_the_address_is_free_behind_it() {
        let server = server(PageGuard::Open);
        let address = server.address();
        let idle: Vec<TcpStream> =
            (0..MOST_AT_ONCE + 4).map(|_| TcpStream::connect(address).expect("listens")).collect();
        let began = Instant::now();
        // Those that came first are given up after a while.
        while !sent(address, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 200 ") {
            assert!(began.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(idle);
        drop(server);
        TcpListener::bind(address).expect("free");
    }
}
