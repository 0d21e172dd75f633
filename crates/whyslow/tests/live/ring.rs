//! `whyslow record --ring`: the seconds before something happened are kept as a recording, within bounds, and a killed recorder leaves
//! nothing that the next one does not clean. Asked by HTTP, it records in detail beside the ring.

use crate::common::skipped;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const WHYSLOW: &str = env!("CARGO_BIN_EXE_whyslow");

/// Serves HTTP; each 500th request takes 400 ms longer, asleep. Prints its port.
const SERVER: &str = "
import socket, threading, time
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen(64)
print(listener.getsockname()[1], flush=True)
count = 0
def serve(connection):
    global count
    while True:
        asked = connection.recv(4096)
        if not asked:
            return
        count += 1
        if count % 500 == 0:
            time.sleep(0.4)
        connection.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok')
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

/// Asks for so many requests a second, for ever.
const CLIENT: &str = "
import socket, sys, time
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
while True:
    connection.sendall(b'GET /cart/7 HTTP/1.1\\r\\nHost: shop\\r\\n\\r\\n')
    connection.recv(4096)
    time.sleep(1 / float(sys.argv[2]))
";

/// A process that is killed with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn python(script: &str, arguments: &[&str]) -> Killed {
    let mut command = Command::new("python3");
    command.args(["-c", script]).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    Killed(command.spawn().expect("python3"))
}

/// A server and who asks it.
fn shop(a_second: &str) -> (Killed, Killed) {
    let mut server = python(SERVER, &[]);
    let mut port = String::new();
    let out = server.0.stdout.take().expect("piped");
    BufReader::new(out).read_line(&mut port).expect("a port");
    let client = python(CLIENT, &[port.trim(), a_second]);
    (server, client)
}

/// What only one test may have at once: the sockets of the user's recorders, and the memory of rings.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn ring(pid: u32, kept: &Path, more: &[&str]) -> Child {
    let mut command = Command::new(WHYSLOW);
    command.args(["record", "-p", &pid.to_string(), "--follow", "0", "-o"]).arg(kept).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("whyslow")
}

fn send(signal: i32, pid: u32) {
    let status = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status().expect("kill");
    assert!(status.success());
}

/// Ends a recorder in an orderly way, and returns what it said.
fn ended(mut recorder: Child) -> String {
    send(15, recorder.id());
    let mut said = String::new();
    recorder.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    assert!(recorder.wait().expect("ended").success(), "{said}");
    said
}

fn recordings(kept: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(kept).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name.ends_with(".whyslow") && !name.starts_with('.')
        })
    };
    let mut all: Vec<PathBuf> = entries.filter(is_one).collect();
    all.sort();
    all
}

fn wait_for(kept: &Path, count: usize, recorder: &mut Child) -> Vec<PathBuf> {
    let until = Instant::now() + Duration::from_secs(90);
    loop {
        let all = recordings(kept);
        if all.len() >= count {
            return all;
        }
        if let Some(status) = recorder.try_wait().expect("a child of ours") {
            let mut said = String::new();
            let _ = recorder.stderr.take().expect("piped").read_to_string(&mut said);
            panic!("the recorder ended ({status}): {said}");
        }
        assert!(Instant::now() < until, "nothing was kept");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn whyslow(arguments: &[&str]) -> Output {
    Command::new(WHYSLOW).args(arguments).stdin(Stdio::null()).output().expect("whyslow")
}

fn text_of(arguments: &[&str]) -> String {
    let output = whyslow(arguments);
    assert!(output.status.code() < Some(2), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn meta(recording: &Path) -> serde_json::Value {
    let text = std::fs::read(recording.join("meta.json")).expect("a head");
    serde_json::from_slice(&text).expect("JSON")
}

/// True where rings cannot be recorded here.
fn is_refused() -> bool {
    let out = whyslow(&[
        "record",
        "--ring",
        "2s",
        "-d",
        "100ms",
        "-p",
        &std::process::id().to_string(),
        "-o",
        "/nonexistent/x",
    ]);
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    let refused = said.contains("recorded by BPF alone");
    if refused {
        skipped("no recording by BPF here");
    }
    refused
}

#[test]
fn the_seconds_before_a_slow_request_are_kept_and_say_why() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_refused() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let kept = place.path().join("kept");
    // The 500th comes after ten seconds or so.
    let (server, _client) = shop("60");
    let more = ["--ring", "4s", "--after", "1s", "--on", "request>200ms", "--cool-down", "1s"];
    let mut recorder = ring(server.0.id(), &kept, &more);
    // At the first the ring may not be full yet.
    let recording = wait_for(&kept, 2, &mut recorder).remove(1);
    let said = ended(recorder);
    let name = recording.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(name.starts_with("python3-20") && name.ends_with("-request.whyslow"), "{name}");
    assert!(said.contains(&name) && said.contains("GET /cart/{id}"), "{said}");
    let meta = meta(&recording);
    assert_eq!(
        (meta["complete"].as_bool(), meta["kept"]["trigger"].as_str()),
        (Some(true), Some("request>200ms"))
    );
    // It reaches back before the request began.
    let (start, end, at) = (&meta["start"], &meta["end"], &meta["kept"]["at"]);
    let ns = |value: &serde_json::Value| value.as_u64().expect("a time");
    let before = ns(at).saturating_sub(400_000_000).saturating_sub(ns(start));
    assert!(before >= 3_000_000_000, "{meta}");
    assert!(ns(end) >= ns(at) + 900_000_000 && ns(end) - ns(start) < 20_000_000_000, "{meta}");
    let path = recording.display().to_string();
    let report = text_of(&["report", &path]);
    let head: String = report.lines().take(6).collect::<Vec<_>>().join(" ");
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        head.contains("Kept because request GET /cart/{id} of process") && head.contains("took 4"),
        "{report}"
    );
    let requests = text_of(&["requests", &path]);
    assert!(requests.contains("GET /cart/{id}"), "{requests}");
    let diagnosis: serde_json::Value =
        serde_json::from_str(&text_of(&["diagnose", "--json", &path])).expect("JSON");
    let text = diagnosis.to_string();
    assert!(text.contains("sleep"), "the cause is that a thread sleeps in a request: {report}");
    // Every other command reads it, and sees no call that took longer than the window.
    for command in ["summary", "threads", "account", "fds", "peers"] {
        assert!(!text_of(&[command, &path]).is_empty(), "{command}");
    }
}

#[test]
fn a_killed_recorder_leaves_the_target_alive_and_nothing_for_long() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_refused() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let kept = place.path().join("kept");
    let (mut server, _client) = shop("100");
    let spools = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("whyslow-ring-"));
        named.map(|entry| entry.path()).collect()
    };
    let before = spools();
    let mut killed = ring(server.0.id(), &kept, &["--ring", "3s", "--after", "100ms"]);
    let until = Instant::now() + Duration::from_secs(60);
    let left = loop {
        if let Some(new) = spools().into_iter().find(|one| !before.contains(one) && one.join("rare").exists())
        {
            break new;
        }
        assert!(Instant::now() < until, "no ring began");
        std::thread::sleep(Duration::from_millis(50));
    };
    killed.kill().and_then(|()| killed.wait()).expect("killed");
    assert!(server.0.try_wait().expect("a child of ours").is_none(), "the target lives");
    assert!(left.exists());
    // The next one cleans, and is asked by its socket and by its signal.
    let mut recorder = ring(server.0.id(), &kept, &["--ring", "3s", "--after", "100ms"]);
    let until = Instant::now() + Duration::from_secs(60);
    let pid = recorder.id().to_string();
    let dumped = loop {
        let output = whyslow(&["dump", "--pid", &pid, "--reason", "checkout hangs"]);
        if output.status.success() {
            break String::from_utf8_lossy(&output.stdout).into_owned();
        }
        assert!(Instant::now() < until, "{output:?}");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert!(!left.exists(), "what was left is gone");
    let path = dumped.lines().next().expect("a path").to_string();
    let report = text_of(&["report", &path]);
    assert!(report.contains("asked for it (checkout hangs)"), "{report}");
    send(10, recorder.id());
    let all = wait_for(&kept, 2, &mut recorder);
    assert!(all.iter().any(|path| path.to_string_lossy().ends_with("-signal.whyslow")), "{all:?}");
    ended(recorder);
    assert!(server.0.try_wait().expect("a child of ours").is_none(), "the target lives");
    assert_eq!(spools(), before);
}

#[test]
fn deaths_are_kept_within_a_cool_down_and_old_recordings_make_place() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_refused() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let kept = place.path().join("kept");
    // A child of it fails each 100 ms.
    let script = "while :; do sh -c 'exit 3'; sleep 0.1; done";
    let target = Killed(Command::new("sh").args(["-c", script]).spawn().expect("sh"));
    let more = ["--ring", "2s", "--after", "100ms", "--on", "exit!=0", "--cool-down", "2s", "--keep", "2"];
    let mut recorder = ring(target.0.id(), &kept, &more);
    let mut seen: Vec<PathBuf> = Vec::new();
    let until = Instant::now() + Duration::from_secs(90);
    while seen.len() < 3 {
        assert!(Instant::now() < until && recorder.try_wait().expect("ours").is_none(), "{seen:?}");
        let now = recordings(&kept);
        assert!(now.len() <= 2, "{now:?}");
        seen.extend(now.into_iter().filter(|path| !seen.contains(path)).collect::<Vec<_>>());
        std::thread::sleep(Duration::from_millis(100));
    }
    let newest = recordings(&kept).pop().expect("one");
    let meta = meta(&newest);
    let said = ended(recorder);
    assert!(said.contains("made place for a newer one") && said.contains("exited with status 3"), "{said}");
    assert!(meta["kept"]["passed_over"].as_u64() > Some(3), "{meta}");
    assert!(said.contains("within its cool down"), "{said}");
}

#[test]
fn a_command_that_fails_is_kept_as_it_ends_and_its_signals_are_its_own() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_refused() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let kept = place.path().join("kept");
    let told = place.path().join("told");
    let script =
        format!("trap 'echo got > {}' USR1; while [ ! -e {0} ]; do sleep 0.1; done; exit 3", told.display());
    let mut command = Command::new(WHYSLOW);
    command
        .args(["record", "--ring", "5s", "--on", "exit!=0", "-o"])
        .arg(&kept)
        .args(["--", "sh", "-c", &script]);
    let mut recorder = Killed(
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("whyslow"),
    );
    let mut said = BufReader::new(recorder.0.stderr.take().expect("piped"));
    let mut all = String::new();
    while !all.contains("keeps the last") {
        assert!(said.read_line(&mut all).expect("text") > 0, "{all}");
    }
    assert!(all.contains("exit!=0 or `whyslow dump`") && !all.contains("SIGUSR1"), "{all}");
    // The shell sets its trap a moment after it was started.
    std::thread::sleep(Duration::from_millis(1500));
    send(10, recorder.0.id());
    said.read_to_string(&mut all).expect("text");
    let status = recorder.0.wait().expect("ended");
    assert_eq!(status.code(), Some(3), "the status of the command: {all}");
    let recordings = recordings(&kept);
    assert_eq!(recordings.len(), 1, "{all}");
    let meta = meta(&recordings[0]);
    let reason = meta["kept"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("exited with status 3"), "{meta}");
    let report = text_of(&["report", &recordings[0].display().to_string()]);
    assert!(report.contains("exited with status 3"), "{report}");
}

#[test]
fn the_memory_holds_at_a_hundred_thousand_calls_a_second() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_refused() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let kept = place.path().join("kept");
    // As many as it gets: some 100,000 a second and more.
    let script = "import os\nfd = os.open('/dev/zero', os.O_RDONLY)\nwhile True: os.read(fd, 1)";
    let target = python(script, &[]);
    let more = ["--ring", "60s", "--after", "100ms", "--mode", "full", "--memory", "8M"];
    let mut recorder = ring(target.0.id(), &kept, &more);
    let began = Instant::now();
    let mut most = 0;
    while began.elapsed() < Duration::from_secs(12) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", recorder.id())).unwrap_or_default();
        let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB"));
        most = most.max(own.and_then(|kib| kib.trim().parse::<u64>().ok()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(200));
    }
    send(10, recorder.id());
    // What comes after is over; the target would keep the writer from a CPU.
    std::thread::sleep(Duration::from_millis(500));
    send(19, target.0.id());
    let recording = wait_for(&kept, 1, &mut recorder).remove(0);
    let said = ended(recorder);
    // The ring, and what the recorder takes without one.
    assert!(most < (8 << 10) + (64 << 10), "{most} KiB of memory of its own: {said}");
    assert!(said.contains("the memory was full") && said.contains("held"), "{said}");
    let meta = meta(&recording);
    let rows = meta["tables"]["syscalls"]["rows"].as_u64().unwrap_or(0);
    assert!(rows > 10_000, "{meta}");
    // What was dropped is counted: rows and lost ones are what there was.
    let loss = &meta["losses"]["syscalls"];
    let (lost, produced) = (loss["lost"].as_u64().unwrap_or(0), loss["produced"].as_u64().unwrap_or(0));
    assert!(produced >= rows && produced <= rows + lost + rows / 10, "{rows} rows: {loss}");
    let report = text_of(&["report", &recording.display().to_string()]);
    assert!(report.contains("memory of"), "{report}");
}

const TOKEN: &str = "0123456789abcdef";

/// A ring that is asked by HTTP.
struct AskedRing {
    recorder: Killed,
    /// What it says, as it says it.
    said: std::sync::mpsc::Receiver<String>,
    address: String,
}

impl AskedRing {
    fn start(pid: u32, place: &Path, more: &[&str]) -> AskedRing {
        let token = place.join("token");
        std::fs::write(&token, format!("{TOKEN}\n")).expect("written");
        let token = token.display().to_string();
        let all = ["--ring", "5s", "--after", "100ms", "--http", "127.0.0.1:0", "--token-file", &token];
        let mut recorder = ring(pid, &place.join("kept"), &[&all, more].concat());
        let lines = BufReader::new(recorder.stderr.take().expect("piped")).lines();
        let (to, said) = std::sync::mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(to.send(line))));
        let mut ring = AskedRing { recorder: Killed(recorder), said, address: String::new() };
        let at = ring.wait_until_it_says("/dump?reason=");
        let at = at.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
        ring.address = at.to_string();
        ring.wait_until_it_says("keeps the last");
        ring
    }

    /// The line that has these words.
    fn wait_until_it_says(&self, words: &str) -> String {
        let until = Instant::now() + Duration::from_secs(90);
        let mut all = String::new();
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.said.recv_timeout(rest) else { panic!("it does not say {words:?}: {all}") };
            all += &format!("{line}\n");
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Status and text of an answer.
    fn post(&self, path: &str) -> (u16, String) {
        post(&self.address, path)
    }
}

fn post(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let text = answer.split_once("\r\n\r\n").map_or("", |(_, text)| text);
    (status, text.trim().to_string())
}

/// Recordings that were asked for and are not there yet.
fn under_way(kept: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(kept).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().ends_with(".asked")).collect()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < until, "{what} does not come");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The process that makes a recording which was asked for of that recorder.
fn maker(recorder: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{recorder}/task/{recorder}/children")).ok()?;
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).find(|pid: &u32| {
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains("--asked")
    })
}

/// The process that makes a recording which was asked for of that recorder, once it has recorded for a second.
fn wait_until_it_records(recorder: u32, kept: &Path) -> u32 {
    until("the recording", || maker(recorder).is_some());
    let maker = maker(recorder).expect("it is there");
    until("what it records", || {
        under_way(kept).iter().any(|folder| folder.join("recording/spool/rare").exists())
    });
    std::thread::sleep(Duration::from_secs(1));
    maker
}

#[test]
fn a_ring_that_is_asked_records_in_detail_one_at_a_time_and_goes_on() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_refused() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let kept = place.path().join("kept");
    let (server, _client) = shop("60");
    let ring = AskedRing::start(server.0.id(), place.path(), &["--http-record"]);
    let address = ring.address.clone();
    let asker = std::thread::spawn(move || post(&address, "/record?seconds=2&reason=checkout+hangs"));
    until("the recording", || maker(ring.recorder.0.id()).is_some());
    let (status, told) = ring.post("/record?seconds=2");
    assert!(status == 409 && told.contains("under way"), "{status} {told}");
    // The ring itself is kept meanwhile as always.
    let (status, dumped) = ring.post("/dump?reason=meanwhile");
    assert!(status == 200 && dumped.contains("-http.whyslow"), "{status} {dumped}");
    let (status, told) = asker.join().expect("joined");
    assert_eq!(status, 200, "{told}");
    let answer: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    let path = answer["kept"].as_str().expect("a path").to_string();
    assert!(path.ends_with("-asked.whyslow") && Path::new(&path).starts_with(&kept), "{path}");
    let meta = meta(Path::new(&path));
    assert_eq!((meta["kept"]["trigger"].as_str(), meta["mode"].as_str()), (Some("asked"), Some("adaptive")));
    let length = meta["end"].as_u64().expect("an end") - meta["start"].as_u64().expect("a start");
    assert!((1_500_000_000..20_000_000_000).contains(&length), "{meta}");
    assert!(meta["tables"]["syscalls"]["rows"].as_u64().is_some_and(|rows| rows > 50), "{}", meta["tables"]);
    let report = text_of(&["report", &path]).split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "Kept because a request by HTTP asked for a recording of 2 s in detail (checkout hangs) at";
    assert!(report.contains(why), "{report}");
    assert!(text_of(&["requests", &path]).contains("GET /cart/{id}"));
    for command in ["diagnose", "account", "threads"] {
        assert!(!text_of(&[command, &path]).is_empty(), "{command}");
    }
    assert!(under_way(&kept).is_empty());
    // The next one may come, and is written as far as it came where the ring ends.
    let address = ring.address.clone();
    let asker = std::thread::spawn(move || post(&address, "/record?seconds=300"));
    let mut recorder = ring.recorder;
    let maker = wait_until_it_records(recorder.0.id(), &kept);
    let ended = Instant::now();
    send(15, recorder.0.id());
    assert!(recorder.0.wait().expect("ended").success());
    assert!(ended.elapsed() < Duration::from_secs(40), "{:?}", ended.elapsed());
    assert!(!Path::new(&format!("/proc/{maker}")).exists(), "it ends with the ring");
    let (status, told) = asker.join().expect("joined");
    assert_eq!(status, 200, "{told}");
    assert!(under_way(&kept).is_empty());
    assert_eq!(recordings(&kept).iter().filter(|path| path.to_string_lossy().contains("-asked")).count(), 2);
}

#[test]
fn a_ring_records_on_request_only_where_it_may_and_what_it_began_ends_with_it() {
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if is_refused() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let kept = place.path().join("kept");
    let (mut server, _client) = shop("60");
    let ring = AskedRing::start(server.0.id(), place.path(), &[]);
    let (status, told) = ring.post("/record?seconds=2");
    assert!(status == 403 && told.contains("--http-record"), "{status} {told}");
    drop(ring);
    let ring = AskedRing::start(server.0.id(), place.path(), &["--http-record"]);
    let mut stream = TcpStream::connect(&ring.address).expect("it listens");
    let head = format!("POST /record?seconds=300 HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
    let maker = wait_until_it_records(ring.recorder.0.id(), &kept);
    // Killed, and nobody reaps it but init.
    drop(ring);
    until("its end", || !Path::new(&format!("/proc/{maker}")).exists() || is_dead(maker));
    assert!(server.0.try_wait().expect("a child of ours").is_none(), "the target lives");
    let all = recordings(&kept);
    assert!(all.len() == 1 && all[0].to_string_lossy().ends_with("-asked.whyslow"), "{all:?}");
    assert!(meta(&all[0])["complete"].as_bool() == Some(true) && under_way(&kept).is_empty());
    assert!(!text_of(&["account", &all[0].display().to_string()]).is_empty());
}

/// Whether a process has ended, though nobody has waited for it.
fn is_dead(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_none_or(|(_, behind)| matches!(behind.trim_start().chars().next(), Some('Z' | 'X') | None))
}
