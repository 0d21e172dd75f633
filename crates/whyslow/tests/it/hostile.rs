//! Input from strangers through the whole chain: captures damaged in every way that comes to mind are read, folded,
//! judged, compared and written in every format. From fixed seeds, so that a failure comes again.

use crate::captures::{OWN, published};
use fastrand::Rng;
use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use whyslow_diagnose::diagnose;
use whyslow_diff::{DiffSide, diff};
use whyslow_facts::Facts;
use whyslow_model::{
    BlockIo, CaptureKind, Cell, Diagnosis, Diff, Event, FdKind, FileIo, FileOp, HadCpu, InodeId, Meanwhile,
    Nanos, Parked, ParkedFor, Sink, SocketEnds, SourceId, SourceInfo, Table, Timestamp,
};
use whyslow_read::{Input, ReadOptions, read};
use whyslow_report::{EXPORTERS, Exporter, Style};
use whyslow_views::{Ask, VIEWS};

/// Inputs of one test.
const INPUTS: u64 = 150;
/// Bytes of a capture that are used, from its start.
const SAMPLE: usize = 12 << 10;
/// Text that a page must not hold as it is: put into strings, paths, names and numbers.
const TAG: &str = "<script src=x>";

/// The folders of the captures that are damaged.
const FOLDERS: [&str; 13] = [
    "strace",
    "strace-c",
    "lsof",
    "ltrace",
    "proc-net-tcp",
    "top",
    "iostat",
    "pidstat",
    "sar",
    "ss",
    "bcc",
    "vmstat",
    "mpstat",
];

/// Small texts of each kind.
const BUILT_IN: [&str; 9] = [
    "7 10:00:00.000001 openat(AT_FDCWD, \"/etc/localtime\", O_RDONLY) = 3 <0.000010>\n\
     7 10:00:00.000101 read(3, \"TZif2\\0\"..., 4096) = 127 <0.000010>\n\
     8 10:00:00.000201 poll([{fd=5, events=POLLIN}], 1, 2000 <unfinished ...>\n\
     7 10:00:00.000301 clone(child_stack=NULL, flags=SIGCHLD, child_tidptr=0x7f) = 9 <0.000100>\n\
     9 10:00:00.000401 execve(\"/bin/true\", [\"true\"], 0x7f /* 5 vars */) = 0 <0.000300>\n\
     9 10:00:00.000801 +++ exited with 0 +++\n\
     7 10:00:00.000901 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=9} ---\n\
     8 10:00:02.000201 <... poll resumed>) = 0 (Timeout) <2.000000>\n\
     8 10:00:02.000301 connect(5, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr(\"10.0.0.9\")}, 16) = -1 ECONNREFUSED (Connection refused) <0.000100>\n",
    "COMMAND   PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n\
     java      77 root  cwd    DIR  253,1     4096    2 /\n\
     java      77 root    5u  IPv4  12345      0t0  TCP 10.0.0.1:40000->10.0.0.9:6379 (CLOSE_WAIT)\n",
    "% time     seconds  usecs/call     calls    errors syscall\n\
     ------ ----------- ----------- --------- --------- ----------------\n\
     \x20 60.00    0.000237           4        57         3 close\n\
     \x20 40.00    0.000137           4        27           read\n\
     ------ ----------- ----------- --------- --------- ----------------\n\
     100.00    0.000374                    84         3 total\n",
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
     \x20  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0000000000000000 100 0 0 10 0\n",
    "top - 14:27:02 up 10:30,  1 user,  load average: 1.82, 1.26, 0.76\n\
     Tasks: 129 total,   1 running,  74 sleeping,   0 stopped,   0 zombie\n\
     %Cpu0  :  3.5 us,  2.1 sy,  0.0 ni,  0.0 id, 94.4 wa,  0.0 hi,  0.0 si,  0.0 st\n\
     KiB Mem :  8169300 total,  3323248 free,   436748 used,  4409304 buff/cache\n\
     \x20 PID USER      PR  NI    VIRT    RES    SHR S  %CPU %MEM     TIME+ COMMAND\n\
     12280 root      20   0  103304  28824   7276 D  14.0  0.4   0:08.77 python\n\
     14:39:14      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n\
     14:39:15        0     12280      0.00 335716.00      0.00       0  python\n\
     Device            r/s     w/s     rkB/s     wkB/s r_await w_await aqu-sz  %util\n\
     sda              0.00   71.00      0.00  32912.00    0.00 18118.31 241.89  98.40\n",
    "TID    COMM             READS  WRITES R_Kb    W_Kb    T FILE\n\
     514    python           0      1      0       2832    R 669.txt\n\
     TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n\
     0.000004    supervise      1950   xvda1   W 13092560   4096       0.74\n\
     pid = 77\n     usecs               : count     distribution\n         0 -> 1          : 351      |****|\n\
     \x20Performance counter stats for 'system wide':\n            449,931      syscalls:sys_enter_newlstat\n\
     \x20      4.000941076 seconds time elapsed\n",
    "ATOP - vm      2026/11/22  23:38:01      -----------------           10s elapsed\n\
     CPU | sys      15% | user    139% | irq       0% | idle     44% | wait      2% |\n\
     CPL | numcpu     2 | avg1    3.34 | avg5    3.31 | csw    32560 | intr   160e3 |\n\
     LVM |      vg-data | busy     91% | read     100 | write    200 | KiB/w     64 |\n\
     NET | eth0    10% | pcki   14500 | pcko    7400 | si  368 Kbps | so    8 Mbps |\n\
     \x20 PID SYSCPU USRCPU BDELAY   RSIZE  RDDSK  WRDSK S  CPU CMD\n\
     10572  0.80s  7.13s  1.00s  488.0M     0B   1.0M D  79% worker\n\
     NAME        MAJ:MIN RM   SIZE RO TYPE MOUNTPOINTS\n\
     sda           8:0    0 931.5G  0 disk\n\
     └─sda2        8:2    0   930G  0 part\n\
     \x20 └─vg-data 253:1    0    50G  0 lvm  /\n\
     {\n   \"blockdevices\": [\n {\"name\": \"vda\", \"maj:min\": \"254:0\", \"mountpoints\": [null], \"children\": [{\"name\": \"vda1\"}]}\n ]\n}\n\
     open files                          (-n) 1024\n\
     [  812.300000] INFO: task jbd2/sda1-8:412 blocked for more than 120 seconds.\n\
     [  812.400000] nf_conntrack: nf_conntrack: table full, dropping packet\n\
     vm.dirty_ratio = 20\nnet.core.somaxconn = 4096\n",
    "Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n\
     tcp   LISTEN 0      128          0.0.0.0:22        0.0.0.0:*    users:((\"sshd\",pid=998,fd=3))\n\
     tcp   ESTAB  0      36          10.0.0.1:22       10.0.0.9:4711\n\
     \t cubic rto:204 rtt:1.5/0.75 cwnd:10\n\
     Filesystem     Type  Size  Used Avail Use% Mounted on\n/dev/vda1      ext4   40G   12G   26G  32% /\n\
     MemTotal:        8169300 kB\nMemFree:         3323248 kB\n0.20 0.18 0.12 1/80 11206\n",
    "Sun Nov 22 19:51:11 UTC 2026\n#kernel\nTcpRetransSegs                  54                 0.0\n\
     Tcp:\n    5678 segments sent out\n    54 segments retransmitted\n\
     nr_free_pages 1000\npswpin 10\noom_kill 3\n\
     \x20254       0 vda 100 0 8000 500 200 0 16000 1000 0 600 1500 0 0 0 0 10 50\n\
     cpu  1000 0 500 8000 500 0 0 0 0 0\ncpu0 1000 0 500 8000 500 0 0 0 0 0\nctxt 90000\n\
     /sys/fs/cgroup/x/cpu.max:50000 100000\n/sys/fs/cgroup/x/cpu.stat:nr_periods 100\n/sys/fs/cgroup/x/cpu.stat:nr_throttled 50\n\
     Sun Nov 22 19:51:21 UTC 2026\n#kernel\nTcpRetransSegs                  99                 0.0\n\
     nr_free_pages 1000\npswpin 99999\noom_kill 9\n\
     /sys/fs/cgroup/x/cpu.stat:nr_periods 200\n/sys/fs/cgroup/x/cpu.stat:nr_throttled 150\n\
     4: eth0: <BROADCAST,UP> mtu 1400 qdisc x\n    RX:  bytes packets errors dropped  missed   mcast\n     5 6 7 8 9 10\n\
     net.ipv4.ip_local_port_range = 32768\t60999\n/system.slice/a.service 5 2.5 23.3M - -\n\
     ==> /proc/339/status <==\nName:\tpython3\nPid:\t339\nThreads:\t1\n",
];

/// Put in at random places, or in place of a number.
const PIECES: &[&str] = &[
    "18446744073709551615",
    "18446744073709.551615",
    "9223372036854775807",
    "-9223372036854775808",
    "4294967295",
    "2147483647",
    "-1",
    "0",
    "0xffffffffffffffff",
    "99999999999999999999999999",
    "<18446744073.709551>",
    "<999999999999999999.999999>",
    "1e308",
    "00:00:00.000000",
    "23:59:59.999999",
    "1795227758.672510",
    "\0\0\0",
    "\u{1b}[31m\u{1b}]0;owned\u{7}",
    "\u{9b}2J\u{202e}\u{200b}",
    "<unfinished ...>",
    "<... read resumed>",
    "{{{{{{{{[[[[[[[[((((((((",
    "))))))))]]]]]]]]}}}}}}}}",
    "\"",
    "\\",
    " = ",
    "/../../..",
    "//",
    "\r",
    TAG,
];

/// What is damaged: small texts of each kind, and captures below a root, in an order that does not depend on the machine.
fn samples(root: &Path) -> Vec<Vec<u8>> {
    let mut samples: Vec<Vec<u8>> = BUILT_IN.iter().map(|text| text.as_bytes().to_vec()).collect();
    let articles = (0..5).map(|number| format!("seeds/{number:03}"));
    for folder in FOLDERS.map(String::from).into_iter().chain(articles) {
        // Of some tools there are only published captures.
        let entries = std::fs::read_dir(root.join(&folder)).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        paths.sort();
        for path in paths {
            let mut data = std::fs::read(path).expect("a capture");
            data.truncate(SAMPLE);
            samples.push(data);
        }
    }
    assert!(samples.len() > 30, "{} samples below {}", samples.len(), root.display());
    samples
}

fn lines(data: &[u8]) -> Vec<&[u8]> {
    data.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Where a run of digits stands, from a random place on.
fn number_in(data: &[u8], random: &mut Rng) -> Option<Range<usize>> {
    let from = below(random, data.len());
    let start = from + data[from..].iter().position(u8::is_ascii_digit)?;
    let digits = data[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some(start..start + digits)
}

/// Below `end`; 0 where that is 0.
fn below(random: &mut Rng, end: usize) -> usize {
    random.usize(..end.max(1))
}

fn pick<'a, T>(random: &mut Rng, list: &'a [T]) -> &'a T {
    &list[random.usize(..list.len())]
}

/// Damages `data` in one way. `other` is another capture.
fn damage(data: &mut Vec<u8>, other: &[u8], random: &mut Rng) {
    let at = below(random, data.len());
    match below(random, 13) {
        0 if !data.is_empty() => data[at] ^= 1 << random.u8(..8),
        1 => data.truncate(at),
        2 => drop(data.drain(..at)),
        3 => drop(data.splice(at..at, pick(random, PIECES).bytes())),
        4 | 5 => {
            if let Some(number) = number_in(data, random) {
                data.splice(number, pick(random, PIECES).bytes());
            }
        }
        6 => {
            let mut shuffled = lines(data);
            for i in 0..shuffled.len() {
                let j = below(random, shuffled.len());
                shuffled.swap(i, j);
            }
            *data = shuffled.concat();
        }
        7 => {
            let mut backwards = lines(data);
            backwards.reverse();
            *data = backwards.concat();
        }
        8 => {
            let line = pick(random, &lines(data)).to_vec();
            let times = 1 + below(random, 200);
            data.splice(at..at, line.repeat(times));
        }
        9 => {
            let from = below(random, other.len());
            let to = from + below(random, other.len() - from);
            data.splice(at..at, other[from..to].iter().copied());
        }
        10 => {
            let byte = *pick(random, b"x([{\"'\\<>0 \x00\xff\x80");
            let length = 1 << below(random, 16);
            data.splice(at..at, std::iter::repeat_n(byte, length));
        }
        11 => data.extend_from_slice(&[&b"\n"[..], other].concat()),
        _ => {
            // Every occurrence of one number becomes another: a thread or a descriptor at the extremes.
            let Some(range) = number_in(data, random) else { return };
            let (number, piece) = (data[range].to_vec(), pick(random, PIECES).as_bytes());
            let mut replaced = Vec::new();
            let mut rest = &data[..];
            while let Some(at) = rest
                .windows(number.len())
                .position(|window| window == number)
                .filter(|_| replaced.len() < 1 << 18)
            {
                replaced.extend_from_slice(&rest[..at]);
                replaced.extend_from_slice(piece);
                rest = &rest[at + number.len()..];
            }
            replaced.extend_from_slice(rest);
            *data = replaced;
        }
    }
    // An empty input is not read at all.
    if data.is_empty() {
        data.push(b'\n');
    }
}

fn facts_of(inputs: Vec<Vec<u8>>, threads: usize) -> Facts {
    let inputs: Vec<Input> = (inputs.into_iter().enumerate())
        .map(|(number, data)| Input::Bytes { name: format!("{TAG}.{number}"), data })
        .collect();
    let mut facts = Facts::default();
    // That nothing could be read is an answer too.
    let _ = read(&inputs, &ReadOptions { threads }, &(), &mut facts);
    facts.finish();
    facts
}

fn check_lines(info: &SourceInfo) {
    assert!(info.events + info.rejects + info.foreign <= info.lines, "{info:?}");
    assert!(info.starts_not_seen <= info.lines && info.ends_not_seen <= info.lines, "{info:?}");
}

fn check_share(share: f64, of: &dyn Debug) {
    assert!((0.0..=1.0).contains(&share), "share {share} of {of:?}");
}

/// A time that was subtracted below zero shows as one of centuries.
fn check_time(ns: Nanos, of: &dyn Debug) {
    assert!(ns.get().is_none_or(|ns| i64::try_from(ns).is_ok()), "{ns:?} of {of:?}");
}

fn check_diagnosis(diagnosis: &Diagnosis) {
    diagnosis.target.sources.iter().for_each(check_lines);
    check_time(diagnosis.target.duration_ns, &diagnosis.target.duration_ns);
    for finding in &diagnosis.findings {
        finding.confidence.iter().for_each(|sure| check_share(*sure, finding));
        finding.share.iter().for_each(|share| check_share(*share, finding));
    }
    for thread in &diagnosis.time {
        for ns in [
            thread.wall_ns,
            thread.on_cpu_ns,
            thread.runnable_ns,
            thread.throttled_ns,
            thread.blocked_ns,
            thread.working_ns,
            thread.between_calls_ns,
        ] {
            check_time(ns, thread);
        }
        thread.waits.iter().for_each(|wait| check_time(wait.ns, thread));
    }
}

fn check_table(table: &Table) {
    for row in table.rows.iter().chain(&table.total) {
        assert_eq!(row.len(), table.columns.len(), "{}", table.name);
        for cell in row {
            match cell {
                Cell::Share(share) => check_share(*share, row),
                Cell::Duration(ns) => check_time(*ns, row),
                Cell::PerSecond(value) | Cell::Number(value) => {
                    assert!(*value >= 0.0 && value.is_finite(), "{row:?}");
                }
                _ => {}
            }
        }
    }
}

/// What an exporter can write.
enum Shown<'a> {
    Diagnosis(&'a Diagnosis),
    Table(&'a Table),
    Diff(&'a Diff),
}

fn check_output(exporter: &Exporter, shown: &Shown<'_>) {
    for (width, explain) in [(40, false), (120, true)] {
        let style = Style { width, explain, ..Style::default() };
        let mut out = Vec::new();
        match shown {
            Shown::Diagnosis(diagnosis) => exporter.diagnosis(diagnosis, &style, &mut out),
            Shown::Table(table) => exporter.table(table, &style, &mut out),
            Shown::Diff(diff) => exporter.diff(diff, &style, &mut out),
        }
        .expect("memory takes everything");
        let text = String::from_utf8(out).expect("the output is UTF-8");
        match exporter.name {
            "json" => drop(serde_json::from_str::<serde_json::Value>(&text).expect("the output is JSON")),
            "html" => assert!(!text.contains(TAG), "{text}"),
            _ => {
                let control = text.chars().find(|c| c.is_control() && *c != '\n');
                assert!(control.is_none(), "{control:?} in {text}");
            }
        }
    }
}

/// Everything that the commands do with facts.
fn check_all(facts: &Facts, before: &(Facts, Diagnosis)) -> Diagnosis {
    let diagnosis = diagnose(facts);
    check_diagnosis(&diagnosis);
    let compared =
        diff(DiffSide { facts: &before.0, diagnosis: &before.1 }, DiffSide { facts, diagnosis: &diagnosis });
    let mut tables = Vec::new();
    for view in VIEWS {
        for by in view.by.iter().map(|by| Some(by.to_string())).chain([None]) {
            tables.push(
                (view.table)(facts, &Ask { by, top: Some(20), ..Ask::default() })
                    .expect("a grouping of its own"),
            );
        }
    }
    tables.iter().for_each(check_table);
    for exporter in EXPORTERS {
        check_output(exporter, &Shown::Diagnosis(&diagnosis));
        check_output(exporter, &Shown::Diff(&compared));
        tables.iter().for_each(|table| check_output(exporter, &Shown::Table(table)));
    }
    diagnosis
}

/// Two of each, so that sums would overflow.
fn with_largest_figures() -> Facts {
    let most = u64::MAX - 1;
    let mut facts = Facts::default();
    let file = Some(InodeId { major: 8, minor: 1, inode: 42, generation: 1 });
    for (tid, op) in [(7, FileOp::Read), (7, FileOp::Write), (8, FileOp::Write), (7, FileOp::Write)] {
        facts.push(Event::FileIo(Box::new(FileIo {
            pid: 7,
            tid,
            op,
            kind: FdKind::File,
            path: Some("/var/log/app.log".to_string()),
            file,
            first: Timestamp::new(1),
            last: Timestamp::new(most),
            calls: most,
            errors: most,
            timed: most,
            bytes: most,
            total: Nanos::new(most),
            longest: Nanos::new(most),
            ends: SocketEnds::default(),
            size: Some(most),
            in_order: Some(most),
        })));
    }
    for had in [HadCpu::Thread, HadCpu::Thread, HadCpu::Idle, HadCpu::Quota, HadCpu::Untold, HadCpu::Untold] {
        facts.push(Event::Meanwhile(Box::new(Meanwhile {
            pid: 7,
            tid: 7,
            had,
            runner: Some(71),
            comm: None,
            turns: most,
            total: Nanos::new(most),
        })));
    }
    facts.push(Event::Parked(Box::new(Parked {
        pid: 7,
        waits: ParkedFor::Lock,
        call: "sync.Mutex.Lock".to_string(),
        function: "main.reserve".to_string(),
        place: None,
        goroutines: most,
        looks: 5,
    })));
    for (sector, bytes) in [(0, 4_096), (8, most), (most, most), (1, most)] {
        facts.push(Event::BlockIo(Box::new(BlockIo {
            queued: Timestamp::new(1),
            issued: Timestamp::new(1),
            completed: Timestamp::new(most),
            device: "8:1".to_string(),
            sector,
            bytes,
            op: "write".to_string(),
            pid: Some(7),
            tid: Some(7),
            file,
        })));
    }
    facts.push(Event::Source(SourceInfo::new(SourceId(0), "x.whyslow", CaptureKind::Recording)));
    facts.finish();
    facts
}

#[test]
fn a_recording_that_claims_the_largest_figures_is_shown_whole() {
    let facts = with_largest_figures();
    let diagnosis = diagnose(&facts);
    for view in VIEWS {
        for by in view.by.iter().map(|by| Some(by.to_string())).chain([None]) {
            let table = (view.table)(&facts, &Ask { by, ..Ask::default() }).expect("a grouping of its own");
            for exporter in EXPORTERS {
                check_output(exporter, &Shown::Table(&table));
                check_output(exporter, &Shown::Diagnosis(&diagnosis));
            }
        }
    }
}

/// The inputs of some seeds; `HOSTILE_SEED` is the only one.
fn assert_survived(samples: &[Vec<u8>], seeds: Range<u64>) {
    let only: Option<u64> = std::env::var("HOSTILE_SEED").ok().and_then(|seed| seed.parse().ok());
    // An input is compared with the one before it.
    let mut before = (Facts::default(), diagnose(&Facts::default()));
    for seed in only.map_or(seeds, |only| only.saturating_sub(1)..only.saturating_add(1)) {
        let mut random = Rng::with_seed(seed);
        let inputs: Vec<Vec<u8>> = (0..1 + below(&mut random, 3) / 2)
            .map(|_| {
                let mut data = pick(&mut random, samples).clone();
                for _ in 0..1 + below(&mut random, 6) {
                    let other: &Vec<u8> = pick(&mut random, samples);
                    damage(&mut data, other, &mut random);
                }
                data
            })
            .collect();
        let threads = 1 + below(&mut random, 2);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let facts = facts_of(inputs, threads);
            let diagnosis = check_all(&facts, &before);
            (facts, diagnosis)
        }));
        before = result.unwrap_or_else(|_| panic!("HOSTILE_SEED={seed} does it again"));
    }
}

/// Part of the seeds over the captures of the repository.
fn own(part: u64) {
    assert_survived(&samples(Path::new(OWN)), part * INPUTS..(part + 1) * INPUTS);
}

#[test]
fn damaged_captures_go_through_the_whole_chain_0() {
    own(0);
}

#[test]
fn damaged_captures_go_through_the_whole_chain_1() {
    own(1);
}

#[test]
fn damaged_captures_go_through_the_whole_chain_2() {
    own(2);
}

#[test]
fn damaged_captures_go_through_the_whole_chain_3() {
    own(3);
}

#[test]
fn damaged_published_captures_go_through_the_whole_chain() {
    if let Some(captures) = published() {
        assert_survived(&samples(&captures), 0..INPUTS);
    }
}
