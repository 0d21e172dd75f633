//! Figures held against vmstat, mpstat, iostat, pidstat and top, each run on a load of our own. Counters only grow, so no tolerance is
//! needed: a sampler that looks after the tool began and before it ended ("inner") has seen no more than the tool, one that looks before and
//! after it ("outer") no less, however busy the machine is. What a machine lacks is skipped, and said.

use crate::common::skipped;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use whyslow_host::{Sample, Sampler, SamplerOptions};
use whyslow_model::{Entity, Metric, Over, Trait};

/// The interval of the tools.
const EVERY: Duration = Duration::from_secs(3);
/// The inner sampler looks for at least so long.
const LEAST: Duration = Duration::from_millis(1_500);
/// A share of CPU time is known to two ticks of each (proc(5): USER_HZ), and idle time in I/O may go back (proc(5): iowait).
const TICKS: f64 = 0.02;

/// Writes and reads back a megabyte at a time, on disk, and computes, until it is dropped.
struct Load {
    stop: Arc<AtomicBool>,
    written: Arc<AtomicU64>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Load {
    fn start() -> Load {
        let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stops, counts) = (stop.clone(), written.clone());
        let work = move || {
            let mut file: File = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
            let block = vec![7u8; 1 << 20];
            while !stops.load(Ordering::Relaxed) {
                file.seek(SeekFrom::Start(0)).expect("its beginning");
                file.write_all(&block).expect("room on the disk");
                counts.fetch_add(1 << 20, Ordering::Relaxed);
                file.sync_data().expect("a disk");
                let mut back = [0u8; 4096];
                file.read_exact_at(&mut back, 0).expect("what was written");
                let began = Instant::now();
                while began.elapsed() < Duration::from_millis(10) {
                    std::hint::black_box(back.iter().map(|byte| u64::from(*byte)).sum::<u64>());
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        Load { stop, written, thread: Some(std::thread::spawn(work)) }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A tool that prints a report at each of its looks; the interval between two of them is what is compared.
struct Tool<'a> {
    words: &'a [&'a str],
    /// True for the line that ends a report.
    is_report: &'a dyn Fn(&str) -> bool,
    /// Intervals that pass before the first report: none where that is over the time since boot.
    before: u32,
}

/// What the tool printed, and what we saw within its interval and around it.
struct Seen {
    text: String,
    inner: Sample,
    outer: Sample,
    /// How long each lasted, s.
    inner_seconds: f64,
    outer_seconds: f64,
    /// What the load wrote meanwhile.
    inner_written: u64,
    outer_written: u64,
}

/// A sampler's two looks and the time between them.
struct Pair {
    sampler: Sampler,
    began: Option<(Instant, u64)>,
}

impl Pair {
    fn new() -> Pair {
        Pair {
            sampler: Sampler::new(SamplerOptions { own: true, ..SamplerOptions::default() })
                .expect("a sampler"),
            began: None,
        }
    }

    fn begin(&mut self, load: &Load) {
        self.sampler.sample();
        self.began = Some((Instant::now(), load.written.load(Ordering::Relaxed)));
    }

    fn end(&mut self, load: &Load) -> (Sample, f64, u64) {
        let sample = self.sampler.sample();
        let (began, before) = self.began.expect("it has begun");
        (sample, began.elapsed().as_secs_f64(), load.written.load(Ordering::Relaxed) - before)
    }
}

impl Tool<'_> {
    /// Runs it beside our samplers; `None` where it is not there. A run in which the machine left too little time within the
    /// tool's interval has measured nothing, and is done again.
    fn seen(&self, load: &Load) -> Option<Seen> {
        for _ in 0..10 {
            if let Some(seen) = self.once(load)? {
                return Some(seen);
            }
        }
        panic!("in ten runs of {:?} never {LEAST:?} within its interval", self.words);
    }

    fn once(&self, load: &Load) -> Option<Option<Seen>> {
        let mut outer = Pair::new();
        let mut inner = Pair::new();
        if self.before == 0 {
            outer.begin(load);
        }
        let began = Instant::now();
        let mut child = start(self.words)?;
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut text = String::new();
        let mut report = |text: &mut String| {
            for line in lines.by_ref().map_while(Result::ok) {
                *text += &line;
                text.push('\n');
                if (self.is_report)(&line) {
                    return;
                }
            }
        };
        // The tool's clock begins after ours: its n-th look is not before n intervals from `began`.
        let first = began + self.before * EVERY;
        if self.before > 0 {
            sleep_until(first - Duration::from_millis(200));
            outer.begin(load);
        }
        let is_early = Instant::now() <= first || self.before == 0;
        report(&mut text);
        inner.begin(load);
        let inner_began = Instant::now();
        sleep_until(first + EVERY - Duration::from_millis(150));
        let (inner, inner_seconds, inner_written) = inner.end(load);
        let ended = Instant::now();
        report(&mut text);
        let (outer, outer_seconds, outer_written) = outer.end(load);
        // The rest of the last report.
        for line in lines.map_while(Result::ok) {
            text = text + &line + "\n";
        }
        child.wait().expect("a child of ours");
        if !is_early || ended > first + EVERY || ended - inner_began < LEAST {
            return Some(None);
        }
        Some(Some(Seen { text, inner, outer, inner_seconds, outer_seconds, inner_written, outer_written }))
    }
}

fn sleep_until(time: Instant) {
    std::thread::sleep(time.saturating_duration_since(Instant::now()));
}

impl Seen {
    /// How much of a thing that only grows was seen within and around the tool's interval: a rate, and over which time it is one.
    fn counts(&self, of: &Entity, metric: Metric) -> (f64, f64) {
        let count = |sample: &Sample| {
            for table in &sample.tables {
                let rate = table.rows.iter().filter(|row| row.of == *of).find_map(|row| row.get(metric));
                let Over::Interval(over) = table.over else { continue };
                if let (Some(rate), Some(seconds)) = (rate, over.as_secs_f64()) {
                    return rate * seconds;
                }
            }
            panic!("{of} has no {metric:?} over an interval")
        };
        (count(&self.inner), count(&self.outer))
    }

    /// The tool's rate, over a time between those of our samplers.
    fn rate(&self, what: &str, counts: (f64, f64), theirs: f64, rounding: f64) {
        self.between(what, counts.0 / self.outer_seconds, theirs, counts.1 / self.inner_seconds, rounding);
    }

    /// The tool's rate, for which it divides by its interval, however long it slept.
    fn rate_of_interval(&self, what: &str, counts: (f64, f64), theirs: f64) {
        let every = EVERY.as_secs_f64();
        self.between(what, counts.0 / every, theirs, counts.1 / every, 1.0);
    }

    /// The tool's quotient of two counts.
    fn quotient(&self, what: &str, of: (f64, f64), by: (f64, f64), theirs: f64, rounding: f64) {
        self.between(what, of.0 / by.1, theirs, of.1 / by.0, rounding);
    }

    /// The tool's value lies between two of ours, as far as it is rounded. One in a hundred is left for clocks that differ.
    fn between(&self, what: &str, least: f64, theirs: f64, most: f64, rounding: f64) {
        println!("{what}: {theirs:.4} between {least:.4} and {most:.4}");
        let (low, high) = (least * 0.99 - rounding, most * 1.01 + rounding);
        assert!(
            (low..=high).contains(&theirs),
            "{what}: {theirs} is not between {least} and {most}:\n{}",
            self.text
        );
    }
}

/// Starts a tool in the C locale, its lines unbuffered; `None` where it is not there.
fn start(words: &[&str]) -> Option<Child> {
    let found = Command::new("sh").args(["-c", "command -v \"$0\"", words[0]]).stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        skipped(format_args!("{} is not installed (scripts/setup test)", words[0]));
        return None;
    }
    let mut command = Command::new("stdbuf");
    command.arg("-oL").args(words).env("LC_ALL", "C").env("S_COLORS", "never").env("COLUMNS", "400");
    Some(
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("stdbuf(1)"),
    )
}

/// The values of the last line that `is_line` takes, by the names of the last head above it.
fn table(
    text: &str,
    is_head: impl Fn(&str) -> bool,
    is_line: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let (mut head, mut found) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let words: Vec<String> =
            line.trim_start_matches('#').split_whitespace().map(str::to_string).collect();
        if is_head(line) {
            head = words;
        } else if is_line(line) && words.len() >= head.len() && !head.is_empty() {
            found = head.iter().cloned().zip(words).collect();
        }
    }
    assert!(!found.is_empty(), "no row in {text}");
    found
}

fn value(row: &[(String, String)], name: &str) -> f64 {
    let text = row.iter().find(|(of, _)| of == name).unwrap_or_else(|| panic!("{name} in {row:?}"));
    text.1.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

fn figure(sample: &Sample, of: &Entity, metric: Metric) -> f64 {
    let rows = sample.tables.iter().flat_map(|table| &table.rows).filter(|row| row.of == *of);
    rows.filter_map(|row| row.get(metric)).next().unwrap_or_else(|| panic!("{of} has no {metric:?}"))
}

fn begins_with_a_number(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
}

#[test]
fn vmstat_says_the_same_of_the_host() {
    let load = Load::start();
    let tool = Tool { words: &["vmstat", "-n", "3", "2"], is_report: &begins_with_a_number, before: 0 };
    let Some(seen) = tool.seen(&load) else { return };
    let row = table(&seen.text, |line| line.contains(" swpd "), begins_with_a_number);
    let counts = |metric| seen.counts(&Entity::Host, metric);
    let ((user, user_around), (nice, nice_around)) = (counts(Metric::CpuUser), counts(Metric::CpuNice));
    seen.rate("vmstat us", (user + nice, user_around + nice_around), value(&row, "us") / 100.0, TICKS);
    seen.rate("vmstat id", counts(Metric::CpuIdle), value(&row, "id") / 100.0, TICKS);
    seen.rate_of_interval("vmstat cs", counts(Metric::ContextSwitches), value(&row, "cs"));
    seen.rate_of_interval("vmstat in", counts(Metric::Interrupts), value(&row, "in"));
    let (out, out_around) = counts(Metric::PageOut);
    seen.rate_of_interval("vmstat bo", (out / 1024.0, out_around / 1024.0), value(&row, "bo"));
    // A level goes up and down: one look behind the other on each side.
    let levels = [&seen.inner, &seen.outer].map(|sample| figure(sample, &Entity::Host, Metric::MemFree));
    let (least, most) = (levels[0].min(levels[1]), levels[0].max(levels[1]));
    let moved = 2e8_f64.max(0.03 * figure(&seen.outer, &Entity::Host, Metric::MemTotal));
    seen.between("vmstat free", least, value(&row, "free") * 1024.0, most, moved);
}

#[test]
fn mpstat_says_the_same_of_the_cpus() {
    let load = Load::start();
    // The average behind the reports is over all of them, ours over the last one.
    let is_all = |line: &str| !line.starts_with("Average") && line.split_whitespace().nth(1) == Some("all");
    let tool = Tool { words: &["mpstat", "3", "2"], is_report: &is_all, before: 1 };
    let Some(seen) = tool.seen(&load) else { return };
    let row = table(&seen.text, |line| line.contains("%usr"), is_all);
    for (name, metric) in [
        ("%usr", Metric::CpuUser),
        ("%sys", Metric::CpuSystem),
        ("%iowait", Metric::CpuIowait),
        ("%soft", Metric::CpuSoftirq),
    ] {
        seen.rate(
            &format!("mpstat {name}"),
            seen.counts(&Entity::Host, metric),
            value(&row, name) / 100.0,
            TICKS,
        );
    }
}

#[test]
fn iostat_says_the_same_of_the_disk() {
    let load = Load::start();
    // An empty line behind the rows ends each report.
    let in_rows = Cell::new(false);
    let is_report = |line: &str| {
        let was_in_rows = in_rows.replace(line.starts_with("Device") || (in_rows.get() && !line.is_empty()));
        was_in_rows && line.is_empty()
    };
    let tool = Tool { words: &["iostat", "-dxk", "3", "2"], is_report: &is_report, before: 0 };
    let Some(seen) = tool.seen(&load) else { return };
    let rows = seen.outer.tables.iter().flat_map(|table| &table.rows);
    let disks = rows.filter(|row| matches!(row.of, Entity::Device(_)) && row.get(Metric::Writes).is_some());
    let busiest =
        disks.max_by(|a, b| a.get(Metric::Writes).partial_cmp(&b.get(Metric::Writes)).expect("numbers"));
    let Some(disk) = busiest.filter(|row| row.get(Metric::Writes) > Some(1.0)) else {
        return skipped("no disk was written to");
    };
    let name = disk.of.name().to_string();
    let is_disk = |line: &str| line.split_whitespace().next() == Some(name.as_str());
    let row = table(&seen.text, |line| line.starts_with("Device"), is_disk);
    let counts = |metric| seen.counts(&disk.of, metric);
    let writes = counts(Metric::Writes);
    seen.rate("iostat w/s", writes, value(&row, "w/s"), 0.01);
    let (bytes, bytes_around) = counts(Metric::WriteBytes);
    seen.rate("iostat wkB/s", (bytes / 1024.0, bytes_around / 1024.0), value(&row, "wkB/s"), 0.01);
    // What a request took, times how many there were.
    let waited = |sample: &Sample, writes: f64| match writes {
        0.0 => 0.0,
        writes => figure(sample, &disk.of, Metric::WriteLatency) / 1e6 * writes,
    };
    let waited = (waited(&seen.inner, writes.0), waited(&seen.outer, writes.1));
    // The kernel counts in ms (Documentation/admin-guide/iostats.rst), and adds a request's time when that ends.
    seen.quotient("iostat w_await", waited, writes, value(&row, "w_await"), 1.0);
    seen.rate("iostat aqu-sz", counts(Metric::QueueLength), value(&row, "aqu-sz"), 0.1);
    seen.rate("iostat %util", counts(Metric::Utilisation), value(&row, "%util") / 100.0, TICKS);
}

#[test]
fn pidstat_says_the_same_of_a_process() {
    let load = Load::start();
    let own = std::process::id().to_string();
    let is_own = |line: &str| line.split_whitespace().nth(2) == Some(own.as_str());
    let words = ["pidstat", "-u", "-d", "-r", "-h", "-p", own.as_str(), "3", "2"];
    let tool = Tool { words: &words, is_report: &is_own, before: 1 };
    let Some(seen) = tool.seen(&load) else { return };
    let process = Entity::Process(std::process::id());
    let counts = |metric| seen.counts(&process, metric);
    let ((user, user_around), (system, system_around)) =
        (counts(Metric::TaskUser), counts(Metric::TaskSystem));
    let cpu = (user + system, user_around + system_around);
    assert!(cpu.1 > 0.02, "the load used {} s of a CPU", cpu.1);
    // What the load itself knows, which counts a megabyte before it is written.
    let chars = counts(Metric::WriteChars);
    assert!(chars.1 <= (seen.outer_written + (2 << 20)) as f64 * 1.01, "{chars:?}, {}", seen.outer_written);
    assert!(
        chars.0 + f64::from(2 << 20) >= seen.inner_written as f64 * 0.99,
        "{chars:?}, {}",
        seen.inner_written
    );
    let row = table(&seen.text, |line| line.contains("UID"), is_own);
    seen.rate("pidstat %usr", (user, user_around), value(&row, "%usr") / 100.0, TICKS);
    seen.rate("pidstat %CPU", cpu, value(&row, "%CPU") / 100.0, TICKS);
    let (bytes, bytes_around) = counts(Metric::WriteBytes);
    seen.rate("pidstat kB_wr/s", (bytes / 1024.0, bytes_around / 1024.0), value(&row, "kB_wr/s"), 0.01);
    seen.rate("pidstat minflt/s", counts(Metric::MinorFaults), value(&row, "minflt/s"), 0.01);
    let levels = [&seen.inner, &seen.outer].map(|sample| figure(sample, &process, Metric::Rss));
    let (least, most) = (levels[0].min(levels[1]), levels[0].max(levels[1]));
    seen.between("pidstat RSS", least, value(&row, "RSS") * 1024.0, most, 4e6);
}

#[test]
fn top_says_the_same_of_a_process() {
    let load = Load::start();
    let own = std::process::id().to_string();
    let is_own = |line: &str| line.split_whitespace().next() == Some(own.as_str());
    // All processes are read before the first is printed; of one alone top prints too little to fill its buffer.
    let below_head = Cell::new(false);
    let is_report = |line: &str| below_head.replace(line.contains("PID")) && begins_with_a_number(line);
    let tool = Tool { words: &["top", "-b", "-d", "3", "-n", "2"], is_report: &is_report, before: 0 };
    let Some(seen) = tool.seen(&load) else { return };
    let row = table(&seen.text, |line| line.contains("PID"), is_own);
    let process = Entity::Process(std::process::id());
    let ((user, user_around), (system, system_around)) =
        (seen.counts(&process, Metric::TaskUser), seen.counts(&process, Metric::TaskSystem));
    seen.rate("top %CPU", (user + system, user_around + system_around), value(&row, "%CPU") / 100.0, TICKS);
}

#[test]
fn listeners_and_connections_are_counted() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let mut connections: Vec<_> =
        (0..7).map(|_| std::net::TcpStream::connect(address).expect("a connection")).collect();
    let accepted: Vec<_> = (0..4).map(|_| listener.accept().expect("one").0).collect();
    // Nobody reads them, accepted or not.
    connections.iter_mut().for_each(|connection| connection.write_all(b"hello").expect("sent"));
    let sample =
        Sampler::new(SamplerOptions { own: true, ..SamplerOptions::default() }).expect("a sampler").sample();
    if let Some(gap) = sample.gaps.iter().find(|gap| gap.source == "sockets") {
        return skipped(format_args!("{}", gap.why));
    }
    let of = Entity::Listener(address.to_string().into());
    assert_eq!(figure(&sample, &of, Metric::Backlog), 3.0);
    assert!(figure(&sample, &of, Metric::BacklogLimit) >= 100.0);
    assert_eq!(figure(&sample, &of, Metric::ReceiveQueue), 35.0);
    let peer = Entity::Peer(address.to_string().into());
    assert_eq!(figure(&sample, &peer, Metric::TcpEstablished), 7.0);
    assert_eq!(figure(&sample, &peer, Metric::EphemeralPortsUsed), 7.0);
    assert!(figure(&sample, &Entity::Host, Metric::TcpEstablished) >= 14.0);
    drop((connections, accepted));
}

/// Datagrams that a socket with little room gets and never reads: what waits and what was dropped is what /proc/net/udp says.
#[test]
fn a_udp_socket_that_is_not_read_drops() {
    const SENT: usize = 300;
    let receiver = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    // The least room that there is (SO_RCVBUF, socket(7)).
    rustix::net::sockopt::set_socket_recv_buffer_size(&receiver, 0).expect("less room");
    let address = receiver.local_addr().expect("its address");
    let of = Entity::Listener(format!("udp {address}").into());
    let mut sampler =
        Sampler::new(SamplerOptions { own: true, ..SamplerOptions::default() }).expect("a sampler");
    let first = sampler.sample();
    if let Some(gap) = first.gaps.iter().find(|gap| gap.source == "sockets") {
        return skipped(format_args!("{}", gap.why));
    }
    assert_eq!(figure(&first, &of, Metric::UdpReceiveQueue), 0.0);
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    for _ in 0..SENT {
        sender.send_to(&[7; 512], address).expect("sent");
    }
    // What is dear is looked at as seldom as the machine is slow.
    let (mut drops, mut owner, mut last) = (None, None, first);
    let began = Instant::now();
    while (drops.is_none() || owner.is_none()) && began.elapsed() < Duration::from_secs(130) {
        std::thread::sleep(Duration::from_millis(300));
        let sample = sampler.sample();
        let tables = sample.tables.iter();
        let rows = tables.flat_map(|table| table.rows.iter().map(|row| (table.over, row)));
        for (over, row) in rows.filter(|(_, row)| row.of == of) {
            owner = owner.or(row.told(Trait::Owner).map(str::to_string));
            if let (Over::Interval(over), Some(rate)) = (over, row.get(Metric::UdpReceiveErrors)) {
                // All of them are in the first look behind.
                drops = drops.or(over.as_secs_f64().map(|seconds| rate * seconds));
            }
            last = sample.clone();
        }
    }
    let drops = drops.expect("the socket is told of");
    let table = std::fs::read_to_string("/proc/net/udp").expect("the kernel's table");
    let port = format!(":{:04X} ", address.port());
    let line = table.lines().find(|line| line.contains(&port)).expect("the socket");
    let truth: f64 =
        line.split_ascii_whitespace().next_back().and_then(|word| word.parse().ok()).expect("drops");
    assert!(truth > 0.0 && truth < SENT as f64, "{line}");
    assert!((drops - truth).abs() < 0.5, "{drops} of {truth}");
    let waiting = figure(&last, &of, Metric::UdpReceiveQueue);
    assert!(waiting > 0.0 && figure(&last, &of, Metric::UdpReceiveBuffer) > 0.0);
    assert_eq!(owner, Some(std::process::id().to_string()));
}
