//! Profiles over HTTP: what a program serves under `/debug/pprof/` (net/http/pprof and its equals), or any other URL.

use anyhow::{Context, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{ErrorKind, IsTerminal, Read};
use std::net::IpAddr;
use std::time::Duration;
use ureq::http::Uri;

/// Where net/http/pprof serves the CPU profile.
const CPU: &str = "/debug/pprof/profile";
/// What it takes without `seconds` (net/http/pprof, `Profile`).
const DEFAULT_SECONDS: u64 = 30;
/// No profile takes longer.
const MAX_SECONDS: u64 = 24 * 3600;
/// What the server may need on top, to gather and to send.
const GRACE: Duration = Duration::from_secs(30);
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of an answer; profiles of this size are not looked at, but summed up first.
const MOST: u64 = 1 << 30;
/// Bytes of an error's text that are shown.
const SHOWN: usize = 300;
const MAX_REDIRECTS: u32 = 5;

/// True where a source is no file.
pub(super) fn is_url(source: &str) -> bool {
    source.starts_with("http://") || source.starts_with("https://")
}

/// What to ask whom.
#[derive(Debug, PartialEq)]
struct Question {
    uri: String,
    /// `localhost:6060`.
    host: String,
    path: String,
    /// `user:password` of the URL.
    login: Option<String>,
    /// How long the server takes the profile, s; `None` where it has it at once.
    seconds: Option<u64>,
    /// On this machine: no proxy is asked.
    local: bool,
}

/// The bytes behind a URL. `seconds` is how long the server is to profile; else what the URL says, or 30 s.
///
/// # Errors
/// With what went wrong and what to do next: nobody there, no profile there, one under way already, a cut connection, a web
/// page, a profile beyond 1 GiB, or no answer within the time and a grace of 30 s.
pub(super) fn fetch(url: &str, seconds: Option<Duration>) -> anyhow::Result<Vec<u8>> {
    let question = Question::of(url, seconds)?;
    let wait = Duration::from_secs(question.seconds.unwrap_or(0)) + GRACE;
    let bar = bar(&question);
    let result = ask(&question, wait, bar.as_ref());
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    result
}

fn ask(question: &Question, wait: Duration, bar: Option<&ProgressBar>) -> anyhow::Result<Vec<u8>> {
    let mut config = ureq::Agent::config_builder()
        .timeout_global(Some(wait))
        .timeout_connect(Some(CONNECT))
        .http_status_as_error(false)
        .max_redirects(MAX_REDIRECTS)
        .user_agent(concat!("whyslow/", env!("CARGO_PKG_VERSION")));
    if question.local {
        config = config.proxy(None);
    }
    let agent = ureq::Agent::new_with_config(config.build());
    let mut request = agent.get(&question.uri);
    if let Some(login) = &question.login {
        request = request.header("authorization", format!("Basic {}", base64(login.as_bytes())));
    }
    let mut response = request.call().map_err(|error| no_answer(question, wait, error))?;
    let status = response.status().as_u16();
    let header =
        |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(String::from);
    let (kind, told) = (header("content-type").unwrap_or_default(), header("content-length"));
    let told: Option<u64> = told.and_then(|text| text.parse().ok());
    let most = if status == 200 { MOST } else { SHOWN as u64 };
    let mut body = Vec::new();
    let mut reader = response.body_mut().as_reader().take(most + 1);
    let mut chunk = vec![0; 64 << 10];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => body.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) if status != 200 => break,
            Err(error) => return Err(cut(question, body.len(), &error)),
        }
        if let Some(bar) = bar {
            bar.set_message(format!("{}: {} bytes of the profile", question.host, body.len()));
        }
    }
    if status != 200 {
        return Err(refused(question, status, &body));
    }
    if body.len() as u64 > MOST {
        bail!("{}: the answer is larger than {} MiB: that is no profile", question.uri, MOST >> 20);
    }
    if let Some(told) = told.filter(|told| *told > body.len() as u64) {
        let error = std::io::Error::from(ErrorKind::UnexpectedEof);
        return Err(cut(question, body.len(), &error).context(format!("{told} bytes were announced")));
    }
    check(question, &kind, &body)?;
    Ok(body)
}

impl Question {
    fn of(url: &str, seconds: Option<Duration>) -> anyhow::Result<Question> {
        if url.starts_with("https://") {
            bail!(
                "{url}: this whyslow speaks plain HTTP only\n\
                 next: curl -o profile.pprof '{url}' && whyslow profile profile.pprof   (-k: a certificate that nobody signed)"
            );
        }
        let uri: Uri = url.parse().with_context(|| format!("{url}: not a URL"))?;
        let authority = uri.authority().with_context(|| format!("{url}: no host in it"))?.as_str();
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(login.to_string()), host),
            None => (None, authority),
        };
        let path = match uri.path() {
            "" | "/" | "/debug/pprof" | "/debug/pprof/" => CPU,
            path => path,
        };
        let is_of = |name: &str| path.rsplit('/').next() == Some(name);
        let takes_time = is_of("profile") || is_of("trace");
        let mut words: Vec<String> =
            uri.query().unwrap_or("").split('&').filter(|word| !word.is_empty()).map(String::from).collect();
        let told = words.iter().find_map(|word| word.strip_prefix("seconds=")?.parse::<f64>().ok());
        let told = told.map(|seconds| seconds.clamp(0.0, MAX_SECONDS as f64).ceil() as u64);
        let asked = seconds.map(|asked| asked.as_secs_f64().ceil() as u64);
        let seconds = asked.or(told).or(takes_time.then_some(DEFAULT_SECONDS));
        if let Some(seconds) = seconds {
            words.retain(|word| !word.starts_with("seconds="));
            words.push(format!("seconds={seconds}"));
        }
        let query = if words.is_empty() { String::new() } else { format!("?{}", words.join("&")) };
        Ok(Question {
            uri: format!("http://{host}{path}{query}"),
            host: host.to_string(),
            path: path.to_string(),
            login,
            seconds,
            local: is_local(uri.host().unwrap_or_default()),
        })
    }
}

fn is_local(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// On a terminal.
fn bar(question: &Question) -> Option<ProgressBar> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {msg}  {elapsed}  (Ctrl-C ends it)");
    let bar = match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    };
    let host = crate::output::plain(&question.host);
    bar.set_message(match question.seconds {
        Some(seconds) => format!("{host} takes a profile of {seconds} s"),
        None => format!("waiting for {host}"),
    });
    bar.enable_steady_tick(Duration::from_millis(100));
    Some(bar)
}

/// No answer came.
fn no_answer(question: &Question, wait: Duration, error: ureq::Error) -> anyhow::Error {
    let Question { host, uri, .. } = question;
    match error {
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => anyhow!(
            "{host}: the connection was refused: nobody listens there\n\
             next: see where the program serves net/http/pprof, or profile it without: whyslow profile -p PID"
        ),
        ureq::Error::HostNotFound => anyhow!("{host}: no such host"),
        ureq::Error::ConnectionFailed => {
            anyhow!("{host}: no connection could be made\nnext: whyslow profile -p PID needs no server")
        }
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            anyhow!("{host}: no connection within {} s: a firewall?", CONNECT.as_secs())
        }
        ureq::Error::Timeout(_) => anyhow!(
            "{uri}: no answer within {} s\n\
             next: ask for a shorter profile (--seconds 5); a server's WriteTimeout must be longer than the profile",
            wait.as_secs()
        ),
        ureq::Error::TooManyRedirects => anyhow!("{uri}: more than {MAX_REDIRECTS} redirections"),
        ureq::Error::TlsRequired => anyhow!(
            "{uri}: leads to https, which this whyslow does not speak\n\
             next: curl -L -o profile.pprof '{uri}' && whyslow profile profile.pprof"
        ),
        ureq::Error::Io(error) if is_cut(&error) => cut(question, 0, &error),
        error => anyhow!("{uri}: {error}"),
    }
}

fn is_cut(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

/// The connection ended amid the answer.
fn cut(question: &Question, bytes: usize, error: &std::io::Error) -> anyhow::Error {
    let Question { uri, .. } = question;
    if error.kind() == ErrorKind::TimedOut {
        return anyhow!("{uri}: only {bytes} bytes came in time");
    }
    anyhow!(
        "{uri}: the connection was cut after {bytes} bytes\n\
         next: see whether the program still runs; a server's WriteTimeout must be longer than the profile ({error})"
    )
}

/// An answer, but no profile.
fn refused(question: &Question, status: u16, body: &[u8]) -> anyhow::Error {
    let Question { uri, host, path, .. } = question;
    let text = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
    let text = crate::output::plain(text.trim());
    match status {
        404 if path.starts_with("/debug/pprof") => anyhow!(
            "{host} has no {path}\n\
             next: import _ \"net/http/pprof\" in the program, or profile it without: whyslow profile -p PID"
        ),
        404 => anyhow!(
            "{host} has no {path}\nnext: Go programs serve {CPU}, /debug/pprof/heap, mutex, block, goroutine"
        ),
        401 | 403 => anyhow!(
            "{uri}: {status}, it asks who we are\nnext: http://USER:PASSWORD@{host}{path}, where it takes a password"
        ),
        // runtime/pprof, StartCPUProfile: "cpu profiling already in use".
        500 if text.contains("already in use") => anyhow!(
            "{host}: somebody else takes a CPU profile of it just now\n\
             next: again when that has ended; whyslow profile -p PID disturbs nobody"
        ),
        // net/http/pprof: "profile duration exceeds server's WriteTimeout".
        400 if text.contains("WriteTimeout") => anyhow!(
            "{host}: its WriteTimeout is shorter than the profile\nnext: ask for less (--seconds 5), or whyslow profile -p PID"
        ),
        _ => anyhow!("{uri}: {status}: {text}"),
    }
}

/// Sees to it that the body can be a profile.
fn check(question: &Question, kind: &str, body: &[u8]) -> anyhow::Result<()> {
    let Question { uri, host, .. } = question;
    if body.is_empty() {
        bail!("{uri}: the answer is empty: the program ended, or its profiler was stopped from within");
    }
    let start = body.trim_ascii_start();
    if kind.starts_with("text/html") || start.first() == Some(&b'<') {
        bail!("{uri}: a web page, no profile\nnext: name the profile itself: http://{host}{CPU}?seconds=30");
    }
    Ok(())
}

/// RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits =
            three.iter().enumerate().fold(0, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests;
