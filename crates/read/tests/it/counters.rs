//! Dumps of the kernel's counters: what one says, what two at known times come to, and which file is which.

use proptest::prelude::*;
use std::collections::BTreeMap;
use whyslow_model::{Entity, Event, FigureTable, Metric, Nanos, Over, SourceInfo, Trait};
use whyslow_read::{Input, ReadOptions, read};

#[derive(Default)]
struct Told {
    tables: Vec<FigureTable>,
    notes: Vec<String>,
    sources: BTreeMap<String, SourceInfo>,
}

impl Told {
    fn of(files: &[(&str, &str)]) -> Told {
        let input = |(name, text): &(&str, &str)| Input::Bytes {
            name: (*name).to_string(),
            data: text.as_bytes().to_vec(),
        };
        let inputs: Vec<Input> = files.iter().map(input).collect();
        let mut told = Told::default();
        let mut sink = |event: Event<'_>| match event {
            Event::Figures(table) => told.tables.push(*table),
            Event::Note(note) => told.notes.push(note.text),
            Event::Source(info) => drop(told.sources.insert(info.name.clone(), info)),
            _ => {}
        };
        read(&inputs, &ReadOptions { threads: 1 }, &(), &mut sink).expect("something can be read");
        for info in told.sources.values() {
            assert_eq!(info.rejects, 0, "{}: {:?}", info.name, told.notes);
        }
        told
    }

    /// The figure, with what it is over, the line and its text.
    fn figure(&self, of: &Entity, metric: Metric) -> Option<(f64, Over, u64, &str)> {
        self.tables.iter().find_map(|table| {
            let mut rows = table.rows.iter().filter(|row| row.of == *of);
            rows.find_map(|row| Some((row.get(metric)?, table.over, row.line, &*row.raw)))
        })
    }

    fn host(&self, metric: Metric) -> Option<(f64, Over)> {
        self.figure(&Entity::Host, metric).map(|(value, over, ..)| (value, over))
    }
}

const TEN_SECONDS: Over = Over::Interval(Nanos::from_secs(10));

#[test]
fn one_dump_is_no_rate() {
    let told = Told::of(&[(
        "v",
        "nr_free_pages 1000\npgfault 500\npgmajfault 100\noom_kill 3\nnr_dirty_threshold 50\n",
    )]);
    assert_eq!(told.figure(&Entity::Host, Metric::OomKills), Some((3.0, Over::Total, 4, "oom_kill 3")));
    assert_eq!(told.host(Metric::MinorFaults), Some((400.0, Over::Total)));
    assert_eq!(told.host(Metric::DirtyLimit), Some((204_800.0, Over::Moment)));
    assert!(told.tables.iter().all(|table| table.over != TEN_SECONDS));
}

#[test]
fn two_dumps_at_known_times_are() {
    let first = "nr_free_pages 1000\nallocstall_normal 30\noom_kill 3\n";
    let second = "nr_free_pages 900\nallocstall_normal 50\noom_kill 3\n";
    let forms: [Vec<(String, String)>; 5] = [
        vec![(
            "a".into(),
            format!("Sun Nov 22 19:51:11 UTC 2026\n{first}\nSun Nov 22 19:51:21 UTC 2026\n{second}"),
        )],
        vec![(
            "a".into(),
            format!(
                "zzz ***Sun Nov 22 19:51:11 CET 2026\n{first}zzz ***Sun Nov 22 19:51:21 CET 2026\n{second}"
            ),
        )],
        vec![
            ("d/vmstat.20261122-195121".into(), second.into()),
            ("d/vmstat.20261122-195111".into(), first.into()),
        ],
        vec![("v.1795377071".into(), first.into()), ("v.1795377081".into(), second.into())],
        vec![
            ("a/date".into(), "Sun Nov 22 19:51:11 UTC 2026\n".into()),
            ("a/proc/vmstat".into(), first.into()),
            ("b/sos_commands/date/date".into(), "Sun Nov 22 19:51:21 UTC 2026\n".into()),
            ("b/proc/vmstat".into(), second.into()),
        ],
    ];
    for files in &forms {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (&**name, &**text)).collect();
        let told = Told::of(&files);
        assert_eq!(told.host(Metric::AllocStalls), Some((2.0, TEN_SECONDS)), "{files:?}");
        assert_eq!(told.host(Metric::OomKills), Some((0.0, TEN_SECONDS)), "{files:?}");
        assert!(told.notes.is_empty(), "{:?}", told.notes);
    }
}

#[test]
fn without_times_or_after_a_restart_there_are_none() {
    let told = Told::of(&[("a", "oom_kill 3\npgfault 9\n"), ("b", "oom_kill 5\npgfault 10\n")]);
    assert_eq!(told.host(Metric::OomKills).map(|(_, over)| over), Some(Over::Total));
    assert!(told.notes.iter().any(|note| note.contains("in an unknown order")), "{:?}", told.notes);
    let told = Told::of(&[("v.1795377071", "oom_kill 3\n"), ("v.1795377081", "oom_kill 1\n")]);
    assert_eq!(told.host(Metric::OomKills), Some((1.0, Over::Total)));
    assert!(told.notes.iter().any(|note| note.contains("went back")), "{:?}", told.notes);
}

/// The same counters in every form that tools give them.
#[test]
fn the_network_by_any_tool() {
    let forms = [
        (
            "snmp",
            "Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoAlgorithm MaxConn OutSegs RetransSegs\nTcp: 1 -1 5678 54\nUdp: InDatagrams RcvbufErrors\nUdp: 5 7\n",
        ),
        (
            "nstat",
            "#kernel\nIpInReceives                    12035              0.0\nTcpOutSegs                      5678               0.0\nTcpRetransSegs                  54                 0.0\nUdpRcvbufErrors                 7                  0.0\n",
        ),
        (
            "nstat-of-some-locale",
            "TcpOutSegs                      5678               0,0\nTcpRetransSegs                  54                 0,0\nUdpRcvbufErrors                 7                  0,0\n",
        ),
        (
            "json",
            "{\"kernel\":{\"IpInReceives\":12035,\"TcpOutSegs\":5678,\"TcpRetransSegs\":54,\"UdpRcvbufErrors\":7}}\n",
        ),
        (
            "netstat",
            "Ip:\n    Forwarding: 2\n    12035 total packets received\nTcp:\n    26 active connection openings\n    5678 segments sent out\n    54 segments retransmitted\nUdp:\n    5 packets received\n    7 receive buffer errors\n",
        ),
        (
            "of-rhel-6",
            "Ip:\n    12035 total packets received\nTcp:\n    26 active connections openings\n    5678 segments send out\n    54 segments retransmited\nUdp:\n    7 receive buffer errors\n",
        ),
    ];
    for (name, text) in forms {
        let told = Told::of(&[(name, text)]);
        for (metric, value) in [
            (Metric::TcpSegmentsOut, 5678.0),
            (Metric::TcpRetransmits, 54.0),
            (Metric::UdpReceiveErrors, 7.0),
        ] {
            assert_eq!(told.host(metric), Some((value, Over::Total)), "{name} {metric:?}");
        }
    }
    let told = Told::of(&[(
        "netstat_-s",
        "Tcp:\n    26 active connection openings\nTcpExt:\n    312 times the listen queue of a socket overflowed\n    320 SYNs to LISTEN sockets dropped\n    TCPTimeouts: 2\n",
    )]);
    let (value, over, line, raw) = told.figure(&Entity::Host, Metric::ListenOverflows).expect("told");
    assert_eq!((value, over, line), (312.0, Over::Total, 4));
    assert_eq!(raw.trim(), "312 times the listen queue of a socket overflowed");
}

#[test]
fn nstat_without_a_tells_growth_over_an_unknown_time() {
    let table = "#kernel\nTcpOutSegs                      5678               0.0\n";
    let told = Told::of(&[(
        "n",
        &format!(
            "Sun Nov 22 19:51:11 UTC 2026\n$ nstat\n{table}Sun Nov 22 19:51:21 UTC 2026\n$ nstat\n{table}"
        ),
    )]);
    assert!(told.tables.iter().all(|table| !matches!(table.over, Over::Interval(_))));
    let more = table.replace("5678", "5698");
    let told = Told::of(&[(
        "n",
        &format!(
            "Sun Nov 22 19:51:11 UTC 2026\n$ nstat -az\n{table}Sun Nov 22 19:51:21 UTC 2026\n$ nstat -az\n{more}"
        ),
    )]);
    assert_eq!(told.host(Metric::TcpSegmentsOut), Some((2.0, TEN_SECONDS)));
}

#[test]
fn interfaces_by_any_tool() {
    let forms = [
        (
            "dev",
            "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n  eth0: 536980610   12010    1    3    0     0          0         0   467569    5711    1    0    0     0       0          0\n",
        ),
        (
            "ip",
            "4: eth0@if5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc pfifo_fast state UP mode DEFAULT group default qlen 1000\n    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    RX:  bytes packets errors dropped  missed   mcast           \n     536980610   12010      1       3       0       0 \n    TX:  bytes packets errors dropped carrier collsns           \n        467569    5711      1       0       0       0 \n",
        ),
        (
            "old-ip",
            "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc pfifo_fast state UP qlen 1000\n    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n    RX: bytes  packets  errors  dropped overrun mcast   \n    536980610  12010    1       3       0       0      \n    TX: bytes  packets  errors  dropped carrier collsns \n    467569     5711     1       0       0       0      \n",
        ),
        (
            "json",
            "[{\"ifindex\":4,\"ifname\":\"eth0\",\"mtu\":1400,\"stats64\":{\"rx\":{\"bytes\":536980610,\"packets\":12010,\"errors\":1,\"dropped\":3},\"tx\":{\"bytes\":467569,\"packets\":5711,\"errors\":1,\"dropped\":0}}}]\n",
        ),
        (
            "netstat",
            "Kernel Interface table\nIface             MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\neth0             1400    12010      1      3 0          5711      1      0      0 BMRU\n",
        ),
        (
            "old-netstat",
            "Iface       MTU Met    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\neth0       1500   0    12010      1      3      0     5711      1      0      0 BMRU\n",
        ),
    ];
    let eth0 = Entity::Interface("eth0".into());
    for (name, text) in forms {
        let told = Told::of(&[(name, text)]);
        let count = |metric| told.figure(&eth0, metric).map(|(value, over, ..)| (value, over));
        let total = |value: f64| Some((value, Over::Total));
        assert_eq!(count(Metric::RxPackets), total(12_010.0), "{name}");
        assert_eq!(count(Metric::RxDrops), total(3.0), "{name}");
        assert_eq!(count(Metric::NetErrors), total(2.0), "{name}");
        if !name.contains("netstat") {
            assert_eq!(count(Metric::TxBytes), total(467_569.0), "{name}");
        }
    }
}

#[test]
fn a_group_is_known_by_its_path() {
    let group = Entity::Cgroup("/system.slice/api.service".into());
    let stat = "usage_usec 5120345\nuser_usec 4010210\nsystem_usec 1110135\nnr_periods 100\nnr_throttled 50\nthrottled_usec 2000000\n";
    let root = "/sys/fs/cgroup/system.slice/api.service";
    let grep: String = stat.lines().map(|line| format!("{root}/cpu.stat:{line}\n")).collect();
    let forms: [(String, String); 4] = [
        (format!("dump{root}/cpu.stat"), stat.into()),
        (
            "x".into(),
            format!("{root}/cpu.max:50000 100000\n{grep}{root}/memory.max:max\n{root}/memory.current:4096\n"),
        ),
        (
            "x".into(),
            format!(
                "==> {root}/cpu.max <==\n50000 100000\n\n==> {root}/cpu.stat <==\n{stat}\n==> {root}/memory.current <==\n4096\n"
            ),
        ),
        ("x".into(), format!("# cat {root}/cpu.stat\n{stat}# cat {root}/memory.current\n4096\n")),
    ];
    for (name, text) in &forms {
        let told = Told::of(&[(name, text)]);
        let value = |metric| told.figure(&group, metric).map(|(value, ..)| value);
        assert_eq!(value(Metric::ThrottledPeriods), Some(50.0), "{text}");
        assert_eq!(value(Metric::ThrottledTime), Some(2.0), "{text}");
        assert_eq!(value(Metric::CpuQuota), text.contains("cpu.max").then_some(0.5), "{text}");
        assert_eq!(value(Metric::MemUsed), text.contains("memory.current").then_some(4096.0), "{text}");
    }
}

#[test]
fn the_same_file_of_a_group_again_after_a_date() {
    let file = "/sys/fs/cgroup/x/memory.events";
    let dump = |kills: u32| format!("{file}:low 0\n{file}:oom_kill {kills}\n");
    let pressure =
        "/sys/fs/cgroup/x/memory.pressure:some avg10=38.00 avg60=35.10 avg300=20.02 total=91231233\n";
    let text = format!(
        "Sun Nov 22 19:51:11 UTC 2026\n{}Sun Nov 22 19:51:21 UTC 2026\n{}{pressure}",
        dump(3),
        dump(7)
    );
    let told = Told::of(&[("cgroup.txt", &text)]);
    let value =
        |metric| told.figure(&Entity::Cgroup("/x".into()), metric).map(|(value, over, ..)| (value, over));
    assert_eq!(value(Metric::OomKills), Some((0.4, TEN_SECONDS)));
    assert_eq!(value(Metric::PressureMemory), Some((0.38, TEN_SECONDS)));
    assert_eq!(told.host(Metric::OomKills), None);
}

#[test]
fn groups_of_version_1_and_of_a_bare_directory() {
    let told = Told::of(&[
        ("h/sys/fs/cgroup/cpu,cpuacct/docker/4f1c/cpu.cfs_period_us", "100000\n"),
        ("h/sys/fs/cgroup/cpu,cpuacct/docker/4f1c/cpu.cfs_quota_us", "50000\n"),
        (
            "h/sys/fs/cgroup/cpu,cpuacct/docker/4f1c/cpu.stat",
            "nr_periods 100\nnr_throttled 50\nthrottled_time 2000000000\n",
        ),
        ("web/memory.events", "low 0\nhigh 7\nmax 0\noom 0\noom_kill 0\n"),
        (
            "web/memory.pressure",
            "some avg10=12.00 avg60=1.00 avg300=0.00 total=4123\nfull avg10=9.00 avg60=1.00 avg300=0.00 total=4011\n",
        ),
    ]);
    let old = Entity::Cgroup("/docker/4f1c".into());
    let value = |of: &Entity, metric| told.figure(of, metric).map(|(value, ..)| value);
    assert_eq!((value(&old, Metric::CpuQuota), value(&old, Metric::ThrottledTime)), (Some(0.5), Some(2.0)));
    let web = Entity::Cgroup("/web".into());
    assert_eq!(
        (value(&web, Metric::MemoryHighEvents), value(&web, Metric::PressureMemory)),
        (Some(7.0), Some(0.12))
    );
}

#[test]
fn tasks_disks_and_limits() {
    let stat = "339 (python3 (x)) S 332 332 16454 0 -1 4194304 117 0 2 0 50 20 0 0 20 0 1 0 107537 3133440 423 18446744073709551615 9 9 9 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 9 9 9 9 9 9 9 0\n";
    let told = Told::of(&[
        (
            "proc/339/status",
            "Name:\tpython3\nState:\tS (sleeping)\nTgid:\t339\nPid:\t339\nPPid:\t332\nTracerPid:\t0\nVmSize:\t   18192 kB\nVmRSS:\t   14480 kB\nThreads:\t1\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t9\nnonvoluntary_ctxt_switches:\t2\n",
        ),
        (
            "proc/339/io",
            "rchar: 6976\nwchar: 1\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 0\ncancelled_write_bytes: 0\n",
        ),
        ("stat", stat),
        ("proc/339/wchan", "futex_wait_queue"),
        ("proc/339/cgroup", "0::/system.slice/api.service\n"),
        (
            "proc/339/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \nMax cpu time              unlimited            unlimited            seconds   \nMax open files            20000                20000                files     \n",
        ),
        (
            "sysctl",
            "net.core.somaxconn = 4096\nnet.ipv4.ip_local_port_range = 32768\t60999\nfs.file-max = 9223372036854775807\nkernel.pid_max = 4194304\n",
        ),
        (
            "diskstats",
            "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n 254       0 vda 100 0 8000 500 200 0 16000 1000 0 600 1500 0 0 0 0 10 50\n",
        ),
        (
            "softnet",
            "00002ef7 0000001f 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n",
        ),
    ]);
    let task = Entity::Process(339);
    let value = |of: &Entity, metric| told.figure(of, metric).map(|(value, over, ..)| (value, over));
    assert_eq!(value(&task, Metric::Rss), Some((14_480.0 * 1024.0, Over::Moment)));
    assert_eq!(value(&task, Metric::ReadBytes), Some((4096.0, Over::Total)));
    assert_eq!(value(&task, Metric::TaskUser), Some((0.5, Over::Total)));
    assert_eq!(value(&task, Metric::FdLimit), Some((20_000.0, Over::Moment)));
    let said = |what| {
        let rows = told.tables.iter().flat_map(|table| &table.rows).filter(|row| row.of == task);
        rows.filter_map(|row| row.told(what)).next_back().map(str::to_string)
    };
    assert_eq!(said(Trait::Wchan).as_deref(), Some("futex_wait_queue"));
    assert_eq!(said(Trait::Cgroup).as_deref(), Some("/system.slice/api.service"));
    assert_eq!(said(Trait::Parent).as_deref(), Some("332"));
    assert_eq!(told.host(Metric::EphemeralPorts), Some((28_232.0, Over::Moment)));
    let vda = Entity::Device("vda".into());
    assert_eq!(value(&vda, Metric::ReadLatency), Some((5e6, Over::SinceBoot)));
    assert_eq!(value(&vda, Metric::Reads), Some((100.0, Over::Total)));
    assert_eq!(value(&vda, Metric::Utilisation), None);
    assert_eq!(told.figure(&Entity::Device("loop0".into()), Metric::Reads), None);
    assert_eq!(value(&Entity::Cpu(0), Metric::RxDrops), Some((31.0, Over::Total)));
}

#[test]
fn damage_is_told_and_the_rest_is_used() {
    let text = "Inter-|   Receive |  Transmit\n face |bytes packets\n  eth0: 5 6 7\n  eth1: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n";
    let mut rejects = 0;
    let mut rows = 0;
    let mut sink = |event: Event<'_>| match event {
        Event::Figures(table) => rows += table.rows.len(),
        Event::Source(info) => rejects = info.rejects,
        _ => {}
    };
    let input = Input::Bytes { name: "dev".into(), data: text.as_bytes().to_vec() };
    read(&[input], &ReadOptions { threads: 1 }, &(), &mut sink).expect("readable");
    assert_eq!((rejects, rows), (1, 1));
}

#[test]
fn logs_groups_by_use_and_interrupts() {
    let log = "[  812.100000] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/docker/4f1c,task_memcg=/docker/4f1c,task=java,pid=812,uid=0\n\
        [  812.200000] Memory cgroup out of memory: Killed process 812 (java) total-vm:9000kB, anon-rss:8000kB\n\
        [  900.000000] eth0: link is up\n\
        [Sun Nov 22 19:51:11 2026] Out of memory: Kill process 900 (python) score 900 or sacrifice child\n";
    let cgtop = "/                                                  80   12.4     7.6G     1.5M        -\n/docker/4f1c                                        5    2.5    23.3M        -        -\n";
    let interrupts = "           CPU0       CPU1       \n 24:          1          2  IO-APIC   5-edge      virtio1-req.0\nERR:          0\n";
    let told = Told::of(&[("dmesg", log), ("cgtop", cgtop), ("interrupts", interrupts)]);
    let group = Entity::Cgroup("/docker/4f1c".into());
    assert_eq!(told.host(Metric::OomKills), Some((2.0, Over::Total)));
    let value = |of: &Entity, metric| told.figure(of, metric).map(|(value, ..)| value);
    assert_eq!((value(&group, Metric::OomKills), value(&group, Metric::Threads)), (Some(1.0), Some(5.0)));
    assert_eq!(value(&group, Metric::TaskCpu), Some(0.025));
    assert_eq!(value(&Entity::Cgroup("/".into()), Metric::ReadBytes), Some(1.5 * 1024.0 * 1024.0));
    assert_eq!(value(&Entity::Interrupt("virtio1-req.0".into()), Metric::Interrupts), Some(3.0));
}

/// Dumps of all kinds, twice.
const DUMPS: &str = "\
Sun Nov 22 19:51:11 UTC 2026
#kernel
TcpRetransSegs                  54                 0.0
Tcp:
    5678 segments sent out
    54 segments retransmitted
Tcp: OutSegs RetransSegs
Tcp: 5678 54
nr_free_pages 1000
pswpin 10
 254       0 vda 100 0 8000 500 200 0 16000 1000 0 600 1500 0 0 0 0 10 50
cpu  1000 0 500 8000 500 0 0 0 0 0
cpu0 1000 0 500 8000 500 0 0 0 0 0
/sys/fs/cgroup/x/cpu.max:50000 100000
/sys/fs/cgroup/x/cpu.stat:nr_periods 100
/sys/fs/cgroup/x/io.max:8:16 rbps=2097152 wbps=max
==> /proc/339/status <==
Name:	python3
Pid:	339
Threads:	1
==> /proc/339/io <==
rchar: 6976
Sun Nov 22 19:51:21 UTC 2026
#kernel
TcpRetransSegs                  99                 0.0
nr_free_pages 1000
pswpin 99999
 254       0 vda 300 0 9000 900 200 0 16000 1000 0 900 1900 0 0 0 0 10 50
cpu  2000 0 900 9000 500 0 0 0 0 0
/sys/fs/cgroup/x/cpu.stat:nr_periods 200
4: eth0: <BROADCAST,UP> mtu 1400 qdisc x
    RX:  bytes packets errors dropped  missed   mcast
     5 6 7 8 9 10
net.ipv4.ip_local_port_range = 32768	60999
/system.slice/a.service 5 2.5 23.3M - -
00002ef7 0000001f 00000001 00000000 00000000 00000000 00000000 00000000 00000000
";

proptest! {
    #[test]
    fn any_damage_is_survived_and_accounted(
        at in 0usize..1600,
        bytes in prop::collection::vec(any::<u8>(), 0..60),
        removed in 0usize..60,
    ) {
        let mut data = DUMPS.as_bytes().to_vec();
        let from = at.min(data.len());
        data.splice(from..(from + removed).min(data.len()), bytes);
        let mut wrong = Vec::new();
        let mut sink = |event: Event<'_>| match event {
            Event::Figures(table) => {
                let figures = table.rows.iter().flat_map(|row| &row.figures);
                wrong.extend(figures.filter(|(_, value)| !value.is_finite()).map(|figure| format!("{figure:?}")));
            }
            Event::Source(info) if info.events + info.rejects + info.foreign > info.lines => {
                wrong.push(format!("{info:?}"));
            }
            _ => {}
        };
        // That nothing can be read is an answer too.
        let _ = read(&[Input::Bytes { name: "d".into(), data }], &ReadOptions { threads: 1 }, &(), &mut sink);
        prop_assert!(wrong.is_empty(), "{wrong:?}");
    }
}
