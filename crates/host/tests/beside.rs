//! Figures held against vmstat, mpstat, iostat, pidstat and top, run side by side on a load of our own. Tolerances: shares of
//! CPU time 0.08 (the tools begin and end some 50 ms apart from us on a busy machine), rates of the disk and of processes a
//! quarter, levels of memory 3 %. What a machine lacks is skipped, and said.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use whyslow_host::{Options, Sample, Sampler};
use whyslow_model::{Entity, Metric, Over, Trait};

/// How long the tools look.
const SECONDS: u64 = 5;

/// Starts a tool in the C locale; `None` where it is not there.
fn start(words: &[&str]) -> Option<Child> {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env("LC_ALL", "C").env("S_COLORS", "never").env("COLUMNS", "400");
    match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
        Ok(child) => Some(child),
        Err(_) => {
            println!("skipped: {} is not installed (scripts/setup test)", words[0]);
            None
        }
    }
}

fn output(child: Child) -> String {
    String::from_utf8_lossy(&child.wait_with_output().expect("its output").stdout).into_owned()
}

/// The values of the last line that `is_line` takes, by the names of the last head above it.
fn table(
    text: &str,
    is_head: impl Fn(&str) -> bool,
    is_line: impl Fn(&str) -> bool,
) -> Option<Vec<(String, String)>> {
    let (mut head, mut found) = (Vec::new(), None);
    for line in text.lines() {
        let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
        if is_head(line) {
            head = words;
        } else if is_line(line) && words.len() >= head.len() && !head.is_empty() {
            found = Some(head.iter().cloned().zip(words).collect());
        }
    }
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

/// Writes and reads back a megabyte at a time, on disk, and computes: until `stop`.
fn load(stop: Arc<AtomicBool>, written: Arc<AtomicU64>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let mut file: File = tempfile::tempfile_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
        let block = vec![7u8; 1 << 20];
        while !stop.load(Ordering::Relaxed) {
            file.seek(SeekFrom::Start(0)).expect("its beginning");
            file.write_all(&block).expect("room on the disk");
            file.sync_data().expect("a disk");
            written.fetch_add(1 << 20, Ordering::Relaxed);
            let mut back = [0u8; 4096];
            file.read_exact_at(&mut back, 0).expect("what was written");
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(10) {
                std::hint::black_box(back.iter().map(|byte| u64::from(*byte)).sum::<u64>());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    })
}

/// Our figure and a tool's agree within `share` of the larger, or within `least`.
fn agree(what: &str, ours: f64, theirs: f64, share: f64, least: f64) {
    let apart = (ours - theirs).abs();
    println!("{what}: {ours:.4} beside {theirs:.4}");
    assert!(apart <= least.max(share * ours.max(theirs)), "{what}: {ours} beside {theirs}");
}

#[test]
fn the_tools_say_the_same() {
    let stop = Arc::new(AtomicBool::new(false));
    let written = Arc::new(AtomicU64::new(0));
    let work = load(stop.clone(), written.clone());
    let own = std::process::id().to_string();
    let every = SECONDS.to_string();
    let mut sampler = Sampler::new(Options { own: true, ..Options::default() }).expect("a sampler");
    std::thread::sleep(Duration::from_millis(300));
    let vmstat = start(&["vmstat", &every, "2"]);
    let mpstat = start(&["mpstat", &every, "1"]);
    let iostat = start(&["iostat", "-dxky", &every, "1"]);
    let pidstat = start(&["pidstat", "-u", "-d", "-w", "-r", "-h", "-p", &own, &every, "1"]);
    let top = start(&["top", "-b", "-d", &every, "-n", "2", "-p", &own]);
    sampler.sample();
    let before = written.load(Ordering::Relaxed);
    std::thread::sleep(Duration::from_secs(SECONDS));
    let sample = sampler.sample();
    let wrote = (written.load(Ordering::Relaxed) - before) as f64 / SECONDS as f64;
    let (host, process) = (Entity::Host, Entity::Process(std::process::id()));
    let ours = |metric| figure(&sample, &host, metric);
    if let Some(vmstat) = vmstat {
        let text = output(vmstat);
        let row =
            table(&text, |line| line.contains(" swpd "), |line| !line.contains("procs")).expect("a row");
        let user = ours(Metric::CpuUser) + ours(Metric::CpuNice);
        agree("vmstat us", user, value(&row, "us") / 100.0, 0.0, 0.08);
        agree("vmstat id", ours(Metric::CpuIdle), value(&row, "id") / 100.0, 0.0, 0.08);
        agree("vmstat cs", ours(Metric::ContextSwitches), value(&row, "cs"), 0.25, 50.0);
        agree("vmstat in", ours(Metric::Interrupts), value(&row, "in"), 0.25, 50.0);
        agree("vmstat bo", ours(Metric::PageOut), value(&row, "bo") * 1024.0, 0.25, 2e6);
        agree("vmstat free", ours(Metric::MemFree), value(&row, "free") * 1024.0, 0.03, 2e8);
    }
    if let Some(mpstat) = mpstat {
        let text = output(mpstat);
        let row =
            table(&text, |line| line.contains("%usr"), |line| line.starts_with("Average:")).expect("a row");
        agree("mpstat %usr", ours(Metric::CpuUser), value(&row, "%usr") / 100.0, 0.0, 0.08);
        agree("mpstat %sys", ours(Metric::CpuSystem), value(&row, "%sys") / 100.0, 0.0, 0.08);
        agree("mpstat %iowait", ours(Metric::CpuIowait), value(&row, "%iowait") / 100.0, 0.0, 0.08);
        agree("mpstat %soft", ours(Metric::CpuSoftirq), value(&row, "%soft") / 100.0, 0.0, 0.08);
    }
    if let Some(iostat) = iostat {
        let text = output(iostat);
        let all = sample.tables.iter().flat_map(|table| &table.rows);
        let busiest =
            all.filter(|row| matches!(row.of, Entity::Device(_)) && row.get(Metric::Writes).is_some());
        let busiest = busiest
            .max_by(|a, b| a.get(Metric::Writes).partial_cmp(&b.get(Metric::Writes)).expect("numbers"));
        match busiest.filter(|row| row.get(Metric::Writes) > Some(5.0)) {
            Some(disk) => {
                let of = |metric| figure(&sample, &disk.of, metric);
                let name = disk.of.name().to_string();
                let is_disk = |line: &str| line.split_whitespace().next() == Some(name.as_str());
                let row = table(&text, |line| line.starts_with("Device"), is_disk).expect("the disk's row");
                agree("iostat w/s", of(Metric::Writes), value(&row, "w/s"), 0.25, 5.0);
                agree("iostat wkB/s", of(Metric::WriteBytes), value(&row, "wkB/s") * 1024.0, 0.25, 2e6);
                agree("iostat w_await", of(Metric::WriteLatency), value(&row, "w_await") * 1e6, 0.3, 1e6);
                agree("iostat aqu-sz", of(Metric::QueueLength), value(&row, "aqu-sz"), 0.3, 0.2);
                agree("iostat %util", of(Metric::Utilisation), value(&row, "%util") / 100.0, 0.0, 0.1);
            }
            None => println!("skipped: no disk was written to"),
        }
    }
    let ours = |metric| figure(&sample, &process, metric);
    let cpu = ours(Metric::TaskUser) + ours(Metric::TaskSystem);
    assert!(cpu > 0.02, "the load used {cpu} of a CPU");
    if ours(Metric::WriteChars) > 0.0 {
        agree("written by the load", ours(Metric::WriteChars), wrote, 0.25, 4e6);
    }
    if let Some(pidstat) = pidstat {
        let text = output(pidstat);
        let is_own = |line: &str| line.split_whitespace().any(|word| word == own);
        match table(&text.replace("# ", ""), |line| line.contains("UID"), is_own) {
            Some(row) => {
                agree("pidstat %usr", ours(Metric::TaskUser), value(&row, "%usr") / 100.0, 0.0, 0.1);
                agree("pidstat %CPU", cpu, value(&row, "%CPU") / 100.0, 0.0, 0.1);
                agree(
                    "pidstat kB_wr/s",
                    ours(Metric::WriteBytes),
                    value(&row, "kB_wr/s") * 1024.0,
                    0.25,
                    4e6,
                );
                agree("pidstat minflt/s", ours(Metric::MinorFaults), value(&row, "minflt/s"), 0.5, 200.0);
                agree("pidstat RSS", ours(Metric::Rss), value(&row, "RSS") * 1024.0, 0.1, 4e6);
            }
            None => panic!("no row of ours in {text}"),
        }
    }
    stop.store(true, Ordering::Relaxed);
    work.join().expect("the load");
    if let Some(top) = top {
        let text = output(top);
        let is_own = |line: &str| line.split_whitespace().next() == Some(own.as_str());
        match table(&text, |line| line.contains("%CPU"), is_own) {
            Some(row) => agree("top %CPU", cpu, value(&row, "%CPU") / 100.0, 0.0, 0.12),
            None => println!("skipped: this top prints other columns"),
        }
    }
}

#[test]
fn listeners_and_connections_are_counted() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    let connections: Vec<_> =
        (0..7).map(|_| std::net::TcpStream::connect(address).expect("a connection")).collect();
    let accepted: Vec<_> = (0..4).map(|_| listener.accept().expect("one").0).collect();
    let sample = Sampler::new(Options { own: true, ..Options::default() }).expect("a sampler").sample();
    if let Some(gap) = sample.gaps.iter().find(|gap| gap.source == "sockets") {
        return println!("skipped: {}", gap.why);
    }
    let of = Entity::Listener(address.to_string().into());
    assert_eq!(figure(&sample, &of, Metric::Backlog), 3.0);
    assert!(figure(&sample, &of, Metric::BacklogLimit) >= 100.0);
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
    let mut sampler = Sampler::new(Options { own: true, ..Options::default() }).expect("a sampler");
    let first = sampler.sample();
    if let Some(gap) = first.gaps.iter().find(|gap| gap.source == "sockets") {
        return println!("skipped: {}", gap.why);
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
