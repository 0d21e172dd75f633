//! Figures out of tracers' texts that are known by their shape, checked by hand.

use super::tests::{Read, near, of};
use super::*;
use whyslow_model::Trait;

fn function(pid: Option<u32>, name: &str) -> Entity {
    Entity::Function { pid, name: name.into() }
}

/// Reads a capture of the repository.
fn capture(name: &str) -> Read {
    let path = format!("{}/../../captures/bcc/{name}", env!("CARGO_MANIFEST_DIR"));
    of(&std::fs::read(path).expect("a capture"))
}

#[test]
fn locks_by_their_callers() {
    let read = capture("klockstat.txt");
    let wait = function(None, "lock wait in pipe_wait");
    near(read.figure("klockstat", &wait, Metric::CallCount), 412_686.0);
    near(read.figure("klockstat", &wait, Metric::CallTotal), 258_277_958.0);
    near(read.figure("klockstat", &wait, Metric::CallMax), 16_930.0);
    near(read.figure("klockstat", &function(None, "lock hold in pipe_read"), Metric::CallMax), 20_063.0);
}

#[test]
fn graphs_of_calls_add_up_by_function() {
    let read = capture("funcgraph.txt");
    near(read.figure("funcgraph", &function(None, "do_nanosleep"), Metric::CallTotal), 1_000_149_000.0);
    near(read.figure("funcgraph", &function(None, "schedule"), Metric::CallMax), 1_000_131_000.0);
    near(read.figure("funcgraph", &function(None, "hrtimer_start_range_ns"), Metric::CallTotal), 908.0);
    near(read.figure("funcgraph", &function(Some(2125), "ext4_readpages"), Metric::CallTotal), 8_145_268.0);
}

#[test]
fn events_of_ftrace_by_thread() {
    let read = capture("functrace.txt");
    let slept = function(Some(1678), "do_nanosleep");
    near(read.figure("ftrace", &slept, Metric::CallCount), 2.0);
    // Two in ten seconds.
    near(read.figure("ftrace", &slept, Metric::Calls), 0.2);
    let row = read.rows().find(|row| row.of == function(Some(2371), "do_nanosleep")).expect("the row");
    assert_eq!(row.told(Trait::Name), Some("Web Content"));
    let read = capture("tpoint.txt");
    near(read.figure("ftrace", &function(Some(11908), "block_rq_insert"), Metric::CallCount), 2.0);
}

#[test]
fn maps_by_tuples_are_of_processes() {
    let read = capture("wakeup-map.txt");
    near(read.figure("bpftrace", &Entity::Process(2239), Metric::CallCount), 12_410.0);
    let row = read.rows().find(|row| row.of == Entity::Process(4536)).expect("the row");
    assert_eq!(row.told(Trait::Name), Some("worker"));
}

#[test]
fn histograms_of_any_key_and_form() {
    let read = capture("dbstat.txt");
    // 990 of 1,000 end within 1 ms: the bucket from 0 to 1 ends at 2.
    near(read.figure("dbstat", &function(None, "query"), Metric::CallP50), 2e6);
    near(read.figure("dbstat", &function(None, "query"), Metric::CallMax), 4e6);
    let read = capture("biolatency-json.txt");
    near(read.figure("histogram", &function(None, "unnamed"), Metric::CallP50), 128_000.0);
    near(read.figure("histogram", &function(None, "unnamed"), Metric::CallCount), 100.0);
    let read = of(b"Tracing ext4 operation latency... Hit Ctrl-C to end.\n^C\n\noperation = read\n     usecs               : count     distribution\n         0 -> 1          : 12       |****|\n\noperation = fsync\n     usecs               : count     distribution\n      1024 -> 2047       : 3        |****|\n");
    let tool = "ext4dist and its like";
    near(read.figure(tool, &function(None, "ext4 read"), Metric::CallCount), 12.0);
    near(read.figure(tool, &function(None, "ext4 fsync"), Metric::CallMax), 2_048_000.0);
    let read = of(b"Tracing block I/O. Output every 1 seconds. Ctrl-C to end.\n\n  >=(ms) .. <(ms)   : I/O      |Distribution |\n       0 -> 1       : 4381     |#####|\n       1 -> 2       : 9        |#    |\n");
    near(read.figure("biolatency", &function(None, "block I/O"), Metric::CallP50), 1e6);
    let read = of(b"@us[orders, 77]:\n[512, 1K)   10 |@@|\n[1K, ...)   1 |@|\n");
    near(read.figure("histogram", &function(Some(77), "unnamed"), Metric::CallP50), 1_024_000.0);
}

#[test]
fn lines_of_tools_with_names_of_their_own() {
    let read = capture("ugc.txt");
    near(read.figure("ugc", &function(None, "garbage collection"), Metric::CallTotal), 2_885_000.0);
    let read = capture("ucalls.txt");
    near(read.figure("ucalls", &function(None, "shop/Order.price"), Metric::CallTotal), 3_076_985_120.0);
    let read = capture("compactsnoop.txt");
    near(
        read.figure("compactsnoop", &function(Some(3685), "memory compaction"), Metric::CallMax),
        113_975_000.0,
    );
    let read = capture("pidpersec.txt");
    assert_eq!(read.rows().filter_map(|row| row.get(Metric::Forks)).collect::<Vec<_>>(), [4.0, 21.0]);
    let read = capture("oomkill.txt");
    near(Some(read.rows().filter_map(|row| row.get(Metric::OomKills)).sum()), 2.0);
    let read = of(b"TIME      PCOMM  PPID             COMM   PID              SECONDS\n15:50:00 1      systemd          1319   mysqld           1.000\n");
    near(read.figure("naptime", &function(Some(1319), "sleep"), Metric::CallTotal), 1e9);
    let read = of(b"COMM             PID    COUNT\nb'firefox'       60965  4\nb'IndexedDB #1'  60965  2\n");
    near(read.figure("swapin", &function(Some(60965), "swap-in"), Metric::CallCount), 6.0);
    let read = of(b"PID    COMM                COUNT          MIN (us)          MAX (us)          AVG (us)\n1751   sshd          3     7.227             7.227             7.227\n");
    near(read.figure("syscount", &Entity::Process(1751), Metric::CallCount), 3.0);
}
