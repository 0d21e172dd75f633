//! Tables of tracers in their old and new forms, by hand-checked figures.

use super::tests::{Read, near, of};
use super::*;
use whyslow_model::{Nanos, Trait};

fn function(pid: Option<u32>, name: &str) -> Entity {
    Entity::Function { pid, name: name.into() }
}

/// Reads it as a file whose kind is not known before: nothing of it may be damaged.
#[track_caller]
fn whole(text: &str) -> Read {
    let name = "paste.txt";
    let first = crate::formats::FORMATS
        .iter()
        .find(|format| crate::formats::collect::sniffs(format, name, text.as_bytes()));
    assert_eq!(first.map(|format| format.name), Some(HOST.name));
    let read = of(text.as_bytes());
    assert_eq!(read.info.rejects, 0, "{:?}", read.notes);
    read
}

#[test]
fn totals_of_perf_trace_by_thread() {
    let read = whole(
        "\n Summary of events:\n\n dd (7897), 524,308 events, 99.9%\n\n\
         \x20  syscall            calls  errors  total       min       avg       max       stddev\n\
         \x20                                    (msec)    (msec)    (msec)    (msec)        (%)\n\
         \x20  --------------- --------  ------ -------- --------- --------- ---------     ------\n\
         \x20  read              262145      0   123.456     0.000     0.001     0.123      0.50%\n\
         \x20  openat                 4      2     0.120     0.010     0.030     0.080     12.00%\n\n\
         \x20JS Helper (7900), 12 events, 0.1%\n\n\
         \x20  syscall            calls  errors  total       min       avg       max       stddev\n\
         \x20                                    (msec)    (msec)    (msec)    (msec)        (%)\n\
         \x20  --------------- --------  ------ -------- --------- --------- ---------     ------\n\
         \x20  futex                  6      0  2026.123     0.001   337.687   500.118     25.12%\n",
    );
    let figure = |pid, name, metric| read.figure("perf trace -s", &function(Some(pid), name), metric);
    near(figure(7897, "read", Metric::CallCount), 262_145.0);
    near(figure(7897, "read", Metric::CallTotal), 123_456_000.0);
    near(figure(7897, "openat", Metric::CallMax), 80_000.0);
    near(figure(7900, "futex", Metric::CallTotal), 2_026_123_000.0);
    let row = read.rows().find(|row| row.of == function(Some(7900), "futex")).expect("the row");
    assert_eq!((row.told(Trait::Name), row.line), (Some("JS Helper"), 17));
    // Of an older perf: no total and no errors, and no thread but all.
    let read = whole(
        " total, 12 events\n syscall            calls      min       avg       max      stddev\n\
         \x20                             (msec)    (msec)    (msec)        (%)\n\
         \x20--------------- -------- --------- --------- ---------     ------\n\
         \x20read                   6     0.001     0.002     0.004      5.0%\n",
    );
    near(read.figure("perf trace -s", &function(None, "read"), Metric::CallTotal), 12_000.0);
    near(read.figure("perf trace -s", &function(None, "read"), Metric::CallMin), 1_000.0);
}

#[test]
fn tables_of_ebcc_of_the_host_and_by_process() {
    let rows = "23  select  2046  41023456789  812  1000123456\n\
                6  lstat  124724  338769324  1432  18231\n";
    let read = whole(rows);
    near(read.figure("ebcc", &function(None, "lstat"), Metric::CallCount), 124_724.0);
    near(read.figure("ebcc", &function(None, "lstat"), Metric::CallTotal), 338_769_324.0);
    near(read.figure("ebcc", &function(None, "lstat"), Metric::CallMax), 18_231.0);
    assert_eq!(
        read.figure("ebcc", &function(None, "lstat"), Metric::Calls),
        None,
        "over how long is not told"
    );

    let timed =
        format!("Tracing syscalls for 1 seconds\nNR  SYSCALL  COUNT  TIME(ns)  MIN(ns)  MAX(ns)\n{rows}");
    let read = whole(&timed);
    near(read.figure("ebcc", &function(None, "lstat"), Metric::Calls), 124_724.0);
    near(read.figure("ebcc", &function(None, "lstat"), Metric::CallTime), 0.338_769_324);

    let read = whole("91885  6  lstat  124724  338769324  1432  18231\n4242 0 read 10 2000 100 400\n");
    near(read.figure("ebcc", &function(Some(91885), "lstat"), Metric::CallMin), 1_432.0);
    near(read.figure("ebcc", &function(Some(4242), "read"), Metric::CallCount), 10.0);
    // The mean must lie between the least and the most: else these are other columns.
    assert_eq!(of(b"6 lstat 100 338769324 1432 18231\n").rows().count(), 0);
}

#[test]
fn iotop_by_thread_and_by_process() {
    let read = whole(
        "# iotop -b -o -d 2 -n 1\n\
         Total DISK READ :       0.00 B/s | Total DISK WRITE :      32.14 M/s\n\
         Actual DISK READ:       0.00 B/s | Actual DISK WRITE:      31.95 M/s\n\
         \x20   TID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND\n\
         \x20 12280 be/4 root        0.00 B/s   32.14 M/s  0.00 % 99.99 % python /app.py\n\
         \x20   288 be/3 root        0.00 B/s    7.90 K/s  1.00 %  0.12 % [jbd2/sda1-8]\n",
    );
    let thread = |tid| Entity::Thread { pid: 0, tid };
    near(read.figure("iotop", &thread(12280), Metric::WriteBytes), 32.14 * 1024.0 * 1024.0);
    near(read.figure("iotop", &thread(12280), Metric::BlockDelay), 0.9999);
    near(read.figure("iotop", &thread(288), Metric::SwapDelay), 0.01);
    near(read.figure("iotop", &Entity::Host, Metric::WriteBytes), 31.95 * 1024.0 * 1024.0);
    assert_eq!(read.tables[0].over, Over::Interval(Nanos::from_secs(2)));
    let row = read.rows().find(|row| row.of == thread(288)).expect("the row");
    assert_eq!(row.told(Trait::Name), Some("jbd2/sda1-8"));

    // -P -t -k, a decimal comma, and a kernel without delay accounting.
    let read = whole(
        "10:00:01 Total DISK READ :    0,00 K/s | Total DISK WRITE :    81,90 K/s\n\
         10:00:01 Current DISK READ:   0,00 K/s | Current DISK WRITE:    0,00 K/s\n\
         \x20   TIME    PID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN      IO    COMMAND\n\
         10:00:01    731 be/4 postgres    0,00 K/s   81,90 K/s ?unavailable?  postgres: walwriter\n",
    );
    near(read.figure("iotop", &Entity::Process(731), Metric::WriteBytes), 81.9 * 1024.0);
    assert_eq!(read.figure("iotop", &Entity::Process(731), Metric::BlockDelay), None);
    assert_eq!(read.tables[0].at.get(), Some((36_000 + 1) * 1_000_000_000));
    // -a: in all, not a second.
    let read = whole(
        "Total DISK READ :       0.00 B/s | Total DISK WRITE :       0.00 B/s\n\
         \x20   TID  PRIO  USER     DISK READ DISK WRITE  SWAPIN      IO    COMMAND\n\
         \x20    7 be/4 root          0.00 B     12.50 M  0.00 %  0.00 % dd if=/dev/zero of=x\n",
    );
    near(read.figure("iotop", &thread(7), Metric::WriteTotal), 12.5 * 1024.0 * 1024.0);
    assert_eq!(read.figure("iotop", &thread(7), Metric::WriteBytes), None);
}

#[test]
fn dstat_and_dool() {
    let read = whole(
        "$ dstat -tcdngy 5\n\
         ----system---- --total-cpu-usage-- -dsk/total- -net/total- ---paging-- ---system--\n\
         \x20    time     |usr sys idl wai stl| read  writ| recv  send|  in   out | int   csw \n\
         22-11 10:00:01|  1   0  98   0   0|  12k   34k|   0     0 |   0     0 | 123   456 \n\
         22-11 10:00:06| 20  10  40  30   0|   0    32M|1024B  512B|   0     0 |1234    12k\n",
    );
    let host = |metric| read.figure("dstat", &Entity::Host, metric);
    near(host(Metric::CpuIowait), 0.30);
    near(host(Metric::WriteBytes), 32.0 * 1024.0 * 1024.0);
    near(host(Metric::RxBytes), 1024.0);
    near(host(Metric::ContextSwitches), 12_000.0);
    assert_eq!(read.tables[0].over, Over::SinceBoot);
    let last = read.tables.last().expect("a table");
    assert_eq!(
        (last.over, last.at.get()),
        (Over::Interval(Nanos::from_secs(5)), Some(36_006 * 1_000_000_000))
    );

    let read = whole(
        "--dsk/sda-----dsk/sdb-- ---load-avg--- ------memory-usage-----\n\
         \x20read  writ: read  writ| 1m   5m  15m | used  free  buff  cach\n\
         \x20  0     0 :   0     0 |1.82 1.26 0.76| 436M 3245M  100M 4205M\n\
         \x20 1k    2k :  3k    4k |1.82 1.26 0.76| 436M 3245M  100M 4205M\n",
    );
    near(read.figure("dstat", &Entity::Device("sdb".into()), Metric::WriteBytes), 4096.0);
    near(read.figure("dstat", &Entity::Host, Metric::Load1), 1.82);
    near(read.figure("dstat", &Entity::Host, Metric::MemFree), 3245.0 * 1024.0 * 1024.0);
}

#[test]
fn counts_of_libbpf_tools_and_bpftrace() {
    let read = whole(
        "PID    COMM               COUNT        TIME (us)\n1234   redis server          10             2500\n",
    );
    near(read.figure("syscount", &Entity::Process(1234), Metric::CallTotal), 2_500_000.0);
    let row = read.rows().next().expect("a row");
    assert_eq!(row.told(Trait::Name), Some("redis server"));

    let read = whole("HARDIRQ                    TOTAL_usecs\nvirtio0-input.0                     42\n");
    near(read.figure("hardirqs", &Entity::Interrupt("virtio0-input.0".into()), Metric::CallTotal), 42_000.0);
    let read = whole("SOFTIRQ          TOTAL_nsecs\nnet_rx                 9000\n");
    near(read.figure("softirqs", &Entity::Interrupt("net_rx".into()), Metric::CallTotal), 9_000.0);

    let read = whole(
        "Attaching 2 probes...\n^C\n@[tracepoint:syscalls:sys_enter_openat]: 12\n@[kprobe:vfs_read]: 900\n\
         @process[redis-server]: 150\n@stack[\n    a+1\n]: 3\n",
    );
    near(read.figure("bpftrace", &function(None, "vfs_read"), Metric::CallCount), 900.0);
    near(
        read.figure("bpftrace", &function(None, "tracepoint:syscalls:sys_enter_openat"), Metric::CallCount),
        12.0,
    );
    near(read.figure("bpftrace", &Entity::Command("redis-server".into()), Metric::CallCount), 150.0);

    let read = whole(
        "TIME         REFS/s   SLOW/s   MISS/s     HIT%\n08:11:49:      2059      141       97    95.29\n",
    );
    near(read.figure("dcstat", &function(None, "lookup_fast"), Metric::Calls), 2059.0);
    let read = whole(
        "   TOTAL   MISSES     HITS  DIRTIES   BUFFERS_MB  CACHED_MB\n    1074       44       1030       94         8        223\n",
    );
    near(read.figure("cachestat", &Entity::Host, Metric::PageCacheHits), 1030.0);
    let read = whole(
        "Running for 10 seconds or hit Ctrl-C to end.\nPID      NAME             CPU     REFERENCE         MISS    HIT%\n\
         0        swapper/15       15        3515000       640000  81.79%\n238      migration/38     38           5000            0 100.00%\n",
    );
    near(read.figure("llcstat", &Entity::Process(0), Metric::CacheMisses), 64_000.0);
}

#[test]
fn connections_and_requests_of_newer_versions() {
    let read = whole(
        "Tracing... Output every 5 secs. Hit Ctrl-C to end\n\n19:46:24 loadavg: 1.86 2.67 2.91 3/362 16681\n\n\
         PID    COMM         LADDR                 RADDR                  RX_KB  TX_KB\n\
         16648  16648        100.66.3.172:22       100.127.69.165:6684        1      0\n\
         16647  sshd         100.66.3.172:22       100.127.69.165:6684        0     50\n",
    );
    near(read.figure("tcptop", &Entity::Process(16647), Metric::TxBytes), 50.0 * 1024.0 / 5.0);
    let read = whole(
        "TIME     PID     COMM           RADDR            RPORT LADDR            LPORT BL\n\
         00:34:19 3949061 nginx          10.228.22.228    44226 10.229.20.169    8080  0/128\n",
    );
    near(read.figure("tcpaccept", &function(Some(3949061), "accept"), Metric::CallCount), 1.0);
    let read = whole(
        "TIME     COMM             TID           LAT(us) PREV COMM        PREV TID\n\
         04:16:32 cc1              12924           12739 make             13639\n",
    );
    near(read.figure("runqslower", &function(Some(12924), "run queue"), Metric::CallMax), 12_739_000.0);
    // biosnoop.bt shows no sector.
    let read = whole(
        "TIME(ms)     DISK    COMM             PID    LAT(ms)\n611          nvme0n1 bash             4179    10\n",
    );
    near(read.figure("biosnoop", &Entity::Device("nvme0n1".into()), Metric::Latency), 10e6);
    // libbpf's runqlat names the process.
    let read = whole(
        "Tracing run queue latency... Hit Ctrl-C to end.\n\npid = 77 postgres\n     usecs               : count    distribution\n\
         \x20        0 -> 1          : 6        |*****|\n",
    );
    near(read.figure("runqlat", &function(Some(77), "run queue"), Metric::CallCount), 6.0);
}

#[test]
fn rankings_of_sysdig() {
    let read = whole(
        "Time                System Call\n--------------------------------------------------------------------------------\n\
         1.32s               futex\n417us               read\n",
    );
    near(read.figure("sysdig", &function(None, "futex"), Metric::CallTotal), 1.32e9);
    near(read.figure("sysdig", &function(None, "read"), Metric::CallTotal), 417_000.0);
    let read = whole("# Calls             Syscall\n-----------------\n124724              lstat\n");
    near(read.figure("sysdig", &function(None, "lstat"), Metric::CallCount), 124_724.0);
}
