//! A made-up /proc and /sys: right figures, and any damage of any file survived, with the gap named.

use std::fs;
use std::path::Path;
use whyslow_host::{Root, Sample, Sampler, SamplerOptions};
use whyslow_model::{Entity, Metric, Trait, Unit};

/// Files of a small host, as of a first look.
const FILES: &[(&str, &str)] = &[
    ("proc/uptime", "1000.00 1900.00\n"),
    (
        "proc/stat",
        "cpu  1000 0 500 8000 500 0 0 0 0 0\ncpu0 500 0 250 4000 250 0 0 0 0 0\ncpu1 500 0 250 4000 250 0 0 0 0 0\nintr 5000 1\nctxt 90000\nprocesses 400\nprocs_running 3\nprocs_blocked 1\n",
    ),
    ("proc/loadavg", "0.50 0.40 0.30 3/120 4242\n"),
    (
        "proc/locks",
        "1: FLOCK  ADVISORY  WRITE 1 fe:01:131 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 7 fe:01:131 0 EOF\n",
    ),
    ("proc/softirqs", "      CPU0 CPU1\nNET_RX: 10 20\n"),
    ("proc/interrupts", "      CPU0 CPU1\n 36: 100 0 PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0\nERR: 0\n"),
    ("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n"),
    (
        "proc/pressure/memory",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
    ),
    (
        "proc/pressure/io",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=4\n",
    ),
    (
        "proc/meminfo",
        "MemTotal: 1000 kB\nMemFree: 400 kB\nMemAvailable: 600 kB\nBuffers: 10 kB\nCached: 90 kB\nDirty: 7 kB\n",
    ),
    (
        "proc/vmstat",
        "pswpin 10\npgfault 5000\npgmajfault 100\nallocstall_normal 3\nallocstall_dma 1\nnr_dirty_threshold 50\n",
    ),
    ("proc/diskstats", "   8 0 sda 100 0 8000 500 200 0 16000 1000 0 600 1500 0 0 0 0 10 50\n"),
    ("proc/self/mountinfo", "27 1 8:0 / / rw - ext4 /dev/sda rw\n"),
    ("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
    ("proc/net/dev", "head\nhead\n  eth0: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0\n"),
    ("proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1000 10\n"),
    ("proc/net/netstat", "TcpExt: ListenOverflows ListenDrops\nTcpExt: 4 5\n"),
    ("proc/net/sockstat", "sockets: used 30\nTCP: inuse 1 orphan 0 tw 12 alloc 1 mem 2\n"),
    ("proc/sys/fs/file-nr", "1000 0 65536\n"),
    ("proc/sys/kernel/pid_max", "32768\n"),
    ("proc/sys/net/core/somaxconn", "4096\n"),
    ("proc/sys/kernel/threads-max", "10000\n"),
    ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
    (
        "proc/1/stat",
        "1 (init) S 0 1 1 0 -1 4194560 100 0 2 0 50 20 0 0 20 0 1 0 10 1000000 100 18446744073709551615\n",
    ),
    (
        "proc/1/status",
        "Uid:\t0\t0\t0\t0\nTracerPid:\t0\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t100\nnonvoluntary_ctxt_switches:\t5\n",
    ),
    ("proc/1/io", "rchar: 10\nwchar: 20\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n"),
    ("proc/1/schedstat", "700000000 5000000 100\n"),
    ("proc/1/cgroup", "0::/system.slice/init.service\n"),
    (
        "proc/1/limits",
        "Limit  Soft  Hard  Units\nMax open files            1024                 4096                 files\n",
    ),
    ("proc/1/cmdline", "init\0--password\0geheim\0"),
    ("proc/7/stat", "7 (busy) D 1 7 7 0 -1 4194560 0 0 0 0 100 50 0 0 20 0 2 0 2000 5000 10 0\n"),
    ("proc/7/wchan", "io_schedule"),
    ("proc/7/task/7/stat", "7 (busy) D 1 7 7 0 -1 4194560 0 0 0 0 60 50 0 0 20 0 2 0 2000 5000 10 0\n"),
    ("proc/7/task/7/schedstat", "1100000000 1 9\n"),
    ("proc/7/task/8/stat", "8 (worker) S 1 7 7 0 -1 4194560 0 0 0 0 40 0 0 0 20 0 2 0 2000 5000 10 0\n"),
    ("proc/7/task/8/schedstat", "400000000 2000000 9\n"),
    ("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"),
    ("sys/block/sda/queue/rotational", "0\n"),
    ("sys/block/sda/queue/scheduler", "[mq-deadline] none\n"),
    ("sys/block/sda/queue/read_ahead_kb", "128\n"),
    ("sys/fs/cgroup/web/cpu.max", "50000 100000\n"),
    (
        "sys/fs/cgroup/web/cpu.stat",
        "user_usec 1000000\nsystem_usec 500000\nnr_periods 100\nnr_throttled 50\nthrottled_usec 700000\n",
    ),
    ("sys/fs/cgroup/web/memory.current", "4096\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
];

fn put(root: &Path, file: &str, text: &[u8]) {
    let path = root.join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    FILES.iter().for_each(|(file, text)| put(root.path(), file, text.as_bytes()));
    root
}

fn sampler(root: &Path) -> Sampler {
    Sampler::new(SamplerOptions { root: Root::at(root), ..SamplerOptions::default() }).expect("a sampler")
}

fn figure(sample: &Sample, of: &Entity, metric: Metric) -> Option<f64> {
    sample
        .tables
        .iter()
        .flat_map(|table| &table.rows)
        .filter(|row| row.of == *of)
        .find_map(|row| row.get(metric))
}

fn told<'a>(sample: &'a Sample, of: &Entity, which: Trait) -> Option<&'a str> {
    sample
        .tables
        .iter()
        .flat_map(|table| &table.rows)
        .filter(|row| row.of == *of)
        .find_map(|row| row.told(which))
}

/// A container's runtime, a service manager, or the process itself moves it once it runs.
#[test]
fn the_group_of_a_new_process_is_read_again() {
    let root = tree();
    let stat =
        "7 (web) S 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 99900 1000000 100 18446744073709551615\n";
    put(root.path(), "proc/7/stat", stat.as_bytes());
    let mut sampler = sampler(root.path());
    let of_new = Entity::Process(7);
    let mut group = |path: &str| {
        put(root.path(), "proc/7/cgroup", path.as_bytes());
        put(root.path(), "proc/1/cgroup", path.as_bytes());
        let sample = sampler.sample();
        [of_new.clone(), Entity::Process(1)].map(|of| told(&sample, &of, Trait::Cgroup).map(str::to_string))
    };
    assert_eq!(group("0::/start\n"), [Some("/start".to_string()), Some("/start".to_string())]);
    assert_eq!(group("0::/web\n"), [Some("/web".to_string()), Some("/start".to_string())]);
}

#[test]
fn levels_and_rates_since_boot() {
    let root = tree();
    let sample = sampler(root.path()).sample();
    let host = |metric| figure(&sample, &Entity::Host, metric);
    assert_eq!(
        (host(Metric::CpuUser), host(Metric::CpuIowait), host(Metric::CpuCount)),
        (Some(0.1), Some(0.05), Some(2.0))
    );
    // Who looks is no load.
    assert_eq!((host(Metric::Runnable), host(Metric::Uninterruptible)), (Some(2.0), Some(1.0)));
    assert_eq!((host(Metric::MemUsed), host(Metric::MemDirty)), (Some(409_600.0), Some(7168.0)));
    // Two zones together; a minor fault is a fault that is no major one.
    assert_eq!((host(Metric::AllocStalls), host(Metric::MinorFaults)), (Some(0.004), Some(4.9)));
    assert_eq!((host(Metric::ContextSwitches), host(Metric::TcpRetransmits)), (Some(90.0), Some(0.01)));
    assert_eq!((host(Metric::EphemeralPorts), host(Metric::PidLimit)), (Some(28_232.0), Some(10_000.0)));
    assert_eq!((host(Metric::Tasks), host(Metric::SwapTotal)), (Some(2.0), None));
    let disk = Entity::Device("sda".into());
    assert_eq!(figure(&sample, &disk, Metric::ReadLatency), Some(5e6));
    assert_eq!(figure(&sample, &disk, Metric::RequestSize), Some(40_960.0));
    assert_eq!(
        (told(&sample, &disk, Trait::Scheduler), told(&sample, &disk, Trait::MountedAt)),
        (Some("mq-deadline"), Some("/"))
    );
    let group = Entity::Cgroup("/web".into());
    assert_eq!(
        (figure(&sample, &group, Metric::CpuQuota), figure(&sample, &group, Metric::MemUsed)),
        (Some(0.5), Some(4096.0))
    );
    let init = Entity::Process(1);
    assert_eq!(
        (told(&sample, &init, Trait::Command), told(&sample, &init, Trait::User)),
        (Some("init --password [redacted]"), Some("root"))
    );
    assert_eq!(
        (told(&sample, &init, Trait::Unit), figure(&sample, &init, Metric::FdLimit)),
        (Some("init.service"), Some(1024.0))
    );
    assert_eq!(told(&sample, &Entity::Process(7), Trait::Wchan), Some("io_schedule"));
    assert_eq!(told(&sample, &Entity::Thread { pid: 7, tid: 8 }, Trait::Name), Some("worker"));
}

/// The kernel writes a blank in a mount point as `\040`.
#[test]
fn a_hierarchy_is_found_where_its_mount_point_has_a_blank() {
    let root = tree();
    put(root.path(), "proc/self/mounts", b"cgroup2 /sys/fs/control\\040groups cgroup2 rw 0 0\n");
    put(root.path(), "sys/fs/control groups/web/cpu.max", b"50000 100000\n");
    let sample = sampler(root.path()).sample();
    assert_eq!(figure(&sample, &Entity::Cgroup("/web".into()), Metric::CpuQuota), Some(0.5));
}

#[test]
fn rates_between_two_looks_and_counters_that_went_back() {
    let root = tree();
    let mut sampler = sampler(root.path());
    sampler.sample();
    std::thread::sleep(std::time::Duration::from_millis(100));
    // Rates are over our own clock: a hundredth of a second and more.
    put(root.path(), "proc/uptime", b"1001.00 1901.00\n");
    put(root.path(), "proc/stat", b"cpu  1010 0 510 8020 499 0 0 0 0 0\ncpu0 400 0 250 4000 250 0 0 0 0 0\ncpu5 1 1 1 1 1 1 1 1 1 1\nctxt 80000\n");
    put(root.path(), "proc/diskstats", b"8 0 sda 110 0 8800 600 200 0 16000 1000 0 610 1600 0 0 0 0 9 50\n");
    put(
        root.path(),
        "proc/1/stat",
        b"1 (other) S 0 1 1 0 -1 4194560 0 0 0 0 5 2 0 0 20 0 1 0 99999 1000000 100 0\n",
    );
    let sample = sampler.sample();
    let host = |metric| figure(&sample, &Entity::Host, metric);
    assert_eq!(
        (host(Metric::CpuUser), host(Metric::CpuIdle), host(Metric::CpuIowait)),
        (Some(0.25), Some(0.5), None)
    );
    assert_eq!(host(Metric::ContextSwitches), None);
    // A CPU whose counters went back, and one that came.
    assert_eq!(figure(&sample, &Entity::Cpu(0), Metric::CpuUser), None);
    assert_eq!(figure(&sample, &Entity::Cpu(5), Metric::CpuUser), None);
    let disk = Entity::Device("sda".into());
    assert_eq!(
        (figure(&sample, &disk, Metric::ReadLatency), figure(&sample, &disk, Metric::WriteLatency)),
        (Some(10e6), None)
    );
    assert_eq!(figure(&sample, &disk, Metric::Flushes), None);
    // The number was given to another process.
    assert_eq!(told(&sample, &Entity::Process(1), Trait::Name), Some("other"));
    assert!(figure(&sample, &Entity::Process(1), Metric::TaskUser).is_none_or(|cpu| cpu >= 0.0));
}

#[test]
fn each_file_may_be_missing_or_damaged() {
    let huge = b"18446744073709551616 99999999999999999999999999 18446744073709551615 -1\n".repeat(40);
    for (file, text) in FILES {
        let numbers: Vec<u8> =
            text.bytes().map(|byte| if byte.is_ascii_digit() { b'9' } else { byte }).collect();
        let most = text.replace(|c: char| c.is_ascii_digit(), "9").replace('9', "99999999");
        let damages: [&[u8]; 7] = [
            b"",
            b"\0\0\xff\xfe(((",
            &huge,
            &numbers,
            most.as_bytes(),
            &text.as_bytes()[..text.len() / 2],
            b"\n\n : \n:\n - \n=\n",
        ];
        let root = tree();
        let mut sampler = sampler(root.path());
        plausible(&sampler.sample());
        for damage in damages {
            put(root.path(), file, damage);
            plausible(&sampler.sample());
            plausible(&self::sampler(root.path()).sample());
        }
        fs::remove_file(root.path().join(file)).expect("it was there");
        plausible(&sampler.sample());
        let sample = self::sampler(root.path()).sample();
        plausible(&sample);
        let is_of_the_host =
            file.starts_with("proc/") && file.split('/').count() == 2 && *file != "proc/uptime";
        assert!(!is_of_the_host || !sample.gaps.is_empty(), "no gap names {file}");
    }
    let empty = tempfile::tempdir().expect("a folder");
    assert!(
        Sampler::new(SamplerOptions { root: Root::at(empty.path()), ..SamplerOptions::default() }).is_err()
    );
}

fn plausible(sample: &Sample) {
    for row in sample.tables.iter().flat_map(|table| &table.rows) {
        for (metric, value) in &row.figures {
            let least = if *metric == Metric::Nice { f64::MIN } else { 0.0 };
            assert!(value.is_finite() && *value >= least, "{} {metric:?} {value}", row.of);
            assert!(metric.unit() != Unit::Share || *value <= 1.0, "{} {metric:?} {value}", row.of);
        }
    }
}
